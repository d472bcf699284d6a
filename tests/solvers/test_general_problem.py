"""What the contrast problem can be beside Cai's: other losses, rivals, base scores, offsets, similarities.

Each is given to a conic solver contrast by contrast, from its definition (P.6).
"""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from margrove.objective.contrasts import ContrastProblem
from margrove.objective.inputs import Similarities, Vectors
from margrove.objective.losses import LOSSES
from margrove.outputs.layout import arrange
from margrove.solvers import dual_ascent
from margrove.taxonomy import costs


class Table:
    """Inner products that are all there."""

    def __init__(self, K):
        self.K = K

    def diagonal(self):
        return self.K.diagonal()

    def rows(self, indices):
        return self.K[indices]


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


def naive_optimum(problem):
    X, Y, Lambda = problem.inputs.X.toarray(), problem.Y.toarray(), problem.Lambda.toarray()
    cost = problem.cost.matrix()
    W = cp.Variable((X.shape[1], Lambda.shape[1]))
    G = 0 if problem.offset is None else problem.offset
    base = np.zeros(Lambda.shape[1]) if problem.base is None else problem.base
    total = 0.5 * cp.sum_squares(W - G)
    for i in range(len(X)):
        F = Lambda @ (W.T @ X[i] + base)
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
    program = cp.Problem(cp.Minimize(total))
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return program.value, W.value


def solve(problem, layout, **options):
    defaults = {"tol": 1e-8, "max_iter": 20_000, "rng": np.random.default_rng(0), "dtype": np.float64}
    return dual_ascent.solve(problem, layout, **(defaults | options))


CASES = [
    {"loss": loss, "slack": slack, "descent": descent, "base": extra, "offset": extra}
    for loss in LOSSES
    for slack in ("example", "pair")
    for descent in (False, True)
    for extra in (False, True)
    if not (loss == "logistic" and slack == "pair")
]


@pytest.mark.parametrize("options", CASES, ids=lambda options: "-".join(map(str, options.values())))
@pytest.mark.parametrize("seed", range(2))
def test_optimum(seed, options):
    problem, layout = random_problem(seed, **options)
    value, W = naive_optimum(problem)
    solution = solve(problem, layout)
    assert solution.certificate.status == "converged"
    assert problem.infeasibility(solution.duals) <= 1e-12
    assert solution.certificate.primal == pytest.approx(value, rel=1e-6)
    assert solution.certificate.dual <= value + 1e-7 * abs(value)
    # of the columns, only what contrasts see is determined
    centre = problem.Lambda - problem.Lambda.mean(axis=0)[None, :]
    ours, theirs = centre @ solution.W.T, centre @ W.T
    if not options["descent"]:
        np.testing.assert_allclose(ours, theirs, atol=2e-3 * abs(theirs).max())


@pytest.mark.parametrize("options", CASES, ids=lambda options: "-".join(map(str, options.values())))
def test_inner_products_are_enough(options):
    """With the similarity of the same vectors: the same optimum, and W = X' A."""
    problem, layout = random_problem(5, **options)
    X = problem.inputs.X.toarray()
    A = None
    if problem.offset is not None:
        A = np.random.default_rng(0).standard_normal((len(X), layout.n_columns))
        problem = replace(problem, offset=X.T @ A)
    linear = solve(problem, layout)
    similar = solve(
        replace(problem, inputs=Similarities(Table(X @ X.T), np.arange(len(X))), offset=A), layout
    )
    assert similar.certificate.status == "converged"
    assert similar.certificate.primal == pytest.approx(linear.certificate.primal, rel=1e-6)
    np.testing.assert_allclose(X.T @ similar.W, linear.W, atol=5e-3)
