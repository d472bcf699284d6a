"""Wang's programme (3.4) as it is printed, in decision functions f, and its relatives, by a conic solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def naive_msvm(Z, costs, y, bound, *, bias):
    """The optimum of (3.4) for inputs Z, and the class costs g that it gives the rows.

    The penalty is 1/2 sum_l |sum_k C(k, l) w_k|^2, and sum_j f_j = 0 at every x.
    """
    q = len(costs)
    W, b = cp.Variable((Z.shape[1], q)), cp.Variable((1, q))
    ones = np.ones((len(Z), 1))
    f = Z @ W + (ones @ b if bias else 0)
    g = f @ costs
    total = 0.5 * cp.sum_squares(W @ costs)
    weight = bound[:, None] * (costs.max() - costs)[y]
    for j in range(q):
        others = [k for k in range(q) if k != j]
        worst = cp.max(1 - (g[:, others] - g[:, [j]] @ np.ones((1, q - 1))), axis=1)
        total += weight[:, j] @ cp.pos(worst)
    return _solved(total, [cp.sum(W, axis=1) == 0, cp.sum(b) == 0]), g.value


def naive_ranked(Z, costs, y, bound, *, bias):
    """(N.7) by pairs: g_k should be above g_j by a margin, at the price of C(y, k) - C(y, j)."""
    q = len(costs)
    W, b = cp.Variable((Z.shape[1], q)), cp.Variable((1, q))
    g = Z @ W + (np.ones((len(Z), 1)) @ b if bias else 0)
    total = 0.5 * cp.sum_squares(W)
    for j in range(q):
        for k in range(q):
            dearer = np.maximum(costs[y, k] - costs[y, j], 0)
            total += (bound * dearer) @ cp.pos(1 - g[:, k] + g[:, j])
    return _solved(total), g.value


def naive_rescaled(Z, costs, y, bound, *, bias):
    """(3.5.2): one slack a row, 1 - margin rescaled by the cost of the mistake; gives -f."""
    q = len(costs)
    W, b = cp.Variable((Z.shape[1], q)), cp.Variable((1, q))
    f = Z @ W + (np.ones((len(Z), 1)) @ b if bias else 0)
    total = 0.5 * cp.sum_squares(W)
    for i in range(len(Z)):
        worst = [costs[y[i], r] * (1 - f[i, y[i]] + f[i, r]) for r in range(q) if r != y[i]]
        total += bound[i] * cp.pos(cp.maximum(*worst) if len(worst) > 1 else worst[0])
    return _solved(total), -f.value


def naive_features(K):
    """Z with Z Z' = K: a similarity's own inputs."""
    value, vectors = np.linalg.eigh(K)
    kept = value > 1e-10 * value.max()
    return vectors[:, kept] * np.sqrt(value[kept])


def _solved(total, constraints=()):
    program = cp.Problem(cp.Minimize(total), list(constraints))
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return program.value
