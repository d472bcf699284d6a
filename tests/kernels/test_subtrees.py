"""The kernels of closed sets beside their slow twins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from margrove.kernels import subtrees as kernels
from margrove.objective.inputs import Vectors
from margrove.objective.subtrees import SubtreeProblem
from margrove.outputs.ranking import inputs_of
from margrove.solvers.subtrees import block_for, room, slots_for
from oracles import subtrees as twins
from oracles.problems import random_closed_sets, random_tree_output

EXACT = 1e-13


@pytest.fixture(params=range(12))
def tree(request):
    """A random tree, its parents as lists, and random numbers."""
    rng = np.random.default_rng(request.param)
    output = random_tree_output(rng, int(rng.integers(2, 9)))
    parents = [[int(p)] if p >= 0 else [] for p in output.parent]
    return output, parents, rng


def test_add_column():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((7, 5)) * (rng.random((7, 5)) < 0.5)
    rows, by_feature = sp.csr_array(X), sp.csc_array(X)
    column = np.full(7, 9.0)
    for i in range(7):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        kernels.add_column(
            by_feature.indptr,
            by_feature.indices,
            by_feature.data,
            rows.indices[part],
            rows.data[part],
            column,
        )
        np.testing.assert_allclose(column, twins.naive_add_column(X, X[i]))


def test_gains_and_best_sets(tree):
    output, parents, rng = tree
    g, z = np.empty(len(output)), np.empty(len(output), bool)
    for _ in range(5):
        s = rng.standard_normal(len(output))
        kernels.gains(s, output.parent, g)
        np.testing.assert_allclose(g, twins.naive_gains(parents, s))
        kernels.best_set(g, output.parent, z)
        np.testing.assert_array_equal(z, twins.naive_best_set(parents, s))


def test_rivals(tree):
    output, parents, rng = tree
    g, z = np.empty(len(output)), np.empty(len(output), bool)
    for k in range(10):
        s = rng.standard_normal(len(output))
        right = random_closed_sets(rng, output, 1)[0] if k % 2 else twins.best(parents, s)
        lead = kernels.rival(s, right, output.parent, g, z)
        other, expected = twins.naive_rival(parents, s, right)
        np.testing.assert_array_equal(z, other)
        assert lead == pytest.approx(expected)


def test_follow(tree):
    output, parents, rng = tree
    m, n = len(output), 6
    S, right = rng.standard_normal((n, m)), random_closed_sets(rng, output, n)
    column, change = rng.standard_normal(n), rng.standard_normal(m)
    expected, leads = twins.naive_follow(parents, S, column, change, right)
    lead = np.zeros(n)
    for first, last in ((0, 2), (2, n)):
        kernels.follow(
            S, column, change, right, output.parent, first, last, np.empty(m), np.empty(m, bool), lead
        )
    np.testing.assert_allclose(S, expected)
    np.testing.assert_allclose(lead, leads, atol=1e-12)


def test_worst_by_products(tree):
    output, parents, rng = tree
    m, n = len(output), 8
    S, right = 0.5 * rng.standard_normal((n, m)), random_closed_sets(rng, output, n)
    Z, H = np.empty((n, m), bool), np.empty(n)
    kernels.worst_by_products(S, right, output.preorder, output.size, np.empty((m + 1, m + 1)), Z, H)
    for i in range(n):
        expected, highest = twins.naive_worst_by_products(parents, S[i], right[i])
        assert H[i] == pytest.approx(highest, abs=1e-12)
        if highest > 1e-9:
            np.testing.assert_array_equal(Z[i], expected)


def test_extremes_of_faces(tree):
    output, parents, rng = tree
    m = len(output)
    g, z = np.empty(m), np.empty(m, bool)
    for count in (1, 2, 3, 8):
        mu = random_closed_sets(rng, output, count).mean(axis=0)
        r = rng.standard_normal(m)
        for sign in (-1.0, 1.0):
            kernels.extreme_on_face(r, mu, output.parent, sign, g, z)
            np.testing.assert_array_equal(z, twins.naive_extreme_on_face(parents, r, mu, sign))


def small_problem(tree, scaling="margin"):
    output, _, rng = tree
    n, d, m = 3, 4, len(output)
    X, right = rng.standard_normal((n, d)), random_closed_sets(rng, output, n)
    miss, extra = rng.uniform(0.5, 2, (2, m)) if scaling == "margin" else np.full((2, m), 0.7)
    bound = rng.uniform(0.2, 1, n)
    problem = SubtreeProblem(Vectors(sp.csr_array(X)), right, output, miss, extra, bound, scaling)
    inputs, _ = inputs_of(sp.csr_array(X), np.float64, alone=False)
    return problem, inputs, X, rng.standard_normal((d, m)) * 0.3


def tables_of(problem):
    return kernels.Sets(problem.right, problem.output.parent, problem.miss, problem.extra, problem.bound)


@pytest.mark.parametrize("scaling", ["margin", "slack"])
def test_ascend_sets(tree, scaling):
    problem, inputs, X, W = small_problem(tree, scaling)
    output, _, rng = tree
    n, m = problem.right.shape
    slots, psi = slots_for(n, 4, m), np.zeros(n)
    for i in range(n):
        sets = np.unique(random_closed_sets(rng, output, 3), axis=0)
        sets = sets[(sets != problem.right[i]).any(axis=1)]
        k = slots.used[i] = len(sets)
        losses = problem.losses(np.full(k, i), sets)
        slots.sets[i, :k], slots.loss[i, :k] = sets, losses
        slots.factor[i, :k] = problem.factors(losses)
        slots.beta[i, :k] = rng.dirichlet(np.ones(k + 1))[:k] * problem.bound[i]
    block = block_for(4, m)
    for i in rng.permutation(n):
        k = slots.used[i]
        if not k:
            continue
        expected = twins.naive_ascend_sets(
            X, W, i, problem.right, slots.sets[i, :k], slots.loss[i, :k], slots.factor[i, :k],
            slots.beta[i, :k].copy(), problem.bound[i],
        )  # fmt: skip
        kernels.ascend_sets(
            inputs, tables_of(problem), slots, np.array([i]), W, room(m), block, EXACT, 10_000, psi
        )
        np.testing.assert_allclose(W, expected, atol=2e-5)
        assert slots.beta[i, :k].min() >= 0
        assert slots.beta[i].sum() <= problem.bound[i] * (1 + 1e-12)
        assert not block.change.any()


def test_conditional_gradient(tree):
    problem, inputs, X, W = small_problem(tree)
    output, parents, rng = tree
    n, m = problem.right.shape
    mu = np.array([random_closed_sets(rng, output, 3).mean(axis=0) for _ in range(n)])
    gap = np.zeros(n)
    for i in range(n):
        expected = twins.naive_conditional_gradient(
            parents, X, W, i, problem.right, mu[i], problem.miss, problem.extra, problem.bound[i]
        )
        kernels.conditional_gradient(
            inputs, tables_of(problem), mu, np.array([i]), W, room(m), 5000, EXACT, gap
        )
        np.testing.assert_allclose(W, expected, atol=2e-5)
        above = np.where(output.parent < 0, 1.0, mu[i, output.parent])
        assert (mu[i] >= 0).all()
        assert (mu[i] <= above).all()
