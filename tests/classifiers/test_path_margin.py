"""Wang's margins along a path, as users have them: optima, identities, bias, costs, psi-learning."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

import margrove as mg
from margrove.classifiers.descent_fit import descent_problem, read_examples
from margrove.errors import ZeroModelWarning
from oracles.paths import Tree, naive_margin, naive_path_margins
from oracles.problems import random_edges
from oracles.taxonomy import naive_h_loss, naive_symmetric_difference

EXACT = {"tol": 5e-7, "max_iter": 50_000}
TREE = mg.Taxonomy.from_paths(["fruit/pear", "root/leek", "fruit/apple", "root/carrot", "salt"])
LABELS = ["apple", "pear", "leek", "carrot", "salt"]


def blobs(n=25, d=3, seed=0):
    rng = np.random.default_rng(seed)
    number = np.arange(n) % len(LABELS)
    centres = rng.normal(size=(len(LABELS), d))
    return rng.normal(size=(n, d)) / 2 + centres[number] + 1, np.array(LABELS)[number]


def random_tree(seed, n=14, d=3):
    rng = np.random.default_rng(seed)
    edges = random_edges(rng, "tree")
    taxonomy = mg.Taxonomy.from_edges(edges)
    number = np.arange(n) % len(taxonomy.classes)
    y = [taxonomy.classes[k] for k in number]
    X = rng.standard_normal((n, d)) + 2 * rng.standard_normal((len(taxonomy.classes), d))[number] + 1
    return edges, taxonomy, X, y, rng.choice([0.5, 1.0, 2.0], n)


@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_trees_whose_classes_stand_in_no_order_converge(tol):
    rng = np.random.default_rng(0)
    y = np.array(["apple", "pear", "leek", "carrot", "salt"] * 4)
    X = rng.normal(size=(20, 5))
    model = mg.PathMarginSVM(TREE, tol=tol, max_iter=20_000).fit(X, y)
    assert model.certificate_.status == "converged"
    assert model.certificate_.relative_gap <= tol
    examples, descent = read_examples(mg.PathMarginSVM(TREE), X, y, None)
    problem = descent_problem(examples, descent, 1.0)
    assert problem.Y.has_sorted_indices
    rivals = [sum(len(TREE.children(node)) - 1 for node in TREE.ancestors(label)
                  if TREE.children(node)) for label in examples.classes.labels]  # fmt: skip
    assert problem.n_contrasts.tolist() == (examples.Y @ np.array(rivals)).tolist()


def assert_same_optimum(model, tree, X, value, W, b):
    certificate = model.certificate_
    assert certificate.primal == pytest.approx(value, rel=1e-6)
    assert certificate.dual <= value * (1 + 1e-7)
    scores = X @ W.T + b
    clear = [abs(naive_margin(tree, s, tree.step_down(s))) > 1e-4 for s in scores]
    theirs = np.array([tree.step_down(s) for s in scores])
    np.testing.assert_array_equal(model.predict(X)[clear], theirs[clear])
    assert np.mean(clear) > 0.5


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_optimum_is_that_of_the_programme_with_sums_of_zero(loss, bias, seed):
    """(2.4) as printed, sum-to-zero constraints and all."""
    edges, taxonomy, X, y, weight = random_tree(seed)
    tree = Tree(edges, y)
    value, W, b = naive_path_margins(tree, X, list(zip(range(len(y)), y, weight, strict=True)), loss, bias)
    model = mg.PathMarginSVM(taxonomy, loss=loss, fit_intercept=bias, **EXACT).fit(X, y, weight)
    assert (model.intercept_ is not None) == bias
    assert_same_optimum(model, tree, X, value, W, b)


COSTS = {
    "symmetric-difference": lambda edges, y, r: naive_symmetric_difference(edges, y, r),
    "h-loss": lambda edges, y, r: naive_h_loss(edges, y, r, "subtree"),
    "h-loss-sibling": lambda edges, y, r: naive_h_loss(edges, y, r, "sibling"),
}


@pytest.mark.parametrize(("loss", "bias"), [("hinge", True), ("hinge", False), ("logistic", True)])
@pytest.mark.parametrize("cost", COSTS)
def test_target_costs_make_the_programme_4_1(cost, loss, bias):
    edges, taxonomy, X, y, _ = random_tree(5, n=7, d=2)
    tree, classes = Tree(edges, y), sorted(set(y))
    L = {(j, m): COSTS[cost](edges, j, m) if j != m else 0.0 for j in classes for m in classes}
    most = max(L.values())
    terms = [(i, j, 3 * (most - L[y[i], j])) for i in range(len(y)) for j in classes]
    value, W, b = naive_path_margins(tree, X, terms, loss, bias)
    model = mg.PathMarginSVM(taxonomy, C=3, loss=loss, fit_intercept=bias, target_cost=cost, **EXACT)
    assert_same_optimum(model.fit(X, y), tree, X, value, W, b)


@pytest.mark.parametrize("loss", ["hinge", "psi", "logistic"])
def test_zero_one_is_the_target_that_needs_no_costs(loss):
    X, y = blobs()
    plain, costed = (
        mg.PathMarginSVM(TREE, C=0.2, loss=loss, target_cost=cost).fit(X, y) for cost in (None, "zero-one")
    )
    np.testing.assert_allclose(costed.decision_function(X), plain.decision_function(X), atol=1e-9)


@pytest.mark.filterwarnings("ignore::margrove.errors.ZeroModelWarning")
def test_labels_at_inner_nodes_cost_as_miscellaneous_classes():
    edges = [("r", "a"), ("r", "b"), ("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2")]
    X, y = blobs(12, 2)
    y = np.array(["a", "a1", "a2", "b1", "b2"])[np.searchsorted(np.unique(LABELS), y)].tolist()
    classes, with_own = sorted(set(y)), [*edges, ("a", "a*")]
    terms = []
    for i, mine in enumerate(y):
        for j in classes:
            ends = ("a*" if v == "a" else v for v in (mine, j))
            terms.append((i, j, 10 * (5 - naive_symmetric_difference(with_own, *ends) - 1)))
    value, _, _ = naive_path_margins(Tree(edges, y), X, [t for t in terms if t[2] > 0])
    model = mg.PathMarginSVM(
        mg.Taxonomy.from_edges(edges), C=10, target_cost="symmetric-difference", **EXACT
    ).fit(X, y)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6)
    assert set(model.predict(X)) <= set(classes) - {"a"}
    alone = mg.PathMarginSVM(target_cost="tree").fit(X, ["a"] * len(X))
    assert alone.predict(X).tolist() == ["a"] * len(X)


@pytest.mark.parametrize(
    ("loss", "cost"), [("hinge", None), ("psi", None), ("hinge", "symmetric-difference")]
)
def test_a_similarity_is_as_its_vectors(loss, cost):
    points = mg.datasets.make_quadrants(24, random_state=3)  # steps by psi end at one optimum, either way
    X, y = points.X, points.y
    options = {"loss": loss, "target_cost": cost, "tol": 1e-5, "max_iter": 50_000}
    linear = mg.PathMarginSVM(points.taxonomy, **options).fit(X, y)
    similar = mg.PathMarginSVM(points.taxonomy, kernel=lambda A, B: A @ B.T, **options).fit(X, y)
    assert similar.weights_.shape[0] <= len(X)
    if loss == "psi":  # from one start, but perhaps to different valleys
        assert similar.objectives_[0] == pytest.approx(linear.objectives_[0], rel=2e-3)
        return
    assert similar.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=2e-4)
    clear = linear.decision_function(X).max(axis=1) > 1e-2
    np.testing.assert_array_equal(similar.predict(X)[clear], linear.predict(X)[clear])


@pytest.mark.parametrize("scale", [1e-6, 1e4])
def test_units_of_the_inputs_leave_the_bias_alone(scale):
    X, y = blobs()
    usual = mg.PathMarginSVM(TREE, loss="psi", tol=1e-3).fit(X, y)
    scaled = mg.PathMarginSVM(TREE, loss="psi", C=1 / scale**2, tol=1e-3).fit(X * scale, y)
    np.testing.assert_allclose(scaled.intercept_, usual.intercept_, rtol=1e-3, atol=1e-3)
    ends = [0, -1]
    np.testing.assert_allclose(scaled.objectives_[ends] * scale**2, usual.objectives_[ends], rtol=1e-3)


def test_a_shift_of_the_inputs_changes_the_bias_alone():
    X, y = blobs()
    models = [mg.PathMarginSVM(TREE, **EXACT).fit(Z, y) for Z in (X, X + np.array([1.0, -2.0, 3.0]))]
    np.testing.assert_allclose(models[1].weights_, models[0].weights_, atol=1e-3)
    assert models[1].certificate_.primal == pytest.approx(models[0].certificate_.primal, rel=1e-6)


@pytest.mark.parametrize("bias", [False, True])
def test_one_level_is_the_flat_svm(bias):
    """The k-class machine of Liu and Shen, which is that of Crammer and Singer but for the bias."""
    X, y = blobs()
    ours = mg.PathMarginSVM("flat", fit_intercept=bias, **EXACT).fit(X, y)
    flat = mg.HierarchicalSVM("flat", cost="zero-one", fit_intercept=bias, **EXACT).fit(X, y)
    assert ours.certificate_.primal == pytest.approx(flat.certificate_.primal, rel=1e-6)
    np.testing.assert_array_equal(ours.predict(X), flat.predict(X))


def test_two_classes_are_the_binary_svm():
    X, y = blobs()
    y = np.where(np.isin(y, ["apple", "salt"]), "a", "b")
    ours = mg.PathMarginSVM(**EXACT).fit(X, y)
    theirs = SVC(kernel="linear", C=2.0, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X) / 2, theirs.decision_function(X), atol=5e-3)


@pytest.mark.parametrize(
    "options", [{}, {"loss": "psi"}, {"C": 2.0, "target_cost": "tree", "tol": 1e-4}], ids=str
)
def test_rows_in_any_order_repeated_or_weighted_and_other_names(options):
    points = mg.datasets.make_quadrants(24, random_state=0)
    X, y, weight = points.X, points.y, np.r_[2.0, np.ones(23)]

    def fit(X, y, weight=None, taxonomy=points.taxonomy):
        settings = {"C": 0.5, "tol": 1e-5, "max_iter": 50_000} | options
        return mg.PathMarginSVM(taxonomy, **settings).fit(X, y, weight)

    usual = fit(X, y, weight)
    order = np.random.default_rng(0).permutation(24)
    for other in (fit(np.r_[X[:1], X], np.r_[y[:1], y]), fit(X[order], y[order], weight[order])):
        np.testing.assert_array_equal(other.weights_, usual.weights_)
        np.testing.assert_array_equal(other.intercept_, usual.intercept_)
    names = dict(zip([1, 2, 3, 4], "dbca", strict=True))
    renamed = mg.Taxonomy.from_paths(["X/d", "X/b", "R/c", "R/a"])
    model = fit(X, [names[v] for v in y], weight, renamed)
    assert model.certificate_.primal == pytest.approx(usual.certificate_.primal, rel=2e-4)
    clear = usual.decision_function(X).max(axis=1) > 1e-2
    theirs = np.array([names[v] for v in usual.predict(X)])
    np.testing.assert_array_equal(model.predict(X)[clear], theirs[clear])


def test_what_psi_tells():
    X, y = blobs()
    model = mg.PathMarginSVM(TREE, loss="psi", tol=1e-3).fit(X, y)
    assert (np.diff(model.objectives_) < 0).all()
    assert len(model.objectives_) > 1
    u = model.decision_function(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    value = 0.5 * (model.weights_**2).sum() + np.clip(1 - u, 0, 1).sum()
    assert model.objectives_[-1] == pytest.approx(value, rel=1e-9)
    assert model.objectives_[-1] <= model.certificate_.primal * (1 + 1e-12)
    assert model.set_params(loss="hinge").fit(X, y).objectives_ is None


def test_costs_that_leave_nothing_to_learn_are_told():
    X, y = blobs()
    with pytest.warns(ZeroModelWarning, match="raise C"):
        mg.PathMarginSVM(TREE, C=0.01, target_cost="tree").fit(X, y)


@pytest.mark.parametrize("option", [{"fit_intercept": "no"}, {"loss": "ramp"}], ids=str)
def test_options_that_mean_nothing(option):
    with pytest.raises(ValueError, match=next(iter(option))):
        mg.PathMarginSVM(**option).fit(*blobs())
