"""What one cell says, as text or as a number."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_MISSING_NUMBERS = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "-", "?"})
_LEADING_ZERO = re.compile(r"[+-]?0\d")


def as_text(cell: Any) -> str | None:
    """Return a cell as text, None if there is none; `NA` and the like are text.

    Whole floats lose their `.0`, since a frame turns integers into floats as soon as one is missing.
    """
    if cell is None or cell == "":
        return None
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        if math.isnan(cell):
            return None
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "backslashreplace")
    if isinstance(cell, list | dict):
        return json.dumps(cell, ensure_ascii=False, default=str)
    return str(cell)


def as_number(cell: Any) -> float | None:
    """Return a cell as a finite number, NaN if it is missing, None if it is anything else."""
    if cell is None:
        return math.nan
    if isinstance(cell, str):
        cell = cell.strip()
        if cell.lower() in _MISSING_NUMBERS:
            return math.nan
        if "_" in cell:  # Python's own digit separator
            return None
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isinf(number) else number


def is_code(cell: Any) -> bool:
    """Tell whether a cell looks like a number and is not: `0111` would lose its zero."""
    return isinstance(cell, str) and _LEADING_ZERO.match(cell.strip()) is not None
