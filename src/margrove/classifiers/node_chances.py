"""From scores of nodes to chances that can be compared across nodes, learned from rows that were held out.

    P(v in the set | x) = sigma(slope_v m_v(x) / size + offset_v)                                     (U.21)

A node with many rows speaks for itself. One with few takes its slope from the others: slopes are spread about
a common one with variance one, which is learned too, and offsets about the log-odds of the node (U.22).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[Any]
SPREAD = 1.0  # variance of slopes about the common one
LOOSE = 100.0  # variance of offsets about the log-odds
STEPS = 100  # of Newton
SMALL = 1e-5  # a step at which to stop


@dataclass(frozen=True)
class NodeChances:
    """One slope and one offset for each output."""

    slope: NDArray[np.float64]
    offset: NDArray[np.float64]

    @classmethod
    def fit(cls, scores: Array, right: NDArray[np.bool_], weight: NDArray[np.float64]) -> NodeChances:
        """Learn from rows with their scores, right sets and weights."""
        size = float(np.sqrt(np.average(np.square(scores), weights=weight, axis=0).mean())) or 1.0
        x, total = scores / size, weight.sum()
        hits = weight @ right
        log_odds = np.log((hits + 0.5) / (total - hits + 0.5))
        slope, offset, common = np.ones(x.shape[1]), log_odds.copy(), 1.0
        for _ in range(STEPS):
            p = expit(slope * x + offset)
            error, curved = weight[:, None] * (p - right), weight[:, None] * p * (1 - p)
            down_slope = (error * x).sum(axis=0) + (slope - common) / SPREAD
            down_offset = error.sum(axis=0) + (offset - log_odds) / LOOSE
            a = (curved * x * x).sum(axis=0) + 1 / SPREAD
            b = (curved * x).sum(axis=0)
            c = curved.sum(axis=0) + 1 / LOOSE
            determinant = a * c - b * b
            change = np.clip((c * down_slope - b * down_offset) / determinant, -1, 1)
            change_offset = np.clip((a * down_offset - b * down_slope) / determinant, -1, 1)
            slope, offset = slope - change, offset - change_offset
            common = float(slope.mean())
            if max(abs(change).max(initial=0.0), abs(change_offset).max(initial=0.0)) < SMALL:
                break
        return cls(slope / size, offset)

    def predict(self, scores: Array) -> Array:
        """Chances, without regard to what is above."""
        chances: Array = expit(self.slope * scores + self.offset)
        return chances
