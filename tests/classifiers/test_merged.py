"""Models whose weights are of fewer inputs than there are features."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import margrove as mg
from margrove.classifiers.merged import BLOCK, Merged
from margrove.classifiers.rows import merge_private


def few_and_alone(unused, n=12, d=60, density=0.06):
    rng = np.random.default_rng(0)
    X = sp.random_array((n, d), density=density, rng=rng, format="csr")
    X = X[:, np.flatnonzero(np.bincount(X.indices, minlength=d))]
    return sp.csr_array(sp.hstack([X, np.zeros((n, unused))])), rng


@pytest.mark.parametrize("unused", [0, 2], ids=["every feature occurs", "some do not"])
@pytest.mark.parametrize("columns", [3, BLOCK // 2], ids=["one block", "many blocks"])
def test_weights_of_features_are_those_of_their_inputs(unused, columns):
    X, rng = few_and_alone(unused)
    rows, expand = merge_private(X)
    merged = Merged.of(expand, np.float64)
    W = rng.standard_normal((rows.shape[1], columns))
    np.testing.assert_array_equal(merged.weights(W), expand @ W)
    np.testing.assert_allclose(X @ merged.weights(W), rows @ W, atol=1e-12)
    np.testing.assert_allclose(merged.rows(X) @ W, rows @ W, atol=1e-12)
    others = rng.standard_normal((5, X.shape[1]))
    np.testing.assert_allclose(merged.rows(others) @ W, others @ (expand @ W), atol=1e-12)


def test_where_no_row_has_a_feature_alone_there_is_nothing_to_merge():
    X = sp.csr_array(np.random.default_rng(0).standard_normal((4, 3)))
    rows, expand = merge_private(X)
    assert Merged.of(expand, np.float32) is None
    assert (rows != X).nnz == 0


def test_a_single_negative_feature_alone_is_not_its_own_input():
    """Its input is its absolute value, as many as there are features, and yet not the same."""
    X = sp.csr_array(np.array([[1.0, -2.0], [1.0, 0.0]]))
    _, expand = merge_private(X)
    assert expand.shape == (2, 2)
    assert Merged.of(expand, np.float64).share.tolist() == [1.0, -1.0]


@pytest.mark.parametrize("dense", [False, True])
def test_a_model_keeps_no_more_than_it_learned_and_predicts_as_if_it_did(tmp_path, dense):
    X, rng = few_and_alone(unused=3, n=80, d=400, density=0.01)
    y = rng.choice(list("abcd"), 80)
    model = mg.HierarchicalSVM("flat", tol=1e-6).fit(X, y)
    assert model.weights_.shape == (X.shape[1], 4)
    assert len(model._W) < 0.8 * X.shape[1]
    assert not model.weights_[-3:].any()
    new = sp.random_array((30, X.shape[1]), density=0.1, rng=rng, format="csr")
    new = new.toarray() if dense else new
    np.testing.assert_allclose(model.decision_function(new), new @ model.weights_, atol=1e-12)

    model.save(tmp_path / "m")
    loaded = mg.load(tmp_path / "m")
    assert loaded._W.shape == model._W.shape
    assert (loaded.weights_ == model.weights_).all()
    assert (loaded.decision_function(new) == model.decision_function(new)).all()
