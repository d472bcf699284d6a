"""Liu's perceptrons: the algorithms as printed, and the margins that the theorems promise."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from margrove.objective.inputs import Similarities, Vectors
from margrove.solvers.set_perceptron import Settings, radius, rate, run, steps_needed
from objective.test_subtrees import Gram
from oracles import subtrees as twins
from oracles.problems import random_closed_sets, random_tree_output


def separable(seed, nodes=3, n=6, spread=0.1):
    """Examples near one point for each of their sets, so that some W separates them with room."""
    rng = np.random.default_rng(seed)
    output = random_tree_output(rng, nodes)
    right = random_closed_sets(rng, output, n)
    X = np.where(right, 1.0, -1.0) + spread * rng.standard_normal(right.shape)
    parents = [[int(p)] if p >= 0 else [] for p in output.parent]
    return X, right, output, parents


def learned(X, right, output, update, T, seed=0, inputs=None, eta=None, average=True, blocks=None, **options):
    inputs = Vectors(sp.csr_array(X)) if inputs is None else inputs
    n, m = right.shape
    settings = Settings(update, T, radius(inputs, m), rate(n, T) if eta is None else eta, average)
    blocks = [np.arange(n)] if blocks is None else blocks
    weight = options.pop("weight", np.ones(n))
    return run(inputs, right, output, weight, settings, blocks, np.random.default_rng(seed), **options)


@pytest.mark.parametrize("update", ["hard", "stochastic"])
@pytest.mark.parametrize("seed", range(8))
def test_the_algorithms_as_printed(seed, update):
    X, right, output, _ = separable(seed, nodes=4, spread=1.0)
    T = 60
    found = learned(X, right, output, update, T, seed)
    unit = 2 * np.sqrt((X**2).sum(axis=1).max() * len(output))
    rng = np.random.default_rng(seed)
    expected = twins.naive_perceptron(output, X, right, update, T, rate(len(X), T), unit, rng)
    np.testing.assert_allclose(found.W, expected, atol=1e-12)
    assert np.linalg.norm(found.W) <= 1 + 1e-12


@pytest.mark.parametrize("seed", range(25))
def test_theorem_1(seed):
    """The hard perceptron separates, or its margin lacks no more than epsilon of the largest one."""
    X, right, output, parents = separable(seed)
    unit = 2 * radius(Vectors(sp.csr_array(X)), len(output))
    largest = twins.naive_largest_margin(parents, X, right)
    for epsilon in (0.05, 0.3):
        found = learned(X, right, output, "hard", steps_needed("hard", len(X), epsilon))
        margin = twins.naive_margin(parents, X, found.W, right)
        if found.separated:
            assert margin > 0
        else:
            assert margin >= largest - epsilon * unit
    assert found.separated or found.n_steps == 12


@pytest.mark.parametrize("seed", range(25))
def test_lemma_1_for_the_mean_of_a_hard_fit_that_does_not_stop(seed):
    """Theorem 1's second case, which an early stop hides: T steps where nothing separates the examples."""
    X, right, output, parents = separable(seed)
    T = steps_needed("hard", len(X), 0.05)
    unit = 2 * radius(Vectors(sp.csr_array(X)), len(output))
    right[0, output.parent < 0] = True
    both = np.vstack([X, X[:1]]), np.vstack([right, right[:1] & False])  # an example twice, with another set
    found = learned(*both, output, "hard", T)
    assert not found.separated
    assert found.n_steps == T
    largest = twins.naive_largest_margin(parents, *both)
    assert twins.naive_margin(parents, both[0], found.W, both[1]) >= largest - 0.05 * unit


@pytest.mark.parametrize("seed", range(25))
def test_theorem_2(seed):
    """The stochastic perceptron's margin lacks no more than epsilon, and the bound says something."""
    X, right, output, parents = separable(seed, nodes=2, n=4)
    epsilon = 0.1
    T = steps_needed("stochastic", len(X), epsilon)
    found = learned(X, right, output, "stochastic", T, seed)
    unit = 2 * radius(Vectors(sp.csr_array(X)), len(output))
    largest = twins.naive_largest_margin(parents, X, right)
    margin = twins.naive_margin(parents, X, found.W, right)
    assert largest - epsilon * unit <= margin <= largest + 1e-6
    assert largest > epsilon * unit  # so the margin has to be positive


def test_steps_and_rates():
    assert steps_needed("hard", 5, 0.1) == 100
    assert steps_needed("stochastic", 1, 0.1) == 100
    n, epsilon = 1000, 0.2
    T = steps_needed("stochastic", n, epsilon)
    eta = rate(n, T)
    assert 9 * eta**2 * T > 8 * (eta + 4) * np.log(n)  # Lemma 3
    lost = np.sqrt(T) + 1.5 * eta * T + eta * T + np.log(n) / eta  # the last lines of Theorem 2's proof
    assert lost <= epsilon * T


@pytest.mark.parametrize("update", ["hard", "stochastic"])
@pytest.mark.parametrize("average", [True, False])
def test_vectors_and_similarities_take_the_same_steps(update, average):
    X, right, output, _ = separable(3, nodes=6, n=12, spread=1.0)
    blocks = [np.arange(0, 12, 2), np.arange(1, 12, 2)]
    W = learned(X, right, output, update, 80, average=average, blocks=blocks).W
    similar = Similarities(Gram(X @ X.T), np.arange(len(X)))
    A = learned(X, right, output, update, 80, inputs=similar, average=average, blocks=blocks).W
    np.testing.assert_allclose(X.T @ A, W, atol=1e-12)


def test_threads_change_nothing():
    X, right, output, _ = separable(1, nodes=6, n=11, spread=1.0)
    one, three = (learned(X, right, output, "stochastic", 50, n_threads=k).W for k in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_a_block_goes_on_from_the_one_before():
    """With the same examples in both blocks, a hard fit that has separated them takes no step again."""
    X, right, output, _ = separable(2)
    once = learned(X, right, output, "hard", 500)
    twice = learned(X, right, output, "hard", 500, blocks=[np.arange(len(X))] * 2)
    assert once.separated
    assert twice.n_steps == once.n_steps
    np.testing.assert_array_equal(once.W, twice.W)


def test_a_weight_of_two_is_two_examples():
    X, right, output, _ = separable(4, n=5, spread=1.0)
    weight = np.array([2.0, 1, 1, 1, 1])
    T = 40
    with_weight = learned(X, right, output, "stochastic", T, weight=weight, eta=0.3).W
    copies = np.array([0, 0, 1, 2, 3, 4])
    with_copies = learned(X[copies], right[copies], output, "stochastic", T, eta=0.3).W
    np.testing.assert_allclose(with_weight, with_copies, atol=1e-12)


def test_watch_ends_a_fit():
    X, right, output, _ = separable(1, spread=1.0)
    seen = []
    found = learned(X, right, output, "stochastic", 2000, watch=lambda k: seen.append(k) or k >= 512)
    assert seen == [256, 512]
    assert found.n_steps == 512
