"""What a perceptron knows: weights, sums for their mean, counts. Prediction needs it, and no kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margrove.outputs.growing import Columns, GrowingMatrix, moves

Array = NDArray[Any]


@dataclass
class Memory:
    """Weights W after `steps` steps, and U with which W - U / steps is their mean (G.4).

    Rows are features, or, with a similarity, the inputs that made a difference.
    """

    W: GrowingMatrix
    U: GrowingMatrix | None = None
    """None where the last weights are the model, and not the mean of all."""
    steps: int = 0
    """Examples visited, the same one several times if it was."""
    updates: int = 0
    """Steps that changed something."""
    active: int = 0
    """Positive dual variables: distinct contrasts that were stepped along."""
    right: int = 0
    """The sum of |Y_i|."""
    right_squared: int = 0
    """The sum of |Y_i|^2."""
    _mean: Array | None = field(default=None, repr=False)

    @classmethod
    def empty(cls, rows: int, columns: int, dtype: Any, averaged: bool) -> Memory:
        """Nothing learned yet."""
        W, U = (GrowingMatrix(np.zeros((rows, columns), dtype)) for _ in range(2))
        return cls(W, U if averaged else None)

    def weights(self) -> Array:
        """The weights of the model: the last, or the mean."""
        W = self.W.array
        if self.U is None or not self.steps:
            return W
        if self._mean is None:
            self._mean = self.U.array * W.dtype.type(-1 / self.steps)
            self._mean += W
        return self._mean

    def forget_mean(self) -> None:
        """The weights are about to change."""
        self._mean = None

    def regrow(self, before: Columns, after: Columns, place: NDArray[np.int64]) -> None:
        """Move columns to where the new layout has them; key k of the old is place[k] in the new."""
        self.forget_mean()
        then, now = moves(before, after, place)
        for matrix in self._matrices():
            matrix.rearrange(then, now, after.width)

    def scale(self, factor: float) -> None:
        """Multiply all weights, as where attributes have changed by one factor."""
        self.forget_mean()
        for matrix in self._matrices():
            matrix.scale(factor)

    def count_targets(self, Y: Any) -> None:
        """Take note of the numbers of right classes of some examples."""
        sizes = np.diff(Y.indptr).astype(np.int64)
        self.right += int(sizes.sum())
        self.right_squared += int(sizes @ sizes)

    def active_ratio(self, n_classes: int) -> float:
        """Positive dual variables as a share of all (G.8)."""
        possible = self.right * n_classes - self.right_squared
        return self.active / possible if possible else 0.0

    def _matrices(self) -> list[GrowingMatrix]:
        return [self.W] if self.U is None else [self.W, self.U]
