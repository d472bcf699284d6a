"""The forms in which users hold `y`, told apart.

| form | what a row of `y` is |
| --- | --- |
| label | one label, of any hashable kind; a tuple is one label |
| label, from levels | a row of a table of text, one column a level, ragged: None, NaN or "" ends a path |
| sets | a list, set, frozenset or array of labels |
| indicator | a row of zeros and ones, with a column for each class |
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.errors import LabelError
from margrove.outputs.labels import COLLECTIONS, Label, plain_list
from margrove.taxonomy.build import is_missing

Form = Literal["label", "sets", "indicator"]
SEPARATOR = "/"
_NUMBERS = (bool, int, float, np.number, np.bool_)


@dataclass(frozen=True)
class Rows:
    """What `y` says, in one of three forms."""

    form: Form
    values: Any
    """A list with a label or a collection of labels for each row; for indicators, a matrix."""
    columns: Sequence[Label] | None = None
    """The names of an indicator matrix's columns, where it has any."""
    dtype: np.dtype[Any] | None = None
    """The type of an array of labels."""
    paths: Mapping[Label, tuple[Label, ...]] = field(default_factory=dict)
    """For labels that were given as one column a level: their levels."""


def read_rows(y: Any) -> Rows:
    """Tell the form of `y`; what has none is a `LabelError` that says what to do."""
    if y is None:
        raise LabelError("the estimator requires y to be passed, but the target y is None")
    if sp.issparse(y):
        return Rows("indicator", y)
    if isinstance(y, set | frozenset | Mapping):
        raise LabelError(
            f"y is a {type(y).__name__}, whose entries have no order; give a list with a label a row"
        )
    columns = list(y.columns) if hasattr(y, "columns") else None
    if columns is None and not hasattr(y, "__array__"):
        return _of_list(_entries(y))
    values = np.asarray(y)
    if values.ndim == 1:
        return _of_list(_entries(values), values.dtype)
    if values.ndim != 2 or not values.shape[1]:
        raise LabelError(
            f"y has the shape {values.shape}; expected a label for each row, or a table with rows"
        )
    if values.shape[1] == 1:
        _warn_of_column()
        return _of_list(_entries(values.ravel()), values.dtype)
    return _of_indicators(values, columns) if _is_numeric(values) else _of_levels(values)


def _entries(y: Any) -> list[Any]:
    if isinstance(y, str | bytes) or not hasattr(y, "__iter__") or getattr(y, "ndim", 1) == 0:
        raise LabelError(
            f"Expected array-like (array or non-string sequence), got {y!r}. "
            "y should be a 1d array, or similar, with a label for each row"
        )
    if isinstance(y, np.ndarray) and y.dtype.kind in "mM":
        for row in np.flatnonzero(np.isnat(y))[:1]:
            raise LabelError(f"y, row {row}: the label is missing (NaT)")
    return plain_list(y, "y")


def _of_list(entries: list[Any], dtype: np.dtype[Any] | None = None) -> Rows:
    if not entries or not isinstance(entries[0], COLLECTIONS):
        _refuse_measurements(entries)
        return Rows("label", entries, dtype=dtype)
    if _are_indicators(entries):
        return Rows("indicator", np.array([list(row) for row in entries], dtype=np.int64))
    return Rows("sets", entries)


def _are_indicators(rows: list[Any]) -> bool:
    """Whether lists are rows of zeros and ones, as scikit-learn reads them, and not the labels 0 and 1.

    Without repetitions, collections of two labels that are all as long would all be the same.
    """
    if not all(isinstance(row, list | np.ndarray) and len(row) == len(rows[0]) > 1 for row in rows):
        return False
    return all(isinstance(cell, _NUMBERS) and cell in (0, 1) for row in rows for cell in row)


def _is_numeric(table: NDArray[Any]) -> bool:
    if table.dtype == object:
        return all(isinstance(cell, _NUMBERS) for cell in table.ravel().tolist())
    return table.dtype.kind in "biufc"


def _of_indicators(table: NDArray[Any], columns: Sequence[Label] | None) -> Rows:
    odd = np.argwhere((table != 0) & (table != 1))
    for row, column in odd[:1].tolist():
        raise LabelError(
            f"y, row {row}, column {column}: {table[row, column]} is neither 0 nor 1, so y is no indicator "
            "matrix; if its columns are the levels of a path, give them as text, as y.astype(str) does"
        )
    return Rows("indicator", table.astype(np.int64), columns)


def _of_levels(table: NDArray[Any]) -> Rows:
    """One column a level: a row's label is its path."""
    labels: list[Label] = []
    paths: dict[Label, tuple[Label, ...]] = {}
    for i, row in enumerate(table.tolist()):
        path = tuple(cell for cell in row if not is_missing(cell))
        if not path:
            raise LabelError(f"y, row {i}: every level is empty, so there is no label")
        if any(map(is_missing, row[: len(path)])):
            raise LabelError(f"y, row {i}: {tuple(row)!r} has an empty level above a filled one")
        label = path_label(path)
        labels.append(label)
        paths[label] = path
    return Rows("label", labels, paths=paths)


def path_label(path: tuple[Label, ...]) -> Label:
    """The one label of a path: "a/b/c", or the tuple of its levels where that would be unclear."""
    clear = all(isinstance(level, str) and SEPARATOR not in level for level in path)
    return SEPARATOR.join(map(str, path)) if clear else path


def _refuse_measurements(labels: Collection[Any]) -> None:
    """Numbers with a fractional part are measurements: a mistake in the choice of y or of the estimator."""
    if not {type(label) for label in labels} & {float, complex}:
        return
    for row, label in enumerate(labels):
        if isinstance(label, complex) or (
            isinstance(label, float) and label == label and not label.is_integer()
        ):
            raise LabelError(
                f"Unknown label type: continuous. y, row {row}: {label!r} is a measurement and no class; "
                "for intervals of numbers, give their names as text"
            )


def _warn_of_column() -> None:
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
        "(n_samples,), for example using ravel().",
        DataConversionWarning,
        stacklevel=5,
    )
