"""All measures that apply to what is at hand, as one plain dictionary that JSON can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from margrove.errors import DataError
from margrove.metrics.f_measures import hierarchical_precision_recall_f1, macro_f1, micro_f1
from margrove.metrics.losses import h_loss, symmetric_difference_loss, tree_loss, zero_one_loss
from margrove.metrics.ranking import average_precision, maximal_loss, ranking_loss
from margrove.metrics.top import accuracy_by_level, one_accuracy, parent_accuracy, top_loss
from margrove.outputs.labels import Label, Vocabulary, read_labels

if TYPE_CHECKING:
    from margrove.taxonomy import Taxonomy


def evaluate(
    y_true: Any,
    y_pred: Any = None,
    scores: ArrayLike | None = None,
    classes: Sequence[Label] | None = None,
    taxonomy: Taxonomy | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> dict[str, Any]:
    """Every measure that applies, by name, beside `rows`, `unlabelled_rows` and `multilabel`.

    Predictions and scores are both optional; scores need `classes`. Measures of the highest label come from
    the scores, or, where there are none, from predictions of one label a row. `parent_accuracy`,
    `accuracy_by_level` and, on trees, `h_loss` need a taxonomy.
    """
    if y_pred is None and scores is None:
        raise DataError("nothing to evaluate: pass y_pred, or scores with classes, or both")
    if scores is not None and classes is None:
        raise DataError("scores need classes: the names of their columns, in order")
    truth = read_labels(y_true, Vocabulary(classes), "y_true", classes)
    predicted = None if y_pred is None else read_labels(y_pred, Vocabulary(classes), "y_pred", classes)
    multilabel = not truth.single or (predicted is not None and not predicted.single)
    options: dict[str, Any] = {"taxonomy": taxonomy, "sample_weight": sample_weight}
    summary: dict[str, Any] = {
        "rows": len(truth),
        "unlabelled_rows": int((truth.sizes == 0).sum()),
        "multilabel": multilabel,
    }
    if predicted is not None:
        for measure in (zero_one_loss, tree_loss, symmetric_difference_loss, micro_f1, macro_f1):
            summary[measure.__name__] = measure(y_true, y_pred, classes=classes, **options)
        over_ancestors = hierarchical_precision_recall_f1(y_true, y_pred, classes=classes, **options)
        summary |= {f"hierarchical_{name}": value for name, value in over_ancestors._asdict().items()}
        if taxonomy is not None and taxonomy.is_tree and not multilabel:
            summary["h_loss"] = h_loss(y_true, y_pred, **options)
        if taxonomy is not None and predicted.single:
            levels = accuracy_by_level(y_true, y_pred, **options)
            summary["accuracy_by_level"] = {str(depth): accuracy for depth, accuracy in levels.items()}
    if scores is not None or (predicted is not None and predicted.single):
        top: dict[str, Any] = {"scores": y_pred} if scores is None else {"scores": scores, "classes": classes}
        for top_measure in (one_accuracy, top_loss, *([parent_accuracy] if taxonomy is not None else [])):
            summary[top_measure.__name__] = top_measure(y_true, **top, **options)
    if scores is not None and classes is not None:
        for ranking_measure in (average_precision, ranking_loss):
            summary[ranking_measure.__name__] = ranking_measure(
                y_true, scores, classes, sample_weight=sample_weight
            )
        summary["maximal_loss"] = maximal_loss(y_true, scores, classes, **options)
    return summary
