"""What commands read: tables, taxonomies and models."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from margrove.cli.console import note
from margrove.cli.options import Format, OnError
from margrove.cli.outputs import check_writable
from margrove.cli.status import CommandError, Status, options_in_doubt
from margrove.errors import DataError, ModelFileError

if TYPE_CHECKING:
    from margrove.tables.model import TableModel
    from margrove.tables.table import Table
    from margrove.taxonomy import Taxonomy

NO_TAXONOMY = "none"


def read_data(
    source: str,
    *,
    labels: Sequence[str] = (),
    label_separator: str | None = None,
    taxonomy: Taxonomy | None = None,
    numeric: Sequence[str] = (),
    format: Format | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    on_error: OnError = OnError.stop,
    rejects: str | None = None,
) -> Table:
    """Read a table and say how many rows there were and what became of them."""
    from margrove.tables import read_table

    if rejects is not None:
        check_writable(rejects, [source])
    with options_in_doubt():
        table = read_table(
            source,
            labels=labels,
            label_separator=label_separator,
            taxonomy=taxonomy,
            numeric=numeric,
            format=format,
            delimiter=delimiter,
            encoding=encoding,
            on_error=on_error.value,
            rejects=rejects,
        )
    note(
        f"{table.source}: {table.layout}; {table.n_read:,} rows read = {len(table):,} used + "
        f"{len(table.rejected):,} rejected"
    )
    return table


def read_descriptions(path: str) -> dict[str, str]:
    """Read a table whose first column has classes, and all others texts that describe them."""
    from margrove.tables import read_table, table_labels

    table = read_table(path)
    name, *others = table.column_names
    if not others:
        raise DataError(f"{path} has one column; expected classes and then texts that describe them")
    columns = [table.texts(other) for other in others]
    texts: dict[str, str] = {}
    for row, label in enumerate(table_labels(table, name)):
        if label in texts:
            raise DataError(f"{table.where(row)}: {label!r} is described twice")
        texts[label] = " ".join(column[row] or "" for column in columns)
    note(f"{path}: descriptions of {len(texts):,} classes in {', '.join(map(repr, others))}")
    return texts


def read_taxonomy(path: str | None, format: str | None = None, root: str | None = None) -> Taxonomy | None:
    """Read a taxonomy and say which format was detected."""
    if path is None or path == NO_TAXONOMY:
        return None
    from margrove.taxonomy import Taxonomy

    taxonomy = Taxonomy.from_file(path, format, root)
    note(f"{path}: {taxonomy.source}, {len(taxonomy.classes):,} classes")
    return taxonomy


def read_costs(cost: str | None) -> Any:
    """A cost by its name, or from a CSV file: a row for each right class, a column for each predicted one.

    A file gives a mapping from right classes to those from predicted ones.
    """
    if cost is None or not cost.lower().endswith(".csv"):
        return cost
    with open(cost, newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file) if line]
    names = lines[0][1:] if lines else []
    costs: dict[str, dict[str, float]] = {}
    for number, (right, *cells) in enumerate(lines[1:], 2):
        if right in costs or len(cells) != len(names) or right not in names:
            raise DataError(
                f"{cost}, row {number}: expected a class of the first row, once, and {len(names)} costs"
            )
        for name, cell in zip(names, cells, strict=True):
            if not _is_number(cell):
                raise DataError(f"{cost}, row {number}, column {name!r}: {cell!r} is not a number")
        costs[right] = dict(zip(names, map(float, cells), strict=True))
    if not names or len(costs) != len(names) or len(set(names)) != len(names):
        raise DataError(f"{cost}: expected a row and a column for each class, and their names")
    return costs


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def check_confidence(model: TableModel, confidence: float | None) -> None:
    """Refuse a confidence for a model that has no probabilities."""
    if confidence is not None and not hasattr(model.classifier, "predict_proba"):
        raise CommandError(
            Status.WRONG_CALL,
            "--confidence: the model has no probabilities; train it with `margrove train --probabilities`",
        )


def load_model(path: str) -> TableModel:
    """Load a model that takes tables."""
    from margrove.loading import load
    from margrove.tables.model import TableModel

    model: Any = load(path)
    if not isinstance(model, TableModel):
        raise ModelFileError(
            f"{path} holds a bare {type(model).__name__}, which takes matrices; use it from Python, or train "
            "a model of tables with `margrove train`"
        )
    return model
