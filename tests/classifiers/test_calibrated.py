"""Probabilities of every classifier: alike on all levels, in all batches, and as often right as they say."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import margrove as mg
from margrove import loading
from margrove.classifiers.calibrated import node_labels
from margrove.classifiers.calibration import Calibration, common_length, held_out_scores, without_unseen
from margrove.errors import DataError, InvalidModelFileError, LabelError

TREE = mg.Taxonomy.from_edges(
    [("r", "a"), ("r", "b"), ("r", "t"), ("a", "p"), ("a", "q"), ("b", "u"), ("b", "v"), ("b", "w")]
)
GRAPH = mg.Taxonomy.from_edges(
    [
        ("r", "a"),
        ("r", "b"),
        ("a", "p"),
        ("a", "q"),
        ("b", "q"),
        ("b", "u"),
        ("b", "v"),
        ("a", "t"),
        ("b", "w"),
    ]
)
NAMES = np.array(["p", "q", "t", "u", "v", "w"])


def draw(n, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    k = rng.integers(6, size=n)
    return noise * rng.normal(size=(n, 8)) + 1.5 * np.eye(6, 8)[k], NAMES[k]


X, Y = draw(600)
X_NEW, Y_NEW = draw(3000, seed=1)
ESTIMATORS = {
    "ranking": mg.HierarchicalSVM(TREE, tol=0.001),
    "ranking in a graph": mg.HierarchicalSVM(GRAPH, tol=0.001),
    "flat": mg.HierarchicalSVM("flat", tol=0.001),
    "descent": mg.PathMarginSVM(TREE, fit_intercept=False, tol=0.001),
    "Gaussian": mg.PathMarginSVM(TREE, kernel="gaussian", tol=0.001),
}


@pytest.fixture(scope="module")
def fitted():
    return {
        name: mg.CalibratedTaxonomyClassifier(estimator).fit(X, Y) for name, estimator in ESTIMATORS.items()
    }


@pytest.mark.parametrize("name", ESTIMATORS)
def test_probabilities_agree_across_levels(fitted, name):
    model = fitted[name]
    P, N = model.predict_proba(X_NEW), model.node_probabilities(X_NEW)
    taxonomy = model.taxonomy_
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(N[:, 0], 1, rtol=1e-12)
    column = {node: k for k, node in enumerate(model.class_nodes_)}
    for v, node in enumerate(taxonomy.nodes):
        below = [column[leaf] for leaf in taxonomy.leaves_under(node) if leaf in column]
        np.testing.assert_allclose(N[:, v], P[:, below].sum(axis=1), atol=1e-12)
        if taxonomy.is_tree and taxonomy.children(node):
            children = taxonomy.indices(taxonomy.children(node))
            np.testing.assert_allclose(N[:, v], N[:, children].sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
def test_a_batch_of_one_is_as_a_batch_of_many(fitted, name, form, monkeypatch):
    model, rows = fitted[name], form(X_NEW[:40])
    many = model.node_probabilities(rows)
    one = np.vstack([model.node_probabilities(rows[i : i + 1]) for i in range(40)])
    assert np.abs(many - one).max() <= 1e-9
    monkeypatch.setattr("margrove.classifiers.class_model.ROWS", 70)  # blocks of a few rows
    assert np.abs(model.node_probabilities(rows) - many).max() <= 1e-9
    assert (model.predict(rows) == [model.predict(rows[i : i + 1])[0] for i in range(40)]).all()


def test_single_precision_weights_and_dense_rows_do_not_depend_on_the_batch(monkeypatch):
    monkeypatch.setattr("margrove.classifiers.examples.SMALL", 0)
    model = mg.CalibratedTaxonomyClassifier(mg.HierarchicalSVM(TREE, tol=0.1), folds=2).fit(X[:100], Y[:100])
    assert model.estimator_.weights_.dtype == np.float32
    many = model.predict_proba(X_NEW[:64])
    one = np.vstack([model.predict_proba(X_NEW[i : i + 1]) for i in range(64)])
    assert np.abs(many - one).max() <= 1e-9


@pytest.mark.parametrize("name", ESTIMATORS)
def test_probabilities_are_calibrated_at_every_level(fitted, name):
    model = fitted[name]
    P = model.predict_proba(X_NEW)
    errors = mg.metrics.calibration_error_by_level(Y_NEW, P, model.classes_, model.taxonomy_)
    assert max(errors.values()) < 0.06
    # and not because they are all alike
    assert mg.metrics.expected_calibration_error(Y_NEW, P**0.5 / (P**0.5).sum(1, keepdims=True), NAMES) > 0.1
    assert P.max(axis=1).std() > 0.1
    assert model.score(X_NEW, Y_NEW) > model.estimator_.score(X_NEW, Y_NEW) - 0.03


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_prediction_is_the_most_probable_class_or_that_of_the_steps(fitted, name):
    model = fitted[name]
    P = model.predict_proba(X_NEW)
    best = model.predict(X_NEW)
    assert (best == model.classes_[P.argmax(axis=1)]).all()
    assert (best == model.predict_ranking(X_NEW, top=1)[:, 0]).all()
    labels, scores = model.predict_ranking(X_NEW, top=None, return_scores=True)
    assert (np.diff(scores, axis=1) <= 0).all()
    np.testing.assert_array_equal(scores, -np.sort(-P, axis=1))
    assert labels.shape == P.shape
    same, probability = model.predict(X_NEW, return_scores=True)
    assert (same == best).all()
    np.testing.assert_array_equal(probability, P.max(axis=1))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X_NEW)), P)
    assert model.score(X_NEW, Y_NEW) == (best == Y_NEW).mean()
    if model.estimator_._descends:
        model.set_params(decode="steps")
        assert (model.predict(X_NEW) == model.estimator_.predict(X_NEW)).all()
        model.set_params(decode="best-path")


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("confidence", [0.3, 0.8, 0.99, 1])
def test_the_deepest_node_that_is_sure_enough(fitted, name, confidence):
    model = fitted[name]
    N, taxonomy = model.node_probabilities(X_NEW[:200]), model.taxonomy_
    nodes, probability = model.predict(X_NEW[:200], confidence=confidence, return_scores=True)
    for row, node, p in zip(N, nodes, probability, strict=True):
        enough = {v: p for v, p in zip(taxonomy.nodes, row, strict=True) if p >= confidence - 1e-12}
        assert node in enough
        assert p == pytest.approx(enough[node])
        deepest = max(taxonomy.depth(v) for v in enough)
        assert taxonomy.depth(node) == deepest
        assert p >= max(q for v, q in enough.items() if taxonomy.depth(v) == deepest) - 1e-12


def test_predictions_that_stop_hold_as_often_as_they_say(fitted):
    model = fitted["ranking"]
    kept = [mg.metrics.containment(Y_NEW, model.predict(X_NEW, confidence=c), TREE) for c in (0.5, 0.8, 0.95)]
    assert kept[0] < kept[1] < kept[2]
    assert (np.array(kept) > [0.5, 0.8, 0.93]).all()
    assert mg.metrics.containment(Y_NEW, model.predict(X_NEW, confidence=1), TREE) == 1


def test_names_of_nodes_are_like_the_labels():
    rows, paths = X[:60], [{"p": "a/p", "q": "a/q", "t": "t"}.get(label, f"b/{label}") for label in Y[:60]]
    model = mg.CalibratedTaxonomyClassifier(folds=2).fit(rows, paths)
    assert set(node_labels(model.estimator_)) == {"root", "a", "b", "t", *paths}
    assert set(model.predict(rows, confidence=1)) <= {"root", "a", "b", "t", *paths}
    levels = np.array([path.split("/") if "/" in path else [path, None] for path in paths], object)
    by_level = mg.CalibratedTaxonomyClassifier(folds=2).fit(rows, levels)
    assert set(node_labels(by_level.estimator_)) == {"root", "a", "b", "t", *paths}
    truth = mg.metrics.evaluate(paths, model.predict(rows, confidence=0.9), taxonomy=model.taxonomy_)
    assert truth["hierarchical_precision"] > 0.9


def test_labels_at_inner_nodes():
    y = np.where((np.arange(600) % 5 == 0) & np.isin(Y, ["u", "v", "w"]), "b", Y)
    for estimator in (
        mg.HierarchicalSVM(TREE, tol=0.1),
        mg.PathMarginSVM(TREE, fit_intercept=False, tol=0.1),
    ):
        model = mg.CalibratedTaxonomyClassifier(estimator, folds=2).fit(X, y)
        P = model.predict_proba(X)
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
        at_inner = P[:, model.classes_.tolist().index("b")]
        assert (at_inner > 0).all() if estimator.__class__ is mg.HierarchicalSVM else (at_inner == 0).all()
        assert set(model.predict(X, confidence=0.9)) <= {*TREE.nodes}
        assert set(model.predict(X)) <= {*NAMES, "b"}
        assert model.score(X, y) > 0.4


def test_weights_are_repetitions_and_the_order_of_rows_does_not_matter():
    weight = np.arange(200) % 3
    classifier = mg.CalibratedTaxonomyClassifier(mg.HierarchicalSVM(TREE, tol=0.1), folds=2)
    whole = clone(classifier).fit(X[:200], Y[:200], sample_weight=weight)
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(200), weight))
    again = classifier.fit(X[order], Y[order])
    np.testing.assert_allclose(whole.predict_proba(X_NEW), again.predict_proba(X_NEW), rtol=1e-9)


def test_scores_are_of_fits_that_did_not_see_the_row():
    """Labels that say nothing are learned by heart, which only held-out scores give away."""
    rng = np.random.default_rng(0)
    wide, y = rng.normal(size=(80, 400)), rng.choice(["a", "b"], 80)
    model = mg.CalibratedTaxonomyClassifier(mg.HierarchicalSVM(C=1)).fit(wide, y)
    assert model.estimator_.score(wide, y) == 1
    assert model.predict_proba(rng.normal(size=(50, 400))).max() < 0.8


@pytest.mark.parametrize("estimator", [mg.HierarchicalSVM, mg.SubtreeSVM, mg.Hieron])
def test_a_class_above_others_has_its_own_probability(estimator, tmp_path):
    """Closed sets keep such a class at the inner node, and predict it."""
    rng = np.random.default_rng(0)
    taxonomy = mg.Taxonomy.from_paths(["food/apple", "food/leek", "tools/saw"], root="shop")
    y = np.array(["food", "apple", "leek", "saw"])[np.arange(80) % 4]
    rows = 3 * np.eye(4)[np.arange(80) % 4] + rng.normal(scale=0.5, size=(80, 4))
    model = mg.CalibratedTaxonomyClassifier(estimator(taxonomy)).fit(rows, y)
    assert model.score(rows, y) > 0.9
    P, N = model.predict_proba(rows), model.node_probabilities(rows)
    food = model.taxonomy_.indices(["food"])[0]
    np.testing.assert_allclose(N[:, food], 1 - P[:, model.classes_.tolist().index("saw")])
    assert P[y == "food", model.classes_.tolist().index("food")].min() > 0.5
    model.save(tmp_path / "model.mg")
    np.testing.assert_array_equal(mg.load(tmp_path / "model.mg").predict_proba(rows), P)


def test_only_rows_like_those_to_come_are_held_out():
    rng = np.random.default_rng(0)
    hard = rng.random(600) < 0.2
    y = np.where(hard, rng.permutation(Y), Y)  # what hard rows say is luck
    model = mg.CalibratedTaxonomyClassifier(mg.HierarchicalSVM("flat", tol=0.001))
    sure = model.fit(X, y, calibration_weight=~hard).predict_proba(X_NEW).max(axis=1).mean()
    unsure = model.fit(X, y, calibration_weight=hard).predict_proba(X_NEW).max(axis=1).mean()
    assert sure > unsure + 0.1
    mostly = model.fit(X, y, calibration_weight=np.where(hard, 0.01, 1)).predict_proba(X_NEW)
    assert mostly.max(axis=1).mean() > (sure + unsure) / 2
    alike = model.fit(X, y, calibration_weight=np.full(600, 1e-3)).predict_proba(X_NEW)
    np.testing.assert_allclose(alike, model.fit(X, y).predict_proba(X_NEW), rtol=1e-9)
    for weight in (hard[:-1], -1.0 * hard, np.zeros(600)):
        with pytest.raises(DataError, match="calibration_weight"):
            model.fit(X, y, calibration_weight=weight)
    with pytest.raises(DataError, match="no class has two"):
        model.fit(X[:7], list("aabcdef"), calibration_weight=[0, 0, 1, 1, 1, 1, 1])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_held_out_rows_know_no_more_than_new_ones(form):
    rows = np.array([[3.0, 0, 4], [0, 5, 0], [0, 0, 0]])
    assert common_length(form(rows)) == 5
    assert common_length(form(rows * [[1], [2], [1]])) is None
    assert common_length(form(0 * rows)) is None
    known = without_unseen(form(rows), np.array([1.0, 0, 1]), 5.0)
    assert sp.issparse(known) == (form is sp.csr_array)
    np.testing.assert_allclose(sp.csr_array(known).toarray(), [[3, 0, 4], [0, 0, 0], [0, 0, 0]])
    known = without_unseen(form(rows), np.array([1.0, 1, 0]), 5.0)
    np.testing.assert_allclose(sp.csr_array(known).toarray(), [[5, 0, 0], [0, 5, 0], [0, 0, 0]])


def test_held_out_scores_are_of_some_rows_where_there_are_many(monkeypatch):
    model = mg.HierarchicalSVM(TREE, tol=0.1).fit(X, Y)
    number = np.searchsorted(NAMES, Y)
    all_scores, right, weight = held_out_scores(model, X, number, np.ones(600), np.ones(600), 5)
    assert all_scores.shape == (600, 6)
    monkeypatch.setattr("margrove.classifiers.calibration.HELD_OUT", 6 * 50)
    monkeypatch.setattr("margrove.classifiers.class_model.ROWS", 6 * 7)
    some, right_of_some, weight_of_some = held_out_scores(model, X, number, np.ones(600), np.ones(600), 5)
    assert some.shape == (50, 6)
    apart = np.abs(some[:, None] - all_scores).max(axis=2)
    assert (apart.min(axis=1) < 1e-12).all()
    few = Calibration.fit(model, some, right_of_some, weight_of_some, 4)
    many = Calibration.fit(model, all_scores, right, weight, 4)
    assert np.abs(few.probabilities(all_scores) - many.probabilities(all_scores)).mean() < 0.05


@pytest.mark.parametrize("kernel", ["precomputed", "subsequence"])
def test_similarities_that_rows_do_not_show(kernel):
    rng = np.random.default_rng(0)
    y = np.array(["p", "q", "u"] * 12)
    if kernel == "precomputed":
        points = rng.normal(size=(36, 4)) + 2 * np.eye(3, 4)[np.arange(36) % 3]
        rows = points @ points.T
    else:
        rows = np.array([label * 4 + "".join(rng.choice(list("xyz"), 4)) for label in y])
    model = mg.CalibratedTaxonomyClassifier(mg.HierarchicalSVM(TREE, kernel=kernel)).fit(rows, y)
    assert (model.predict(rows) == y).mean() > 0.8
    np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1)


def test_one_class_and_two_classes():
    one = mg.CalibratedTaxonomyClassifier().fit(X, ["a"] * 600)
    assert one.predict_proba(X[:3]).tolist() == [[1.0]] * 3
    assert one.predict(X[:2], confidence=1).tolist() == ["a", "a"]
    two = mg.CalibratedTaxonomyClassifier().fit(X, Y > "q")
    assert two.decision_function(X).shape == (600,)
    assert ((two.decision_function(X) > 0) == two.predict(X)).all()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_there_and_back(fitted, name, tmp_path):
    model = fitted[name]
    model.save(tmp_path / "model.mg")
    loaded = mg.load(tmp_path / "model.mg")
    for method in ("predict_proba", "node_probabilities", "decision_function", "node_scores", "predict"):
        np.testing.assert_array_equal(getattr(loaded, method)(X_NEW), getattr(model, method)(X_NEW))
    assert (loaded.predict(X_NEW, confidence=0.9) == model.predict(X_NEW, confidence=0.9)).all()
    assert loaded.certificate_ == model.certificate_
    loaded.save(tmp_path / "again.mg")
    assert (tmp_path / "again.mg").read_bytes() == (tmp_path / "model.mg").read_bytes()
    assert (loaded.fit(X, Y).predict(X_NEW) == model.predict(X_NEW)).all()


def test_hostile_states_are_refused(fitted):
    several = mg.HierarchicalSVM().fit(X, [[label] for label in Y.tolist()])
    changes = [
        {"folds": "3"}, {"knots": 3}, {"knots": 0}, {"decode": "worst"},
        {"evidence": None}, {"evidence": -1.0}, {"evidence": np.nan},
        {"estimator": loading.describe(several)[0]}, {"estimator": {"kind": "TableModel"}}, {"estimator": 1},
    ]  # fmt: skip
    header, arrays = loading.describe(fitted["ranking"])
    loading.restore(header, arrays)
    for change in changes:
        with pytest.raises(InvalidModelFileError):
            loading.restore(header | change, arrays)
    good = arrays["steepness.values"]
    for found in (good[:1], good[:, :3], good * np.inf, good.astype(int), -1 - good):
        with pytest.raises(InvalidModelFileError):
            loading.restore(header, arrays | {"steepness.values": found})
    with pytest.raises(InvalidModelFileError):
        loading.restore(header, arrays | {"steepness.knots": arrays["steepness.knots"][:, ::-1]})
    for missing in ("steepness.values", "steepness.knots"):
        with pytest.raises(InvalidModelFileError):
            loading.restore(header, {name: array for name, array in arrays.items() if name != missing})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"folds": 1}, "folds is 1"),
        ({"folds": 2.5}, "folds is 2.5"),
        ({"knots": 0}, "knots is 0"),
        ({"decode": "greedy"}, "decode is 'greedy'"),
        ({"estimator": LogisticRegression()}, "expected a classifier of this package"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        mg.CalibratedTaxonomyClassifier(**parameters).fit(X, Y)


@pytest.mark.parametrize("option", [{"sample_weight": np.ones(600)}, {"watch": print}])
def test_what_the_estimator_does_not_take_is_named(option):
    with pytest.raises(ValueError, match=f"Hieron takes no {next(iter(option))}"):
        mg.CalibratedTaxonomyClassifier(mg.Hieron()).fit(X, Y, **option)


def test_wrong_targets_and_confidences_are_named(fitted):
    with pytest.raises(LabelError, match="several labels a row"):
        mg.CalibratedTaxonomyClassifier().fit(X, [[label] for label in Y])
    with pytest.raises(DataError, match="no class has two different rows"):
        mg.CalibratedTaxonomyClassifier().fit(X[:3], ["a", "b", "c"])
    for confidence in (0, 1.5, -1, float("nan")):
        with pytest.raises(ValueError, match="expected a probability"):
            fitted["flat"].predict(X, confidence=confidence)


@pytest.mark.parametrize("kernel", ["linear", "gaussian", "precomputed"])
def test_a_class_whose_rows_all_weigh_nothing_stays_a_class(kernel):
    rows, labels = (X[:90], Y[:90]) if kernel != "precomputed" else (X[:90] @ X[:90].T, Y[:90])
    silent = labels == "t"
    for estimator in (mg.HierarchicalSVM(TREE, kernel=kernel), mg.PathMarginSVM(TREE, kernel=kernel)):
        model = mg.CalibratedTaxonomyClassifier(estimator).fit(rows, labels, (~silent).astype(float))
        assert (model.classes_ == NAMES).all()
        P = model.predict_proba(rows)
        np.testing.assert_allclose(P.sum(axis=1), 1)
        assert P[:, NAMES == "t"].max() < 0.5


def test_the_rows_of_the_caller_stay_as_they_are():
    rng = np.random.default_rng(0)
    for columns in ([1, 0], [1, 1]):  # unsorted, and one entry in two parts
        rows = sp.csr_matrix(
            (rng.normal(size=120), np.tile(columns, 60), np.arange(0, 121, 2)), shape=(60, 2)
        )
        for part in (rows.data, rows.indices, rows.indptr):
            part.flags.writeable = False
        model = mg.CalibratedTaxonomyClassifier(mg.HierarchicalSVM("flat")).fit(
            rows, np.tile(list("abc"), 20)
        )
        model.predict_proba(rows)
        assert rows.nnz == 120
        assert rows.indices[:2].tolist() == columns
