"""The subtrees output (Liu): a prediction is any set of nodes that, with a node, holds all above it.

Sets are coded by -1 and 1, and the best has the highest <z, s> (U.1). In a tree that is found in time linear
in the nodes (U.2), and so are the second best (U.4) and by how much the best set with a node is better than
the best without (U.5). In a graph the best set is a minimum cut (U.6), exact too; the others use one parent
of each node, the first, and so look at more sets than there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.outputs.cuts import largest_closed_set
from margrove.outputs.levels import by_depth_and_parent, first_parents, levels_of
from margrove.taxonomy import Taxonomy
from margrove.taxonomy.build import Name

Array = NDArray[Any]
Whole = NDArray[np.int64]
Sets = NDArray[np.bool_]


@dataclass(frozen=True)
class Subtrees:
    """The outputs: nodes with a class at or below them, but the root, which every set holds.

    They stand by depth and parent: a parent before its children, and these together. Sets are rows of
    booleans, a column for each output.
    """

    nodes: Whole
    """The taxonomy's node of each output."""
    parent: Whole
    """The output above each, the first of several; -1 below the root."""
    depth: Whole
    """1 below the root, along first parents."""
    end: Whole
    """The output of each class; -1 for the root."""
    above: sp.csr_array
    """Ones at the outputs above each output, itself too, by whatever way (outputs x outputs)."""
    edges: sp.csr_array
    """Ones at all parents of each output (outputs x outputs)."""

    @classmethod
    def of(cls, taxonomy: Taxonomy, classes: Sequence[Name]) -> Subtrees:
        """The sets that classes can make, which may be inner nodes."""
        ends = taxonomy.indices(classes).astype(np.int64)
        needed = np.unique(taxonomy.ancestor_matrix(classes).indices)
        nodes, parent, depth, place = by_depth_and_parent(first_parents(taxonomy), needed.astype(np.int64))
        names = [taxonomy.name(v) for v in nodes]
        above = _placed(taxonomy.ancestor_matrix(names), place, len(nodes))
        counts = np.diff(taxonomy.parent_ptr)[nodes]
        starts = np.repeat(taxonomy.parent_ptr[nodes] - np.cumsum(counts) + counts, counts)
        parents = taxonomy.parent_idx[starts + np.arange(counts.sum())]
        ptr = np.concatenate([[0], np.cumsum(counts)])
        all_edges = sp.csr_array((np.ones(len(parents)), parents, ptr), shape=(len(nodes), taxonomy.n_nodes))
        edges = _placed(all_edges, place, len(nodes))
        return cls(nodes, parent, depth, place[ends], above, edges)

    def __len__(self) -> int:
        """How many outputs there are."""
        return len(self.nodes)

    @cached_property
    def is_tree(self) -> bool:
        """Whether no output has several parents."""
        return bool((np.diff(self.edges.indptr) <= 1).all() and self.edges.nnz == (self.parent >= 0).sum())

    @cached_property
    def levels(self) -> list[slice]:
        """The outputs of each depth."""
        return levels_of(self.depth)

    @cached_property
    def closures(self) -> sp.csr_array:
        """Ones at the outputs at or above each class (classes x outputs); an empty row for the root."""
        known = np.flatnonzero(self.end >= 0)
        pick = sp.csr_array((np.ones(len(known)), (known, self.end[known])), shape=(len(self.end), len(self)))
        return sp.csr_array(pick @ self.above)

    # --- on trees: by dynamic programming, rows of scores at once ---

    def gains(self, scores: Array) -> Array:
        """The best sum of scores of a set below each output that holds it (U.2); outputs x rows."""
        gains = np.ascontiguousarray(scores.T)
        gains = gains.copy() if np.shares_memory(gains, scores) else gains
        for level in reversed(self.levels[1:]):
            begins = level.start + np.flatnonzero(np.diff(self.parent[level], prepend=-1))
            sums = np.add.reduceat(np.maximum(gains[level], 0), begins - level.start, axis=0)
            gains[self.parent[begins]] += sums
        return gains

    def _down(self, wanted: Sets) -> Sets:
        """Without the outputs whose parents are missing; outputs x rows, changed in place."""
        for level in self.levels[1:]:
            wanted[level] &= wanted[self.parent[level]]
        return wanted

    def best_of_tree(self, scores: Array) -> Sets:
        """The best set of each row among those closed along first parents, in a tree all there are (U.3)."""
        return np.ascontiguousarray(self._down(self.gains(scores) > 0).T)

    def best_two(self, scores: Array) -> tuple[Sets, Sets]:
        """The best set of each row and the second best (U.3, U.4), among those closed along first parents."""
        gains = self.gains(scores)
        rows = np.arange(gains.shape[1])
        best = self._down(gains > 0)
        at_edge = np.ones_like(best)
        inner = self.parent >= 0
        at_edge[inner] = best[self.parent[inner]]
        turned = np.where(at_edge, np.abs(gains), np.inf).argmin(axis=0)
        wanted = gains > 0
        wanted[turned, rows] ^= True
        return best.T, self._down(wanted).T

    def margins(self, scores: Array) -> Array:
        """By how much the best set with each output is better than the best without (U.5); rows x outputs.

        Never higher than at what is above. In a tree the best set is where this is positive; in a graph
        scores are set to zero where they would say otherwise.
        """
        margins = self.gains(scores)
        for level in self.levels[1:]:
            above = margins[self.parent[level]]
            gain = margins[level]
            margins[level] = np.where(gain > 0, np.minimum(gain, above), gain + np.minimum(above, 0))
        result: Array = margins.T
        if self.is_tree:
            return result
        result = self.lowered(result)
        best = self.best(scores)
        tiny = np.finfo(result.dtype).tiny
        return np.where(best, np.maximum(result, tiny), np.minimum(result, 0))

    @cached_property
    def size(self) -> Whole:
        """How many outputs are at or below each in `preorder`, along first parents."""
        size = np.ones(len(self), np.int64)
        for v in range(len(self) - 1, -1, -1):
            if self.parent[v] >= 0:
                size[self.parent[v]] += size[v]
        return size[self.preorder]

    @cached_property
    def preorder(self) -> Whole:
        """The outputs so that all below one, along first parents, follow it."""
        below: list[list[int]] = [[] for _ in range(len(self) + 1)]
        for v in range(len(self) - 1, -1, -1):
            below[self.parent[v]].append(v)  # the last list is that of the root
        order: list[int] = []
        waiting = below[-1]
        while waiting:
            order.append(waiting.pop())
            waiting += below[order[-1]]
        return np.array(order, np.int64)

    # --- on graphs ---

    def lowered(self, scores: Array) -> Array:
        """Scores (rows x outputs) lowered where they would be higher than what is above."""
        lowered = scores.copy()
        for child, parents in self._edges_down:
            lowered[:, child] = np.minimum(lowered[:, child], lowered[:, parents].min(axis=1))
        return lowered

    @cached_property
    def _edges_down(self) -> list[tuple[int, Whole]]:
        """Outputs with several parents, and these, so that every way down is taken in order."""
        depth = np.diff(self.above.indptr)  # more above than any of its parents has
        order = np.argsort(depth, kind="stable")
        ptr, parents = self.edges.indptr, self.edges.indices
        return [(int(v), parents[ptr[v] : ptr[v + 1]].astype(np.int64)) for v in order if ptr[v] < ptr[v + 1]]

    def best(self, scores: Array) -> Sets:
        """The best set of each row (U.1): of two equally good ones, the smaller."""
        best = self.best_of_tree(scores)
        if self.is_tree:
            return best
        # what is best among more sets is best, if it is one of these
        lacking = (best.astype(np.float32) @ self._excess.T) < 0
        for row in np.flatnonzero((lacking & best).any(axis=1)):
            best[row] = largest_closed_set(self.edges, scores[row])
        return best

    @cached_property
    def _excess(self) -> sp.csr_array:
        """For a set: how many parents of each output it holds, less how many there are, on the diagonal."""
        n_parents = np.diff(self.edges.indptr)
        return sp.csr_array(self.edges - sp.diags_array(n_parents.astype(np.float64)))


def _placed(matrix: sp.csr_array, place: Whole, count: int) -> sp.csr_array:
    """Columns by output in place of node; those that are none are left out."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    columns = place[matrix.indices]
    known = columns >= 0
    placed = sp.csr_array(
        (np.ones(known.sum()), (rows[known], columns[known])), shape=(matrix.shape[0], count)
    )
    placed.sort_indices()
    return placed
