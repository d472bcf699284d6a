"""Sparse matrices, lists of strings and parts of a model as plain arrays, and back.

The way back trusts nothing: compiled code indexes by these arrays without looking, so a matrix that points
outside itself must not come to exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margrove.errors import InvalidModelFileError

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def pack_csr(name: str, matrix: Any) -> dict[str, NDArray[Any]]:
    """Return a sparse matrix as the arrays `name.data`, `.indices`, `.indptr` and `.shape`."""
    from scipy.sparse import csr_array

    matrix = csr_array(matrix)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return {
        f"{name}.data": matrix.data,
        f"{name}.indices": matrix.indices,
        f"{name}.indptr": matrix.indptr,
        f"{name}.shape": np.array(matrix.shape, dtype=np.int64),
    }


def unpack_csr(name: str, arrays: Mapping[str, NDArray[Any]]) -> csr_array[Any]:
    """Return the sparse matrix that `pack_csr` took apart, its rows sorted and without duplicates."""
    from scipy.sparse import csr_array

    data = _vector(arrays, f"{name}.data", "biuf")
    indices = _vector(arrays, f"{name}.indices", "i")
    indptr = _vector(arrays, f"{name}.indptr", "i")
    shape = _vector(arrays, f"{name}.shape", "i").tolist()
    if len(shape) != 2 or min(shape) < 0:
        raise InvalidModelFileError(f"matrix {name!r} has the shape {shape}")
    if len(indptr) != shape[0] + 1 or len(data) != len(indices):
        raise InvalidModelFileError(f"the arrays of matrix {name!r} have lengths that do not fit together")
    _check_offsets(f"{name}.indptr", indptr, len(indices))
    if len(indices) and (indices.min() < 0 or indices.max() >= shape[1]):
        raise InvalidModelFileError(f"matrix {name!r} has entries outside its {shape[1]} columns")
    falls = np.flatnonzero(indices[1:] <= indices[:-1]) + 1  # allowed only where a row begins
    if not np.isin(falls, indptr).all():
        raise InvalidModelFileError(f"matrix {name!r} has rows that are not sorted")
    matrix = csr_array((data, indices, indptr), shape=tuple(shape))
    matrix.has_canonical_format = True
    return matrix


def pack_strings(name: str, strings: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return strings as the arrays `name.text`, all of them end to end in UTF-8, and `name.offsets`."""
    try:
        encoded = [string.encode("utf-8") for string in strings]
    except UnicodeEncodeError as error:
        raise InvalidModelFileError(f"{name!r} holds text that is no Unicode: {error.object!r}") from error
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), out=offsets[1:])
    return {f"{name}.text": np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{name}.offsets": offsets}


def unpack_strings(name: str, arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    """Return the strings that `pack_strings` joined."""
    text = _vector(arrays, f"{name}.text", "u").tobytes()
    offsets = _vector(arrays, f"{name}.offsets", "i")
    _check_offsets(f"{name}.offsets", offsets, len(text))
    ends = offsets.tolist()
    try:
        return [text[start:end].decode("utf-8") for start, end in pairwise(ends)]
    except UnicodeDecodeError as error:
        raise InvalidModelFileError(f"{name!r} holds text that is not UTF-8") from error


def pack_part(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a part of a model, the part's name before theirs."""
    return {f"{name}.{inner}": array for inner, array in arrays.items()}


def unpack_part(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of one part by the names that they have in it."""
    prefix = f"{name}."
    return {full.removeprefix(prefix): array for full, array in arrays.items() if full.startswith(prefix)}


def _vector(arrays: Mapping[str, NDArray[Any]], name: str, kinds: str) -> NDArray[Any]:
    array = arrays.get(name)
    if array is None:
        raise InvalidModelFileError(f"the array {name!r} is missing")
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise InvalidModelFileError(f"the array {name!r} has {array.ndim} axes of type {array.dtype}")
    return array


def _check_offsets(name: str, offsets: NDArray[Any], end: int) -> None:
    """Check that offsets rise from 0 to `end`."""
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != end or (offsets[1:] < offsets[:-1]).any():
        raise InvalidModelFileError(f"the offsets in {name!r} do not rise from 0 to {end:,}")
