"""The descent output: from the root, step to the best child, until there is none (Zhou 1; Wang 2.2.1).

Outputs are the nodes of a tree that have a class at or below them, but the root, with siblings side by side.
The contrasts of an example compare every node of the path to its class with the siblings of that node (S.1),
and the class that the steps lead to is the terminal one of largest margin (S.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.errors import TaxonomyError
from margrove.outputs.levels import by_depth_and_parent, first_parents, levels_of
from margrove.taxonomy import Taxonomy
from margrove.taxonomy.build import Name

Array = NDArray[Any]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Descent:
    """The outputs, by depth and parent: a parent stands before its children, and these stand together."""

    nodes: Whole
    """The taxonomy's node of each output."""
    parent: Whole
    """The output above each; -1 below the root."""
    first: Whole
    last: Whole
    """Output t and its siblings are first[t] .. last[t] - 1."""
    depth: Whole
    """1 below the root."""
    end: Whole
    """The output at which each class ends."""

    @classmethod
    def of(cls, taxonomy: Taxonomy, classes: Sequence[Name]) -> Descent:
        """The descent to these classes, which may be inner nodes."""
        if not taxonomy.is_tree:
            node = taxonomy.name(np.flatnonzero(np.diff(taxonomy.parent_ptr) > 1)[0])
            raise TaxonomyError(
                "a descent needs a tree, where one path leads to each node; "
                f"{node!r} has {len(taxonomy.parents(node))} parents"
            )
        return cls.along_first_parents(taxonomy, classes)

    @classmethod
    def along_first_parents(cls, taxonomy: Taxonomy, classes: Sequence[Name]) -> Descent:
        """The descent in the tree that is left when every node of a graph keeps its first parent alone."""
        ends = taxonomy.indices(classes).astype(np.int64)
        above = first_parents(taxonomy)
        needed = reached = np.unique(ends)
        while len(reached):
            reached = np.unique(above[reached[reached > 0]])
            needed = np.union1d(needed, reached)
        nodes, parent, depth, place = by_depth_and_parent(above, needed)
        begins = np.flatnonzero(np.diff(parent, prepend=-2))
        group = np.cumsum(np.diff(parent, prepend=-2) != 0) - 1
        stops = np.append(begins[1:], len(nodes))
        return cls(nodes, parent, begins[group], stops[group], depth, place[ends])

    def __len__(self) -> int:
        """How many outputs there are."""
        return len(self.nodes)

    @cached_property
    def begins(self) -> Whole:
        """Where the groups of siblings begin."""
        return np.unique(self.first)

    @property
    def choices(self) -> list[slice]:
        """The groups of siblings among whom there is something to choose."""
        stops = np.append(self.begins[1:], len(self))
        return [slice(a, b) for a, b in zip(self.begins.tolist(), stops.tolist(), strict=True) if b - a > 1]

    @cached_property
    def levels(self) -> list[slice]:
        """The outputs of each depth."""
        return levels_of(self.depth)

    @cached_property
    def terminal(self) -> NDArray[np.bool_]:
        """Which classes have nothing below them, so that a descent can end there."""
        inner = np.zeros(len(self) + 1, bool)
        inner[self.parent] = True  # the last is the root's
        return ~inner[:-1][self.end]

    @cached_property
    def above(self) -> sp.csr_array:
        """Ones at the outputs on the path to each output, itself too (outputs x outputs)."""
        rows, columns = [np.arange(len(self))], [np.arange(len(self))]
        while len(rows[-1]):
            up = self.parent[columns[-1]]
            rows.append(rows[-1][up >= 0])
            columns.append(up[up >= 0])
        row, column = np.concatenate(rows), np.concatenate(columns)
        matrix = sp.csr_array((np.ones(len(row)), (row, column)), shape=(len(self), len(self)))
        matrix.sort_indices()
        return matrix

    @property
    def paths(self) -> sp.csr_array:
        """Ones at the outputs on the path to each class (classes x outputs)."""
        return self.above[self.end]

    def margins(self, scores: Array) -> Array:
        """By how much each output is better than the best of its siblings; infinite where it has none."""
        if not len(self):
            return scores
        begins, sizes = self.begins, np.diff(np.append(self.begins, len(self)))
        best = np.repeat(np.maximum.reduceat(scores, begins, axis=1), sizes, axis=1)
        # the best of the others: for a best one that is alone in being so, the best of the rest
        rest = np.where(scores < best, scores, -np.inf)
        second = np.repeat(np.maximum.reduceat(rest, begins, axis=1), sizes, axis=1)
        leaders = np.repeat(np.add.reduceat((scores == best).astype(np.int64), begins, axis=1), sizes, axis=1)
        rival = np.where((scores == best) & (leaders == 1), second, best)
        margins: Array = scores - rival
        return margins

    def class_margins(self, scores: Array) -> Array:
        """The least margin on the path to each class (S.2); -infinity where a descent never ends.

        Where nothing is to be chosen on the way the margin is 0.
        """
        least = self.margins(scores)
        for level in self.levels[1:]:
            least[:, level] = np.minimum(least[:, level], least[:, self.parent[level]])
        least = least[:, self.end]
        least[np.isposinf(least)] = 0.0
        least[:, ~self.terminal] = -np.inf
        return least
