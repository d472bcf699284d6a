"""Features of tables: what they hold, and that a loaded model computes the same bits."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer

from margrove.errors import DataError, InvalidModelFileError
from margrove.tables.features import TableFeatures
from margrove.tables.kinds import infer_kind
from margrove.tables.read import read_table
from margrove.tables.table import as_table

TITLES = [
    "heart attack, acute",
    "Attack of the heart",
    "vitamin B 12",
    None,
    "fracture of arm, fracture of leg",
    "Fièvre",
    "!!!",
    "heart",
]
AGES = [1.0, None, 3.0, 4.0, 5.0, 6.0, 7.0, 30.0]
SEXES = ["f", "m", "f", None, "m", "f", "x", "NA"]
WARDS = [1, 2, 1, 2, 1, 2, 1, 2]
TABLE = {"title": TITLES, "age": AGES, "sex": SEXES, "ward": WARDS}
KINDS = {"text": "title", "numeric": "age", "categorical": ["sex", "ward"]}


def same_bits(a: sparse.csr_array, b: sparse.csr_array) -> bool:
    return (
        a.shape == b.shape
        and a.dtype == b.dtype
        and a.data.tobytes() == b.data.tobytes()
        and np.array_equal(a.indices, b.indices)
        and np.array_equal(a.indptr, b.indptr)
    )


def reloaded(features: TableFeatures) -> TableFeatures:
    header, arrays = features.to_state()
    return TableFeatures.from_state(json.loads(json.dumps(header)), arrays)


def test_text_is_what_scikit_learn_computes():
    features = TableFeatures(text="title").fit(TABLE)
    peer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
    texts = [title or "" for title in TITLES]
    expected = peer.fit_transform(texts)
    assert features.get_feature_names_out().tolist() == [
        f"title: {term}" for term in peer.get_feature_names_out()
    ]
    assert abs(features.transform(TABLE) - expected).max() < 1e-6


def test_the_matrix_is_what_kernels_expect():
    for X in (TableFeatures(**KINDS).fit_transform(TABLE), TableFeatures(text="title").fit_transform(TABLE)):
        assert X.dtype == np.float32
        assert X.indices.dtype == X.indptr.dtype == np.int32
        assert X.has_sorted_indices
        assert X.has_canonical_format
        assert np.isfinite(X.data).all()


def test_every_block_weighs_the_same():
    X = TableFeatures(**KINDS).fit_transform(TABLE)
    names = TableFeatures(**KINDS).fit(TABLE).get_feature_names_out()
    text = np.array([name.startswith("title: ") for name in names])
    categories = np.array([" = " in name for name in names])
    norms = sparse.linalg.norm(X[:, text], axis=1)
    assert np.allclose(norms[[0, 1, 2, 4, 5, 7]], 1)
    assert norms[[3, 6]].tolist() == [0, 0]  # no text, and no words
    assert np.allclose(sparse.linalg.norm(X[:, categories], axis=1)[[0, 1, 2]], 1)
    age = X[:, list(names).index("age")].toarray()
    known = np.array([number is not None for number in AGES])
    assert age[known].mean() == pytest.approx(0, abs=1e-6)
    assert age[known].std() == pytest.approx(1, rel=1e-6)


def test_names():
    features = TableFeatures(numeric=["age"], categorical=["sex", "ward"]).fit(TABLE)
    names = ["age", "age is missing", "sex = NA", "sex = f", "sex = m", "sex = x", "ward = 1", "ward = 2"]
    assert features.get_feature_names_out().tolist() == names
    X = features.transform({"age": [None], "sex": ["m"], "ward": ["2"]}).toarray()
    half = np.float32(1 / np.sqrt(2))
    assert X.tolist() == [[0, 1, 0, 0, half, 0, 0, half]]


def test_what_was_not_seen_in_training_gives_zeros():
    features = TableFeatures(**KINDS).fit(TABLE)
    X = features.transform({"title": ["unheard-of"], "age": [8.0], "sex": ["q"], "ward": [None]})
    assert X.nnz <= 1  # the age, if it is not the mean
    constant = TableFeatures(numeric="n").fit({"n": [5.0, 5.0]})
    assert constant.transform({"n": [5.0, 99.0, None]}).nnz == 0


def test_the_same_bits_after_loading():
    features = TableFeatures(**KINDS, ngram_range=(1, 3), min_df=1, max_features=20, strip_accents="unicode")
    X = features.fit_transform(TABLE)
    loaded = reloaded(features)
    assert same_bits(X, features.transform(TABLE))
    assert same_bits(X, loaded.transform(TABLE))
    assert loaded.get_params() == features.get_params()
    assert loaded.get_feature_names_out().tolist() == features.get_feature_names_out().tolist()
    assert loaded.summary() == features.summary()


def test_the_same_features_from_a_file_and_from_a_frame():
    frame = pd.DataFrame(TABLE)
    table = read_table(io.BytesIO(frame.to_csv(index=False, na_rep="").encode()))
    features = TableFeatures(**KINDS).fit(frame)
    assert same_bits(features.transform(frame), features.transform(table))
    assert same_bits(features.transform(frame), TableFeatures(**KINDS).fit_transform(table))


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_numbers_of_any_size(scale):
    values = np.array([1.0, 2.0, 3.0, 10.0])
    plain = TableFeatures(numeric="n").fit_transform({"n": values}).toarray()
    scaled = TableFeatures(numeric="n").fit_transform({"n": values * scale}).toarray()
    assert np.allclose(plain, scaled)


def test_numbers_beyond_measure_and_no_numbers():
    features = TableFeatures(numeric="n").fit({"n": [1.0, 2.0]})
    with pytest.raises(DataError, match=r"row 2 of the table: column 'n' is 1e\+300, beyond"):
        features.transform({"n": [1.0, 1e300]})
    with pytest.raises(
        DataError, match="row 1 of the table: column 'n' has to hold finite numbers and here is inf"
    ):
        features.transform({"n": [np.inf]})
    with pytest.raises(DataError, match="here is 'abc'"):
        features.transform({"n": ["abc"]})


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1.5, 2.5, None], "numeric"),
        (["1", "-2.5e3", "NA", None], "numeric"),
        (["NA", "NA"], "text"),
        (["0111", "0112"] * 5, "categorical"),
        (["0111", "0112"], "text"),
        ([True, False] * 5, "categorical"),
        (["a", "b"] * 5, "categorical"),
        (["a", "b"] * 4, "text"),
        ([f"text {i}" for i in range(100)], "text"),
        ([None, None], "left out"),
        (["", ""], "left out"),
        ([["a"], ["b", "c"]], "left out"),
        (list(range(100)), "left out"),
        ([str(i) for i in range(100)], "left out"),
        ([2, 1, 3, 5, 4, 6, 7], "numeric"),
        ([1, 2, 3], "numeric"),
    ],
)
def test_kinds(cells, kind):
    assert infer_kind(as_table({"c": cells}), "c") == kind


def test_kinds_are_found_and_told():
    rows = 20
    table = {
        "id": list(range(rows)),
        "title": [f"word{i} common" for i in range(rows)],
        "size": [str(i % 7) for i in range(rows)],
        "shop": ["north", "south"] * (rows // 2),
    }
    features = TableFeatures().fit(table)
    assert features.summary() == [
        "title: text, 41 terms",
        "size: numeric",
        "shop (2): categorical",
        "id: left out",
    ]
    assert features.columns() == ["title", "size", "shop"]
    assert features.columns("numeric") == ["size"]


@pytest.mark.parametrize(
    ("features", "table", "message"),
    [
        (TableFeatures(text="titel"), TABLE, "no column 'titel'; did you mean 'title'"),
        (TableFeatures(text="title"), {"title": []}, "no rows to learn from"),
        (TableFeatures(text="title"), {"title": ["!", None]}, "'title' of the table gives no terms"),
        (
            TableFeatures(text="title", min_df=5),
            {"title": ["a", "b"] * 3},
            "'title' .* gives no terms.*min_df",
        ),
        (TableFeatures(text="title", min_df=5), {"title": ["a", "b"]}, "'title' .* gives no terms.*min_df"),
        (TableFeatures(), {"a": [None]}, "no column to learn from"),
        (TableFeatures(text="title", categorical=["title"]), TABLE, "'title' is named more than once"),
    ],
)
def test_what_cannot_be_fitted(features, table, message):
    with pytest.raises(DataError, match=message):
        features.fit(table)


def test_a_column_missing_in_prediction():
    features = TableFeatures(**KINDS).fit(TABLE)
    with pytest.raises(DataError, match="no column 'age'"):
        features.transform({"title": ["a"], "sex": ["f"], "ward": [1]})


def test_scikit_learn_conventions():
    features = TableFeatures(**KINDS)
    assert clone(features).get_params() == features.get_params()
    assert TableFeatures().fit(TABLE).transform(TABLE).shape[0] == len(TITLES)


def test_no_rows_to_transform():
    X = TableFeatures(**KINDS).fit(TABLE).transform({"title": [], "age": [], "sex": [], "ward": []})
    assert X.shape[0] == 0


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("0.idf", np.ones(3, dtype=np.float32)),
        ("0.idf", None),
        ("0.terms.offsets", np.array([0, 5])),
        ("1.mean", np.zeros(2)),
        ("1.mean", np.array([np.nan])),
        ("1.deviation", np.array([0.0])),
        ("1.has_missing", np.zeros(1)),
        ("2.0.text", np.array([255] * 5, dtype=np.uint8)),
    ],
)
def test_hostile_arrays(name, array):
    header, arrays = TableFeatures(**KINDS).fit(TABLE).to_state()
    assert name in arrays
    changed = {key: value for key, value in arrays.items() if key != name}
    if array is not None:
        changed[name] = array
    with pytest.raises((InvalidModelFileError, KeyError)):
        TableFeatures.from_state(header, changed)


def test_importing_tables_is_cheap():
    code = "import sys, margrove.tables, margrove.modelfile, margrove.loading; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"sklearn", "scipy", "pyarrow", "pandas", "numba", "narwhals"} & set(loaded)
