"""Wang, Table 3.1: test errors where confusing two of three classes costs four times as much.

    python -m reproductions.wang_3_6_1 [--repetitions 100]

Of each method the least test error over C = 10^(i/2), i = -4, .., 5, as in section 3.6.1: mean and standard
deviation over repetitions. For MSVM the optimum of (3.4) is zero in every one of them (maths.md, N.5, and
Readings), so it gives all points one class; its figure in print is not reached that way.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import margrove as mg
from margrove.errors import ZeroModelWarning

CS = tuple(10.0 ** (k / 2) for k in range(-4, 6))
PRINTED = {"EMSVM": (0.625, 0.087), "SMSVM": (0.623, 0.072), "MSVM": (0.581, 0.075)}
METHODS = {"EMSVM": "equal", "SMSVM": "rescaled", "MSVM": "decisions", "ranked (N.7)": "ranked"}
ROUNDS = 2000  # at most, for one C


def least_error(problem: Any, test: Any, method: str, Cs: Sequence[float] = CS) -> float:
    """The least mean cost on the test points, along a warm-started path."""
    model = mg.CostSensitiveSVM(problem.costs, method=method, warm_start=True, max_iter=ROUNDS)
    errors = []
    for C in Cs:
        predicted = model.set_params(C=C).fit(problem.X, problem.y).predict(test.X)
        errors.append(test.costs[test.y - 1, predicted - 1].mean())
    return float(min(errors))


def table(repetitions: int, n: int = 300, n_test: int = 50_000, Cs: Sequence[float] = CS) -> dict[str, Any]:
    """Errors by method (repetitions each), and that of the Bayes rule."""
    errors: dict[str, list[float]] = {name: [] for name in [*METHODS, "Bayes rule"]}
    for seed in range(repetitions):
        problem = mg.datasets.make_three_gaussians(n, random_state=seed)
        test = mg.datasets.make_three_gaussians(n_test, random_state=10_000 + seed)
        for name, method in METHODS.items():
            errors[name].append(least_error(problem, test, method, Cs))
        best = test.bayes_rule(test.X)
        errors["Bayes rule"].append(float(test.costs[test.y - 1, best - 1].mean()))
        print(f"{seed + 1} of {repetitions}", file=sys.stderr)
    return errors


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5, help="100 in the document")
    parser.add_argument("--largest", type=float, default=CS[-1], help="the largest C to try")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", ZeroModelWarning)
    warnings.simplefilter("ignore", ConvergenceWarning)
    errors = table(options.repetitions, Cs=[C for C in CS if options.largest >= C])
    print(f"{'':14}{'printed':>16}{'here':>16}   of {options.repetitions} repetitions")
    for name, values in errors.items():
        printed = "{:.3f} ({:.3f})".format(*PRINTED[name]) if name in PRINTED else ""
        print(f"{name:14}{printed:>16}{np.mean(values):>8.3f} ({np.std(values):.3f})")


if __name__ == "__main__":
    main()
