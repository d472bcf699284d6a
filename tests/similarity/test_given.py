"""Similarities that the user has computed, or computes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import margrove as mg
from margrove.errors import DataError

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((7, 3))
GRAM = ROWS @ ROWS.T
NEW = RNG.standard_normal((4, 3)) @ ROWS.T


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, list])
def test_precomputed(form):
    bound = mg.similarity.precomputed().bind(form(GRAM))
    np.testing.assert_allclose(bound.rows([3, 1]), GRAM[[3, 1]])
    np.testing.assert_array_equal(bound.diagonal(), GRAM.diagonal())
    np.testing.assert_array_equal(bound.between(form(NEW)), NEW)
    few = bound.restricted([5, 2]).restricted([1, 0])
    np.testing.assert_array_equal(few.between(NEW), NEW[:, [2, 5]])
    np.testing.assert_allclose(few.rows([1]), GRAM[[5]][:, [2, 5]])


def test_wrong_matrices_are_told():
    spec = mg.similarity.precomputed()
    with pytest.raises(DataError, match="X is 4 x 7; a precomputed similarity is n x n in training"):
        spec.bind(NEW)
    with pytest.raises(DataError, match="X has 3 columns; a precomputed similarity has one for each of 7"):
        spec.bind(GRAM).between(NEW[:, :3])
    wrong = GRAM.copy()
    wrong[2, 5] += 1
    with pytest.raises(DataError, match=r"X is not symmetric: X\[2, 5\] is"):
        spec.bind(wrong)
    with pytest.raises(DataError, match=r"X\[0, 0\] is -.*no input has a negative similarity to itself"):
        spec.bind(-GRAM)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_custom(form):
    bound = mg.similarity.custom(lambda A, B: A @ B.T).bind(form(ROWS))
    np.testing.assert_allclose(bound.rows([3, 1]), GRAM[[3, 1]])
    np.testing.assert_allclose(bound.diagonal(), GRAM.diagonal())
    np.testing.assert_allclose(bound.between(form(ROWS[:2])), GRAM[:2])
    np.testing.assert_allclose(bound.restricted([4, 0]).rows([1]), GRAM[[0]][:, [4, 0]])


def test_custom_takes_any_inputs():
    """Here: strings, more of them than are compared to themselves at once."""
    words = ["a" * (k % 5) + "b" * (k % 7) for k in range(150)]
    bound = mg.similarity.custom(lambda A, B: [[len(a) * len(b) for b in B] for a in A]).bind(words)
    sizes = np.array(list(map(len, words)), float)
    np.testing.assert_array_equal(bound.diagonal(), sizes**2)
    np.testing.assert_array_equal(bound.between(["abc"]), 3 * sizes[None])


def test_a_function_is_asked_for_the_diagonal_once():
    calls = []
    bound = mg.similarity.custom(lambda A, B: calls.append(len(A)) or A @ B.T).bind(ROWS)
    for i in range(3):
        bound.rows([i])
    assert sorted(calls) == [1, 1, 1, 7]


def test_wrong_functions_are_told():
    with pytest.raises(DataError, match="custom takes a function"):
        mg.similarity.custom(3)
    with pytest.raises(DataError, match=r"returned the shape \(2,\) for 2 and 7 rows"):
        mg.similarity.custom(lambda A, B: A @ B[0]).bind(ROWS).between(ROWS[:2])
    with pytest.raises(DataError, match="value that is not finite"):
        mg.similarity.custom(lambda A, B: A @ B.T * np.nan).bind(ROWS).rows([0])


def test_the_matrix_of_a_function_is_left_alone():
    kept = np.zeros((1, 7))
    mg.similarity.custom(lambda A, B: kept if len(A) < len(B) else GRAM).bind(ROWS).rows([2])
    assert not kept.any()
