"""How much to share, chosen on training rows alone: `sharing` (A.8), or learned weights (A.9-A.13).

The tree loss on test rows of the flat classifier, of fixed attributes, of the best `sharing` and the best
`power` by cross-validation, and of the better of these two by the same cross-validation.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

import margrove as mg
from benchmarks.problems import Problem

FLAT, FIXED = "sharing 0", "sharing 1"
SHARING: Mapping[str, Any] = {f"sharing {s:g}": {"sharing": s} for s in (0, 0.03, 0.1, 0.3, 1)}
LEARNED: Mapping[str, Any] = {f"power {p}": {"attributes": mg.attributes.learned(power=p)} for p in (1, 2, 4)}
CANDIDATES = {**SHARING, **LEARNED}


def compare(problem: Problem, folds: int = 3, C: float = 1.0) -> dict[str, Any]:
    """Choose by folds of the training rows, fit what was chosen to all of them, and measure on test rows."""
    began = time.process_time()
    labels = sorted(set(problem.y) | set(problem.y_test))
    taxonomy = problem.taxonomy or mg.Taxonomy.from_paths(labels)

    cost = mg.costs.tree().bind(taxonomy, taxonomy.classes)
    number = {node: k for k, node in enumerate(taxonomy.class_indices.tolist())}

    def numbers(y: Any) -> np.ndarray:
        return np.array([number[node] for node in taxonomy.indices(y).tolist()])

    def losses(settings: Mapping[str, Any], rows: Any, X: Any, y: Any, tol: float) -> np.ndarray:
        model = mg.HierarchicalSVM(taxonomy, C=C, tol=tol, **settings).fit(problem.X[rows], problem.y[rows])
        right, predicted = numbers(y), numbers(model.predict(X))
        return np.where(right == predicted, 0.0, cost.pairs(right, predicted))

    fold = np.random.default_rng(0).integers(folds, size=problem.X.shape[0])
    by_folds: dict[str, float] = {}
    for name, settings in CANDIDATES.items():
        held_out = [
            losses(settings, fold != k, problem.X[fold == k], problem.y[fold == k], tol=0.05)
            for k in range(folds)
        ]
        by_folds[name] = float(np.concatenate(held_out).mean())
    chosen = {
        "flat": FLAT,
        "fixed": FIXED,
        "sharing": min(SHARING, key=by_folds.__getitem__),
        "learned": min(LEARNED, key=by_folds.__getitem__),
    }
    everything = slice(None)
    on_test = {
        name: losses(CANDIDATES[name], everything, problem.X_test, problem.y_test, tol=0.01)
        for name in dict.fromkeys(chosen.values())
    }
    chosen["chosen"] = min((chosen["sharing"], chosen["learned"]), key=by_folds.__getitem__)
    rival = on_test[min((FLAT, FIXED), key=lambda name: on_test[name].mean())]
    difference = on_test[chosen["chosen"]] - rival
    return {
        "problem": problem.name,
        **{f"{way}_tree_loss": float(on_test[name].mean()) for way, name in chosen.items()},
        "chosen_less_better_fixed": float(difference.mean()),
        "standard_error": float(difference.std() / np.sqrt(len(difference))),
        "sharing_is": chosen["sharing"],
        "learned_is": chosen["learned"],
        "chosen_is": chosen["chosen"],
        "by_folds": by_folds,
        "cpu_seconds": time.process_time() - began,
    }
