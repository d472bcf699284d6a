"""psi-learning by difference convex programming (Wang 2.3.2): convex problems, one after the other.

Each lies above the objective and touches it where the last one ended (S.7), so a step that lowers its own
problem lowers the objective too. The last step is one that is not worth while. The certificate is that of its
convex problem: `primal` is not below the objective of what is kept, and no step would have gone below `dual`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from margrove.objective.certificate import Status
from margrove.objective.contrasts import ContrastProblem
from margrove.objective.psi import PsiProblem
from margrove.outputs.layout import Layout
from margrove.solvers.bias import solve_with_bias
from margrove.solvers.dual_ascent import Solution, solve
from margrove.solvers.progress import Watch
from margrove.solvers.runs import Runs

WORTH = 0.1  # of tol: a step that lowers the objective by a smaller share is the last


@dataclass(frozen=True)
class Descended:
    """The best of all iterates, with the certificate of the last convex problem, and all objectives."""

    solution: Solution
    objectives: list[float]
    """That of the start, the hinge solution, and of each better iterate."""


def solve_psi(
    problem: ContrastProblem,
    layout: Layout,
    *,
    tol: float,
    max_iter: int,
    fit_intercept: bool = False,
    start: Solution | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> Descended:
    """Minimise (S.5) from the hinge solution, or from `start`, until no convex step is worth `tol`."""
    psi = PsiProblem(problem)
    options["dtype"] = np.float64  # differences of large numbers
    runs = Runs(max_iter, watch, **options)
    by = solve_with_bias if fit_intercept else solve
    best = runs.solve(problem, layout, by=by, tol=tol) if start is None else start
    value, held = psi.at(best.W, best.bias)
    objectives, primal, dual = [value], value, 0.0
    status: Status = best.certificate.status
    worth = value > 0
    while status == "converged" and worth:
        above, constant = psi.above(held)
        more: dict[str, Any] = {"bias": best.bias, "held": held} if fit_intercept else {}
        # a gap of half of tol in the objective, which is less than the step's primal by a constant
        closer = 0.5 * tol * value / (value + constant)
        found = runs.solve(above, layout, by=by, tol=closer, start=best.duals, **more)
        status = found.certificate.status
        reached, others = psi.at(found.W, found.bias)
        worth = reached < value * (1 - WORTH * tol)
        primal, dual = value, found.certificate.dual - constant
        if reached < value:
            best, primal = found, found.certificate.primal - constant
            value, held = reached, others
            objectives.append(value)
    certificate = runs.certificate(best.certificate, primal, dual, status)
    return Descended(replace(best, certificate=certificate), objectives)
