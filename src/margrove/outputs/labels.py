"""From what users hold - labels, collections of labels, indicator matrices - to numbered label sets.

A row holds one label, or several: in a list, a set, a frozenset or an array. Anything else that is hashable
is a label, so a tuple is one. Rows are counted from 0 in messages, as NumPy counts them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from margrove.errors import DataError, LabelError
from margrove.taxonomy.build import is_missing

Label: TypeAlias = Hashable
IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

COLLECTIONS = (list, set, frozenset, np.ndarray)


class Vocabulary:
    """The number of every label: first the `classes`, then, unless closed, others in order of first use."""

    def __init__(self, classes: Iterable[Label] | None = None, closed: bool = False) -> None:
        self.closed = closed
        self._numbers: dict[Label, int] = {}
        for position, label in enumerate(() if classes is None else plain_list(classes, "classes")):
            if self._numbers.setdefault(label, position) != position:
                raise LabelError(f"classes: {label!r} stands there twice; each class needs one column")

    @property
    def labels(self) -> list[Label]:
        """Every label, by its number."""
        return list(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, flat: list[Label], starts: IntArray, argument: str) -> IntArray:
        """The numbers of labels that stand row after row; `starts` tells where each row begins."""
        numbers, known = self._numbers, len(self._numbers)
        try:
            if self.closed:
                found = (numbers.get(label, -1) for label in flat)
            else:
                found = (numbers.setdefault(label, len(numbers)) for label in flat)
            result = np.fromiter(found, dtype=np.int64, count=len(flat))
        except TypeError:
            entry = next(k for k, label in enumerate(flat) if not _is_hashable(label))
            row = row_of(entry, starts)
            raise LabelError(
                f"{argument}, row {row}: {flat[entry]!r} cannot be a label; labels are hashable"
            ) from None
        new = list(numbers)[known:]
        missing = [known + k for k, label in enumerate(new) if is_missing(label)]
        for entry in np.flatnonzero(np.isin(result, missing))[:1]:
            row = row_of(entry, starts)
            raise LabelError(f"{argument}, row {row}: the label is missing ({flat[entry]!r})")
        for entry in np.flatnonzero(result < 0)[:1]:
            row = row_of(entry, starts)
            raise LabelError(f"{argument}, row {row}: the label {flat[entry]!r} is not among the classes")
        return result


@dataclass(frozen=True)
class LabelSets:
    """The set of labels of each row: row i holds numbers[starts[i] : starts[i + 1]], without repetitions."""

    numbers: IntArray
    starts: IntArray
    single: bool  # the user gave one label a row, not collections

    @classmethod
    def without_repetitions(cls, numbers: IntArray, starts: IntArray, single: bool = False) -> LabelSets:
        """Sorted sets, each label once, from rows that may repeat one."""
        n_rows, n_labels = len(starts) - 1, int(numbers.max(initial=0)) + 1
        entries = np.unique(np.repeat(np.arange(n_rows), np.diff(starts)) * n_labels + numbers)
        rows, kept = np.divmod(entries, n_labels)
        sizes = np.bincount(rows, minlength=n_rows)
        return cls(kept, np.concatenate([[0], np.cumsum(sizes)]), single)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def sizes(self) -> IntArray:
        """How many labels each row has."""
        return np.diff(self.starts)

    @cached_property
    def rows(self) -> IntArray:
        """The row of every entry of `numbers`."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def matrix(self, n_labels: int) -> sp.csr_array:
        """The rows x labels indicator matrix."""
        ones = np.ones(len(self.numbers), dtype=np.int64)
        return sp.csr_array((ones, self.numbers, self.starts), shape=(len(self), n_labels))


def read_labels(
    values: Any, vocabulary: Vocabulary, argument: str, columns: Sequence[Label] | None = None
) -> LabelSets:
    """Read `values` in any of the accepted forms; `columns` names the columns of an indicator matrix."""
    if hasattr(values, "columns"):  # a data frame of indicators
        columns, values = (list(values.columns) if columns is None else columns), np.asarray(values)
    if sp.issparse(values) or (isinstance(values, np.ndarray) and values.ndim == 2):
        return _read_indicators(values, vocabulary, argument, columns)
    rows = plain_list(values, argument)
    multilabel = bool(rows) and isinstance(rows[0], COLLECTIONS)
    for i, row in enumerate(rows):
        if isinstance(row, COLLECTIONS) != multilabel:
            expected = "a collection of labels" if multilabel else "one label"
            raise LabelError(f"{argument}, row {i}: {row!r} is not {expected}, as the rows before it are")
    if not multilabel:
        starts = np.arange(len(rows) + 1)
        return LabelSets(vocabulary.number(rows, starts, argument), starts, single=True)
    sets = [plain_list(row, argument) for row in rows]
    starts = np.concatenate([[0], np.cumsum([len(labels) for labels in sets], dtype=np.int64)])
    numbers = vocabulary.number(list(chain.from_iterable(sets)), starts, argument)
    return LabelSets.without_repetitions(numbers, starts)


def plain_list(values: Any, argument: str) -> list[Any]:
    """Any one-dimensional sequence as a list, NumPy's scalars as Python's."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise LabelError(f"{argument}: expected a sequence with one entry a row, got {values!r}")
    for method in ("tolist", "to_list"):  # arrays and pandas; polars
        if hasattr(values, method):
            return list(getattr(values, method)())
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def row_of(entry: int, starts: NDArray[np.integer]) -> int:
    """The row to which an entry belongs."""
    return int(np.searchsorted(starts, entry, side="right")) - 1


def _read_indicators(values: Any, vocabulary: Vocabulary, argument: str, columns: Any) -> LabelSets:
    matrix = sp.csr_array(values)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    odd = np.flatnonzero(matrix.data != 1)
    if len(odd):
        row = row_of(odd[0], matrix.indptr)
        raise LabelError(
            f"{argument}, row {row}: an indicator matrix holds 0 and 1, found {matrix.data[odd[0]]}"
        )
    names = list(range(matrix.shape[1])) if columns is None else plain_list(columns, f"columns of {argument}")
    if len(names) != matrix.shape[1]:
        raise DataError(f"{argument} has {matrix.shape[1]} columns for {len(names)} classes")
    starts = matrix.indptr.astype(np.int64)
    numbers = vocabulary.number([names[j] for j in matrix.indices.tolist()], starts, argument)
    return LabelSets.without_repetitions(numbers, starts)


def _is_hashable(label: object) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True


def read_weights(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray:
    """The weight of every row, one where none is given."""
    if not n_rows:
        raise DataError("there are no rows")
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise DataError(
            f"sample_weight has shape {weights.shape}; expected one weight for each of {n_rows} rows"
        )
    for row in np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[:1]:
        raise DataError(f"sample_weight, row {row}: {weights[row]} is not a finite weight of at least 0")
    if not weights.any():
        raise DataError("sample_weight: every weight is 0; rows of zero weight do not count")
    return weights


def check_lengths(**lengths: int) -> None:
    """Raise unless all arguments have the same number of rows."""
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{argument} has {n}" for argument, n in lengths.items())
        raise DataError(f"the numbers of rows differ: {told}")
