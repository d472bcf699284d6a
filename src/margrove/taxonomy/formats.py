"""Taxonomy files: which of the usual formats a file has, and how each is read.

`read` gives the checked parts and one line that says what was found. Every error names the line of the file.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from margrove.errors import (
    DataError,
    DuplicateEdgeError,
    EmptyNameError,
    LabelError,
    MargroveError,
    OrphanError,
)
from margrove.taxonomy import deepjson, sources
from margrove.taxonomy.build import EMPTY, Name, Parts, Where, from_pairs, is_missing, listing

_KINDS = {",": "CSV", "\t": "TSV", ";": "CSV with ';'", "|": "CSV with '|'"}

# Column names as they are compared: lower case, letters and digits only.
_PARENT = re.compile(r"parent.*|source|src|broader.*|from|super(class)?|hypernym")
_CHILD = [
    re.compile(r"child.*|target|dst|narrower.*|to|sub(class)?|hyponym"),
    re.compile(r"id|code|key|(node|category|class|concept)(id)?|term"),
    re.compile(r"name|label"),
]
_CODES = re.compile(r".*codes?")
_IDS = {"id", "nodeid", "key", "categoryid", "classid", "conceptid"}
_LABEL = ("name", "label")
_LINE_HEADER = re.compile(r"paths?|categor(y|ies)|class|label|name|taxonomy|codes?")

FIELD_LIMIT = 1 << 17  # characters in a name, more than which is a wrong quote or a wrong file

_NUMBERED = re.compile(r"\d+\s+-\s+")
_CODE = re.compile(r"(?=.*\d)[\w.\-]+")


@dataclass(frozen=True)
class Table:
    """The rows of a delimited file, the line where each starts, and its header if it has one."""

    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    kind: str

    def where(self, k: int) -> str:
        """The place of a row, for a message."""
        return f"line {self.lines[k]}"


@dataclass(frozen=True)
class Text:
    """A file's text, and what its name says."""

    text: str
    suffix: str

    @cached_property
    def lines(self) -> list[str]:
        """The lines, without the blanks around them."""
        return [line.strip() for line in io.StringIO(self.text, newline=None)]

    @property
    def first(self) -> str:
        """The first line that is not blank."""
        return next(filter(None, self.lines))

    @property
    def is_table(self) -> bool:
        """Whether the name ends like a table's."""
        return self.suffix in (".csv", ".tsv", ".tab")

    def content(self) -> tuple[list[str], list[int]]:
        """The lines that are neither blank nor comments nor a header, and their numbers."""
        numbered = enumerate(self.lines, 1)
        kept = [(line, n) for n, line in numbered if line and not line.startswith("#")]
        if kept and self.is_table and _LINE_HEADER.fullmatch(kept[0][0].casefold()):
            kept = kept[1:]
        return [line for line, _ in kept], [n for _, n in kept]


Found = tuple[Parts, str]


def read(path: Path, format: str | None = None, root: Name | None = None) -> Found:
    """The taxonomy in a file and a description of the format; `format=None` means: find out."""
    if format is not None and format not in FORMATS:
        raise DataError(f"no taxonomy format is called {format!r}; expected one of {', '.join(FORMATS)}")
    file = Text(_decode(path), path.suffix.lower())
    try:
        if not file.text.strip():
            raise DataError("the file is empty")
        return FORMATS[format or detect(file)](file, root)
    except MargroveError as error:
        error.args = (f"{path.name}: {error}",)
        raise


def _decode(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path.name}, line {line}: byte 0x{data[error.start]:02x} is no UTF-8; save the file as UTF-8"
        ) from error


def detect(file: Text) -> str:
    """The format's name, from the file's name, its first line and what its lines look like."""
    if file.suffix == ".json" or file.text.lstrip()[:1] in ("{", "["):
        return "json"
    delimiter = _delimiter(file.first)
    if _edge_columns(file.first.split(delimiter)):
        return "edges"
    lines, _ = file.content()
    arrows = sum(" > " in line for line in lines)
    if arrows and (not file.is_table or 2 * arrows >= len(lines)):
        return "arrows"
    if delimiter in file.first and (file.is_table or all(delimiter in line for line in lines)):
        return _detect_table(_table(file))
    if any("/" in line for line in lines):
        return "slashes"
    if _are_codes(lines):
        return _code_format(lines)
    raise DataError(
        "the format of the taxonomy was not recognised; say format=... (--taxonomy-format), one of "
        + ", ".join(FORMATS)
    )


def _detect_table(table: Table) -> str:
    column = _code_column(table.header)
    if column is not None:
        codes = [row[column].strip() for row in table.rows if column < len(row)]
        if _are_codes(codes):
            return _code_format(codes)
    if all(len(row) == 2 for row in table.rows):
        tails, heads = ({row[i].strip() for row in table.rows} for i in (0, 1))
        if (tails & heads) - {""}:
            return "edges"
    return "levels"


def _are_codes(lines: Collection[str]) -> bool:
    """Whether these are codes, some of which are the beginning of others."""
    known = set(lines)
    return all(map(_CODE.fullmatch, lines)) and any(
        line[:end] in known for line in lines for end in range(1, len(line))
    )


def _code_format(codes: Collection[str]) -> str:
    return "naics" if any(map(sources.covered, codes)) else "codes"


def _delimiter(line: str) -> str:
    return next((d for d in ("\t", ",", ";", "|") if d in line), ",")


def _plain_name(column: str) -> str:
    return re.sub(r"[\W_]", "", column.casefold())


def _edge_columns(header: Sequence[str]) -> tuple[int, int, int | None] | None:
    """The columns of the parent, the child and the child's label, where the header names them."""
    names = [_plain_name(column) for column in header]
    parent = _first_match(_PARENT, names)
    child = next((i for pattern in _CHILD if (i := _first_match(pattern, names)) is not None), None)
    if parent is None or child is None:
        return None
    label = next((names.index(name) for name in _LABEL if name in names), None)
    return parent, child, label if label != child and names[child] in _IDS else None


def _first_match(pattern: re.Pattern[str], names: Sequence[str]) -> int | None:
    return next((i for i, name in enumerate(names) if pattern.fullmatch(name)), None)


def _code_column(header: Sequence[str]) -> int | None:
    return _first_match(_CODES, [_plain_name(column) for column in header])


def _table(file: Text) -> Table:
    """Split a delimited file; its first row is a header where its cells stand nowhere else in the table."""
    delimiter = _delimiter(file.first)
    csv.field_size_limit(FIELD_LIMIT)  # one for the process, so whoever reads sets it
    reader = csv.reader(io.StringIO(file.text, newline=""), delimiter=delimiter, strict=True)
    rows, lines, start = [], [], 1
    try:
        for row in reader:
            if any(map(str.strip, row)):
                rows.append(row)
                lines.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"line {start}: {error}") from error
    if not rows:
        raise DataError("the table has no filled cell")
    width = len(rows[0])
    for row, line in zip(rows, lines, strict=True):
        if len(row) > width:
            raise DataError(f"line {line} has {len(row)} columns; the first row has {width}")
    head = [cell.strip() for cell in rows[0]]
    named = _edge_columns(head) is not None or _code_column(head) is not None
    if named or not set(head) & {cell.strip() for row in rows[1:] for cell in row}:
        if len(rows) == 1:
            raise DataError(f"the table has the header {', '.join(head)} but no rows")
        return Table(head, rows[1:], lines[1:], _KINDS[delimiter])
    return Table([], rows, lines, _KINDS[delimiter])


# --- one reader a format ---


def _read_edges(file: Text, root: Name | None) -> Found:
    table = _table(file)
    columns = _edge_columns(table.header) or (0, 1, None)
    parts = from_records(table.rows, columns, table.where, root)
    named = ", ".join(table.header[i] for i in columns if i is not None) if table.header else "parent, child"
    suffix = "" if table.header else " (no header)"
    return parts, f"edge list {table.kind}, columns {named}{suffix}"


def from_records(
    rows: Sequence[Sequence[Any]],
    columns: tuple[int, int, int | None],
    where: Where,
    root: Name | None,
    nodes: Mapping[Name, Name] = EMPTY,
) -> Parts:
    """Edges from rows of cells; `nodes` gives labels to nodes that are listed elsewhere.

    A row without a parent states a node at the top. Where there is such a row, every parent must have a row.
    """
    parent_column, child_column, label_column = columns
    pairs: list[tuple[Name, Name]] = []
    places: list[int] = []
    tops: dict[Name, int] = {}
    labels = dict(nodes)
    needed = max(i for i in columns if i is not None) + 1
    for k, row in enumerate(rows):
        if len(row) < needed:
            raise DataError(f"{where(k)} has {len(row)} columns; expected at least {needed}")
        parent, child = _cell(row[parent_column]), _cell(row[child_column])
        if is_missing(child):
            raise EmptyNameError(f"{where(k)}: the child has no name")
        if label_column is not None:
            label = _cell(row[label_column])
            if is_missing(label):
                raise EmptyNameError(f"{where(k)}: node {child!r} has no name")
            if labels.setdefault(child, label) != label:
                raise LabelError(
                    f"{where(k)}: node {child!r} is called {label!r}, but {labels[child]!r} before"
                )
        if is_missing(parent):
            if child in tops:
                raise DuplicateEdgeError(f"{child!r} is given twice: {where(tops[child])} and {where(k)}")
            tops[child] = k
        else:
            pairs.append((parent, child))
            places.append(k)
    if tops:
        known = {child for _, child in pairs} | set(tops) | set(nodes)
        for k, (parent, child) in zip(places, pairs, strict=True):
            if parent not in known:
                raise OrphanError(f"{where(k)}: the parent {parent!r} of {child!r} has no row of its own")
    return from_pairs(pairs, root, lambda k: where(places[k]), [*tops, *nodes], labels)


def _cell(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _read_levels(file: Text, root: Name | None) -> Found:
    table = _table(file)
    cells = [[cell.strip() for cell in row] for row in table.rows]
    columns = ", ".join(table.header) if table.header else f"{len(cells[0])} without a header"
    return sources.from_paths(
        cells, "/", _top(root), table.where
    ), f"one column a level {table.kind}, columns {columns}"


def _top(root: Name | None) -> Name:
    return "root" if root is None else root


def _read_arrows(file: Text, root: Name | None) -> Found:
    lines, numbers = file.content()
    numbered = all(map(_NUMBERED.match, lines))
    if numbered:
        lines = [_NUMBERED.sub("", line, count=1) for line in lines]
    parts = sources.from_paths(lines, ">", _top(root), lambda k: f"line {numbers[k]}")
    return parts, "paths 'A > B', one a line" + (", without their numbers" if numbered else "")


def _read_slashes(file: Text, root: Name | None) -> Found:
    lines, numbers = file.content()
    return sources.from_paths(
        lines, "/", _top(root), lambda k: f"line {numbers[k]}"
    ), "paths 'a/b', one a line"


def _read_codes(file: Text, root: Name | None, ranges: bool = False) -> Found:
    codes, numbers = file.content()
    described = "one a line"
    if _delimiter(file.first) in file.first:
        table = _table(file)
        column = _code_column(table.header) or 0
        codes, numbers = [row[column].strip() if column < len(row) else "" for row in table.rows], table.lines
        described = f"{table.kind}, column {table.header[column] if table.header else 1}"
    parts = sources.from_codes(codes, _top(root), ranges, lambda k: f"line {numbers[k]}")
    return parts, f"prefix codes, {described}" + (", with ranges" if ranges else "")


def _read_naics(file: Text, root: Name | None) -> Found:
    return _read_codes(file, root, ranges=True)


def _read_json(file: Text, root: Name | None) -> Found:
    value = deepjson.loads(file.text)
    nodes: Any = []
    if isinstance(value, dict):
        edges = next((value[key] for key in ("edges", "links") if isinstance(value.get(key), list)), None)
        nodes = value.get("nodes") or [] if edges is not None else []
    else:
        edges = value if isinstance(value, list) and _is_edge_list(value) else None
    if edges is not None:
        return _json_edges(edges, nodes, root), "JSON edge list"
    if not isinstance(value, dict | list):
        raise DataError(f"the JSON value is {value!r}; expected a tree or a list of edges")
    return sources.from_nested(value, root), "JSON tree"


def _is_edge_list(value: list[Any]) -> bool:
    if not value:
        return False
    return all(
        (isinstance(item, list) and len(item) == 2 and not any(isinstance(end, list | dict) for end in item))
        or (isinstance(item, dict) and _edge_columns(list(item)) is not None)
        for item in value
    )


def _json_edges(edges: list[Any], nodes: Iterable[Any], root: Name | None) -> Parts:
    """Edges as pairs or as objects; `nodes` are ids, or objects with an id and perhaps a name."""
    where = "edges[{}]".format
    header = list(dict.fromkeys(key for edge in edges if isinstance(edge, dict) for key in edge))
    columns = _edge_columns(header) if header else (0, 1, None)
    if columns is None:
        raise DataError(f"the edges have the keys {listing(header)}; expected a parent and a child")
    rows = [[edge.get(key) for key in header] if isinstance(edge, dict) else edge for edge in edges]
    for k, row in enumerate(rows):
        if not isinstance(row, list) or any(
            isinstance(row[i], list | dict) for i in columns if i is not None
        ):
            raise DataError(f"{where(k)} is {edges[k]!r}; expected a pair of names, or an object with them")
    labels: dict[Name, Name] = {}
    for k, node in enumerate(nodes):
        described = node if isinstance(node, dict) else {"id": node}
        name = described.get("id")
        if name is None or isinstance(name, list | dict):
            raise DataError(f"nodes[{k}] is {node!r}; expected a name, or an object with an id")
        labels[name] = next((described[key] for key in _LABEL if key in described), name)
    return from_records(rows, columns, where, root, labels)


FORMATS: Mapping[str, Callable[[Text, Name | None], Found]] = {
    "edges": _read_edges,
    "levels": _read_levels,
    "arrows": _read_arrows,
    "slashes": _read_slashes,
    "codes": _read_codes,
    "naics": _read_naics,
    "json": _read_json,
}
