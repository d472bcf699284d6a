"""JSON objects in exactly one spelling, parsed within bounds.

`parse` accepts nothing but the very bytes that `dump` gives for the value. So duplicate keys, NaN,
infinities, numbers that overflow, lone surrogates and other oddities are all refused by one comparison.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from margrove.errors import InvalidModelFileError

MAX_DEPTH = 64

# Possessive, and matching up to the end of an unterminated string: linear time for any input.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.?)*+(?:"|\Z)', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = np.zeros(256, dtype=np.int8)
_STEP[list(b"[{")] = 1
_STEP[list(b"]}")] = -1


def dump(value: Mapping[str, Any]) -> bytes:
    """Return the one spelling of a JSON object; it is certain that `parse` will read it."""
    try:
        raw = _spell(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidModelFileError(f"cannot be stored as JSON: {error}") from error
    parse(raw, "the header")
    return raw


def parse(raw: bytes, what: str) -> dict[str, Any]:
    """Return the object spelled by `raw`; `what` names it in errors."""
    depth = _depth(raw)
    if depth > MAX_DEPTH:
        raise InvalidModelFileError(f"{what} is nested {depth:,} deep; at most {MAX_DEPTH} is allowed")
    try:
        value = json.loads(raw.decode("utf-8"))
        regular = _spell(value) == raw
    except ValueError as error:
        raise InvalidModelFileError(f"{what} is not valid JSON: {error}") from error
    if not regular:
        raise InvalidModelFileError(
            f"{what} is not in the form that Margrove writes (duplicate keys, spaces, ...)"
        )
    if not isinstance(value, dict):
        raise InvalidModelFileError(f"{what} is not a JSON object")
    return value


def _spell(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")


def _depth(raw: bytes) -> int:
    """Return how deep brackets nest, since the parser itself would recurse before it could complain."""
    brackets = _STRING.sub(b"", raw).translate(None, _NOT_BRACKETS)
    steps = _STEP[np.frombuffer(brackets, dtype=np.uint8)]
    return int(np.cumsum(steps, dtype=np.int32).max(initial=0))
