"""An unpenalised bias, exactly: proximal-point steps on the bias alone, around the same dual ascent.

    minimise over W, b   1/2 |W - G|^2 + sum_i bound_i xi_i(W, b),     F = Lambda (W x + b)          (D.8)

Step k penalises rho/2 |b - b_k|^2, which is a constant input 1/sqrt(rho) and the base scores b_k of (P.6);
its minimum has b = b_k + r/rho with r = sum alpha a (D.9). The dual of (D.8) is (D.7) with the constraint
r = 0: `balanced` takes the steps' variables to that, and so gives the lower bound of the certificate.

Where an offset G is made of contrasts that are held, G = -V(held), <b, r(held)> is part of the problem too,
and the constraint is r = r(held) (S.8).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import cg

from margrove.objective.certificate import Status
from margrove.objective.contrasts import ContrastProblem, Duals
from margrove.objective.inputs import Gram, Similarities, Vectors
from margrove.outputs.layout import Layout
from margrove.solvers.dual_ascent import Solution
from margrove.solvers.progress import Watch
from margrove.solvers.runs import Runs

FASTER = 4.0  # by which rho falls where a step has moved the bias less than it might
LEAST = 1e-3  # of the first rho
DENSE = 2000  # columns; up to this many a linear system is solved directly
STEPS = 200
REPAIRS = 20  # of an imbalance

Array = NDArray[Any]


@dataclass(frozen=True)
class Shifted:
    """Inner products of inputs with a constant one beside them."""

    gram: Gram
    square: float

    def diagonal(self) -> Array:
        """Each example with itself."""
        diagonal: Array = self.gram.diagonal() + self.square
        return diagonal

    def rows(self, indices: NDArray[np.intp]) -> Array:
        """Some examples with all."""
        found = self.gram.rows(indices)
        shifted: Array = found + found.dtype.type(self.square)
        return shifted


def solve_with_bias(
    problem: ContrastProblem,
    layout: Layout,
    *,
    tol: float,
    max_iter: int,
    rng: np.random.Generator,
    dtype: Any = np.float32,
    n_threads: int = 1,
    start: Duals | None = None,
    bias: Array | None = None,
    held: Duals | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Minimise `problem` over W and a bias of each column, from `start` and `bias` where these are given.

    `held` has variables at their bounds, one an example, of contrasts whose margins are in the objective.
    """
    runs = Runs(max_iter, watch, rng=rng, dtype=dtype, n_threads=n_threads)
    b = np.zeros(layout.n_columns) if bias is None else bias
    rho = 1 / (float(np.mean(problem.inputs.diagonal())) or 1.0)  # the constant is as long as a row
    least = LEAST * rho
    best, lower = np.inf, -np.inf
    pull = np.zeros(layout.n_columns) if held is None else -imbalance(problem, held)
    near = np.inf if held is None else _value(problem, problem.weights(start or held), b, pull)
    status: Status = "iteration limit"
    duals = start
    for _ in range(STEPS):
        constant = float(pull @ pull) / (2 * rho)  # that the step's primal has more
        step = runs.solve(
            _proximal(problem, b, rho, pull),
            layout,
            tol=0.5 * tol * (near / (near + constant) if constant > 0 else 1.0),
            start=duals,
        )
        duals = step.duals
        b = b + (imbalance(problem, duals) + pull) / rho
        W = problem.weights(duals, dtype)
        primal = _value(problem, W, b, pull)
        if primal < best:
            best, found = primal, (W, b, step)
        near = min(near, best)
        even = balanced(problem, duals, held)
        lower = max(lower, problem.dual(even, problem.weights(even, dtype)))
        if best - lower <= tol * best:
            status = "converged"
        elif step.certificate.status != "converged":
            status = step.certificate.status
        if status != "iteration limit" or runs.are_over:
            break
        rho = max(rho / FASTER, least)
    W, b, step = found
    return Solution(W, step.duals, runs.certificate(step.certificate, best, lower, status), b)


def _value(problem: ContrastProblem, W: Array, b: Array, pull: Array) -> float:
    """(D.8), less <b, pull>."""
    return replace(problem, base=b).primal(W) - float(b @ pull)


def _proximal(problem: ContrastProblem, b: Array, rho: float, pull: Array) -> ContrastProblem:
    """The problem of one step; what pulls at the bias is an offset of the constant input's weights."""
    inputs, G = problem.inputs, problem.offset
    if isinstance(inputs, Similarities):
        # the offset's coefficients have a part in the constant input: base takes back what is too much
        base = b if G is None else b - (G.sum(axis=0) - pull) / rho
        shifted = Similarities(Shifted(inputs.gram, 1 / rho), inputs.kept)
        return replace(problem, inputs=shifted, base=base)
    constant = sp.csr_array(np.full((inputs.shape[0], 1), 1 / np.sqrt(rho)))
    extended = Vectors(sp.csr_array(sp.hstack([inputs.X, constant])))
    offset = None if G is None else np.vstack([G, pull[None, :] / np.sqrt(rho)])
    return replace(problem, inputs=extended, base=b, offset=offset)


def imbalance(problem: ContrastProblem, duals: Duals) -> Array:
    """r = sum alpha a, by column: what an unpenalised bias asks to be zero (D.9)."""
    q = problem.Y.shape[1]
    sums = np.bincount(duals.pos, duals.alpha, q) - np.bincount(duals.neg, duals.alpha, q)
    r: Array = problem.Lambda.T @ sums
    return r


def balanced(problem: ContrastProblem, duals: Duals, held: Duals | None = None) -> Duals:
    """Variables near `duals` that are feasible and have no imbalance, or that of `held`."""
    if held is not None and len(held.alpha):
        return _balanced_beside(problem, duals, held)
    even = duals._replace(alpha=_evened(_contrasts(problem, duals), duals.alpha))
    if problem.loss == "squared-hinge":
        return even
    return even._replace(alpha=even.alpha / (1 + problem.infeasibility(even)))


def _evened(moves: sp.csr_array, alpha: Array) -> Array:
    """Variables near `alpha` whose moves sum to zero.

    alpha_c (1 - <a_c, z>) are such for (sum alpha_c a_c a_c') z = r (D.10). What falls below zero is cut, and
    the rest balanced again; all zero if that does not end. Scaling all by one number keeps the sum zero.
    """
    for _ in range(REPAIRS):
        r = moves.T @ alpha
        if not r.any():
            return alpha
        weighted = sp.csr_array(moves.multiply(alpha[:, None]))
        alpha = alpha * (1 - moves @ _solve_linear(sp.csr_array(moves.T @ weighted), r))
        if alpha.min() >= 0:
            return alpha
        alpha = np.maximum(alpha, 0.0)
    return np.zeros(len(alpha))


def _balanced_beside(problem: ContrastProblem, duals: Duals, held: Duals) -> Duals:
    """Each example that holds a contrast h has its bound there, but for the shares that have moved on.

    What has moved to contrast c changes the sums by a_c - a_h, what is not used by -a_h; these moves are
    to have sum zero. Costs are one.
    """
    n = len(problem.bound)
    place = np.full(n, -1)
    place[held.example] = np.arange(len(held.example))
    own = place[duals.example]
    moved_on = (own < 0) | (duals.pos != held.pos[own]) | (duals.neg != held.neg[own])
    example, pos, neg, alpha = (part[moved_on] for part in duals)
    rest = Duals(example, pos, neg, alpha)
    own = place[rest.example]
    behind = sp.csr_array(
        ((own >= 0).astype(float), (np.arange(len(own)), np.maximum(own, 0))), (len(own), len(held.alpha))
    )
    away = _contrasts(problem, held)
    moves = sp.csr_array(sp.vstack([_contrasts(problem, rest) - behind @ away, -away]))
    used = np.bincount(duals.example, duals.alpha, n)[held.example]
    alpha = _evened(moves, np.concatenate([rest.alpha, np.maximum(held.alpha - used, 0.0)]))
    moved = np.bincount(np.concatenate([rest.example, held.example]), alpha, n)
    most = max(1.0, float((moved / problem.bound).max(initial=0.0)))
    rest = rest._replace(alpha=alpha[: len(own)] / most)
    kept = held._replace(alpha=held.alpha - moved[held.example] / most)
    example, pos, neg, alpha = (np.concatenate(parts) for parts in zip(rest, kept, strict=True))
    return Duals(example, pos, neg, alpha)


def _contrasts(problem: ContrastProblem, duals: Duals) -> sp.csr_array:
    """a of each variable."""
    return sp.csr_array(problem.Lambda[duals.pos] - problem.Lambda[duals.neg])


def _solve_linear(system: sp.csr_array, right: Array) -> Array:
    """A solution of a positive semidefinite system that has one."""
    if system.shape[0] <= DENSE:
        z: Array = np.linalg.lstsq(system.toarray(), right, rcond=1e-12)[0]
        return z
    scale = np.maximum(system.diagonal(), np.finfo(float).tiny)
    z, _ = cg(system, right, rtol=1e-12, maxiter=2000, M=sp.diags_array(1 / scale))
    return z
