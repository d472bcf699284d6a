"""How steeply probabilities follow scores, from choices whose outcome is known (Q.4, Q.5).

The logarithmic loss is convex in one number for all choices, and in the numbers at some knots, with lines
between, where the steepness depends on how far the best option leads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, nnls

from margrove.outputs.paths import leads

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
AT_ONCE = 1 << 20  # options looked at together
NATURAL = 1.0  # where nothing was chosen
OUTER = 0.02  # the share of choices beyond each outer knot
DRAW = 1.0  # neighbouring knots to each other, as much as a choice draws
ROUNDS = 100
EXACT = 1e-13  # of the loss, which a further step would save


class Choices(NamedTuple):
    """Choices among options, one choice's options after another's."""

    scores: NDArray[Any]
    """Of the options."""
    starts: Whole
    """Where the options of each choice begin."""
    right: Whole
    """Where the right option of each choice is."""
    weight: Array

    def parts(self) -> list[Choices]:
        """The same choices, some at a time."""
        if not len(self.starts):
            return []
        stops = np.append(self.starts[1:], len(self.scores))
        cuts = np.flatnonzero(np.diff(self.starts // AT_ONCE, prepend=-1))
        parts = []
        for a, b in zip(cuts, np.append(cuts[1:], len(self.starts)), strict=True):
            begin = self.starts[a]
            parts.append(
                Choices(
                    self.scores[begin : stops[b - 1]],
                    self.starts[a:b] - begin,
                    self.right[a:b] - begin,
                    self.weight[a:b],
                )
            )
        return parts


def steepness(choices: Choices) -> float:
    """The steepness of least loss, at least 0; the natural one if there is nothing to learn from."""
    total = float(choices.weight.sum())
    smoothing = 1 / (total + 2)
    parts = choices.parts()
    spread = sum(float(part.weight @ _spreads(part)) for part in parts)
    if not spread > 0:
        return NATURAL
    unit = total / spread  # in which differences of scores are about 1

    def slope(steep: float) -> float:
        return sum(_slope(part, steep * unit, smoothing) for part in parts)

    if slope(0.0) >= 0:
        return 0.0
    above = 1.0
    while slope(above) < 0:
        above *= 2
    return unit * float(brentq(slope, 0.0 if above == 1 else above / 2, above, xtol=1e-12, rtol=1e-10))


def steepness_by_lead(choices: Choices, knots: int) -> tuple[Array, Array]:
    """Knots, and the steepness at each of least loss (Q.4), with lines between them.

    By Newton steps to the least of the quadratic model over values of at least 0, which `nnls` finds.
    """
    one = steepness(choices)
    each = [leads(part.scores, part.starts, _sizes(part)) for part in choices.parts()]
    lead = np.concatenate(each) if each else np.empty(0)
    if knots == 1 or not choices.weight @ lead > 0:
        return np.arange(float(knots)), np.full(knots, one)
    at = _spread_knots(lead, choices.weight, knots)
    loss = LossByLead(choices, lead, at)
    values = np.full(knots, one)
    here, slope, bend = loss.derivatives(values)
    for _ in range(ROUNDS):
        root = np.linalg.cholesky(bend + 1e-12 * np.trace(bend) * np.eye(knots)).T
        step = nnls(root, np.linalg.solve(root.T, bend @ values - slope))[0] - values
        gain = -float(slope @ step)
        if gain <= EXACT * (1 + abs(here)):
            break
        length = 1.0
        while length > EXACT and loss.derivatives(values + length * step)[0] > here - 0.1 * length * gain:
            length /= 2
        values = np.maximum(values + length * step, 0.0)
        here, slope, bend = loss.derivatives(values)
    return at, values


class LossByLead:
    """The loss of (Q.4) as a function of the steepness at each knot."""

    def __init__(self, choices: Choices, lead: Array, at: Array) -> None:
        total = float(choices.weight.sum())
        self.parts = choices.parts()
        self.smoothing = 1 / (total + 2)
        self.hats = np.column_stack([np.interp(lead, at, hat) for hat in np.eye(len(at))])
        self.draw = DRAW * (float(choices.weight @ lead) / total) ** 2  # in the scale of the scores

    def derivatives(self, values: Array) -> tuple[float, Array, Array]:
        """The loss, its gradient and its Hessian."""
        steps = np.diff(np.eye(len(values)), axis=0)
        bend = self.draw * steps.T @ steps
        slope = bend @ values
        loss = float(values @ slope) / 2
        first = 0
        for part in self.parts:
            hats = self.hats[first : first + len(part.starts)]
            first += len(part.starts)
            value, first_order, second_order = _derivatives(part, hats @ values, self.smoothing)
            loss += float(part.weight @ value)
            slope += (part.weight * first_order) @ hats
            bend += hats.T @ (hats * (part.weight * second_order)[:, None])
        return loss, slope, bend


def _spread_knots(lead: Array, weight: Array, knots: int) -> Array:
    """Leads at equal shares of the weight; where they coincide, some beyond all that there are."""
    weight, lead = weight[lead > 0], lead[lead > 0]
    order = np.argsort(lead, kind="stable")
    share = np.cumsum(weight[order]) / weight.sum()
    place = np.searchsorted(share, np.linspace(OUTER, 1 - OUTER, knots) - OUTER * 1e-9)
    at = np.unique(lead[order][place])
    beyond = lead.max() * np.arange(2.0, 2 + knots - len(at))
    return np.append(at, beyond)


def _sizes(part: Choices) -> Whole:
    sizes: Whole = np.diff(np.append(part.starts, len(part.scores)))
    return sizes


def _spreads(part: Choices) -> Array:
    top = np.maximum.reduceat(part.scores, part.starts).astype(np.float64)
    return top - np.minimum.reduceat(part.scores, part.starts)


def _slope(part: Choices, steep: float, smoothing: float) -> float:
    """The derivative of the summed loss (Q.5)."""
    return float(part.weight @ _derivatives(part, np.full(len(part.starts), steep), smoothing)[1])


def _derivatives(part: Choices, steep: Array, smoothing: float) -> tuple[Array, Array, Array]:
    """The loss of each choice, and its first and second derivatives by the choice's steepness (Q.5)."""
    sizes = _sizes(part)
    x = part.scores.astype(np.float64)
    x -= np.repeat(np.maximum.reduceat(x, part.starts), sizes)
    wanted = (1 - smoothing) * x[part.right] + smoothing * np.add.reduceat(x, part.starts) / sizes
    e = np.exp(np.repeat(steep, sizes) * x)
    total = np.add.reduceat(e, part.starts)
    mean = np.add.reduceat(e * x, part.starts) / total
    square = np.add.reduceat(e * (x - np.repeat(mean, sizes)) ** 2, part.starts) / total
    return np.log(total) - steep * wanted, mean - wanted, square
