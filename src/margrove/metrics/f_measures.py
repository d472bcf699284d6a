"""Precision, recall and F1 over labels, and over the ancestors of labels; zero by zero counts as 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from margrove.metrics.comparison import Comparison, ancestor_sets, compare, volumes_of_sets
from margrove.outputs.labels import FloatArray, Label

if TYPE_CHECKING:
    from margrove.taxonomy import Taxonomy


class PrecisionRecallF1(NamedTuple):
    """What share of the predicted is true, what share of the true was predicted, and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def micro_f1(
    y_true: Any,
    y_pred: Any,
    taxonomy: Taxonomy | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    classes: Sequence[Label] | None = None,
) -> float:
    """F1 of all (row, label) decisions together (M.6); with one label a row it is the accuracy."""
    hits, predicted, true = _counts(compare(y_true, y_pred, taxonomy, sample_weight, classes))
    return float(_ratio(2 * hits.sum(), predicted.sum() + true.sum()))


def macro_f1(
    y_true: Any,
    y_pred: Any,
    taxonomy: Taxonomy | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    classes: Sequence[Label] | None = None,
) -> float:
    """The plain mean of each class's F1 (M.7); the classes are all labels true or predicted somewhere."""
    hits, predicted, true = _counts(compare(y_true, y_pred, taxonomy, sample_weight, classes))
    occur = predicted + true > 0
    return float(_ratio(2 * hits, predicted + true)[occur].mean()) if occur.any() else 0.0


def hierarchical_precision_recall_f1(
    y_true: Any,
    y_pred: Any,
    taxonomy: Taxonomy | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    classes: Sequence[Label] | None = None,
) -> PrecisionRecallF1:
    """Precision, recall and F1 over ancestors, the root left out, counted over all rows together (M.8).

    The measure of Kiritchenko, Matwin and Famili (2005). Without a taxonomy it is micro F1.
    """
    rows = compare(y_true, y_pred, taxonomy, sample_weight, classes)
    below_root = ancestor_sets(rows.labels, taxonomy)[:, 1:]
    true, predicted, common = (float(rows.weights @ volume) for volume in volumes_of_sets(rows, below_root))
    return of_counts(common, predicted, true)


def of_counts(common: float, predicted: float, true: float) -> PrecisionRecallF1:
    """The three from how much is right, how much was predicted, and how much is true."""
    return PrecisionRecallF1(
        precision=float(_ratio(common, predicted)),
        recall=float(_ratio(common, true)),
        f1=float(_ratio(2 * common, predicted + true)),
    )


def _counts(rows: Comparison) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For each label the weight of the rows in which it is right, predicted, and true."""
    true, predicted = rows.matrices()
    return rows.weights @ true.multiply(predicted), rows.weights @ predicted, rows.weights @ true


def _ratio(part: ArrayLike, whole: ArrayLike) -> FloatArray:
    total = np.asarray(whole, dtype=np.float64)
    ratio: FloatArray = np.divide(part, total, out=np.zeros_like(total), where=total > 0)
    return ratio
