"""psi-learning over contrasts (Wang 2.3.2): its objective, and the convex problems that lie above it.

    minimise over W, b:   1/2 |W|^2 + sum_i bound_i psi(u_i),     psi(u) = min(1, max(0, 1 - u))        (S.5)
    u_i = the least margin of example i, 1 - max H for costs of one

psi(u) = max(0, 1 - u) - max(0, -u), a difference of convex functions. A subgradient of the second at some W
sums the contrasts behind the margins u_i <= 0, `held` with all of their bounds, and below its tangent (S.6)
there is left the hinge problem with the offset G = -V(held).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margrove.objective.contrasts import ContrastProblem, Duals

Array = NDArray[Any]


@dataclass(frozen=True)
class PsiProblem:
    """(S.5): `hinge` with a loss that stops at one."""

    hinge: ContrastProblem
    """With slack "example", costs of one, and neither base nor offset."""

    def at(self, W: Array, b: Array | None) -> tuple[float, Duals]:
        """The value, and the contrasts that are held (S.6)."""
        problem = self.hinge if b is None else replace(self.hinge, base=b)
        pos, neg, H = problem.worst(W)
        bound = problem.bound
        value = problem.penalty(W) + float(bound @ np.clip(H, 0.0, 1.0))
        wrong = np.flatnonzero(H >= 1)
        return value, Duals(wrong, pos[wrong], neg[wrong], bound[wrong].astype(np.float64))

    def above(self, held: Duals) -> tuple[ContrastProblem, float]:
        """The convex problem (S.7) above this one, and the constant 1/2 |G|^2 that it has more.

        With a bias, <b, r(held)> is part of it too (S.8).
        """
        G = -self.hinge.weights(held)
        return replace(self.hinge, offset=G), self.hinge.penalty(G)
