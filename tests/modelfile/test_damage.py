"""Damaged copies of a model never load, and hostile ones never do harm."""

from __future__ import annotations

import hashlib
import random
import struct

import numpy as np
import pytest

from margrove import modelfile
from margrove.errors import ModelFileError

HEADER = {
    "kind": "Small",
    "taxonomy": [["root", "a"], ["root", "b"], ["a", "a1"], ["a", "ä2"]],
    "parameters": {"C": 1.0, "tol": 0.01, "cost": None, "deep": {"er": [1, [2, [3]]]}},
}
ARRAYS = {
    "weights": np.random.default_rng(0).standard_normal((20, 7)).astype(np.float32),
    "indptr": np.arange(21, dtype=np.int32),
    "mask": np.zeros(5, dtype=bool),
}


def span(rng: random.Random, size: int) -> tuple[int, int]:
    start = rng.randrange(size)
    return start, min(size, start + rng.choice([1, 2, 8, 64, 500]))


def flip_bits(rng: random.Random, content: bytes) -> bytes:
    damaged = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 10])):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def truncate(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content))]


def overwrite(rng: random.Random, content: bytes) -> bytes:
    start, end = span(rng, len(content))
    return content[:start] + rng.randbytes(end - start) + content[end:]


def insert(rng: random.Random, content: bytes) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + rng.randbytes(rng.randint(1, 100)) + content[start:]


def remove(rng: random.Random, content: bytes) -> bytes:
    start, end = span(rng, len(content))
    return content[:start] + content[end:]


def duplicate(rng: random.Random, content: bytes) -> bytes:
    start, end = span(rng, len(content))
    return content[:end] + content[start:]


def swap(rng: random.Random, content: bytes) -> bytes:
    a, b, c, d = sorted(rng.randrange(len(content) + 1) for _ in range(4))
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def splice(rng: random.Random, content: bytes) -> bytes:
    """The head of one model and the tail of another."""
    other = b"".join(modelfile.encode(HEADER | {"kind": "Other"}, ARRAYS | {"more": np.zeros(3)}))
    return content[: rng.randrange(len(content))] + other[rng.randrange(len(other)) :]


def zero(rng: random.Random, content: bytes) -> bytes:
    """A block that the disk never wrote."""
    start, end = span(rng, len(content))
    return content[:start] + bytes(end - start) + content[end:]


WAYS = [flip_bits, truncate, overwrite, insert, remove, duplicate, swap, splice, zero]


def test_ten_thousand_damaged_copies():
    content = b"".join(modelfile.encode(HEADER, ARRAYS))
    rng = random.Random(20)
    refused = 0
    while refused < 10_000:
        way = WAYS[refused % len(WAYS)]
        damaged = way(rng, content)
        if damaged == content:
            continue
        with pytest.raises(ModelFileError) as caught:
            modelfile.decode(damaged)
        assert str(caught.value)
        refused += 1


def test_damaged_copies_on_disk(tmp_path):
    path = tmp_path / "model.mg"
    content = b"".join(modelfile.encode(HEADER, ARRAYS))
    rng = random.Random(21)
    for way in WAYS * 10:
        damaged = way(rng, content)
        path.write_bytes(damaged)
        if damaged != content:
            with pytest.raises(ModelFileError, match=r"model\.mg: "):
                modelfile.read(path)


def test_damaged_copies_with_a_right_checksum():
    """A hostile file is refused, or holds a header and arrays like any other."""
    content = b"".join(modelfile.encode(HEADER, ARRAYS))
    (header_bytes,) = struct.unpack("<I", content[12:16])
    header, payload = content[24 : 24 + header_bytes], content[24 + header_bytes : -32]
    rng = random.Random(22)
    loaded = 0
    for number in range(5_000):
        way = WAYS[number % len(WAYS)]
        hostile_header = way(rng, header) if number % 2 else header
        hostile_payload = payload if number % 2 else way(rng, payload[:400]) + payload[400:]
        lengths = struct.pack("<8sIIQ", b"MARGROVE", 1, len(hostile_header), len(hostile_payload))
        body = lengths + hostile_header + hostile_payload
        try:
            read_header, arrays = modelfile.decode(body + hashlib.sha256(body).digest())
        except ModelFileError:
            continue
        loaded += 1
        assert isinstance(read_header, dict)
        assert sum(array.nbytes for array in arrays.values()) <= len(hostile_payload)
        for array in arrays.values():
            array.copy()
    assert loaded > 100  # harmless changes, such as of a number, do load
