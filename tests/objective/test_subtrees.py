"""The problem over closed sets beside plain loops over all of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from margrove.objective.inputs import Similarities, Vectors
from margrove.objective.subtrees import SetDuals, SubtreeProblem
from oracles import subtrees as twins
from oracles.problems import random_closed_sets, random_tree_output


class Gram:
    """Inner products that are at hand."""

    def __init__(self, K):
        self.K = K

    def diagonal(self):
        return np.diag(self.K).copy()

    def rows(self, indices):
        return self.K[indices]


def random_problem(seed, scaling="margin", similar=False):
    """A problem, and its inputs and sets for the twins."""
    rng = np.random.default_rng(seed)
    output = random_tree_output(rng, int(rng.integers(2, 8)))
    n, d, m = 7, 4, len(output)
    X, right = rng.standard_normal((n, d)), random_closed_sets(rng, output, n)
    miss, extra = rng.uniform(0.5, 2, (2, m)) if scaling == "margin" else np.full((2, m), 0.7)
    inputs = Similarities(Gram(X @ X.T), np.arange(n)) if similar else Vectors(sp.csr_array(X))
    problem = SubtreeProblem(inputs, right, output, miss, extra, rng.uniform(0.1, 1, n), scaling)
    return problem, X, [[int(p)] if p >= 0 else [] for p in output.parent], rng


@pytest.mark.parametrize("scaling", ["margin", "slack"])
@pytest.mark.parametrize("seed", range(10))
def test_primal(seed, scaling):
    problem, X, parents, rng = random_problem(seed, scaling)
    W = 0.4 * rng.standard_normal((X.shape[1], len(parents)))
    expected = twins.naive_subtree_primal(
        parents, X, W, problem.right, problem.miss, problem.extra, problem.bound, scaling
    )
    assert problem.primal(W) == pytest.approx(expected)


@pytest.mark.parametrize("similar", [False, True])
@pytest.mark.parametrize("scaling", ["margin", "slack"])
@pytest.mark.parametrize("seed", range(5))
def test_feasible_duals_are_below_the_primal(seed, scaling, similar):
    problem, X, parents, rng = random_problem(seed, scaling, similar)
    n = len(X)
    example = np.repeat(np.arange(n), 2)
    sets = random_closed_sets(rng, problem.output, 2 * n)
    beta = rng.uniform(0, 0.5, 2 * n) * problem.bound[example]
    found = problem.of_sets(SetDuals(example, sets, beta))
    W = problem.weights(found)
    weights, gain = np.zeros((X.shape[1], len(parents))), 0.0
    for i, z, share in zip(example, sets, beta, strict=True):
        y = problem.right[i]
        loss = twins.naive_loss(y, z, problem.miss, problem.extra)
        factor = 1.0 if scaling == "margin" else loss
        weights += share * factor * np.outer(X[i], 2.0 * (y.astype(float) - z))
        gain += share * loss
    np.testing.assert_allclose(X.T @ W if similar else W, weights, atol=1e-12)
    assert problem.dual(found, W) == pytest.approx(gain - 0.5 * (weights**2).sum())
    assert problem.dual(found, W) <= problem.primal(W)
    if scaling == "margin":  # the same by marginals, with what is left of the bound on the right set
        mu = problem.right * (1 - np.bincount(example, beta, n) / problem.bound)[:, None]
        np.add.at(mu, example, sets * (beta / problem.bound[example])[:, None])
        by_nodes = problem.of_marginals(mu)
        np.testing.assert_allclose(by_nodes.pull, found.pull, atol=1e-12)
        assert by_nodes.gain == pytest.approx(found.gain)
