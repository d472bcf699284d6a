"""Scores, rankings and how a fit is watched."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import margrove as mg

EDGES = [
    ("r", "m"),
    ("r", "n"),
    ("m", "a"),
    ("m", "b"),
    ("n", "c"),
    ("n", "d"),
    ("n", "o"),
    ("o", "e"),
    ("r", "u"),
]
TAX = mg.Taxonomy.from_edges(EDGES)
DAG = mg.Taxonomy.from_edges([*EDGES, ("m", "o")])


def problem(n=80, labels="abcde", d=8):
    rng = np.random.default_rng(0)
    k = rng.integers(len(labels), size=n)
    return rng.normal(size=(n, d)) + 2 * np.eye(len(labels), d)[k], np.array(list(labels))[k]


@pytest.mark.parametrize("taxonomy", [TAX, DAG])
@pytest.mark.parametrize("attributes", ["one-hot", "ancestors", "depth-scaled", "depth-scaled-class"])
def test_class_scores_are_sums_of_node_scores(taxonomy, attributes):
    X, y = problem()
    y[:5] = "m"  # an inner node
    model = mg.HierarchicalSVM(taxonomy, attributes=attributes).fit(X, y)
    from margrove.taxonomy.attributes import get

    Lambda, nodes = get(attributes).bind(model.taxonomy_, model.class_nodes_)
    scores = model.node_scores(X)
    assert scores.shape == (80, model.taxonomy_.n_nodes)
    np.testing.assert_allclose(scores[:, nodes] @ Lambda.toarray().T, model.decision_function(X), rtol=1e-10)
    assert (scores[:, [model.taxonomy_.index("r"), model.taxonomy_.index("u")]] == 0).all()


def test_attributes_of_the_users_own():
    X, y = problem()
    mine = np.random.default_rng(1).normal(size=(5, 3))
    model = mg.HierarchicalSVM(TAX, attributes=mine).fit(X, y)
    expected = model.node_scores(X) @ model.attributes_.toarray().T
    np.testing.assert_allclose(expected, model.decision_function(X), rtol=1e-10)
    assert model.column_nodes_ is None


def test_rankings_are_sorted_scores():
    X, y = problem()
    model = mg.HierarchicalSVM(TAX).fit(X, y)
    F = model.decision_function(X)
    labels, scores = model.predict_ranking(X, top=None, return_scores=True)
    np.testing.assert_array_equal(scores, -np.sort(-F, axis=1))
    np.testing.assert_array_equal(labels, model.classes_[np.argsort(-F, axis=1, kind="stable")])
    np.testing.assert_array_equal(model.predict_ranking(X, top=2), labels[:, :2])
    np.testing.assert_array_equal(model.predict(X), labels[:, 0])
    assert model.predict_ranking(X, top=99).shape == (80, 5)
    for top in (0, -1):
        with pytest.raises(ValueError, match=f"top is {top}"):
            model.predict_ranking(X, top=top)
    with pytest.raises(TypeError):
        model.predict_ranking(X, top=1.5)


def test_two_classes_have_one_score():
    X, y = problem(labels="ab")
    model = mg.HierarchicalSVM().fit(X, y)
    F = model.decision_function(X)
    assert F.shape == (80,)
    np.testing.assert_array_equal(model.predict(X), np.where(F > 0, "b", "a"))
    ranked, scores = model.predict_ranking(X, return_scores=True)
    np.testing.assert_allclose(scores[:, 0] - scores[:, 1], abs(F))
    assert (ranked[:, 0] == model.predict(X)).all()
    assert mg.HierarchicalSVM().fit(X, [[label] for label in y]).decision_function(X).shape == (80, 2)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_row_alone_scores_as_it_does_among_others(form, monkeypatch):
    X, y = problem()
    model = mg.HierarchicalSVM(TAX).fit(X, y)
    given = form(X)
    together = model.decision_function(given)
    alone = np.vstack([model.decision_function(given[[i]]) for i in range(len(y))])
    np.testing.assert_allclose(alone, together, rtol=0, atol=0 if sp.issparse(given) else 1e-9)
    monkeypatch.setattr("margrove.classifiers.class_model.ROWS", 20)
    np.testing.assert_allclose(model.decision_function(given), together, atol=1e-9)
    np.testing.assert_array_equal(model.predict(given), model.classes_[together.argmax(axis=1)])


def test_before_a_fit():
    model = mg.HierarchicalSVM()
    for call in (model.predict, model.predict_ranking, model.node_scores, model.decision_function):
        with pytest.raises(NotFittedError):
            call(np.ones((2, 2)))
    with pytest.raises(NotFittedError):
        model.to_state()


# --- watching, ending and failing ---


def test_watch_sees_rounds_and_may_end_the_fit():
    X, y = problem()
    seen = []
    full = mg.HierarchicalSVM(TAX, tol=1e-4, max_iter=1000).fit(X, y, watch=seen.append)
    assert [progress.n_iter for progress in seen] == list(range(full.n_iter_ + 1))
    assert seen[-1].primal == pytest.approx(full.certificate_.primal, rel=1e-4)

    model = mg.HierarchicalSVM(TAX, tol=1e-6).fit(X, y, watch=lambda progress: progress.n_iter == 1)
    assert model.certificate_.status == "interrupted"
    assert model.certificate_.n_iter == 1
    assert model.score(X, y) > 0.5


def test_watch_speaks_in_the_users_units():
    X, y = problem()
    first, second = [], []
    mg.HierarchicalSVM(TAX).fit(X, y, watch=first.append)
    mg.HierarchicalSVM(TAX, C=2.0**-60).fit(X * 2.0**30, y, watch=second.append)
    for ours, theirs in zip(first, second, strict=True):
        assert theirs.primal * 2.0**60 == pytest.approx(ours.primal)


def test_verbose_writes_rounds_to_standard_error(capsys):
    mg.HierarchicalSVM(verbose=1).fit(*problem())
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("round 0: primal ")


def test_an_ended_multilabel_fit_ends_soon():
    X, y = problem()
    calls = []

    def end(progress):
        calls.append(progress)
        return True

    model = mg.HierarchicalSVM(C=1e4, tol=1e-7).fit(X, [[label] for label in y], watch=end)
    assert len(calls) == 1
    assert model.certificate_.status == "interrupted"
    assert len(model.predict(X)) == 80


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_fit_that_fails_changes_nothing(error):
    X, y = problem()

    def fail(progress):
        raise error

    model = mg.HierarchicalSVM(TAX)
    with pytest.raises(error):
        model.fit(X, y, watch=fail)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not hasattr(model, "n_features_in_")
    model.fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(error):
        model.set_params(taxonomy=None).fit(X[:, :3], [[label, "z"] for label in y], watch=fail)
    np.testing.assert_array_equal(model.decision_function(X), before)
    assert model.classes_.tolist() == list("abcde")
    assert model.predict(X).dtype == y.dtype


def test_warm_starts_are_quicker_and_as_right():
    X, y = problem(n=300)
    model = mg.HierarchicalSVM(TAX, C=1.0, tol=1e-3, warm_start=True, max_iter=1000).fit(X, y)
    again = model.fit(X, y).certificate_
    assert again.status == "converged"
    assert again.n_iter <= 1
    for C in (0.5, 1.5):
        warm = model.set_params(C=C).fit(X, y).certificate_
        cold = mg.HierarchicalSVM(TAX, C=C, tol=1e-3, max_iter=1000).fit(X, y).certificate_
        assert warm.primal >= cold.dual - 1e-9
        assert cold.primal >= warm.dual - 1e-9
    other = model.fit(X[:50], y[:50][::-1])  # other targets: the start is of no use, and does no harm
    assert other.certificate_.status == "converged"
