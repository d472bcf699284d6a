"""What was done and how well it went: a plain dictionary first, HTML second."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "certificate_line": "margrove.report.certificate",
    "certificate_summary": "margrove.report.certificate",
    "check_labels": "margrove.report.labels",
    "class_scores": "margrove.report.evaluation",
    "compare_methods": "margrove.report.comparison",
    "describe_model": "margrove.report.model",
    "evaluate_classifier": "margrove.report.evaluation",
    "evaluate_model": "margrove.report.evaluation",
    "example_predictions": "margrove.report.comparison",
    "one_label_each": "margrove.report.labels",
    "render_html": "margrove.report.html",
    "representative_rows": "margrove.report.comparison",
}

__all__ = [
    "certificate_line",
    "certificate_summary",
    "check_labels",
    "class_scores",
    "compare_methods",
    "describe_model",
    "evaluate_classifier",
    "evaluate_model",
    "example_predictions",
    "one_label_each",
    "render_html",
    "representative_rows",
]

if TYPE_CHECKING:
    from margrove.report.certificate import certificate_line as certificate_line
    from margrove.report.certificate import certificate_summary as certificate_summary
    from margrove.report.comparison import compare_methods as compare_methods
    from margrove.report.comparison import example_predictions as example_predictions
    from margrove.report.comparison import representative_rows as representative_rows
    from margrove.report.evaluation import class_scores as class_scores
    from margrove.report.evaluation import evaluate_classifier as evaluate_classifier
    from margrove.report.evaluation import evaluate_model as evaluate_model
    from margrove.report.html import render_html as render_html
    from margrove.report.labels import check_labels as check_labels
    from margrove.report.labels import one_label_each as one_label_each
    from margrove.report.model import describe_model as describe_model


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'margrove.report' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
