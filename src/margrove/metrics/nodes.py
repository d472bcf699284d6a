"""Measures over all (row, node) decisions together, of sets of nodes and of their scores.

They judge predictions that are sets of nodes closed upwards. With a taxonomy the truth is completed by what
is above its labels, and the root, which says nothing, is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from margrove.errors import DataError
from margrove.metrics.comparison import compare, node_numbers
from margrove.metrics.f_measures import PrecisionRecallF1, hierarchical_precision_recall_f1, of_counts
from margrove.metrics.ranking import read_scores
from margrove.outputs.labels import Label, Vocabulary, check_lengths, read_labels

if TYPE_CHECKING:
    from margrove.taxonomy import Taxonomy


def node_precision_recall_f1(
    y_true: Any,
    y_pred: Any,
    taxonomy: Taxonomy | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    classes: Sequence[Label] | None = None,
) -> PrecisionRecallF1:
    """Precision, recall and F1 over all micro-labels: every node of every row (M.21; Liu, section 4).

    Without a taxonomy the sets are taken as they are, so they should hold what is above their nodes. With one
    they are completed by it, and this is the hierarchical measure (M.8).
    """
    if taxonomy is not None:
        return hierarchical_precision_recall_f1(
            y_true, y_pred, taxonomy, sample_weight=sample_weight, classes=classes
        )
    rows = compare(y_true, y_pred, None, sample_weight, classes)
    true, predicted = rows.matrices()
    common = float(rows.weights @ true.multiply(predicted).sum(axis=1))
    return of_counts(
        common, float(rows.weights @ predicted.sum(axis=1)), float(rows.weights @ true.sum(axis=1))
    )


def average_precision_area(
    y_true: Any, scores: ArrayLike, classes: Sequence[Label], taxonomy: Taxonomy | None = None
) -> float:
    """The area under the precision-recall curve of all (row, node) pairs pooled: Clus's AU(PRC) (M.22, M.23).

    `scores` has a column for each of `classes`, which with a taxonomy are nodes. A column of the root is left
    out. Higher scores have to mean more likely nodes across rows and columns alike.
    """
    vocabulary = Vocabulary(classes, closed=taxonomy is None)
    n_columns = len(vocabulary)
    table = read_scores(scores, n_columns)
    truth = read_labels(y_true, vocabulary, "y_true", classes)
    check_lengths(y_true=len(truth), scores=len(table))
    right = truth.matrix(len(vocabulary))
    columns = np.arange(n_columns)
    if taxonomy is not None:
        nodes = node_numbers(vocabulary.labels, taxonomy, {"y_true": truth})
        columns = np.flatnonzero(nodes[:n_columns] > 0)
        right = (right @ taxonomy.ancestor_matrix(vocabulary.labels))[:, nodes[columns]]
    return _area(table[:, columns].ravel(), right[:, : len(columns)].toarray().ravel() > 0)


def _area(scores: NDArray[Any], right: NDArray[np.bool_]) -> float:
    """The area for pooled decisions."""
    if not right.any():
        raise DataError("y_true: no row has a node, so there is no recall to speak of")
    order = np.argsort(-scores, kind="stable")
    scores, right = scores[order], right[order]
    last = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))  # of each run of equal scores
    hits = np.cumsum(right)[last].astype(np.float64)
    wrong = last + 1 - hits
    # between two thresholds wrong ones come evenly with right ones (M.23)
    steps = np.maximum(np.diff(hits, prepend=0.0), 1).astype(np.int64)
    steps[0] = 1  # the first precision holds down to recall zero
    run = np.repeat(np.arange(len(steps)), steps)
    share = (np.arange(len(run)) - np.repeat(np.cumsum(steps) - steps, steps) + 1) / steps[run]
    before_hits, before_wrong = np.append(0.0, hits)[run], np.append(0.0, wrong)[run]
    at_hits = before_hits + share * (hits[run] - before_hits)
    at_wrong = before_wrong + share * (wrong[run] - before_wrong)
    precision = at_hits / (at_hits + at_wrong)
    recall = at_hits / hits[-1]
    first = precision[0] * recall[0]
    return float(first + 0.5 * ((precision[1:] + precision[:-1]) * np.diff(recall)).sum())
