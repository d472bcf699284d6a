"""Zhou's classifiers, as users have them: what they minimise, what they are equal to, what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import margrove as mg
from margrove.errors import ConvexityError, DataError, LabelError
from margrove.objective.metric import alpha_bound
from oracles.orthogonal import TREES, random_descent_case

CLOSE = {"tol": 1e-8, "max_iter": 50_000}


def fitted(kind, case, **options):
    return kind(case.taxonomy, case.C, **(CLOSE | options)).fit(case.X, case.y, case.weight)


def node_weights(model, case):
    """By the case's order of the nodes."""
    scores = model.node_scores(np.eye(case.X.shape[1]))
    return np.array([scores[:, model.taxonomy_.indices([node])[0]] for node in case.nodes])


@pytest.mark.parametrize("strength", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("seed", range(10))
def test_transfer_is_the_optimum_of_its_programme(seed, strength):
    case = random_descent_case(seed)
    n = len(case.nodes)
    M = np.array(
        [[case.transfer(np.eye(n)[[a]].T + np.eye(n)[[b]].T, strength) for a in range(n)] for b in range(n)]
    )
    single = np.array([case.transfer(np.eye(n)[[a]].T, strength) for a in range(n)])
    M = M - single - single[:, None]  # polarised
    value, W = case.conic_optimum([np.linalg.cholesky(M).T])
    model = fitted(mg.TransferSVM, case, transfer=strength)
    assert model.certificate_.status == "converged"
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6)
    ours = node_weights(model, case)
    assert case.transfer(ours, strength) + case.losses(ours) == pytest.approx(
        model.certificate_.primal, rel=1e-9
    )
    np.testing.assert_allclose(ours, W, atol=2e-3 * max(abs(W).max(), 1.0))


@pytest.mark.parametrize("seed", range(10))
def test_orthogonal_transfer_is_the_optimum_of_its_programme(seed):
    case = random_descent_case(seed)
    bound = alpha_bound(case.K(1.0))
    model = fitted(mg.OrthogonalTransferSVM, case, alpha=min(1.0, 0.9 * bound))
    K = case.K(model.alpha_)
    value, _ = case.orthogonal_optimum(K)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6)
    W = node_weights(model, case)
    assert case.omega(W, K) + case.losses(W) == pytest.approx(model.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_units(size):
    case = random_descent_case(1, TREES[1], C=2.0)
    usual = fitted(mg.OrthogonalTransferSVM, case)
    model = mg.OrthogonalTransferSVM(case.taxonomy, case.C / size**2, **CLOSE).fit(
        case.X * size, case.y, case.weight
    )
    np.testing.assert_allclose(model.weights_ * size, usual.weights_, atol=1e-6)
    assert model.certificate_.primal * size**2 == pytest.approx(usual.certificate_.primal, rel=1e-7)
    loose = mg.OrthogonalTransferSVM(case.taxonomy, case.C / size**2, epsilon=0.01 / size**2)
    reached = loose.fit(case.X * size, case.y, case.weight).certificate_
    assert reached.gap <= 0.01 / size**2


# --- identities ---


@pytest.mark.parametrize("make", [lambda tax, C: mg.OrthogonalTransferSVM(tax, C, K="identity"),
                                  lambda tax, C: mg.OrthogonalTransferSVM(tax, C, K=np.eye(tax.n_nodes - 1)),
                                  lambda tax, C: mg.TransferSVM(tax, C, transfer=0.0)])  # fmt: skip
@pytest.mark.parametrize("seed", range(5))
def test_without_coupling_it_is_the_path_margin_svm(seed, make):
    case = random_descent_case(seed)
    plain = fitted(mg.PathMarginSVM, case, fit_intercept=False)
    model = make(case.taxonomy, case.C).set_params(**CLOSE).fit(case.X, case.y, case.weight)
    np.testing.assert_allclose(model.weights_, plain.weights_, atol=1e-10)
    assert model.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-12)


@pytest.mark.parametrize("kind", [mg.TransferSVM, mg.OrthogonalTransferSVM])
@pytest.mark.parametrize("taxonomy", ["flat", mg.Taxonomy.from_edges(TREES[4])])
def test_one_level_is_the_flat_svm(kind, taxonomy):
    case = random_descent_case(4)
    flat = mg.HierarchicalSVM("flat", case.C, cost="zero-one", **CLOSE).fit(case.X, case.y, case.weight)
    model = kind(taxonomy, case.C, **CLOSE).fit(case.X, case.y, case.weight)
    assert model.certificate_.primal == pytest.approx(flat.certificate_.primal, rel=1e-7)
    assert (model.predict(case.X) == flat.predict(case.X)).all()
    scores = model.node_scores(case.X)[:, model.taxonomy_.indices(list("abc"))]
    np.testing.assert_allclose(scores, flat.decision_function(case.X), atol=1e-4)


@pytest.mark.parametrize("kind", [mg.TransferSVM, mg.OrthogonalTransferSVM])
def test_two_classes_are_the_binary_svm(kind):
    from sklearn.svm import LinearSVC

    case = random_descent_case(4)
    y = np.array(["a" if label == "a" else "b" for label in case.y])
    model = kind("flat", case.C, **CLOSE).fit(case.X, y)
    theirs = LinearSVC(
        C=2 * case.C, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=1_000_000, random_state=0
    )
    w = theirs.fit(case.X, y).coef_[0]
    ours = model.node_scores(np.eye(case.X.shape[1]))[:, model.taxonomy_.indices(["b", "a"])]
    np.testing.assert_allclose(ours[:, 0] - ours[:, 1], w, atol=1e-4)


@pytest.mark.parametrize("kind", [mg.TransferSVM, mg.OrthogonalTransferSVM])
def test_names_order_and_copies_do_not_matter(kind):
    case = random_descent_case(1, TREES[1], C=2.0)
    weight = np.array([1, 2] * 7)
    usual = kind(case.taxonomy, case.C, **CLOSE).fit(case.X, case.y, weight)
    scores = usual.decision_function(case.X)
    copies = np.repeat(np.arange(14), weight)
    np.random.default_rng(0).shuffle(copies)
    again = kind(case.taxonomy, case.C, **CLOSE).fit(case.X[copies], [case.y[k] for k in copies])
    np.testing.assert_array_equal(again.decision_function(case.X), scores)
    renamed = dict(zip(["r", *case.nodes], "rfedcba", strict=True))
    tree = mg.Taxonomy.from_edges([(renamed[u], renamed[v]) for u, v in case.edges[::-1]])
    other = kind(tree, case.C, **CLOSE).fit(case.X, [renamed[label] for label in case.y], weight)
    same = [other.classes_.tolist().index(renamed[label]) for label in usual.classes_]
    np.testing.assert_allclose(other.decision_function(case.X)[:, same], scores, atol=1e-6)
    assert other.certificate_.primal == pytest.approx(usual.certificate_.primal, rel=1e-7)


# --- solvers and similarities ---


@pytest.mark.parametrize(
    "options", [{"kind": mg.TransferSVM}, {"kind": mg.OrthogonalTransferSVM, "alpha": 0.3}]
)
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_dual_averaging_brackets_the_same_optimum(options, kernel):
    case = random_descent_case(1, TREES[1], C=0.5)
    kind, more = options["kind"], {name: value for name, value in options.items() if name != "kind"}
    exact = fitted(kind, case, kernel=kernel, **more).certificate_
    slow = fitted(kind, case, kernel=kernel, solver="dual-averaging", tol=0.05, max_iter=2000, **more)
    reached = slow.certificate_
    assert reached.status == "converged"
    assert reached.dual <= exact.primal
    assert reached.primal >= exact.dual


@pytest.mark.parametrize("kind", [mg.TransferSVM, mg.OrthogonalTransferSVM])
def test_a_similarity_is_its_vectors(kind):
    case = random_descent_case(1, TREES[1], C=2.0)
    linear = fitted(kind, case)
    given = kind(case.taxonomy, case.C, kernel="precomputed", **CLOSE)
    given.fit(case.X @ case.X.T, case.y, case.weight)
    assert given.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=1e-7)
    new = np.random.default_rng(0).standard_normal((9, case.X.shape[1]))
    np.testing.assert_allclose(
        given.decision_function(new @ case.X.T), linear.decision_function(new), atol=1e-5
    )


def test_loose_fits_are_in_single_precision_and_converge():
    rng = np.random.default_rng(0)
    data = mg.datasets.make_tree_classification(300, 20, [3, 3], multilabel=False, random_state=0)
    X = data.X + rng.normal(size=data.X.shape)
    for tol in (1e-2, 1e-3, 1e-4):
        reached = mg.OrthogonalTransferSVM(data.taxonomy, C=0.01, tol=tol).fit(X, data.y).certificate_
        assert reached.status == "converged"
        assert reached.relative_gap <= tol


def test_a_fit_that_was_cut_short_says_so():
    case = random_descent_case(1, TREES[1], C=20.0)
    for solver in ("saddle", "dual-averaging"):
        with pytest.warns(ConvergenceWarning, match="after 2 rounds"):
            fitted(mg.OrthogonalTransferSVM, case, solver=solver, max_iter=2)


# --- K and alpha ---


def test_what_is_not_convex_is_refused_with_the_node_and_an_alpha_that_would_do():
    case = random_descent_case(2, TREES[2])
    bound = alpha_bound(case.K(1.0))
    with pytest.raises(ConvexityError, match=rf"not convex at the node 'a'.*alpha below {bound:.4g}"):
        fitted(mg.OrthogonalTransferSVM, case, alpha=1.01 * bound)
    fitted(mg.OrthogonalTransferSVM, case, alpha=0.98 * bound)
    auto = fitted(mg.OrthogonalTransferSVM, case, alpha="auto")
    assert auto.alpha_ == pytest.approx(0.99 * bound)
    only = fitted(mg.OrthogonalTransferSVM, random_descent_case(4), alpha="auto")
    assert only.alpha_ == 1.0


def test_a_matrix_has_the_nodes_of_the_taxonomy(tmp_path):
    case = random_descent_case(1, TREES[1], C=2.0)
    order = [case.nodes.index(node) for node in case.taxonomy.nodes[1:]]
    K = case.K(1.0)[np.ix_(order, order)]
    usual = fitted(mg.OrthogonalTransferSVM, case, alpha=0.7)
    for given in (K, sp.csr_array(K)):
        model = fitted(mg.OrthogonalTransferSVM, case, K=given, alpha=0.7)
        np.testing.assert_array_equal(model.weights_, usual.weights_)
    model.save(tmp_path / "model.mg")
    loaded = mg.load(tmp_path / "model.mg")
    np.testing.assert_array_equal(loaded.decision_function(case.X), model.decision_function(case.X))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"K": "ancestors"}, "K is 'ancestors'; expected 'descendants' or 'identity', or a matrix"),
        ({"K": np.eye(3)}, r"shape \(3, 3\); the taxonomy has 4 nodes below its root"),
        ({"K": -np.eye(4)}, "K of 'a' and 'a' is -1; expected a finite number of at least 0"),
        ({"K": np.diag([1.0, 0, 1, 1])}, "K of 'b' and 'b' is 0; expected above 0"),
        ({"K": np.eye(4) + np.eye(4, k=1)}, "K of 'a' and 'b' is 1; expected what stands on the other side"),
        ({"K": np.diag([1.0, np.nan, 1, 1])}, "K of 'b' and 'b' is nan"),
    ],
)
def test_matrices_that_are_none(changes, message):
    with pytest.raises(DataError, match=message):
        fitted(mg.OrthogonalTransferSVM, random_descent_case(0), **changes)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [(mg.OrthogonalTransferSVM, "alpha", 0.0), (mg.OrthogonalTransferSVM, "alpha", "most"),
     (mg.OrthogonalTransferSVM, "epsilon", -1), (mg.OrthogonalTransferSVM, "solver", "newton"),
     (mg.TransferSVM, "transfer", -1.0), (mg.TransferSVM, "solver", "saddle")],
)  # fmt: skip
def test_wrong_parameters_are_named(kind, name, value):
    with pytest.raises(ValueError, match=name):
        fitted(kind, random_descent_case(0), **{name: value})


def test_one_label_a_row():
    case = random_descent_case(0)
    with pytest.raises(LabelError, match="OrthogonalTransferSVM descends to one"):
        mg.OrthogonalTransferSVM(case.taxonomy).fit(case.X, [["c", "d"]] * len(case.X))


@pytest.mark.parametrize("kind", [mg.TransferSVM, mg.OrthogonalTransferSVM])
def test_saved_and_loaded(kind, tmp_path):
    case = random_descent_case(1, TREES[1])
    model = fitted(kind, case, tol=0.01)
    model.save(tmp_path / "model.mg")
    loaded = mg.load(tmp_path / "model.mg")
    np.testing.assert_array_equal(loaded.decision_function(case.X), model.decision_function(case.X))
    assert loaded.certificate_ == model.certificate_
    assert loaded.get_params() == model.get_params() | {"taxonomy": loaded.taxonomy_}
