"""Whether probabilities mean what they say, and predictions that stop where they are sure enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from margrove.errors import DataError
from margrove.metrics.comparison import compare, node_numbers
from margrove.metrics.ranking import read_scores
from margrove.metrics.top import level_matrix
from margrove.outputs.labels import Label, Vocabulary, check_lengths, read_labels, read_weights

if TYPE_CHECKING:
    from margrove.taxonomy import Taxonomy

ROUNDING = 1e-6  # by which a sum of probabilities may miss what it should be
_CELLS_AT_ONCE = 1 << 21


def expected_calibration_error(
    y_true: Any,
    probabilities: ArrayLike,
    classes: Sequence[Label],
    taxonomy: Taxonomy | None = None,
    depth: int | None = None,
    *,
    n_bins: int = 15,
    sample_weight: ArrayLike | None = None,
) -> float:
    """By how much the probability of the most probable node misses how often it is right (M.26, M.27).

    `probabilities` has a column for each of `classes`. With a `depth` the nodes are the classes' ancestors
    there, each as probable as the classes below it together; without one they are the classes.
    """
    if (depth is None) != (taxonomy is None):
        raise DataError("expected_calibration_error takes a taxonomy and a depth, or neither")
    return _errors(y_true, probabilities, classes, taxonomy, [depth], n_bins, sample_weight)[0]


def calibration_error_by_level(
    y_true: Any,
    probabilities: ArrayLike,
    classes: Sequence[Label],
    taxonomy: Taxonomy,
    *,
    n_bins: int = 15,
    sample_weight: ArrayLike | None = None,
) -> dict[int, float]:
    """`expected_calibration_error` at every depth from 1 down to the deepest class (M.26, M.27)."""
    nodes = taxonomy.indices(list(classes))
    levels = range(1, int(taxonomy.depths[nodes].max(initial=0)) + 1)
    errors = _errors(y_true, probabilities, classes, taxonomy, levels, n_bins, sample_weight)
    return dict(zip(levels, errors, strict=True))


def containment(
    y_true: Any, y_pred: Any, taxonomy: Taxonomy, *, sample_weight: ArrayLike | None = None
) -> float:
    """The share of rows whose predicted node is a true label, or above one (M.28).

    It is for predictions that may stop at inner nodes; how much they say is seen by the hierarchical recall.
    """
    rows = compare(y_true, y_pred, taxonomy, sample_weight)
    nodes = taxonomy.indices(rows.labels)
    true, predicted = rows.matrices()
    above = (true @ taxonomy.ancestor_matrix(rows.labels))[:, nodes]
    return rows.mean(above.multiply(predicted).sum(axis=1) > 0)


def _errors(
    y_true: Any,
    probabilities: ArrayLike,
    classes: Sequence[Label],
    taxonomy: Taxonomy | None,
    depths: Sequence[int | None],
    n_bins: int,
    sample_weight: ArrayLike | None,
) -> list[float]:
    """The error at each depth."""
    if n_bins < 1:
        raise DataError(f"n_bins is {n_bins!r}; expected at least 1")
    vocabulary = Vocabulary(classes)
    n_columns = len(vocabulary)
    truth = read_labels(y_true, vocabulary, "y_true", classes)
    table = _read_probabilities(probabilities, n_columns)
    check_lengths(y_true=len(truth), probabilities=len(table))
    weights = np.where(truth.sizes > 0, read_weights(sample_weight, len(truth)), 0.0)
    if not weights.any():
        raise DataError("y_true: no row of positive weight has a label, so there is nothing to measure")
    labels = vocabulary.labels
    if taxonomy is not None:
        node_numbers(labels, taxonomy, {"y_true": truth})  # names labels that it lacks
    right = truth.matrix(len(labels))
    errors = []
    for depth in depths:
        if taxonomy is None or depth is None:
            level = sp.eye_array(len(labels), format="csr")
        else:
            level = level_matrix(labels, taxonomy, depth)
        confidence, is_right = _most_probable(table, level[:n_columns], right @ level)
        errors.append(_error(confidence, is_right, weights, n_bins))
    return errors


def _read_probabilities(probabilities: ArrayLike, n_columns: int) -> NDArray[np.floating]:
    table = read_scores(probabilities, n_columns)
    for row, column in np.argwhere((table < 0) | (table > 1 + ROUNDING))[:1]:
        raise DataError(f"probabilities, row {row}, column {column}: {table[row, column]} is no probability")
    return table


def _most_probable(
    table: NDArray[np.floating], level: sp.csr_array, right: sp.csr_array
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The probability of each row's most probable node, and whether the node is right."""
    confidence, is_right = np.empty(len(table)), np.empty(len(table), bool)
    step = max(1, _CELLS_AT_ONCE // max(level.shape))
    for start in range(0, len(table), step):
        rows = np.arange(start, min(start + step, len(table)))
        sums = table[rows] @ level
        winner = sums.argmax(axis=1)
        confidence[rows] = sums[np.arange(len(rows)), winner]
        is_right[rows] = np.asarray(right[rows, winner]).ravel() > 0
    return confidence, is_right


def _error(
    confidence: NDArray[np.float64], right: NDArray[np.bool_], weights: NDArray[np.float64], n_bins: int
) -> float:
    """The mean over bins of equal width of |mean probability - share of right ones|, by their weights."""
    number = np.clip(np.ceil(confidence * n_bins).astype(np.int64) - 1, 0, n_bins - 1)
    excess = np.bincount(number, weights * (confidence - right), n_bins)
    return float(np.abs(excess).sum() / weights.sum())
