"""One pass of a perceptron: score an example, choose a pair of classes, take a step (maths.md, G.1 to G.6).

    W <- W + tau x_i a',      a = Lambda[y] - Lambda[r]                                           (G.2)

All methods are this pass. `Rule` says which pair (y, r) is looked at and how long the step is; `W` has the
weights of features, or, with a similarity, the scores of the examples (E.12).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margrove.kernels.block import Places, write_contrast
from margrove.kernels.jit import kernel
from margrove.kernels.passes import add_to_weights
from margrove.kernels.scores import cost_row, score_nodes, score_outputs
from margrove.outputs.tables import Costs, Floats, Indices, Pointers, Problem, Targets


class Rule(NamedTuple):
    """A perceptron: how it chooses a pair, and how far it moves."""

    augmented: bool  # the pair of largest loss sqrt(cost) - margin (G.6), not that of least margin (G.1)
    exact: bool  # the shortest step to a margin of sqrt(cost) (G.5), not one as long as the cost (G.2)


class Space(NamedTuple):
    """Working space, by column, group or output; `idx`, `val` and `change` hold one contrast."""

    s: Floats
    T: Floats
    F: Floats
    d: Floats
    idx: Places
    val: Floats
    change: Floats


class Log(NamedTuple):
    """What became of each example that was visited, in that order."""

    pos: Indices
    neg: Indices
    step: NDArray[np.float64]  # tau; 0 where the weights stayed as they were
    scores: Floats  # scores of all outputs before the step, or nothing


@kernel
def lowest_right(targets: Targets, i: int, F: Floats) -> int:
    """The right output of the lowest score, the first of equals; -1 where none is right."""
    best = -1
    for e in range(targets.ptr[i], targets.ptr[i + 1]):
        p = int(targets.idx[e])
        if best < 0 or F[p] < F[best]:
            best = p
    return best


@kernel
def highest_wrong(targets: Targets, i: int, F: Floats, known: int) -> int:
    """The wrong output below number `known` of the highest score, the first of equals; -1 where none is."""
    best = -1
    e, end = targets.ptr[i], targets.ptr[i + 1]
    for r in range(known):
        if e < end and targets.idx[e] == r:
            e += 1
        elif best < 0 or F[r] > F[best]:
            best = r
    return best


@kernel
def dearest_pair(targets: Targets, costs: Costs, i: int, F: Floats, known: int, d: Floats) -> tuple[int, int]:
    """The pair for which sqrt(cost) + F_r - F_y is largest, the first of equals (G.6)."""
    right = wrong = -1
    largest = F[0] * 0 - np.inf
    for a in range(targets.ptr[i], targets.ptr[i + 1]):
        p = int(targets.idx[a])
        cost_row(costs, p, d)
        e, end = targets.ptr[i], targets.ptr[i + 1]
        for r in range(known):
            if e < end and targets.idx[e] == r:
                e += 1
                continue
            loss = np.sqrt(d[r]) + F[r] - F[p]
            if loss > largest:
                right, wrong, largest = p, r, loss
    return right, wrong


@kernel
def step_length(rule: Rule, cost: float, margin: float, sq: float) -> float:
    """tau for a pair of this cost and margin, sq = |x|^2 |a|^2; zero where there is no reason to move."""
    lack = np.sqrt(cost) - margin
    if not (lack > 0 if rule.augmented else margin <= 0):
        return 0.0
    if not rule.exact:
        return float(cost)
    return float(lack / sq) if sq > 0 else 0.0


@kernel
def score_example(
    problem: Problem, i: int, W: Floats, U: Floats, done: int, averaged: bool, space: Space
) -> None:
    """Scores of all outputs by the mean of the weights so far, W - U / done, or by the last ones."""
    base = problem.attributes.base
    s = space.s
    if averaged and done > 0:
        score_nodes(problem.inputs, i, U, base, s)
        for v in range(s.shape[0]):
            space.change[v] = s[v] / done
        score_nodes(problem.inputs, i, W, base, s)
        for v in range(s.shape[0]):
            s[v] -= space.change[v]
            space.change[v] = 0.0
    else:
        score_nodes(problem.inputs, i, W, base, s)
    score_outputs(problem.attributes, s, space.T, space.F)


@kernel
def learn(
    problem: Problem,
    rule: Rule,
    order: Pointers,
    known: Indices,
    W: Floats,
    U: Floats,
    done: int,
    averaged: bool,
    space: Space,
    log: Log,
) -> None:
    """Visit the examples in `order`, of which example i has the outputs below known[i] as rivals.

    `done` steps came before. `U` collects (steps before this one) times the change of W, so that W - U / L is
    the mean of the L weights so far (G.4). Scores are logged if the log has room for them.
    """
    s, F, d, idx, val = space.s, space.F, space.d, space.idx, space.val
    keep = log.scores.shape[0] > 0
    for t in range(order.shape[0]):
        i = order[t]
        if keep:
            score_example(problem, i, W, U, done + t, averaged, space)
            for k in range(F.shape[0]):
                log.scores[t, k] = F[k]
        if not keep or averaged:
            score_example(problem, i, W, U, 0, False, space)
        if rule.augmented:
            p, r = dearest_pair(problem.targets, problem.costs, i, F, known[i], d)
        else:
            p = lowest_right(problem.targets, i, F)
            r = highest_wrong(problem.targets, i, F, known[i])
        log.pos[t], log.neg[t], log.step[t] = p, r, 0.0
        if p < 0 or r < 0:
            continue
        right, wrong = log.pos[t], log.neg[t]
        cost_row(problem.costs, right, d)
        end = write_contrast(problem.attributes, right, wrong, idx, val, 0)
        sq = s[0] * 0
        for e in range(end):
            sq += val[e] * val[e]
        tau = step_length(rule, d[r], F[p] - F[r], sq * problem.inputs.sqnorm[i])
        if tau == 0:
            continue
        log.step[t] = tau
        for e in range(end):
            space.change[e] = tau * val[e]
        add_to_weights(problem.inputs, i, W, idx[:end], space.change)
        if averaged and done + t > 0:
            write_contrast(
                problem.attributes, right, wrong, idx, val, 0
            )  # adding may have shortened the list
            for e in range(end):
                space.change[e] = (done + t) * tau * val[e]
            add_to_weights(problem.inputs, i, U, idx[:end], space.change)


@kernel
def find_worst(problem: Problem, known: Indices, W: Floats, space: Space) -> int:
    """The example whose pair (G.1) has the least margin, the first of equals; -1 where there is no pair."""
    worst = -1
    least = space.s[0] * 0 + np.inf
    for i in range(known.shape[0]):
        score_example(problem, i, W, W, 0, False, space)
        p = lowest_right(problem.targets, i, space.F)
        r = highest_wrong(problem.targets, i, space.F, known[i])
        if p >= 0 and r >= 0 and space.F[p] - space.F[r] < least:
            worst, least = i, space.F[p] - space.F[r]
    return worst
