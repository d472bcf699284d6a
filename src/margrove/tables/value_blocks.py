"""The features of numeric and of categorical columns.

Each block has rows of about unit length, as a text column has: its entries are divided by the root of the
number of its columns. So every text column, the numbers together and the categories together weigh the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from margrove.errors import DataError, InvalidModelFileError
from margrove.modelfile import pack_strings, unpack_strings
from margrove.tables.table import Table


class NumericBlock:
    """Numeric columns, centred and scaled to unit variance.

    A missing number becomes the mean, and a column that lacked some in training gets a second feature that
    marks where a number is missing. A column that was constant in training gives zeros.
    """

    def __init__(self, columns: list[str]) -> None:
        self.columns = columns

    def fit_transform(self, table: Table) -> csr_array[np.float32]:
        """Learn the mean and the deviation of each column, and which lack numbers."""
        values = self._values(table)
        moments = np.array([_moments(column[~np.isnan(column)]) for column in values.T])
        self._mean, self._deviation = moments.T.copy()
        self._has_missing = np.asarray(np.isnan(values).any(axis=0))
        return self._scaled(table, values)

    def transform(self, table: Table) -> csr_array[np.float32]:
        """Scale the columns as in training."""
        return self._scaled(table, self._values(table))

    def names(self) -> list[str]:
        """Name the features."""
        missing = [
            f"{name} is missing"
            for name, has in zip(self.columns, self._has_missing.tolist(), strict=True)
            if has
        ]
        return self.columns + missing

    def summary(self) -> str:
        """Describe the block in a line."""
        return f"{', '.join(self.columns)}: numeric"

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the block as plain values and arrays."""
        arrays = {"mean": self._mean, "deviation": self._deviation, "has_missing": self._has_missing}
        return {"kind": "numeric", "columns": self.columns}, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the block that `to_state` described."""
        block = cls(list(header["columns"]))
        block._mean, block._deviation = arrays["mean"], arrays["deviation"]
        block._has_missing = arrays["has_missing"]
        moments = (block._mean, block._deviation, block._has_missing)
        types = [(array.shape, array.dtype.char) for array in moments]
        shape = (len(block.columns),)
        if types != [(shape, "d"), (shape, "d"), (shape, "?")]:
            raise InvalidModelFileError(f"the moments of the columns {block.columns} do not fit them")
        if not np.isfinite(block._mean).all() or not (block._deviation > 0).all():
            raise InvalidModelFileError(f"the moments of the columns {block.columns} are no moments")
        return block

    def _values(self, table: Table) -> NDArray[np.float64]:
        return np.column_stack([table.numbers(name) for name in self.columns])

    def _scaled(self, table: Table, values: NDArray[np.float64]) -> csr_array[np.float32]:
        missing = np.isnan(values)
        with np.errstate(over="ignore"):
            scaled = (np.where(missing, self._mean, values) - self._mean) / self._deviation
            features = np.hstack([scaled, missing[:, self._has_missing]]) / np.sqrt(len(self.columns))
            features = features.astype(np.float32)
        if not np.isfinite(features).all():
            row, column = np.argwhere(~np.isfinite(features))[0]
            raise DataError(
                f"{table.where(row)}: column {self.columns[column]!r} is {values[row, column]:g}, beyond "
                f"the training data with mean {self._mean[column]:g}, deviation {self._deviation[column]:g}"
            )
        return csr_array(features)


class CategoricalBlock:
    """Categorical columns, one feature for each value seen in training; a new value, or none, gives zeros."""

    def __init__(self, columns: list[str]) -> None:
        self.columns = columns

    def fit_transform(self, table: Table) -> csr_array[np.float32]:
        """Learn the values of each column."""
        self._learned([sorted({text for text in table.texts(name) if text}) for name in self.columns])
        return self.transform(table)

    def transform(self, table: Table) -> csr_array[np.float32]:
        """Mark the value of each column."""
        codes = np.empty((len(table), len(self.columns)), dtype=np.int32)
        for place, (name, code) in enumerate(zip(self.columns, self._codes, strict=True)):
            codes[:, place] = [code.get(text, -1) for text in table.texts(name)]
        known = codes >= 0
        indptr = np.concatenate([[0], known.sum(axis=1).cumsum()]).astype(np.int32)
        data = np.full(indptr[-1], 1 / np.sqrt(len(self.columns)), dtype=np.float32)
        return csr_array((data, codes[known], indptr), shape=(len(table), len(self.names())))

    def names(self) -> list[str]:
        """Name the features."""
        return [
            f"{name} = {value}"
            for name, values in zip(self.columns, self._categories, strict=True)
            for value in values
        ]

    def summary(self) -> str:
        """Describe the block in a line."""
        sizes = zip(self.columns, self._categories, strict=True)
        return ", ".join(f"{name} ({len(values):,})" for name, values in sizes) + ": categorical"

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the block as plain values and arrays."""
        arrays: dict[str, NDArray[Any]] = {}
        for place, values in enumerate(self._categories):
            arrays |= pack_strings(str(place), values)
        return {"kind": "categorical", "columns": self.columns}, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the block that `to_state` described."""
        block = cls(list(header["columns"]))
        block._learned([unpack_strings(str(place), arrays) for place in range(len(block.columns))])
        if sum(map(len, block._codes)) < sum(map(len, block._categories)):
            raise InvalidModelFileError(f"one of the columns {block.columns} has a value twice")
        return block

    def _learned(self, categories: list[list[str]]) -> None:
        starts = np.cumsum([0, *map(len, categories)]).tolist()
        self._categories = categories
        self._codes: list[dict[str | None, int]] = [
            {value: start + place for place, value in enumerate(values)}
            for start, values in zip(starts, categories, strict=False)
        ]


def _moments(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and deviation, of numbers of any size; infinite for a constant, which scales to 0."""
    largest = np.abs(values).max(initial=0)
    if not largest:
        return 0.0, np.inf
    values = values / largest
    deviation = values.std() * largest if np.ptp(values) else 0.0
    return float(values.mean() * largest), float(deviation) or np.inf
