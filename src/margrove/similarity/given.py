"""Similarities from elsewhere: a matrix that the user has computed, or the user's own function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from margrove.errors import DataError, InvalidModelFileError, UnsavableModelError
from margrove.similarity.bound import BoundSimilarity, FloatArray, Numbers, State
from margrove.similarity.width import read_vectors

Function: TypeAlias = Callable[[Any, Any], Any]

ASYMMETRY = 1e-6  # relative to the largest entry; rounding is far below, a wrong matrix far above
TOGETHER = 64  # inputs whose similarities to themselves are computed at once


@dataclass(frozen=True)
class Precomputed:
    """The inputs are their similarities: n x n in training, new inputs x n in prediction."""

    kind: ClassVar[str] = "precomputed"

    def bind(self, X: Any, y: Any = None) -> BoundPrecomputed:
        """The similarity with this Gram matrix, which must be symmetric."""
        gram = _dense(X)
        n = len(gram)
        if gram.shape[1] != n:
            raise DataError(f"X is {n} x {gram.shape[1]}; a precomputed similarity is n x n in training")
        limit = ASYMMETRY * abs(gram).max(initial=0.0)
        for i in range(n):
            wrong = np.flatnonzero(abs(gram[i, i:] - gram[i:, i]) > limit)
            if len(wrong):
                j = i + wrong[0]
                raise DataError(f"X is not symmetric: X[{i}, {j}] is {gram[i, j]}, X[{j}, {i}] {gram[j, i]}")
            if gram[i, i] < 0:
                raise DataError(f"X[{i}, {i}] is {gram[i, i]}; no input has a negative similarity to itself")
        return BoundPrecomputed(gram, np.arange(n), n)


@dataclass(frozen=True, eq=False)
class BoundPrecomputed(BoundSimilarity):
    """A Gram matrix, and where its inputs stand among those of the fit; a saved one has no matrix."""

    gram: FloatArray | None = field(repr=False)
    columns: Numbers = field(repr=False)
    n_training: int

    @property
    def n(self) -> int:
        """The number of training inputs."""
        return len(self.columns)

    @property
    def _gram(self) -> FloatArray:
        if self.gram is None:
            raise DataError("the Gram matrix of a precomputed similarity is not saved with a model")
        return self.gram

    def diagonal(self) -> FloatArray:
        """The similarity of each training input to itself."""
        return self._gram.diagonal().copy()

    def restricted(self, indices: ArrayLike) -> BoundPrecomputed:
        """The same with these training inputs only; new inputs still give their similarities to all."""
        kept = np.asarray(indices, dtype=np.int64)
        gram = None if self.gram is None else self.gram[np.ix_(kept, kept)]
        return replace(self, gram=gram, columns=self.columns[kept])

    def extended(self, X: Any) -> BoundPrecomputed:
        """Refuse: nothing is known of new inputs and each other."""
        raise DataError(
            "a precomputed similarity knows nothing of new inputs, so it is not learned part by part; use fit"
        )

    def _training(self, indices: Numbers) -> FloatArray:
        return self._gram[indices]

    def _read(self, X: Any) -> Any:
        new = _dense(X)
        if new.shape[1] != self.n_training:
            raise DataError(
                f"X has {new.shape[1]} columns; a precomputed similarity has one for each of "
                f"{self.n_training} training inputs"
            )
        return new

    def _between(self, part: Any) -> FloatArray:
        block: FloatArray = part[:, self.columns]
        return block

    def to_state(self) -> State:
        """The columns that prediction reads."""
        return {"kind": Precomputed.kind, "n_training": self.n_training}, {"columns": self.columns}

    @classmethod
    def from_arrays(cls, n_training: Any, columns: Any) -> BoundPrecomputed:
        """What `to_state` described."""
        if type(n_training) is not int or n_training < 0 or columns.ndim != 1 or columns.dtype != np.int64:
            raise InvalidModelFileError("the columns of a precomputed similarity are no list of numbers")
        if len(columns) and not 0 <= columns.min() <= columns.max() < n_training:
            raise InvalidModelFileError(f"a precomputed similarity has {n_training} columns, not more")
        return cls(None, columns, n_training)


@dataclass(frozen=True)
class Custom:
    """The user's `function(A, B)`, a matrix of the similarities of the rows of A to those of B."""

    function: Function
    kind: ClassVar[str] = "custom"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise DataError(f"custom takes a function f(A, B), not {self.function!r}")

    def bind(self, X: Any, y: Any = None) -> BoundCustom:
        """The similarity with these training inputs: sparse rows, or whatever NumPy makes an array of."""
        return BoundCustom(self.function, _rows(X))


@dataclass(frozen=True, eq=False)
class BoundCustom(BoundSimilarity):
    """A function, and the training inputs."""

    function: Function
    X: Any = field(repr=False)

    @property
    def n(self) -> int:
        """The number of training inputs."""
        return int(self.X.shape[0])

    def diagonal(self) -> FloatArray:
        """The similarity of each training input to itself."""
        parts = [self.X[start : start + TOGETHER] for start in range(0, self.n, TOGETHER)]
        return np.concatenate([*(self._call(part, part).diagonal() for part in parts), np.empty(0)])

    def restricted(self, indices: ArrayLike) -> BoundCustom:
        """The same with these training inputs only."""
        return replace(self, X=self.X[np.asarray(indices, dtype=np.int64)])

    def extended(self, X: Any) -> BoundCustom:
        """The same with more training inputs."""
        new = _rows(X)
        if not hasattr(self.X, "tocsr"):
            return replace(self, X=np.concatenate([self.X, new.toarray() if hasattr(new, "tocsr") else new]))
        from scipy.sparse import csr_array, vstack

        return replace(self, X=csr_array(vstack([self.X, csr_array(new)], format="csr")))

    def _training(self, indices: Numbers) -> FloatArray:
        return self._between(self.X[indices])

    def _read(self, X: Any) -> Any:
        return _rows(X)

    def _between(self, part: Any) -> FloatArray:
        return self._call(part, self.X)

    def _call(self, A: Any, B: Any) -> FloatArray:
        """What the function gives, checked; a copy, as it may be its own."""
        found = self.function(A, B)
        block = np.array(found.toarray() if hasattr(found, "toarray") else found, dtype=np.float64)
        if block.shape != (A.shape[0], B.shape[0]):
            raise DataError(
                f"the similarity function returned the shape {block.shape} for {A.shape[0]} and {B.shape[0]} "
                "rows; expected a value for each pair"
            )
        if not np.isfinite(block).all():
            raise DataError("the similarity function returned a value that is not finite")
        return block

    def to_state(self) -> State:
        """Refuse: a model file holds no code."""
        raise UnsavableModelError(
            f"the similarity {self.function!r} is a function, and a model file holds no code; "
            "use a similarity that has a name, or precomputed()"
        )


def _dense(X: Any) -> FloatArray:
    rows = read_vectors(X)
    dense: FloatArray = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return dense


def _rows(X: Any) -> Any:
    from scipy.sparse import csr_array

    rows: Any = csr_array(X) if hasattr(X, "tocsr") else np.asarray(X)
    if rows.ndim < 1:
        raise DataError(f"X is {X!r}; expected one input for each row")
    return rows
