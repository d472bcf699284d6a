"""Probabilities of whole paths: one choice among siblings after another, from the root (Q.1 to Q.3, Q.6).

Outputs are those of a `Descent`, and each has a score that only matters beside its siblings'. The steepness
says how much a difference of scores is worth, at each depth and by how far the best sibling leads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from margrove.outputs.descent import Descent

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


class Steepness(NamedTuple):
    """How steeply probabilities follow scores: depths x knots, with lines between the knots (Q.2)."""

    knots: Array
    """Leads, rising along each row."""
    values: Array
    """The steepness at each of these, at least 0; beyond the outer knots it is theirs."""

    def at(self, depth: int, lead: Array) -> Array:
        """That of choices at a depth, from 1, by their leads."""
        found: Array = np.interp(lead, self.knots[depth - 1], self.values[depth - 1])
        return found


def leads(scores: NDArray[Any], starts: Whole, sizes: Whole) -> Array:
    """By how much the best score exceeds the mean one, in each group along the last axis."""
    x = scores.astype(np.float64)
    found: Array = np.maximum.reduceat(x, starts, axis=-1) - np.add.reduceat(x, starts, axis=-1) / sizes
    return found


def scores_below(descent: Descent, class_scores: NDArray[Any], steepness: float) -> Array:
    """Score each output by all the classes at and below it (Q.1); classes end at terminal outputs."""
    scores = np.full((len(class_scores), len(descent)), -np.inf)
    scores[:, descent.end] = steepness * class_scores.astype(np.float64)
    for level in descent.levels[:0:-1]:  # from the deepest up to the second
        begins = _begins(descent, level)
        parents = descent.parent[level][begins]
        scores[:, parents] = _log_sums(scores[:, level], begins)
    return scores


def log_probabilities(descent: Descent, scores: NDArray[Any], steepness: Steepness) -> Array:
    """The logarithm of the probability that a path leads through each output (Q.2, Q.3)."""
    if not len(descent):
        return np.zeros((len(scores), 0))
    logs = scores.astype(np.float64)
    for depth, level in enumerate(descent.levels, start=1):
        begins = _begins(descent, level)
        sizes = np.diff(np.append(begins, level.stop - level.start))
        steep = steepness.at(depth, leads(logs[:, level], begins, sizes))
        logs[:, level] *= np.repeat(steep, sizes, axis=1)
        logs[:, level] -= np.repeat(_log_sums(logs[:, level], begins), sizes, axis=1)
        if depth > 1:
            logs[:, level] += logs[:, descent.parent[level]]
    return logs


def of_classes(descent: Descent, logs: Array) -> Array:
    """The logarithm of each class's probability: of the path to it; no path ends at a class above others."""
    if not len(descent):
        return np.zeros((len(logs), len(descent.end)))
    return np.where(descent.terminal, logs[:, descent.end], -np.inf)


def best_paths(descent: Descent, scores: NDArray[Any], steepness: Steepness) -> Whole:
    """The most probable class of each row, by best-first search (Q.6); of equal ones the first.

    A probability only falls along a path, so that of an inner node bounds all that is below. In each round,
    every row that has an open node as probable as the best class found so far opens the most probable one.
    """
    n, T = len(scores), len(descent)
    best, winner = np.full(n, -np.inf), np.zeros(n, np.int64)
    if not T:
        return winner
    inner = np.unique(descent.parent[descent.parent >= 0])
    place = np.full(T, -1)  # of an inner output among the open nodes
    place[inner] = np.arange(len(inner))
    first_child = np.searchsorted(descent.parent, inner)  # parents stand in order, and so do their children
    class_at = np.full(T, len(descent.end))
    class_at[descent.end] = np.arange(len(descent.end))
    bounds = np.full((n, len(inner)), -np.inf)

    def open_below(rows: Whole, bound: Array, child: Whole) -> None:
        """Give the siblings of a child of each row's node their probabilities."""
        owner, column, starts = spans(descent.first[child], descent.last[child])
        row = rows[owner]
        logs = scores[row, column].astype(np.float64)
        depth, lead = descent.depth[child], leads(logs, starts, descent.last[child] - descent.first[child])
        steep = np.empty(len(lead))
        for d in np.unique(depth):
            steep[depth == d] = steepness.at(d, lead[depth == d])
        logs *= steep[owner]
        top = np.maximum.reduceat(logs, starts)
        sums = np.add.reduceat(np.exp(logs - top[owner]), starts)
        logs += (bound - top - np.log(sums))[owner]
        is_inner = place[column] >= 0
        bounds[row[is_inner], place[column[is_inner]]] = logs[is_inner]
        ends = np.where(is_inner, -np.inf, logs)
        most = np.maximum.reduceat(ends, starts)
        at_most = np.where((ends == most[owner]) & ~is_inner, class_at[column], len(descent.end))
        which = np.minimum.reduceat(at_most, starts)
        better = (most > best[rows]) | ((most == best[rows]) & (which < winner[rows]))
        best[rows[better]], winner[rows[better]] = most[better], which[better]

    if n:
        open_below(np.arange(n), np.zeros(n), np.zeros(n, np.int64))
    rows = np.arange(n if len(inner) else 0)
    while len(rows):
        candidate = bounds[rows].argmax(axis=1)
        bound = bounds[rows, candidate]
        going = (bound >= best[rows]) & (bound > -np.inf)
        rows, candidate, bound = rows[going], candidate[going], bound[going]
        bounds[rows, candidate] = -np.inf
        if len(rows):
            open_below(rows, bound, first_child[candidate])
    return winner


def spans(first: Whole, last: Whole) -> tuple[Whole, Whole, Whole]:
    """The numbers first[i] .. last[i] - 1, one i after another: the i of each, these, where each i begins."""
    sizes = last - first
    starts = np.cumsum(sizes) - sizes
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return owner, np.arange(len(owner)) + (first - starts)[owner], starts


def _begins(descent: Descent, level: slice) -> Whole:
    """Where groups of siblings begin within a level."""
    begins: Whole = np.unique(descent.first[level]) - level.start
    return begins


def _log_sums(values: NDArray[Any], begins: Whole) -> Array:
    """log sum exp of each group of columns."""
    top = np.maximum.reduceat(values, begins, axis=1)
    sizes = np.diff(np.append(begins, values.shape[1]))
    sums: Array = top + np.log(
        np.add.reduceat(np.exp(values - np.repeat(top, sizes, axis=1)), begins, axis=1)
    )
    return sums
