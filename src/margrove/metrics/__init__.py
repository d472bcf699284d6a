"""Every measure, as a pure function of labels, predictions and scores (maths.md, M.1-M.15, M.21-M.28).

Measures of predictions are called `f(y_true, y_pred, taxonomy)`, measures of a ranking, or of its highest
label, `f(y_true, scores, classes, taxonomy)`. Labels are what the user has: one a row, or a list or set of
labels a row, or an indicator matrix with its `classes`. All but `average_precision_area` take
`sample_weight`. `paired_permutation_test` and `compare` tell differences from luck.
"""

from margrove.metrics.calibration import (
    calibration_error_by_level,
    containment,
    expected_calibration_error,
)
from margrove.metrics.f_measures import (
    PrecisionRecallF1,
    hierarchical_precision_recall_f1,
    macro_f1,
    micro_f1,
)
from margrove.metrics.losses import cost_loss, h_loss, symmetric_difference_loss, tree_loss, zero_one_loss
from margrove.metrics.nodes import average_precision_area, node_precision_recall_f1
from margrove.metrics.ranking import average_precision, maximal_loss, ranking_loss
from margrove.metrics.significance import compare, paired_permutation_test
from margrove.metrics.summary import evaluate
from margrove.metrics.top import (
    accuracy_by_level,
    level_accuracy,
    one_accuracy,
    parent_accuracy,
    top_loss,
)

__all__ = [
    "PrecisionRecallF1",
    "accuracy_by_level",
    "average_precision",
    "average_precision_area",
    "calibration_error_by_level",
    "compare",
    "containment",
    "cost_loss",
    "evaluate",
    "expected_calibration_error",
    "h_loss",
    "hierarchical_precision_recall_f1",
    "level_accuracy",
    "macro_f1",
    "maximal_loss",
    "micro_f1",
    "node_precision_recall_f1",
    "one_accuracy",
    "paired_permutation_test",
    "parent_accuracy",
    "ranking_loss",
    "symmetric_difference_loss",
    "top_loss",
    "tree_loss",
    "zero_one_loss",
]
