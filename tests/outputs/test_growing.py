"""Columns stay where they are, or move with their weights, while outputs and attributes are added."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from margrove.outputs.growing import GrowingMatrix, moves, spread
from margrove.outputs.layout import arrange, in_columns


def random_attributes(rng, q, keys):
    """Lambda of q outputs: a column alone each, and some of the shared keys."""
    shared = rng.random((q, keys)) < 0.4
    return np.hstack([np.eye(q), shared * rng.integers(1, 4, (q, keys))])


@pytest.mark.parametrize("seed", range(20))
def test_scores_survive_growth(seed):
    """The weights of each key are the same after every step; the engine's tables are Lambda."""
    rng = np.random.default_rng(seed)
    q_most, keys_most, d = 12, 9, 4
    whole = random_attributes(rng, q_most, keys_most)
    before, matrix, known, widths = None, None, {}, []
    q, n_keys = 2, 1
    while q <= q_most:
        columns = [*range(q), *range(q_most, q_most + n_keys)]
        Lambda = sp.csr_array(whole[:q][:, columns])
        keys = np.array(columns)
        layout = arrange(Lambda, np.float64)
        after = spread(layout, keys, before)
        if matrix is None:
            matrix = GrowingMatrix(np.zeros((d, after.width)))
        else:
            then, now = moves(before, after, np.arange(q_most + keys_most))
            matrix.rearrange(then, now, after.width)
        place = dict(zip(after.keys.tolist(), after.places.tolist(), strict=True))
        assert len(set(place.values())) == len(place)
        expected = np.zeros((d, after.width))
        for key, weights in known.items():
            expected[:, place[key]] = weights
        np.testing.assert_array_equal(matrix.array, expected)
        for key, column in place.items():
            known[key] = rng.standard_normal(d)
            matrix.array[:, column] = known[key]
        arranged, _ = in_columns(Lambda, None, after.layout)
        W = np.array([known[key] for key in columns])
        np.testing.assert_allclose(arranged @ matrix.array.T, Lambda @ W)
        a = after.layout.attributes
        share = sp.csr_array((a.val, a.idx, a.ptr), shape=(len(a.ptr) - 1, after.width)).toarray()[a.group]
        share[np.arange(q), np.arange(q)] += a.own
        np.testing.assert_array_equal(share, arranged.toarray())
        for g in range(len(a.ptr) - 1):
            assert (np.diff(a.idx[a.ptr[g] : a.ptr[g + 1]]) > 0).all()
        widths.append(after.width)
        before = after
        q, n_keys = q + 1, min(keys_most, n_keys + int(rng.integers(0, 3)))
    assert len(set(widths)) < len(widths)  # not every step needs a larger matrix


def test_rows_are_added_without_copying_each_time():
    matrix, stores = GrowingMatrix(np.zeros((0, 3))), set()
    for k in range(200):
        matrix.append(np.full((1, 3), float(k)))
        stores.add(id(matrix.array.base))
    np.testing.assert_array_equal(matrix.array[:, 0], np.arange(200))
    assert len(stores) < 30
