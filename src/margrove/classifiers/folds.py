"""Parts of the training rows, held out in turn, so that each is scored by a fit that did not see it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
FOLDS = 3  # that hold out scores for what a fit learns beside its weights


def deal(n: int, k: int) -> Whole:
    """The fold that holds out each of n rows: k folds of equal size, and always the same ones."""
    return np.random.default_rng(0).permutation(n) % k


def deal_by_class(number: NDArray[np.integer], k: int, some: NDArray[np.bool_] | None = None) -> Whole:
    """The same for rows with the numbers of their classes, so that every class is in all that is learned.

    A class has its rows in different folds, and its only row in none (-1). Only `some` rows are held out.
    """
    shuffled = np.random.default_rng(0).permutation(len(number))
    order = shuffled[np.argsort(number[shuffled], kind="stable")]
    if some is not None:
        order = order[some[order]]
    fold = np.full(len(number), -1)
    fold[order] = np.arange(len(order)) % k  # the rows of a class one after another
    fold[np.bincount(number)[number] == 1] = -1
    return fold


def splits(fold: Whole) -> Iterator[tuple[Whole, Whole]]:
    """The rows to learn from and those held out, fold by fold; an only row is learned from all the same."""
    for k in range(int(fold.max(initial=-1)) + 1):
        out = np.flatnonzero(fold == k)
        if len(out):
            learn = np.flatnonzero(fold != k)
            yield learn if len(learn) else out, out
