"""The optimum over closed sets is that of a conic solver with every set, whatever the algorithm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from margrove.objective.subtrees import SetDuals
from margrove.solvers import subtrees as solver
from margrove.solvers.subtrees import solve
from objective.test_subtrees import random_problem
from oracles import subtrees as twins

WAYS = [("cutting-plane", "margin"), ("cutting-plane", "slack"), ("marginal", "margin")]


def solved(problem, algorithm, tol=1e-7, **options):
    settings = {"tol": tol, "max_iter": 3000, "rng": np.random.default_rng(0)} | options
    return solve(problem, algorithm, **settings)


@pytest.mark.parametrize(("algorithm", "scaling"), WAYS)
@pytest.mark.parametrize("seed", range(6))
def test_optimum(seed, algorithm, scaling):
    problem, X, parents, _ = random_problem(seed, scaling)
    expected = twins.naive_subtree_optimum(
        parents, X, problem.right, problem.miss, problem.extra, problem.bound, scaling
    )
    solution = solved(problem, algorithm)
    assert solution.certificate.status == "converged"
    assert solution.certificate.primal == pytest.approx(expected, rel=1e-6)
    assert solution.certificate.dual == pytest.approx(expected, rel=1e-6)
    assert problem.primal(solution.W) == pytest.approx(solution.certificate.primal)


@pytest.mark.parametrize(("algorithm", "scaling"), WAYS)
def test_similarities_have_the_same_optimum(algorithm, scaling):
    by_vectors = solved(random_problem(3, scaling)[0], algorithm)
    problem, X, _, _ = random_problem(3, scaling, similar=True)
    by_products = solved(problem, algorithm)
    assert by_products.certificate.primal == pytest.approx(by_vectors.certificate.primal, rel=1e-6)
    np.testing.assert_allclose(X.T @ by_products.W, by_vectors.W, atol=2e-3)


def test_steps_by_blocks_of_similarities(monkeypatch):
    monkeypatch.setattr(solver, "ROWS_AT_A_TIME", 14)
    problem, *_ = random_problem(3, similar=True)
    for algorithm in ("cutting-plane", "marginal"):
        assert solved(problem, algorithm).certificate.status == "converged"


def test_slots_grow(monkeypatch):
    monkeypatch.setattr(solver, "SLOTS", 1)
    problem, *_ = random_problem(4)
    assert solved(problem, "cutting-plane").certificate.status == "converged"


def test_what_is_held_is_feasible():
    problem, *_ = random_problem(5)
    ascent = solver._CuttingPlanes(problem, np.random.default_rng(0))
    for _ in range(5):
        W = problem.weights(ascent.combination())
        ascent.improve(W, 0.01)
        duals = ascent.duals()
        assert isinstance(duals, SetDuals)
        assert (
            np.bincount(duals.example, duals.beta, len(problem.bound)) <= problem.bound * (1 + 1e-12)
        ).all()
        below = problem.output.parent >= 0
        assert (duals.sets[:, below] <= duals.sets[:, problem.output.parent[below]]).all()


@pytest.mark.parametrize("algorithm", ["cutting-plane", "marginal"])
def test_ends(algorithm):
    problem, *_ = random_problem(1)
    certificate = solved(problem, algorithm, max_iter=1).certificate
    assert (certificate.status, certificate.n_iter) == ("iteration limit", 1)
    assert certificate.dual < certificate.primal
    assert solved(problem, algorithm, watch=lambda _: True).certificate.status == "interrupted"
    nothing = replace(problem, right=np.zeros_like(problem.right), extra=np.zeros_like(problem.extra))
    assert solved(nothing, algorithm).certificate.primal == 0
