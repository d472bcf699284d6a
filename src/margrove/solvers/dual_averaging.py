"""Regularised dual averaging with optimality bounds (Zhou, Algorithm 1), for any strongly convex objective.

    minimise over W   J(W) = phi(W) + sigma/2 |W|^2,     phi convex                                    (O.12)

Each step takes one subgradient g of phi over all examples and goes to W = -mean(g) / sigma (O.13). The mean
of the tangents of phi is nowhere above phi, so its least value with sigma/2 |W|^2 is a lower bound (O.14).
"""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from margrove.objective.certificate import Certificate, Status, relative_gap
from margrove.objective.contrasts import Duals
from margrove.objective.inputs import Inputs
from margrove.solvers.dual_ascent import Solution
from margrove.solvers.progress import Progress, Watch

Array = NDArray[Any]


class Objective(Protocol):
    """What dual averaging asks of a problem; W is inputs x columns."""

    @property
    def convexity(self) -> float:
        """sigma: J - sigma/2 |W|^2 is convex."""

    @property
    def inputs(self) -> Inputs:
        """Where inner products of models come from."""

    @property
    def n_columns(self) -> int:
        """Of W."""

    def subgradient(self, W: Array) -> tuple[float, Array]:
        """J, and one of its subgradients."""


def average(
    objective: Objective,
    *,
    tol: float,
    max_iter: int,
    epsilon: float | None = None,
    dtype: Any = np.float64,
    watch: Watch | None = None,
) -> Solution:
    """Minimise to a relative gap of `tol`, or to the gap `epsilon`; `watch` sees each step."""
    began = time.perf_counter()
    sigma, inner = objective.convexity, objective.inputs.inner
    W = np.zeros((objective.inputs.shape[1], objective.n_columns), dtype)
    best, mean = W, np.zeros_like(W)
    delta, square = 0.0, 0.0  # mean of the tangents at zero; |W|^2
    upper, lower = np.inf, 0.0
    status: Status = "iteration limit"
    for t in range(max_iter + 1):
        value, g = objective.subgradient(W)
        if value < upper:
            upper, best = value, W
        relative = relative_gap(upper, lower)
        if upper - lower <= (tol * upper if epsilon is None else epsilon):
            status = "converged"
        elif watch is not None and watch(Progress(t, upper, lower, relative, time.perf_counter() - began)):
            status = "interrupted"
        if status != "iteration limit" or t == max_iter:
            break
        delta += (value + 0.5 * sigma * square - inner(g, W) - delta) / (t + 1)
        g -= sigma * W  # of phi
        g -= mean
        g /= t + 1
        mean += g
        W = mean / -sigma
        square = inner(W, W)
        lower = max(lower, delta - 0.5 * sigma * square)
    certificate = Certificate(
        primal=upper,
        dual=lower,
        n_iter=t,
        status=status,
        seconds=time.perf_counter() - began,
        max_violation=0.0,
        n_active=0,
    )
    nothing = np.empty(0, np.int64)
    return Solution(best, Duals(nothing, nothing, nothing, np.empty(0)), certificate)
