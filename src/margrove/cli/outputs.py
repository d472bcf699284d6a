"""Files that commands write: checked before the work starts, and replaced in one step at its end."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from margrove.cli.console import silence_stdout, without_infinities
from margrove.cli.status import CommandError, Status

STDOUT = "-"

_EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def check_writable(path: str, inputs: Iterable[str] = ()) -> None:
    """Refuse now what could not be written after an hour, or would replace one of the inputs."""
    if path == STDOUT:
        return
    if any(os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name) for name in inputs):
        raise CommandError(Status.WRONG_CALL, f"{path} is an input; write the output to another file")
    with _cannot_write(path):
        if os.path.isdir(path):
            raise IsADirectoryError(0, "it is a directory")
        if not _is_special(path):
            with tempfile.TemporaryFile(dir=os.path.dirname(os.path.realpath(path))):
                pass


@contextlib.contextmanager
def written(path: str) -> Iterator[BinaryIO]:
    """Open a file that appears whole at the end, or not at all; "-" and pipes are written as they are."""
    if path == STDOUT:
        try:
            sys.stdout.flush()
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            silence_stdout()
        return
    from margrove.modelfile.atomic import replacing

    with _cannot_write(path), open(path, "wb") if _is_special(path) else replacing(path) as file:
        yield file


def save(model: Any, path: str) -> None:
    """Save a model."""
    with _cannot_write(path):
        model.save(path)


def format_of(path: str, format: str | None) -> str:
    """Return the format of a table to be written: as given, or as its name says, else CSV."""
    return format or _EXTENSIONS.get(os.path.splitext(path)[1].lower(), "csv")


def write_table(path: str, columns: Mapping[str, list[Any]], format: str) -> None:
    """Write columns of equal length; lists become JSON text where the format has no lists."""
    with written(path) as file:
        if format == "parquet":
            _write_parquet(file, columns)
        elif format == "jsonl":
            _write_json_lines(file, columns)
        else:
            _write_delimited(file, columns, "\t" if format == "tsv" else ",")


def _write_parquet(file: BinaryIO, columns: Mapping[str, list[Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table(dict(columns)), file)


def _write_json_lines(file: BinaryIO, columns: Mapping[str, list[Any]]) -> None:
    import json

    for cells in zip(*columns.values(), strict=True):
        row = dict(zip(columns, cells, strict=True))
        plain = without_infinities(row)
        file.write(json.dumps(plain, ensure_ascii=False, allow_nan=False).encode() + b"\n")


def _write_delimited(file: BinaryIO, columns: Mapping[str, list[Any]], delimiter: str) -> None:
    import csv
    import json

    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    try:
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        writer.writerow(columns)
        for cells in zip(*columns.values(), strict=True):
            writer.writerow(
                json.dumps(cell, ensure_ascii=False) if isinstance(cell, list) else cell for cell in cells
            )
    finally:
        text.detach()


@contextlib.contextmanager
def _cannot_write(path: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CommandError(Status.CANNOT_WRITE, f"cannot write {path}: {error.strerror or error}") from error


def _is_special(path: str) -> bool:
    """Tell a pipe or a device, which cannot be replaced but can be written to."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode)
