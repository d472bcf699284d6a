"""JSON of any depth, in which no key of an object may stand twice.

The standard reader keeps the last of two equal keys without a word, and gives up some hundred levels down.
"""

from __future__ import annotations

import json
import re
from typing import Any

from margrove.errors import DataError, DuplicateEdgeError, MargroveError

_TOKEN = re.compile(r'[ \t\r\n]*([{}\[\]:,"]|[^\s{}\[\]:,"]+)')
_DECODER = json.JSONDecoder()
_CLOSES = {"{": "}", "[": "]"}


def loads(text: str) -> Any:
    """The value of a JSON text."""
    try:
        try:
            return json.loads(text, object_pairs_hook=_object)
        except RecursionError:
            return _loads_deep(text)
    except json.JSONDecodeError as error:
        raise DataError(f"line {error.lineno}, column {error.colno}: no valid JSON: {error.msg}") from error
    except MargroveError:
        raise
    except ValueError as error:  # a number of more digits than Python reads
        raise DataError(f"no readable JSON: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DuplicateEdgeError(f"the key {twice!r} stands twice in one JSON object; keep one of them")
    return found


def _loads_deep(text: str) -> Any:
    """The same, with the open containers on a list and not on the call stack.

    An open object is a flat list of keys and values; `due` is what may come next: a "value", a "key" (in an
    object), ":" or ",". An opening bracket may also be followed by its closing one.
    """
    stack: list[tuple[str, list[Any]]] = [("", [])]
    due, position = "value", 0
    while match := _TOKEN.match(text, position):
        start, position, token = match.start(1), match.end(), match[1]
        bracket, items = stack[-1]
        if token in ":," and token == due:
            due = "key" if token == "," and bracket == "{" else "value"
            continue
        if token in "{[" and due == "value":
            stack.append((token, []))
            due = "key" if token == "{" else "value"
            continue
        if token == _CLOSES.get(bracket) and (due == "," or not items):
            stack.pop()
            value: Any = _object(list(zip(items[::2], items[1::2], strict=True))) if bracket == "{" else items
            items = stack[-1][1]
        elif (due == "value" and token not in "{}[]:,") or (due == "key" and token == '"'):
            value, position = _DECODER.raw_decode(text, start)
        else:
            raise json.JSONDecodeError(f"{token!r} is out of place", text, start)
        items.append(value)
        due = ":" if due == "key" and token == '"' else ","
        if len(stack) == 1:
            break
    if len(stack) != 1 or not stack[0][1] or text[position:].strip():
        raise json.JSONDecodeError("the brackets do not match", text, position)
    return stack[0][1][0]
