"""Classes without a training row: how often they are found by what describes them, or by ancestors alone."""

from __future__ import annotations

from typing import Any

import numpy as np

import margrove as mg
from benchmarks.liblinear import timed
from benchmarks.problems import UnseenProblem


def measure(problem: UnseenProblem) -> dict[str, Any]:
    """The share of rows of unseen classes found: among the unseen classes, and among all."""
    unseen = sorted(set(problem.y_test))
    result: dict[str, Any] = {
        "problem": problem.name,
        "test_rows": problem.X_test.shape[0],
        "unseen_classes": len(unseen),
        "classes": len(problem.taxonomy.classes),
        "chance_among_unseen": 1 / len(unseen),
    }
    ways = {
        "ancestors": "depth-scaled",
        "titles": mg.attributes.descriptions(problem.titles),
        "titles_most": mg.attributes.descriptions(problem.titles, part=0.9),
        "texts": mg.attributes.descriptions(problem.texts),
        "texts_learned": mg.attributes.learned(mg.attributes.descriptions(problem.texts)),
    }
    for name, attributes in ways.items():
        model = mg.HierarchicalSVM(problem.taxonomy, attributes=attributes, classes="taxonomy", tol=0.05)
        result[f"{name}_seconds"], _ = timed(model, problem.X, problem.y)
        scores = model.decision_function(problem.X_test)
        mine = np.isin(model.classes_, unseen)
        among = model.classes_[mine][scores[:, mine].argmax(axis=1)]
        first_five = model.classes_[np.argsort(-scores, axis=1)[:, :5]]
        predicted = model.classes_[scores.argmax(axis=1)]
        result[f"{name}_among_unseen"] = float(np.mean(among == problem.y_test))
        result[f"{name}_among_all"] = float(np.mean(predicted == problem.y_test))
        result[f"{name}_in_first_five"] = float((first_five == problem.y_test[:, None]).any(axis=1).mean())
        result[f"{name}_tree_loss"] = mg.metrics.tree_loss(problem.y_test, predicted, problem.taxonomy)
    return result
