"""What an example's largest violation m costs, for each unit of its bound, and the conjugate of that.

    hinge           phi(m) = max(0, m)             phi*(t) = 0                                  0 <= t <= 1
    squared hinge   phi(m) = max(0, m)^2           phi*(t) = t^2 / 4                            0 <= t
    logistic        phi(m) = log(1 + exp(m - 1))   phi*(t) = t + t log t + (1-t) log(1-t)       0 <= t <= 1

All are convex and do not fall, so  bound phi(max H) = max over beta >= 0 of  sum beta H - bound phi*(t)  with
t = sum beta / bound: the dual (D.6), in which phi*'(t) is the violation of the spare contrast (E.13).
"""

from __future__ import annotations

import numpy as np

from margrove.kernels.jit import kernel
from margrove.outputs.tables import HINGE, LOGISTIC, SQUARED_HINGE

TINY = 1e-12  # from here to 1 - TINY the logistic loss takes its shares


@kernel
def loss_at(loss: int, m: float) -> float:
    """phi(m)."""
    if loss == LOGISTIC:
        return float(max(m - 1, 0.0) + np.log1p(np.exp(-abs(m - 1))))
    positive = m if m > 0 else 0.0
    return positive * positive if loss == SQUARED_HINGE else positive


@kernel
def conjugate(loss: int, t: float) -> float:
    """phi*(t)."""
    if loss == SQUARED_HINGE:
        return t * t / 4
    if loss == LOGISTIC:
        t = min(max(t, TINY), 1 - TINY)
        return float(t + t * np.log(t) + (1 - t) * np.log1p(-t))
    return t * 0


@kernel
def spare_violation(loss: int, t: float) -> float:
    """phi*'(t)."""
    if loss == SQUARED_HINGE:
        return t / 2
    if loss == LOGISTIC:
        t = min(max(t, TINY), 1 - TINY)
        return float(1 + np.log(t) - np.log1p(-t))
    return t * 0


@kernel
def best_step(
    loss: int, bound: float, total: float, h: float, slope: float, low: float, high: float
) -> float:
    """The t in [low, high] with  h - slope t = phi*'((total + t) / bound): the best on a line from spare.

    The difference falls as t grows. Newton's steps for the logistic loss are kept inside the bracket.
    """
    if loss == HINGE:
        t = h / slope if slope > 0 else (high if h > 0 else low)
    elif loss == SQUARED_HINGE:
        t = (h - total / bound / 2) / (slope + 1 / bound / 2)
    else:
        if h - slope * low <= spare_violation(loss, (total + low) / bound):
            return low
        if h - slope * high >= spare_violation(loss, (total + high) / bound):
            return high
        a, b, t = low, high, (low + high) / 2
        for _ in range(60):
            share = min(max((total + t) / bound, TINY), 1 - TINY)
            value = h - slope * t - spare_violation(loss, share)
            if value > 0:
                a = t
            else:
                b = t
            t += value / (slope + 1 / (bound * share * (1 - share)))
            if not (a < t and t < b):
                t = (a + b) / 2
            if b - a <= 1e-15 * bound:
                break
    return min(max(t, low), high)
