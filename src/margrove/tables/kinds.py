"""What kind of feature a column is, when nobody said."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from margrove.tables.cells import as_number, as_text, is_code
from margrove.tables.table import Table

Kind = Literal["text", "numeric", "categorical", "left out"]

_REPETITIONS = 5
_MAX_CATEGORIES = 1000


def infer_kind(table: Table, name: str) -> Kind:
    """Return the kind of a column, as its cells suggest.

    Cells that are all numbers are numeric, unless one has a leading zero, which makes it a code. Of the
    others, a column is categorical if its values occur five times on average and are at most a thousand,
    else text. Left out are columns that cannot help: empty ones, lists, and whole numbers that rise from row
    to row, which only count the rows.
    """
    cells = [cell for cell in table.column(name).to_pylist() if as_text(cell) is not None]
    if not cells or any(isinstance(cell, list) for cell in cells):
        return "left out"
    if not any(isinstance(cell, bool) or is_code(cell) for cell in cells) and _all_numbers(cells):
        return "left out" if _counts_rows(cells) else "numeric"
    distinct = len({as_text(cell) for cell in cells})
    return "categorical" if distinct <= min(_MAX_CATEGORIES, len(cells) / _REPETITIONS) else "text"


def _all_numbers(cells: list[Any]) -> bool:
    found = False
    for cell in cells:
        number = as_number(cell)
        if number is None:
            return False
        found = found or number == number
    return found  # NA alone is no number


def _counts_rows(cells: list[Any]) -> bool:
    numbers = np.array([as_number(cell) for cell in cells], dtype=np.float64)
    return len(numbers) > _REPETITIONS and bool((numbers % 1 == 0).all() and (np.diff(numbers) > 0).all())
