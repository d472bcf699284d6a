"""What a solver tells of its rounds, and when it has tried for long enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np


class Progress(NamedTuple):
    """What a round of the solver has reached."""

    n_iter: int
    primal: float
    dual: float
    relative_gap: float
    seconds: float


Watch: TypeAlias = Callable[[Progress], bool | None]
"""Sees each round, and ends the work by True."""


class Patience:
    """Waits while neither the gap gets smaller nor the dual higher: the arithmetic has no more to give."""

    def __init__(self, most: int = 15) -> None:
        self.most = most
        self.waited = 0
        self.gap, self.dual = np.inf, -np.inf

    def is_over(self, gap: float, dual: float) -> bool:
        """Take note of a round."""
        better = gap < self.gap or dual > self.dual
        self.waited = 0 if better else self.waited + 1
        self.gap, self.dual = min(self.gap, gap), max(self.dual, dual)
        return self.waited >= self.most
