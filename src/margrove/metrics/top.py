"""Measures of the one label that stands highest (Cai, section 7.3): of a ranking, or of predicted labels.

Each takes scores with their `classes`, whose highest class is the prediction (the first of equals, as in
`numpy.argmax`), or, without `classes`, the predicted labels themselves. Rows without a true label are left
out, and it is an error if no row is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from margrove.errors import DataError, LabelError
from margrove.metrics.comparison import Comparison, compare
from margrove.metrics.distances import Cost, bind
from margrove.metrics.ranking import read_scores
from margrove.outputs.labels import BoolArray, Label, LabelSets, plain_list

if TYPE_CHECKING:
    from margrove.taxonomy import Taxonomy


def one_accuracy(
    y_true: Any,
    scores: Any,
    classes: Sequence[Label] | None = None,
    taxonomy: Taxonomy | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """The fraction of rows whose highest label is among the true ones (M.9; Cai 7.3)."""
    rows = _compare_top(y_true, scores, classes, taxonomy, sample_weight)
    return rows.mean(_sharing(rows, sp.eye_array(len(rows.labels), format="csr")))


def parent_accuracy(
    y_true: Any,
    scores: Any,
    classes: Sequence[Label] | None = None,
    taxonomy: Taxonomy | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """The fraction of rows whose highest label has a parent in common with a true one (M.10; Cai 7.6).

    In a graph a node may have several parents, and sharing one of them is enough. The root has none: it
    agrees with itself only, as a right label always does.
    """
    tree = _required(taxonomy, "parent_accuracy")
    rows = _compare_top(y_true, scores, classes, tree, sample_weight)
    same = _sharing(rows, sp.eye_array(len(rows.labels), format="csr"))
    return rows.mean(same | _sharing(rows, _parents(rows.labels, tree)))


def top_loss(
    y_true: Any,
    scores: Any,
    classes: Sequence[Label] | None = None,
    taxonomy: Taxonomy | None = None,
    *,
    cost: Cost | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """The mean of: 0 if the highest label is true, else its largest cost to a true one (M.11; Cai 4.22).

    `cost` is any cost of `margrove.costs`; by default Δ_h, which without a taxonomy is zero-one.
    """
    rows = _compare_top(y_true, scores, classes, taxonomy, sample_weight)
    true, top = rows.true.numbers, rows.predicted.numbers[rows.true.rows]
    pairs, where = np.unique(true * len(rows.labels) + top, return_inverse=True)
    delta = bind(cost, taxonomy, rows.labels, in_order=classes is not None)
    loss = delta.pairs(*np.divmod(pairs, len(rows.labels)))[where]
    worst = np.zeros(len(rows.true))
    np.maximum.at(worst, rows.true.rows, loss)
    right = _sharing(rows, sp.eye_array(len(rows.labels), format="csr"))
    return rows.mean(np.where(right, 0.0, worst))


def level_accuracy(
    y_true: Any,
    y_pred: Any,
    taxonomy: Taxonomy | None = None,
    depth: int = 1,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """The accuracy that is left when every label is replaced by its ancestor at this depth (M.15).

    A label that stands higher than `depth` stands for itself, so ragged trees need no filling up. In a graph
    a label has all its ancestors of exactly this depth (or itself), and one in common with a true label is
    enough; depth is the longest way from the root.
    """
    tree = _required(taxonomy, "level_accuracy")
    rows = _compare_top(y_true, y_pred, None, tree, sample_weight)
    return rows.mean(_sharing(rows, level_matrix(rows.labels, tree, depth)))


def accuracy_by_level(
    y_true: Any, y_pred: Any, taxonomy: Taxonomy | None = None, *, sample_weight: ArrayLike | None = None
) -> dict[int, float]:
    """`level_accuracy` at every depth from 1 down to the deepest node of the taxonomy (M.15)."""
    tree = _required(taxonomy, "accuracy_by_level")
    rows = _compare_top(y_true, y_pred, None, tree, sample_weight)
    deepest = int(tree.depths.max(initial=0))
    return {d: rows.mean(_sharing(rows, level_matrix(rows.labels, tree, d))) for d in range(1, deepest + 1)}


def _required(taxonomy: Taxonomy | None, measure: str) -> Taxonomy:
    if taxonomy is None:
        raise DataError(f"{measure} needs a taxonomy: pass taxonomy=...")
    return taxonomy


def _compare_top(
    y_true: Any,
    scores: Any,
    classes: Sequence[Label] | None,
    taxonomy: Taxonomy | None,
    sample_weight: ArrayLike | None,
) -> Comparison:
    """The true label sets beside the highest label, without the rows that have no true label."""
    if classes is None:
        top = scores
    elif hasattr(classes, "ancestor_matrix"):
        raise DataError("classes: this is a taxonomy; pass it by name, as taxonomy=...")
    else:
        names = plain_list(classes, "classes")
        top = [names[j] for j in read_scores(scores, len(names)).argmax(axis=1).tolist()]
    rows = compare(y_true, top, taxonomy, sample_weight, classes, closed=classes is not None)
    if not rows.predicted.single:
        raise LabelError(
            "y_pred: this measure takes one label a row; for scores, pass the classes of their columns"
        )
    labelled = np.flatnonzero(rows.true.sizes)
    if not len(labelled) or not rows.weights[labelled].any():
        raise DataError("y_true: no row of positive weight has a label, so there is nothing to measure")
    starts = np.concatenate([[0], np.cumsum(rows.true.sizes[labelled])])
    return Comparison(
        LabelSets(rows.true.numbers, starts, rows.true.single),
        LabelSets(rows.predicted.numbers[labelled], np.arange(len(labelled) + 1), True),
        rows.labels,
        rows.weights[labelled],
    )


def _sharing(rows: Comparison, features: sp.csr_array) -> BoolArray:
    """Which rows have a predicted and a true label with a feature in common; `features`: labels x any."""
    true, predicted = rows.matrices()
    shared: BoolArray = (true @ features).multiply(predicted @ features).sum(axis=1) > 0
    return shared


def _parents(labels: Sequence[Label], taxonomy: Taxonomy) -> sp.csr_array:
    parents = [taxonomy.indices(taxonomy.parents(label)) for label in labels]
    starts = np.concatenate([[0], np.cumsum([len(above) for above in parents])])
    columns = np.concatenate(parents)
    return sp.csr_array((np.ones(len(columns)), columns, starts), shape=(len(labels), taxonomy.n_nodes))


def level_matrix(labels: Sequence[Label], taxonomy: Taxonomy, depth: int) -> sp.csr_array:
    """Labels x nodes: the ancestors of exactly this depth, or the label itself if it stands higher."""
    ancestors = taxonomy.ancestor_matrix(labels)
    nodes = taxonomy.indices(labels)
    wanted = np.minimum(depth, taxonomy.depths[nodes])
    row = np.repeat(np.arange(len(labels)), np.diff(ancestors.indptr))
    kept = taxonomy.depths[ancestors.indices] == wanted[row]
    chosen = ancestors.copy()
    chosen.data = kept.astype(np.float64)
    chosen.eliminate_zeros()
    return chosen
