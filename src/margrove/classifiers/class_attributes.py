"""Class attributes as a fit uses them: bound to its classes, in the engine's columns, weighted if asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from margrove.classifiers.targets import Classes
from margrove.objective.contrasts import ContrastProblem
from margrove.objective.learned import LearnedProblem
from margrove.outputs.layout import Layout, arrange, in_columns, weighted
from margrove.taxonomy import attributes
from margrove.taxonomy.binding import keep_columns
from margrove.taxonomy.build import Name
from margrove.taxonomy.learned import Learned


@dataclass(frozen=True)
class ClassAttributes:
    """Lambda of all classes that can be predicted; those with examples are what is learned from."""

    Lambda: Any
    """Classes x the engine's columns."""
    learned_from: Any
    """The rows of `seen`."""
    seen: NDArray[np.intp]
    """The numbers of the classes with examples."""
    column_nodes: NDArray[np.int64] | None
    layout: Layout
    learned: Learned | None
    groups: NDArray[np.int64] | None
    """The group of each column whose weights are learned together; None if none are."""
    names: list[Name]
    """What the groups are called."""

    @classmethod
    def bind(
        cls, specified: Any, sharing: float, classes: Classes, seen: NDArray[np.intp]
    ) -> ClassAttributes:
        """The attributes of these classes; `seen` are the numbers of those with examples."""
        specified = attributes.get(specified)
        learned = specified if isinstance(specified, Learned) else None
        base = specified if learned is None else learned.of
        Lambda, nodes = attributes.shared(sharing, base).bind(classes.taxonomy, classes.nodes)
        # what no class with examples has gets no weight (A.15)
        used = np.bincount(Lambda[seen].indices, minlength=Lambda.shape[1]) > 0
        Lambda, nodes = keep_columns(Lambda, used), None if nodes is None else nodes[used]
        layout = arrange(Lambda[seen], np.float64)
        groups, names = None, list[Name]()
        if learned is not None:
            of_columns, names = learned.groups(nodes, classes.taxonomy, classes.nodes)
            groups = np.zeros(layout.n_columns, np.int64)
            groups[layout.columns] = of_columns
        Lambda, column_nodes = in_columns(Lambda, nodes, layout)
        return cls(Lambda, Lambda[seen], seen, column_nodes, layout, learned, groups, names)

    def joint(self, problem: ContrastProblem) -> LearnedProblem | None:
        """The problem with the weights in it; None if none are learned."""
        if self.learned is None or self.groups is None:
            return None
        return LearnedProblem(problem, self.groups, self.learned.power)

    def among_all(self, Y: csr_array) -> csr_array:
        """Indicators of classes with examples as indicators of all."""
        among: csr_array = csr_array(
            (Y.data, self.seen[Y.indices], Y.indptr), (Y.shape[0], self.Lambda.shape[0])
        )
        among.sort_indices()
        return among

    def weighted(self, theta: NDArray[np.float64]) -> ClassAttributes:
        """The same with learned weights in it (A.9)."""
        factor = np.sqrt(theta)[self.groups]

        def times_factor(Lambda: Any) -> Any:
            return csr_array(
                (Lambda.data * factor[Lambda.indices], Lambda.indices, Lambda.indptr), Lambda.shape
            )

        return replace(
            self,
            Lambda=times_factor(self.Lambda),
            learned_from=times_factor(self.learned_from),
            layout=weighted(self.layout, factor),
        )
