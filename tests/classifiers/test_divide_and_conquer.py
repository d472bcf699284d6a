"""A flat SVM at each parent: against a conic solver, and the identities between it and its neighbours."""

from __future__ import annotations

import threading

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import margrove as mg
from margrove.objective.certificate import Certificate
from margrove.objective.losses import LOSSES
from oracles.descent import naive_children, naive_flat_optimum, naive_separate_slacks, naive_treeloss

TREE = mg.Taxonomy.from_paths(
    ["a/a1", "a/a2", "a/a3", "b/b1/x", "b/b1/y", "b/b2", "c", "d/only/p", "d/only/q"], root="root"
)
LEAVES = list(TREE.classes)


def draw(seed, labels=LEAVES, n=24, d=4):
    """Rows that hold every label; half of the entries are zero, so that rows have inputs alone."""
    rng = np.random.default_rng(seed)
    y = [labels[k % len(labels)] for k in range(n)]
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.8)
    X = np.hstack([X, np.eye(n)[:, :3]])
    return X, y, rng.choice([0.5, 1.0, 2.0], n)


def passing(taxonomy, y, v):
    """The rows whose path goes on below v, and to which child."""
    paths = [taxonomy.path(label) for label in y]
    rows = [i for i, path in enumerate(paths) if v in path[:-1]]
    return rows, [paths[i][paths[i].index(v) + 1] for i in rows]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("labels", [LEAVES, [*LEAVES, "b", "b1", "d"]], ids=["leaves", "inner"])
def test_each_parent_has_the_optimum_of_its_flat_problem(loss, labels):
    X, y, weight = draw(1, labels)
    model = mg.DivideAndConquerSVM(TREE, C=2.0, loss=loss, tol=1e-8, max_iter=20_000).fit(X, y, weight)
    children = naive_children(TREE, y)
    choices = {v for v in children if len(children[v]) > 1}
    assert set(model.certificates_) == choices == {"root", "a", "b", "b1", "only"}
    nodes = [model.taxonomy_.name(v) for v in model.column_nodes_]
    for v in choices:
        rows, child = passing(TREE, y, v)
        value, W = naive_flat_optimum(X[rows], child, children[v], 2.0 * weight[rows], loss)
        assert model.certificates_[v].primal == pytest.approx(value, rel=1e-6)
        ours = model.weights_[:, [nodes.index(c) for c in children[v]]].T
        np.testing.assert_allclose(ours, W, atol=2e-3 * abs(W).max())
    total = naive_separate_slacks(TREE, X, y, 2.0 * weight, loss)
    certificate = model.certificate_
    assert certificate.status == "converged"
    assert certificate.primal == pytest.approx(total, rel=1e-6)
    assert certificate.dual <= total * (1 + 1e-7)
    parts = model.certificates_.values()
    assert certificate.primal == pytest.approx(sum(part.primal for part in parts), rel=1e-12)
    assert certificate.dual == pytest.approx(sum(part.dual for part in parts), rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_one_level_is_the_flat_svm(loss):
    X, y, weight = draw(2)
    exact = {"tol": 1e-8, "max_iter": 20_000, "loss": loss, "C": 0.7}
    flat = mg.HierarchicalSVM("flat", cost="zero-one", **exact).fit(X, y, weight)
    star = mg.Taxonomy.from_edges([("r", label) for label in LEAVES])
    for model in (
        mg.DivideAndConquerSVM("flat", **exact),
        mg.DivideAndConquerSVM(star, **exact),
    ):
        model.fit(X, y, weight)
        assert model.certificate_.primal == pytest.approx(flat.certificate_.primal, rel=1e-6)
        nodes = [model.taxonomy_.name(v) for v in model.column_nodes_]
        order = [nodes.index(label) for label in flat.classes_]
        np.testing.assert_allclose(model.weights_[:, order], flat.weights_, atol=1e-4)
        new = np.random.default_rng(0).standard_normal((40, X.shape[1]))
        np.testing.assert_array_equal(model.predict(new), flat.predict(new))


def test_two_classes_are_the_binary_svm():
    """Of two classes W = (w, -w) / 2, so |W|^2 / 2 = |w|^2 / 4: the binary SVM of 2 C, at half its value."""
    X, _, weight = draw(3)
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0.1, "yes", "no")
    model = mg.DivideAndConquerSVM(C=1.4, tol=1e-8, max_iter=20_000).fit(X, y, weight)
    w = cp.Variable(X.shape[1])
    losses = cp.pos(1 - cp.multiply(np.where(y == "yes", 1, -1), X @ w))
    binary = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + (2 * 1.4 * weight) @ losses))
    binary.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert model.certificate_.primal == pytest.approx(binary.value / 2, rel=1e-6)
    np.testing.assert_allclose(model.weights_[:, 1] - model.weights_[:, 0], w.value, atol=1e-3)
    # the margin of a class is its score less the other's, and one number is the difference of the margins
    np.testing.assert_allclose(model.decision_function(X), 2 * X @ w.value, atol=1e-2)


def test_same_bits_for_any_number_of_threads_order_and_copies():
    X, y, weight = draw(4, [*LEAVES, "b"], n=60)
    weight = np.ones(len(X))
    weight[::3] = 2
    twice = np.r_[np.arange(60), np.arange(0, 60, 3)]
    order = np.random.default_rng(0).permutation(60)
    for tol in (1e-2, 1e-6):
        model = mg.DivideAndConquerSVM(TREE, tol=tol).fit(X, y, weight)
        others = [mg.DivideAndConquerSVM(TREE, tol=tol, n_jobs=k).fit(X, y, weight) for k in (2, 5)]
        others.append(mg.DivideAndConquerSVM(TREE, tol=tol).fit(X[twice], [y[i] for i in twice]))
        others.append(
            mg.DivideAndConquerSVM(TREE, tol=tol).fit(
                sp.csr_array(X[order]), [y[i] for i in order], weight[order]
            )
        )
        for other in others:
            assert other.weights_.tobytes() == model.weights_.tobytes()
            assert other.certificate_.primal == model.certificate_.primal


def test_names_do_not_matter():
    X, y, weight = draw(5)
    names = sorted(node for node in TREE.nodes if node != "root")
    shuffled = np.random.default_rng(0).permutation(len(names))
    other = {"root": "top"} | {name: f"n{k}" for name, k in zip(names, shuffled, strict=True)}
    tree = mg.Taxonomy.from_edges([(other[TREE.parents(v)[0]], other[v]) for v in reversed(names)])
    exact = {"tol": 1e-8, "max_iter": 20_000}
    model = mg.DivideAndConquerSVM(TREE, **exact).fit(X, y, weight)
    renamed = mg.DivideAndConquerSVM(tree, **exact).fit(X, [other[label] for label in y], weight)
    scores = renamed.decision_function(X)[:, np.argsort(np.argsort([other[c] for c in model.classes_]))]
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_similarities(n_jobs):
    X, y, weight = draw(6)
    exact = {"tol": 1e-7, "max_iter": 20_000}
    linear = mg.DivideAndConquerSVM(TREE, **exact).fit(X, y, weight)
    for kernel, given in (("precomputed", X @ X.T), (mg.similarity.polynomial(1, 0), X)):
        model = mg.DivideAndConquerSVM(TREE, kernel=kernel, n_jobs=n_jobs, **exact).fit(given, y, weight)
        assert model.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=1e-6)
        np.testing.assert_allclose(model.decision_function(given), linear.decision_function(X), atol=1e-3)
    curved = mg.DivideAndConquerSVM(TREE, C=100.0, kernel="gaussian").fit(X, y, weight)
    assert curved.score(X, y) == 1


def test_what_nobody_passes_is_left_at_zero():
    """Below d a single child, and in b rows without weight alone."""
    X, y, _ = draw(7)
    weight = np.array([0.0 if label in ("x", "y", "b2") else 1.0 for label in y])
    model = mg.DivideAndConquerSVM(TREE).fit(X, y, weight)
    assert set(model.certificates_) == {"root", "a", "only"}
    nodes = [model.taxonomy_.name(v) for v in model.column_nodes_]
    for still in ("b1", "b2", "x", "y", "only"):
        assert not model.weights_[:, nodes.index(still)].any()
    one = mg.DivideAndConquerSVM().fit(X, ["same"] * len(X))
    assert one.certificate_.status == "converged"
    assert one.certificates_ == {}
    assert one.predict(X[:1]).tolist() == ["same"]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_watching_and_ending(n_jobs):
    X, y, weight = draw(8, n=200)
    seen = []
    model = mg.DivideAndConquerSVM(TREE, tol=1e-4, n_jobs=n_jobs).fit(X, y, weight, watch=seen.append)
    assert seen[-1].relative_gap <= 1.1e-4
    assert seen[-1].dual <= model.certificate_.primal * (1 + 1e-5)
    threads = threading.active_count()
    ended = mg.DivideAndConquerSVM(TREE, tol=1e-4, n_jobs=n_jobs).fit(X, y, weight, watch=lambda _: True)
    assert ended.certificate_.status == "interrupted"
    assert ended.certificate_.dual <= model.certificate_.primal <= ended.certificate_.primal
    assert {part.status for part in ended.certificates_.values()} == {"interrupted"}

    def fail(progress):
        raise KeyboardInterrupt

    before = model.weights_
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, weight, watch=fail)
    assert model.weights_ is before
    assert threading.active_count() == threads


def test_a_saved_model_comes_back(tmp_path):
    X, y, weight = draw(9, [*LEAVES, "b"])
    model = mg.DivideAndConquerSVM(TREE, C=3.0, loss="squared-hinge").fit(X, y, weight)
    model.save(tmp_path / "model.mg")
    loaded = mg.load(tmp_path / "model.mg")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.certificate_ == model.certificate_
    assert loaded.get_params() == model.get_params() | {"taxonomy": loaded.taxonomy_}


def test_labels_at_inner_nodes_are_right_below():
    X, y, _ = draw(10, [*LEAVES, "b"], n=60)
    model = mg.DivideAndConquerSVM(TREE, C=10.0).fit(X, y)
    predicted = model.predict(X)
    assert "b" not in predicted
    right = [label in TREE.path(found) for label, found in zip(y, predicted, strict=True)]
    assert model.score(X, y) == np.mean(right)


def test_certificate_of_all():
    parts = [
        Certificate(10.0, 9.95, 3, "converged", 1.0, 0.1, 7),
        Certificate(0.1, 0.09, 9, "stalled", 1.0, 0.2, 1),
    ]
    whole = Certificate.of_all(parts, 0.01, 2.0)
    assert (whole.status, whole.n_iter, whole.n_active, whole.max_violation) == ("converged", 9, 8, 0.2)
    assert whole.primal == 10.1
    assert Certificate.of_all(parts, 0.001, 2.0).status == "stalled"
    assert Certificate.of_all([], 0.01, 0.0).relative_gap == 0


def test_zhous_flatmult_and_treeloss_are_settings():
    """FLATMULT is taxonomy="flat", cost="zero-one"; TREELOSS attributes="ancestors", cost="tree"."""
    for seed in range(3):
        X, y, weight = draw(seed, n=12)
        exact = {"C": 1.3, "tol": 1e-8, "max_iter": 20_000}
        flatmult = mg.HierarchicalSVM("flat", cost="zero-one", **exact).fit(X, y, weight)
        value, W = naive_flat_optimum(X, y, flatmult.classes_.tolist(), 1.3 * weight)
        assert flatmult.certificate_.primal == pytest.approx(value, rel=1e-6)
        np.testing.assert_allclose(flatmult.decision_function(X), X @ W.T, atol=1e-3)
        treeloss = mg.HierarchicalSVM(TREE, attributes="ancestors", cost="tree", **exact).fit(X, y, weight)
        value = naive_treeloss(TREE, X, y, LEAVES, 1.3 * weight)
        assert treeloss.certificate_.primal == pytest.approx(value, rel=1e-6)
