"""Weights of merged inputs, given back to the features that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from margrove.classifiers.rows import expanded, merge_private


@pytest.mark.parametrize("unused", [0, 2], ids=["every feature occurs", "some do not"])
def test_expanded_weights_score_as_the_merged_ones(unused):
    rng = np.random.default_rng(0)
    X = sp.random_array((12, 60), density=0.06, rng=rng, format="csr")
    X = X[:, np.flatnonzero(np.bincount(X.indices, minlength=60))]
    X = sp.csr_array(sp.hstack([X, np.zeros((12, unused))]))
    merged, expand = merge_private(X)
    W = rng.standard_normal((merged.shape[1], 3))
    np.testing.assert_allclose(expanded(expand, W), expand @ W, atol=1e-15)
    np.testing.assert_allclose(X @ expanded(expand, W), merged @ W, atol=1e-12)
