"""Methods by their names and the options that were given."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from margrove.cli.status import CommandError, Status
from margrove.errors import MargroveError

METHODS: Mapping[str, str] = {
    "hierarchical-svm": "HierarchicalSVM",
    "flat": "HierarchicalSVM",
    "hierarchical-perceptron": "HierarchicalPerceptron",
    "hieron": "Hieron",
    "path-margin-svm": "PathMarginSVM",
    "subtree-perceptron": "SubtreePerceptron",
    "subtree-svm": "SubtreeSVM",
    "divide-and-conquer-svm": "DivideAndConquerSVM",
    "transfer-svm": "TransferSVM",
    "orthogonal-transfer-svm": "OrthogonalTransferSVM",
}
"""The estimator of each method that can be trained; `flat` is that without a taxonomy."""

_OPTIONS = {"random_state": "seed", "n_jobs": "threads", "max_iter": "max-iter"}


def make_estimator(method: str, taxonomy: Any, **settings: Any) -> Any:
    """Return an estimator, unless it does not have one of the settings, or that has an unknown name."""
    from margrove import similarity
    from margrove.taxonomy import attributes, costs

    estimator_class = getattr(importlib.import_module("margrove"), METHODS[method])
    known = estimator_class._get_param_names()
    for name in settings:
        if name not in known:
            wrong = f"--{_OPTIONS.get(name, name)} is no option of {method}"
            others = ", ".join(sorted(set(known) - {"taxonomy"}))
            raise CommandError(Status.WRONG_CALL, f"{wrong}, which has: {others}")
    for name, room in (("cost", costs), ("attributes", attributes), ("kernel", similarity)):
        try:
            if name in settings:
                room.get(settings[name])
        except MargroveError as error:
            raise CommandError(Status.WRONG_CALL, f"--{name}: {error}") from error
    return estimator_class(taxonomy, **settings)


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Read NAME=VALUE; a value is a number, true, false or null, and else text."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise CommandError(Status.WRONG_CALL, f"--set {text}: expected NAME=VALUE")
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = value
        settings[name] = value if isinstance(parsed, list | dict) else parsed
    return settings
