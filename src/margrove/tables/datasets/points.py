"""Random points in the plane whose classes have a known distribution: the simulated examples of Wang."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from margrove.errors import DataError
from margrove.taxonomy import Taxonomy

FloatArray = NDArray[np.float64]
Seed = int | np.random.Generator | None

_ABOVE_STRIPES = [(9, 1), (9, 2), (10, 3), (10, 4), (11, 5), (11, 6), (12, 7), (12, 8)]
_ABOVE_STRIPES += [(13, 9), (13, 10), (14, 11), (14, 12), (0, 13), (0, 14)]
_ABOVE_QUADRANTS = [(5, 1), (5, 2), (6, 3), (6, 4), (0, 5), (0, 6)]
_MOVED = 0.05  # the share of labels that go up by one, and of those that go down
_REDRAWN = 0.2  # the share of labels that are replaced by another
_CENTRES = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, -1.0]])
_UNEQUAL = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 4.0], [1.0, 4.0, 0.0]])


@dataclass(frozen=True)
class PointProblem:
    """Points with one label each, and what can be known about them: the chances of each class, and costs."""

    X: FloatArray = field(repr=False)
    y: NDArray[np.int64] = field(repr=False)
    """The classes are numbered from 1, as in the document."""
    taxonomy: Taxonomy
    costs: FloatArray = field(repr=False)
    """What a mistake costs: rows are right, columns predicted, in the order of the classes' numbers."""
    probabilities: Callable[[ArrayLike], FloatArray] = field(repr=False)
    """P(Y = k | x) for each row of an X, with a column for each class."""

    def bayes_rule(self, X: ArrayLike, costs: ArrayLike | None = None) -> NDArray[np.int64]:
        """The class of least expected cost for each row of X (M.20); no classifier does better."""
        matrix = self.costs if costs is None else np.asarray(costs, dtype=np.float64)
        best: NDArray[np.int64] = (self.probabilities(X) @ matrix).argmin(axis=1) + 1
        return best


def make_stripes(n: int = 100, *, random_state: Seed = None) -> PointProblem:
    """Eight stripes of the square under a binary tree of depth 3 (Wang 2.4.1, example 1; M.17).

    5 % of the labels are those of the next stripe, and 5 % those of the one before. The document's Bayes
    errors are 0.083 (zero-one), 0.036 (twice the sibling H-loss here) and 0.029 (subtree H-loss).

    Readings: its label "8 x1" has values from -7 to 8 where x1 is in (-1, 1), so the stripe is that of
    4 (x1 + 1), of which there are eight. The two shares are drawn apart from each other, and the second after
    the first, which alone agrees with the error 0.083. The inner nodes 9 to 14 are numbered upwards from the
    classes, as in example 2; the root is 0.
    """
    rng, X = _points_in_square(n, random_state)
    y = _stripe(X)
    up = _some(rng, n, _MOVED)
    y[up] = np.minimum(y[up] + 1, 7)
    down = _some(rng, n, _MOVED)
    y[down] = np.maximum(y[down] - 1, 0)
    return PointProblem(X, y + 1, Taxonomy.from_edges(_ABOVE_STRIPES), _zero_one(8), _given_stripe)


def make_quadrants(n: int = 500, *, random_state: Seed = None) -> PointProblem:
    """The four quadrants of the square under a binary tree of depth 2 (Wang 2.4.1, example 2; M.18).

    20 % of the labels are replaced by one of the other three, so the Bayes error is 0.20. Left of zero are
    the classes 1 and 2, under node 5; right of it 3 and 4, under node 6. The document takes n = 50, 150, 500
    and 1500.
    """
    rng, X = _points_in_square(n, random_state)
    y = _quadrant(X)
    redrawn = _some(rng, n, _REDRAWN)
    y[redrawn] = (y[redrawn] + rng.integers(1, 4, len(redrawn))) % 4
    return PointProblem(X, y + 1, Taxonomy.from_edges(_ABOVE_QUADRANTS), _zero_one(4), _given_quadrant)


def make_three_gaussians(n: int = 300, *, random_state: Seed = None) -> PointProblem:
    """Three Gaussian classes, two of which are dear to confuse (Wang 3.6.1; M.19).

    `costs` is the document's matrix (3.11): confusing 2 and 3 costs 4, other mistakes 1. It names no
    taxonomy, so this one is flat. The Bayes rule answers 1 more often than not, and costs 0.455.
    """
    _check_size(n)
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 3, n)
    X = rng.standard_normal((n, 2)) + _CENTRES[y]
    return PointProblem(X, y + 1, Taxonomy.flat([1, 2, 3]), _UNEQUAL.copy(), _given_centres)


def _points_in_square(n: int, random_state: Seed) -> tuple[np.random.Generator, FloatArray]:
    _check_size(n)
    rng = np.random.default_rng(random_state)
    return rng, rng.uniform(-1, 1, (n, 2))


def _check_size(n: int) -> None:
    if n < 1:
        raise DataError(f"n is {n!r}; expected at least 1")


def _some(rng: np.random.Generator, n: int, share: float) -> NDArray[np.int64]:
    """This share of the rows, to the nearest whole number."""
    return rng.choice(n, round(share * n), replace=False)


def _stripe(X: ArrayLike) -> NDArray[np.int64]:
    place: NDArray[np.int64] = np.clip(np.ceil(4 * (_plane(X)[:, 0] + 1)) - 1, 0, 7).astype(np.int64)
    return place


def _quadrant(X: ArrayLike) -> NDArray[np.int64]:
    right, upper = (_plane(X) >= 0).T
    place: NDArray[np.int64] = 2 * right.astype(np.int64) + upper
    return place


def _given_stripe(X: ArrayLike) -> FloatArray:
    """Where a stripe's labels go: one step up for some, then one step down for some."""
    up = (1 - _MOVED) * np.eye(8) + _MOVED * np.eye(8)[np.minimum(np.arange(8) + 1, 7)]
    down = (1 - _MOVED) * np.eye(8) + _MOVED * np.eye(8)[np.maximum(np.arange(8) - 1, 0)]
    chances: FloatArray = (up @ down)[_stripe(X)]
    return chances


def _given_quadrant(X: ArrayLike) -> FloatArray:
    chances = np.where(np.eye(4) > 0, 1 - _REDRAWN, _REDRAWN / 3)
    return chances[_quadrant(X)]


def _given_centres(X: ArrayLike) -> FloatArray:
    squared = ((_plane(X)[:, None, :] - _CENTRES) ** 2).sum(axis=2)
    likely = np.exp(-0.5 * (squared - squared.min(axis=1, keepdims=True)))
    chances: FloatArray = likely / likely.sum(axis=1, keepdims=True)
    return chances


def _zero_one(q: int) -> FloatArray:
    return 1 - np.eye(q)


def _plane(X: ArrayLike) -> FloatArray:
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise DataError(f"X has the shape {points.shape}; expected two columns")
    return points
