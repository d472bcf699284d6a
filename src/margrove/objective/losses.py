"""What violations cost: phi, its conjugate and the derivative of that (maths.md, D.6), for arrays.

| loss | phi(m) | phi*(t) | phi*'(t) |
| --- | --- | --- | --- |
| hinge | max(0, m) | 0 for 0 <= t <= 1 | 0 |
| squared-hinge | max(0, m)^2 | t^2 / 4 for t >= 0 | t / 2 |
| logistic | log(1 + exp(m - 1)) | t + t log t + (1 - t) log(1 - t), 0 <= t <= 1 | 1 + log(t / (1 - t)) |
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlog1py, xlogy

Loss = Literal["hinge", "squared-hinge", "logistic"]
LOSSES: tuple[Loss, ...] = get_args(Loss)
Array = NDArray[Any]


def loss_of(loss: Loss, m: Array) -> Array:
    """phi(m)."""
    if loss == "logistic":
        softplus: Array = np.logaddexp(0.0, m - 1)
        return softplus
    positive: Array = np.maximum(m, 0.0)
    return positive**2 if loss == "squared-hinge" else positive


def slope(loss: Loss, m: Array) -> Array:
    """phi'(m); 0 for the hinge loss at 0."""
    if loss == "logistic":
        sigmoid: Array = expit(m - 1)
        return sigmoid
    return 2 * np.maximum(m, 0.0) if loss == "squared-hinge" else (m > 0).astype(m.dtype)


def conjugate(loss: Loss, t: Array) -> Array:
    """phi*(t), infinite where it is."""
    if loss == "squared-hinge":
        return np.where(t >= 0, t**2 / 4, np.inf)
    inside = (t >= 0) & (t <= 1)
    if loss == "hinge":
        return np.where(inside, 0.0, np.inf)
    s = np.clip(t, 0.0, 1.0)
    return np.where(inside, s + xlogy(s, s) + xlog1py(1 - s, -s), np.inf)
