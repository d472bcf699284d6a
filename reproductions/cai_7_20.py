"""Cai's table 7.20: averaged flat and hierarchical perceptrons and Hierons on few posts of Newsgroups.

python -m reproductions.cai_7_20 [--whole] [posts a class ...]

Posts are without headers, quotes and footers. The document does not say so of its own: `--whole` keeps them.

As many posts of each class as told are drawn for training, all others are for testing, ten times. So few
posts are ranked rightly after about five epochs, and the order of the examples matters: each value of a
repetition is the mean of that after five orders, the same ones for both taxonomies. Beside the means stands
how probable as large a difference of hierarchical and flat is by luck (M.24, over the ten repetitions).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import margrove as mg
from reproductions.newsgroups import Posts, posts

REPETITIONS = 10
ORDERS = 5
EPOCHS = 20
MEASURES: Mapping[str, Callable[..., float]] = {
    "acc": lambda y, F, classes, tax: mg.metrics.one_accuracy(y, F, classes),
    "prec": lambda y, F, classes, tax: mg.metrics.average_precision(y, F, classes),
    "tree loss": lambda y, F, classes, tax: mg.metrics.top_loss(y, F, classes, tax),
    "pacc": mg.metrics.parent_accuracy,
}
PRINTED = {
    (10, "Hieron"): ((35.2, 34.9), (50.3, 52.7), (1.08, 0.98), (57.0, 67.5)),
    (10, "HierarchicalPerceptron"): ((36.2, 38.2), (51.4, 54.9), (1.05, 0.96), (59.2, 65.4)),
    (20, "Hieron"): ((46.8, 44.5), (60.7, 61.5), (0.83, 0.79), (70.0, 76.3)),
    (20, "HierarchicalPerceptron"): ((46.1, 47.7), (59.9, 63.2), (0.85, None), (69.3, 73.6)),
}
"""Flat and hierarchical, by measure; one loss is misprinted."""


def repeat(data: Posts, per_class: int, method: Any) -> dict[str, np.ndarray]:
    """Values of each measure, repetitions x (flat, hierarchical)."""
    values: dict[str, list[np.ndarray]] = {name: [] for name in MEASURES}
    for repetition in range(REPETITIONS):
        rng = np.random.default_rng(repetition)
        groups = [rng.permutation(np.flatnonzero(data.y == group)) for group in np.unique(data.y)]
        train = np.concatenate([members[:per_class] for members in groups])
        test = np.concatenate([members[per_class:] for members in groups])
        pairs = np.zeros((len(MEASURES), 2))
        for order in range(ORDERS):
            for side, taxonomy in enumerate(("flat", data.taxonomy)):
                model = method(taxonomy, max_iter=EPOCHS, random_state=ORDERS * repetition + order)
                F = model.fit(data.X[train], data.y[train]).decision_function(data.X[test])
                for k, measure in enumerate(MEASURES.values()):
                    pairs[k, side] += measure(data.y[test], F, model.classes_, data.taxonomy) / ORDERS
        for name, pair in zip(MEASURES, pairs, strict=True):
            values[name].append(pair)
    return {name: np.array(pairs) for name, pairs in values.items()}


def main(sizes: list[int], whole: bool) -> None:
    """Print the table."""
    data = posts(whole)
    print(
        f"{data.X.shape[0]} posts, {data.X.shape[1]} words, {len(np.unique(data.y))} groups, {EPOCHS} epochs"
    )
    print(f"{'t':>3} {'method':24}{'measure':11}{'flat':>8}{'hier.':>8}{'p':>9}   printed: flat, hier.")
    for per_class in sizes:
        for method in (mg.HierarchicalPerceptron, mg.Hieron):
            values = repeat(data, per_class, method)
            printed = PRINTED.get((per_class, method.__name__), (("-", "-"),) * len(MEASURES))
            for (name, pairs), then in zip(values.items(), printed, strict=True):
                factor = 1 if name == "tree loss" else 100
                flat, hierarchical = factor * pairs.mean(axis=0)
                test = mg.metrics.paired_permutation_test(pairs[:, 1], pairs[:, 0])
                print(
                    f"{per_class:3} {method.__name__:24}{name:11}{flat:8.2f}{hierarchical:8.2f}"
                    f"{test.p_value:9.3g}   {then[0]}, {then[1] or '?'}",
                    flush=True,
                )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main([int(size) for size in arguments if size != "--whole"] or [10, 20], "--whole" in arguments)
