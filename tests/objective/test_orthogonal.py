"""Metrics, and the problem of orthogonal transfer, from their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from margrove.objective.contrasts import Duals
from margrove.objective.losses import LOSSES
from margrove.objective.metric import (
    alpha_bound,
    blocks,
    comparison,
    convexity,
    descendants,
    factor,
    not_convex_at,
    transfer,
    with_alpha,
)
from margrove.outputs.descent import Descent
from oracles.contrasts import random_problem
from oracles.orthogonal import TREES, random_descent_case


def descent_of(case):
    return Descent.of(case.taxonomy, case.nodes)


@pytest.mark.parametrize("tree", range(len(TREES)))
def test_metrics_are_their_definitions(tree):
    case = random_descent_case(tree, TREES[tree])
    descent = descent_of(case)
    W = np.random.default_rng(0).standard_normal((len(case.nodes), 3))
    for strength in (0.0, 1.0, 2.5):
        M = transfer(descent.parent, strength)
        assert np.trace(W.T @ M @ W) / 2 == pytest.approx(case.transfer(W, strength))
    np.testing.assert_array_equal(with_alpha(descendants(descent.above), 0.7), case.K(0.7))


@pytest.mark.parametrize("seed", range(6))
def test_factor_keeps_to_ancestors(seed):
    case = random_descent_case(seed)
    K = case.K(min(1.0, 0.9 * alpha_bound(case.K(1.0))))
    rng = np.random.default_rng(seed)
    signs = np.triu(rng.uniform(-1, 1, K.shape), 1)
    M = K * (signs + signs.T + np.eye(len(K)))
    Lambda = factor(M)
    np.testing.assert_allclose(Lambda.toarray() @ Lambda.toarray().T @ M, np.eye(len(M)), atol=1e-12)
    assert not (Lambda.toarray() != 0)[descent_of(case).above.toarray() == 0].any()


def test_blocks_are_what_is_coupled():
    case = random_descent_case(0, TREES[1])  # a, b, c, d, e, f
    assert [block.tolist() for block in blocks(case.K(1.0))] == [[0, 2, 3], [1, 4, 5]]
    assert [block.tolist() for block in blocks(np.eye(3))] == [[0], [1], [2]]


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_of_alpha_is_where_convexity_ends(seed):
    K = random_descent_case(seed).K(1.0)
    bound = alpha_bound(K)
    if seed == 4:  # one level: nothing is coupled
        assert bound == np.inf
        return
    below, above = with_alpha(K, bound * (1 - 1e-9)), with_alpha(K, bound * (1 + 1e-9))
    assert convexity(below) > 0 > convexity(above)
    assert not_convex_at(below) is None
    assert np.linalg.eigvalsh(comparison(below)).min() == pytest.approx(convexity(below), abs=1e-12)
    at = not_convex_at(above)
    later = comparison(above)[at + 1 :, at + 1 :]
    assert np.linalg.eigvalsh(later).min(initial=np.inf) > 0
    assert np.linalg.eigvalsh(comparison(above)[at:, at:]).min() <= 0


@pytest.mark.parametrize("seed", range(5))
def test_convexity_is_that_of_zhou(seed):
    """Corollary 2, and beyond the bound a line on which the penalty is not convex (Theorem 1)."""
    case = random_descent_case(seed % 4)
    bound = alpha_bound(case.K(1.0))
    rng = np.random.default_rng(seed)
    K = case.K(0.9 * bound)
    sigma = convexity(K)
    shape = (len(case.nodes), 7)
    for _ in range(50):
        U, V, t = rng.standard_normal(shape), rng.standard_normal(shape), rng.random()
        chord = t * case.omega(U, K) + (1 - t) * case.omega(V, K)
        least = sigma / 2 * t * (1 - t) * np.sum((U - V) ** 2)
        assert case.omega(t * U + (1 - t) * V, K) <= chord - least + 1e-12
    K = case.K(1.01 * bound)
    m = len(K)
    simplex = np.c_[np.eye(m) - 1 / m, np.zeros(m)]  # inner products -1/m, and a direction at right angles
    line = np.outer(np.linalg.eigh(comparison(K))[1][:, 0], np.eye(m + 1)[m]) / (2 * np.sqrt(m))
    middle, ends = case.omega(simplex, K), [case.omega(simplex + t * line, K) for t in (-1, 1)]
    assert middle > np.mean(ends) + 1e-6


@pytest.mark.parametrize("seed", range(10))
def test_primal_penalty_and_subgradient(seed):
    case = random_descent_case(seed)
    problem = case.problem(min(1.0, 0.9 * alpha_bound(case.K(1.0))))
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((case.X.shape[1], len(case.nodes)))
    value = case.omega(W.T, problem.K) + case.losses(W.T)
    assert problem.primal(W) == pytest.approx(value)
    found, G = problem.subgradient(W)
    assert found == pytest.approx(value)
    assert_slopes(problem.primal, W, G, rng)
    W[:, 0] = 0.0  # at a kink: still nowhere above the function
    value, G = problem.subgradient(W)
    for size in (1e-3, 1.0, 10.0):
        V = W + size * rng.standard_normal(W.shape)
        assert problem.primal(V) >= value + np.sum(G * (V - W)) - 1e-9


def assert_slopes(function, W, G, rng):
    for _ in range(5):
        D = rng.standard_normal(W.shape)
        step = 1e-6
        slope = (function(W + step * D) - function(W - step * D)) / (2 * step)
        assert np.sum(G * D) == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("descent", [False, True])
@pytest.mark.parametrize("slack", ["example", "pair"])
@pytest.mark.parametrize("loss", LOSSES)
def test_subgradients_of_contrast_problems(loss, slack, descent, offset):
    problem, layout = random_problem(3, loss=loss, slack=slack, descent=descent, offset=offset, base=offset)
    rng = np.random.default_rng(0)
    W = rng.standard_normal((problem.inputs.shape[1], layout.n_columns))
    value, G = problem.subgradient(W)
    assert value == pytest.approx(problem.primal(W))
    assert_slopes(problem.primal, W, G, rng)
    losses = problem.loss_subgradient(W)[0]
    assert losses == pytest.approx(problem.bound @ problem.slacks(W))


@pytest.mark.parametrize("seed", range(4))
def test_any_signs_and_variables_give_a_lower_bound(seed):
    case = random_descent_case(seed)
    problem = case.problem(min(1.0, 0.9 * alpha_bound(case.K(1.0))))
    value, _ = case.orthogonal_optimum(problem.K)
    rng = np.random.default_rng(seed)
    Y = problem.contrasts.Y.toarray()
    for _ in range(20):
        S = rng.uniform(-1, 1, len(problem.pairs[0]))
        chosen = []
        for example in range(len(Y)):
            for pos in np.flatnonzero(Y[example]):
                rivals = range(problem.contrasts.rivals[0][pos], problem.contrasts.rivals[1][pos])
                chosen += [(example, pos, neg) for neg in rivals if not Y[example, neg]]
        example, pos, neg = np.array(chosen).T
        alpha = rng.random(len(chosen))
        total = np.bincount(example, alpha, len(Y))
        alpha *= (rng.random(len(Y)) * problem.contrasts.bound / np.maximum(total, 1e-9))[example]
        assert problem.dual(Duals(example, pos, neg, alpha), S) <= value * (1 + 1e-7)
