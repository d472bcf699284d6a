"""How many labels a row gets."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

import margrove as mg
from margrove.classifiers.thresholds import Threshold, best_cuts
from margrove.tables.datasets import make_tree_classification
from oracles.thresholds import naive_best_cut


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_best_cuts_are_those_of_trying_each(n, q, seed):
    rng = np.random.default_rng(seed)
    scores = np.stack([rng.permutation(3 * q)[:q] for _ in range(n)]) / 4  # without ties
    right = rng.random((n, q)) < 0.5
    expected = [naive_best_cut(*row) for row in zip(scores.tolist(), right.tolist(), strict=True)]
    np.testing.assert_allclose(best_cuts(scores, sp.csr_array(right.astype(int))), expected)


def test_a_rule_that_is_linear_in_the_scores_is_found():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(400, 4)) + 3 * rng.normal(size=(400, 1))  # each row has its own level
    right = scores > scores.mean(axis=1, keepdims=True)
    rule = Threshold.fit(scores, sp.csr_array(right.astype(int)), np.ones(400))
    assert (rule.predict(scores) == right).mean() > 0.9
    assert rule.at_least_one


def test_at_least_one_only_where_every_row_of_the_training_had_one():
    rule = Threshold(np.array([0.0, 0.0, 10.0]), at_least_one=True)
    scores = np.array([[1.0, 2.0]])
    assert rule.predict(scores).tolist() == [[False, True]]
    assert Threshold(rule.coefficients, at_least_one=False).predict(scores).tolist() == [[False, False]]


def test_rows_whose_best_class_is_wrong_do_not_spoil_the_threshold():
    rng = np.random.default_rng(0)
    right = rng.random((300, 12)) < 0.15
    right[np.arange(300), rng.integers(12, size=300)] = True
    scores = 0.1 * (
        2 * right + rng.normal(size=right.shape)
    )  # held-out scores are often far below a margin of one
    rule = Threshold.fit(scores[:200], sp.csr_array(right[:200].astype(int)), np.ones(200))
    learned, constant = rule.predict(scores[200:]), scores[200:] > 0.1
    assert (
        f1_score(right[200:], learned, average="micro")
        > f1_score(right[200:], constant, average="micro") - 0.02
    )


def test_thresholds_follow_the_scale_of_the_scores():
    rng = np.random.default_rng(1)
    scores, Y = rng.normal(size=(50, 4)), sp.csr_array((rng.random((50, 4)) < 0.5).astype(int))
    np.testing.assert_allclose(best_cuts(1e-3 * scores, Y), 1e-3 * best_cuts(scores, Y))


@pytest.mark.parametrize("seed", [0, 1])
def test_learned_thresholds_beat_zero(seed):
    data = make_tree_classification(600, 15, fanout=3, depth=2, random_state=seed)
    X, taxonomy = data.X, data.taxonomy
    Y = np.array([[name in labels for name in taxonomy.classes] for labels in data.y])
    model = mg.HierarchicalSVM(taxonomy, C=1.0).fit(X[:400], data.y[:400])
    order = [taxonomy.classes.index(label) for label in model.classes_]
    truth = Y[400:][:, order]
    learned = model.threshold_.predict(model.decision_function(X[400:]))
    at_zero = model.decision_function(X[400:]) > 0
    assert f1_score(truth, learned, average="micro") > 0.65
    assert f1_score(truth, learned, average="micro") > f1_score(truth, at_zero, average="micro") + 0.03
    assert abs(learned.sum() / truth.sum() - 1) < 0.25


X = np.random.default_rng(0).normal(size=(24, 4))


@pytest.mark.parametrize(
    "y",
    [
        [["a", "b"]] * 24,
        [[], ["a", "b"], ["a"], ["b"]] * 6,
        [["a"]] * 23 + [["b"]],
        [[]] * 23 + [["a", "b"]],
        [["a"]] * 24,
    ],
)
@pytest.mark.parametrize("rows", [1, 2, 3, 24])
def test_odd_sets_and_few_rows(y, rows):
    y = y[-rows:]
    model = mg.HierarchicalSVM().fit(X[-rows:], y)
    predicted = model.predict(X)
    assert len(predicted) == 24
    assert all(set(labels) <= {"a", "b"} for labels in predicted)
    if all(labels == y[0] for labels in y):
        assert all(sorted(labels) == y[0] for labels in predicted)


def test_no_rows_to_predict():
    model = mg.HierarchicalSVM().fit(X, [["a"], ["a", "b"]] * 12)
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])
