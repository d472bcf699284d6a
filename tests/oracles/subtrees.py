"""Slow twins of the subtrees output: every closed set is looked at."""

from __future__ import annotations

import numpy as np


def naive_closed_sets(parents):
    """All sets that hold the parents of their members, as rows of booleans; `parents` has a list a node."""
    m = len(parents)
    rows = np.arange(1 << m)[:, None] >> np.arange(m) & 1 > 0
    closed = [rows[:, p] >= rows[:, v] for v in range(m) for p in parents[v]]
    return rows[np.all(closed, axis=0)] if closed else rows


def naive_score(z, s):
    """<z, s> with z coded by -1 and 1 (U.1)."""
    return sum(a if inside else -a for a, inside in zip(s, z, strict=True))


def naive_ranked_sets(parents, s):
    """All closed sets, best first, and their scores."""
    sets = naive_closed_sets(parents)
    scores = np.where(sets, 1.0, -1.0) @ s
    order = np.argsort(-scores, kind="stable")
    return sets[order], scores[order]


def naive_recursion(children, roots, s):
    """Liu's recursions (3.5) as they stand there: the highest and second highest <z, s> of a forest."""

    def lowest(v):
        return -s[v] + sum(lowest(k) for k in children[v])

    def top_two(v):
        first, second = combined([top_two(k) for k in children[v]])
        values = sorted([lowest(v), s[v] + first, s[v] + second], reverse=True)
        return values[0], values[1]

    def combined(parts):
        """The two highest sums of one value from each part."""
        first = sum(a for a, _ in parts)
        return first, max((first - a + b for a, b in parts), default=-np.inf)

    return combined([top_two(v) for v in roots])


def naive_margins(parents, s):
    """For each node the best score with it less the best without."""
    sets, scores = naive_ranked_sets(parents, s)
    return np.array([scores[sets[:, v]].max() - scores[~sets[:, v]].max() for v in range(len(parents))])
