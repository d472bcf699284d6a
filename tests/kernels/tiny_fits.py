"""Run as a program: tiny fits of every kind, and a few strings. Prints their objectives and every kernel's
signatures, as JSON.

Takes the tolerances to fit to; 1e-2 runs in single precision, 1e-6 in double.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import margrove as mg
from margrove.kernels import block, online, passes, scores, strings, subtrees
from margrove.similarity.strings import encode
from oracles.problems import mixed_case


def signatures():
    """The signatures of every compiled kernel as text; a whole number known in advance is a whole number."""
    from numba import types

    found = {}
    for room in (block, online, passes, scores, strings, subtrees):
        for name, function in vars(room).items():
            if hasattr(function, "signatures"):
                plain = {tuple(map(types.unliteral, signature)) for signature in function.signatures}
                found[name] = sorted(str(signature) for signature in plain)
    return found


def objectives(tolerances):
    found = []
    for tol in tolerances:
        for k in range(12):
            case = mixed_case(k)
            model = case.estimator(tol=tol, max_iter=30, n_jobs=1 + k % 2, warm_start=True)
            for C in (case.C, case.C / 2):
                model.set_params(C=C).fit(case.X.astype(np.float32), case.y, case.weight)
            found.append(model.certificate_.primal)
    return found


def sets_of_nodes():
    """Fits over closed sets, whose kernels have double precision alone."""
    case = mixed_case(0)
    X, y = case.X.astype(np.float32), [[label] for label in mixed_case(0).y]
    found = []
    for kernel in ("linear", "gaussian"):
        perceptron = mg.SubtreePerceptron(max_iter=20, kernel=kernel).fit(X, y)
        assert perceptron.n_iter_ == 20
        for settings in ({}, {"algorithm": "marginal"}, {"scaling": "slack"}):
            model = mg.SubtreeSVM(kernel=kernel, tol=0.05, **settings).fit(X, y)
            found.append(model.certificate_.primal)
    return found


def perceptrons(tolerances):
    """The weights of every rule, by weights and by similarities; single precision for a large tolerance."""
    found = []
    for tol in tolerances:
        for k in range(6):
            case = mixed_case(k)
            X = case.X.astype(np.float32 if tol >= 1e-4 else np.float64)
            options = {"cost": case.cost_spec(), "attributes": case.attribute_spec(), "max_iter": 2}
            models = [
                mg.HierarchicalPerceptron(case.taxonomy, **options),
                mg.HierarchicalPerceptron(case.taxonomy, "minover", **options),
                mg.Hieron(case.taxonomy, **options),
                mg.Hieron(case.taxonomy, averaged=False, **options),
            ]
            found += [float(abs(model.fit(X, case.y).weights_).sum()) for model in models]
    return found


def subsequences():
    pair = encode(["abcab", "bcacbaab"])
    a, b = np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32)
    return strings.subsequence_pairs(pair, pair, a, b, 3, 0.5).tolist()


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # fits cut short; kernels that cannot be cached with bounds checked
    result = {"objectives": objectives(map(float, sys.argv[1:])), "subsequences": subsequences()}
    result["sets"] = sets_of_nodes()
    result["perceptrons"] = perceptrons(map(float, sys.argv[1:]))
    result["signatures"] = signatures()
    print(json.dumps(result))
