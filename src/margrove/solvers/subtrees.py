"""Certified ascent for the large-margin problem over closed sets of nodes (objective/subtrees.py).

The dual (U.12) is ascended in one of two sets of variables. Cutting planes (Tsochantaridis et al. 2005) hold
a few sets against each example: every round adds the one most violated, and solves for their variables, one
example at a time, as the engine does (E.4). Marginals (Rousu et al. 2006) are as many numbers as an example
has nodes, whatever sets there are: conditional gradients move them towards the best set (U.14). Each round
begins with W, primal and dual computed anew from their definitions, and only they end the fit.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from margrove.kernels import subtrees as kernels
from margrove.kernels.block import Block
from margrove.objective.certificate import Certificate, Status, relative_gap
from margrove.objective.inputs import Similarities, Vectors
from margrove.objective.subtrees import Combination, SetDuals, SubtreeProblem
from margrove.outputs.ranking import inputs_of, similar_inputs_of
from margrove.outputs.tables import Inputs
from margrove.solvers.progress import Patience, Progress, Watch
from margrove.solvers.state import with_similarities

Algorithm = Literal["cutting-plane", "marginal"]
Array = NDArray[Any]

SLOTS = 8  # sets that an example has room for at first; doubled where that is too few
PASSES = 20  # over the examples in a round, at most
STEPS = 15  # of the small problem of one example, at one visit
SETTLED = 0.2  # examples with psi below this share of the average gap are left alone
ROWS_AT_A_TIME = 1 << 24  # similarities that are at hand together


@dataclass(frozen=True)
class SubtreeSolution:
    """Weights (inputs x outputs), and the proof of their quality."""

    W: Array
    certificate: Certificate


def solve(
    problem: SubtreeProblem,
    algorithm: Algorithm,
    *,
    tol: float,
    max_iter: int,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> SubtreeSolution:
    """Minimise `problem` to a relative duality gap of `tol`; `watch` sees each round, and ends it by True."""
    began = time.perf_counter()
    ascent = _CuttingPlanes(problem, rng) if algorithm == "cutting-plane" else _Marginals(problem, rng)
    status: Status = "iteration limit"
    patience, n_iter = Patience(), 0
    while True:
        combination = ascent.combination()
        W = problem.weights(combination)
        primal, dual = problem.primal(W), problem.dual(combination, W)
        is_stuck = patience.is_over(primal - dual, dual)
        relative = relative_gap(primal, dual)
        progress = Progress(n_iter, primal, dual, relative, time.perf_counter() - began)
        if relative <= tol:
            status = "converged"
        elif watch is not None and watch(progress):
            status = "interrupted"
        elif is_stuck:
            status = "stalled"
        if status != "iteration limit" or n_iter >= max_iter:
            break
        ascent.improve(W, (primal - dual) / float(problem.bound.sum()))
        n_iter += 1
    certificate = Certificate(
        primal=primal,
        dual=dual,
        n_iter=n_iter,
        status=status,
        seconds=time.perf_counter() - began,
        max_violation=float(ascent.psi.max(initial=0.0)),
        n_active=ascent.n_active,
    )
    return SubtreeSolution(W, certificate)


class _Ascent(ABC):
    """What both have: inputs as the kernels take them, and an order of visits."""

    def __init__(self, problem: SubtreeProblem, rng: np.random.Generator) -> None:
        self.problem = problem
        self.rng = rng
        self.n, self.m = problem.right.shape
        given = problem.inputs
        self.inputs: Inputs = (
            similar_inputs_of(given.diagonal(), np.float64)
            if isinstance(given, Similarities)
            else inputs_of(given.X, np.float64, alone=False)[0]
        )
        self.sets = kernels.Sets(
            problem.right, problem.output.parent, problem.miss, problem.extra, problem.bound
        )
        self.room = room(self.m)
        self.psi = np.zeros(self.n)

    @abstractmethod
    def combination(self) -> Combination:
        """What the dual variables come to, from their definition."""

    @abstractmethod
    def improve(self, W: Array, average_gap: float) -> None:
        """Raise the dual, from the variables that W comes from."""

    @property
    @abstractmethod
    def n_active(self) -> int:
        """Dual variables that are positive."""

    def start(self, W: Array) -> Array:
        """What the kernels keep: weights of features, or the scores of all examples (E.12)."""
        given = self.problem.inputs
        return W.copy() if isinstance(given, Vectors) else given.scores(W, slice(None))

    def parts(self, examples: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], Inputs]]:
        """The examples in a random order, with what their steps need of similarities."""
        order = self.rng.permutation(examples)
        given = self.problem.inputs
        if isinstance(given, Vectors):
            yield order, self.inputs
        else:
            yield from with_similarities(self.inputs, order, given.rows, ROWS_AT_A_TIME)


class _CuttingPlanes(_Ascent):
    """A few sets against each example, and their variables."""

    def __init__(self, problem: SubtreeProblem, rng: np.random.Generator) -> None:
        super().__init__(problem, rng)
        self.slots = slots_for(self.n, SLOTS, self.m)
        self.block = block_for(SLOTS, self.m)

    def combination(self) -> Combination:
        return self.problem.of_sets(self.duals())

    def duals(self) -> SetDuals:
        """The positive variables, made feasible to the last bit."""
        beta, bound = self.slots.beta, self.problem.bound
        beta = beta * (bound / np.maximum(beta.sum(axis=1), bound))[:, None]
        example, slot = np.nonzero(beta > 0)
        return SetDuals(example, self.slots.sets[example, slot], beta[example, slot])

    @property
    def n_active(self) -> int:
        return int((self.slots.beta > 0).sum())

    def improve(self, W: Array, average_gap: float) -> None:
        self._add_worst(W, SETTLED * average_gap)
        eps = SETTLED * average_gap
        kept = self.start(W)
        active = np.flatnonzero(self.slots.used > 0)
        for _ in range(PASSES):
            for part, inputs in self.parts(active):
                kernels.ascend_sets(
                    inputs,
                    self.sets,
                    self.slots,
                    part,
                    kept,
                    self.room,
                    self.block,
                    0.1 * eps,
                    STEPS,
                    self.psi,
                )
            active = active[self.psi[active] > eps]
            if not len(active):
                break

    def _add_worst(self, W: Array, eps: float) -> None:
        """Hold the most violated set against each example, where it is none of those in its slots."""
        for rows, S in self.problem.scores(W):
            sets, H = self._worst(S, rows)
            example = np.arange(self.n)[rows]
            held = (self.slots.sets[rows] == sets[:, None]).all(axis=2)
            held &= np.arange(held.shape[1]) < self.slots.used[rows][:, None]
            new = np.flatnonzero(~held.any(axis=1) & (H > 0))
            if len(new):
                self._put(example[new], sets[new])

    def _worst(self, S: Array, rows: slice) -> tuple[Array, Array]:
        """The most violated set of each row, and its violation."""
        problem, right = self.problem, self.problem.right[rows]
        if problem.scaling == "margin":
            rewards = problem.rewards(S, right)
            sets = problem.output.best_of_tree(rewards)
            return sets, (rewards * sets).sum(axis=1) - (rewards * right).sum(axis=1)
        sets, H = np.empty_like(right), np.empty(len(S))
        output = problem.output
        table = np.empty((self.m + 1, self.m + 1))
        kernels.worst_by_products(
            np.ascontiguousarray(S), right, output.preorder, output.size, table, sets, H
        )
        return sets, H

    def _put(self, example: NDArray[np.int64], sets: Array) -> None:
        """Into the next slot, else into one whose variable is zero, else make room."""
        slots = self.slots
        room = slots.beta.shape[1]
        full = slots.used[example] == room
        if (full & (slots.beta[example] > 0).all(axis=1)).any():
            self.slots = slots = _widened(slots, 2 * room)
            self.block = block_for(2 * room, self.m)
            full[:] = False
        slot = np.where(full, slots.beta[example].argmin(axis=1), slots.used[example])
        slots.used[example[~full]] += 1
        losses = self.problem.losses(example, sets)
        slots.sets[example, slot] = sets
        slots.loss[example, slot] = losses
        slots.factor[example, slot] = self.problem.factors(losses)
        slots.beta[example, slot] = 0.0


class _Marginals(_Ascent):
    """For each example and node, in which share of the sets that W comes from the node is."""

    def __init__(self, problem: SubtreeProblem, rng: np.random.Generator) -> None:
        super().__init__(problem, rng)
        self.mu = problem.right.astype(np.float64)

    def combination(self) -> Combination:
        return self.problem.of_marginals(self.mu)

    @property
    def n_active(self) -> int:
        return int((self.mu != self.problem.right).sum())

    def improve(self, W: Array, average_gap: float) -> None:
        kept = self.start(W)
        gap = np.zeros(self.n)
        active, eps = np.arange(self.n), SETTLED * average_gap
        for _ in range(PASSES):
            for part, inputs in self.parts(active):
                kernels.conditional_gradient(
                    inputs, self.sets, self.mu, part, kept, self.room, STEPS, 0.1 * eps, gap
                )
            self.psi[active] = gap[active] / self.problem.bound[active]
            active = active[self.psi[active] > eps]
            if not len(active):
                break


def room(m: int) -> kernels.Room:
    """Working space for one example."""
    zero, s, r, g, change = np.zeros((5, m))
    towards, away = np.zeros((2, m), bool)
    return kernels.Room(zero, s, r, g, change, np.zeros(m, np.uint32), towards, away)


def slots_for(n: int, room: int, m: int) -> kernels.SetSlots:
    """Room for so many sets of each example."""
    factor, loss, beta = np.zeros((3, n, room))
    return kernels.SetSlots(np.zeros(n, np.int32), np.zeros((n, room, m), bool), factor, loss, beta)


def _widened(slots: kernels.SetSlots, room: int) -> kernels.SetSlots:
    """The same sets with more room."""
    n, old, m = slots.sets.shape
    wide = slots_for(n, room, m)
    wide.used[:] = slots.used
    for source, target in zip(slots[1:], wide[1:], strict=True):
        target[:, :old] = source
    return wide


def block_for(room: int, m: int) -> Block:
    """Working space for the small problem of one example, in which a local node is an output."""

    def floats(size: int) -> Array:
        return np.zeros(size)

    def places(size: int) -> Array:
        return np.zeros(size, np.uint32)

    return Block(
        H=floats(room),
        ptr=places(room + 1),
        idx=places(room * m + 1),
        val=floats(room * m + 1),
        nodes=places(m),
        local=np.zeros(1, np.int32),
        score=floats(1),
        change=floats(m),
        line=floats(m),
    )
