"""Inputs in units in which the arithmetic is at home, and results back in the user's.

With X = scale X', the problem (P.3) in X with C is that in X' with C scale^2: the weights are those of X'
divided by scale, the objective is divided by scale^2 (E.10). The scale is a power of two, so all of this is
exact.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.errors import DataError, ScaleWarning
from margrove.objective.certificate import Certificate

if TYPE_CHECKING:
    from margrove.solvers.progress import Progress

EXTREME = 1e8  # a bound (C times squared norm) beyond this, or below its inverse, earns a warning
ADVICE = "scale the features, for example with sklearn.preprocessing.StandardScaler or Normalizer"


@dataclass(frozen=True)
class Units:
    """How many of the solver's units one of the user's is."""

    scale: float

    @classmethod
    def of(cls, X: sp.csr_array) -> Units:
        """The power of two that is nearest to the largest norm of a row; 1 where all rows are zero."""
        largest = float(abs(X.data).max(initial=0.0))
        if largest == 0:
            return cls(1.0)
        relative = sp.csr_array((X.data.astype(np.float64) / largest, X.indices, X.indptr), shape=X.shape)
        norm = float(np.sqrt(relative.multiply(relative).sum(axis=1).max()))
        return cls(float(2.0 ** np.clip(np.round(np.log2(norm) + np.log2(largest)), -1022, 1023)))

    def inputs(self, X: sp.csr_array) -> sp.csr_array:
        """X', whose longest row has a norm of about one."""
        if self.scale == 1:
            return X
        return sp.csr_array((X.data.astype(np.float64) / self.scale, X.indices, X.indptr), X.shape)

    def bounds(self, C: float, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the slack of each row costs: C times its weight, for X'."""
        with np.errstate(over="ignore", under="ignore"):
            bound: NDArray[np.float64] = C * weight * self.scale * self.scale
        if not (np.isfinite(bound).all() and bound.min() > np.finfo(np.float64).tiny):
            raise DataError(
                f"rows with norms of up to {self.scale:.1e}, C={C:g} and sample weights from "
                f"{weight.min():.1e} to {weight.max():.1e} are together beyond the range of the arithmetic; "
                f"{ADVICE}"
            )
        typical = float(np.median(bound))
        if not 1 / EXTREME < typical < EXTREME:
            effect = "nearly forbids errors" if typical > 1 else "nearly allows every error"
            warnings.warn(
                f"rows have norms of up to {self.scale:.1e}, for which C={C:g} {effect}; {ADVICE}, "
                "or change C by the inverse square of it",
                ScaleWarning,
                stacklevel=4,
            )
        return bound

    def weights(self, W: NDArray[Any]) -> NDArray[Any]:
        """The weights for X of those for X'."""
        return W if self.scale == 1 else W / W.dtype.type(self.scale)

    def certificate(self, certificate: Certificate) -> Certificate:
        """The certificate of the problem in X."""
        primal, dual = (value / self.scale / self.scale for value in (certificate.primal, certificate.dual))
        return replace(certificate, primal=primal, dual=dual)

    def progress(self, progress: Progress) -> Progress:
        """A round's report for the problem in X."""
        primal, dual = (value / self.scale / self.scale for value in (progress.primal, progress.dual))
        return progress._replace(primal=primal, dual=dual)


@dataclass(frozen=True)
class GramInUnits:
    """Similarities of training inputs in the solver's units: those of X' = X / scale."""

    rows_of: Any
    """A cache of rows, in the user's units."""
    diagonal_of: NDArray[np.float64]
    units: Units

    def diagonal(self) -> NDArray[Any]:
        """Each input with itself."""
        return self.units.weights(self.units.weights(self.diagonal_of))

    def rows(self, indices: NDArray[np.intp]) -> NDArray[Any]:
        """Some inputs with all."""
        return self.units.weights(self.units.weights(self.rows_of.rows(indices)))
