"""Classifiers with a similarity of inputs: as with its vectors, saved, and in every form of input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import margrove as mg

TREE = mg.Taxonomy.from_paths(["a/a1", "a/a2", "b/b1", "b/b2"])


def rings(n=80, seed=0):
    """Classes that no line tells apart."""
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0, 2 * np.pi, n), rng.integers(0, 4, n)
    X = (radius + 1 + rng.uniform(-0.2, 0.2, n))[:, None] / 4 * np.c_[np.cos(angle), np.sin(angle)]
    return X, np.array(["a1", "a2", "b1", "b2"])[radius]


def products(A, B):
    return (A @ B.T + 1.0) ** 2


def fitted(kernel, X, y, weight=None, **options):
    options = {"C": 10.0, "tol": 1e-5, "max_iter": 20_000} | options
    return mg.HierarchicalSVM(TREE, kernel=kernel, **options).fit(X, y, weight)


def quadratic(X):
    """The vectors behind (1 + <x, x'>)^2 for two inputs."""
    x, z = X.T
    r = np.sqrt(2)
    return np.c_[np.ones(len(X)), r * x, r * z, x * x, r * x * z, z * z]


def test_the_same_as_with_the_vectors_behind_it():
    X, y = rings()
    linear = mg.HierarchicalSVM(TREE, C=10.0, tol=1e-5, max_iter=20_000).fit(quadratic(X), y)
    similar = mg.HierarchicalSVM(
        TREE, C=10.0, kernel=mg.similarity.polynomial(2), tol=1e-5, max_iter=20_000
    ).fit(X, y)
    assert similar.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=2e-5)
    new = rings(40, seed=1)[0]
    np.testing.assert_allclose(
        similar.decision_function(new), linear.decision_function(quadratic(new)), atol=0.02
    )
    np.testing.assert_array_equal(similar.predict(new), linear.predict(quadratic(new)))


@pytest.mark.parametrize("scale", [1e-20, 1e-3, 1.0, 1e5, 1e30])
def test_any_scale(scale):
    """K is (1/scale)^2 of the usual, C the inverse of that: the same model."""
    X, y = rings()
    gram = products(X, X)
    usual = fitted("precomputed", gram, y)
    with np.errstate(all="ignore"):
        scaled = fitted("precomputed", gram * scale, y, C=10.0 / scale)
    np.testing.assert_array_equal(usual.predict(gram), scaled.predict(gram * scale))
    assert scaled.certificate_.primal * scale == pytest.approx(usual.certificate_.primal, rel=3e-5)


def test_every_form_of_the_same_inner_products():
    X, y = rings()
    new, truth = rings(60, seed=1)
    named = fitted(mg.similarity.polynomial(2, 1.0), X, y)
    sparse = fitted(mg.similarity.polynomial(2, 1.0), sp.csr_array(X), y)
    function = fitted(products, X, y)
    given = fitted("precomputed", products(X, X), y)
    expected = named.decision_function(new)
    for model, inputs in ((sparse, new), (function, new), (given, products(new, X))):
        np.testing.assert_allclose(model.decision_function(inputs), expected, atol=2e-2)
    assert named.score(new, truth) > 0.8
    assert mg.HierarchicalSVM(TREE, C=10.0, max_iter=20_000).fit(X, y).score(new, truth) < 0.7


def test_a_small_cache_changes_nothing():
    X, y = rings()
    whole, small = (fitted("gaussian", X, y, cache_size=size) for size in (200, 0.01))
    np.testing.assert_allclose(whole.decision_function(X), small.decision_function(X), atol=0.02)


@pytest.mark.parametrize(
    "kernel", ["gaussian", mg.similarity.gaussian(sigma=0.7), mg.similarity.polynomial(3), "precomputed"]
)
def test_saved_and_loaded(tmp_path, kernel):
    X, y = rings()
    X = products(X, X) if kernel == "precomputed" else X
    model = fitted(kernel, X, y)
    model.save(tmp_path / "model.mg")
    loaded = mg.load(tmp_path / "model.mg")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.node_scores(X), model.node_scores(X))
    assert loaded.kernel == kernel


def test_strings(tmp_path):
    words = ["kaufen", "laufen", "raufen", "singen", "ringen", "bringen", "gehabt", "gekappt", "geklappt"]
    labels = ["a1"] * 3 + ["a2"] * 3 + ["b1"] * 3
    model = mg.HierarchicalSVM(TREE, C=10.0, kernel=mg.similarity.subsequence(2)).fit(words, labels)
    assert model.predict(["saufen", "schwingen", "gezappt"]).tolist() == ["a1", "a2", "b1"]
    model.save(tmp_path / "model.mg")
    np.testing.assert_allclose(
        mg.load(tmp_path / "model.mg").decision_function(words), model.decision_function(words), atol=1e-12
    )


def test_multilabel():
    X, y = rings(120)
    sets = [[label, "a1"] if label == "b1" else [label] for label in y]
    model = fitted(mg.similarity.gaussian(sigma=0.5), X, sets, C=50.0, tol=1e-3)
    assert model.score(X, sets) > 0.8


def test_permuted_and_repeated_rows_change_nothing():
    X, y = rings()
    order = np.random.default_rng(0).permutation(len(y))
    first = fitted("gaussian", X, y)
    again = fitted("gaussian", X[order], y[order])
    np.testing.assert_array_equal(again.decision_function(X), first.decision_function(X))
    twice = fitted(mg.similarity.gaussian(sigma=1), np.r_[X, X], np.r_[y, y])
    weighted = fitted(mg.similarity.gaussian(sigma=1), X, y, np.full(len(y), 2.0))
    np.testing.assert_array_equal(twice.decision_function(X), weighted.decision_function(X))


def test_wrong_inputs_are_named():
    X, y = rings()
    with pytest.raises(mg.errors.DataError, match="no similarity is called 'gausian'"):
        fitted("gausian", X, y)
    with pytest.raises(mg.errors.DataError, match="n x n in training"):
        fitted("precomputed", X, y)
    with pytest.raises(mg.errors.UnsavableModelError, match="holds no code"):
        fitted(products, X, y).to_state()
