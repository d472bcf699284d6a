"""String subsequences against the definition; what the kernel itself computes is in tests/kernels."""

from __future__ import annotations

import subprocess
import sys
from math import comb

import numpy as np
import pytest

import margrove as mg
from margrove.errors import DataError
from margrove.kernels.strings import subsequence_pairs
from margrove.similarity import sequences
from oracles import similarity as twins

OPTIONS = [(4, 0.5, True), (2, 0.3, True), (3, 1.0, False), (1, 0.7, False)]


def random_strings(seed, count=8, longest=9):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("abß"), size)) for size in rng.integers(0, longest, count)] + ["abcabc"]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("engine", [None, subsequence_pairs], ids=["numpy", "numba"])
def test_by_definition(options, engine, monkeypatch):
    monkeypatch.setattr(sequences, "PAIRS", 20)  # blocks of several calls
    X, new = random_strings(0), random_strings(1, 4)
    bound = mg.similarity.subsequence(*options).bind(X).with_engine(engine)
    named = dict(zip(("length", "decay", "normalize"), options, strict=True))
    expected = np.array(twins.naive_gram(twins.naive_subsequence, X, X, **named))
    for indices in (np.arange(9), [7], [5, 0, 8, 2], []):
        np.testing.assert_allclose(bound.rows(indices), expected[indices, :][: len(indices)], rtol=1e-12)
    np.testing.assert_allclose(bound.diagonal(), expected.diagonal(), rtol=1e-12)
    expected = twins.naive_gram(twins.naive_subsequence, new, X, **named)
    np.testing.assert_allclose(bound.between(new), expected, rtol=1e-12)
    assert not bound.is_linear


def test_gram_matrices_are_positive_semidefinite():
    X = random_strings(3, 40, 30)
    gram = mg.similarity.subsequence(3).bind(X).rows(np.arange(len(X)))
    np.testing.assert_array_equal(gram, gram.T)
    assert np.linalg.eigvalsh(gram).min() > -1e-12


def test_rows_may_be_asked_for_twice():
    X = random_strings(0)
    bound = mg.similarity.subsequence(2).bind(X)
    np.testing.assert_array_equal(bound.rows([3, 1, 3]), bound.rows(np.arange(9))[[3, 1, 3]])


def test_both_engines_agree():
    """On strings of very different lengths, one of which is too short for a subsequence."""
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), size)) for size in (300, 3, 40, 600, 41, 150)]
    slow = mg.similarity.subsequence().bind(X)
    fast = slow.with_engine(subsequence_pairs)
    np.testing.assert_allclose(fast.rows(np.arange(6)), slow.rows(np.arange(6)), rtol=1e-12)
    assert slow.diagonal().tolist() == [1, 0, 1, 1, 1, 1]
    assert fast.restricted([1, 2]).engine is subsequence_pairs


@pytest.mark.parametrize("make", [tuple, np.array, lambda X: np.array(X, object)])
def test_any_sequence_of_strings(make):
    X = random_strings(0)
    spec = mg.similarity.subsequence(2)
    np.testing.assert_array_equal(spec.bind(make(X)).between(make(X)), spec.bind(X).between(X))


def test_short_jobs_do_not_load_numba():
    program = (
        "import sys, margrove as mg; k = mg.similarity.get('subsequence').bind(['abcdef', 'abxcd']);"
        "k.rows([0, 1]); k.between(['abcd']); assert not {'numba', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_wrong_uses_are_told():
    for options, message in (
        ({"length": 0}, "length is 0"),
        ({"decay": 0.0}, "decay is 0.0; expected a number above 0 and up to 1"),
        ({"decay": 1.1}, r"decay is 1\.1"),
        ({"length": 2.0}, "length is 2.0; expected a whole number"),
        ({"normalize": "no"}, "normalize is 'no'"),
        ({"decay": 1e-50, "normalize": False}, "to the power 2 x 4 is zero"),
    ):
        with pytest.raises(DataError, match=message):
            mg.similarity.subsequence(**options)
    spec = mg.similarity.subsequence()
    for X in ("abc", np.array([["a"], ["b"]]), np.eye(2)):
        with pytest.raises(DataError, match="X must be a sequence of strings"):
            spec.bind(X)
    with pytest.raises(DataError, match="X, row 1: expected a string, not 3"):
        spec.bind(["a", 3])
    with pytest.raises(
        DataError, match="a string of 2000 characters has too many subsequences of length 200"
    ):
        mg.similarity.subsequence(200, 1.0).bind(["a" * 2000])
    assert mg.similarity.subsequence(200, 0.5).bind(["a" * 2000]).n == 1  # here the other bound holds


def test_sums_at_the_limit_do_not_overflow():
    """Strings that are not refused have finite sums, and these are counts where decay is 1."""
    spec = mg.similarity.subsequence(60, 1.0, normalize=False)
    assert spec.bind(["a" * 200]).diagonal() == pytest.approx(comb(200, 60) ** 2, rel=1e-12)
    assert mg.similarity.subsequence(60, 0.99).bind(["a" * 300]).rows([0]) == 1.0
