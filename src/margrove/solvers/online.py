"""The loops around a perceptron's pass: epochs over examples, the worst example first, a stream's next part.

Cai's Algorithms 3 to 7 and Hieron are rules for one kernel (kernels/online.py). What it learns are the
weights of features (`Weights`), or, with a similarity, scores of the examples, beside which coefficients are
kept (`Scores`): the dual form, in which W is the sum over examples of coefficient times input (G.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.kernels import online as kernels
from margrove.kernels.online import Log, Rule
from margrove.outputs.growing import Columns
from margrove.outputs.layout import typed
from margrove.outputs.ranking import costs_of, inputs_of, similar_inputs_of, targets_of
from margrove.outputs.tables import Inputs, Problem
from margrove.solvers.state import with_similarities

Array = NDArray[Any]
Part = tuple[NDArray[np.int64], Problem]

RULES = {
    "perceptron": Rule(augmented=False, exact=False),
    "hieron": Rule(augmented=False, exact=True),
    "hieron-batch": Rule(augmented=True, exact=True),
}
SIMILARITIES_AT_ONCE = 1 << 22


class Outcome(NamedTuple):
    """How a number of visits went."""

    steps: int
    updates: int
    contrasts: set[tuple[int, int, int]]
    """(example, right, wrong) of the updates."""
    converged: bool
    """Whether nothing was left to be corrected."""
    scores: Array | None
    """Scores of the classes for each visit before its step, if they were asked for."""


class Machine:
    """A rule with the tables of a ranking output; visits examples."""

    def __init__(self, columns: Columns, cost: Any, rule: Rule, averaged: bool, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.rule, self.averaged = rule, averaged
        self.columns = columns
        self.attributes = typed(columns.layout, dtype).attributes
        self.costs = costs_of(cost, dtype)
        self.q = len(self.attributes.own)
        longest = 2 + 2 * int(np.diff(self.attributes.ptr).max(initial=0)) + 1
        m, n_groups = len(self.attributes.base), len(self.attributes.ptr) - 1
        self.space = kernels.Space(
            s=np.zeros(m, dtype),
            T=np.zeros(n_groups, dtype),
            F=np.zeros(self.q, dtype),
            d=np.zeros(self.q, dtype),
            idx=np.zeros(longest, np.uint32),
            val=np.zeros(longest, dtype),
            change=np.zeros(max(m, longest), dtype),
        )

    def problem(self, inputs: Inputs, Y: Any) -> Problem:
        """Examples and their right classes in front of the tables."""
        return Problem(inputs, targets_of(Y, np.ones(Y.shape[0]), self.dtype), self.attributes, self.costs)

    def all_known(self, n: int) -> NDArray[np.int32]:
        """All classes are rivals of all examples."""
        return np.full(n, self.q, np.int32)

    def visit(
        self, problem: Problem, order: Array, known: Array, W: Array, U: Array, done: int, keep: bool = False
    ) -> Log:
        """Visit examples in this order after `done` steps; W and U change."""
        size = len(order)
        pos, neg = np.zeros((2, size), np.int32)
        scores = np.zeros((size if keep else 0, self.q), self.dtype)
        log = Log(pos, neg, np.zeros(size), scores)
        kernels.learn(problem, self.rule, order, known, W, U, done, self.averaged, self.space, log)
        return log

    def combined(self, n: int, example: Array, pos: Array, neg: Array, tau: Array) -> Array:
        """The sum of tau times contrast for each of n examples, by column."""
        outputs, rows = np.concatenate([pos, neg]), np.concatenate([example, example])
        signed = sp.csr_array((np.concatenate([tau, -tau]), (rows, outputs)), shape=(n, self.q))
        total: Array = (signed @ self.Lambda).toarray().astype(self.dtype, copy=False)
        return total

    @cached_property
    def Lambda(self) -> sp.csr_array:
        """Attributes by the engine's columns, outputs x width."""
        a = self.attributes
        share = sp.csr_array((a.val, a.idx, a.ptr), shape=(len(a.ptr) - 1, self.columns.width))[a.group]
        own = sp.csr_array((a.own, np.arange(self.q), np.arange(self.q + 1)), shape=share.shape)
        return sp.csr_array(share + own)


class Weights:
    """Examples as vectors: the weights of features are what is learned."""

    def __init__(self, machine: Machine, X: sp.csr_array, Y: sp.csr_array, W: Array, U: Array | None) -> None:
        self.problem = machine.problem(inputs_of(X, machine.dtype, alone=False)[0], Y)
        self.W, self.U = W, W if U is None else U  # without a mean, nothing is written to U

    def parts(self, order: NDArray[np.int64]) -> Iterator[Part]:
        """All at once."""
        yield order, self.problem

    def record(self, part: NDArray[np.int64], log: Log, done: int) -> None:
        """The weights know it already."""


class Scores:
    """Examples by their similarities: scores are kept up to date (G.7), and of every step what it was."""

    def __init__(
        self,
        machine: Machine,
        rows_of: Callable[[NDArray[np.int64]], Array],
        diagonal: Array,
        Y: sp.csr_array,
        start: tuple[Array, Array] | None = None,
    ) -> None:
        shape = len(diagonal), machine.columns.width
        self.machine, self.rows_of = machine, rows_of
        self.problem = machine.problem(similar_inputs_of(diagonal, machine.dtype), Y)
        self.steps: list[tuple[Array, Array, Array, Array, Array]] = []
        if start is None:
            self.W = np.zeros(shape, machine.dtype)
            self.U = np.zeros(shape, machine.dtype) if machine.averaged else self.W
        else:
            self.W, self.U = start

    def parts(self, order: NDArray[np.int64]) -> Iterator[Part]:
        """As many at a time as have room for their similarities to all."""

        def rows_of(part: NDArray[np.int64]) -> Array:
            return self.rows_of(part).astype(self.machine.dtype, copy=False)

        for part, inputs in with_similarities(self.problem.inputs, order, rows_of, SIMILARITIES_AT_ONCE):
            yield part, self.problem._replace(inputs=inputs)

    def record(self, part: NDArray[np.int64], log: Log, done: int) -> None:
        """Remember the steps: example, right and wrong class, tau, and the number of steps before."""
        used = np.flatnonzero(log.step)
        if len(used):
            self.steps.append((part[used], log.pos[used], log.neg[used], log.step[used], done + used))

    def coefficients(self) -> tuple[Array, Array | None]:
        """C, in which row i is what example i contributes (G.3), and D; the mean is C - D / steps (G.4)."""
        machine, n = self.machine, len(self.W)
        if not self.steps:
            C = np.zeros((n, machine.columns.width), machine.dtype)
            return C, C.copy() if machine.averaged else None
        example, pos, neg, tau, before = (np.concatenate(column) for column in zip(*self.steps, strict=True))
        C = machine.combined(n, example, pos, neg, tau)
        return C, machine.combined(n, example, pos, neg, before * tau) if machine.averaged else None


Holder = Weights | Scores


def visit_all(
    machine: Machine,
    holder: Holder,
    order: NDArray[np.int64],
    known: Array,
    done: int,
    keep: bool = False,
) -> Outcome:
    """Visit each of these examples once."""
    contrasts: set[tuple[int, int, int]] = set()
    updates, kept = 0, []
    for part, problem in holder.parts(order):
        log = machine.visit(problem, part, known, holder.W, holder.U, done, keep)
        holder.record(part, log, done)
        done += len(part)
        used = np.flatnonzero(log.step)
        updates += len(used)
        contrasts.update(
            zip(part[used].tolist(), log.pos[used].tolist(), log.neg[used].tolist(), strict=True)
        )
        kept.append(log.scores)
    return Outcome(len(order), updates, contrasts, updates == 0, np.concatenate(kept) if keep else None)


def epochs(machine: Machine, holder: Holder, orders: Iterable[NDArray[np.int64]]) -> tuple[Outcome, int]:
    """Visit all examples again and again, until an epoch changes nothing (Algorithms 3 to 6); how many."""
    steps = updates = n_epochs = 0
    contrasts: set[tuple[int, int, int]] = set()
    converged = False
    for order in orders:
        known = machine.all_known(len(order))
        found = visit_all(machine, holder, order, known, steps)
        steps, updates, n_epochs = steps + found.steps, updates + found.updates, n_epochs + 1
        contrasts |= found.contrasts
        converged = found.converged
        if converged:
            break
    return Outcome(steps, updates, contrasts, converged, None), n_epochs


def worst_first(machine: Machine, holder: Scores, most: int) -> Outcome:
    """Correct the example of the least margin, until none is wrong (Algorithm 7: Minover)."""
    known = machine.all_known(len(holder.W))
    contrasts: set[tuple[int, int, int]] = set()
    updates = 0
    while updates < most:
        i = kernels.find_worst(holder.problem, known, holder.W, machine.space)
        if i < 0:
            return Outcome(updates, updates, contrasts, True, None)
        found = visit_all(machine, holder, np.array([i]), known, updates)
        if found.converged:
            return Outcome(updates, updates, contrasts, True, None)
        updates += 1
        contrasts |= found.contrasts
    return Outcome(updates, updates, contrasts, False, None)
