"""Weights of fewer inputs than there are features: those that one training row had alone are one input.

In text most features are such, and weights are many: kept apart, they would be most of a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.errors import InvalidModelFileError

PREFIX = "merged."
BLOCK = 1 << 16  # weights at a time, that stay in the processor's cache


@dataclass(frozen=True)
class Merged:
    """Feature f is share[f] times the input column[f] (E.11); the share is zero where no row had it."""

    column: NDArray[np.int32]
    share: NDArray[Any]
    n_inputs: int

    @classmethod
    def of(cls, expand: sp.csr_array, dtype: Any) -> Self | None:
        """From the matrix that takes weights of inputs to those of features; None where they are the same."""
        d, n_inputs = expand.shape
        met = np.diff(expand.indptr) > 0  # one entry each
        column, share = np.zeros(d, np.int32), np.zeros(d, dtype)
        column[met], share[met] = expand.indices, expand.data
        if d == n_inputs and (column == np.arange(d)).all() and (share == 1).all():
            return None
        return cls(column, share, n_inputs)

    def rows(self, X: Any) -> sp.csr_array:
        """The inputs of rows of features."""
        X = sp.csr_array(X)
        data = X.data * self.share[X.indices]
        return sp.csr_array((data, self.column[X.indices], X.indptr), (X.shape[0], self.n_inputs))

    def weights(self, W: NDArray[Any]) -> NDArray[Any]:
        """Weights of features, in W's type, from weights of inputs."""
        found = np.empty((len(self.column), W.shape[1]), W.dtype)
        step = max(1, BLOCK // max(W.shape[1], 1))
        for start in range(0, len(found), step):
            part = slice(start, start + step)
            np.take(W, self.column[part], axis=0, out=found[part], mode="clip")
            found[part] *= self.share[part, None].astype(W.dtype)
        return found

    def to_state(self) -> dict[str, NDArray[Any]]:
        """As arrays for a model file, of the features that have an input."""
        met = np.flatnonzero(self.share)
        return {
            PREFIX + "feature": met,
            PREFIX + "column": self.column[met],
            PREFIX + "share": self.share[met],
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]], n_features: int, n_inputs: int) -> Self | None:
        """What `to_state` described, if anything; what does not fit is refused."""
        if PREFIX + "share" not in arrays:
            return None
        met, inputs, shares = (arrays[PREFIX + name] for name in ("feature", "column", "share"))
        if not (
            met.ndim == 1
            and met.shape == inputs.shape == shares.shape
            and met.dtype.kind == inputs.dtype.kind == "i"
            and shares.dtype in (np.float32, np.float64)
            and bool(((met >= 0) & (met < n_features) & (inputs >= 0) & (inputs < n_inputs)).all())
            and bool(np.isfinite(shares).all())
        ):
            raise InvalidModelFileError("the inputs that features are part of do not fit the weights")
        column, share = np.zeros(n_features, np.int32), np.zeros(n_features, shares.dtype)
        column[met], share[met] = inputs, shares
        return cls(column, share, n_inputs)
