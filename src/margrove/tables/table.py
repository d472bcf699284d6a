"""A table in memory: named columns, and where each row came from."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margrove.errors import DataError
from margrove.tables.cells import as_number, as_text
from margrove.tables.columns import column_of, plain

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class RejectedRow:
    """A row that cannot be used: where it starts, why, and its bytes as they were."""

    line: int
    reason: str
    content: bytes


@dataclass(frozen=True)
class Table:
    """Columns of equal length (`data`, a PyArrow table) with the place of each row in its source.

    Cells of CSV and TSV stay text, a missing cell is null: what a column means is settled by the features
    that are fitted to it, so the same cell means the same in training and in prediction.
    """

    data: pa.Table
    line_numbers: NDArray[np.int64]
    source: str = "the table"
    unit: str = "row"
    layout: str = "a frame"
    rejected: tuple[RejectedRow, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.line_numbers)

    @property
    def n_read(self) -> int:
        """How many rows were read; each was used or rejected."""
        return len(self) + len(self.rejected)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self.data.column_names)

    def where(self, row: int) -> str:
        """Name the place of a row, for messages: `line 17 of data.csv`."""
        return f"{self.unit} {self.line_numbers[row]} of {self.source}"

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column; an unknown name gets the nearest ones in the error."""
        check_columns([name], self.column_names, self.source)
        return self.data.column(name)

    def texts(self, name: str) -> list[str | None]:
        """Return the cells of a column as text, None where one is missing."""
        return [as_text(cell) for cell in self.column(name).to_pylist()]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column as numbers, with NaN where a cell is missing (or says so: NA, NaN, null, ...)."""
        cells = self.column(name).to_pylist()
        numbers = np.empty(len(cells))
        for row, cell in enumerate(cells):
            number = as_number(cell)
            if number is None:
                raise DataError(
                    f"{self.where(row)}: column {name!r} has to hold finite numbers and here is {cell!r}"
                )
            numbers[row] = number
        return numbers

    def without(self, names: Iterable[str]) -> Table:
        """Return the table without some of its columns, if it has them."""
        return replace(
            self, data=self.data.drop_columns([name for name in names if name in self.column_names])
        )

    def take(self, rows: NDArray[Any]) -> Table:
        """Return some of the rows, by a mask or by positions."""
        positions = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        part = replace(self, data=self.data.take(positions), line_numbers=self.line_numbers[positions])
        return replace(part, rejected=())


def as_table(data: Any) -> Table:
    """Return a `Table` for a table, a dictionary of columns, or any frame that narwhals knows."""
    if isinstance(data, Table):
        return data
    import narwhals as nw
    import pyarrow as pa

    if isinstance(data, Mapping):
        columns = {str(name): column_of(list(cells)) for name, cells in data.items()}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"the columns have different lengths: {lengths}")
    else:
        try:
            frame = nw.from_native(data, eager_only=True)
        except TypeError as error:
            raise DataError(
                f"expected a table, a frame or a dictionary of columns, not {type(data).__name__}"
            ) from error
        check_header([str(name) for name in frame.columns], "the frame")
        columns = {str(series.name): _series_column(series) for series in frame.iter_columns()}
    table = pa.table(columns)
    return Table(table, np.arange(1, table.num_rows + 1))


def _series_column(series: Any) -> Any:
    import pyarrow as pa

    try:
        return plain(series.to_arrow())
    except pa.ArrowException:  # objects of several types
        return column_of(series.to_list())


def check_header(names: Sequence[str], source: str) -> None:
    """Check that every column has a name of its own."""
    if "" in names:
        raise DataError(
            f"{source}: column {names.index('') + 1} has no name (perhaps an index that pandas wrote); "
            f"name it or leave it out; the columns are {list(names)}"
        )
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataError(f"{source}: several columns are called {twice[0]!r}; the columns are {list(names)}")


def check_columns(wanted: Iterable[str], names: Sequence[str], source: str) -> None:
    """Check that the table has the wanted columns."""
    for name in wanted:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
            raise DataError(f"{source} has no column {name!r}; {hint}its columns are {list(names)}")
