"""Read a table from a file or standard input, and account for every row.

A row that cannot be used (too short, too long, undecodable, without a label, ...) is never dropped or padded:
it stops the reading, or is set aside with its line number and the reason. Always, read = used + rejected.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO, Literal

from margrove.errors import DataError
from margrove.modelfile.atomic import replacing
from margrove.tables.readers import read_delimited, read_json_lines, read_parquet
from margrove.tables.requirements import Requirements
from margrove.tables.table import RejectedRow, Table

if TYPE_CHECKING:
    from margrove.taxonomy import Taxonomy

FORMATS = ("csv", "tsv", "jsonl", "parquet")

_EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_FOREIGN = {
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    b"\x1f\x8b": "compressed by gzip; decompress it",
    b"\xfd7zXZ": "compressed by xz; decompress it",
    b"PK\x03\x04": "a zip archive (an Excel workbook?); save it as CSV",
}
_HEAD = 2**16
_SHOWN = 5


def read_table(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    labels: Sequence[str] = (),
    label_separator: str | None = None,
    taxonomy: Taxonomy | None = None,
    numeric: Sequence[str] = (),
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    on_error: Literal["stop", "skip"] = "stop",
    rejects: str | os.PathLike[str] | None = None,
) -> Table:
    """Read CSV, TSV, JSON lines or Parquet; `"-"` is standard input.

    The format follows from the file's name, else from its first bytes; the delimiter of CSV from its header.
    Every row needs a cell in the first of the `labels` columns (the others are deeper levels of the taxonomy
    and may be empty from some level on), with more in it than `label_separator`, and numbers or nothing in
    the `numeric` ones. With a `taxonomy` it needs labels that are in it. Label columns become text.

    With `on_error="stop"` rows that cannot be used raise a `DataError` that counts and shows them, once all
    are known; with `"skip"` they are left out and listed in `Table.rejected`. `rejects` names a CSV file that
    gets them in either case, as they were, with line number and reason.
    """
    _check_options(format, delimiter, encoding, on_error)
    twice = next((name for name in labels if list(labels).count(name) > 1), None)
    if twice is not None:
        raise ValueError(
            f"the label column {twice!r} is named twice; several columns are the levels of a path"
        )
    needs = Requirements(tuple(labels), tuple(numeric), label_separator, taxonomy)
    with _opened(source) as (stream, name):
        head = stream.read(_HEAD)
        stream.seek(0)
        layout = format or _EXTENSIONS.get(os.path.splitext(name)[1].lower()) or _sniffed_format(head)
        foreign = next((what for magic, what in _FOREIGN.items() if head.startswith(magic)), None)
        if foreign:
            raise DataError(f"{name} is {foreign}")
        if layout == "parquet":
            table = read_parquet(stream, name, needs)
        elif layout == "jsonl":
            table = read_json_lines(stream, name, needs, encoding=encoding)
        else:
            between = delimiter or ("\t" if layout == "tsv" else _sniffed_delimiter(head))
            table = read_delimited(stream, name, needs, encoding=encoding, delimiter=between)
    if rejects is not None:
        write_rejects(rejects, table.rejected)
    if table.rejected and on_error == "stop":
        raise DataError(_complaint(table))
    return table


def write_rejects(path: str | os.PathLike[str], rejected: Iterable[RejectedRow]) -> None:
    """Write rejected rows as CSV: the line, the reason, and the row byte for byte, be it text or not."""
    with replacing(path) as file:
        file.write(b"line,reason,row\n")
        for row in rejected:
            cells = (row.reason.encode("utf-8", "backslashreplace"), row.content.rstrip(b"\r\n"))
            quoted = (b'"' + cell.replace(b'"', b'""') + b'"' for cell in cells)
            file.write(b",".join([str(row.line).encode(), *quoted]) + b"\n")


def _check_options(format: str | None, delimiter: str | None, encoding: str, on_error: str) -> None:
    if format is not None and format not in FORMATS:
        raise ValueError(f"format has to be one of {', '.join(FORMATS)}, not {format!r}")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ValueError(f"delimiter has to be one character, not {delimiter!r}")
    if on_error not in ("stop", "skip"):
        raise ValueError(f"on_error has to be 'stop' or 'skip', not {on_error!r}")
    try:
        keeps_ascii = '"\n'.encode(encoding) == b'"\n'
    except LookupError:
        keeps_ascii = False
    if not keeps_ascii:
        raise ValueError(f"encoding has to extend ASCII, as utf-8 and cp1252 do; {encoding!r} does not")


@contextlib.contextmanager
def _opened(source: str | os.PathLike[str] | BinaryIO) -> Iterator[tuple[BinaryIO, str]]:
    """Open a source, so that its beginning can be read twice."""
    if source == "-":
        yield io.BytesIO(sys.stdin.buffer.read()), "standard input"
    elif isinstance(source, str | os.PathLike):
        with open(source, "rb") as file:
            yield file if file.seekable() else io.BytesIO(file.read()), os.fspath(source)
    else:
        yield io.BytesIO(source.read()), str(getattr(source, "name", "the stream"))


def _sniffed_format(head: bytes) -> str:
    if head.startswith(b"PAR1"):
        return "parquet"
    return "jsonl" if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") else "csv"


def _sniffed_delimiter(head: bytes) -> str:
    """Return the delimiter that occurs most in the header, quoted names aside."""
    header = head.lstrip().split(b"\n", 1)[0]
    bare = re.sub(rb'"[^"]*"', b"", header)
    return max(",\t;|", key=lambda delimiter: bare.count(delimiter.encode()))


def _complaint(table: Table) -> str:
    shown = [f"  {table.unit} {row.line}: {row.reason}" for row in table.rejected[:_SHOWN]]
    if len(table.rejected) > _SHOWN:
        shown.append(f"  and {len(table.rejected) - _SHOWN:,} more")
    return "\n".join(
        [
            f"{len(table.rejected):,} of the {table.n_read:,} rows of {table.source} cannot be used:",
            *shown,
            "Correct them, or leave them out with on_error='skip' (--on-error skip).",
        ]
    )
