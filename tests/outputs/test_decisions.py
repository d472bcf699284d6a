"""The label sets and the projection of the decisions output, against plain loops and their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from margrove.outputs.decisions import (
    cost_levels,
    is_balanced,
    label_weights,
    possible_costs,
    pseudo_labels,
    undoing,
)

THREE = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 4.0], [1.0, 4.0, 0.0]])  # (Wang 3.11)


def random_costs(seed, q, least=0.6):
    rng = np.random.default_rng(seed)
    costs = rng.uniform(least, 1, (q, q))
    np.fill_diagonal(costs, 0)
    return costs


def as_lists(sets, right):
    row, chosen = sets.of_rows(np.asarray(right))
    members = [np.flatnonzero(mine).tolist() for mine in sets.sets.toarray()[chosen]]
    return list(zip(row.tolist(), members, sets.weight[chosen].tolist(), strict=True))


def test_pseudo_labels():
    assert as_lists(pseudo_labels(THREE), [2, 0]) == [
        (0, [0], 3.0), (0, [2], 4.0), (1, [0], 4.0), (1, [1], 3.0), (1, [2], 3.0),
    ]  # fmt: skip
    assert label_weights(THREE)[1].tolist() == [3, 4, 0]


def test_levels_of_cost():
    assert as_lists(cost_levels(THREE), [2, 0]) == [(0, [2], 1.0), (0, [0, 2], 3.0), (1, [0], 1.0)]


@pytest.mark.parametrize("seed", range(5))
def test_levels_price_every_pair_by_its_difference(seed):
    costs = np.round(4 * random_costs(seed, 5, 0.0))
    for y in range(5):
        price = np.zeros((5, 5))
        for _, members, weight in as_lists(cost_levels(costs), [y]):
            others = np.setdiff1d(np.arange(5), members)
            price[np.ix_(members, others)] += weight
        np.testing.assert_allclose(price, np.maximum(costs[y][None, :] - costs[y][:, None], 0))


def test_a_class_whose_mistakes_are_free_has_no_levels():
    costs = np.array([[0, 0, 0], [1, 0, 2], [1, 1, 0.0]])
    assert [row for row, _, _ in as_lists(cost_levels(costs), [0, 1, 0, 2])] == [1, 1, 3]


def test_which_classes_pull():
    assert is_balanced(THREE).tolist() == [True, False, False]
    assert not is_balanced(1 - np.eye(4)).any()


@pytest.mark.parametrize("q", [1, 2, 4])
def test_equal_costs_are_all_possible(q):
    assert (possible_costs(1 - np.eye(q)) != np.eye(q)).sum() == 0


@pytest.mark.parametrize("seed", range(4))
def test_possible_costs_are_those_of_decisions_of_zero_sum(seed):
    """With a regular matrix, (C^-1 1)' g = 0."""
    costs = random_costs(seed, 4)
    P = possible_costs(costs).toarray()
    normal = np.linalg.solve(costs, np.ones(4))
    np.testing.assert_allclose(P, np.eye(4) - np.outer(normal, normal) / (normal @ normal), atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_labels_are_set_against_others(seed):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(size=rng.integers(2, 7)) * (rng.random() < 0.8)
    plan = undoing(weights)
    cut = np.minimum(weights, weights.sum() - weights)
    np.testing.assert_allclose(plan.sum(axis=0), cut, atol=1e-12)
    np.testing.assert_allclose(plan.sum(axis=1), cut, atol=1e-12)
    assert plan.min() >= 0
    assert not plan.diagonal().any()


def test_decisions_of_wangs_matrix_never_lie_with_the_first_class():
    """C f = 1 has f = (-1, 1/2, 1/2): g_1 is the mean of the others, for every possible g."""
    g = possible_costs(THREE) @ np.random.default_rng(0).normal(size=(3, 50))
    np.testing.assert_allclose(g[0], (g[1] + g[2]) / 2, atol=1e-12)
