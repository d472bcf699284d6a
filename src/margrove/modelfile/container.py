"""The outermost layer of a model file.

    offset      size  content
    0           8     magic, b"MARGROVE"
    8           4     format version       (little-endian, as all numbers here)
    12          4     H, length of the header
    16          8     P, length of the payload
    24          H     header: a JSON object in UTF-8, filled with spaces to align the payload
    24 + H      P     payload: arrays in the safetensors format
    24 + H + P  32    SHA-256 of everything before it

The checksum tells damage from content. It is no signature: whoever writes a file can write a right checksum,
so what stands behind it is still checked piece by piece.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from margrove.errors import (
    DamagedModelFileError,
    InvalidModelFileError,
    ModelFileError,
    NewerModelFileError,
    NotAModelFileError,
    TruncatedModelFileError,
)
from margrove.modelfile import payload, plainjson
from margrove.modelfile.atomic import replacing

FORMAT_VERSION = 1
MAX_HEADER_BYTES = 64 * 2**20

_MAGIC = b"MARGROVE"
_PREAMBLE = struct.Struct("<8sIIQ")
_DIGEST_BYTES = 32

Arrays = dict[str, NDArray[Any]]
StrPath = str | os.PathLike[str]


def write(path: StrPath, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a model file so that, whatever happens, `path` holds the old model or the new one, whole.

    Tuples in the header come back as lists and keys as strings, as ever in JSON. An `OSError` (no such
    directory, no permission, no space) is passed on as it is.
    """
    chunks = encode(header, arrays)
    with replacing(path) as file:
        for chunk in chunks:
            file.write(chunk)


def read(path: StrPath) -> tuple[dict[str, Any], Arrays]:
    """Read a model file; the arrays are read-only views of one buffer.

    Raises a `ModelFileError` that names the file when its content is not a whole model, and passes an
    `OSError` on as it is.
    """
    source = os.fspath(path)
    try:
        return decode(_content(source))
    except ModelFileError as error:
        raise type(error)(f"{source}: {error}") from error.__cause__


def read_header(path: StrPath) -> dict[str, Any]:
    """Read the header; the whole file is checked all the same, so a damaged model is never described."""
    return read(path)[0]


def encode(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """Return the bytes of a model file in pieces, all validated beforehand and the arrays uncopied."""
    text = plainjson.dump(header)
    text += b" " * (-(len(text) + _PREAMBLE.size) % payload.ALIGNMENT)
    if len(text) > MAX_HEADER_BYTES:
        raise InvalidModelFileError(
            f"the header of this model would take {len(text):,} bytes and at most {MAX_HEADER_BYTES:,} are "
            "allowed; store long lists as arrays"
        )
    blocks = payload.encode(arrays)
    size = sum(len(block) for block in blocks)
    return _with_digest([_PREAMBLE.pack(_MAGIC, FORMAT_VERSION, len(text), size), text, *blocks])


def decode(content: bytes) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a model file's bytes, the arrays as read-only views of them."""
    header_bytes, payload_bytes = _lengths(content[: _PREAMBLE.size], len(content))
    view = memoryview(content)
    end = len(content) - _DIGEST_BYTES
    if hashlib.sha256(view[:end]).digest() != view[end:]:
        raise DamagedModelFileError("the checksum does not match the content; copy or save the model again")
    start = end - payload_bytes
    header = plainjson.parse(content[start - header_bytes : start].rstrip(b" "), "the header")
    return header, payload.decode(view[start:end])


def _with_digest(blocks: list[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
        yield block
    yield digest.digest()


def _content(path: str) -> bytes:
    mode = os.stat(path).st_mode
    # Opening a pipe would wait for a writer, and a device may never end. (Opening a directory is an OSError.)
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise NotAModelFileError("not a regular file")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        _lengths(file.read(_PREAMBLE.size), size)  # before reading gigabytes of something else
        file.seek(0)
        return file.read(size)


def _lengths(preamble: bytes, size: int) -> tuple[int, int]:
    """Return the lengths of header and payload, once they agree with the size of the whole."""
    if not preamble:
        raise NotAModelFileError("the file is empty")
    if preamble[:8] != _MAGIC[: len(preamble)]:
        raise NotAModelFileError("not a Margrove model (a model begins with the bytes MARGROVE)")
    if len(preamble) < _PREAMBLE.size:
        raise TruncatedModelFileError(f"the file ends after {size} bytes, within its preamble")
    _, version, header_bytes, payload_bytes = _PREAMBLE.unpack(preamble)
    if version > FORMAT_VERSION:
        raise NewerModelFileError(
            f"the file has format version {version} and this Margrove reads versions up to {FORMAT_VERSION}; "
            "upgrade Margrove"
        )
    if version < 1 or header_bytes > MAX_HEADER_BYTES:
        raise DamagedModelFileError(f"impossible: version {version} with a header of {header_bytes:,} bytes")
    expected = _PREAMBLE.size + header_bytes + payload_bytes + _DIGEST_BYTES
    if size < expected:
        raise TruncatedModelFileError(f"the file has {size:,} bytes where its preamble promises {expected:,}")
    if size > expected:
        raise DamagedModelFileError(f"{size - expected:,} bytes follow where the model should end")
    return header_bytes, payload_bytes
