"""What goes into a model file comes out of it, and nothing else does."""

from __future__ import annotations

import hashlib
import json
import os
import struct

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from margrove import errors, modelfile
from margrove.modelfile import container, plainjson

HEADER = {"kind": "Nothing", "taxonomy": {"edges": [["a", "b"], ["a", "ü"]]}, "C": 1.0, "note": None}
ARRAYS = {
    "weights": np.arange(60, dtype=np.float32).reshape(12, 5),
    "indices": np.arange(7, dtype=np.int32),
    "seen": np.array([True, False, True]),
    "scale": np.array(2.5),
}


def small_model() -> bytes:
    return b"".join(modelfile.encode(HEADER, ARRAYS))


def signed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def forged(header: bytes, payload: bytes = b"\x02\0\0\0\0\0\0\0{}") -> bytes:
    """Return a file with a right checksum around any header and payload."""
    return signed(struct.pack("<8sIIQ", b"MARGROVE", 1, len(header), len(payload)) + header + payload)


def forged_payload(index: object, data: bytes = b"") -> bytes:
    text = json.dumps(index, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return forged(b'{"k":"v"}'.ljust(16), len(text).to_bytes(8, "little") + text + data)


def assert_same_arrays(actual: dict, expected: dict) -> None:
    assert actual.keys() == expected.keys()
    for name, array in expected.items():
        assert actual[name].shape == array.shape
        assert actual[name].dtype == array.dtype.newbyteorder("=")
        assert actual[name].tobytes() == array.astype(array.dtype.newbyteorder("=")).tobytes()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
array_types = (
    hnp.boolean_dtypes()
    | hnp.integer_dtypes()
    | hnp.unsigned_integer_dtypes()
    | hnp.floating_dtypes(sizes=(16, 32, 64))
)
any_arrays = hnp.arrays(array_types, hnp.array_shapes(min_dims=0, min_side=0, max_side=5))


@settings(deadline=None)
@given(
    st.dictionaries(st.text(), json_values, max_size=5), st.dictionaries(st.text(), any_arrays, max_size=5)
)
def test_everything_comes_back(header, arrays):
    read_header, read_arrays = modelfile.decode(b"".join(modelfile.encode(header, arrays)))
    assert read_header == header
    assert_same_arrays(read_arrays, arrays)


def test_through_a_file(tmp_path):
    path = tmp_path / "model.mg"
    modelfile.write(path, HEADER, ARRAYS)
    header, arrays = modelfile.read(path)
    assert header == HEADER == modelfile.read_header(path)
    assert_same_arrays(arrays, ARRAYS)
    assert path.read_bytes() == small_model()


def test_arrays_are_read_only_and_aligned():
    _, arrays = modelfile.decode(small_model())
    for array in arrays.values():
        assert array.flags.aligned
        assert not array.flags.writeable


def test_noncontiguous_and_big_endian_arrays():
    arrays = {"t": np.arange(6.0).reshape(2, 3).T, "b": np.arange(3, dtype=">i4"), "s": np.arange(9)[::2]}
    _, read = modelfile.decode(b"".join(modelfile.encode({}, arrays)))
    assert_same_arrays(read, arrays)


def test_the_payload_is_what_the_safetensors_library_reads():
    content = small_model()
    header_bytes, payload_bytes = struct.unpack("<IQ", content[12:24])
    payload = content[24 + header_bytes : 24 + header_bytes + payload_bytes]
    assert_same_arrays(safetensors.numpy.load(payload), ARRAYS)


def test_the_order_of_arrays_does_not_change_the_file():
    reversed_arrays = dict(reversed(ARRAYS.items()))
    assert b"".join(modelfile.encode(HEADER, reversed_arrays)) == small_model()


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a model at all, but long enough")
    with pytest.raises(errors.NotAModelFileError, match=r"notes\.txt: not a Margrove model"):
        modelfile.read(path)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", errors.NotAModelFileError),
        (b"\x80\x04\x95 a pickle of something or other", errors.NotAModelFileError),
        (b"MARG", errors.TruncatedModelFileError),
        (small_model()[:20], errors.TruncatedModelFileError),
        (small_model()[:-1], errors.TruncatedModelFileError),
        (small_model() + b"\0", errors.DamagedModelFileError),
        (small_model()[:-1] + bytes([small_model()[-1] ^ 1]), errors.DamagedModelFileError),
        (struct.pack("<8sIIQ", b"MARGROVE", 2, 9, 9), errors.NewerModelFileError),
        (struct.pack("<8sIIQ", b"MARGROVE", 0, 9, 9), errors.DamagedModelFileError),
        (struct.pack("<8sIIQ", b"MARGROVE", 1, 2**32 - 1, 9), errors.DamagedModelFileError),
        (struct.pack("<8sIIQ", b"MARGROVE", 1, 9, 2**64 - 1), errors.TruncatedModelFileError),
    ],
)
def test_what_is_not_a_whole_model(content, error, tmp_path):
    with pytest.raises(error) as caught:
        modelfile.decode(content)
    assert type(caught.value) is error
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(error):
        modelfile.read(tmp_path / "file")


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"null",
        b"[1,2]",
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":1e999}',
        b'{"a":1,"a":2}',
        b'{"a": 1}',
        b'{"a":' + b"9" * 5000 + b"}",
        b'{"a":"\\ud800"}',
        b'{"a":"\xff"}',
        b'{"a":1',
        b'{"a":' + b"[" * 100 + b"]" * 100 + b"}",
        b"[" * 1_000_000,
        b'{"a":' * 100_000,
        b'"' + b'\\"' * 1_000_000,
        b'{"a":1}\0',
        "{}".encode("utf-16"),
    ],
    ids=lambda header: repr(header[:12]),
)
def test_forged_headers(header):
    with pytest.raises(errors.InvalidModelFileError):
        modelfile.decode(forged(header))


def test_the_depth_bound_does_not_count_brackets_in_strings():
    header = {"a": "[" * 1000, 'b\\"[': '\\"' + "{" * 1000}
    assert plainjson.parse(plainjson.dump(header), "it") == header


VALID = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    "entry",
    [
        VALID | {"dtype": "F31"},
        VALID | {"dtype": ["F32"]},
        VALID | {"dtype": None},
        VALID | {"shape": [3]},
        VALID | {"shape": [1]},
        VALID | {"shape": [-2]},
        VALID | {"shape": [2.0]},
        VALID | {"shape": "2"},
        VALID | {"shape": None},
        VALID | {"shape": {"2": 2}},
        VALID | {"shape": [2**31, 2**31, 2**31]},
        VALID | {"shape": [0, 2**62, 2**62]},
        VALID | {"shape": [10**400]},
        VALID | {"shape": [1] * 1000},
        VALID | {"data_offsets": [0, 4]},
        VALID | {"data_offsets": [-8, 0]},
        VALID | {"data_offsets": [8, 16]},
        VALID | {"data_offsets": None},
        VALID | {"dtype": "BOOL", "shape": [8]},
        {"dtype": "F32"},
        [],
        "F32",
        3,
    ],
    ids=repr,
)
def test_forged_arrays(entry):
    data = bytes([0, 0, 200, 65, 0, 0, 32, 66])
    modelfile.decode(forged_payload({"a": VALID}, data))
    with pytest.raises(errors.InvalidModelFileError):
        modelfile.decode(forged_payload({"a": entry}, data))


def test_forged_payloads():
    for payload in (b"", b"\x01", (2**63).to_bytes(8, "little"), (100).to_bytes(8, "little") + b"{}"):
        with pytest.raises(errors.InvalidModelFileError):
            modelfile.decode(forged(b"{}", payload))
    with pytest.raises(errors.InvalidModelFileError, match="belong to no array"):
        modelfile.decode(forged_payload({}, b"\0" * 8))
    overlapping = {"a": VALID, "b": VALID}
    with pytest.raises(errors.InvalidModelFileError, match="'b' is not where it should be"):
        modelfile.decode(forged_payload(overlapping, b"\0" * 16))
    misaligned = {
        "a": VALID | {"dtype": "I8", "shape": [1], "data_offsets": [0, 1]},
        "b": VALID | {"data_offsets": [1, 9]},
    }
    with pytest.raises(errors.InvalidModelFileError, match="'b' is not where it should be"):
        modelfile.decode(forged_payload(misaligned, b"\0" * 9))


def test_what_cannot_be_stored():
    deep: list = []
    for _ in range(100):
        deep = [deep]
    for header in ({"a": float("nan")}, {"a": object()}, {"a": deep}, {"a": "\ud800"}):
        with pytest.raises(errors.InvalidModelFileError):
            modelfile.encode(header, {})
    for array in (np.array(["text"]), np.array([None]), np.array([1j]), np.zeros(1, dtype="M8[s]")):
        with pytest.raises(errors.InvalidModelFileError, match="array 'a' has dtype"):
            modelfile.encode({}, {"a": array})


def test_a_header_too_long_is_refused_when_saving(monkeypatch, tmp_path):
    monkeypatch.setattr(container, "MAX_HEADER_BYTES", 100)
    with pytest.raises(errors.InvalidModelFileError, match="store long lists as arrays"):
        modelfile.write(tmp_path / "model.mg", {"a": "x" * 200}, {})
    assert not list(tmp_path.iterdir())


def test_not_a_regular_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(errors.NotAModelFileError, match="not a regular file"):
        modelfile.read(tmp_path / "pipe")
    with pytest.raises(errors.NotAModelFileError, match="not a regular file"):
        modelfile.read("/dev/zero")
    with pytest.raises(IsADirectoryError):
        modelfile.read(tmp_path)
    with pytest.raises(FileNotFoundError):
        modelfile.read(tmp_path / "nothing")
