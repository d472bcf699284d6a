"""Random contrast problems of every kind, and a conic solver's answers from their definition (P.6)."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from margrove.objective.contrasts import ContrastProblem
from margrove.objective.inputs import Vectors
from margrove.outputs.layout import arrange
from margrove.taxonomy import costs


def random_problem(seed, *, loss="hinge", slack="example", descent=False, base=False, offset=False):
    """Six outputs over seven attributes, eight examples; `descent` gives outputs rivals in three groups."""
    rng = np.random.default_rng(seed)
    n, d, q = 8, 4, 6
    X = rng.standard_normal((n, d))
    X[1:, d - 1] = 0.0  # which the first example has alone
    Lambda = np.hstack([np.diag(rng.uniform(0.5, 1.5, q)), rng.standard_normal((q, 1))])
    groups = np.array([0, 2, 4, 6])
    first = groups[np.searchsorted(groups, np.arange(q), side="right") - 1]
    last = groups[np.searchsorted(groups, np.arange(q), side="right")]
    Y = np.zeros((n, q))
    for i in range(n):
        if descent:  # one of each of the first groups, some of the paths shorter
            Y[i, [0 + rng.integers(2), 2 + rng.integers(2), 4 + rng.integers(2)][: 1 + i % 3]] = 1
        else:
            Y[i, rng.choice(q, 1 + i % 2, replace=False)] = 1
    table = np.ones((q, q)) if loss == "logistic" else rng.uniform(0.5, 2.0, (q, q))
    np.fill_diagonal(table, 0.0)
    layout = arrange(sp.csr_array(Lambda), np.float64)
    columns = np.zeros((q, layout.n_columns))
    columns[:, layout.columns] = Lambda
    problem = ContrastProblem(
        inputs=Vectors(sp.csr_array(X)),
        Y=sp.csr_array(Y),
        Lambda=sp.csr_array(columns),
        cost=costs.matrix(table, list(range(q))).bind(None, list(range(q))),
        bound=rng.uniform(0.3, 3.0, n),
        slack=slack,
        loss=loss,
        rivals=(first, last) if descent else None,
        base=rng.standard_normal(layout.n_columns) if base else None,
        offset=rng.standard_normal((d, layout.n_columns)) if offset else None,
    )
    return problem, layout


def naive_optimum(problem, bias=False, groups=None, power=None):
    """The value, W, and with `bias` what is best added to the scores of the columns.

    With `groups` of columns their weights theta are variables too (A.11).
    """
    X, Y, Lambda = problem.inputs.X.toarray(), problem.Y.toarray(), problem.Lambda.toarray()
    cost = problem.cost.matrix()
    W = cp.Variable((X.shape[1], Lambda.shape[1]))
    G = 0 if problem.offset is None else problem.offset
    base = np.zeros(Lambda.shape[1]) if problem.base is None else problem.base
    b = cp.Variable(len(base)) if bias else np.zeros(len(base))
    total = 0.5 * cp.sum_squares(W - G)
    constraints = []
    if groups is not None:
        trace = np.array([np.sum(Lambda[:, groups == g] ** 2) for g in range(groups.max() + 1)])
        theta = cp.Variable(len(trace), nonneg=True)
        total = sum(0.5 * cp.quad_over_lin(W[:, groups == g], theta[g]) for g in range(len(trace)))
        constraints = [trace @ (theta**power) <= trace.sum()]
    for i in range(len(X)):
        F = Lambda @ (W.T @ X[i] + base + b)
        H = []
        for y in np.flatnonzero(Y[i]):
            first, last = problem.ranges[0][y], problem.ranges[1][y]
            H += [cost[y, r] * (1 - F[y] + F[r]) for r in range(first, last) if not Y[i, r]]
        if not H:
            continue
        worst = [cp.maximum(*H) if len(H) > 1 else H[0]] if problem.slack == "example" else H
        for m in worst:
            phi = {
                "hinge": cp.pos(m),
                "squared-hinge": cp.square(cp.pos(m)),
                "logistic": cp.logistic(m - 1),
            }[problem.loss]
            total += problem.bound[i] * phi
    program = cp.Problem(cp.Minimize(total), constraints)
    tol = 1e-10 if groups is None and not bias else 1e-9
    program.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol)
    return program.value, W.value


class Table:
    """Inner products that are all there."""

    def __init__(self, K):
        self.K = K

    def diagonal(self):
        return self.K.diagonal()

    def rows(self, indices):
        return self.K[indices]
