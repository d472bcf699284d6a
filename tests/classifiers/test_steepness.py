"""How steeply probabilities follow scores, and the folds that it is learned from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from margrove.classifiers import steepness as room
from margrove.classifiers.folds import deal, deal_by_class, splits
from margrove.classifiers.steepness import Choices, steepness
from oracles.probabilities import naive_choice_loss


def random_choices(rng, n, scale=1.0):
    sizes = rng.integers(1, 5, n)
    starts = np.cumsum(sizes) - sizes
    scores = scale * rng.standard_normal(sizes.sum())
    right = starts + rng.integers(0, sizes)
    return Choices(scores, starts, right, rng.uniform(0.5, 2, n))


def as_lists(choices):
    stops = np.append(choices.starts[1:], len(choices.scores))
    each = zip(choices.starts, stops, choices.right, choices.weight, strict=True)
    return [(weight, choices.scores[a:b].tolist(), right - a) for a, b, right, weight in each]


@given(st.integers(1, 30), st.integers(0, 2**32 - 1), st.sampled_from([1e-6, 1.0, 1e6]))
def test_the_steepness_is_that_of_least_loss(n, seed, scale):
    choices = random_choices(np.random.default_rng(seed), n, scale)
    found = steepness(choices)
    lists = as_lists(choices)
    if not any(len(scores) > 1 for _, scores, _ in lists):
        assert found == 1
        return
    least = minimize_scalar(
        lambda theta: naive_choice_loss(theta / scale, lists), bounds=(0, 100), method="bounded",
        options={"xatol": 1e-9},
    )  # fmt: skip
    assert naive_choice_loss(found, lists) <= least.fun + 1e-9 * (1 + abs(least.fun))


def test_parts_are_the_whole(monkeypatch):
    choices = random_choices(np.random.default_rng(0), 50)
    whole = steepness(choices)
    monkeypatch.setattr(room, "AT_ONCE", 7)
    assert len(choices.parts()) > 5
    assert sum(len(part.scores) for part in choices.parts()) == len(choices.scores)
    assert steepness(choices) == pytest.approx(whole, rel=1e-9)


def test_choices_that_are_always_right_are_steep_but_finite():
    starts = np.arange(0, 40, 2)
    certain = Choices(np.tile([1.0, 0.0], 20), starts, starts, np.ones(20))
    found = steepness(certain)
    assert 1 / (1 + np.exp(-found)) == pytest.approx(1 - 0.5 / 22)  # as the smoothed target
    wrong = certain._replace(right=starts + 1)
    assert steepness(wrong) == 0
    assert steepness(certain._replace(scores=np.ones(40))) == 1


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(2, 5))
def test_every_class_is_in_all_that_is_learned(labels, k):
    number = np.array(labels)
    fold = deal_by_class(number, k)
    sizes = np.bincount(number)
    assert ((fold < 0) == (sizes[number] == 1)).all()
    seen = []
    for learn, out in splits(fold):
        assert set(number[learn]) == set(number)
        assert sorted([*learn, *out]) == list(range(len(number)))
        seen += out.tolist()
    assert sorted(seen) == np.flatnonzero(fold >= 0).tolist()


def test_folds_have_equal_sizes():
    assert np.bincount(deal(10, 3)).tolist() == [4, 3, 3]
    assert [len(out) for _, out in splits(deal(10, 3))] == [4, 3, 3]
