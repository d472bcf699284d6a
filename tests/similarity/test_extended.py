"""A similarity with more training inputs is that of all of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from margrove import similarity
from margrove.errors import DataError

RNG = np.random.default_rng(0)
OLD, NEW = RNG.standard_normal((5, 3)), RNG.standard_normal((4, 3))
STRINGS = np.array(["abab", "ba", "aabb", "bbaa", "abba", "b"], object)


@pytest.mark.parametrize(
    "spec",
    [
        similarity.linear(),
        similarity.polynomial(3),
        similarity.gaussian(sigma=1.5),
        similarity.custom(lambda A, B: np.asarray((A @ B.T).todense() if sp.issparse(A) else A @ B.T)),
    ],
)
@pytest.mark.parametrize("old", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("new", [np.asarray, sp.csr_array])
def test_vectors(spec, old, new):
    both = spec.bind(old(OLD)).extended(new(NEW))
    whole = spec.bind(old(np.vstack([OLD, NEW])))
    assert both.n == 9
    every = np.arange(9)
    np.testing.assert_allclose(both.rows(every), whole.rows(every), atol=1e-12)
    np.testing.assert_allclose(both.between(old(NEW)), whole.between(old(NEW)), atol=1e-12)
    np.testing.assert_allclose(
        spec.bind(old(OLD)).restricted([]).extended(new(NEW)).rows([0])[0],
        spec.bind(old(NEW)).rows([0])[0],
        atol=1e-12,
    )


def test_strings():
    spec = similarity.subsequence(2)
    both, whole = spec.bind(STRINGS[:4]).extended(STRINGS[4:]), spec.bind(STRINGS)
    np.testing.assert_allclose(both.rows(np.arange(6)), whole.rows(np.arange(6)))


def test_a_matrix_knows_nothing_of_others():
    with pytest.raises(DataError, match="knows nothing of new inputs"):
        similarity.precomputed().bind(np.eye(3)).extended(np.eye(3))
