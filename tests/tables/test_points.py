"""Wang's simulated examples: the document's distributions, taxonomies and Bayes errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import margrove as mg
from margrove.errors import DataError
from margrove.tables.datasets import make_quadrants, make_stripes, make_three_gaussians

MAKERS = [make_stripes, make_quadrants, make_three_gaussians]
LARGE = 200_000


def bayes_error(problem, costs=None):
    """The mean cost of the Bayes rule on the points themselves."""
    costs = problem.costs if costs is None else costs
    return costs[problem.y - 1, problem.bayes_rule(problem.X, costs) - 1].mean()


def cost_matrix(cost, problem):
    return cost.bind(problem.taxonomy, sorted(problem.taxonomy.classes)).matrix()


@pytest.fixture(scope="module")
def stripes():
    return make_stripes(LARGE, random_state=0)


@pytest.fixture(scope="module")
def quadrants():
    return make_quadrants(LARGE, random_state=0)


@pytest.fixture(scope="module")
def gaussians():
    return make_three_gaussians(LARGE, random_state=0)


def test_stripes_are_eight_under_a_binary_tree(stripes):
    tax = stripes.taxonomy
    assert sorted(tax.classes) == list(range(1, 9))
    assert (tax.root, tax.n_nodes, set(tax.depths[tax.class_indices])) == (0, 15, {3})
    assert [tax.path(k) for k in (1, 4, 8)] == [(0, 13, 9, 1), (0, 13, 10, 4), (0, 14, 12, 8)]
    assert np.abs(stripes.X).max() <= 1
    rule = stripes.bayes_rule([[-1.0, 0], [-0.76, 1], [-0.74, 1], [0.0, 0], [0.01, 0], [1.0, -1]])
    assert rule.tolist() == [1, 1, 2, 4, 5, 8]


def test_labels_of_stripes_move_by_one(stripes):
    moved = stripes.y - stripes.bayes_rule(stripes.X)
    assert set(moved.tolist()) == {-1, 0, 1}
    assert [np.mean(moved == step) for step in (-1, 1)] == pytest.approx(
        [0.05 * 0.95 * 7 / 8] * 2, abs=1.5e-3
    )


def test_bayes_errors_of_stripes_are_those_in_print(stripes):
    subtree = cost_matrix(mg.costs.h_loss("subtree"), stripes)
    sibling = cost_matrix(mg.costs.h_loss("sibling"), stripes)
    assert bayes_error(stripes) == pytest.approx(0.083, abs=2e-3)
    assert bayes_error(stripes, subtree) == pytest.approx(0.029, abs=1e-3)
    assert bayes_error(stripes, 2 * sibling) == pytest.approx(0.036, abs=1e-3)


def test_bayes_errors_of_quadrants_are_those_in_print(quadrants):
    subtree = cost_matrix(mg.costs.h_loss("subtree"), quadrants)
    sibling = cost_matrix(mg.costs.h_loss("sibling"), quadrants)
    difference = cost_matrix(mg.costs.symmetric_difference(), quadrants)
    assert bayes_error(quadrants) == pytest.approx(0.20, abs=1e-9)  # the share is exact
    assert bayes_error(quadrants, subtree) == pytest.approx(0.156, abs=2e-3)
    assert bayes_error(quadrants, 2 * sibling) == pytest.approx(0.167, abs=2e-3)
    assert bayes_error(quadrants, difference / 6) == pytest.approx(0.111, abs=2e-3)


def test_quadrants_have_the_document_s_places(quadrants):
    assert quadrants.bayes_rule([[-0.5, -0.5], [-0.5, 0], [0, -0.5], [0, 0]]).tolist() == [1, 2, 3, 4]
    assert quadrants.taxonomy == mg.Taxonomy.from_edges([(0, 5), (0, 6), (5, 1), (5, 2), (6, 3), (6, 4)])


def test_gaussians_have_their_centres_and_costs(gaussians):
    for k, centre in enumerate([(0, 0), (1, 1), (1, -1)], 1):
        points = gaussians.X[gaussians.y == k]
        assert len(points) / LARGE == pytest.approx(1 / 3, abs=0.01)
        assert points.mean(axis=0) == pytest.approx(centre, abs=0.02)
        assert np.cov(points.T) == pytest.approx(np.eye(2), abs=0.03)
    assert gaussians.costs.tolist() == [[0, 1, 1], [1, 0, 4], [1, 4, 0]]
    assert gaussians.taxonomy == mg.Taxonomy.flat([1, 2, 3])


def test_dear_mistakes_are_avoided_by_the_cheap_class(gaussians):
    equal = 1 - np.eye(3)
    assert bayes_error(gaussians) == pytest.approx(0.455, abs=0.01)
    naive = gaussians.bayes_rule(gaussians.X, equal)
    assert gaussians.costs[gaussians.y - 1, naive - 1].mean() > 0.54
    assert np.mean(gaussians.bayes_rule(gaussians.X) == 1) > 0.5 > np.mean(naive == 1)


@pytest.mark.parametrize("make", MAKERS)
def test_probabilities_are_those_of_the_labels(make):
    problem = make(LARGE, random_state=1)
    chances = problem.probabilities(problem.X)
    assert chances.sum(axis=1) == pytest.approx(np.ones(LARGE))
    for k in range(chances.shape[1]):
        has = problem.y == k + 1
        assert has.mean() == pytest.approx(chances[:, k].mean(), abs=5e-3)
        assert chances[has, k].mean() == pytest.approx((chances[:, k] ** 2).mean() / has.mean(), abs=1e-2)


@pytest.mark.parametrize("make", MAKERS)
def test_same_seed_same_points_of_any_number(make):
    first, second = make(random_state=3), make(random_state=np.random.default_rng(3))
    assert (first.X == second.X).all()
    assert (first.y == second.y).all()
    assert (first.X != make(random_state=4).X).any()
    assert make(1, random_state=0).X.shape == (1, 2)
    with pytest.raises(DataError, match="n is 0"):
        make(0)
    with pytest.raises(DataError, match="expected two columns"):
        first.bayes_rule([[1.0, 2.0, 3.0]])
    assert (pickle.loads(pickle.dumps(first)).bayes_rule(first.X) == first.bayes_rule(first.X)).all()


@pytest.mark.parametrize("make", MAKERS)
def test_they_can_be_learned(make):
    problem = make(300, random_state=0)
    X = np.column_stack([problem.X, np.ones(300)])
    model = mg.HierarchicalSVM(problem.taxonomy, cost=problem.costs).fit(X, problem.y)
    assert model.classes_.tolist() == sorted(problem.taxonomy.classes)
    assert model.certificate_.status == "converged"
