"""How close a fit is to the optimum, and how it ended."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["converged", "iteration limit", "interrupted", "stalled"]


def relative_gap(primal: float, dual: float) -> float:
    """The gap as a share of the primal."""
    return (primal - dual) / primal if primal > 0 else 0.0


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
        return relative_gap(self.primal, self.dual)

    @classmethod
    def of_all(cls, parts: Sequence[Certificate], tol: float, seconds: float) -> Certificate:
        """The certificate of problems that share nothing, as one: values add up, and so do gaps (S.4).

        It says "converged" if the gap of all is small enough, whatever became of a single one.
        """
        primal, dual = (math.fsum(values) for values in ([p.primal for p in parts], [p.dual for p in parts]))
        ends = {part.status for part in parts}
        unfinished: tuple[Status, ...] = ("interrupted", "iteration limit", "stalled")
        status: Status = "converged"
        if primal - dual > tol * primal:
            status = next((end for end in unfinished if end in ends), "stalled")
        return cls(
            primal=primal,
            dual=dual,
            n_iter=max((part.n_iter for part in parts), default=0),
            status=status,
            seconds=seconds,
            max_violation=max((part.max_violation for part in parts), default=0.0),
            n_active=sum(part.n_active for part in parts),
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {**asdict(self), "gap": self.gap, "relative_gap": self.relative_gap}

    def __str__(self) -> str:
        return (
            f"{self.status}: primal {self.primal:.6g}, dual {self.dual:.6g}, "
            f"relative gap {self.relative_gap:.2e} after {self.n_iter} rounds in {self.seconds:.1f} s"
        )
