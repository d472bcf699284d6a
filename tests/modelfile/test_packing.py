"""Sparse matrices and strings survive a model file, and malicious ones do not come to exist."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from margrove import modelfile
from margrove.errors import InvalidModelFileError


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_strings(strings):
    assert modelfile.unpack_strings("s", modelfile.pack_strings("s", strings)) == strings


def test_strings_that_are_no_unicode():
    with pytest.raises(InvalidModelFileError, match="ud800"):
        modelfile.pack_strings("s", ["fine", "\ud800"])


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("abc", [0, 2]),
        ("abc", [0, 4]),
        ("abc", [1, 3]),
        ("abc", [0, 2, 1, 3]),
        ("abc", [0, -1, 3]),
        ("abc", []),
        ("ä", [0, 1, 2]),
        ("abc", [[0, 3]]),
        ("abc", [0.0, 3.0]),
    ],
)
def test_hostile_strings(text, offsets):
    arrays = {"s.text": np.frombuffer(text.encode(), dtype=np.uint8)}
    with pytest.raises(InvalidModelFileError, match=r"s\.offsets"):
        modelfile.unpack_strings("s", arrays)
    kind = None if any(offsets) else np.int64
    with pytest.raises(InvalidModelFileError):
        modelfile.unpack_strings("s", arrays | {"s.offsets": np.array(offsets, dtype=kind)})


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 3), (40, 30)])
def test_matrices(shape):
    matrix = sparse.random_array(shape, density=0.2, format="csr", rng=np.random.default_rng(0))
    restored = modelfile.unpack_csr("m", modelfile.pack_csr("m", matrix))
    assert restored.shape == shape
    assert restored.dtype == matrix.dtype
    assert np.array_equal(restored.toarray(), matrix.toarray())


def test_rows_are_sorted_when_packed_and_the_original_is_left_alone():
    matrix = sparse.csr_array(
        (np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3)
    )
    restored = modelfile.unpack_csr("m", modelfile.pack_csr("m", matrix))
    assert restored.indices.tolist() == [0, 2]
    assert restored.data.tolist() == [2.0, 5.0]
    assert matrix.indices.tolist() == [2, 0, 2]


GOOD = {"data": [1.0, 2.0, 3.0], "indices": [0, 2, 1], "indptr": [0, 2, 2, 3], "shape": [3, 3]}


@pytest.mark.parametrize(
    "change",
    [
        {"indices": [0, 3, 1]},
        {"indices": [-1, 2, 1]},
        {"indices": [2, 0, 1]},
        {"indices": [1, 1, 1]},
        {"indices": [0, 2]},
        {"indices": [0.0, 2.0, 1.0]},
        {"indices": [[0], [2], [1]]},
        {"indptr": [0, 2, 1, 3]},
        {"indptr": [0, 9, 2, 3]},
        {"indptr": [0, -5, 2, 3]},
        {"indptr": [1, 2, 2, 3]},
        {"indptr": [0, 2, 2, 4]},
        {"indptr": [0, 2, 3]},
        {"shape": [3]},
        {"shape": [3, -3]},
        {"shape": [2**62, 3]},
        {"data": [1.0, 2.0]},
    ],
    ids=repr,
)
def test_hostile_matrices(change):
    good = {f"m.{part}": np.array(value) for part, value in GOOD.items()}
    modelfile.unpack_csr("m", good)
    changed = {f"m.{part}": np.array(value) for part, value in (GOOD | change).items()}
    with pytest.raises(InvalidModelFileError):
        modelfile.unpack_csr("m", changed)


@pytest.mark.parametrize("part", GOOD)
def test_missing_parts(part):
    arrays = {f"m.{name}": np.array(value) for name, value in GOOD.items() if name != part}
    with pytest.raises(InvalidModelFileError, match=rf"m\.{part}"):
        modelfile.unpack_csr("m", arrays)
