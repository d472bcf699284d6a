"""A warm-started path over C beside a separate fit for each C, on a part of each problem's rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

import margrove as mg
from benchmarks.liblinear import timed
from benchmarks.problems import Problem

CS = tuple(10.0 ** (k / 2) for k in range(-4, 5))
ROWS = 5000


def compare(problem: Problem) -> dict[str, Any]:
    """Seconds of processor time of both, in turns, and by how much their objectives differ."""
    rows = np.random.default_rng(0).permutation(problem.X.shape[0])[:ROWS]
    X, y = problem.X[rows], np.asarray(problem.y)[rows]
    warm = mg.HierarchicalSVM(taxonomy=problem.taxonomy, max_iter=1000, warm_start=True)
    cold = clone(warm).set_params(warm_start=False)
    timed(clone(cold), X[:200], y[:200])  # loads compiled kernels
    result: dict[str, Any] = {"problem": problem.name, "rows": len(rows), "values of C": len(CS)}
    seconds = {"apart": 0.0, "path": 0.0}
    differences = []
    for C in CS:
        for name, model in (("apart", cold), ("path", warm)):
            seconds[name] += timed(model.set_params(C=C), X, y)[0]
        differences.append(warm.certificate_.primal / cold.certificate_.primal - 1)
    result |= {f"{name}_seconds": value for name, value in seconds.items()}
    return result | {
        "ratio": seconds["apart"] / seconds["path"],
        "largest_difference": float(max(map(abs, differences))),
    }
