"""Wang's tables 2.1 to 2.3: flat SVM, HSVM_c, HSVM and HPSI on stripes and quadrants.

python -m reproductions.wang_simulated [repetitions] [test points]

Each repetition draws points, fits every method for a grid of C, and takes the least test error over the
grid for each loss, as the document does. It has 100 repetitions, 50,000 test points and 61 values of C from
0.001 to 1000; here there are fewer of each, and C is between 0.1 and 100. HSVM_c is the machine of Cai and
Hofmann, here with a bias. Losses are zero-one, the symmetric difference divided by 6, with which the printed
figures of both examples agree, and the H-losses by siblings (twice C.9) and by subtrees.
"""

from __future__ import annotations

import os
import sys

# one thread, before any library starts its own
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import margrove as mg

GRID = 10.0 ** np.linspace(-1, 2, 4)
METHODS = ("SVM", "HSVM_c", "HSVM", "HPSI")
LOSSES = ("0-1", "sym", "sib", "sub")
PRINTED: Mapping[tuple[str, int, str], tuple[tuple[float, ...], ...]] = {
    ("stripes", 100, "linear"): (
        (0.326, 0.179, 0.148, 0.122),
        (0.322, 0.169, 0.148, 0.120),
        (0.198, 0.105, 0.086, 0.070),
        (0.194, 0.102, 0.086, 0.068),
    ),
    ("stripes", 100, "gaussian"): (
        (0.303, 0.208, 0.134, 0.110),
        (0.312, 0.165, 0.128, 0.109),
        (0.204, 0.112, 0.087, 0.069),
        (0.190, 0.102, 0.085, 0.063),
    ),
    ("quadrants", 50, "linear"): (
        (0.344, 0.183, 0.275, 0.251),
        (0.334, 0.178, 0.267, 0.242),
        (0.312, 0.165, 0.247, 0.225),
        (0.287, 0.151, 0.227, 0.207),
    ),
    ("quadrants", 150, "linear"): (
        (0.282, 0.152, 0.228, 0.210),
        (0.273, 0.147, 0.220, 0.201),
        (0.259, 0.139, 0.209, 0.192),
        (0.236, 0.127, 0.190, 0.175),
    ),
    ("quadrants", 150, "gaussian"): (
        (0.280, 0.151, 0.226, 0.208),
        (0.276, 0.149, 0.223, 0.205),
        (0.270, 0.145, 0.218, 0.201),
        (0.261, 0.140, 0.209, 0.191),
    ),
}
"""By method and loss."""


def made(method: str, taxonomy: mg.Taxonomy, C: float, kernel: Any) -> Any:
    """The estimator of a method."""
    if method == "HSVM_c":
        return mg.HierarchicalSVM(
            taxonomy, C, kernel=kernel, cost="symmetric-difference", fit_intercept=True, max_iter=2000
        )
    tree = "flat" if method == "SVM" else taxonomy
    return mg.PathMarginSVM(
        tree, C, loss="psi" if method == "HPSI" else "hinge", kernel=kernel, max_iter=2000
    )


def cost_tables(taxonomy: mg.Taxonomy, classes: list[int]) -> np.ndarray:
    """A matrix of costs for each loss."""
    costs = ("zero-one", "symmetric-difference", "h-loss-sibling", "h-loss")
    tables = np.array([mg.costs.get(cost).bind(taxonomy, classes).matrix() for cost in costs])
    tables[1] /= 6
    tables[2] *= 2
    return tables


def errors(problem: str, n: int, kernel: str, seed: int, n_test: int) -> np.ndarray:
    """The least over the grid of each test error, methods x losses."""
    make = mg.datasets.make_stripes if problem == "stripes" else mg.datasets.make_quadrants
    train, test = make(n, random_state=seed), make(n_test, random_state=10_000 + seed)
    classes = sorted(set(test.y.tolist()))
    tables = cost_tables(train.taxonomy, classes)
    least = np.ones((len(METHODS), len(LOSSES)))
    right = np.searchsorted(classes, test.y)
    for m, method in enumerate(METHODS):
        for C in GRID:
            model = made(method, train.taxonomy, float(C), kernel).fit(train.X, train.y)
            found = np.searchsorted(classes, model.predict(test.X))
            least[m] = np.minimum(least[m], tables[:, right, found].mean(axis=1))
    return least


def table(problem: str, n: int, kernel: str, repetitions: int, n_test: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error of each test error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        values = np.array([errors(problem, n, kernel, seed, n_test) for seed in range(repetitions)])
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(repetitions)


def main(repetitions: int = 10, n_test: int = 5000) -> None:
    """Print ours, its standard error and the document's figure for each method and loss."""
    for (problem, n, kernel), printed in PRINTED.items():
        mean, error = table(problem, n, kernel, repetitions, n_test)
        print(
            f"\n{problem}, {n} points, {kernel}; {repetitions} repetitions: ours (standard error) | document"
        )
        print(f"{'':8}" + "".join(f"{loss:>23}" for loss in LOSSES))
        for m, method in enumerate(METHODS):
            cells = [
                f"{mean[m, k]:9.3f} ({error[m, k]:.3f}) |{printed[m][k]:5.3f}" for k in range(len(LOSSES))
            ]
            print(f"{method:8}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
