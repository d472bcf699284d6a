"""From what users hold as `y`, and perhaps a taxonomy, to classes, label sets and a taxonomy for them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.errors import LabelError
from margrove.outputs.labels import Label, LabelSets, Vocabulary, read_labels
from margrove.taxonomy import Taxonomy
from margrove.taxonomy.build import is_missing

Form = Literal["label", "sets", "indicator"]
SEPARATOR = "/"


@dataclass(frozen=True)
class Classes:
    """The classes of a fit: what the user calls them, where they are in the taxonomy, and the form of `y`."""

    labels: NDArray[Any]
    """The user's labels, sorted."""
    nodes: tuple[Label, ...]
    """The terminal node of the taxonomy that stands for each."""
    taxonomy: Taxonomy
    """The user's, with a miscellaneous class below every inner node that is a label; else made from `y`."""
    form: Form


def read_targets(y: Any, taxonomy: Taxonomy | str | None) -> tuple[Classes, sp.csr_array]:
    """Return the classes, and the indicator matrix (rows x classes) of the right ones."""
    if y is None:
        raise LabelError("this estimator requires y to be passed, but the target y is None")
    levels = _as_levels(y)
    if levels is not None:
        labels, sets, form = _number(levels, "label", None)
        paths: Sequence[Any] = [label if isinstance(label, tuple) else (label,) for label in labels]
        labels_out = _plain_array([SEPARATOR.join(map(str, path)) for path in paths], None)
        if taxonomy is None:
            taxonomy = Taxonomy.from_paths(paths)
    else:
        y, form, columns = _form_of(y)
        labels, sets, form = _number(y, form, columns)
        paths = labels
        if taxonomy is None and any(isinstance(label, str) and SEPARATOR in label for label in labels):
            paths = [tuple(str(label).split(SEPARATOR)) for label in labels]
            taxonomy = Taxonomy.from_paths(paths)
        labels_out = _plain_array(labels, y if isinstance(y, np.ndarray) else None)
    if taxonomy is None or taxonomy == "flat":
        taxonomy, paths = Taxonomy.flat(labels), labels
    elif not isinstance(taxonomy, Taxonomy):
        raise LabelError(f"taxonomy is {taxonomy!r}; expected a margrove.Taxonomy, None, or 'flat'")
    nodes = _find(taxonomy, paths, sets)
    inner = [node for node in nodes if taxonomy.children(node)]
    if inner:
        taxonomy = taxonomy.with_miscellaneous(inner)
    classes = Classes(labels_out, tuple(taxonomy.as_class(node) for node in nodes), taxonomy, form)
    return classes, sets.matrix(len(labels))


def _as_levels(y: Any) -> list[Label] | None:
    """One column a level: the path of each row, as a tuple; None where y is no such table."""
    if hasattr(y, "columns"):
        values = np.asarray(y, dtype=object) if not hasattr(y, "to_pandas") else y.to_numpy()
    else:
        values = y
    if not (isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.kind in "OUS"):
        return None
    rows = values.tolist()
    if all(isinstance(cell, int | float | bool) for row in rows[:100] for cell in row) and len(rows):
        return None  # indicators in an object array
    paths = []
    for i, row in enumerate(rows):
        path = [cell for cell in row if not is_missing(cell)]
        if not path:
            raise LabelError(f"y, row {i}: every level is empty, so there is no label")
        if any(is_missing(cell) for cell in row[: len(path)]):
            raise LabelError(f"y, row {i}: {tuple(row)!r} has an empty level above a filled one")
        paths.append(tuple(path) if len(row) > 1 else path[0])
    return paths


def _form_of(y: Any) -> tuple[Any, Form, list[Any] | None]:
    """What kind of y this is, its columns' names if it has any, and y in a plainer type."""
    if sp.issparse(y):
        return y, "indicator", None
    columns = None
    if hasattr(y, "columns"):
        columns, y = list(y.columns), np.asarray(y)
    if isinstance(y, np.ndarray) or hasattr(y, "__array__"):
        values = np.asarray(y)
        if values.ndim == 2 and values.shape[1] == 1 and columns is None:
            from sklearn.exceptions import DataConversionWarning

            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=4,
            )
            values = values.ravel()
        if values.dtype.kind in "fc":
            from sklearn.utils import assert_all_finite
            from sklearn.utils.multiclass import check_classification_targets

            assert_all_finite(values, input_name="y")
            check_classification_targets(values)
        if values.ndim > 2:
            raise LabelError(f"y has {values.ndim} dimensions; expected labels, or a row of indicators each")
        return values, "indicator" if values.ndim == 2 else "label", columns
    rows = list(y) if hasattr(y, "__iter__") and not isinstance(y, str | bytes) else y
    if not isinstance(rows, list):
        raise LabelError(
            f"Expected array-like (array or non-string sequence), got {y!r}. y should be a 1d array, or similar."
        )
    several = bool(rows) and isinstance(rows[0], list | set | frozenset | np.ndarray)
    return rows, "sets" if several else "label", None


def _number(y: Any, form: Form, columns: list[Any] | None) -> tuple[list[Label], LabelSets, Form]:
    """The distinct labels, sorted, and each row's by number; all columns of an indicator matrix are classes."""
    if form == "indicator":
        names = columns if columns is not None else range(y.shape[1])
        vocabulary = Vocabulary(names)
        sets = read_labels(y, vocabulary, "y", columns)
        return vocabulary.labels, sets, form
    vocabulary = Vocabulary()
    sets = read_labels(y, vocabulary, "y")
    labels = vocabulary.labels
    try:
        order = sorted(range(len(labels)), key=lambda k: labels[k])  # type: ignore[arg-type, return-value]
    except TypeError:  # of several types: by type, then as they read
        order = sorted(range(len(labels)), key=lambda k: (type(labels[k]).__name__, repr(labels[k])))
    rank = np.empty(len(labels), np.int64)
    rank[order] = np.arange(len(labels))
    numbers = rank[sets.numbers] if len(labels) else sets.numbers
    if not sets.single:
        sets = LabelSets.without_repetitions(numbers, sets.starts)
    else:
        sets = LabelSets(numbers, sets.starts, single=True)
    return [labels[k] for k in order], sets, form


def _plain_array(labels: list[Label], y: NDArray[Any] | None) -> NDArray[Any]:
    """Labels as an array that gives each back as it was: of y's type, or of their own where they share one."""
    if y is not None and y.dtype != object:
        return np.array(labels, dtype=y.dtype if y.ndim == 1 else None)
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        return np.array(labels, dtype=object if y is not None or kinds == {str} else None)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def _find(taxonomy: Taxonomy, paths: Sequence[Any], sets: LabelSets) -> list[Label]:
    """The taxonomy's node of each label; a label that has none is an error that tells where it stands."""
    nodes = []
    for k, path in enumerate(paths):
        label = path[0] if isinstance(path, tuple) and len(path) == 1 else path
        try:
            node = taxonomy.name(taxonomy.index(label))
        except KeyError as error:
            row = int(sets.rows[np.flatnonzero(sets.numbers == k)[0]]) if (sets.numbers == k).any() else None
            where = f"y, row {row}" if row is not None else f"y, column {k}"
            raise LabelError(f"{where}: the label {label!r} is not in the taxonomy: {error}") from error
        nodes.append(node)
    twice = len(nodes) - len(set(nodes))
    if twice:
        seen: dict[Label, Any] = {}
        for path, node in zip(paths, nodes, strict=True):
            if node in seen:
                raise LabelError(f"the labels {seen[node]!r} and {path!r} are one node of the taxonomy, {node!r}")
            seen[node] = path
    return nodes
