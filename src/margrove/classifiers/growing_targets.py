"""Classes that turn up while learning: the targets of the next part of a stream.

Known classes keep their numbers. New ones follow: first those that the caller names, sorted, then those of
`y` in the order of the rows where they first stand, and within a row sorted. So numbers depend on the stream
alone, not on where it was cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.classifiers.label_forms import SEPARATOR, Rows, read_rows
from margrove.classifiers.targets import (
    Classes,
    as_array,
    check_taxonomy,
    find_nodes,
    refuse_twins,
    sorted_places,
    with_miscellaneous,
)
from margrove.errors import LabelError
from margrove.outputs.labels import Label, LabelSets, Vocabulary, plain_list, read_labels
from margrove.taxonomy import Taxonomy
from margrove.taxonomy.growth import embed
from margrove.taxonomy.sources import split


@dataclass(frozen=True)
class Segment:
    """Rows over which no class that was known becomes an inner node, and the classes known at its end."""

    rows: slice
    classes: Classes
    Y: sp.csr_array
    known: NDArray[np.int32]
    """How many classes are known with each row: those of it and of the rows before."""


def read_segments(y: Any, before: Classes | None, taxonomy: Any, classes: Any = None) -> list[Segment]:
    """The rows of `y`, in segments; `taxonomy` is as in `read_targets`, and holds the one before.

    Everything is checked before the first segment is given.
    """
    check_taxonomy(taxonomy)
    rows = read_rows(y)
    if before is not None and rows.form != before.form:
        raise LabelError(f"y is of the form {rows.form!r}, and was of the form {before.form!r} before")
    stream = _Stream.read(rows, before, classes)
    if not stream.labels:
        raise LabelError("y holds no label at all, so there is nothing to learn")
    places = _Places.of(stream, taxonomy, before)
    cuts = [0, *places.turning_rows(stream), len(stream.sets)]
    return [stream.segment(slice(start, end), places) for start, end in pairwise(cuts)]


@dataclass(frozen=True)
class _Stream:
    """Labels by number, those known before first, and the row with which each is known (0 for these)."""

    rows: Rows
    labels: list[Label]
    sets: LabelSets
    birth: NDArray[np.int64]
    dtype: np.dtype[Any] | None

    @classmethod
    def read(cls, rows: Rows, before: Classes | None, classes: Any) -> _Stream:
        known = _known_at_once(rows, before, classes)
        vocabulary = Vocabulary(known)
        sets = read_labels(rows.values, vocabulary, "y", rows.columns)
        number, birth = _numbered_by_birth(vocabulary.labels, len(known), sets)
        numbers = number[sets.numbers]
        if rows.form == "label":
            sets = LabelSets(numbers, sets.starts, single=True)
        else:
            sets = LabelSets.without_repetitions(numbers, sets.starts)
        labels = [vocabulary.labels[k] for k in np.argsort(number)]
        return cls(rows, labels, sets, birth, _joint_dtype(rows, before, classes))

    def segment(self, rows: slice, places: _Places) -> Segment:
        """Some rows, and the classes known at their end."""
        n_classes = int(np.searchsorted(self.birth, rows.stop, side="left"))
        Y = self.sets.matrix(len(self.labels))[rows, :n_classes]
        with_row = np.searchsorted(self.birth, np.arange(rows.start, rows.stop), side="right")
        nodes, taxonomy = places.classes(n_classes)
        labels = as_array(self.labels[:n_classes], self.dtype)
        classes = Classes(labels, nodes, taxonomy, self.rows.form)
        return Segment(rows, classes, sp.csr_array(Y), with_row.astype(np.int32))


def _known_at_once(rows: Rows, before: Classes | None, classes: Any) -> list[Label]:
    """The labels of before, of indicators' columns and of `classes`: they wait for no row."""
    named = [] if classes is None else plain_list(classes, "classes")
    if rows.form == "indicator":
        named = [*(range(rows.values.shape[1]) if rows.columns is None else rows.columns), *named]
    else:
        named = [named[k] for k in sorted_places(named)]
    known = [] if before is None else before.labels.tolist()
    return list(dict.fromkeys([*known, *named]))


def _numbered_by_birth(
    labels: list[Label], n_known: int, sets: LabelSets
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each label, new ones by the row where they first stand, and these rows, by number."""
    found, entry = np.unique(sets.numbers, return_index=True)
    birth = np.zeros(len(labels), np.int64)
    birth[found] = sets.rows[entry]
    birth[:n_known] = 0
    rank = np.empty(len(labels) - n_known, np.int64)
    rank[sorted_places(labels[n_known:])] = np.arange(len(rank))
    order = n_known + np.lexsort([rank, birth[n_known:]])
    number = np.arange(len(labels))
    number[order] = n_known + np.arange(len(rank))
    birth[n_known:] = birth[order]
    return number, birth


def _joint_dtype(rows: Rows, before: Classes | None, classes: Any) -> np.dtype[Any] | None:
    """The type of an array that holds all labels; None where they are not all of arrays of one kind."""
    types = [rows.dtype]
    if before is not None:
        types.append(before.labels.dtype)
    if classes is not None:
        types.append(getattr(classes, "dtype", None))
    given = [dtype for dtype in types if isinstance(dtype, np.dtype)]
    if len(given) < len(types) or len({dtype.kind for dtype in given}) > 1:
        return None
    return np.result_type(*given)


class _Places:
    """Where labels stand, for the first of them as for all."""

    paths: list[tuple[Label, ...]] | None = None

    @classmethod
    def of(cls, stream: _Stream, taxonomy: Any, before: Classes | None) -> _Places:
        given = isinstance(taxonomy, Taxonomy)
        nothing_new = before is not None and len(stream.labels) == len(before.labels)
        if before is not None and nothing_new and (taxonomy is before.taxonomy or not given):
            return _Known(before)
        if given:
            return _Given(stream, taxonomy, before)
        return _Grown(stream, taxonomy, before)

    def turning_rows(self, stream: _Stream) -> Iterator[int]:
        """Rows whose new labels make a known class an inner node."""
        return iter(())

    def classes(self, n: int) -> tuple[tuple[Label, ...], Taxonomy]:
        """The nodes of the first labels, and a taxonomy for them."""
        raise NotImplementedError


class _Known(_Places):
    """Where they stood before."""

    def __init__(self, before: Classes) -> None:
        self.before = before

    def classes(self, n: int) -> tuple[tuple[Label, ...], Taxonomy]:
        return self.before.nodes, self.before.taxonomy


class _Given(_Places):
    """In a taxonomy that has all of them."""

    def __init__(self, stream: _Stream, taxonomy: Taxonomy, before: Classes | None) -> None:
        n_before = 0 if before is None else len(before.labels)
        old: list[Label] = []
        if before is not None:
            place = embed(before.taxonomy, taxonomy)
            found = before.taxonomy.indices([before.taxonomy.as_label(node) for node in before.nodes])
            old = [taxonomy.name(int(place[v])) for v in found.tolist()]
        wanted = [stream.rows.paths.get(label, label) for label in stream.labels[n_before:]]
        new = find_nodes(taxonomy, wanted, stream.sets, stream.rows, n_before)
        self.nodes = [*old, *new]
        refuse_twins(stream.labels, self.nodes)
        self.taxonomy = taxonomy

    def classes(self, n: int) -> tuple[tuple[Label, ...], Taxonomy]:
        nodes, taxonomy = with_miscellaneous(self.nodes[:n], self.taxonomy)
        return tuple(nodes), taxonomy


class _Grown(_Places):
    """In a taxonomy that is made of their paths; a star as long as none has several levels."""

    def __init__(self, stream: _Stream, taxonomy: Any, before: Classes | None) -> None:
        self.labels = stream.labels
        n_before = 0 if before is None else len(before.labels)
        known: list[tuple[Label, ...]] = []
        if before is not None and taxonomy != "flat":
            tree = before.taxonomy
            known = [tree.label_path(tree.as_label(node)) for node in before.nodes]
        if taxonomy != "flat":
            self.paths = known + [_path(label, stream.rows) for label in stream.labels[n_before:]]
            refuse_twins(stream.labels, self.paths)

    def turning_rows(self, stream: _Stream) -> Iterator[int]:
        if self.paths is None:
            return
        leaves: set[tuple[Label, ...]] = set()
        inner: set[tuple[Label, ...]] = set()
        last = 0
        for path, row in zip(self.paths, stream.birth.tolist(), strict=True):
            above = {path[:end] for end in range(1, len(path))}
            if row > last and above & leaves:
                yield row
                last = row
            inner |= above
            leaves -= above
            if path not in inner:
                leaves.add(path)

    def classes(self, n: int) -> tuple[tuple[Label, ...], Taxonomy]:
        if self.paths is None or all(len(path) == 1 for path in self.paths[:n]):
            labels = self.labels[:n] if self.paths is None else [path[0] for path in self.paths[:n]]
            taxonomy = Taxonomy.flat(labels)
            return tuple(taxonomy.name(v) for v in taxonomy.indices(labels).tolist()), taxonomy
        taxonomy = Taxonomy.from_paths(self.paths[:n])
        names = [taxonomy.name(v) for v in taxonomy.indices(self.paths[:n]).tolist()]
        nodes, taxonomy = with_miscellaneous(names, taxonomy)
        return tuple(nodes), taxonomy


def _path(label: Label, rows: Rows) -> tuple[Label, ...]:
    """The levels of a label."""
    if label in rows.paths:
        return rows.paths[label]
    if rows.paths and isinstance(label, tuple):  # as it is named where it is clear
        return label
    if isinstance(label, str) and SEPARATOR in label:
        return tuple(split(label, SEPARATOR, "y, label {}".format, 0))
    return (label,)
