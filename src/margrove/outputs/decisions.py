"""The decisions output: the class of least cost, where mistakes differ in what they cost (Wang, chapter 3).

Class costs g are learned, and the class of least g is the prediction. With scores -g each row is several
examples of the ranking output, one for each of the label sets that its class has, with weights:

* Wang's pseudo-labels: every class j alone, with the weight max C - C(y, j) (N.2), where g = C' f for
  decision functions f of zero sum, and a regulariser knows which g there can be (N.4);
* the levels of cost: for each amount, all classes that cost no more than that (N.7).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

NEGLIGIBLE = 1e-10  # of the largest singular value

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]


class LabelSets(NamedTuple):
    """The label sets of each class: class y has the rows ptr[y] .. ptr[y + 1] - 1 of `sets`."""

    sets: sp.csr_array
    weight: Floats
    ptr: Whole

    def of_rows(self, right: NDArray[np.integer[Any]]) -> tuple[Whole, Whole]:
        """For rows whose classes are `right`, the row and the set of each example, row by row."""
        count = np.diff(self.ptr)[right]
        row = np.repeat(np.arange(len(right)), count)
        place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        return row, self.ptr[right[row]] + place


def pseudo_labels(costs: Floats) -> LabelSets:
    """Every class alone that has a weight (N.2)."""
    y, label = np.nonzero(label_weights(costs) > 0)
    sets = sp.csr_array(sp.eye_array(len(costs), format="csr")[label])
    return LabelSets(sets, label_weights(costs)[y, label], _pointers(y, len(costs)))


def cost_levels(costs: Floats) -> LabelSets:
    """For each of a class's costs but the highest, all that cost no more; weighted by the step up (N.7)."""
    ordered = np.sort(costs, axis=1)
    y, place = np.nonzero(np.diff(ordered, axis=1))
    sets = sp.csr_array((costs[y] <= ordered[y, place][:, None]).astype(np.float64))
    return LabelSets(sets, ordered[y, place + 1] - ordered[y, place], _pointers(y, len(costs)))


def _pointers(y: Whole, q: int) -> Whole:
    return np.concatenate([[0], np.cumsum(np.bincount(y, minlength=q))])


def label_weights(costs: Floats) -> Floats:
    """What a row of class y gives to class j: max C - C(y, j) (N.2)."""
    weights: Floats = costs.max() - costs
    return weights


def possible_costs(costs: Floats) -> sp.csr_array:
    """The projection on the class costs {C' f: sum f = 0} (N.4), or one that differs by what nobody sees.

    All but a common summand is possible if the rows of C have one sum and C is regular: as contrasts are
    differences, the identity is then as good, and sparse.
    """
    q = len(costs)
    means = np.full((q, q), 1 / q)
    U, s, _ = np.linalg.svd(costs.T - costs.T @ means)
    U = U[:, s > NEGLIGIBLE * s.max(initial=0.0)]
    projection = U @ U.T
    if abs(projection - np.eye(q) + means).max() < NEGLIGIBLE:
        return sp.eye_array(q, format="csr")
    projection[abs(projection) < np.finfo(float).eps] = 0.0
    return sp.csr_array(projection)


def is_balanced(costs: Floats) -> NDArray[np.bool_]:
    """Classes whose rows pull no way at all: no pseudo-label has more than half of their weight (N.6)."""
    weights = label_weights(costs)
    balanced: NDArray[np.bool_] = 2 * weights.max(axis=1) <= weights.sum(axis=1)
    return balanced


def undoing(weights: Floats) -> Floats:
    """How much of each label's weight to set against each other label, so that the sums cancel (N.6).

    Lay the labels side by side around a circle, and turn it by half: where no label has more than half of
    the circle, none meets itself. A label that has more is cut to that.
    """
    length = np.minimum(weights, weights.sum() - weights)
    start = np.cumsum(length) - length
    half, around = length.sum() / 2, length.sum()
    plan = np.zeros((len(weights), len(weights)))
    for turn in (half, half - around):
        low = np.maximum(start[:, None], start + turn)
        high = np.minimum((start + length)[:, None], start + length + turn)
        plan += np.maximum(high - low, 0.0)
    np.fill_diagonal(plan, 0.0)  # where rounding made any
    return plan
