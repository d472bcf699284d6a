"""Measures of a fitted model on labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margrove.report.labels import one_label_each

if TYPE_CHECKING:
    from margrove.tables.model import TableModel
    from margrove.tables.table import Table
    from margrove.taxonomy import Taxonomy


def evaluate_model(
    model: TableModel, table: Table, *, ranking: bool = True, confidence: float | None = None
) -> dict[str, Any]:
    """Return every measure that applies to a model of tables, from the labels that the table holds.

    Without `ranking` the scores of all rows and classes are never in memory together, and the measures that
    need them are left out. With `confidence`, which needs probabilities, predictions may be inner nodes.
    """
    features = model.features.transform(table)
    classifier = model.classifier
    taxonomy = getattr(classifier, "taxonomy_", None)
    y = model.labels_of(table)
    return evaluate_classifier(classifier, features, y, taxonomy, ranking=ranking, confidence=confidence)


def evaluate_classifier(
    classifier: Any,
    X: Any,
    y: Any,
    taxonomy: Taxonomy | None = None,
    *,
    ranking: bool = True,
    confidence: float | None = None,
) -> dict[str, Any]:
    """Return every measure that applies to a classifier, from a matrix, true labels and any taxonomy.

    A class that has no example in training, and so no score, stands below all others in every ranking. With
    `confidence` measures of predictions are those of nodes that are sure enough, and two more tell how often
    they hold, and how often they are classes.
    """
    from margrove import metrics

    y = one_label_each(y)
    known = list(classifier.classes_)
    unseen = _unseen(y, known)
    predicted = classifier.predict(X) if confidence is None else classifier.predict(X, confidence=confidence)
    if ranking:
        scores = class_scores(classifier, X)
        last = np.repeat(scores.min(axis=1, keepdims=True) - 1, len(unseen), axis=1)
        measures = metrics.evaluate(y, predicted, np.hstack([scores, last]), known + unseen, taxonomy)
    else:
        measures = metrics.evaluate(y, predicted, taxonomy=taxonomy)
    if confidence is not None and taxonomy is not None:
        measures["containment"] = metrics.containment(y, predicted, taxonomy)
        measures["classes_predicted"] = float(np.isin(predicted, classifier.classes_).mean())
    if ranking and hasattr(classifier, "predict_proba") and taxonomy is not None:
        errors = metrics.calibration_error_by_level(y, classifier.predict_proba(X), known, taxonomy)
        measures["calibration_error_by_level"] = {str(depth): error for depth, error in errors.items()}
    return measures


def _unseen(y: Any, known: Sequence[Any]) -> list[Any]:
    """Return the labels that are no class of the classifier, in the order in which they occur."""
    rows = (row if isinstance(row, list | set | frozenset) else [row] for row in y)
    seen = set(known)
    return [label for label in dict.fromkeys(label for row in rows for label in row) if label not in seen]


def class_scores(classifier: Any, X: Any) -> NDArray[Any]:
    """Return the score of each row for each class, also where two classes share one score of both signs.

    Where a model has probabilities, they are the scores.
    """
    if hasattr(classifier, "predict_proba"):
        probabilities: NDArray[Any] = classifier.predict_proba(X)
        return probabilities
    scores: NDArray[Any] = np.asarray(classifier.decision_function(X))
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
