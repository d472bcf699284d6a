"""Permutation tests: against all tosses one by one, against each other, and where the answer is known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from margrove.errors import DataError
from margrove.metrics import compare, macro_f1, paired_permutation_test, zero_one_loss
from margrove.metrics.significance import _holm
from oracles.metrics import naive_permutation_p

PAIRS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=8)
SIDES = ("two-sided", "less", "greater")


@given(PAIRS, st.sampled_from(SIDES))
def test_all_tosses_of_few_pairs(pairs, alternative):
    a, b = zip(*pairs, strict=True)
    found = paired_permutation_test(a, b, alternative=alternative)
    assert found.exact
    assert found.difference == pytest.approx(np.mean(a) - np.mean(b))
    assert found.p_value == pytest.approx(naive_permutation_p(a, b, alternative))


def test_a_sample_of_tosses_is_near_all_of_them(monkeypatch):
    rng = np.random.default_rng(0)
    a = rng.normal(size=14)
    b = a + rng.normal(0.4, size=14)
    for alternative in SIDES:
        exact = paired_permutation_test(a, b, alternative=alternative)
        with monkeypatch.context() as patched:
            patched.setattr("margrove.metrics.significance.EXACT", 3)
            sampled = paired_permutation_test(a, b, alternative=alternative)
        assert exact.exact
        assert not sampled.exact
        assert sampled.p_value == pytest.approx(exact.p_value, abs=0.02)


def test_the_least_p_value_is_that_of_the_found_toss():
    assert paired_permutation_test([0.0] * 10, [1.0] * 10, alternative="less").p_value == 2.0**-10
    assert paired_permutation_test(np.zeros(50), np.ones(50), n_permutations=99).p_value == 1 / 100
    assert paired_permutation_test([1, 2], [1, 2]).p_value == 1.0


def test_sides_and_their_names():
    a, b = [1.0, 2.0, 2.0, 5.0], [0.5, 1.0, 1.5, 3.0]
    p = {side: paired_permutation_test(a, b, alternative=side).p_value for side in SIDES}
    assert p == {"greater": 1 / 16, "less": 1.0, "two-sided": 2 / 16}
    with pytest.raises(DataError, match="alternative is 'more'; expected 'two-sided' or 'less' or 'greater'"):
        paired_permutation_test(a, b, alternative="more")


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([], [], "nothing to compare"),
        ([1.0], [1.0, 2.0], "numbers of rows differ: a has 1, b has 2"),
        ([np.nan], [1.0], "a: expected one finite number"),
        ([1.0], [[1.0]], "b: expected one finite number"),
    ],
)
def test_what_cannot_be_compared(a, b, message):
    with pytest.raises(DataError, match=message):
        paired_permutation_test(a, b)


def predictions(n=60):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, n).tolist()

    def wrong_in(share):
        return [(y + 1) % 3 if rng.random() < share else y for y in truth]

    return truth, {"good": wrong_in(0.05), "bad": wrong_in(0.6), "bad too": wrong_in(0.6)}


def test_compare_tells_good_from_bad_and_no_more():
    truth, by_method = predictions()
    found = compare(truth, by_method, measure=zero_one_loss)
    assert found.values == {name: zero_one_loss(truth, y) for name, y in by_method.items()}
    p = {(d.first, d.second): d.adjusted_p_value for d in found.differences}
    assert p["good", "bad"] < 0.01
    assert p["good", "bad too"] < 0.01
    assert p["bad", "bad too"] > 0.05
    assert "good - bad: -0." in str(found)


def test_compare_of_a_mean_is_the_paired_test_of_its_rows():
    truth, by_method = predictions()
    found = compare(truth, by_method, measure=zero_one_loss, n_permutations=4000).differences[2]
    rows = [np.not_equal(truth, by_method[name]).astype(float) for name in (found.first, found.second)]
    paired = paired_permutation_test(*rows, n_permutations=4000)
    assert found.difference == pytest.approx(paired.difference)
    assert found.p_value == pytest.approx(paired.p_value, abs=0.04)


def test_compare_of_sets_and_of_a_measure_that_is_no_mean():
    truth, by_method = predictions()
    sets = {name: [[label] for label in y] for name, y in by_method.items()}
    of_sets = compare([[y] for y in truth], sets, measure=macro_f1)
    of_labels = compare(truth, by_method, measure=macro_f1)
    assert of_sets.values == pytest.approx(of_labels.values)
    for a, b in zip(of_sets.differences, of_labels.differences, strict=True):
        assert a.p_value == pytest.approx(b.p_value, abs=0.05)


def test_rows_exchanged_by_hand():
    """Four rows, all sixteen tosses, a measure that is no mean."""
    truth, a, b = [0, 0, 1, 1], [0, 0, 1, 0], [1, 0, 0, 0]
    found = macro_f1(truth, a) - macro_f1(truth, b)
    hits = 0
    for swaps in itertools.product([False, True], repeat=4):
        one = [y if swap else x for x, y, swap in zip(a, b, swaps, strict=True)]
        other = [x if swap else y for x, y, swap in zip(a, b, swaps, strict=True)]
        hits += abs(macro_f1(truth, one) - macro_f1(truth, other)) >= abs(found) - 1e-12
    measured = compare(truth, {"a": a, "b": b}, measure=macro_f1, n_permutations=2000).differences[0]
    assert measured.p_value == pytest.approx(hits / 16, abs=0.04)


def test_compare_names_the_method_that_does_not_fit():
    with pytest.raises(DataError, match="predictions of short has 1"):
        compare([0, 1], {"fine": [0, 1], "short": [0]})
    with pytest.raises(DataError, match="predictions are empty"):
        compare([0, 1], {})
    with pytest.raises(DataError, match="n_permutations is 0"):
        compare([0, 1], {"a": [0, 1], "b": [1, 1]}, n_permutations=0)


def test_holm():
    assert _holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert _holm([0.5, 0.9]) == [1.0, 1.0]
    assert _holm([]) == []
