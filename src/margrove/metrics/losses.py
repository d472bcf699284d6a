"""Losses of predictions: how far from the true label, or label set, predictions fall on average."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from margrove.errors import DataError
from margrove.metrics.comparison import Comparison, ancestor_sets, compare, volumes_of_sets
from margrove.metrics.distances import Cost, bind
from margrove.outputs.labels import FloatArray, IntArray, Label
from margrove.taxonomy import costs

if TYPE_CHECKING:
    from margrove.taxonomy import Taxonomy


def zero_one_loss(
    y_true: Any,
    y_pred: Any,
    taxonomy: Taxonomy | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    classes: Sequence[Label] | None = None,
) -> float:
    """The fraction of rows whose label, or whole label set, is not the true one (M.1)."""
    rows = compare(y_true, y_pred, taxonomy, sample_weight, classes)
    true, predicted = rows.matrices()
    common = true.multiply(predicted).sum(axis=1)
    return rows.mean((common < rows.true.sizes) | (common < rows.predicted.sizes))


def cost_loss(
    y_true: Any,
    y_pred: Any,
    taxonomy: Taxonomy | None = None,
    *,
    cost: Cost,
    sample_weight: ArrayLike | None = None,
    classes: Sequence[Label] | None = None,
) -> float:
    """The mean of any cost of `margrove.costs` of the true and the predicted label (M.2); one label a row.

    `cost` may also be a name ("tree") or a matrix; `classes` tell the order of a matrix that has no names.
    """
    rows = compare(y_true, y_pred, taxonomy, sample_weight, classes)
    true, predicted = rows.single_pairs("this measure")
    return rows.mean(bind(cost, taxonomy, rows.labels, in_order=classes is not None).pairs(true, predicted))


def h_loss(
    y_true: Any,
    y_pred: Any,
    taxonomy: Taxonomy | None = None,
    *,
    kind: Literal["subtree", "sibling"] = "subtree",
    sample_weight: ArrayLike | None = None,
) -> float:
    """The H-loss (M.5; Wang 2.1 and 2.2): only the highest wrong node counts; one label a row."""
    return cost_loss(y_true, y_pred, taxonomy, cost=costs.h_loss(kind), sample_weight=sample_weight)


def symmetric_difference_loss(
    y_true: Any,
    y_pred: Any,
    taxonomy: Taxonomy | None = None,
    *,
    volumes: costs.Weights | None = None,
    c_miss: float = 1.0,
    c_extra: float = 1.0,
    sample_weight: ArrayLike | None = None,
    classes: Sequence[Label] | None = None,
) -> float:
    """The mean volume of nodes missed, times `c_miss`, and of nodes added, times `c_extra` (M.3; Cai 3.11).

    With the defaults it is the mean of |anc(Y) ⊖ anc(Ŷ)| (Cai 3.12), and without a taxonomy that of |Y ⊖ Ŷ|.
    An empty set has no ancestors, so against any other it misses, or adds, the root too. `volumes` is, as in
    `margrove.costs`, a mapping or a function from nodes to numbers; the root too needs one.
    """
    rows = compare(y_true, y_pred, taxonomy, sample_weight, classes)
    return rows.mean(_set_loss(rows, taxonomy, volumes, c_miss, c_extra))


def tree_loss(
    y_true: Any,
    y_pred: Any,
    taxonomy: Taxonomy | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    classes: Sequence[Label] | None = None,
) -> float:
    """The mean of Δ_h, half of |anc(Y) ⊖ anc(Ŷ)| (M.4; Cai 7.2): on trees, half the distance of two nodes.

    Without a taxonomy two different labels are at loss 1.
    """
    rows = compare(y_true, y_pred, taxonomy, sample_weight, classes)
    return rows.mean(_set_loss(rows, taxonomy, None, 0.5, 0.5))


def _volumes(volumes: costs.Weights, taxonomy: Taxonomy | None, needed: IntArray) -> FloatArray:
    """One number for each node; asked for where a label is at or below the node, and 1 elsewhere."""
    if taxonomy is None:
        raise DataError("volumes: they belong to the nodes of a taxonomy; pass one")
    look_up = volumes if callable(volumes) else volumes.__getitem__
    found = np.ones(taxonomy.n_nodes)
    for node in needed.tolist():
        name = taxonomy.name(node)
        try:
            found[node] = look_up(name)
        except KeyError as error:
            raise DataError(f"volumes has no entry for node {name!r}") from error
        if not (np.isfinite(found[node]) and found[node] >= 0):
            raise DataError(f"volumes: node {name!r} has {found[node]}; expected a finite number, 0 or more")
    return found


def _set_loss(
    rows: Comparison, taxonomy: Taxonomy | None, volumes: costs.Weights | None, c_miss: float, c_extra: float
) -> FloatArray:
    ancestors = ancestor_sets(rows.labels, taxonomy)
    per_node = None if volumes is None else _volumes(volumes, taxonomy, np.unique(ancestors.indices))
    true, predicted, common = volumes_of_sets(rows, ancestors, per_node)
    return c_miss * (true - common) + c_extra * (predicted - common)
