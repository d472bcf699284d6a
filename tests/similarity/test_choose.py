"""From names to specifications, and from bound similarities to states and back."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

import margrove as mg
from margrove import modelfile, similarity
from margrove.errors import DataError, InvalidModelFileError, UnsavableModelError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((8, 3))
WORDS = ["abcab", "bca", "", "cab\0a", "ab/ä", "bb", "cabca", "a日a"]
BOUND = {
    "linear": (similarity.linear().bind(X), X + 1),
    "polynomial": (similarity.polynomial(3, np.float64(0.5)).bind(sp.csr_array(X)), X + 1),
    "gaussian": (similarity.gaussian().bind(X, range(8)), X + 1),
    "sparse gaussian": (similarity.gaussian(variance=2).bind(sp.csr_array(X)), X + 1),
    "precomputed": (similarity.precomputed().bind(X @ X.T), (X + 1) @ X.T),
    "subsequence": (similarity.subsequence(2, 0.4).bind(WORDS), ["abc", "", "ä"]),
    "plain subsequence": (similarity.subsequence(2, 0.4, False).bind(WORDS), ["abc", "", "ä"]),
}


def test_names_functions_and_specifications():
    for name in similarity.NAMES:
        spec = similarity.get(name)
        assert similarity.get(spec) is spec
        assert similarity.get(getattr(mg.similarity, name)) == spec == getattr(mg.similarity, name)()
    assert similarity.get(np.dot) == similarity.custom(np.dot)
    for wrong, message in (
        ("gauss", "no similarity is called 'gauss'; expected one of linear, polynomial, gaussian"),
        (3, r"3 is no similarity; expected one of .* or a function f\(A, B\)"),
        (similarity.RowCache, "is a class"),
        (X, "is no similarity"),
    ):
        with pytest.raises(DataError, match=message):
            similarity.get(wrong)


@pytest.mark.parametrize("name", BOUND)
@pytest.mark.parametrize("kept", [range(8), [6, 0, 3], []])
def test_there_and_back(name, kept, tmp_path):
    """Support rows alone are as good as all, to the bit, after a file too."""
    bound, new = BOUND[name]
    few = bound.restricted(list(kept))
    assert few.n == len(kept)
    np.testing.assert_allclose(few.between(new), bound.between(new)[:, list(kept)], rtol=1e-12)
    header, arrays = few.to_state()
    assert json.loads(json.dumps(header)) == header
    modelfile.write(tmp_path / "state", header, arrays)
    loaded = similarity.from_state(*modelfile.read(tmp_path / "state"))
    np.testing.assert_array_equal(loaded.between(new), few.between(new))
    if "precomputed" in name:
        with pytest.raises(DataError, match="not saved with a model"):
            loaded.diagonal()
    else:
        np.testing.assert_array_equal(loaded.rows(np.arange(few.n)), few.rows(np.arange(few.n)))
    again = loaded.to_state()
    assert again[0] == header
    assert {key: array.tobytes() for key, array in again[1].items()} == {
        key: array.tobytes() for key, array in arrays.items()
    }


def test_functions_cannot_be_saved():
    with pytest.raises(UnsavableModelError, match="is a function, and a model file holds no code"):
        similarity.custom(np.dot).bind(X).to_state()


@pytest.mark.parametrize(
    ("name", "header", "arrays"),
    [
        ("linear", {"kind": "quadratic"}, {}),
        ("linear", {"kind": ["linear"]}, {}),
        ("linear", {"degree": 2}, {}),
        ("linear", {}, {"inputs": np.ones(3)}),
        ("linear", {}, {"inputs": np.full((2, 2), np.nan)}),
        ("linear", {}, {"inputs": None}),
        ("polynomial", {"degree": 0}, {}),
        ("polynomial", {"degree": "2"}, {}),
        ("polynomial", {}, {"inputs.indptr": np.array([0, 99], np.int32)}),
        ("gaussian", {"sigma": 1.0}, {}),
        ("gaussian", {}, {"centre": np.ones(2)}),
        ("sparse gaussian", {"variance": None}, {}),
        ("precomputed", {"n_training": 7}, {}),
        ("precomputed", {"n_training": "8"}, {}),
        ("precomputed", {}, {"columns": np.array([0.5])}),
        ("subsequence", {"decay": -1}, {}),
        ("subsequence", {"length": None}, {}),
        ("subsequence", {}, {"own": np.ones(3)}),
        ("subsequence", {}, {"own": np.full(8, -1.0)}),
        ("subsequence", {}, {"strings.offsets": np.array([0, 3])}),
    ],
)
def test_states_that_are_none_are_refused(name, header, arrays):
    good_header, good_arrays = BOUND[name][0].to_state()
    broken = {key: array for key, array in (good_arrays | arrays).items() if array is not None}
    with pytest.raises(InvalidModelFileError):
        similarity.from_state(good_header | header, broken)
