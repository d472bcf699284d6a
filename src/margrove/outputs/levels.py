"""Nodes as outputs by depth and parent: a parent stands before its children, and these stand together.

In a graph the parent of a node is the first of its parents, so that outputs always stand in a tree.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margrove.taxonomy import Taxonomy

Whole = NDArray[np.int64]


class Ordered(NamedTuple):
    """Outputs in this order."""

    nodes: Whole
    """The taxonomy's node of each."""
    parent: Whole
    """The output above each; -1 below the root."""
    depth: Whole
    """1 below the root."""
    place: Whole
    """The output of each node; -1 for the root and nodes that are none."""


def first_parents(taxonomy: Taxonomy) -> Whole:
    """The first parent of each node; -1 for the root."""
    parents = np.full(taxonomy.n_nodes, -1, np.int64)
    parents[1:] = taxonomy.parent_idx[taxonomy.parent_ptr[1:-1]]
    return parents


def by_depth_and_parent(above: Whole, needed: Whole) -> Ordered:
    """Some nodes but the root as outputs; `above` is the parent of each node, which is needed with it."""
    depth_of = np.zeros(len(above), np.int64)
    for node in needed[needed > 0].tolist():
        depth_of[node] = depth_of[above[node]] + 1
    depths = depth_of[needed]
    place = np.full(len(above), -1, np.int64)
    order: list[Whole] = []
    count = 0
    for depth in range(1, int(depths.max(initial=0)) + 1):
        level = needed[depths == depth]
        level = level[np.argsort(place[above[level]], kind="stable")]
        place[level] = count + np.arange(len(level))
        count += len(level)
        order.append(level)
    nodes = np.concatenate([*order, np.empty(0, np.int64)])
    return Ordered(nodes, place[above[nodes]], depth_of[nodes], place)


def levels_of(depth: Whole) -> list[slice]:
    """The outputs of each depth."""
    starts = np.flatnonzero(np.diff(depth, prepend=0))
    return [slice(a, b) for a, b in pairwise([*starts.tolist(), len(depth)])]
