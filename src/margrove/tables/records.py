"""Records of CSV, TSV and JSON lines, each with the physical line where it starts and its bytes as they were.

Both readers give every record, good or bad, exactly once. Blank lines are no records.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """A physical line, and what is wrong with it, if anything; bytes that are no text stand as surrogates."""

    number: int
    raw: bytes
    text: str
    problem: str = ""


class Record(NamedTuple):
    """A record: its cells, or the reason why it has none."""

    line: int
    raw: bytes
    cells: Any
    reason: str = ""


def numbered_lines(stream: Iterable[bytes], encoding: str) -> Iterator[Line]:
    """Number and decode physical lines."""
    for number, raw in enumerate(stream, 1):
        content = raw.removeprefix(_BOM) if number == 1 else raw
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError as error:
            problem = f"byte 0x{content[error.start]:02x} at position {error.start + 1} is not {encoding}"
            yield Line(number, raw, content.decode(encoding, "surrogateescape"), problem)
            continue
        yield Line(number, raw, text, "it contains a NUL character" if "\0" in text else "")


def delimited_records(lines: Iterator[Line], delimiter: str) -> Iterator[Record]:
    """Yield the records of CSV or TSV, whose cells are a list of strings.

    Where quotes are wrong, or never close, the first line is a bad record and reading goes on with the
    second: a stray quote does not swallow what follows it.
    """
    source = _Returnable(lines)
    for line in source:
        body = line.text.rstrip("\r\n")
        if "\r" in body:
            yield Record(line.number, line.raw, [], "a carriage return stands within the line")
        elif '"' in body:
            yield _quoted_record(line, source, delimiter)
        elif body.strip(" "):
            yield Record(line.number, line.raw, body.split(delimiter), line.problem)


class _Returnable:
    """An iterator over lines that takes lines back, even after its end."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._returned: list[Line] = []

    def __iter__(self) -> Iterator[Line]:
        return self

    def __next__(self) -> Line:
        return self._returned.pop() if self._returned else next(self._lines)

    def take_back(self, lines: list[Line]) -> None:
        self._returned.extend(reversed(lines))


def _quoted_record(first: Line, following: _Returnable, delimiter: str) -> Record:
    """Read a record with quotes, which may go on over the following lines."""
    taken = [first]

    def texts() -> Iterator[str]:
        yield first.text
        for line in following:
            taken.append(line)
            yield line.text

    try:
        # the limit is one for the process, so whoever reads sets it; a document may be of any length
        csv.field_size_limit(sys.maxsize)
        cells = next(csv.reader(texts(), delimiter=delimiter, strict=True))
    except csv.Error as error:
        following.take_back(taken[1:])
        return Record(first.number, first.raw, [], first.problem or f"its quotes are wrong ({error})")
    problem = next((line.problem for line in taken if line.problem), "")
    return Record(first.number, b"".join(line.raw for line in taken), cells, problem)


def json_records(lines: Iterator[Line]) -> Iterator[Record]:
    """Yield the records of JSON lines, whose cells are a dictionary."""
    for line in lines:
        if not line.text.strip():
            continue
        cells, reason = {}, line.problem
        if not reason:
            try:
                cells = json.loads(line.text, object_pairs_hook=_object, parse_constant=_no_number)
                if "\\u" in line.text:  # half a surrogate pair may be written so, and is no character
                    json.dumps(cells, ensure_ascii=False).encode()
            except json.JSONDecodeError as error:
                reason = f"it is not JSON: {error.msg} at position {error.pos + 1}"
            except (ValueError, RecursionError) as error:
                reason = f"it is not JSON: {error}"
            else:
                if not isinstance(cells, dict):
                    reason = "it is not a JSON object"
        yield Record(line.number, line.raw, cells, reason)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    cells = dict(pairs)
    if len(cells) < len(pairs):
        raise ValueError("an object has a key twice")
    return cells


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")
