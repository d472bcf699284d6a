"""The cost that a measure charges between two labels: Δ_h unless another is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from margrove.errors import DataError
from margrove.metrics.comparison import ancestor_sets
from margrove.outputs.labels import FloatArray, IntArray, Label
from margrove.taxonomy import costs

if TYPE_CHECKING:
    from margrove.taxonomy import Taxonomy

Cost: TypeAlias = costs.Cost | Callable[[], costs.Cost] | str | ArrayLike
"""What `margrove.costs.get` takes: a specification, a function of `margrove.costs`, a name, or a matrix."""


class Bound(Protocol):
    """Costs between numbered labels."""

    def row(self, y: int) -> FloatArray:
        """The cost of every label where label `y` is right."""
        ...

    def pairs(self, ys: IntArray, rs: IntArray) -> FloatArray:
        """The cost of each pair of a right and a predicted label."""
        ...


class HalfSymmetricDifference:
    """Δ_h of any two nodes as they stand, inner nodes too (M.4)."""

    def __init__(self, ancestors: sp.csr_array) -> None:
        self._ancestors = ancestors
        self._half_sizes = np.diff(ancestors.indptr) / 2

    def row(self, y: int) -> FloatArray:
        """The cost of every label where label `y` is right."""
        common: FloatArray = self._ancestors @ self._ancestors[[y]].toarray()[0]
        cost: FloatArray = self._half_sizes[y] + self._half_sizes - common
        return cost

    def pairs(self, ys: IntArray, rs: IntArray) -> FloatArray:
        """The cost of each pair of a right and a predicted label."""
        common: FloatArray = self._ancestors[ys].multiply(self._ancestors[rs]).sum(axis=1)
        cost: FloatArray = self._half_sizes[ys] + self._half_sizes[rs] - common
        return cost


def bind(cost: Cost | None, taxonomy: Taxonomy | None, labels: Sequence[Label], in_order: bool) -> Bound:
    """The cost between these labels; without a taxonomy they are the children of one root.

    The costs of `margrove.costs` live on terminal nodes: a label at an inner node counts there as a
    miscellaneous class below it (Cai 3.1). `in_order` says that the user gave the order of the labels, which
    a matrix without names needs.
    """
    if cost is None:
        return HalfSymmetricDifference(ancestor_sets(labels, taxonomy))
    spec = costs.get(cost)
    if not in_order and isinstance(spec, costs.CostMatrix) and spec.classes is None:
        raise DataError(
            "cost: a matrix needs the names of its rows; pass classes=..., or costs.matrix(costs, classes)"
        )
    if taxonomy is None or isinstance(spec, costs.CostMatrix):
        return spec.bind(None, labels)
    inner = [label for label in labels if taxonomy.children(label)]
    extended = taxonomy.with_miscellaneous(inner)
    return spec.bind(extended, [extended.as_class(label) for label in labels])
