"""Named arrays in the safetensors format, written and read without copying them.

The library of that name copies every array several times each way. The format itself is small: the length of
an index, the index as JSON, then the arrays end to end. The largest items come first, so all are aligned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margrove.errors import InvalidModelFileError
from margrove.modelfile import plainjson

ALIGNMENT = 8

_DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"),
    "U32": np.dtype("<u4"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}


def encode(arrays: Mapping[str, NDArray[Any]]) -> list[bytes | memoryview]:
    """Return the payload in pieces: its index, then a view of each array."""
    index: dict[str, Any] = {}
    blocks: list[bytes | memoryview] = []
    position = 0
    for name, given in sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        dtype = given.dtype.newbyteorder("<")
        if dtype not in _CODES:
            raise InvalidModelFileError(
                f"array {name!r} has dtype {given.dtype}; a model file holds booleans, integers and floats"
            )
        array = np.asarray(given, dtype=dtype, order="C")
        index[name] = {
            "dtype": _CODES[dtype],
            "shape": list(array.shape),
            "data_offsets": [position, position + array.nbytes],
        }
        blocks.append(array.reshape(-1).view(np.uint8).data)
        position += array.nbytes
    text = plainjson.dump(index)
    text += b" " * (-len(text) % ALIGNMENT)
    return [len(text).to_bytes(8, "little"), text, *blocks]


def decode(content: memoryview) -> dict[str, NDArray[Any]]:
    """Return the arrays of a payload as read-only views of it."""
    start = 8 + int.from_bytes(content[:8], "little")
    if start > len(content):
        raise InvalidModelFileError("the index of the arrays is longer than the payload")
    arrays: dict[str, NDArray[Any]] = {}
    position = start
    index = plainjson.parse(bytes(content[8:start]).rstrip(b" "), "the index of the arrays")
    for name, entry in index.items():
        try:
            array = np.ndarray(entry["shape"], _DTYPES[entry["dtype"]], content, position)
            fits = entry["data_offsets"] == [position - start, position - start + array.nbytes]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InvalidModelFileError(f"array {name!r} has no valid type, shape, place: {error}") from error
        if not fits or not array.flags.aligned:
            raise InvalidModelFileError(f"array {name!r} is not where it should be")
        if array.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
            raise InvalidModelFileError(f"array {name!r} holds bytes that are no booleans")
        arrays[name] = array
        position += array.nbytes
    if position != len(content):
        raise InvalidModelFileError(f"{len(content) - position:,} bytes of the payload belong to no array")
    return arrays
