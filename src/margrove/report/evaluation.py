"""Measures of a fitted model on labelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from margrove.tables.model import TableModel
    from margrove.tables.table import Table
    from margrove.taxonomy import Taxonomy


def evaluate_model(model: TableModel, table: Table, *, ranking: bool = True) -> dict[str, Any]:
    """Return every measure that applies to a model of tables, from the labels that the table holds.

    Without `ranking` the scores of all rows and classes are never in memory together, and the measures that
    need them are left out.
    """
    features = model.features.transform(table)
    classifier = model.classifier
    taxonomy = getattr(classifier, "taxonomy_", None)
    return evaluate_classifier(classifier, features, model.labels_of(table), taxonomy, ranking=ranking)


def evaluate_classifier(
    classifier: Any, X: Any, y: Any, taxonomy: Taxonomy | None = None, *, ranking: bool = True
) -> dict[str, Any]:
    """Return every measure that applies to a classifier, from a matrix, true labels and any taxonomy."""
    from margrove import metrics

    return metrics.evaluate(
        y,
        classifier.predict(X),
        class_scores(classifier, X) if ranking else None,
        list(classifier.classes_) if ranking else None,
        taxonomy,
    )


def class_scores(classifier: Any, X: Any) -> NDArray[Any]:
    """Return the score of each row for each class, also where two classes share one score of both signs."""
    scores: NDArray[Any] = np.asarray(classifier.decision_function(X))
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
