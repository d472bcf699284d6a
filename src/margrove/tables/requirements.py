"""What every row of a table has to have."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from margrove.tables.cells import as_number, as_text

if TYPE_CHECKING:
    from margrove.taxonomy import Taxonomy

_SPELLINGS_LOOKED_UP = 20  # unknown labels; each is compared with every name


@dataclass(frozen=True)
class Requirements:
    """Columns that have to hold a label (several: the levels of a path), and columns that hold numbers.

    With a taxonomy, labels have to be in it.
    """

    labels: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    separator: str | None = None
    taxonomy: Taxonomy | None = None
    _unknown: dict[Hashable, str] = field(default_factory=dict, repr=False)

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
        if self.taxonomy is not None and self.labels:
            for label in self._labels_in(cells):
                if label not in self.taxonomy:
                    return self._why_unknown(label)
        return ""

    def _labels_in(self, cells: Mapping[str, Any]) -> list[Hashable]:
        first = cells[self.labels[0]]
        if len(self.labels) > 1:
            return [tuple(as_text(cells[name]) for name in self.labels if not is_blank(cells[name]))]
        if self.separator is not None or isinstance(first, list):
            return list(distinct_labels(first, self.separator))
        return [as_text(first)]

    def _why_unknown(self, label: Hashable) -> str:
        assert self.taxonomy is not None
        if label not in self._unknown:
            similar = self.taxonomy.similar(label) if len(self._unknown) < _SPELLINGS_LOOKED_UP else []
            hint = f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ""
            shown = "/".join(map(str, label)) if isinstance(label, tuple) else label
            self._unknown[label] = f"the label {shown!r} is not in the taxonomy{hint}"
        return self._unknown[label]


def distinct_labels(cell: Any, separator: str | None) -> list[str]:
    """Return the labels in a cell, in order and without repetition."""
    if not isinstance(cell, list):
        text = as_text(cell) or ""
        cell = text.split(separator) if separator else [text]
    labels = ((as_text(label) or "").strip() for label in cell)
    return list(dict.fromkeys(label for label in labels if label))


def is_blank(cell: Any, separator: str | None = None) -> bool:
    """Tell whether a cell holds no label, or nothing but separators of labels."""
    if isinstance(cell, str):
        return not (cell.replace(separator, "") if separator else cell).strip()
    if isinstance(cell, list):
        return all(map(is_blank, cell))
    return cell is None or cell != cell  # NaN is what frames put for nothing
