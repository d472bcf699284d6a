"""How steeply probabilities follow scores: one number, from choices whose outcome is known (Q.4, Q.5).

The mean logarithmic loss is convex in it, so where its derivative is zero it is least.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
AT_ONCE = 1 << 20  # options looked at together
NATURAL = 1.0  # where nothing was chosen


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


def _spreads(part: Choices) -> Array:
    top = np.maximum.reduceat(part.scores, part.starts).astype(np.float64)
    return top - np.minimum.reduceat(part.scores, part.starts)


def _slope(part: Choices, steep: float, smoothing: float) -> float:
    """The derivative of the summed loss (Q.5)."""
    sizes = np.diff(np.append(part.starts, len(part.scores)))
    x = part.scores.astype(np.float64)
    x -= np.repeat(np.maximum.reduceat(x, part.starts), sizes)
    right = x[part.right]
    mean = np.add.reduceat(x, part.starts) / sizes
    e = np.exp(steep * x)
    expected = np.add.reduceat(e * x, part.starts) / np.add.reduceat(e, part.starts)
    return float(part.weight @ (expected - (1 - smoothing) * right - smoothing * mean))
