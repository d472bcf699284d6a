"""Labels from the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from margrove.errors import DataError
from margrove.tables.cells import as_text
from margrove.tables.requirements import distinct_labels, is_blank
from margrove.tables.table import Table


def table_labels(table: Table, columns: str | Sequence[str], separator: str | None = None) -> Any:
    """Return the labels of a table's rows in the form that the estimators take as `y`.

    One column gives a list of strings. Several columns are the levels of a path and give a two-dimensional
    array with None below the last level of a row. With a `separator`, or when the cells are lists, every row
    gives the list of its labels, in order and without repetition.
    """
    names = [columns] if isinstance(columns, str) else list(columns)
    cells = [table.column(name).to_pylist() for name in names]
    for row, cell in enumerate(cells[0]):
        if is_blank(cell, separator):
            raise DataError(f"{table.where(row)} has no label in column {names[0]!r}")
    if len(names) > 1:
        if separator is not None:
            raise DataError("a label separator needs one label column; several are the levels of a path")
        levels = [[None if is_blank(cell) else as_text(cell) for cell in column] for column in cells]
        return np.array(levels, dtype=object).T
    if separator is not None or any(isinstance(cell, list) for cell in cells[0]):
        return [distinct_labels(cell, separator) for cell in cells[0]]
    return table.texts(names[0])
