"""Wang's SVM of unequal costs: its printed programme, identities, degenerate costs, and forms of costs."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

import margrove as mg
from margrove.classifiers.cost_sensitive_svm import CostSensitiveSVM
from margrove.errors import DataError, InvalidModelFileError, LabelError, ZeroModelWarning
from oracles.decisions import naive_features, naive_msvm, naive_ranked, naive_rescaled

THREE = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 4.0], [1.0, 4.0, 0.0]])  # (Wang 3.11)
METHODS = ("decisions", "ranked", "rescaled", "equal")


def rows(seed, q=3, n=15, least=0.8):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % q
    X = rng.normal(size=(n, 3)) + 1.5 * np.eye(q, 3)[y]
    costs = rng.uniform(least, 1, (q, q))
    np.fill_diagonal(costs, 0)
    return X, y, costs, rng.choice([0.5, 1.0, 2.0], n)


def fitted(X, y, costs, weight=None, **options):
    options = {"tol": 1e-9, "max_iter": 50_000} | options
    return CostSensitiveSVM(costs, **options).fit(X, y, weight)


def assert_optimum(oracle, X, y, costs, weight, *, bias, kernel="linear", **options):
    Z, similarity = X, "linear"
    if kernel == "gaussian":
        Z = naive_features(np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 8))
        similarity = mg.similarity.gaussian(sigma=2.0)
    value, g = oracle(Z, costs, y, weight, bias=bias)
    model = fitted(X, y, costs, weight, fit_intercept=bias, kernel=similarity, **options)
    assert model.certificate_.status == "converged"
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6)
    assert model.certificate_.dual <= value * (1 + 1e-7)
    ours = -model._class_scores(model._check_X(X))
    np.testing.assert_allclose(centred(ours), centred(g), atol=1e-4)
    second, best = -np.partition(-g, [-2, -1], axis=1)[:, -2:].T
    clear = second - best > 1e-3
    assert clear.sum() > len(X) / 2
    assert (model.predict(X) == g.argmin(axis=1))[clear].all()


def centred(g):
    return g - g.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    ("method", "oracle"),
    [("decisions", naive_msvm), ("ranked", naive_ranked), ("rescaled", naive_rescaled)],
)
def test_optimum_is_that_of_the_printed_programme(method, oracle, bias, kernel):
    for q, seed in ((3, 2), (4, 2)):
        assert_optimum(oracle, *rows(seed, q), bias=bias, kernel=kernel, method=method)


@pytest.mark.parametrize("bias", [False, True])
def test_equal_costs_know_of_no_costs(bias):
    X, y, costs, weight = rows(0)
    assert_optimum(
        lambda Z, _, y, w, bias: naive_msvm(Z, 1 - np.eye(3), y, w, bias=bias),
        X, y, costs, weight, bias=bias, method="equal",
    )  # fmt: skip


SINGULAR = {
    "equal columns": np.array([[0, 0, 1], [0, 0, 0.8], [0.9, 0.9, 0]]),
    "a free mistake": np.array([[0, 1, 1], [0, 0, 1], [1, 1, 0.0]]),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_singular_costs(name):
    costs = SINGULAR[name]
    X, y, _, weight = rows(3, len(costs))
    model = fitted(X, y, costs, weight, fit_intercept=False)
    value, g = naive_msvm(X, costs, y, weight, bias=False)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(centred(-model.decision_function(X)), centred(g), atol=1e-4)
    for method, oracle in (("ranked", naive_ranked), ("rescaled", naive_rescaled)):
        value, _ = oracle(X, costs, y, weight, bias=False)
        model = fitted(X, y, costs, weight, fit_intercept=False, method=method)
        assert model.certificate_.primal == pytest.approx(value, rel=1e-6)


# --- identities ---


@pytest.mark.parametrize("method", ["decisions", "rescaled", "equal"])
def test_equal_costs_make_the_flat_svm(method):
    X, y, _, weight = rows(0)
    model = fitted(X, y, 1 - np.eye(3), weight, fit_intercept=False, method=method)
    flat = mg.HierarchicalSVM("flat", cost="zero-one", tol=1e-7, max_iter=50_000).fit(X, y, weight)
    np.testing.assert_allclose(model.weights_, flat.weights_, atol=1e-4)
    assert model.certificate_.primal == pytest.approx(flat.certificate_.primal, rel=1e-6)


def test_equal_costs_rank_as_the_flat_svm_with_a_slack_for_each_pair():
    X, y, _, weight = rows(0)
    model = fitted(X, y, 1 - np.eye(3), weight, fit_intercept=False, method="ranked")
    flat = mg.HierarchicalSVM("flat", cost="zero-one", slack="pair", tol=1e-7, max_iter=50_000)
    np.testing.assert_allclose(model.weights_, flat.fit(X, y, weight).weights_, atol=1e-4)


@pytest.mark.parametrize("method", ["ranked", "rescaled"])
def test_two_classes_are_the_binary_svm_with_weights(method):
    X, y, _, weight = rows(0, 2, 30)
    ours = fitted(X, y, [[0, 3], [1, 0]], weight, method=method, C=0.5).decision_function(X)
    theirs = SVC(C=1.0, kernel="linear", class_weight={0: 3.0, 1: 1.0}, tol=1e-8).fit(X, y, weight)
    np.testing.assert_allclose(ours, theirs.decision_function(X), atol=2e-3)


def test_two_classes_of_decisions_are_the_binary_svm_of_pseudo_labels():
    """Rows of the dearer class are themselves; those of the cheaper one have both labels (N.2)."""
    X, y, _, weight = rows(0, 2, 30)
    ours = fitted(X, y, [[0, 3], [1, 0]], weight, C=0.5).decision_function(X)
    both = y == 1
    more = np.concatenate([3 * weight, 2 * weight[both]])
    labels = np.concatenate([y, 0 * y[both]])
    C = 0.5 * (3 + 1) ** 2 / (3**2 + 1**2)  # |g|^2 = (a^2 + b^2) / (a + b)^2 |g_2 - g_1|^2
    theirs = SVC(C=C, kernel="linear", tol=1e-8).fit(np.vstack([X, X[both]]), labels, more)
    np.testing.assert_allclose(ours, theirs.decision_function(X), atol=2e-3)


@pytest.mark.parametrize("method", METHODS)
def test_names_order_and_copies_do_not_matter(method):
    X, y, costs, _ = rows(1)
    options = {"method": method, "tol": 1e-6}
    model = fitted(X, y, costs, **options)
    F = model.decision_function(X)
    names = np.array(["c", "a", "b"])
    order = np.argsort(names)
    renamed = fitted(X, names[y], costs[np.ix_(order, order)], **options)
    np.testing.assert_allclose(renamed.decision_function(X)[:, np.argsort(order)], F, atol=2e-3)
    shuffled = np.random.default_rng(0).permutation(len(y))
    again = fitted(X[shuffled], y[shuffled], costs, **options)
    np.testing.assert_array_equal(again.weights_, model.weights_)
    twice = fitted(np.vstack([X, X[:5]]), np.concatenate([y, y[:5]]), costs, **options)
    weighted = fitted(X, y, costs, 1.0 + (np.arange(len(y)) < 5), **options)
    np.testing.assert_array_equal(twice.weights_, weighted.weights_)
    np.testing.assert_array_equal(twice.intercept_, weighted.intercept_)


@pytest.mark.parametrize("method", METHODS)
def test_a_precomputed_similarity_is_the_same(method):
    X, y, costs, weight = rows(2)
    options = {"method": method, "tol": 1e-7}
    model = fitted(X, y, costs, weight, **options)
    given = fitted(X @ X.T, y, costs, weight, kernel="precomputed", **options)
    np.testing.assert_allclose(given.decision_function(X @ X.T), model.decision_function(X), atol=2e-3)


@pytest.mark.parametrize("method", METHODS)
def test_squared_hinge_loss(method):
    X, y, costs, weight = rows(2)
    model = fitted(X, y, costs, weight, method=method, loss="squared-hinge", tol=1e-5)
    assert model.certificate_.status == "converged"
    assert model.weights_.any()


# --- where nothing is to be learned ---


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("bias", [False, True])
def test_a_zero_optimum_is_told_and_its_remedy_works(C, bias):
    """Wang's own example: zero is the optimum of (3.4) whatever C is, as a conic solver finds too."""
    p = mg.datasets.make_three_gaussians(60, random_state=0)
    with pytest.warns(ZeroModelWarning, match=r"zero weights are optimal.*only rows of 2, 3 pull"):
        model = CostSensitiveSVM(p.costs, C, fit_intercept=bias).fit(p.X, p.y)
    assert not model.weights_.any()
    assert model.certificate_.status == "converged"
    value, _ = naive_msvm(p.X, p.costs, p.y - 1, np.full(60, C), bias=bias)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        better = fitted(p.X, p.y, p.costs, C=C, method="ranked", fit_intercept=bias, tol=1e-2)
    assert better.weights_.any()
    assert len(set(better.predict(p.X))) > 1


def test_costs_whose_rows_pull_no_way():
    """Then the start is the whole proof (N.6)."""
    paths = ["a/b/c", "a/b/d", "a/e/f", "a/e/g", "h/i/j", "h/i/k", "h/l/m", "h/l/n"]
    X, y = np.random.default_rng(0).normal(size=(24, 30)), [paths[k % 8] for k in range(24)]
    for bias in (False, True):
        with pytest.warns(ZeroModelWarning, match="no label has more than half"):
            model = CostSensitiveSVM("tree", fit_intercept=bias, tol=1e-9).fit(X, y)
        assert model.certificate_.status == "converged"
        assert model.n_iter_ == 0
    assert fitted(X, y, "tree", C=10.0, method="ranked", tol=1e-2).score(X, y) == 1


# --- what costs may be ---


NAMES = ["ant", "bee", "cow"]


@pytest.mark.parametrize(
    "costs",
    [
        THREE,
        THREE.tolist(),
        pd.DataFrame(THREE, NAMES, NAMES).loc[["cow", "ant", "bee"], ["bee", "ant", "cow"]],
        {NAMES[y]: {NAMES[r]: THREE[y, r] for r in range(3) if r != y} for y in range(3)} | {"dog": {}},
        mg.costs.matrix(THREE, NAMES),
    ],
    ids=["matrix", "lists", "frame", "mapping", "cost"],
)
def test_forms_of_costs(costs):
    X, y, _, _ = rows(0)
    model = CostSensitiveSVM(costs, method="rescaled").fit(X, np.array(NAMES)[y])
    np.testing.assert_array_equal(model.costs_, THREE)


def test_costs_of_a_taxonomy():
    X, y, _, _ = rows(0)
    tax = mg.Taxonomy.from_edges([("r", "insect"), ("r", "cow"), ("insect", "ant"), ("insect", "bee")])
    model = CostSensitiveSVM("tree", taxonomy=tax, method="ranked").fit(X, np.array(NAMES)[y])
    np.testing.assert_array_equal(model.costs_, [[0, 1, 1.5], [1, 0, 1.5], [1.5, 1.5, 0]])


@pytest.mark.parametrize(
    ("costs", "error", "message"),
    [
        (THREE - np.eye(3), DataError, "predicting class 'ant' where 'ant' is right is -1; being right"),
        (THREE - 2 * np.eye(3, k=1), DataError, "'bee' where 'ant' is right is -1; no mistake"),
        (np.where(THREE < 4, THREE, np.inf), DataError, "where 'bee' is right is inf; costs are finite"),
        (0 * THREE, DataError, "all costs are zero"),
        (THREE[:2, :2], DataError, r"shape \(2, 2\) but y has 3 classes"),
        (THREE[0], DataError, r"shape \(3,\) but y has 3 classes"),
        ([["a"]], DataError, "not a matrix of numbers"),
        ("treee", DataError, "no cost is called 'treee'"),
        (pd.DataFrame(THREE, NAMES, ["ant", "bee", "cat"]), LabelError, "no column for class 'cow'"),
        (pd.DataFrame(THREE, ["ant", "ant", "cow"], NAMES), LabelError, "two rows of one name"),
        ({"ant": {"bee": 1, "cow": 1}}, LabelError, "no entry for class 'bee'"),
        ({"ant": {"bee": 1}}, LabelError, "to predict class 'cow' where 'ant' is right"),
        ({"ant": 1}, DataError, "expected a mapping from predicted"),
        (mg.costs.matrix(THREE, ["ant", "bee", "cat"]), LabelError, "no row for class 'cow'"),
    ],
)  # fmt: skip
def test_wrong_costs_are_named(costs, error, message):
    X, y, _, _ = rows(0)
    with pytest.raises(error, match=message):
        CostSensitiveSVM(costs).fit(X, np.array(NAMES)[y])


@pytest.mark.parametrize(
    "costs", [THREE, {y: {r: 1.0 + r for r in range(3)} | {y: 0} for y in range(3)}, "tree"]
)
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_saved_models_are_the_same(costs, kernel, tmp_path):
    X, y, _, _ = rows(0)
    model = CostSensitiveSVM(costs, method="ranked", kernel=kernel).fit(X, y)
    model.save(tmp_path / "model.mg")
    loaded = mg.load(tmp_path / "model.mg")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.costs_, model.costs_)
    assert loaded.intercept_.dtype == model.intercept_.dtype
    np.testing.assert_array_equal(loaded.fit(X, y).decision_function(X), model.decision_function(X))
    header, arrays = model.to_state()
    with pytest.raises(InvalidModelFileError, match="costs do not fit"):
        CostSensitiveSVM.from_state(header, arrays | {"costs": THREE[:2]})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_rows_about_which_every_mistake_is_free(method, kernel):
    """They are in training with any method, and teach the ranking nothing."""
    X, y, _, _ = rows(0)
    costs = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 0.0]])
    options = {"method": method, "kernel": kernel}
    assert fitted(X, y, costs, tol=1e-2, **options).decision_function(X).shape == (15, 3)
    if method == "ranked" and kernel == "linear":
        with pytest.raises(DataError, match="no mistake about any row costs anything"):
            fitted(X, y, costs, (y == 2).astype(float), **options)


def test_label_sets_are_refused():
    with pytest.raises(LabelError, match="several labels a row; CostSensitiveSVM decides for one"):
        CostSensitiveSVM().fit(np.eye(3), [["a"], ["a", "b"], ["c"]])


def test_warm_starts_agree():
    X, y, costs, weight = rows(1)
    options = {"tol": 1e-6, "max_iter": 50_000, "method": "ranked"}
    warm = CostSensitiveSVM(costs, 0.1, warm_start=True, **options).fit(X, y, weight)
    cold = CostSensitiveSVM(costs, 2.0, **options).fit(X, y, weight)
    warm.set_params(C=2.0).fit(X, y, weight)
    assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=2e-3)
