"""What every row of a table has to have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from margrove.tables.cells import as_number


@dataclass(frozen=True)
class Requirements:
    """Columns that have to hold a label (several: the levels of a path), and columns that hold numbers."""

    labels: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    separator: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that the table has to have."""
        return self.labels + self.numeric

    def problem(self, cells: Mapping[str, Any]) -> str:
        """Say what a row lacks, given its cells by column name; nothing if it will do."""
        above = ""
        for name in self.labels:
            if not is_blank(cells.get(name), self.separator):
                if above:
                    return f"it has a label in column {name!r} but none in column {above!r}"
            elif name == self.labels[0]:
                return f"it has no label in column {name!r}"
            else:
                above = name
        for name in self.numeric:
            if as_number(cells.get(name)) is None:
                return f"column {name!r} has to hold a finite number, not {cells.get(name)!r}"
        return ""


def is_blank(cell: Any, separator: str | None = None) -> bool:
    """Tell whether a cell holds no label, or nothing but separators of labels."""
    if isinstance(cell, str):
        return not (cell.replace(separator, "") if separator else cell).strip()
    if isinstance(cell, list):
        return all(map(is_blank, cell))
    return cell is None or cell != cell  # NaN is what frames put for nothing
