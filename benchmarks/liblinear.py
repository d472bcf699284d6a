"""The flat SVM against liblinear's multi-class solver (Crammer and Singer), brought to the same primal value.

Both minimise the same function. Margrove stops at its proven gap; liblinear, which proves nothing, gets the
loosest of its own tolerances at which its primal is no higher.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import margrove as mg
from benchmarks.problems import Problem


def primal(W: Any, X: Any, y: np.ndarray, C: float) -> float:
    """1/2 |W|^2 + C sum of the largest violations, for W classes x features."""
    scores = X @ W.T
    rows = np.arange(len(y))
    right = scores[rows, y].copy()
    scores += 1
    scores[rows, y] -= 1
    return float(0.5 * np.sum(W**2) + C * np.sum(scores.max(axis=1) - right))


def timed(model: Any, X: Any, y: Any) -> tuple[float, Any]:
    """Seconds to fit."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        model.fit(X, y)
    return time.process_time() - start, model


TOLERANCES = (1.0, 0.7, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01)


def liblinear(tol: float, C: float) -> LinearSVC:
    """Crammer and Singer's SVM without a bias."""
    return LinearSVC(multi_class="crammer_singer", C=C, fit_intercept=False, tol=tol, random_state=0)


def compare(problem: Problem, C: float = 1.0, repeats: int = 3) -> dict[str, Any]:
    """Time both, in turns, best of each; the first fit of all, which loads compiled kernels, apart."""
    y = np.unique(problem.y, return_inverse=True)[1]
    ours = mg.HierarchicalSVM(taxonomy="flat", cost="zero-one", C=C, tol=0.01)
    cold, _ = timed(ours, problem.X[:200], y[:200])
    times = [timed(ours, problem.X, y)[0]]
    target = ours.certificate_.primal
    for tol in TOLERANCES:
        seconds, model = timed(liblinear(tol, C), problem.X, y)
        value, theirs = primal(model.coef_, problem.X, y, C), [seconds]
        if value <= target:
            break
    for _ in range(repeats - 1):
        times.append(timed(ours, problem.X, y)[0])
        theirs.append(timed(liblinear(tol, C), problem.X, y)[0])
    return {
        "problem": problem.name,
        "rows": problem.X.shape[0],
        "features": problem.X.shape[1],
        "classes": int(y.max()) + 1,
        "margrove_seconds": min(times),
        "margrove_first_fit_seconds": cold,
        "liblinear_seconds": min(theirs),
        "liblinear_tol": tol,
        "margrove_primal": target,
        "liblinear_primal": value,
        "margrove_relative_gap": ours.certificate_.relative_gap,
        "ratio": min(theirs) / min(times),
    }
