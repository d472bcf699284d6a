"""Weights of attributes and of features are the joint optimum, which a conic solver finds too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from margrove.objective.inputs import Similarities
from margrove.objective.learned import LearnedProblem
from margrove.solvers.learned_attributes import solve_with_weights
from oracles.contrasts import Table, naive_optimum, random_problem


def solve(learned, layout, **options):
    defaults = {"tol": 2e-7, "max_iter": 100_000, "rng": np.random.default_rng(0), "dtype": np.float64}
    return solve_with_weights(learned, layout, **(defaults | options))


def random_learned(seed, power, **options):
    """Each output's own column in one of two groups, what all share in a third."""
    problem, layout = random_problem(seed, **options)
    groups = np.where(np.arange(layout.n_columns) < 6, np.arange(layout.n_columns) % 2, 2)
    return LearnedProblem(problem, groups, power), layout


CASES = [
    {"loss": "hinge", "slack": "example"},
    {"loss": "hinge", "slack": "pair"},
    {"loss": "squared-hinge", "slack": "example"},
    {"loss": "logistic", "slack": "example"},
    {"loss": "hinge", "slack": "example", "descent": True},
]


@pytest.mark.parametrize("power", [1, 2, 4])
@pytest.mark.parametrize("options", CASES, ids=lambda options: "-".join(map(str, options.values())))
def test_optimum(options, power):
    learned, layout = random_learned(1, power, **options)
    value, _ = naive_optimum(learned.problem, groups=learned.groups, power=power)
    fixed, _ = naive_optimum(learned.problem)
    solution, theta = solve(learned, layout)
    certificate = solution.certificate
    assert certificate.status == "converged"
    assert certificate.primal == pytest.approx(value, rel=1e-6)
    assert certificate.dual == pytest.approx(value, rel=1e-6)
    assert certificate.dual <= value * (1 + 1e-8)
    assert value < fixed - 1e-4, "there should be something to learn"
    W = solution.W * np.sqrt(theta)[learned.groups]
    assert learned.primal(W, theta) == pytest.approx(certificate.primal, rel=1e-9)
    assert learned.with_weights(theta).primal(solution.W) == pytest.approx(certificate.primal, rel=1e-9)
    assert learned.trace @ theta**power == pytest.approx(learned.trace.sum())


@pytest.mark.parametrize("power", [1, 2])
def test_the_bounds_are_those_of_the_definition(power):
    learned, layout = random_learned(3, power)
    solution, _ = solve(learned, layout, tol=1e-3)
    assert learned.dual(solution.duals) <= solution.certificate.dual + 1e-9
    assert solution.certificate.gap <= 1e-3 * solution.certificate.primal


def test_one_group_has_nothing_to_learn():
    problem, layout = random_problem(0)
    learned = LearnedProblem(problem, np.zeros(layout.n_columns, np.int64), 1)
    solution, theta = solve(learned, layout)
    assert theta == pytest.approx([1.0])
    assert solution.certificate.primal == pytest.approx(naive_optimum(problem)[0], rel=1e-6)


def test_inner_products_are_enough():
    learned, layout = random_learned(2, 2)
    X = learned.problem.inputs.X.toarray()
    linear, theta = solve(learned, layout)
    inputs = Similarities(Table(X @ X.T), np.arange(len(X)))
    similar = replace(learned, problem=replace(learned.problem, inputs=inputs))
    solution, other = solve(similar, layout)
    assert solution.certificate.primal == pytest.approx(linear.certificate.primal, rel=1e-6)
    np.testing.assert_allclose(other, theta, rtol=1e-2)


def test_it_can_be_watched_ended_and_limited():
    learned, layout = random_learned(1, 2)
    seen = []
    solution, _ = solve(learned, layout, watch=seen.append)
    assert [progress.n_iter for progress in seen] == sorted(progress.n_iter for progress in seen)
    assert all(0 <= progress.dual <= progress.primal for progress in seen)
    assert seen[-1].relative_gap < 1e-3
    ended, _ = solve(learned, layout, watch=lambda progress: progress.n_iter >= 2)
    assert ended.certificate.status == "interrupted"
    limited, _ = solve(learned, layout, max_iter=1, tol=1e-12)
    assert limited.certificate.status == "iteration limit"
    assert limited.certificate.n_iter == 1
    assert limited.certificate.dual < solution.certificate.primal < limited.certificate.primal
