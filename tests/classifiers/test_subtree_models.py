"""Estimators over closed sets of nodes: labels, comparable scores, one algorithm in several forms."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import margrove as mg
from margrove.classifiers.node_chances import NodeChances
from margrove.errors import DataError, InvalidModelFileError, LabelError
from margrove.loading import describe, restore
from margrove.outputs.subtrees import Subtrees

TREE = mg.Taxonomy.from_edges(
    [("r", "a"), ("r", "b"), ("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2"), ("b1", "b11")]
)
GRAPH = mg.Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("a", "d"), ("c", "e")])


PLAIN = mg.similarity.polynomial(1, 0.0)  # inner products, but not by features


def rows(taxonomy, n=60, d=8, seed=0, noise=0.1):
    """Inputs, and lists of the deepest labels of sets that a linear function gives them."""
    rng = np.random.default_rng(seed)
    output = Subtrees.of(taxonomy, taxonomy.nodes)
    X = rng.standard_normal((n, d))
    sets = output.best(
        X @ rng.standard_normal((d, len(output))) + noise * rng.standard_normal((n, len(output)))
    )
    deepest = sets & ~((sets @ output.edges) > 0)
    return X, [[taxonomy.name(output.nodes[k]) for k in np.flatnonzero(row)] for row in deepest]


def closed(labels, taxonomy):
    return {node for label in labels for node in taxonomy.ancestors(label)}


ESTIMATORS = [
    mg.SubtreePerceptron(epsilon=0.5),
    mg.SubtreePerceptron(update="hard", epsilon=0.1, average=False),
    mg.SubtreeSVM(),
    mg.SubtreeSVM(algorithm="marginal", node_weight="balanced"),
    mg.SubtreeSVM(scaling="slack", cost="tree"),
]
NAMES = ["stochastic", "hard", "cutting-plane", "marginal", "slack"]


@pytest.fixture(params=ESTIMATORS, ids=NAMES)
def estimator(request):
    from sklearn.base import clone

    return clone(request.param)


@pytest.mark.parametrize("taxonomy", [TREE, GRAPH], ids=["tree", "graph"])
def test_sets_of_labels(estimator, taxonomy):
    X, y = rows(taxonomy)
    model = estimator.set_params(taxonomy=taxonomy).fit(X, y)
    if taxonomy is TREE:
        assert model.score(X, y) > 0.75
    predicted = model.predict(X)
    scores = model.node_scores(X)
    for labels, row in zip(predicted, scores, strict=True):
        mine = closed(labels, taxonomy)
        assert all(not (closed([label], taxonomy) - {label}) & set(labels) for label in labels)  # deepest
        for v, node in enumerate(taxonomy.nodes[1:], 1):
            assert (row[v] > 0) == (node in mine)
            assert all(row[v] <= row[taxonomy.index(p)] for p in taxonomy.parents(node))
    f1 = mg.metrics.node_precision_recall_f1(y, predicted, taxonomy).f1
    assert f1 > (0.85 if taxonomy is TREE else 0.7)


def test_single_labels(estimator):
    X, _ = rows(TREE)
    y = np.array(["a1", "a2", "b"])[np.argmax(X[:, :3], axis=1)]
    model = estimator.set_params(taxonomy=TREE).fit(X, y)
    assert model.score(X, y) > 0.75
    assert set(model.predict(X)) <= set(y)
    assert model.decision_function(X).shape == (60, 3)
    # the class whose path has the highest sum
    S = model._column_scores(X)
    sums = [[2 * S[i, [k for k, v in enumerate(model.column_nodes_)
                       if TREE.name(v) in TREE.ancestors(c)]].sum() for c in model.classes_]
            for i in range(5)]  # fmt: skip
    assert (np.argmax(sums, axis=1) == np.argmax(model.decision_function(X)[:5], axis=1)).all()


def test_indicators_say_as_much_as_y():
    """Rows that name what is above their labels are predicted so; others by their deepest nodes."""
    X, y = rows(TREE)
    names = list(TREE.nodes[1:])
    pandas = pytest.importorskip("pandas")
    deep = pandas.DataFrame([[int(name in labels) for name in names] for labels in y], columns=names)
    whole = pandas.DataFrame(
        [[int(name in closed(labels, TREE)) for name in names] for labels in y], columns=names
    )
    one, other = (mg.SubtreeSVM(TREE, C=100.0).fit(X, indicators) for indicators in (deep, whole))
    np.testing.assert_allclose(one.weights_, other.weights_, atol=0.02)  # both to 1 %
    sets = [{n for n, k in zip(names, row, strict=True) if k} for row in other.predict(X)]
    assert all(closed(labels, TREE) - {"r"} == labels for labels in sets)
    assert [
        closed([n for n, k in zip(names, row, strict=True) if k], TREE) - {"r"} for row in one.predict(X)
    ] == sets
    assert one.score(X, deep) == other.score(X, whole)
    lists = mg.SubtreeSVM(TREE, C=100.0).fit(X, [sorted(closed(labels, TREE) - {"r"}) for labels in y])
    assert [set(labels) for labels in lists.predict(X)] == sets


def test_labels_that_are_not_known_are_wrong():
    X, y = rows(TREE, 20)
    used = [[label for label in labels if label != "b11"] for labels in y]
    model = mg.SubtreeSVM(TREE, C=100.0).fit(X, used)
    strange = [[*labels, "b11"] for labels in used]
    assert model.score(X, strange) == 0


@pytest.mark.parametrize("update", ["hard", "stochastic"])
def test_all_forms_of_the_perceptron_predict_the_same(update):
    """Weights of features (Algorithm 2) and coefficients of examples (3), from the same seed."""
    X, y = rows(TREE, 80, noise=1.0)
    new, _ = rows(TREE, 40, seed=1)
    settings = {"update": update, "max_iter": 500, "random_state": 3, "eta": 0.05}
    kernels = {
        "primal": mg.SubtreePerceptron(TREE, **settings).fit(X, y),
        "sparse": mg.SubtreePerceptron(TREE, **settings).fit(sp.csr_array(X), y),
        "kernel": mg.SubtreePerceptron(TREE, kernel=lambda A, B: A @ B.T, **settings).fit(X, y),
        "uncached": mg.SubtreePerceptron(TREE, kernel=PLAIN, cache_size=0, **settings).fit(X, y),
        "threads": mg.SubtreePerceptron(TREE, n_jobs=2, **settings).fit(X, y),
    }  # fmt: skip
    expected = kernels["primal"].predict(new)
    scores = kernels["primal"].node_scores(new)
    assert kernels["primal"].similarity_ is None
    assert kernels["kernel"].similarity_ is not None
    for name, model in kernels.items():
        assert model.predict(new) == expected, name
        np.testing.assert_allclose(model.node_scores(new), scores, atol=1e-9, err_msg=name)
    precomputed = mg.SubtreePerceptron(TREE, kernel="precomputed", **settings).fit(X @ X.T, y)
    # its rows keep their order, so its draws differ unless all steps are determined
    if update == "hard":
        assert precomputed.n_iter_ == kernels["primal"].n_iter_


def test_both_algorithms_reach_the_same_optimum():
    X, y = rows(TREE, 40, noise=1.0)
    one, other = (mg.SubtreeSVM(TREE, algorithm=a, tol=1e-6).fit(X, y) for a in ("cutting-plane", "marginal"))
    assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=2e-6)
    np.testing.assert_allclose(one.weights_, other.weights_, atol=5e-3)
    similar = mg.SubtreeSVM(TREE, kernel=mg.similarity.polynomial(1, 0.0), tol=1e-6).fit(X, y)
    np.testing.assert_allclose(similar.node_scores(X), one.node_scores(X), atol=5e-2)


def test_blocks_learn_too():
    X, y = rows(TREE, 120)
    model = mg.SubtreePerceptron(TREE, blocks=4, max_iter=300).fit(X, y)
    assert model.n_iter_ == 1200
    assert model.score(X, y) > 0.75


def test_chances_are_near_to_frequencies():
    """Held-out margins, noisy labels: of what gets a chance of p, about p is right."""
    X, y = rows(TREE, 400, noise=2.0)
    model = mg.SubtreeSVM(TREE, C=0.1, calibrate=True, node_weight="balanced").fit(X[:250], y[:250])
    chances = model.node_probabilities(X[250:])
    assert (chances[:, 0] == 1).all()
    right = np.array([[node in closed(labels, TREE) for node in TREE.nodes] for labels in y[250:]])
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.0)):
        some = (chances[:, 1:] > low) & (chances[:, 1:] <= high)
        if some.sum() >= 50:
            assert right[:, 1:][some].mean() == pytest.approx(chances[:, 1:][some].mean(), abs=0.12)
    for child in TREE.nodes[1:]:
        (parent,) = TREE.parents(child)
        assert (chances[:, TREE.index(child)] <= chances[:, TREE.index(parent)]).all()


def test_calibration_is_stationary():
    """No slope and no offset can be moved to a better value of (U.22)."""
    rng = np.random.default_rng(0)
    scores, weight = 3 * rng.standard_normal((200, 5)), rng.uniform(0.5, 2, 200)
    right = rng.random((200, 5)) < 1 / (1 + np.exp(-scores * [0.2, 1, 2, 0.5, 0] + [0, 1, 3, 5, 2]))
    found = NodeChances.fit(scores, right, weight)
    size = np.sqrt(np.average(scores**2, weights=weight, axis=0).mean())
    hits = weight @ right
    odds = np.log((hits + 0.5) / (weight.sum() - hits + 0.5))

    def value(slope, offset):
        logits = slope * scores / size + offset
        log = weight @ np.where(right, -np.logaddexp(0, -logits), -np.logaddexp(0, logits))
        return -log.sum() + ((slope - slope.mean()) ** 2).sum() / 2 + ((offset - odds) ** 2).sum() / 200

    best = value(found.slope * size, found.offset)
    for v in range(5):
        for step in (1e-3, -1e-3):
            move = step * (np.arange(5) == v)
            assert value(found.slope * size + move, found.offset) >= best
            assert value(found.slope * size, found.offset + move) >= best


def test_there_and_back(estimator, tmp_path):
    X, y = rows(TREE)
    for kernel in ("linear", "gaussian"):
        model = estimator.set_params(taxonomy=TREE, kernel=kernel, calibrate=True).fit(X, y)
        model.save(tmp_path / "model.mg")
        loaded = mg.load(tmp_path / "model.mg")
        for method in ("decision_function", "node_scores", "node_probabilities"):
            np.testing.assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))
        assert loaded.predict(X) == model.predict(X)
        assert loaded.certificate_ == model.certificate_
        assert loaded.n_iter_ == model.n_iter_
        assert loaded.score(X, y) == model.score(X, y)


def test_states_that_do_not_fit_are_refused():
    header, arrays = describe(mg.SubtreeSVM(TREE, calibrate=True).fit(*rows(TREE)))
    assert restore(header, arrays)
    with pytest.raises(InvalidModelFileError, match="calibration"):
        restore(header, arrays | {"calibration": np.zeros((2, 3))})
    with pytest.raises(InvalidModelFileError, match="speak of sets"):
        restore(header | {"whole": 1}, arrays)
    header, arrays = describe(mg.SubtreePerceptron(TREE, max_iter=5).fit(*rows(TREE)))
    with pytest.raises(InvalidModelFileError, match="about steps"):
        restore(header | {"steps": {"number": -1, "separated": False}}, arrays)


@pytest.mark.parametrize("model", [mg.SubtreePerceptron(TREE, epsilon=0.5), mg.SubtreeSVM(TREE, C=10.0)])
def test_strings_by_their_subsequences(model):
    texts = [f"{word}{k}" for word in ("abcabc", "xyzxyz", "mnomno") for k in range(5)]
    y = [["a1", "b11"]] * 5 + [["a2"]] * 5 + [[]] * 5
    model.set_params(kernel=mg.similarity.subsequence(2)).fit(texts, y)
    assert model.score(texts, y) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"algorithm": "marginal", "scaling": "slack"}, "'marginal' has scaling 'margin' alone"),
        ({"scaling": "slack", "node_weight": "balanced"}, "nodes have to cost the same"),
        ({"cost": "h-loss"}, "a sum over nodes"),
        ({"node_weight": "equal"}, "node_weight is 'equal'"),
        ({"algorithm": "bundle"}, "algorithm is 'bundle'"),
    ],
)
def test_settings_that_do_not_go_together(settings, message):
    with pytest.raises(ValueError, match=message):
        mg.SubtreeSVM(TREE, **settings).fit(*rows(TREE))


@pytest.mark.parametrize(
    "settings",
    [{"update": "soft"}, {"epsilon": 0}, {"blocks": 0}, {"max_iter": -1}, {"eta": 0.0}, {"radius": "x"}],
)
def test_wrong_settings_of_the_perceptron_are_named(settings):
    (name,) = settings
    with pytest.raises(ValueError, match=name):
        mg.SubtreePerceptron(TREE, **settings).fit(*rows(TREE))


def test_what_says_nothing_is_refused():
    X, y = rows(TREE)
    with pytest.raises(LabelError, match="root of the taxonomy"):
        mg.SubtreeSVM(TREE).fit(X, [["r"], *y[1:]])
    with pytest.raises(DataError, match="calibrate=True"):
        mg.SubtreeSVM(TREE).fit(X, y).node_probabilities(X)
