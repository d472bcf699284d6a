"""An unpenalised bias in the hierarchical SVM: every loss, slack, kernel and form of labels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import margrove as mg
from oracles.contrasts import naive_optimum
from oracles.problems import random_case

TREE = mg.Taxonomy.from_paths(["a/a1", "a/a2", "b/b1", "b/b2"])


def shifted(n=24, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array(["a1", "a2", "b1", "b2"])[np.arange(n) % 4]
    return rng.normal(size=(n, d)) + rng.normal(size=(4, d))[np.arange(n) % 4] + 3, y


@pytest.mark.parametrize("slack", ["example", "pair"])
@pytest.mark.parametrize(("seed", "multilabel"), [(0, False), (1, True)])
def test_optimum(seed, multilabel, slack):
    case = random_case(seed, slack=slack, multilabel=multilabel, n=7, d=3)
    value, _ = naive_optimum(case.problem(), bias=True)
    model = case.estimator(fit_intercept=True, tol=1e-7).fit(case.X, case.y, case.weight)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6)
    assert model.certificate_.dual <= value * (1 + 1e-7)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
def test_a_shift_of_the_inputs_changes_the_bias_alone(loss):
    X, y = shifted()
    settings = {"loss": loss, "cost": "zero-one", "fit_intercept": True, "tol": 1e-5, "max_iter": 50_000}
    usual = mg.HierarchicalSVM(TREE, C=0.3, **settings).fit(X, y)
    moved = mg.HierarchicalSVM(TREE, C=0.3, **settings).fit(X + 7, y)
    assert moved.certificate_.primal == pytest.approx(usual.certificate_.primal, rel=2e-5)
    np.testing.assert_allclose(moved.weights_, usual.weights_, atol=2e-2)


def test_sparse_rows_are_not_made_dense():
    """Rows with few entries keep their zeros; the bias is found all the same."""
    X, y = shifted()
    wide = np.hstack([X - 3, np.zeros((24, 9))])
    settings = {"fit_intercept": True, "C": 0.3, "tol": 1e-5, "max_iter": 50_000}
    dense = mg.HierarchicalSVM(TREE, **settings).fit(X - 3, y)
    sparse = mg.HierarchicalSVM(TREE, **settings).fit(sp.csr_array(wide), y)
    assert sparse.certificate_.primal == pytest.approx(dense.certificate_.primal, rel=2e-5)
    np.testing.assert_allclose(sparse.decision_function(wide), dense.decision_function(X - 3), atol=2e-2)


def test_a_similarity_is_as_its_vectors():
    X, y = shifted()
    settings = {"fit_intercept": True, "C": 0.3, "tol": 1e-5, "max_iter": 50_000}
    linear = mg.HierarchicalSVM(TREE, **settings).fit(X, y)
    similar = mg.HierarchicalSVM(TREE, kernel=lambda A, B: A @ B.T, **settings).fit(X, y)
    assert similar.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=2e-5)
    np.testing.assert_allclose(similar.decision_function(X), linear.decision_function(X), atol=2e-2)


def test_label_sets_warm_starts_and_going_back():
    X, y = shifted()
    sets = [[label, "b2"] if k % 3 else [label] for k, label in enumerate(y)]
    model = mg.HierarchicalSVM(TREE, C=0.3, fit_intercept=True, warm_start=True, max_iter=5000).fit(X, sets)
    assert all(set(row) <= set(y) for row in model.predict(X))
    again = model.certificate_.n_iter
    model.fit(X, sets)
    assert model.certificate_.status == "converged"
    assert model.certificate_.n_iter <= again
    assert model.set_params(fit_intercept=False).fit(X, sets).intercept_ is None


def test_a_threshold_sees_the_bias():
    """With one feature that is nothing, the bias alone ranks classes; held-out scores must have it too."""
    X = np.zeros((30, 1))
    sets = [["a"] if k % 5 else ["a", "b"] for k in range(30)]
    sets[1] = ["c"]
    model = mg.HierarchicalSVM(fit_intercept=True).fit(X, sets)
    assert model.predict(X[:1]) == [["a"]]
