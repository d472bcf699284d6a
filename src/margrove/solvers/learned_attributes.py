"""Weights of the attributes learned with the classifier, around the same dual ascent (maths.md, A.9-A.13).

    minimise over W, theta   1/2 sum_g |W_g|^2 / theta_g + sum_i bound_i xi_i(W)                 (A.11)

For fixed theta it is a contrast problem, which the engine solves, each time from the last one's variables and
only as well as theta deserves. For fixed W the best theta is known (A.12). The variables of every step give a
lower bound of the joint problem (A.13), its weights with the theta that is best for them an upper one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from margrove.objective.certificate import Status, relative_gap
from margrove.objective.contrasts import Duals
from margrove.objective.learned import LearnedProblem
from margrove.outputs.layout import Layout, weighted
from margrove.solvers.dual_ascent import Solution
from margrove.solvers.progress import Progress, Watch
from margrove.solvers.runs import Runs

STEPS = 1000
ROUGH = 0.1  # relative gap of the first step
SHARE = 0.25  # of the joint gap, to which a step is solved
LEAST = 1e-10  # theta


def solve_with_weights(
    learned: LearnedProblem,
    layout: Layout,
    *,
    tol: float,
    max_iter: int,
    rng: np.random.Generator,
    dtype: Any = np.float32,
    n_threads: int = 1,
    start: Duals | None = None,
    watch: Watch | None = None,
) -> tuple[Solution, NDArray[np.float64]]:
    """Minimise over W and theta; return theta, and the solution of `learned.with_weights(theta)`."""
    runs = Runs(max_iter, watch, rng=rng, dtype=dtype, n_threads=n_threads)
    theta = np.ones(len(learned.trace))
    duals = start
    upper, lower, relative = np.inf, 0.0, 1.0
    status: Status = "iteration limit"

    def seen(progress: Progress) -> Progress:
        primal = min(upper, progress.primal)
        return progress._replace(primal=primal, dual=lower, relative_gap=relative_gap(primal, lower))

    for _ in range(STEPS):
        step = runs.solve(
            learned.with_weights(theta),
            weighted(layout, np.sqrt(theta)[learned.groups]),
            tol=max(0.5 * tol, min(ROUGH, SHARE * relative)),
            start=duals,
            seen=seen,
        )
        duals = step.duals
        better, primal, dual = _bounds(learned, step, theta)
        lower = max(lower, dual)
        if primal < upper:
            upper, found = primal, (step, theta, better)
        relative = relative_gap(upper, lower)
        if relative <= tol:
            status = "converged"
        elif step.certificate.status != "converged":
            status = step.certificate.status
        if status != "iteration limit" or runs.are_over:
            break
        theta = np.maximum(better, LEAST)
    step, theta, better = found
    ratio = np.sqrt(np.divide(theta, better, out=np.zeros_like(theta), where=better > 0))
    certificate = runs.certificate(step.certificate, upper, lower, status)
    W = step.W * ratio[learned.groups].astype(step.W.dtype)
    return Solution(W, step.duals, certificate), better


def _bounds(
    learned: LearnedProblem, step: Solution, theta: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float, float]:
    """The best theta for a step's weights, (A.11) there, and (A.13) for its variables.

    They are the step's own primal and dual but for the penalty of weights sqrt(theta) V.
    """
    squares = learned.squares(step.W)
    own = learned.penalty(squares * theta, theta)
    better = learned.best_weights(squares * theta)
    primal = step.certificate.primal - own + learned.penalty(squares * theta, better)
    dual = step.certificate.dual + own - 0.5 * learned.largest(squares / theta)
    return better, primal, dual
