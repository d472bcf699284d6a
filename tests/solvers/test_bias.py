"""The unpenalised bias is exact: a conic solver's answers, and those of other people's binary SVMs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from margrove.objective.contrasts import ContrastProblem
from margrove.objective.inputs import Similarities, Vectors
from margrove.outputs.layout import arrange
from margrove.solvers.bias import balanced, imbalance, solve_with_bias
from margrove.taxonomy import costs
from oracles.contrasts import Table, naive_optimum, random_problem


def solve(problem, layout, **options):
    defaults = {"tol": 1e-7, "max_iter": 50_000, "rng": np.random.default_rng(0), "dtype": np.float64}
    return solve_with_bias(problem, layout, **(defaults | options))


CASES = [
    {"loss": loss, "slack": slack, "descent": descent, "offset": offset}
    for loss in ("hinge", "squared-hinge", "logistic")
    for slack in ("example", "pair")
    for descent in (False, True)
    for offset in (False, True)
    if not (loss == "logistic" and slack == "pair")
]


@pytest.mark.parametrize("options", CASES, ids=lambda options: "-".join(map(str, options.values())))
def test_optimum(options):
    problem, layout = random_problem(1, **options)
    value, _ = naive_optimum(problem, bias=True)
    without, _ = naive_optimum(problem)
    solution = solve(problem, layout)
    b = solution.bias
    certificate = solution.certificate
    assert certificate.status == "converged"
    assert certificate.primal == pytest.approx(value, rel=1e-6)
    assert certificate.dual <= value * (1 + 1e-7)
    assert replace(problem, base=b).primal(solution.W) == pytest.approx(certificate.primal, rel=1e-9)
    assert value < without - 1e-4, "the problem should need a bias"


@pytest.mark.parametrize("offset", [False, True])
def test_inner_products_are_enough(offset):
    problem, layout = random_problem(2)
    X = problem.inputs.X.toarray()
    A = np.random.default_rng(0).standard_normal((len(X), layout.n_columns)) / 3 if offset else None
    if offset:
        problem = replace(problem, offset=X.T @ A)
    linear = solve(problem, layout)
    inputs = Similarities(Table(X @ X.T), np.arange(len(X)))
    similar = solve(replace(problem, inputs=inputs, offset=A), layout)
    b = similar.bias
    assert similar.certificate.primal == pytest.approx(linear.certificate.primal, rel=1e-6)
    assert replace(problem, base=b).primal(X.T @ similar.W) == pytest.approx(
        similar.certificate.primal, rel=1e-7
    )


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_two_classes_are_the_binary_svm(C):
    """|w_1|^2 + |w_2|^2 is least for w_2 = -w_1: half the norm of the binary machine's w = w_1 - w_2."""
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (30, 3)), rng.normal(1, 1, (20, 3))] + 5
    y = np.repeat([0, 1], [30, 20])
    problem = ContrastProblem(
        inputs=Vectors(sp.csr_array(X)),
        Y=sp.csr_array(np.eye(2)[y]),
        Lambda=sp.csr_array(np.eye(2)),
        cost=costs.zero_one().bind(None, [0, 1]),
        bound=np.full(50, C),
    )
    solution = solve(problem, arrange(problem.Lambda, np.float64), tol=1e-6)
    b = solution.bias
    theirs = SVC(kernel="linear", C=2 * C, tol=1e-8).fit(X, y)
    ours = X @ (solution.W[:, 1] - solution.W[:, 0]) + b[1] - b[0]
    np.testing.assert_allclose(ours, theirs.decision_function(X), atol=5e-3)


@pytest.mark.parametrize("seed", range(5))
def test_balanced_variables_are_feasible(seed):
    problem, layout = random_problem(seed)
    solution = solve(problem, layout, tol=1e-4)
    assert abs(imbalance(problem, solution.duals)).max() > 1e-10
    even = balanced(problem, solution.duals)
    assert even.alpha.any()
    assert abs(imbalance(problem, even)).max() < 1e-9
    assert problem.infeasibility(even) < 1e-12


def test_far_from_balance_nothing_is_left():
    """One example has a contrast that no other takes back: zero is what is balanced."""
    problem, layout = random_problem(0)
    solution = solve(problem, layout, tol=1e-2)
    alone = type(solution.duals)(*(part[:1] for part in solution.duals))
    even = balanced(problem, alone)
    assert not even.alpha.sum() > 1e-9
