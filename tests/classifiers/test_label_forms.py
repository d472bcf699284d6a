"""Labels of every kind and form come back exactly as they were."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import margrove as mg
from margrove.errors import LabelError

X = np.kron(np.ones((4, 1)), np.eye(3)) + 0.05 * np.random.default_rng(0).normal(
    size=(12, 3)
)  # 0, 1, 2, 0, ...


def rows(a, b, c):
    return [a, b, c] * 4


def objects(values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


def fit(y, **params):
    return mg.HierarchicalSVM(C=10, **params).fit(X, y)


KEPT = {
    "text that looks like something else": rows("0111", "NA", "None"),
    "text that looks missing": rows("nan", "null", "0"),
    "integers": rows(3, 1, 2),
    "integers of any size": rows(2**70, -(2**63), 2**63),
    "booleans": rows(True, False, True),
    "text and numbers": rows("1", 1, 2.0),
    "tuples": rows(("a", "b"), ("a", "c"), ("d",)),
    "tuples in an array": objects(rows(("a", "b"), ("a", "c"), ("d",))),
    "bytes": rows(b"x", b"y", b"z"),
    "frozen dates": rows(*np.array(["2020", "2021", "2022"], "M8[D]").tolist()),
    "NumPy text": np.array(rows("b", "ab", "c")),
    "NumPy objects": np.array(rows("b", "ab", "c"), object),
    "NumPy integers": np.array(rows(7, 1, 2), np.int16),
    "NumPy unsigned": np.array(rows(2**64 - 1, 1, 2), np.uint64),
    "NumPy booleans": np.array(rows(True, False, True)),
    "NumPy whole floats": np.array(rows(7.0, 1.0, 2.0), np.float32),
    "NumPy dates": np.array(rows("2020-01-01", "2021-01-01", "2022-01-01"), "M8[ns]"),
    "Series": pd.Series(rows("b", "a", "c"), index=range(5, 17)),
    "Series of strings": pd.Series(rows("b", "a", "c"), dtype="string"),
    "Series of nullable integers": pd.Series(rows(3, 1, 2), dtype="Int64"),
    "categories": pd.Series(rows("b", "a", "c"), dtype="category"),
    "Categorical": pd.Categorical(rows("b", "a", "c")),
    "Index": pd.Index(rows("b", "a", "c")),
    "polars": pl.Series(rows("b", "a", "c")),
    "polars integers": pl.Series(rows(3, 1, 2)),
    "polars categories": pl.Series(rows("b", "a", "c"), dtype=pl.Categorical),
    "paths": rows("a/b", "a/c", "d"),
    "paths that are inner nodes": rows("a/b", "a", "d"),
}


@pytest.mark.parametrize("name", KEPT)
def test_labels_come_back_as_they_were(name):
    y = KEPT[name]
    model = fit(y)
    predicted = model.predict(X)
    expected = list(y) if not hasattr(y, "tolist") else y.tolist()
    assert predicted.tolist() == expected
    assert [type(label) for label in predicted.tolist()] == [type(label) for label in expected]
    assert model.score(X, y) == 1
    if isinstance(y, np.ndarray):
        assert predicted.dtype == y.dtype


def test_lists_of_integers_and_booleans_give_plain_arrays():
    assert fit(rows(3, 1, 2)).classes_.dtype == np.int64
    assert fit(rows(True, False, True)).classes_.dtype == bool
    assert fit(rows(2.0, 1.0, 3.0)).classes_.dtype == np.float64


@pytest.mark.parametrize(
    "y",
    [
        rows(["a"], ["b", "c"], ["c"]),
        rows({"a"}, {"b", "c"}, {"c"}),
        rows(frozenset("a"), frozenset("bc"), frozenset("c")),
        rows(np.array(["a"]), np.array(["b", "c"]), np.array(["c"])),
        objects(rows(["a"], ["b", "c"], ["c"])),
        pd.Series(rows(["a"], ["b", "c"], ["c"])),
        pl.Series(rows(["a"], ["b", "c"], ["c"])),
        rows(["a", "a"], ["c", "b", "c"], ["c"]),
    ],
    ids=lambda y: f"{type(y).__name__} of {type(y[0]).__name__}",
)
def test_collections_of_labels(y):
    model = fit(y)
    assert model.classes_.tolist() == ["a", "b", "c"]
    predicted = model.predict(X)
    assert isinstance(predicted, list)
    assert [set(labels) for labels in predicted] == [set(labels) for labels in y]
    assert model.score(X, y) == 1


def test_the_labels_of_a_collection_come_best_first():
    model = fit(rows(["a"], ["b", "c"], ["a", "c"]))
    for labels, ranked in zip(model.predict(X), model.predict_ranking(X), strict=True):
        assert labels == ranked[: len(labels)].tolist()


INDICATORS = np.array(rows([0, 1], [1, 1], [1, 0]))


@pytest.mark.parametrize(
    "y",
    [
        INDICATORS, INDICATORS.astype(bool), INDICATORS.astype(float), INDICATORS.astype(object),
        INDICATORS.tolist(), list(INDICATORS), sp.csr_matrix(INDICATORS), sp.coo_array(INDICATORS),
        np.asfortranarray(INDICATORS),
    ],
    ids=lambda y: type(y).__name__ + str(getattr(y, "dtype", "")),
)  # fmt: skip
def test_indicators(y):
    model = fit(y)
    assert model.classes_.tolist() == [0, 1]
    assert (model.predict(X) == INDICATORS).all()
    assert model.score(X, y) == 1


@pytest.mark.parametrize("library", [pd, pl])
def test_the_columns_of_indicator_frames_are_classes_in_their_order(library):
    y = library.DataFrame({"z": INDICATORS[:, 0], "a": INDICATORS[:, 1]})
    model = fit(y)
    assert model.classes_.tolist() == ["z", "a"]
    assert (model.predict(X) == INDICATORS).all()
    tax = mg.Taxonomy.from_edges([("r", "z"), ("r", "a")])
    assert fit(y, taxonomy=tax).class_nodes_ == ("z", "a")
    with pytest.raises(LabelError, match="no names; give y as a data frame"):
        fit(INDICATORS, taxonomy=tax)


def test_lists_of_equal_length_with_other_labels_are_collections():
    model = fit(rows([0, 1], [1, 2], [2, 0]))
    assert model.classes_.tolist() == [0, 1, 2]
    assert [sorted(labels) for labels in model.predict(X)] == rows([0, 1], [1, 2], [0, 2])


LEVELS = rows(["a", "b"], ["a", None], ["d", "e"])


@pytest.mark.parametrize(
    "y",
    [
        np.array(LEVELS, object),
        np.array(rows(["a", "b"], ["a", ""], ["d", "e"])),
        pd.DataFrame(LEVELS, columns=["l1", "l2"]),
        pd.DataFrame(LEVELS, columns=["l1", "l2"], dtype="string"),
        pl.DataFrame(LEVELS, schema=["l1", "l2"], orient="row"),
    ],
)
def test_one_column_a_level(y):
    model = fit(y)
    assert model.predict(X).tolist() == rows("a/b", "a", "d/e")
    assert model.score(X, y) == 1
    assert model.taxonomy_.depth("b") == 2
    tax = mg.Taxonomy.from_edges([("r", "a"), ("r", "d"), ("a", "b"), ("d", "e"), ("d", "f")])
    with_taxonomy = fit(y, taxonomy=tax)
    assert with_taxonomy.class_nodes_ == ("a (miscellaneous)", "b", "e")
    assert with_taxonomy.predict(X).tolist() == rows("a/b", "a", "d/e")
    assert fit(y, taxonomy="flat").taxonomy_.depths.max() == 1


def test_levels_that_text_cannot_join_stay_tuples():
    y = np.array(rows(["a/b", "c"], ["a", "b/c"], ["d", 1]), object)
    model = fit(y)
    assert model.predict(X).tolist() == rows(("a/b", "c"), ("a", "b/c"), ("d", 1))
    assert model.score(X, y) == 1


def test_path_labels_make_a_taxonomy_unless_flat():
    y = rows("a/x", "b/x", "b/y")
    model = fit(y)
    assert set(model.taxonomy_.nodes) == {"root", "a", "b", "a/x", "b/x", "y"}
    assert fit(y, taxonomy="flat").taxonomy_.depths.max() == 1
    tax = mg.Taxonomy.from_paths(y)
    assert fit(y, taxonomy=tax).class_nodes_ == ("a/x", "b/x", "y")
    assert fit(rows("a/x", "b > x", "y"), taxonomy=tax).predict(X).tolist() == rows("a/x", "b > x", "y")
    with pytest.raises(LabelError, match=r"row 1.*2 nodes are labelled 'x'"):
        fit(rows("a", "x", "y"), taxonomy=tax)


def test_inner_nodes_are_predicted_as_themselves():
    tax = mg.Taxonomy.from_edges([("r", "a"), ("a", "b"), ("a", "c"), ("r", "d")])
    model = fit(rows("a", "b", "r"), taxonomy=tax)
    assert model.predict(X).tolist() == rows("a", "b", "r")
    assert model.predict_ranking(X).shape == (12, 3)


DIRECTORY = mg.Taxonomy.from_edges([("r", "animals"), ("animals", "cat"), ("animals", "dog"), ("r", "7")])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (rows("cat", "dogg", "cat"), "y, row 1: the label 'dogg' .* did you mean 'dog'"),
        (rows("cat", 7, "cat"), r"y, row 1: the label 7 .* it has '7' \(str\), not 7 \(int\)"),
        (rows(0, 1, 1), r"y, row 0: the label 0 .* none of its nodes is a number"),
        (rows(["cat"], ["cat", "dgo"], []), "y, row 1: the label 'dgo'"),
        (
            np.array(rows(["animals", "cat"], ["animals", "cow"], ["7", None]), object),
            "y, row 1: the label 'animals/cow' .* below 'animals' there is no 'cow'; there is 'cat', 'dog'",
        ),
        (pd.DataFrame({"cat": [1] * 12, "cow": [0] * 12}), "y, column 1: the label 'cow'"),
        (
            rows("cat", "animals/cat", "dog"),
            "'cat' and 'animals/cat' are one node|'animals/cat' and 'cat' are one",
        ),
    ],
)
def test_labels_that_the_taxonomy_lacks(y, message):
    with pytest.raises(LabelError, match=message):
        fit(y, taxonomy=DIRECTORY)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        (rows("a", None, "b"), r"row 1: the label is missing \(None\)"),
        (rows(0.0, 1.0, np.nan), r"row 2: the label is missing \(nan\)"),
        (np.array(rows(0.0, 1.0, np.nan)), r"row 2: the label is missing \(nan\)"),
        (pd.Series(rows(0, 1, None), dtype="Int64"), "row 2: the label is missing"),
        (pl.Series(rows("a", None, "b")), "row 1: the label is missing"),
        (np.array(rows("2020", "NaT", "2021"), "M8[ns]"), "row 1: the label is missing"),
        (rows("a", " ", "b"), "row 1: the label is missing"),
        (rows(["a"], ["b", None], []), "row 1: the label is missing"),
        (np.linspace(0, 1, 12), "Unknown label type: continuous. y, row 1"),
        (np.linspace(0, 1, 12).tolist(), "Unknown label type: continuous. y, row 1"),
        (np.array(rows(1j, 2, 3)), "Unknown label type"),
        (["a", "b"], "X has 12 rows but y has 2"),
        ([], "no label"),
        (rows([], [], []), "no label"),
        (np.zeros((12, 2, 2)), r"shape \(12, 2, 2\)"),
        (np.array(3), r"shape \(\)"),
        (np.zeros((12, 0)), r"shape \(12, 0\)"),
        (3, "Expected array-like"),
        ("abcdefghijkl", "Expected array-like"),
        (set("abcdefghijkl"), "have no order"),
        (dict.fromkeys("abcdefghijkl"), "have no order"),
        (rows("a", ["b"], "c"), "row 1: .* is not one label"),
        (rows(["b"], "a", "c"), "row 1: .* is not a collection"),
        (rows({"a": 1}, {"a": 2}, {}), "row 0: .* labels are hashable"),
        (np.array(rows([0, 1], [2, 1], [0, 0])), "row 1, column 0: 2 is neither 0 nor 1.*levels"),
        (pd.DataFrame(rows([1, 2], [1, 3], [4, 5])), "neither 0 nor 1.*levels"),
        (sp.csr_array(np.array(rows([0, 1], [2, 1], [0, 0]))), "row 1: .* holds 0 and 1, found 2"),
        (np.array(rows(["a", "b"], [None, "c"], ["d", None]), object), "row 1: .* above a filled one"),
        (np.array(rows(["a", "b"], [None, None], ["d", None]), object), "row 1: every level is empty"),
        (rows("a/b", "a//b", "c"), "y, row 1: .*empty name"),
    ],
)  # fmt: skip
def test_targets_that_cannot_be_used(y, message):
    with pytest.raises(ValueError, match=message) as caught:
        fit(y)
    assert isinstance(caught.value, mg.errors.MargroveError)


def test_a_column_is_taken_as_labels_with_scikit_learns_warning():
    for y in (np.array(rows(1, 2, 3))[:, None], pd.DataFrame({"label": rows(1, 2, 3)})):
        with pytest.warns(match="column-vector"):
            assert fit(y).classes_.tolist() == [1, 2, 3]


def test_labels_do_not_depend_on_the_hash_seed_or_the_order_of_rows():
    y = rows("b", 1, ("c", 2))
    assert fit(y).classes_.tolist() == fit(rows(1, ("c", 2), "b")).classes_.tolist()


def test_scores_of_other_labels_count_as_wrong():
    model = fit(rows("a", "b", "c"))
    assert model.score(X[:3], ["a", "b", "new"]) == pytest.approx(2 / 3)
    assert model.score(X[:3], ["a", "b", "new"], sample_weight=[1, 1, 0]) == 1
    with pytest.raises(LabelError, match="several labels a row"):
        model.score(X[:3], [["a"], ["b"], ["c"]])
    with pytest.raises(ValueError, match="X has 3, y has 2"):
        model.score(X[:3], ["a", "b"])


def test_many_labels_are_read_quickly():
    y = np.repeat(np.arange(100_000), 2).astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from margrove.classifiers.targets import read_targets

        classes, Y = read_targets(y, None)
    assert Y.shape == (200_000, 100_000)
    assert classes.labels.dtype == y.dtype
