"""Hierarchical perceptrons and Hieron: convergence, forms of one algorithm, streams with classes to come."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import margrove as mg
from margrove import loading
from margrove.classifiers.targets import number_labels
from margrove.errors import DataError, InvalidModelFileError, LabelError, TaxonomyError
from oracles.perceptron import naive_learn
from oracles.problems import SHAPES, random_edges
from oracles.taxonomy import naive_classes

MODELS = {
    "online": lambda **o: mg.HierarchicalPerceptron(update="online", **o),
    "averaged": lambda **o: mg.HierarchicalPerceptron(update="averaged", **o),
    "hieron": lambda **o: mg.Hieron(averaged=False, **o),
    "hieron-batch": lambda **o: mg.Hieron(averaged=True, **o),
}
MULTILABEL = [False, True]


def separable(seed, shape, multilabel, n=40, d=5):
    """Points that weights of norm one rank rightly, with a margin, and what these weights are."""
    rng = np.random.default_rng(seed)
    edges = random_edges(rng, shape)
    taxonomy = mg.Taxonomy.from_edges(edges)
    classes = sorted(naive_classes(edges))
    Lambda = mg.HierarchicalPerceptron(taxonomy, max_iter=0).fit(np.eye(len(classes)), classes).attributes_
    W = rng.standard_normal((Lambda.shape[1], d))
    W /= np.linalg.norm(W)
    X, y, margins = [], [], []
    while len(X) < n:
        x = rng.standard_normal(d) * rng.uniform(0.5, 2)
        F = Lambda @ (W @ x)
        order = np.argsort(-F)
        k = int(rng.integers(1, len(classes))) if multilabel else 1
        if F[order[k - 1]] - F[order[k]] > 0.1:
            X.append(x)
            y.append([classes[r] for r in order[:k]] if multilabel else classes[order[0]])
            margins.append(F[order[k - 1]] - F[order[k]])
    return taxonomy, np.array(X), y, min(margins)


@pytest.mark.parametrize("update", ["online", "averaged", "minover"])
@pytest.mark.parametrize("multilabel", MULTILABEL)
@pytest.mark.parametrize("shape", SHAPES)
def test_updates_stay_within_proposition_5(shape, multilabel, update):
    """(G.10): no more than (2 largest cost R P / (least cost margin))^2 updates, then all ranks are right."""
    for seed in range(12):
        taxonomy, X, y, margin = separable(seed, shape, multilabel)
        model = mg.HierarchicalPerceptron(taxonomy, update, max_iter=100_000, random_state=seed).fit(X, y)
        cost = mg.costs.tree().bind(model.taxonomy_, model.class_nodes_).matrix()
        apart = cost[~np.eye(len(cost), dtype=bool)]
        P = np.sqrt(model.attributes_.multiply(model.attributes_).sum(axis=1).max())
        R = np.linalg.norm(X, axis=1).max()
        assert model.converged_
        assert 0 < model.n_updates_ <= (2 * apart.max() * R * P / (apart.min() * margin)) ** 2
        if update != "averaged":  # the mean need not separate
            truth = number_labels(y, model.classes_).matrix(len(model.classes_)).toarray() > 0
            F = X @ model.weights_ @ model.attributes_.T
            assert (np.where(truth, F, np.inf).min(axis=1) > np.where(truth, -np.inf, F).max(axis=1)).all()


def whole_numbers(seed, n=60, d=6, multilabel=False):
    """Inputs, costs and attributes whose sums are exact, so that forms of an algorithm agree to the bit."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, d)).astype(float)
    names = ["a/x", "a/y", "b/x", "b/z", "c"]
    y = [names[k] for k in rng.integers(0, 5, n)]
    if multilabel:
        y = [sorted({first, names[k]}) for first, k in zip(y, rng.integers(0, 5, n), strict=True)]
    return X, y


@pytest.mark.parametrize("multilabel", MULTILABEL)
@pytest.mark.parametrize("update", ["online", "averaged", "minover"])
def test_primal_dual_and_kernel_forms_predict_the_same(update, multilabel):
    for seed in range(5):
        X, y = whole_numbers(seed, multilabel=multilabel)
        new = whole_numbers(seed + 100)[0]
        options = {"update": update, "max_iter": 3, "random_state": seed}
        models = {
            "primal": (mg.HierarchicalPerceptron(**options), X, new),
            "sparse": (mg.HierarchicalPerceptron(**options), sp.csr_array(X), sp.csr_array(new)),
            "dual": (mg.HierarchicalPerceptron(kernel=mg.similarity.polynomial(1, 0), **options), X, new),
            "kernel": (mg.HierarchicalPerceptron(kernel=lambda A, B: A @ B.T, **options), X, new),
            "matrix": (mg.HierarchicalPerceptron(kernel="precomputed", **options), X @ X.T, new @ X.T),
        }
        told = set()
        for model, train, test in models.values():
            model.fit(train, y)
            told.add((repr(list(model.predict(test))), model.n_updates_, model.n_iter_, model.active_ratio_))
            np.testing.assert_allclose(
                model.decision_function(test), models["primal"][0].decision_function(new), atol=1e-9
            )
        assert len(told) == 1


@pytest.mark.parametrize("name", MODELS)
def test_an_epoch_is_the_document_s(name):
    """Against plain loops, through the door of the estimator."""
    X, y = whole_numbers(3)
    model = MODELS[name](max_iter=1, shuffle=False).fit(X, y)
    numbers = number_labels(y, model.classes_).numbers
    cost = mg.costs.tree().bind(model.taxonomy_, model.class_nodes_).matrix()
    rule = name if name.startswith("hieron") else "perceptron"
    pasts, log = naive_learn(
        X, [{k} for k in numbers], model.attributes_.toarray(), cost, rule, range(len(X))
    )
    expected = np.mean(pasts[1:], axis=0) if name in ("averaged", "hieron-batch") else pasts[-1]
    np.testing.assert_allclose(model.weights_.T, expected, atol=1e-9)
    assert model.n_updates_ == sum(tau > 0 for *_, tau in log)


def test_active_ratio():
    """(G.8) from the definition, with rows of several labels; a second step along a contrast is none more."""
    X, y = whole_numbers(1, multilabel=True)
    model = mg.HierarchicalPerceptron(update="online", max_iter=1, shuffle=False).fit(X, y)
    truth = number_labels(y, model.classes_)
    possible = sum(size * (5 - size) for size in truth.sizes)
    assert model.active_ratio_ == model.n_updates_ / possible
    longer = mg.HierarchicalPerceptron(update="online", max_iter=30).fit(X, y)
    assert longer.active_ratio_ * possible < longer.n_updates_


def test_a_step_of_hieron_reaches_its_margin():
    """(G.5): after a step along (y, r), F_y - F_r is the root of the cost."""
    X, y = whole_numbers(2)
    for k in range(len(X)):
        model = mg.Hieron(averaged=False).partial_fit(X[:k], y[:k], classes=sorted(set(y))) if k else None
        if model is None:
            continue
        W, updates = model.weights_.copy(), model.n_updates_
        before = model.decision_function(X[k : k + 1])[0]
        model.partial_fit(X[k : k + 1], y[k : k + 1])
        if model.n_updates_ == updates:
            continue
        right = model.classes_.tolist().index(y[k])
        wrong = max((r for r in range(5) if r != right), key=lambda r: before[r])
        after = model.decision_function(X[k : k + 1])[0]
        cost = mg.costs.tree().bind(model.taxonomy_, model.class_nodes_).matrix()[right, wrong]
        assert after[right] - after[wrong] == pytest.approx(np.sqrt(cost))
        assert np.linalg.matrix_rank(model.weights_ - W) == 1


# --- streams ---


def in_parts(model, X, y, cuts, **options):
    bounds = [0, *cuts, len(y)]
    for start, end in pairwise(bounds):
        model.partial_fit(X[start:end], y[start:end], **options)
    return model


def assert_same(ours, theirs, X, exact=False):
    """Sums over columns in another order may round otherwise."""
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    assert ours.taxonomy_ == theirs.taxonomy_
    check = np.testing.assert_array_equal if exact else np.testing.assert_allclose
    options = {} if exact else {"atol": 1e-9}
    check(ours.decision_function(X), theirs.decision_function(X), **options)
    nodes = [theirs.taxonomy_.nodes.index(node) for node in ours.taxonomy_.nodes]
    check(ours.node_scores(X), theirs.node_scores(X)[:, nodes], **options)
    assert repr(list(ours.predict(X))) == repr(list(theirs.predict(X)))
    assert (ours.n_updates_, ours.active_ratio_) == (theirs.n_updates_, theirs.active_ratio_)


STREAMS = {
    "labels": ["u", "v", "w"],
    "paths": ["a/x", "a/y", "b", "b/z", "c/p/q", "c", "c/p"],  # "b" and "c" become inner nodes, or are such
    "sets": [["a/x"], ["a/y", "b"], ["b/z", "c/p/q"], ["c"], ["c/p", "a/x"]],
}


def stream(kind, seed, n=60):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, 6)).astype(float)
    forms = STREAMS[kind]
    late = np.minimum(rng.integers(0, len(forms), n), np.arange(n) // 5)  # one after the other turns up
    return X, [forms[k] for k in late]


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("name", MODELS)
def test_a_stream_in_parts_is_the_stream_at_once(name, kind):
    """Wherever it is cut, though classes and nodes turn up on the way; sparse or dense."""
    for seed in range(4):
        X, y = stream(kind, seed)
        whole = MODELS[name]().partial_fit(X, y)
        rng = np.random.default_rng(seed)
        for cuts in ([], range(1, 60), sorted(rng.choice(59, 6, replace=False) + 1)):
            assert_same(in_parts(MODELS[name](), X, y, cuts), whole, X)
        assert_same(in_parts(MODELS[name](), sp.csr_array(X), y, [20, 41]), whole, X)


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("kernel", [mg.similarity.polynomial(2), mg.similarity.gaussian(variance=4.0)])
def test_a_stream_with_a_similarity(kernel, kind):
    X, y = stream(kind, 1)
    whole = mg.HierarchicalPerceptron(kernel=kernel).partial_fit(X, y)
    assert_same(in_parts(mg.HierarchicalPerceptron(kernel=kernel), X, y, [7, 30, 31]), whole, X)
    linear = mg.HierarchicalPerceptron().partial_fit(X, y)
    dual = in_parts(mg.HierarchicalPerceptron(kernel=mg.similarity.polynomial(1, 0)), X, y, [11, 50])
    assert_same(dual, linear, X)
    assert dual.similarity_.n == dual.n_updates_ < len(X)


def test_a_stream_of_strings():
    words, y = ["abab", "baba", "cdcd", "dcdc", "abba", "cddc"] * 3, ["x", "x", "y", "y", "x", "y"] * 3
    options = {"kernel": mg.similarity.subsequence(2)}
    whole = mg.HierarchicalPerceptron(**options).partial_fit(np.array(words, object), y)
    parts = in_parts(mg.HierarchicalPerceptron(**options), np.array(words, object), y, [3, 4, 9])
    assert parts.predict(words).tolist() == whole.predict(words).tolist() == y


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("multilabel", MULTILABEL)
def test_a_stream_whose_classes_are_known_is_an_epoch_of_fit(name, multilabel):
    X, y = whole_numbers(5, multilabel=multilabel)
    once = MODELS[name](max_iter=1, shuffle=False).fit(X, y)
    parts = MODELS[name]()
    parts.partial_fit(X[:9], y[:9], classes=["c", "b/z", "a/y", "a/x", "b/x"])
    in_parts(parts, X[9:], y[9:], [10, 30])
    assert parts.classes_.tolist() == once.classes_.tolist()
    np.testing.assert_array_equal(parts.decision_function(X), once.decision_function(X))
    assert parts.n_updates_ == once.n_updates_
    assert parts.active_ratio_ == once.active_ratio_


@pytest.mark.parametrize("attributes", ["ancestors", "depth-scaled", "depth-scaled-class", "one-hot"])
def test_growth_alone_keeps_what_is_known(attributes):
    """New classes, and levels above and below, leave the ranking of the old classes as it was."""
    X, y = whole_numbers(4)
    for name in ("online", "hieron"):  # a mean goes on moving with every step
        model = MODELS[name](attributes=attributes).partial_fit(X, y)
        before, known = model.decision_function(X), model.classes_.tolist()
        new = ["new", "d/e", "d/deep/deeper/yet"]
        if attributes != "depth-scaled-class":  # by which a class that gets an inner node changes its scale
            new += ["a/x/below", "c/deep"]
        model.partial_fit(np.zeros((len(new), X.shape[1])), new)
        assert model.classes_.tolist() == [*known, *new]
        after = model.decision_function(X)[:, : len(known)]
        scale = (after * before).sum() / (before * before).sum()
        np.testing.assert_allclose(after, scale * before, atol=1e-9)
        if attributes != "depth-scaled":
            assert scale == pytest.approx(1)


def test_learning_deeper_classes_is_as_if_the_depth_had_been_known():
    """With depth-scaled attributes, all of which change when the taxonomy gets deeper."""
    X, y = stream("paths", 0)
    named = sorted(set(STREAMS["paths"]) - {"b", "c", "c/p"})
    keep = [k for k, label in enumerate(y) if label in named]
    X, y = X[keep], [y[k] for k in keep]
    for make in (mg.HierarchicalPerceptron, mg.Hieron):
        grown = in_parts(make(attributes="depth-scaled"), X, y, range(1, len(y)))
        whole = make(attributes="depth-scaled").partial_fit(X, y)
        np.testing.assert_allclose(grown.decision_function(X), whole.decision_function(X), atol=1e-9)


def test_a_given_taxonomy_is_replaced_by_one_that_holds_it():
    small = mg.Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("a", "y")])
    large = mg.Taxonomy.from_edges(
        [("r", "s"), ("s", "a"), ("r", "b"), ("a", "x"), ("a", "y"), ("b", "z"), ("x", "x1"), ("a", "z")]
    )
    X, _ = whole_numbers(0)
    y = ["x", "y", "b", "a"] * 15
    model = mg.HierarchicalPerceptron(small, "online").partial_fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(LabelError, match="row 1: the label 'z' is not in the taxonomy"):
        model.partial_fit(X[:2], ["x", "z"])
    np.testing.assert_array_equal(model.decision_function(X), before)
    model.partial_fit(np.zeros((2, 6)), ["x", "z"], taxonomy=large)
    np.testing.assert_allclose(model.decision_function(X)[:, :4], before)
    assert model.classes_.tolist() == ["x", "y", "b", "a", "z"]
    assert set(model.taxonomy_.ancestors("z")) == {"r", "s", "a", "b", "z"}
    assert set(large.nodes) < set(model.taxonomy_.nodes)
    model.partial_fit(X, y)
    other = mg.Taxonomy.from_edges([("r", "a"), ("r", "b"), ("r", "x"), ("a", "y")])
    with pytest.raises(TaxonomyError, match="lacks the node 's'"):
        model.partial_fit(X, y, taxonomy=other)
    with pytest.raises(TaxonomyError, match="'x' was below 'a'"):
        mg.HierarchicalPerceptron(small).partial_fit(X, y).partial_fit(X, y, taxonomy=other)
    with pytest.raises(ValueError, match=r"taxonomy is 'flat'; expected a margrove\.Taxonomy"):
        model.partial_fit(X, y, taxonomy="flat")


def test_wrong_parts_are_refused_and_change_nothing():
    X, y = whole_numbers(0)
    model = mg.HierarchicalPerceptron().partial_fit(X, y)
    before = model.decision_function(X)
    for wrong, message in (
        ((X, [[label] for label in y]), "was of the form 'label' before"),
        ((X[:, :3], y), "X has 3 features"),
        ((X[:5], y), "inconsistent numbers of samples"),
        ((X, [None, *y[1:]]), "row 0: the label is missing"),
        ((np.full((60, 6), 1e200), y), "row 0: its squared norm overflows"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*wrong)
    np.testing.assert_array_equal(model.decision_function(X), before)
    with pytest.raises(DataError, match="not learned part by part"):
        mg.HierarchicalPerceptron(kernel="precomputed").partial_fit(X @ X.T, y).partial_fit(X @ X.T, y)
    with pytest.raises(DataError, match="expected a row for each of 6 classes"):
        mg.HierarchicalPerceptron("flat", attributes=np.eye(5)).partial_fit(X, y).partial_fit(X[:1], ["new"])
    with pytest.raises(ValueError, match="the model was averaged, and now it is to be the other"):
        mg.HierarchicalPerceptron().partial_fit(X, y).set_params(update="online").partial_fit(X, y)
    with pytest.raises(ValueError, match="kernel is 'gaussian', but the model was learned with another"):
        mg.HierarchicalPerceptron().partial_fit(X, y).set_params(kernel="gaussian").partial_fit(X, y)
    assert not hasattr(mg.HierarchicalPerceptron(update="minover"), "partial_fit")
    named = mg.HierarchicalPerceptron(None, cost=mg.costs.matrix(1 - np.eye(2), ["x", "y"]))
    named.partial_fit(X[:2], ["x", "y"])
    before = named.decision_function(X)
    with pytest.raises(LabelError, match="the cost matrix has no row for class"):
        named.partial_fit(X[:3], ["x", "y", "x/z"])  # the first two rows would have been fine
    np.testing.assert_array_equal(named.decision_function(X), before)
    with pytest.raises(ValueError, match="update is 'batch'"):
        mg.HierarchicalPerceptron(update="batch").fit(X, y)
    with pytest.raises(ValueError, match="shuffle is 1"):
        mg.Hieron(shuffle=1).fit(X, y)


def test_indicators_may_get_more_columns():
    X, _ = whole_numbers(0)
    Y = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0]] * 20)
    model = mg.HierarchicalPerceptron().partial_fit(X, Y)
    wider = np.hstack([Y, Y[:, :1]])
    model.partial_fit(X, wider)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.predict(X).shape == (60, 4)


def test_label_sets_get_thresholds_that_are_worth_having():
    problem = mg.datasets.make_tree_classification(1500, 30, fanout=[4, 4], random_state=1)
    X, y = problem.X, list(problem.y)
    train, test = slice(1000), slice(1000, None)
    truth = [set(labels) for labels in y[test]]
    for model in (
        mg.HierarchicalPerceptron(problem.taxonomy).fit(X[train], y[train]),
        in_parts(mg.HierarchicalPerceptron(problem.taxonomy), X[train], y[train], [40, 700]),
    ):
        f1 = mg.metrics.micro_f1(truth, [set(labels) for labels in model.predict(X[test])])
        most = max(len(labels) for labels in y)
        ranked = model.predict_ranking(X[test], top=most)
        naive = max(mg.metrics.micro_f1(truth, [set(row[:k]) for row in ranked]) for k in range(1, most + 1))
        assert f1 > naive - 0.02  # the best fixed number of labels, known only in hindsight


@pytest.mark.parametrize("kernel", ["linear", "polynomial", mg.similarity.gaussian(variance=4.0)])
@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_learns_on(name, kind, kernel, tmp_path):
    X, y = stream(kind, 2)
    model = in_parts(MODELS[name](kernel=kernel), X[:40], y[:40], [10, 25])
    model.save(tmp_path / "model.mg")
    loaded = mg.load(tmp_path / "model.mg")
    assert_same(loaded, model, X, exact=True)
    model.partial_fit(X[40:], y[40:])
    loaded.partial_fit(X[40:], y[40:])
    assert_same(loaded, model, X, exact=True)
    loaded.save(tmp_path / "again.mg")
    assert_same(mg.load(tmp_path / "again.mg"), model, X, exact=True)


def test_a_saved_model_asks_for_objects_that_it_could_not_keep(tmp_path):
    X, y = whole_numbers(0)
    cost = mg.costs.matrix(1 - np.eye(5), ["a/x", "a/y", "b/x", "b/z", "c"])
    model = mg.HierarchicalPerceptron("flat", cost=cost).fit(X, y)
    model.save(tmp_path / "model.mg")
    loaded = mg.load(tmp_path / "model.mg")
    with pytest.raises(ValueError, match=r"give it again with set_params\(cost=\.\.\.\)"):
        loaded.partial_fit(X, y)
    loaded.set_params(cost=cost).partial_fit(X, y)
    assert_same(loaded, model.partial_fit(X, y), X)


def test_learning_goes_on_after_a_fit():
    X, y = whole_numbers(0)
    for kernel in ("linear", "polynomial"):
        model = mg.HierarchicalPerceptron(kernel=kernel, max_iter=2).fit(X, y)
        updates, before = model.n_updates_, model.decision_function(X)
        model.partial_fit(X[:20], ["new/one"] * 20)
        assert model.n_updates_ > updates
        assert model.classes_.tolist() == [*sorted(set(y)), "new/one"]
        assert model.decision_function(X).shape == (60, 6)
        assert (before != model.decision_function(X)[:, :5]).any()


def test_the_order_of_fit_is_drawn_from_the_seed():
    X, y = whole_numbers(0)
    first, same, other = (
        mg.HierarchicalPerceptron(max_iter=1, random_state=seed).fit(X, y).weights_ for seed in (None, 0, 1)
    )
    assert (first == same).all()
    assert (first != other).any()


def test_single_precision_stays_single():
    X, y = whole_numbers(0)
    model = mg.HierarchicalPerceptron().partial_fit(X.astype(np.float32), y)
    assert model.weights_.dtype == model.decision_function(X).dtype == np.float32
    double = mg.HierarchicalPerceptron().partial_fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), double.decision_function(X), atol=1e-4)


def test_a_stream_is_quick_and_takes_no_memory_by_the_row():
    """The short form of `python -m benchmarks stream`."""
    path = Path(__file__).parents[2] / "benchmarks" / "stream.py"
    spec = importlib.util.spec_from_file_location("stream_benchmark", path)
    benchmark = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = benchmark
    spec.loader.exec_module(benchmark)
    short = benchmark.Stream("short", rows=10_000, features=3000, classes=125, part=250)
    result = benchmark.measure(short)
    assert result["classes"] == 125
    assert result["columns"] < 200
    assert result["cpu_seconds"] < 10
    assert abs(result["megabytes"] - result["megabytes_at_half"]) < 5
    assert result["error_on_new_rows"] < 0.5


def damaged(name, value):
    def change(header, arrays):
        if name in arrays:
            arrays[name] = value
        else:
            header["online"][name] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        damaged("steps", -1), damaged("updates", "1"), damaged("own", 2), damaged("own", 10**9),
        damaged("averaged", 1), damaged("follows", None), damaged("lost", ["C"]), damaged("n_iter", 1.5),
        damaged("sum", np.zeros((6, 2))), damaged("sum", np.zeros((6, 7), np.float32)),
        damaged("cuts", np.zeros((3, 3))), damaged("cuts", np.full((17, 18), np.nan)),
    ],
)  # fmt: skip
def test_hostile_states_are_refused(change):
    X, y = whole_numbers(0, multilabel=True)
    header, arrays = loading.describe(mg.HierarchicalPerceptron().partial_fit(X, y))
    header, arrays = copy.deepcopy(header), dict(arrays)
    loading.restore(header, arrays)
    change(header, arrays)
    with pytest.raises(InvalidModelFileError):
        loading.restore(header, arrays)


def test_copies_learn_on():
    X, y = whole_numbers(0)
    model = mg.HierarchicalPerceptron().partial_fit(X[:30], y[:30])
    twins = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    model.partial_fit(X[30:], y[30:])
    for twin in twins:
        assert_same(twin.partial_fit(X[30:], y[30:]), model, X, exact=True)
