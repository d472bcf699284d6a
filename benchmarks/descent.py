"""Divide and conquer beside the hierarchical SVM, on one thread and on two."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import margrove as mg
from benchmarks.liblinear import timed
from benchmarks.problems import Problem


def measure(problem: Problem, repeats: int = 3) -> dict[str, Any]:
    """Seconds to a relative gap of 1 %, what it predicts, what a second thread is worth, in turns."""
    one, two = (mg.DivideAndConquerSVM(problem.taxonomy, tol=0.01, n_jobs=n_jobs) for n_jobs in (1, 2))
    whole = mg.HierarchicalSVM(problem.taxonomy, tol=0.01)
    for model in (one, whole):
        timed(model, problem.X[:200], problem.y[:200])  # loads compiled kernels
    seconds, ratios = [], []
    for _ in range(repeats):
        seconds.append(timed(one, problem.X, problem.y)[0])
        ratios.append(_elapsed(one, problem) / _elapsed(two, problem))
    hierarchical, _ = timed(whole, problem.X, problem.y)
    return {
        "problem": problem.name,
        "rows": problem.X.shape[0],
        "seconds": min(seconds),
        "relative_gap": one.certificate_.relative_gap,
        "accuracy": _accuracy(one, problem),
        "two_threads_ratio": max(ratios),
        "hierarchical_seconds": hierarchical,
        "hierarchical_accuracy": _accuracy(whole, problem),
        "ratio": hierarchical / min(seconds),
    }


def _elapsed(model: Any, problem: Problem) -> float:
    """Seconds on the wall, which threads share."""
    start = time.perf_counter()
    timed(model, problem.X, problem.y)
    return time.perf_counter() - start


def _accuracy(model: Any, problem: Problem) -> float:
    return float(np.mean(model.predict(problem.X_test) == problem.y_test))
