"""The hierarchical SVM on problems with a taxonomy, beside the flat SVM of the same engine."""

from __future__ import annotations

import resource
from typing import Any

import numpy as np

import margrove as mg
from benchmarks.liblinear import timed
from benchmarks.problems import Problem


def measure(problem: Problem, repeats: int = 2) -> dict[str, Any]:
    """Seconds to a relative gap of 1 %, what it predicts, and the same for the flat SVM, in turns."""
    models = {
        "hierarchical": mg.HierarchicalSVM(taxonomy=problem.taxonomy, tol=0.01),
        "flat": mg.HierarchicalSVM(taxonomy="flat", cost="zero-one", tol=0.01),
    }
    timed(models["hierarchical"], problem.X[:200], problem.y[:200])  # loads compiled kernels
    result: dict[str, Any] = {"problem": problem.name, "rows": problem.X.shape[0]}
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(repeats):
        for name, model in models.items():
            seconds[name].append(timed(model, problem.X, problem.y)[0])
    for name, model in models.items():
        result[f"{name}_seconds"] = min(seconds[name])
        result[f"{name}_relative_gap"] = model.certificate_.relative_gap
        result[f"{name}_accuracy"] = float(np.mean(model.predict(problem.X_test) == problem.y_test))
    result["ratio"] = result["flat_seconds"] / result["hierarchical_seconds"]
    result["peak_megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return result
