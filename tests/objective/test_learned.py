"""The weights of attributes in closed form, beside what can be had by chance and by definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from margrove.objective.contrasts import Duals
from margrove.objective.learned import LearnedProblem
from oracles.contrasts import random_problem

POWERS = (1.0, 1.5, 2.0, 4.0)


def random_learned(seed, power, **options):
    problem, layout = random_problem(seed, **options)
    groups = np.random.default_rng(seed).permutation(np.arange(layout.n_columns) % 3)
    return LearnedProblem(problem, groups, power), layout


def some_weights(learned, rng, size=5000):
    """Weights with the largest sums that (A.10) allows."""
    theta = rng.exponential(size=(size, len(learned.trace))) ** 2
    mean = np.average(theta**learned.power, weights=learned.trace, axis=1) ** (1 / learned.power)
    return theta / mean[:, None]


def some_duals(learned, rng):
    Y = learned.problem.Y.toarray()
    contrasts = [
        (i, y, r)
        for i, right in enumerate(Y)
        for y in np.flatnonzero(right)
        for r in np.flatnonzero(1 - right)
    ]
    example, pos, neg = np.array(contrasts).T
    cost = learned.problem.cost.matrix()[pos, neg]
    beta = rng.random(len(example)) * learned.problem.bound[example] / np.bincount(example)[example]
    return Duals(example, pos, neg, beta * cost)


@pytest.mark.parametrize("power", POWERS)
def test_no_weights_are_better_than_the_best(power):
    learned, _ = random_learned(0, power)
    rng = np.random.default_rng(1)
    squares = rng.exponential(size=3)
    best = learned.best_weights(squares)
    assert learned.trace @ best**power == pytest.approx(learned.trace.sum())
    others = some_weights(learned, rng)
    values = [learned.penalty(squares, theta) for theta in others]
    assert learned.penalty(squares, best) <= min(values) <= 1.1 * learned.penalty(squares, best)
    sums = others @ squares
    assert sums.max() <= learned.largest(squares) <= 1.1 * sums.max()


def test_a_group_without_weights_gets_nothing():
    learned, _ = random_learned(0, 2.0)
    best = learned.best_weights(np.array([1.0, 0.0, 2.0]))
    assert best[1] == 0
    assert np.isfinite(learned.penalty(np.array([1.0, 0.0, 2.0]), best))
    np.testing.assert_array_equal(learned.best_weights(np.zeros(3)), 1)
    assert learned.largest(np.zeros(3)) == 0


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
@pytest.mark.parametrize("power", POWERS)
def test_every_dual_value_is_below_every_primal_value(power, loss):
    learned, _ = random_learned(2, power, loss=loss)
    rng = np.random.default_rng(0)
    duals = some_duals(learned, rng)
    dual = learned.dual(duals)
    for theta in some_weights(learned, rng, 20):
        weighted = learned.with_weights(theta)
        V = weighted.weights(duals)
        assert weighted.dual(duals, V) >= dual - 1e-12
        W = V * np.sqrt(theta)[learned.groups]
        assert learned.primal(W, theta) == pytest.approx(weighted.primal(V))
        assert learned.primal(W, theta) > dual


def test_equal_weights_are_the_problem_itself():
    learned, layout = random_learned(3, 2.0)
    W = np.random.default_rng(0).standard_normal((4, layout.n_columns))
    assert learned.primal(W, np.ones(3)) == pytest.approx(learned.problem.primal(W))
    assert (learned.with_weights(np.ones(3)).Lambda != learned.problem.Lambda).nnz == 0
    np.testing.assert_allclose(learned.parts(np.ones(3)).sum(), 1)


def test_squares_are_those_of_the_groups():
    learned, layout = random_learned(4, 2.0)
    W = np.random.default_rng(0).standard_normal((4, layout.n_columns))
    expected = [np.sum(W[:, learned.groups == g] ** 2) for g in range(3)]
    np.testing.assert_allclose(learned.squares(W), expected)
    assert replace(learned, groups=np.zeros_like(learned.groups)).squares(W) == pytest.approx(np.sum(W**2))
