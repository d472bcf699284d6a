"""One reader for each layout of tables: a stream in, a `Table` with its rejected rows out."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from margrove.errors import DataError
from margrove.tables.columns import column_of, label_column, plain
from margrove.tables.records import Record, delimited_records, json_records, numbered_lines
from margrove.tables.requirements import Requirements
from margrove.tables.table import RejectedRow, Table, check_columns, check_header

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 50_000


def read_delimited(
    stream: BinaryIO, source: str, needs: Requirements, *, encoding: str = "utf-8", delimiter: str = ","
) -> Table:
    """Read CSV or TSV; all cells are text."""
    import pyarrow as pa

    records = delimited_records(numbered_lines(stream, encoding), delimiter)
    header = next(records, None)
    if header is None:
        raise DataError(f"{source} is empty; expected a line with the names of the columns")
    if header.reason:
        raise DataError(f"line {header.line} of {source} does not name columns: {header.reason}")
    names: list[str] = header.cells
    check_header(names, source)
    check_columns(needs.columns, names, source)
    place = {name: position for position, name in enumerate(names)}

    def problem(cells: list[str]) -> str:
        if len(cells) != len(names):
            return f"it has {len(cells)} cells where the header has {len(names)}"
        return needs.problem({name: cells[place[name]] for name in needs.columns})

    starts: list[int] = []
    rejected: list[RejectedRow] = []
    usable = _usable(records, problem, starts, rejected)
    batches = [_text_columns(names, [])]
    while rows := list(itertools.islice(usable, _BATCH)):
        batches.append(_text_columns(names, rows))
    layout = f"{len(names)} columns separated by {delimiter!r}"
    return Table(
        pa.concat_tables(batches), np.array(starts, dtype=np.int64), source, "line", layout, tuple(rejected)
    )


def read_json_lines(stream: BinaryIO, source: str, needs: Requirements, *, encoding: str = "utf-8") -> Table:
    """Read JSON lines; the columns are all the keys that occur, and a key left out is a missing cell."""
    import pyarrow as pa

    records = list(json_records(numbered_lines(stream, encoding)))
    names = list(dict.fromkeys(key for record in records if not record.reason for key in record.cells))
    if not names:
        raise DataError(f"{source} holds no JSON object; expected one on each line")
    check_header(names, source)
    check_columns(needs.columns, names, source)
    starts: list[int] = []
    rejected: list[RejectedRow] = []
    rows = list(_usable(records, needs.problem, starts, rejected))
    columns = {
        name: (label_column if name in needs.labels else column_of)([row.get(name) for row in rows])
        for name in names
    }
    return Table(
        pa.table(columns), np.array(starts, dtype=np.int64), source, "line", "JSON lines", tuple(rejected)
    )


def read_parquet(stream: BinaryIO, source: str, needs: Requirements) -> Table:
    """Read Parquet; rows are numbered from 1."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        data = pyarrow.parquet.read_table(stream)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{source} is no readable Parquet file: {error}") from error
    check_header(data.column_names, source)
    check_columns(needs.columns, data.column_names, source)
    needed = {name: data.column(name).to_pylist() for name in needs.columns}
    reasons = [
        needs.problem({name: cells[row] for name, cells in needed.items()}) for row in range(data.num_rows)
    ]
    bad = [row for row, reason in enumerate(reasons) if reason]
    rows = data.take(pa.array(bad, pa.int64())).to_pylist()
    contents = (json.dumps(row, ensure_ascii=False, default=str) for row in rows)
    rejected = [
        RejectedRow(row + 1, reasons[row], content.encode("utf-8", "surrogateescape"))
        for row, content in zip(bad, contents, strict=True)
    ]
    good = np.flatnonzero([not reason for reason in reasons])
    kept = data.take(good) if bad else data
    columns = {name: plain(kept.column(name)) for name in data.column_names}
    columns |= {name: label_column(kept.column(name).to_pylist()) for name in needs.labels}
    return Table(pa.table(columns), good + 1, source, "row", "Parquet", tuple(rejected))


def _usable(
    records: Iterable[Record],
    problem: Callable[[Any], str],
    starts: list[int],
    rejected: list[RejectedRow],
) -> Iterator[Any]:
    """Yield the cells of the records that will do, noting where they start; set the others aside."""
    for line, raw, cells, reason in records:
        reason = reason or problem(cells)
        if reason:
            rejected.append(RejectedRow(line, reason, raw))
        else:
            starts.append(line)
            yield cells


def _text_columns(names: list[str], rows: Iterable[list[str]]) -> pa.Table:
    """Return rows of strings as columns, empty cells as nulls."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = list(zip(*rows, strict=True)) or [()] * len(names)
    columns = [pa.array(column, type=pa.string()) for column in cells]
    missing = pa.scalar(None, type=pa.string())
    return pa.table([pc.if_else(pc.equal(column, ""), missing, column) for column in columns], names=names)
