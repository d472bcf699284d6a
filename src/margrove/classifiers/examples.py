"""From what `fit` is given to what a solver takes: canonical rows, targets, units, similarities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from margrove import similarity
from margrove.classifiers.merged import Merged
from margrove.classifiers.rows import as_csr, canonical_rows, distinct_rows, merge_private
from margrove.classifiers.scaling import EXTREME, GramInUnits, Units
from margrove.classifiers.targets import Classes, read_targets
from margrove.errors import LabelError
from margrove.objective.certificate import Certificate
from margrove.objective.inputs import Similarities, Vectors
from margrove.outputs.labels import read_weights
from margrove.similarity.given import Precomputed
from margrove.similarity.sequences import BoundSubsequence, Subsequence, read_strings
from margrove.similarity.vectors import Linear

SINGLE_TOL = 1e-4  # single precision proves gaps down to about here
DENSE = 0.5  # the share of nonzero entries from which rows are centred, where there is a bias
SMALL = 1 << 22  # weights; up to this many are kept in double precision, so that all batches agree


@dataclass(frozen=True)
class Examples:
    """Distinct rows in a canonical order, what is right for them, and how to keep what is learned of them."""

    classes: Classes
    inputs: Vectors | Similarities
    Y: sp.csr_array
    """Right classes, rows x classes."""
    weight: NDArray[np.float64]
    units: Units
    expand: sp.csr_array | None
    """From weights of the solver's inputs to those of features, or of rows with a similarity, if others."""
    similar: similarity.BoundSimilarity | None
    centre: NDArray[np.float64] | None = None
    """What has been subtracted from every row: a bias makes up for it (D.11)."""

    @classmethod
    def read(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        miscellaneous: bool = True,
        merge: bool = True,
    ) -> Examples:
        """What the estimator was given to fit; `miscellaneous` as in `read_targets`.

        With `merge`, the features that a row has alone are one input.
        """
        X = read_training_X(estimator, X, y, reset=True)
        kernel = similarity.get(estimator.kernel)
        classes, Y = read_targets(y, estimator.taxonomy, miscellaneous=miscellaneous)
        check_rows(X, Y.shape[0])
        weight = read_weights(sample_weight, X.shape[0])
        if isinstance(kernel, Linear):
            rows, right, weight = canonical_rows(as_csr(X), Y, weight)
            centre = None
            biased = getattr(estimator, "fit_intercept", False)
            if biased and rows.nnz > DENSE * rows.shape[0] * rows.shape[1]:
                rows, centre = _centred(rows, weight)
            units = Units.of(rows)
            scaled, expand = units.inputs(rows), None
            if merge:
                scaled, expand = merge_private(scaled)
            return cls(classes, Vectors(scaled), right, weight, units, expand, None, centre)
        bound, right, weight = _bind(kernel, X, Y, weight)
        diagonal = bound.diagonal()
        units = Units.of(sp.csr_array(np.sqrt(diagonal)[:, None]))
        dtype = np.float32 if getattr(estimator, "tol", 0.0) >= SINGLE_TOL else np.float64
        cache = similarity.RowCache(bound, estimator.cache_size, dtype)
        inputs = Similarities(GramInUnits(cache, diagonal, units), np.arange(len(weight)))
        return cls(classes, inputs, right, weight, units, None, bound)

    def bounds(self, C: float) -> NDArray[np.float64]:
        """What the slack of each row costs, in the solver's units."""
        return self.units.bounds(C, self.weight)

    def keep(
        self,
        model: Any,
        W: NDArray[Any],
        certificate: Certificate | None,
        Lambda: Any,
        column_nodes: Any,
        bias: NDArray[Any] | None = None,
    ) -> None:
        """Put what was learned, in the user's units, where prediction finds it; a bias has no units."""
        ordinary = 1 / EXTREME < self.units.scale < EXTREME
        if W.size <= SMALL or not ordinary:
            W = W.astype(np.float64)
        if self.similar is None:
            merged = None if self.expand is None else Merged.of(self.expand, W.dtype)
            model._keep_weights(self.units.weights(W), merged)
            model.similarity_ = None
        else:
            if self.expand is not None:
                W = self.expand.astype(W.dtype) @ W
            support = np.flatnonzero(W.any(axis=1))
            model._keep_weights(self.units.weights(self.units.weights(W[support])))
            model.similarity_ = self.similar.restricted(support)
        model.attributes_, model.column_nodes_ = Lambda.astype(W.dtype), column_nodes
        if bias is not None and self.centre is not None:
            bias = bias - self.centre @ model.weights_
        model.intercept_ = None if bias is None else bias.astype(W.dtype)
        if certificate is not None:
            model.certificate_ = self.units.certificate(certificate)
            model.n_iter_ = model.certificate_.n_iter
        model._adopt(self.classes)


def read_X(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Rows as scikit-learn checks them; strings for a similarity of strings."""
    if isinstance(similarity.get(estimator.kernel), Subsequence):
        strings = read_strings(X)
        if reset:
            estimator.n_features_in_ = 1
        return strings
    dtype = [np.float64, np.float32]
    if reset:
        return validate_data(estimator, X, accept_sparse="csr", dtype=dtype)
    return validate_data(estimator, X, reset=False, accept_sparse="csr", dtype=dtype)


def read_training_X(estimator: Any, X: Any, y: Any, *, reset: bool) -> Any:
    """The same, where labels belong to them."""
    if y is None:  # before anything is said of X
        raise LabelError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    return read_X(estimator, X, reset=reset)


def check_rows(X: Any, n: int) -> None:
    """Raise unless there are as many rows as y has."""
    if X.shape[0] != n:
        raise LabelError(
            f"X has {X.shape[0]} rows but y has {n}: inconsistent numbers of samples; "
            "give one label, or collection of labels, for each row"
        )


def _centred(rows: sp.csr_array, weight: NDArray[np.float64]) -> tuple[sp.csr_array, NDArray[np.float64]]:
    """Rows around their mean, and the mean: the same problem, but better conditioned."""
    table = rows.toarray().astype(np.float64)
    largest = abs(table).max()  # of large numbers, the sum might overflow
    centre: NDArray[np.float64] = (weight / weight.sum()) @ (table / largest) * largest
    return sp.csr_array(table - centre), centre


def identities(kernel: Any, X: Any) -> sp.csr_array:
    """Sparse rows that are equal where the rows of X are."""
    if isinstance(kernel, Precomputed):  # rows that look alike are still different columns
        return _column(np.arange(X.shape[0]))
    if isinstance(kernel, Subsequence):
        return _column(np.unique(X, return_inverse=True)[1])
    return as_csr(X)


def _bind(
    kernel: Any, X: Any, Y: sp.csr_array, weight: NDArray[np.float64]
) -> tuple[similarity.BoundSimilarity, sp.csr_array, NDArray[np.float64]]:
    """The similarity of the distinct rows, in their order, and what belongs to them."""
    alike = identities(kernel, X)
    kept, weight = distinct_rows(alike, Y, weight)
    right = Y[kept]
    if isinstance(kernel, Precomputed):
        return kernel.bind(X).restricted(kept), right, weight
    if isinstance(kernel, Subsequence):
        return with_engine(kernel.bind(X[kept])), right, weight
    rows = alike[kept]
    return kernel.bind(rows if sp.issparse(X) else rows.toarray(), right), right, weight


def with_engine(bound: similarity.BoundSimilarity) -> similarity.BoundSimilarity:
    """For training, strings are compared by compiled code."""
    if not isinstance(bound, BoundSubsequence):
        return bound
    from margrove.kernels.strings import subsequence_pairs  # compiles; prediction has no need of it

    return bound.with_engine(subsequence_pairs)


def _column(numbers: NDArray[np.intp]) -> sp.csr_array:
    """One number for each row, as a matrix without zeros."""
    return sp.csr_array(numbers[:, None] + 1.0)
