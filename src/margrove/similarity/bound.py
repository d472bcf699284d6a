"""A similarity that knows its training inputs: rows of their Gram matrix, and blocks against new inputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from margrove.errors import DataError

FloatArray: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.int64]
State: TypeAlias = tuple[dict[str, Any], dict[str, NDArray[Any]]]
"""Plain JSON values, and arrays."""


def is_count(value: Any) -> bool:
    """Whether an option is a whole number, one or more."""
    return isinstance(value, int | np.integer) and bool(value >= 1)


class BoundSimilarity(ABC):
    """What learning and prediction need of the inputs; computed in double precision throughout."""

    is_linear: ClassVar[bool] = False
    """Whether a weight for each feature does the same."""

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of training inputs."""

    @abstractmethod
    def diagonal(self) -> FloatArray:
        """The similarity of each training input to itself."""

    @cached_property
    def _diagonal(self) -> FloatArray:
        return self.diagonal()

    def rows(self, indices: ArrayLike, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Some rows of the training Gram matrix (len(indices) x n)."""
        wanted = np.asarray(indices, dtype=np.int64)
        gram = self._training(wanted)
        gram[np.arange(len(wanted)), wanted] = self._diagonal[wanted]  # equal, but for rounding
        return gram.astype(dtype, copy=False)

    def blocks(self, X: Any, megabytes: float = 64.0) -> Iterator[tuple[slice, FloatArray]]:
        """New inputs against the training ones, as many rows at a time as fit: which rows, and the block."""
        if not megabytes > 0:
            raise DataError(f"megabytes is {megabytes!r}; expected a positive number")
        return self._blocks(self._read(X), megabytes)

    def _blocks(self, new: Any, megabytes: float) -> Iterator[tuple[slice, FloatArray]]:
        step = max(1, int(megabytes * 2**20) // (8 * max(self.n, 1)))
        for start in range(0, new.shape[0], step):
            rows = slice(start, min(start + step, new.shape[0]))
            yield rows, self._between(new[rows])

    def between(self, X: Any) -> FloatArray:
        """All of `blocks` as one matrix (new inputs x n)."""
        parts = [block for _, block in self.blocks(X)]
        return np.concatenate(parts) if parts else np.empty((0, self.n))

    @abstractmethod
    def restricted(self, indices: ArrayLike) -> BoundSimilarity:
        """The same with these training inputs only, in this order."""

    @abstractmethod
    def extended(self, X: Any) -> BoundSimilarity:
        """The same with more training inputs, after those that it has."""

    @abstractmethod
    def to_state(self) -> State:
        """All that prediction needs, for `from_state`."""

    @abstractmethod
    def _training(self, indices: Numbers) -> FloatArray:
        """A new array with rows of the Gram matrix."""

    @abstractmethod
    def _read(self, X: Any) -> Any:
        """New inputs, checked; something with a `shape` that can be cut."""

    @abstractmethod
    def _between(self, part: Any) -> FloatArray:
        """A new array with the similarities of some new inputs to the training ones."""
