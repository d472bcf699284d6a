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
    "cost-sensitive-svm": "CostSensitiveSVM",
}
"""The estimator of each method that can be trained; `flat` is that without a taxonomy."""

_OPTIONS = {"random_state": "seed", "n_jobs": "threads", "max_iter": "max-iter", "costs": "cost"}


def make_estimator(method: str, taxonomy: Any, /, **settings: Any) -> Any:
    """Return an estimator, unless it does not have one of the settings, or that has an unknown name."""
    from margrove import similarity
    from margrove.taxonomy import attributes, costs

    estimator_class = getattr(importlib.import_module("margrove"), METHODS[method])
    known = estimator_class._get_param_names()
    if "cost" in settings and "costs" in known:
        settings["costs"] = settings.pop("cost")
    for name in settings:
        if name not in known:
            wrong = f"--{_OPTIONS.get(name, name)} is no option of {method}"
            others = ", ".join(sorted(set(known) - {"taxonomy"}))
            raise CommandError(Status.WRONG_CALL, f"{wrong}, which has: {others}")
    rooms = dict.fromkeys(("cost", "costs", "target_cost"), costs)
    rooms |= {"attributes": attributes, "kernel": similarity}
    for name, room in rooms.items():
        try:
            if name == "cost" and isinstance(settings.get(name), Mapping):
                settings[name] = _named_matrix(settings[name])
            elif name in settings and not isinstance(settings[name], Mapping):
                room.get(settings[name])
        except MargroveError as error:
            raise CommandError(Status.WRONG_CALL, f"--{_OPTIONS.get(name, name)}: {error}") from error
    return estimator_class(taxonomy=taxonomy, **settings)


def _named_matrix(table: Mapping[str, Mapping[str, float]]) -> Any:
    from margrove.taxonomy import costs

    return costs.matrix([[row[name] for name in table] for row in table.values()], list(table))


def with_descriptions(specified: str | None, texts: Mapping[str, str]) -> Any:
    """Attributes by their name, or the usual ones, and descriptions beside them."""
    from margrove.taxonomy import attributes

    if specified == attributes.LEARNED:
        return attributes.learned(attributes.descriptions(texts))
    try:
        beside: dict[str, Any] = {} if specified is None else {"beside": attributes.get(specified)}
    except MargroveError as error:
        raise CommandError(Status.WRONG_CALL, f"--attributes: {error}") from error
    return attributes.descriptions(texts, **beside)


def with_probabilities(estimator: Any) -> Any:
    """Return an estimator that learns calibrated probabilities beside."""
    from margrove.classifiers import CalibratedTaxonomyClassifier

    return CalibratedTaxonomyClassifier(estimator)


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Read NAME=VALUE; a value is a number, true, false or null, and else text."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise CommandError(Status.WRONG_CALL, f"--set {text}: expected NAME=VALUE")
        if name == "taxonomy":
            raise CommandError(Status.WRONG_CALL, f"--set {text}: a taxonomy is given by --taxonomy FILE")
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = value
        settings[name] = value if isinstance(parsed, list | dict) else parsed
    return settings
