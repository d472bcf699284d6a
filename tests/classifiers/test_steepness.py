"""How steeply probabilities follow scores, and the folds that it is learned from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad, minimize, minimize_scalar

from margrove.classifiers import steepness as room
from margrove.classifiers.folds import deal, deal_by_class, splits
from margrove.classifiers.steepness import Choices, LossByLead, steepness, steepness_by_lead
from margrove.outputs.paths import leads
from oracles.probabilities import naive_choice_loss, naive_choice_loss_by_lead


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


def lead_of(choices):
    return leads(choices.scores, choices.starts, np.diff(np.append(choices.starts, len(choices.scores))))


def test_the_loss_by_lead_is_that_of_its_definition_and_convex():
    rng = np.random.default_rng(0)
    choices = random_choices(rng, 40)
    at = np.array([0.2, 0.5, 1.5])
    loss = LossByLead(choices, lead_of(choices), at)
    for values in rng.uniform(0, 4, (5, 3)):
        value, _, bend = loss.derivatives(values)
        draw = loss.draw * (np.diff(values) ** 2).sum() / 2
        assert value == pytest.approx(naive_choice_loss_by_lead(at, values, as_lists(choices)) + draw)
        assert check_grad(lambda v: loss.derivatives(v)[0], lambda v: loss.derivatives(v)[1], values) < 1e-4
        for k, unit in enumerate(np.eye(3)):
            ahead, behind = (loss.derivatives(values + step * unit)[1] for step in (1e-5, -1e-5))
            np.testing.assert_allclose(bend[k], (ahead - behind) / 2e-5, rtol=1e-5, atol=1e-6)
        assert np.linalg.eigvalsh(bend).min() > 0
        other = rng.uniform(0, 4, 3)
        middle = loss.derivatives((values + other) / 2)[0]
        assert middle <= (value + loss.derivatives(other)[0]) / 2 + 1e-9


@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([1e-6, 1.0, 1e6]), st.integers(2, 5))
def test_the_values_at_knots_are_those_of_least_loss(n, seed, scale, knots):
    choices = random_choices(np.random.default_rng(seed), n, scale)
    at, values = steepness_by_lead(choices, knots)
    assert at.shape == values.shape == (knots,)
    assert (np.diff(at) > 0).all()
    assert (values >= 0).all()
    lead = lead_of(choices)
    if not lead.any():
        assert (values == 1).all()
        return
    loss = LossByLead(choices, lead, at)
    least = minimize(
        lambda v: loss.derivatives(v / scale)[0], values * scale, bounds=[(0, None)] * knots,
        jac=lambda v: loss.derivatives(v / scale)[1] / scale, method="L-BFGS-B",
    )  # fmt: skip
    here, slope, _ = loss.derivatives(values)
    assert here <= least.fun + 1e-9 * (1 + abs(least.fun))
    assert (slope >= -1e-5 * scale * (1 + abs(here))).all()
    assert (np.abs(values * slope) <= 1e-5 * (1 + abs(here))).all()


def test_one_knot_is_one_steepness():
    choices = random_choices(np.random.default_rng(0), 30)
    assert steepness_by_lead(choices, 1)[1].tolist() == [steepness(choices)]
    alike = choices._replace(scores=np.tile([1.0, 0.0], 30), starts=np.arange(0, 60, 2))
    alike = alike._replace(right=alike.starts + (np.arange(30) % 3 == 0))
    at, values = steepness_by_lead(alike, 4)
    assert at[0] == 0.5  # the only lead
    np.testing.assert_allclose(values, steepness(alike), rtol=1e-6)


@pytest.mark.parametrize("knots", [1, 4])
def test_probabilities_that_are_no_softmax_of_the_scores_need_several_knots(knots):
    """The true chance of the better of two rises from a half to 0.8 at a gap of 1, and no further."""
    rng, n = np.random.default_rng(0), 20000
    gap = rng.exponential(1.5, n)
    truth = 0.5 + 0.3 * np.minimum(gap, 1)
    starts = np.arange(0, 2 * n, 2)
    right = starts + (rng.random(n) > truth)
    scores = np.column_stack([gap, np.zeros(n)]).ravel()
    at, values = steepness_by_lead(Choices(scores, starts, right, np.ones(n)), knots)
    found = 1 / (1 + np.exp(-gap * np.interp(gap / 2, at, values)))
    errors = [abs((found - truth)[part].mean()) for part in np.array_split(np.argsort(found), 15)]
    assert (np.mean(errors) < 0.02) == (knots == 4)


def test_parts_are_the_whole(monkeypatch):
    choices = random_choices(np.random.default_rng(0), 50)
    whole = steepness(choices)
    at, values = steepness_by_lead(choices, 3)
    monkeypatch.setattr(room, "AT_ONCE", 7)
    assert len(choices.parts()) > 5
    assert sum(len(part.scores) for part in choices.parts()) == len(choices.scores)
    assert steepness(choices) == pytest.approx(whole, rel=1e-9)
    in_parts = steepness_by_lead(choices, 3)
    np.testing.assert_array_equal(in_parts[0], at)
    np.testing.assert_allclose(in_parts[1], values, rtol=1e-6)


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
