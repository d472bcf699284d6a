"""A saved model comes back the same to the bit, and a state that is none is refused."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import margrove as mg
from margrove import loading
from margrove.errors import InvalidModelFileError, LabelError
from margrove.tables import TableFeatures, TableModel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
K = np.arange(30) % 3


def pick(*values):
    return [values[k] for k in K]


TARGETS = {
    "text": pick("0111", "NA", "None"),
    "integers": pick(3, 1, 2),
    "big integers": pick(2**70, 1, 2),
    "mixed": pick("1", 1, ("a", 2)),
    "NumPy text": np.array(pick("b", "ä/日", "c")),
    "NumPy int8": np.array(pick(3, 1, 2), np.int8),
    "NumPy big-endian": np.array(pick(3, 1, 2), ">i4"),
    "NumPy float32": np.array(pick(3, 1, 2), np.float32),
    "booleans": pick(True, False, True),
    "categories": pd.Series(pick("b", "a", "c"), dtype="category"),
    "lists": pick(["a"], ["a", "b"], ["c"]),
    "lists with none": pick(["a"], [], [("c", 1)]),
    "indicators": np.array(pick([0, 1], [1, 1], [0, 0])),
    "named indicators": pd.DataFrame(pick([0, 1], [1, 1], [0, 0]), columns=["z", "a"]),
    "paths": pick("a/b", "a", "d"),
    "levels": np.array(pick(["a", "b/c"], ["a", None], ["d", 1]), object),
    "one class": ["a"] * 30,
}


def assert_same(loaded, model):
    for method in ("decision_function", "node_scores"):
        ours, theirs = getattr(model, method)(X), getattr(loaded, method)(X)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    assert repr(loaded.predict(X)) == repr(model.predict(X))
    assert loaded.classes_.dtype == model.classes_.dtype
    assert list(map(type, loaded.classes_.tolist())) == list(map(type, model.classes_.tolist()))
    assert getattr(loaded, "certificate_", None) == getattr(model, "certificate_", None)
    assert loaded.taxonomy_ == model.taxonomy_


@pytest.mark.parametrize(
    "model",
    [
        mg.HierarchicalSVM(fit_intercept=True),
        mg.HierarchicalSVM(fit_intercept=True, kernel="gaussian"),
        mg.PathMarginSVM(C=0.1, loss="psi", target_cost=mg.costs.tree()),
        mg.PathMarginSVM(loss="psi", kernel="gaussian"),
    ],
    ids=repr,
)
def test_a_bias_comes_back(model, tmp_path):
    targets = TARGETS["paths"]
    model.fit(X, targets).save(tmp_path / "model.mg")
    loaded = mg.load(tmp_path / "model.mg")
    assert_same(loaded, model)
    np.testing.assert_array_equal(loaded.intercept_, model.intercept_)
    assert loaded.intercept_.any()


def test_what_a_fit_tells_beside_its_weights_comes_back(tmp_path):
    targets = TARGETS["paths"]
    apart = mg.OrthogonalTransferSVM(alpha="auto").fit(X, targets)
    apart.save(tmp_path / "model.mg")
    assert mg.load(tmp_path / "model.mg").alpha_ == apart.alpha_
    for loss in ("hinge", "psi"):
        path = mg.PathMarginSVM(loss=loss).fit(X, targets)
        path.save(tmp_path / "model.mg")
        np.testing.assert_array_equal(mg.load(tmp_path / "model.mg").objectives_, path.objectives_)
    header, arrays = apart.to_state()
    with pytest.raises(InvalidModelFileError, match="alpha is -1"):
        loading.restore(header | {"kind": "OrthogonalTransferSVM", "alpha": -1.0}, arrays)


ESTIMATORS = [mg.HierarchicalSVM, mg.HierarchicalPerceptron, mg.Hieron]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("name", TARGETS)
def test_there_and_back(name, estimator, tmp_path):
    model = estimator().fit(X, TARGETS[name])
    model.save(tmp_path / "model.mg")
    loaded = mg.load(tmp_path / "model.mg")
    assert_same(loaded, model)
    assert loaded.score(X, TARGETS[name]) == model.score(X, TARGETS[name])
    loaded.save(tmp_path / "again.mg")
    assert_same(mg.load(tmp_path / "again.mg"), model)
    assert (tmp_path / "again.mg").read_bytes() == (tmp_path / "model.mg").read_bytes()


def test_parameters_come_back(tmp_path):
    tax = mg.Taxonomy.from_edges([("r", "0111"), ("r", "q"), ("q", "NA"), ("q", "None")])
    y = pick("0111", "NA", "q")
    model = mg.HierarchicalSVM(tax, np.float64(0.5), cost="zero-one", slack="pair", tol=0.02, random_state=3)
    model.fit(pd.DataFrame(X, columns=list("abcd")), y).save(tmp_path / "model.mg")
    loaded = mg.load(tmp_path / "model.mg")
    expected = model.get_params() | {"taxonomy": loaded.taxonomy_}
    assert loaded.get_params() == expected
    assert loaded.feature_names_in_.tolist() == list("abcd")
    frame = pd.DataFrame(X, columns=list("abcd"))
    np.testing.assert_array_equal(loaded.fit(frame, y).weights_, model.weights_)
    assert loaded.predict(frame).tolist() == model.predict(frame).tolist()
    flat = mg.HierarchicalSVM("flat", cost=mg.costs.zero_one()).fit(X, y)
    flat.save(tmp_path / "flat.mg")
    assert mg.load(tmp_path / "flat.mg").get_params()["taxonomy"] == "flat"


def test_sparse_weights_are_stored_by_their_nonzeros(tmp_path):
    wide = sp.csr_array((np.ones(30), (np.arange(30), np.arange(30))), shape=(30, 20_000))
    model = mg.HierarchicalSVM().fit(wide, pick("a", "b", "c"))
    model.save(tmp_path / "model.mg")
    assert (tmp_path / "model.mg").stat().st_size < 100_000  # dense: 480,000
    loaded = mg.load(tmp_path / "model.mg")
    np.testing.assert_array_equal(loaded.decision_function(wide), model.decision_function(wide))


@pytest.mark.parametrize("y", [pick(b"a", b"b", b"c"), np.array(pick("2020", "2021", "2022"), "M8[D]")])
def test_labels_without_a_plain_form_say_so(y, tmp_path):
    model = mg.HierarchicalSVM().fit(X, y)
    with pytest.raises(LabelError, match="cannot be stored; use text, numbers"):
        model.save(tmp_path / "model.mg")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_prediction_with_a_loaded_model_needs_no_compiler(estimator, tmp_path):
    estimator().fit(X, TARGETS["lists"]).save(tmp_path / "model.mg")
    code = (
        "import sys, numpy as np, margrove as mg\n"
        f"model = mg.load({str(tmp_path / 'model.mg')!r})\n"
        "for method in (model.predict, model.predict_ranking, model.node_scores):\n"
        "    method(np.ones((2, 4)))\n"
        "assert 'numba' not in sys.modules, 'numba was imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def multilabel_state():
    header, arrays = loading.describe(mg.HierarchicalSVM().fit(X, TARGETS["lists"]))
    return copy.deepcopy(header), {name: array.copy() for name, array in arrays.items()}


def put(*path):
    *way, key, value = path

    def change(header, arrays):
        at = {"header": header, "arrays": arrays}
        for step in way:
            at = at[step]
        if value is KeyError:
            del at[key]
        else:
            at[key] = value

    return change


HOSTILE = [
    put("header", "classes", "labels", ["a", "b"]),
    put("header", "classes", "labels", ["a", "b", "b"]),
    put("header", "classes", "labels", ["a", "b", {"tuple": 3}]),
    put("header", "classes", "labels", 3),
    put("header", "classes", "dtype", "<i8"),
    put("header", "classes", "dtype", "<U99999999"),
    put("header", "classes", "dtype", "O"),
    put("header", "classes", "dtype", "M8[ns]"),
    put("header", "classes", "dtype", None),
    put("header", "classes", "nodes", [1, 2]),
    put("header", "classes", "nodes", [1, 2, 2]),
    put("header", "classes", "nodes", [1, 2, 99]),
    put("header", "classes", "nodes", [1, 2, True]),
    put("header", "classes", "form", "sums"),
    put("header", "classes", "form", []),
    put("header", "classes", "taxonomy", {}),
    put("header", "classes", KeyError),
    put("header", "params", {"C": [1]}),
    put("header", "params", {"taxonomy": {"is": "another"}}),
    put("header", "params", None),
    put("header", "features", "number", 10**12),
    put("header", "features", "number", 4.0),
    put("header", "features", "number", -4),
    put("header", "features", "names", ["a"]),
    put("header", "features", "names", [1, 2, 3, 4]),
    put("header", "certificate", "status", "perfect"),
    put("header", "certificate", "primal", "1"),
    put("header", "certificate", "n_iter", 1.5),
    put("header", "certificate", "dual", KeyError),
    put("header", "certificate", []),
    put("header", "threshold", None),
    put("header", "threshold", "at_least_one", 1),
    put("arrays", "threshold", np.zeros(3)),
    put("arrays", "threshold", np.zeros((4, 1))),
    put("arrays", "threshold", np.full(4, np.nan)),
    put("arrays", "threshold", KeyError),
    put("arrays", "weights", np.zeros((4, 99))),
    put("arrays", "weights", np.zeros((3, 3))),
    put("arrays", "weights", np.zeros((4, 3), np.float16)),
    put("arrays", "weights", np.zeros((4, 3), np.int64)),
    put("arrays", "weights", np.full((4, 3), np.inf)),
    put("arrays", "weights", KeyError),
    put("arrays", "attributes.data", KeyError),
    put("arrays", "attributes.shape", np.array([3, 2**40])),
    put("arrays", "attributes.indices", np.array([0, 1, -1])),
    put("arrays", "column_nodes", np.array([1, 2, 99])),
    put("arrays", "column_nodes", np.array([1, 2, -5])),
    put("arrays", "column_nodes", np.array([1.0, 2, 3])),
    put("arrays", "column_nodes", np.array([1, 2])),
]


@pytest.mark.parametrize("change", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_states_are_refused(change):
    header, arrays = multilabel_state()
    loading.restore(header, arrays)
    change(header, arrays)
    with pytest.raises(InvalidModelFileError):
        loading.restore(header, arrays)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("feature", lambda a: a + 1),  # beyond the features
        ("feature", lambda a: a - 1),
        ("feature", lambda a: a.astype(float)),
        ("feature", lambda a: a[1:]),
        ("column", lambda a: a + 1),
        ("column", lambda a: a - 1),
        ("column", lambda a: a[:, None]),
        ("share", lambda a: a * np.nan),
        ("share", lambda a: a.astype(int)),
    ],
)
def test_hostile_parts_of_features_are_refused(name, change):
    rows = np.eye(4)[np.arange(12) % 4]
    alone = np.zeros((12, 2))
    alone[0] = 1, 2
    header, arrays = loading.describe(mg.HierarchicalSVM("flat").fit(np.hstack([rows, alone]), [0, 1, 2] * 4))
    assert loading.restore(header, arrays)._W.shape == (5, 3)
    arrays = arrays | {"merged." + name: change(arrays["merged." + name])}
    with pytest.raises(InvalidModelFileError):
        loading.restore(header, arrays)


def test_weights_too_large_for_any_memory_are_refused():
    header, arrays = multilabel_state()
    header["features"]["number"] = 2**60
    del arrays["weights"]
    arrays |= {
        "weights.data": np.zeros(0),
        "weights.indices": np.zeros(0, np.int64),
        "weights.indptr": np.zeros(2, np.int64),
        "weights.shape": np.array([2**60, 3]),
    }
    with pytest.raises(InvalidModelFileError):
        loading.restore(header, arrays)


def test_a_warm_start_goes_on_after_a_pickle():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(120, 4)), np.resize(list("abc"), 120)
    model = mg.HierarchicalSVM("flat", warm_start=True).fit(rows, labels)
    again = pickle.loads(pickle.dumps(model)).fit(rows, labels)
    assert again.n_iter_ == model.fit(rows, labels).n_iter_
    np.testing.assert_array_equal(again.weights_, model.weights_)


# --- tables ---

TABLE = {
    "title": ["heart attack", "attack of the heart", "broken arm", "broken leg"] * 6,
    "age": [70.0, None, 20.0, 30.0] * 6,
    "chapter": ["heart", "heart", "bones", "bones"] * 6,
    "code": ["011", None, "S42", "S43"] * 6,
    "codes": ["011", "011;NA", "S42", "S42;NA"] * 6,
}


@pytest.mark.parametrize(
    ("labels", "separator", "expected"),
    [
        ("chapter", None, ["heart", "heart", "bones", "bones"]),
        (["chapter", "code"], None, ["heart/011", "heart", "bones/S42", "bones/S43"]),
        ("codes", ";", None),
    ],
)
def test_models_of_tables(labels, separator, expected, tmp_path):
    names = [labels] if isinstance(labels, str) else labels
    table = {name: TABLE[name] for name in ("title", "age", *names)}
    model = TableModel(TableFeatures(), mg.HierarchicalSVM(C=10), labels, separator).fit(table)
    predicted = list(model.predict(table))
    if expected is None:
        assert all(set(row) <= {"011", "NA", "S42"} for row in predicted)
    else:
        assert predicted[:4] == expected
        assert model.classifier.score(model.features.transform(table), model.labels_of(table)) == 1
    model.save(tmp_path / "model.mg")
    loaded = mg.load(tmp_path / "model.mg")
    assert list(loaded.predict(table)) == predicted
    assert (loaded.predict_ranking(table, top=2) == model.predict_ranking(table, top=2)).all()
