"""How many classes a row has: a threshold on the ranking, learned from scores of rows that were held out.

After Elisseeff and Weston, to whom Cai's section 4.2.1 refers (L.1-L.3): the best cut of each row's ranking
is regressed, linearly, on its scores. The scores go in sorted, so that the rule has a few numbers whatever
the classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZE = 16  # of the ranking, as the rule sees it
RIDGE = 1e-3


@dataclass(frozen=True)
class Threshold:
    """t(F) = coefficients . (largest scores of F, sorted; 1). Classes above it are predicted."""

    coefficients: NDArray[np.float64]
    at_least_one: bool

    @classmethod
    def fit(cls, scores: NDArray[Any], Y: Any, weight: NDArray[np.float64]) -> Threshold:
        """Learn from rows with their scores, right classes (CSR indicators) and weights."""
        gram, right = normal_equations(scores, Y, weight)
        return cls.solve(gram, right, bool((np.diff(Y.indptr) > 0).all()))

    @classmethod
    def solve(cls, gram: NDArray[Any], right: NDArray[Any], at_least_one: bool) -> Threshold:
        """From the sums of `normal_equations`."""
        ridge = RIDGE * max(np.trace(gram) / len(gram), np.finfo(float).tiny)
        penalty = ridge * np.eye(len(gram))
        penalty[-1, -1] = 0.0  # the constant goes free
        return cls(np.linalg.lstsq(gram + penalty, right, rcond=None)[0], at_least_one)

    def predict(self, scores: NDArray[Any]) -> NDArray[np.bool_]:
        """Which classes each row has."""
        chosen: NDArray[np.bool_] = scores > (_features(scores) @ self.coefficients)[:, None]
        if self.at_least_one and scores.shape[1]:
            none = np.flatnonzero(~chosen.any(axis=1))
            chosen[none, scores[none].argmax(axis=1)] = True
        return chosen


def normal_equations(
    scores: NDArray[Any], Y: Any, weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What (L.2) needs to know of these rows: a matrix and a vector, which add up over parts of the rows."""
    features = _features(scores)
    target = best_cuts(scores, Y)
    root = np.sqrt(weight)[:, None]
    return (features * root).T @ (features * root), (features * root).T @ (target * root[:, 0])


def n_coefficients(n_classes: int) -> int:
    """How many numbers the rule has."""
    return min(SIZE, n_classes) + 1


def _features(scores: NDArray[Any]) -> NDArray[np.float64]:
    """The largest scores of each row, sorted, and a one."""
    k = min(SIZE, scores.shape[1])
    largest = -np.sort(-np.partition(scores, -k, axis=1)[:, -k:], axis=1) if k else scores
    return np.hstack([largest.astype(np.float64), np.ones((len(scores), 1))])


def best_cuts(scores: NDArray[Any], Y: Any) -> NDArray[np.float64]:
    """The cut of each row that gets the fewest classes wrong, in the middle between its two neighbours.

    Of equally good cuts the highest is taken, but below the first of the ranking where the row has a class at
    all. Beyond its ends the ranking is taken to go on at its mean gap (L.1): cuts there must not be outliers.
    """
    n, q = scores.shape
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores.astype(np.float64), order, axis=1)
    right = np.take_along_axis(Y.toarray() > 0, order, axis=1)
    # mistakes of predicting the first k of the ranking, k = 0 .. q: right ones missed, wrong ones taken
    gain = np.where(right, -1, 1)
    mistakes = np.hstack([np.zeros((n, 1), np.int64), np.cumsum(gain, axis=1)])
    mistakes[right.any(axis=1), 0] = q + 1
    k = mistakes.argmin(axis=1)
    gap = (ranked[:, :1] - ranked[:, -1:]) / max(q - 1, 1)
    gap[gap == 0] = 1.0
    padded = np.hstack([ranked[:, :1] + gap, ranked, ranked[:, -1:] - gap])
    rows = np.arange(n)
    cuts: NDArray[np.float64] = 0.5 * (padded[rows, k] + padded[rows, k + 1])
    return cuts
