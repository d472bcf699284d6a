"""Dual averaging on the five methods of Zhou's section 6: its bounds hold, and hold what the engine finds."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from margrove.objective import metric
from margrove.objective.contrasts import ContrastProblem
from margrove.objective.inputs import Similarities
from margrove.outputs.descent import Descent
from margrove.outputs.layout import arrange, in_columns
from margrove.solvers.dual_ascent import solve
from margrove.solvers.dual_averaging import average
from margrove.solvers.saddle import solve_saddle
from margrove.taxonomy import attributes, costs
from oracles.contrasts import Table, random_problem
from oracles.orthogonal import TREES, random_descent_case


def ranking(case, cost, Lambda):
    """FLATMULT and TREELOSS: terminal classes, one vector for each class or one for each node (Cai)."""
    tree = case.taxonomy
    kept = [i for i, label in enumerate(case.y) if label in tree.classes]
    Y = np.array([[float(label == name) for name in tree.classes] for label in case.y])[kept]
    inputs = case.problem().inputs
    return ContrastProblem(
        inputs=replace(inputs, X=sp.csr_array(case.X[kept])),
        Y=sp.csr_array(Y),
        Lambda=attributes.get(Lambda).bind(tree, tree.classes)[0],
        cost=costs.get(cost).bind(tree, tree.classes),
        bound=case.C * case.weight[kept],
    )


METHODS = {
    "FLATMULT": lambda case: ranking(case, "zero-one", "one-hot"),
    "TREELOSS": lambda case: ranking(case, "tree", "ancestors"),
    "HIERMULT": lambda case: one_parent(case),
    "TRANSFER": lambda case: transfer(case),
    "ORTHOGNL": lambda case: case.problem(0.3),
}


def one_parent(case):
    """The children of "a": one of the problems that HIERMULT solves apart."""
    problem = case.problem().contrasts
    children = [k for k, node in enumerate(case.nodes) if case.above(node)[:1] == ["a"]]
    rows = np.flatnonzero(problem.Y[:, children].sum(axis=1) > 0)
    q = len(children)
    return ContrastProblem(
        inputs=problem.inputs.take(rows),
        Y=sp.csr_array(problem.Y[rows][:, children]),
        Lambda=sp.csr_array(np.eye(q)),
        cost=costs.zero_one().bind(None, range(q)),
        bound=problem.bound[rows],
    )


def transfer(case):
    Lambda = metric.factor(metric.transfer(Descent.of(case.taxonomy, case.nodes).parent))
    layout = arrange(Lambda, np.float64)
    return replace(case.problem().contrasts, Lambda=in_columns(Lambda, None, layout)[0])


def by_the_engine(problem):
    options = {"tol": 1e-8, "max_iter": 50_000, "rng": np.random.default_rng(0), "dtype": np.float64}
    if isinstance(problem, ContrastProblem):
        layout = arrange(problem.Lambda, np.float64)
        problem = replace(problem, Lambda=in_columns(problem.Lambda, None, layout)[0])
        return solve(problem, layout, **options).certificate
    return solve_saddle(problem, **options)[0].certificate


@pytest.mark.parametrize("C", [0.1, 1.0])
@pytest.mark.parametrize("method", METHODS)
def test_both_certificates_bracket_the_same_optimum(method, C):
    case = random_descent_case(0, TREES[1], n=18, C=C)
    problem = METHODS[method](case)
    exact = by_the_engine(problem)
    seen = []
    solution = average(problem, tol=0.05, max_iter=1000, watch=seen.append)
    certificate = solution.certificate
    assert certificate.status == "converged"
    assert certificate.relative_gap <= 0.05
    assert problem.primal(solution.W) == pytest.approx(certificate.primal, rel=1e-12)
    for progress in seen:
        assert progress.dual <= exact.primal
        assert progress.primal >= exact.dual
    assert all(a.primal >= b.primal and a.dual <= b.dual for a, b in pairwise(seen))


def test_where_the_parameter_of_convexity_is_small_the_bounds_hold_still():
    """Steps of 1 / sigma are then far too long at first, and the mean of the tangents forgets slowly."""
    problem = random_descent_case(0, TREES[1], n=18, C=0.1).problem(0.9)
    exact = by_the_engine(problem)
    certificate = average(problem, tol=1e-3, max_iter=200).certificate
    assert certificate.status == "iteration limit"
    assert certificate.dual <= exact.primal
    assert certificate.primal >= exact.dual
    assert certificate.primal == pytest.approx(exact.primal, rel=0.02)


def test_the_first_bounds_are_those_of_the_algorithm():
    """The upper is J(0), the sum of all prices; the lower is 0."""
    problem = random_descent_case(1, TREES[1]).problem()
    with_contrasts = problem.contrasts.n_contrasts > 0
    certificate = average(problem, tol=1e-3, max_iter=0).certificate
    assert certificate.primal == pytest.approx(problem.contrasts.bound[with_contrasts].sum())
    assert (certificate.dual, certificate.n_iter, certificate.status) == (0, 0, "iteration limit")


def test_steps_are_those_of_the_algorithm():
    """Algorithm 1 once more, as it is printed, with the split of section 4.3."""
    problem = random_descent_case(1, TREES[1], C=0.5).problem()
    sigma = problem.convexity
    w, mean, delta = np.zeros((problem.inputs.shape[1], len(problem.K))), 0.0, 0.0
    upper, lower = problem.primal(w), 0.0
    for t in range(1, 31):
        J, g = problem.subgradient(w)
        phi, g = J - sigma / 2 * np.sum(w**2), g - sigma * w
        mean = (t - 1) / t * mean + g / t
        delta = (t - 1) / t * delta + (phi - np.sum(g * w)) / t
        w = -mean / sigma
        upper = min(upper, problem.primal(w))
        lower = max(lower, delta + np.sum(mean * w) + sigma / 2 * np.sum(w**2))
    certificate = average(problem, tol=1e-9, max_iter=30).certificate
    assert certificate.n_iter == 30
    assert certificate.primal == pytest.approx(upper, rel=1e-12)
    assert certificate.dual == pytest.approx(lower, rel=1e-9)


@pytest.mark.parametrize(
    "options", [{"loss": "squared-hinge"}, {"loss": "logistic"}, {"slack": "pair"}, {"offset": True}]
)
def test_any_contrast_problem(options):
    problem, layout = random_problem(4, **options)
    problem = replace(problem, bound=problem.bound / 200)
    exact = solve(problem, layout, tol=1e-9, max_iter=20_000, rng=np.random.default_rng(0), dtype=np.float64)
    certificate = average(problem, tol=1e-2, max_iter=1000).certificate
    assert certificate.status == "converged"
    assert certificate.dual <= exact.certificate.primal
    assert certificate.primal >= exact.certificate.dual


def test_an_absolute_gap_and_an_interrupt():
    problem = random_descent_case(1, TREES[1], C=0.1).problem(0.3)
    certificate = average(problem, tol=1e-9, max_iter=1000, epsilon=0.05).certificate
    assert certificate.status == "converged"
    assert 0.01 < certificate.gap <= 0.05
    stopped = average(
        problem, tol=1e-9, max_iter=1000, watch=lambda progress: progress.n_iter == 7
    ).certificate
    assert (stopped.status, stopped.n_iter) == ("interrupted", 7)


def test_inner_products_are_enough():
    """Theorem 3: the same steps in coefficients of the examples."""
    problem = random_descent_case(1, TREES[1], C=0.5).problem()
    X = problem.inputs.X.toarray()
    similar = Similarities(Table(X @ X.T), np.arange(len(X)))
    known = replace(problem, contrasts=replace(problem.contrasts, inputs=similar))
    linear, ours = (average(one, tol=1e-9, max_iter=40) for one in (problem, known))
    assert ours.certificate.primal == pytest.approx(linear.certificate.primal, rel=1e-9)
    assert ours.certificate.dual == pytest.approx(linear.certificate.dual, rel=1e-9)
    np.testing.assert_allclose(X.T @ ours.W, linear.W, atol=1e-9)
    assert known.penalty(known.products(ours.W)) == pytest.approx(problem.penalty(problem.products(linear.W)))
