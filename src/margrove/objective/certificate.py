"""How close a fit is to the optimum, and how it ended."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["converged", "iteration limit", "interrupted", "stalled"]


@dataclass(frozen=True)
class Certificate:
    """Primal and dual values of what was found, computed from their definitions (P.3, D.1).

    The optimum lies between `dual` and `primal`, so no model has an objective better than `dual`.
    """

    primal: float
    dual: float
    n_iter: int
    """Rounds of the solver."""
    status: Status
    seconds: float
    max_violation: float
    """The largest optimality measure psi of an example (Cai 4.32) when the solver stopped."""
    n_active: int
    """Contrasts with a positive dual variable."""

    @property
    def gap(self) -> float:
        """Primal less dual."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the primal."""
        return self.gap / self.primal if self.primal > 0 else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {**asdict(self), "gap": self.gap, "relative_gap": self.relative_gap}

    def __str__(self) -> str:
        return (
            f"{self.status}: primal {self.primal:.6g}, dual {self.dual:.6g}, "
            f"relative gap {self.relative_gap:.2e} after {self.n_iter} rounds in {self.seconds:.1f} s"
        )
