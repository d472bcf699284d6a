"""Do probabilities mean what they say? Calibration errors by level, and what probabilities cost and bring."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import margrove as mg
from benchmarks.problems import Problem

BATCH = 200  # rows that are also predicted one by one
CONFIDENCE = 0.9


def measure(problem: Problem) -> dict[str, Any]:
    """For both outputs: the top-label calibration error at each depth (M.27), and accuracies.

    On ICD-10-CM the rows of the test, synonyms, are not like the training rows, mostly descriptions. The
    figures "of_like" are those where probabilities are learned from the training rows of the test's kind.
    """
    result: dict[str, Any] = {"problem": problem.name, "rows": problem.X.shape[0]}
    for name, estimator in {
        "ranking": mg.HierarchicalSVM(problem.taxonomy),
        "descent": mg.DivideAndConquerSVM(problem.taxonomy),
    }.items():
        for kind, options in _ways(problem).items():
            model = mg.CalibratedTaxonomyClassifier(estimator)
            start = time.process_time()
            model.fit(problem.X, problem.y, **options)
            seconds = time.process_time() - start
            found = _measure(model, problem) | {"fit_seconds": seconds}
            result |= {f"{name}{kind}_{key}": value for key, value in found.items()}
    return result


def _ways(problem: Problem) -> dict[str, dict[str, Any]]:
    """What to learn the probabilities from: all rows, and those like the rows to come where this is known."""
    ways: dict[str, dict[str, Any]] = {"": {}}
    return (
        ways if problem.like_test is None else ways | {"_of_like": {"calibration_weight": problem.like_test}}
    )


def _measure(model: Any, problem: Problem) -> dict[str, Any]:
    X, y, taxonomy = problem.X_test, problem.y_test, model.taxonomy_
    P = model.predict_proba(X)
    errors = mg.metrics.calibration_error_by_level(y, P, model.classes_, taxonomy)
    found: dict[str, Any] = {f"ece_depth_{depth}": error for depth, error in errors.items()}
    many = model.node_probabilities(X[:BATCH])
    one = np.vstack([model.node_probabilities(X[i : i + 1]) for i in range(len(many))])
    found["batch_difference"] = float(np.abs(many - one).max())
    for decode in ("steps", "best-path"):
        start = time.process_time()
        predicted = model.set_params(decode=decode).predict(X)
        found[f"{decode}_seconds"] = time.process_time() - start
        found[f"{decode}_accuracy"] = float(np.mean(predicted == y))
    stopped = model.predict(X, confidence=CONFIDENCE)
    found["containment"] = mg.metrics.containment(y, stopped, taxonomy)
    found["classes_predicted"] = float(np.isin(stopped, model.classes_).mean())
    return found
