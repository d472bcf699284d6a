"""Cached rows against a list of what should be kept."""

from __future__ import annotations

import numpy as np
import pytest

import margrove as mg
from margrove.errors import DataError
from margrove.similarity import RowCache
from oracles.similarity import NaiveCache

N = 12
GRAM = np.random.default_rng(0).standard_normal((N, N))
GRAM = GRAM @ GRAM.T


class Counting:
    """A bound similarity that notes which rows it had to compute."""

    n = N

    def __init__(self):
        self.asked = []

    def rows(self, indices, dtype):
        self.asked.append(indices.tolist())
        return GRAM[indices].astype(dtype)


def megabytes(rows, dtype=np.float64):
    return rows * N * np.dtype(dtype).itemsize / 2**20


@pytest.mark.parametrize("capacity", [0, 1, 3, 7, 11, 12, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_random_requests(capacity, dtype):
    rng = np.random.default_rng(capacity)
    source = Counting()
    cache, naive = RowCache(source, megabytes(capacity, dtype), dtype), NaiveCache(min(capacity, N))
    assert cache.is_whole == (capacity >= N)
    for _ in range(300):
        size = rng.choice([0, 1, 1, 2, 3, 6, 14])
        indices = rng.integers(0, N, size) if rng.random() < 0.5 else rng.permutation(N)[:size]
        source.asked.clear()
        found = cache.rows(indices)
        missing = naive.ask(indices.tolist())
        assert source.asked == ([missing] if missing else [])
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, GRAM[indices].astype(dtype))
        found[:] = np.nan  # it is the caller's own
        assert len(cache) == len(naive.kept) <= min(capacity, N)
        assert (cache.hits, cache.misses) == (naive.hits, naive.misses)


def test_the_whole_matrix():
    source = Counting()
    cache = RowCache(source, megabytes(N, np.float32), np.float32)
    cache.rows([4, 2])
    matrix = cache.matrix()
    np.testing.assert_array_equal(matrix, GRAM.astype(np.float32))
    assert source.asked[1] == [i for i in range(N) if i not in (2, 4)]
    assert cache.matrix().base is matrix.base
    assert not matrix.flags.writeable
    np.testing.assert_array_equal(cache.rows([7]), matrix[[7]])
    assert (cache.hits, cache.misses, len(source.asked)) == (1, N, 2)


def test_with_a_real_similarity():
    X = np.random.default_rng(0).standard_normal((9, 2))
    bound = mg.similarity.gaussian(sigma=1.0).bind(X)
    cache = RowCache(bound, 3 * 9 * 8 / 2**20)
    np.testing.assert_array_equal(cache.rows([5, 5, 1]), bound.rows([1, 5])[[1, 1, 0]])


def test_wrong_uses_are_told():
    with pytest.raises(DataError, match="megabytes is -1"):
        RowCache(Counting(), -1)
    with pytest.raises(DataError, match="12 rows do not fit a cache of 3"):
        RowCache(Counting(), megabytes(3)).matrix()
