"""The lines of an ARFF file: attributes and rows of cells as text; every error names the line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from margrove.errors import DataError
from margrove.tables.records import Line, numbered_lines

_NUMERIC = ("numeric", "real", "integer")
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"(?P<name>{_QUOTED}|[^\s'\"]\S*)\s+(?P<type>\S.*)")
_CELL = re.compile(rf"\s*(?P<cell>(?:{_QUOTED}|[^,'\"])*?)\s*(?P<end>,|$)")
_ENTRY = re.compile(r"(?P<place>\d+)\s+(?P<cell>\S.*)")


@dataclass(frozen=True)
class Attribute:
    """A declared column."""

    name: str
    kind: str
    """"numeric", "nominal" or "hierarchical"."""
    values: list[str]
    line: int

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each value."""
        return {value: k for k, value in enumerate(self.values)}


@dataclass(frozen=True)
class Row:
    """Cells by the number of their attribute; where sparse rows leave them out, numbers are zero."""

    line: int
    cells: dict[int, str]


@dataclass(frozen=True)
class ArffFile:
    """What a file holds; `sparse` if all rows are."""

    attributes: list[Attribute] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    sparse: bool = False


def read_arff(path: Path) -> ArffFile:
    """Read a whole file."""
    with path.open("rb") as stream:
        lines = _contents(numbered_lines(stream, "utf-8"))
        attributes = _header(lines, path.name)
        rows, dense = [], 0
        for number, text in lines:
            if text.startswith("{"):
                rows.append(_sparse_row(text, number, attributes))
            else:
                dense += 1
                rows.append(_dense_row(text, number, attributes))
    return ArffFile(attributes, rows, sparse=bool(rows) and not dense)


def _contents(lines: Iterator[Line]) -> Iterator[tuple[int, str]]:
    """Number and text of the lines that are neither blank nor comments."""
    for line in lines:
        if line.problem:
            raise DataError(f"line {line.number}: {line.problem}")
        text = line.text.strip()
        if text and not text.startswith("%"):
            yield line.number, text


def _header(lines: Iterator[tuple[int, str]], name: str) -> list[Attribute]:
    attributes: list[Attribute] = []
    seen: dict[str, int] = {}
    for number, text in lines:
        keyword, *rest = text.split(maxsplit=1)
        match keyword.lower():
            case "@relation":
                pass
            case "@attribute":
                attribute = _attribute("".join(rest), number)
                if attribute.name in seen:
                    raise DataError(
                        f"line {number}: the attribute {attribute.name!r} is already that of line "
                        f"{seen[attribute.name]}"
                    )
                seen[attribute.name] = number
                attributes.append(attribute)
            case "@data":
                return attributes
            case _:
                raise DataError(f"line {number}: {_short(text)} is no @RELATION, @ATTRIBUTE or @DATA")
    raise DataError(f"{name} has no @DATA; expected a header with attributes, then @DATA and rows")


def _attribute(text: str, line: int) -> Attribute:
    match = _ATTRIBUTE.fullmatch(text)
    if not match:
        raise DataError(f"line {line}: {_short(text)} names no attribute with its type")
    name, kind = _plain(match["name"]), match["type"]
    word, *rest = kind.split(maxsplit=1)
    if word.lower() in _NUMERIC and not rest:
        return Attribute(name, "numeric", [], line)
    if word.lower() == "hierarchical" and rest:
        return Attribute(name, "hierarchical", _cells(rest[0], line), line)
    if kind.startswith("{") and kind.endswith("}"):
        values = _cells(kind[1:-1], line)
        if len(set(values)) == len(values) and all(values):
            return Attribute(name, "nominal", values, line)
        raise DataError(f"line {line}: the values of {name!r} are empty or not all different")
    raise DataError(
        f"line {line}: the type of {name!r} is {_short(kind)}; expected numeric, {{values}}, or hierarchical "
        "with a list of paths or of parent/child pairs"
    )


def _dense_row(text: str, line: int, attributes: list[Attribute]) -> Row:
    cells = _cells(text, line)
    if len(cells) != len(attributes):
        raise DataError(f"line {line} has {len(cells)} cells, but there are {len(attributes)} attributes")
    return Row(line, dict(enumerate(cells)))


def _sparse_row(text: str, line: int, attributes: list[Attribute]) -> Row:
    """`{number value, …}`; a nominal attribute that is left out has its first value."""
    if not text.endswith("}"):
        raise DataError(f"line {line}: the sparse row has no }} at its end")
    cells = {k: attribute.values[0] for k, attribute in enumerate(attributes) if attribute.kind == "nominal"}
    given: set[int] = set()
    inner = text[1:-1].strip()
    for entry in _cells(inner, line) if inner else []:
        match = _ENTRY.fullmatch(entry)
        place = int(match["place"]) if match else -1
        if match is None or place >= len(attributes) or place in given:
            raise DataError(
                f"line {line}: {_short(entry)} is no number of an attribute, 0 to {len(attributes) - 1}, "
                "with its value, each once"
            )
        given.add(place)
        cells[place] = _plain(match["cell"])
    return Row(line, cells)


def _cells(text: str, line: int) -> list[str]:
    """What stands between commas, without quotes around it."""
    if "'" not in text and '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    cells, at = [], 0
    while True:
        match = _CELL.match(text, at)
        if not match:
            raise DataError(f"line {line}: the quotes around {_short(text[at:])} do not close")
        cells.append(_plain(match["cell"]))
        at = match.end()
        if not match["end"]:
            return cells


def _plain(text: str) -> str:
    if text[:1] in ("'", '"') and text[-1:] == text[:1] and len(text) > 1:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
