"""Orthogonal transfer as a saddle point: the best signs by few steps around the same dual ascent.

    maximise over S in [-1, 1]   g(S) = min over W of 1/2 tr(W' (K o S) W) + losses(W)                 (O.6)

For fixed signs S the problem is one of contrasts (O.7). g is concave, with the derivatives K_ij <w_i, w_j>
(O.9). For fixed dual variables the best signs are a problem of nodes alone, which is solved exactly; that
would climb, but dual variables answer to the signs, so that g is flatter than this model. Hence a share theta
of the model, and the rest of its tangent, where theta is what the last step has measured (O.10).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from margrove.objective.certificate import Status
from margrove.objective.contrasts import Duals
from margrove.objective.orthogonal import OrthogonalProblem
from margrove.outputs.layout import arranged
from margrove.solvers.dual_ascent import Solution
from margrove.solvers.progress import Patience, Progress, Watch
from margrove.solvers.runs import Runs

FIRST = 0.1  # relative gap of the first run of the engine
CLOSER = 0.1  # gap of a later run, as a share of that reached so far
ENOUGH = 0.2  # of the gap asked for: no run has to be closer
FLATTEST = 0.05  # least share of the model
NEWTON = 3  # steps from the best signs that values can tell

Array = NDArray[Any]


class Point(NamedTuple):
    """Signs, and what the engine found for them."""

    S: Array
    products: Array
    """Inner products of the weights."""
    slope: Array
    """Derivatives of g by the signs."""
    low: float
    """g(S) lies between these two."""
    high: float


def solve_saddle(
    problem: OrthogonalProblem,
    *,
    tol: float,
    max_iter: int,
    rng: np.random.Generator,
    dtype: Any = np.float32,
    n_threads: int = 1,
    epsilon: float | None = None,
    watch: Watch | None = None,
) -> tuple[Solution, Array]:
    """Minimise to a relative gap of `tol`, or to the gap `epsilon`; return the solution, and the signs.

    The certificate has the primal (O.1) of W, and the lower bound (O.8) of the dual variables and the signs.
    """
    runs = Runs(max_iter, watch, rng=rng, dtype=dtype, n_threads=n_threads)
    best = np.zeros((problem.inputs.shape[1], problem.n_columns), dtype)
    upper, lower = problem.primal(best), 0.0
    status: Status = "iteration limit"

    def seen(progress: Progress) -> Progress:
        low = max(lower, progress.dual)
        return progress._replace(primal=upper, dual=low, relative_gap=relative(upper - low))

    def relative(gap: float) -> float:
        return max(gap, 0.0) / upper if upper > 0 else 0.0

    def allowed() -> float:
        return tol * upper if epsilon is None else epsilon

    S = np.zeros(len(problem.pairs[0]))
    duals: Duals | None = None
    proof: Solution | None = None
    held: Point | None = None
    theta = 1.0
    accuracy = FIRST
    patience = Patience()
    while True:
        signed = problem.signed(S)
        Lambda, layout = arranged(signed.Lambda)
        step = runs.solve(
            replace(signed, Lambda=Lambda),
            layout,
            tol=max(accuracy, ENOUGH * relative(allowed())) if len(S) else relative(allowed()),
            start=duals,
            seen=seen,
        )
        duals, reached = step.duals, step.certificate
        W = np.ascontiguousarray(step.W @ Lambda.T.astype(dtype))
        primal = problem.primal(W)
        if primal < upper:
            upper, best = primal, W
        if reached.dual > lower or proof is None:
            lower, proof, best_signs = max(reached.dual, lower), step, S
        gap = upper - lower
        is_stuck = patience.is_over(gap, lower)
        if gap <= allowed():
            status = "converged"
        elif reached.status != "converged":
            status = reached.status
        elif is_stuck or not len(S):
            status = "stalled"
        if status != "iteration limit" or runs.are_over:
            break
        accuracy = min(accuracy, CLOSER * relative(gap))
        point = _point(problem, S, W, reached.dual, reached.primal)
        if held is not None:
            theta = _share(problem, held, point, theta)
        if held is None or point.high >= held.low:
            held = point
        S = _climb(problem, held, theta)
    certificate = runs.certificate(proof.certificate, upper, lower, status)
    return Solution(best, proof.duals, certificate), best_signs


def _point(problem: OrthogonalProblem, S: Array, W: Array, low: float, high: float) -> Point:
    products = problem.products(W)
    return Point(S, products, problem.K[problem.pairs] * products[problem.pairs], low, high)


def _share(problem: OrthogonalProblem, held: Point, point: Point, theta: float) -> float:
    """How much of the model's curvature g has, along the last step (O.10)."""
    if point.high < held.low:  # g has fallen for certain; the model alone never does
        return min(1.0, 4 * theta)
    along = point.S - held.S
    modelled = 0.0
    for mine, model in _models(problem, held, 1.0):
        modelled += along[mine] @ (model.value(point.S[mine])[1] - held.slope[mine])
    measured = along @ (point.slope - held.slope)
    return float(np.clip(measured / modelled, FLATTEST, 1.0)) if modelled < 0 else theta


def _climb(problem: OrthogonalProblem, point: Point, theta: float) -> Array:
    """The signs that are best by the models at a point."""
    S = point.S.copy()
    for mine, model in _models(problem, point, theta):
        S[mine] = model.best(S[mine])
    return S


def _models(problem: OrthogonalProblem, point: Point, theta: float) -> Iterator[tuple[Array, Model]]:
    """A model for each block of nodes, and which of the pairs it is about."""
    whole = problem.metric(point.S)
    for nodes, mine, pairs in problem.blocks:
        within = np.ix_(nodes, nodes)
        M = whole[within]
        moments = M @ point.products[within] @ M  # R R' of (O.8), as R = (K o S) W
        if len(mine) and moments.trace() > 0:
            yield mine, Model(problem.K[within], pairs, moments, point.slope[mine], theta)


class Model(NamedTuple):
    """The dual as a function of the signs, for fixed dual variables: -1/2 tr(R R' (K o S)^-1) (O.10).

    Of its curvature only a share is taken, and else the tangent at the point that it is a model of.
    """

    K: Array
    pairs: tuple[Array, Array]
    moments: Array
    slope: Array
    theta: float

    def at(self, S: Array) -> tuple[Array, Array]:
        """(K o S)^-1, and the inner products of the weights that it gives."""
        i, j = self.pairs
        M = np.diag(self.K.diagonal())
        M[i, j] = M[j, i] = self.K[i, j] * S
        inverse = np.linalg.inv(M)
        return inverse, inverse @ self.moments @ inverse

    def value(self, S: Array) -> tuple[float, Array]:
        """The model and its derivatives."""
        inverse, products = self.at(S)
        value = -0.5 * float((self.moments * inverse).sum())
        steep = self.K[self.pairs] * products[self.pairs]
        rest = 1 - self.theta
        return self.theta * value + rest * float(self.slope @ S), self.theta * steep + rest * self.slope

    def curvature(self, S: Array, some: Array) -> Array:
        """Minus the second derivatives by some of the signs."""
        inverse, products = self.at(S)
        i, j = (side[some] for side in self.pairs)
        ends = ((i, j), (j, i))
        total = sum(products[np.ix_(a, c)] * inverse[np.ix_(b, d)] for a, b in ends for c, d in ends)
        k = self.K[i, j]
        curved: Array = self.theta * k[:, None] * k * total
        return curved

    def best(self, S: Array) -> Array:
        """The signs at which the model is highest, sought from S."""
        scale = float(np.trace(self.moments / self.K.diagonal()))

        def fall(s: Array) -> tuple[float, Array]:
            value, steep = self.value(s)
            return -value / scale, -steep / scale

        found = minimize(
            fall,
            S,
            jac=True,
            bounds=[(-1.0, 1.0)] * len(S),
            method="L-BFGS-B",
            options={"ftol": 1e-15, "gtol": 1e-11, "maxiter": 1000},
        )
        return self._polished(found.x)

    def _polished(self, S: Array) -> Array:
        """Newton steps on the signs inside, for the digits that values cannot tell."""
        inside = np.flatnonzero(abs(S) < 1)
        steep = self.value(S)[1][inside]
        for _ in range(NEWTON):
            curved = self.curvature(S, inside)
            ridge = 1e-12 * curved.trace() * np.eye(len(inside))  # for nodes without weights
            closer = S.copy()
            closer[inside] = np.clip(S[inside] + np.linalg.solve(curved + ridge, steep), -1, 1)
            left = self.value(closer)[1][inside]
            if not abs(left).sum() < abs(steep).sum():
                break
            S, steep = closer, left
        return S
