"""Certified dual ascent over contrasts: active sets, shrinking, warm starts (Cai, section 4.3).

The dual (D.1) has a block of variables for each example, and blocks share nothing but W. A few passes over
all contrasts, learning as they go, give a start. Then come rounds. Each searches all contrasts, which
measures the gap and finds new ones, and makes several passes over the few that are active: first over the
examples with the largest optimality measure psi (Cai's Proposition 3), then over more, down to a level that
follows the gap. When a search finds the gap small enough, the objective room computes W, primal and dual
from their definitions, and only its verdict ends the fit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margrove.kernels import passes
from margrove.objective.certificate import Certificate, Status, relative_gap
from margrove.objective.contrasts import ContrastProblem, Duals
from margrove.objective.inputs import Similarities, Vectors
from margrove.outputs.layout import Layout, typed
from margrove.outputs.ranking import costs_of, inputs_of, similar_inputs_of, targets_of
from margrove.outputs.tables import Problem
from margrove.solvers.face import climb
from margrove.solvers.progress import Patience, Progress, Watch
from margrove.solvers.state import empty_slots, filled, moved, no_findings, scratch, with_similarities

CAPACITY = 32  # contrasts that an example has room for at first; doubled where that is too few
OFFERS = 16  # new contrasts that one look at an example may bring
STEPS = 15  # of the small problem of one example, at one visit
START = 0.1  # psi that the first passes leave alone, in units of the margin
LITTLE = 0.4  # share of the gap that a pass over all contrasts may leave if it is to be followed by another
SETTLED = 0.2  # examples with psi below this share of the average gap are left alone
KNOWN = 0.7  # share of the gap from which on known contrasts are worth MORE passes between two searches
MORE = 10
SLOW = 3  # rounds that do not halve the gap before all variables are moved together
CLIMBS = 10  # of these one after the other, while each closes the share WORTH of the gap
WORTH = 0.05
LARGE = 1 << 18  # weights; more do not fit in the cache, and rounds alone are as fast as climbing
NEIGHBOURS = 8  # examples in a row: order is random, yet likely neighbours share weights in cache
ROWS_AT_A_TIME = 1 << 24  # similarities that are at hand together


@dataclass(frozen=True)
class Solution:
    """Weights (features x columns), the dual variables behind them, and the proof of their quality."""

    W: NDArray[Any]
    duals: Duals
    certificate: Certificate
    bias: NDArray[Any] | None = None
    """Of each column, where there is one (bias.py)."""


def solve(
    problem: ContrastProblem,
    layout: Layout,
    *,
    tol: float,
    max_iter: int,
    rng: np.random.Generator,
    dtype: Any = np.float32,
    n_threads: int = 1,
    start: Duals | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Minimise `problem` to a relative duality gap of `tol`; `watch` sees each round, and ends it by True.

    Where single precision comes to a halt before the gap is small enough, double goes on from there.
    """
    began = time.perf_counter()
    ascent = _Ascent(problem, layout, dtype, n_threads, rng)
    ascent.begin(start)
    status: Status = "iteration limit"
    patience, n_iter = Patience(), 0
    gaps: list[float] = []
    while True:
        gap, primal = ascent.search()
        tired = patience.is_over(gap, primal - gap)
        relative = relative_gap(primal, primal - gap)
        progress = Progress(n_iter, primal, primal - gap, relative, time.perf_counter() - began)
        if watch is not None and watch(progress):
            status = "interrupted"
        elif tired and dtype == np.float32 and n_iter < max_iter:
            start, dtype, patience = ascent.duals(), np.float64, Patience()
            ascent = _Ascent(problem, layout, dtype, n_threads, rng)
            ascent.begin(start)
            n_iter += 1
            continue
        elif tired:
            status = "stalled"
        if relative <= 0.98 * tol or status != "iteration limit" or n_iter >= max_iter:
            duals = ascent.duals()
            W = problem.weights(duals, dtype)
            primal, dual = problem.values(duals, W)
            if primal - dual <= tol * primal:
                status = "converged"
            if status != "iteration limit" or n_iter >= max_iter:
                break
            ascent.take_over(W)
        gaps.append(gap)
        if len(gaps) > SLOW and gap > gaps[-1 - SLOW] / 2:
            gaps.clear()
            for _ in range(CLIMBS):
                if not ascent.climb(gap):
                    break
        ascent.improve(gap)
        n_iter += 1
    certificate = Certificate(
        primal=primal,
        dual=dual,
        n_iter=n_iter,
        status=status,
        seconds=time.perf_counter() - began,
        max_violation=float(ascent.found.psi.max(initial=0.0)),
        n_active=len(duals.alpha),
    )
    return Solution(W, duals, certificate)


class _Ascent:
    """The moving parts: weights, slots, and what the last passes found."""

    def __init__(
        self, problem: ContrastProblem, layout: Layout, dtype: Any, n_threads: int, rng: np.random.Generator
    ) -> None:
        given = problem.inputs
        self.similar = isinstance(given, Similarities)
        if isinstance(given, Vectors):
            inputs, self.features = inputs_of(given.X, dtype, alone=problem.offset is None)
        else:
            inputs, self.features = similar_inputs_of(given.diagonal(), dtype), np.arange(given.shape[0])
        base = np.zeros(layout.n_columns) if problem.base is None else problem.base
        self.tables = Problem(
            inputs,
            targets_of(problem.Y, problem.bound, dtype, problem.ranges, problem.loss),
            typed(layout, dtype).attributes._replace(base=base.astype(dtype)),
            costs_of(problem.cost, dtype),
        )
        self.problem = problem
        self.bound = problem.bound
        self.shared = problem.slack == "example"
        self.n, self.q = problem.Y.shape
        self.n_contrasts = problem.n_contrasts
        # the gap is at most this times the largest psi (E.5)
        self.total = float(self.bound.sum() if self.shared else self.bound @ self.n_contrasts)
        self.n_columns = layout.n_columns
        self.rng = rng
        self.n_threads = n_threads
        self.W = np.zeros((len(self.features), self.n_columns), dtype)  # of the features of several examples
        self.found = no_findings(self.n)
        self.slots = empty_slots(np.minimum(self.n_contrasts, CAPACITY), dtype)
        self._allocate()
        if problem.offset is not None:
            self.take_over(problem.offset)

    def _allocate(self) -> None:
        offers = min(OFFERS, self.q) if self.shared else self.q
        self.scratch = [
            scratch(self.tables.attributes, self.slots, self.n_columns, offers) for _ in range(self.n_threads)
        ]

    def begin(self, start: Duals | None) -> None:
        """Passes over all contrasts, while they leave little of the gap that they meet; or a given start."""
        if start is not None and len(start.alpha):
            self.resume(start)
            return
        examples, eps = np.arange(self.n), START
        gap = np.inf
        while True:
            self.visit(examples, full=True, eps=eps)
            before, gap = gap, float(self.found.gap.sum())
            if not 0 < gap < LITTLE * before:
                return
            self.make_room()
            eps = min(START, self.settled(gap))
            examples = np.flatnonzero(self.found.psi > eps)

    def settled(self, gap: float) -> float:
        """The psi below which an example is left alone."""
        return SETTLED * gap / self.total if self.total > 0 else 0.0

    def visit(self, examples: NDArray[np.int64], *, full: bool, eps: float) -> None:
        """Solve the small problems of these examples, in a random order."""
        if not len(examples):
            return
        # of rows that have nothing in common, a pass learns more: the first, and where the cache is no matter
        if self.W.size <= LARGE or (full and len(examples) == self.n):
            order = self.rng.permutation(examples)
        else:
            block = np.arange(len(examples)) // NEIGHBOURS
            place = self.rng.permutation(block[-1] + 1)
            order = examples[np.lexsort((self.rng.random(len(examples)), place[block]))]
        for part, tables in self._with_rows(order):
            passes.ascend(
                tables, self.slots, part, self.W, self.scratch[0], self.shared, self.found, full, eps, STEPS
            )

    def _with_rows(self, order: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], Problem]]:
        """The examples with what their steps need: with a similarity, so many of its rows at a time."""
        inputs = self.problem.inputs
        if not isinstance(inputs, Similarities):
            yield order, self.tables
            return
        rows_of = partial(inputs.rows, dtype=self.W.dtype)
        for part, rows in with_similarities(self.tables.inputs, order, rows_of, ROWS_AT_A_TIME):
            yield part, self.tables._replace(inputs=rows)

    def search(self) -> tuple[float, float]:
        """Look at all contrasts; return the gap and the primal."""
        parts = np.array_split(np.arange(self.n), self.n_threads)

        def look(thread: int) -> None:
            passes.search(
                self.tables, self.slots, parts[thread], self.W, self.scratch[thread], self.shared, self.found
            )

        if self.n_threads == 1:
            look(0)
        else:
            with ThreadPoolExecutor(self.n_threads) as pool:
                list(pool.map(look, range(self.n_threads)))
        primal = self._penalty() + float(self.bound @ self.found.loss)
        return max(float(self.found.gap.sum()), 0.0), primal

    def _penalty(self) -> float:
        """1/2 |W - G|^2, from the last pass where that is all of what it summed."""
        if self.problem.base is None and self.problem.offset is None:
            return 0.5 * max(float(self.found.norm.sum()), 0.0)
        return self.problem.penalty(self.problem.weights(self.duals()))

    def make_room(self) -> None:
        """Double the slots of examples that had too few."""
        missed = self.found.missed > 0
        if missed.any():
            capacity = np.diff(self.slots.ptr)
            capacity[missed] = np.minimum(2 * capacity[missed], self.n_contrasts[missed])
            self.slots = moved(self.slots, capacity)
            self._allocate()

    def improve(self, gap: float) -> None:
        """Several passes over the active contrasts of the examples that are furthest from optimal."""
        self.make_room()
        known = float(self.found.gap[self.found.fresh == 0].sum()) > KNOWN * gap
        eps = self.settled(gap)
        active = np.flatnonzero(self.found.psi > eps)
        restless = active[self.found.fresh[active] > 0]
        self.visit(active, full=False, eps=eps)
        self.visit(restless[self.found.psi[restless] > eps], full=True, eps=eps)
        for _ in range(1 + MORE * known):
            active = active[self.found.psi[active] > eps]
            self.visit(active, full=False, eps=eps)

    def climb(self, gap: float) -> bool:
        """Move all positive variables together (face.py); whether that was worth the while."""
        if self.problem.inputs.shape[1] * self.n_columns > LARGE:
            return False
        duals = self.duals()
        W = self.problem.weights(duals)
        value = self.problem.dual(duals, W)
        found = climb(self.problem, duals, W, value)
        if found is None:
            return False
        raised, better = found
        _, place = filled(self.slots)
        self.slots.beta[place[self.slots.beta[place] > 0]] = better.alpha / self.problem.cost.pairs(
            better.pos, better.neg
        )
        self.take_over(self.problem.weights(better, self.W.dtype))
        return raised > WORTH * gap

    def duals(self) -> Duals:
        """The positive dual variables, made feasible to the last bit of double precision."""
        example, place = filled(self.slots)
        beta = self.slots.beta[place].astype(np.float64)
        if self.problem.loss == "squared-hinge":
            pass  # nothing bounds them
        elif self.shared:
            total = np.bincount(example, weights=beta, minlength=self.n)
            beta *= (self.bound / np.maximum(total, self.bound))[example]
        else:
            beta = np.minimum(beta, self.bound[example])
        keep = beta > 0
        pos, neg = (side[place[keep]].astype(np.int64) for side in (self.slots.pos, self.slots.neg))
        return Duals(example[keep], pos, neg, beta[keep] * self.problem.cost.pairs(pos, neg))

    def resume(self, start: Duals) -> None:
        """Take over dual variables of an earlier solution, cut down to this problem's bounds."""
        order = np.argsort(start.example, kind="stable")
        example, pos, neg, alpha = (part[order] for part in start)
        count = np.bincount(example, minlength=self.n)
        capacity = np.minimum(self.n_contrasts, np.maximum(count + OFFERS, CAPACITY))
        slots = self.slots = empty_slots(capacity, self.slots.beta.dtype)
        slots.used[:] = count
        _, place = filled(slots)
        cost = self.problem.cost.pairs(pos, neg)
        slots.pos[place], slots.neg[place] = pos, neg
        slots.cost[place], slots.beta[place] = cost, alpha / cost
        self._allocate()
        duals = self.duals()  # feasible
        slots.beta[place] = 0
        kept = np.flatnonzero(alpha / cost > 0)
        slots.beta[place[kept]] = duals.alpha / cost[kept]
        self.take_over(self.problem.weights(duals, self.W.dtype))

    def take_over(self, W: NDArray[Any]) -> None:
        """Go on from weights that are free of the rounding of many small updates."""
        self.W[:] = self.problem.inputs.scores(W, slice(None)) if self.similar else W[self.features]
