"""From `y`, and perhaps a taxonomy, to classes, label sets and a taxonomy for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.classifiers.label_forms import SEPARATOR, Form, Rows, read_rows
from margrove.errors import LabelError
from margrove.outputs.labels import Label, LabelSets, Vocabulary, read_labels
from margrove.taxonomy import Taxonomy
from margrove.taxonomy.build import listing
from margrove.taxonomy.sources import split


@dataclass(frozen=True)
class Classes:
    """The classes of a fit: what the user calls them, where they are in the taxonomy, and the form of `y`."""

    labels: NDArray[Any]
    """The user's labels, sorted; the columns of an indicator matrix, in their order."""
    nodes: tuple[Label, ...]
    """The node of the taxonomy that stands for each: a terminal one, unless inner nodes may be classes."""
    taxonomy: Taxonomy
    """The user's, with a miscellaneous class below every inner node that is a label; else made from `y`."""
    form: Form

    def numbers(self, of: Classes) -> NDArray[np.intp]:
        """The places of other classes among these."""
        place = {node: k for k, node in enumerate(self.nodes)}
        return np.array([place[node] for node in of.nodes], np.intp)


def read_targets(
    y: Any, taxonomy: Taxonomy | str | None, *, miscellaneous: bool = True
) -> tuple[Classes, sp.csr_array]:
    """Return the classes, and the indicator matrix (rows x classes) of the right ones.

    Without a taxonomy, labels that hold the separator are paths and make one; "flat" makes none of them. With
    `miscellaneous` a label at an inner node is a class below it (T.3), else it is the inner node.
    """
    check_taxonomy(taxonomy)
    rows = read_rows(y)
    labels, sets = _number(rows)
    if isinstance(taxonomy, Taxonomy):
        nodes = find_nodes(taxonomy, [rows.paths.get(label, label) for label in labels], sets, rows)
    else:
        paths = None if taxonomy == "flat" else _paths(labels, sets, rows)
        taxonomy = Taxonomy.flat(labels) if paths is None else Taxonomy.from_paths(paths)
        nodes = [taxonomy.name(v) for v in taxonomy.indices(labels if paths is None else paths)]
    refuse_twins(labels, nodes)
    if miscellaneous:
        nodes, taxonomy = with_miscellaneous(nodes, taxonomy)
    classes = Classes(as_array(labels, rows.dtype), tuple(nodes), taxonomy, rows.form)
    return classes, sets.matrix(len(labels))


def check_taxonomy(taxonomy: Any) -> None:
    """Raise unless this is what `taxonomy=` can be."""
    if not (
        taxonomy is None
        or isinstance(taxonomy, Taxonomy)
        or (isinstance(taxonomy, str) and taxonomy == "flat")
    ):
        raise ValueError(
            f"taxonomy is {taxonomy!r}; expected a margrove.Taxonomy, None or 'flat'. Taxonomy.from_edges, "
            "from_paths, from_dict and from_file make one"
        )


def with_miscellaneous(nodes: Sequence[Label], taxonomy: Taxonomy) -> tuple[list[Label], Taxonomy]:
    """Classes at these nodes, and the taxonomy with one more below each that is an inner node (T.3)."""
    inner = [node for node in nodes if taxonomy.children(node)]
    if inner:
        taxonomy = taxonomy.with_miscellaneous(inner)
    return [taxonomy.as_class(node) for node in nodes], taxonomy


def refuse_root(classes: Classes, advice: str = "") -> None:
    """Raise if the root is a class of an output whose predictions all hold it."""
    if classes.taxonomy.root in classes.nodes:
        label = classes.labels.tolist()[classes.nodes.index(classes.taxonomy.root)]
        raise LabelError(
            f"the label {label!r} is the root of the taxonomy, which says nothing about a row{advice}"
        )


def with_unseen(classes: Classes) -> Classes:
    """These and all other terminal nodes of their taxonomy, by the taxonomy's names."""
    if classes.form == "indicator":
        raise LabelError("y has a column for each class; to predict others, give it as lists of labels")
    known = set(classes.nodes)
    unseen = [node for node in classes.taxonomy.classes if node not in known]
    labels = [*classes.labels.tolist(), *map(classes.taxonomy.as_label, unseen)]
    nodes = [*classes.nodes, *unseen]
    order = sorted_places(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = [labels[k] for k in order]
    kind = classes.labels.dtype.kind
    if kind != "O" and len({type(label) for label in labels}) == 1:
        array = np.array(array.tolist())
    return replace(classes, labels=array, nodes=tuple(nodes[k] for k in order))


def number_labels(y: Any, classes: NDArray[Any]) -> LabelSets:
    """The labels of each row by the number of their class; higher numbers are those of other labels."""
    rows = read_rows(y)
    columns = classes.tolist() if rows.form == "indicator" and rows.columns is None else rows.columns
    return read_labels(rows.values, Vocabulary(classes), "y", columns)


def _number(rows: Rows) -> tuple[list[Label], LabelSets]:
    """The distinct labels, sorted, and each row's by number; every column of indicators is a class."""
    if rows.form == "indicator":
        vocabulary = Vocabulary(range(rows.values.shape[1]) if rows.columns is None else rows.columns)
        return vocabulary.labels, read_labels(rows.values, vocabulary, "y", rows.columns)
    vocabulary = Vocabulary()
    sets = read_labels(rows.values, vocabulary, "y")
    labels = vocabulary.labels
    if not labels:
        raise LabelError("y holds no label at all, so there is nothing to learn")
    order = sorted_places(labels)
    rank = np.empty(len(labels), np.int64)
    rank[order] = np.arange(len(labels))
    numbers = rank[sets.numbers]
    if rows.form == "sets":
        sets = LabelSets.without_repetitions(numbers, sets.starts)
    else:
        sets = LabelSets(numbers, sets.starts, single=True)
    return [labels[k] for k in order], sets


def sorted_places(labels: Sequence[Any]) -> list[int]:
    """The order that sorts labels, of whatever types."""
    try:
        return sorted(range(len(labels)), key=lambda k: labels[k])
    except TypeError:  # of several types: by type, then as they read
        return sorted(range(len(labels)), key=lambda k: (type(labels[k]).__name__, repr(labels[k])))


def as_array(labels: list[Label], dtype: np.dtype[Any] | None) -> NDArray[Any]:
    """Labels as an array that gives each back as it was: of y's type, or of their own if they share one."""
    if dtype is not None and dtype.kind in "biufUSmM":
        return np.array(labels, dtype=dtype)
    kinds = {type(label) for label in labels}
    if dtype is None and len(kinds) == 1 and kinds <= {int, float, bool}:
        array = np.array(labels)
        if array.dtype.kind in "biuf" and array.tolist() == labels:  # very large integers have no such type
            return array
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def _paths(labels: Sequence[Label], sets: LabelSets, rows: Rows) -> list[tuple[Label, ...]] | None:
    """The levels of every label; None where no label has any."""
    if rows.paths:
        return [rows.paths[label] for label in labels]
    if not any(isinstance(label, str) and SEPARATOR in label for label in labels):
        return None
    return [
        tuple(split(label, SEPARATOR, lambda k: _where(k, sets, rows), k))
        if isinstance(label, str)
        else (label,)
        for k, label in enumerate(labels)
    ]


def find_nodes(
    taxonomy: Taxonomy, places: Sequence[Label], sets: LabelSets, rows: Rows, first: int = 0
) -> list[Label]:
    """The taxonomy's node of each label; a label that has none is an error that tells where it stands.

    The labels have the numbers from `first` on.
    """
    nodes = []
    for k, place in enumerate(places, first):
        try:
            nodes.append(taxonomy.name(taxonomy.index(place)))
        except KeyError as error:
            label = SEPARATOR.join(map(str, place)) if rows.paths and isinstance(place, tuple) else place
            raise LabelError(
                f"{_where(k, sets, rows)}: the label {label!r} is not in the taxonomy: "
                f"{_hint(taxonomy, place, rows) or error}"
            ) from error
    return nodes


def _hint(taxonomy: Taxonomy, place: Label, rows: Rows) -> str | None:
    """What may have been meant, where the taxonomy's own answer, names that are spelt alike, cannot help."""
    if rows.form == "indicator" and rows.columns is None:
        return "the columns have no names; give y as a data frame whose columns are named by the classes"
    if isinstance(place, tuple):
        for end in range(len(place) - 1, 0, -1):
            if place[:end] in taxonomy:
                below = [taxonomy.label(child) for child in taxonomy.children(place[:end])]
                known = f"there is {listing(below)}" if below else "it is a class"
                return f"below {SEPARATOR.join(map(str, place[:end]))!r} there is no {place[end]!r}; {known}"
        return None
    for other in (str(place), _as_int(place)):
        if type(other) is not type(place) and other is not None and other in taxonomy:
            return f"it has {other!r} ({type(other).__name__}), not {place!r} ({type(place).__name__})"
    if isinstance(place, int) and not any(isinstance(label, int) for label in taxonomy.nodes):
        return (
            "none of its nodes is a number. Tools of scikit-learn that combine estimators, or collect their "
            "scores, put numbers in the place of labels"
        )
    return None


def _as_int(label: Label) -> int | None:
    return int(label) if isinstance(label, str | float) and str(label).strip().isdecimal() else None


def _where(k: int, sets: LabelSets, rows: Rows) -> str:
    if rows.form == "indicator":
        return f"y, column {k}"
    entries = np.flatnonzero(sets.numbers == k)
    return f"y, row {sets.rows[entries[0]]}" if len(entries) else "classes"


def refuse_twins(labels: Sequence[Label], nodes: Sequence[Label]) -> None:
    """Two labels for one node, as its name and its path, would be two classes that no score tells apart."""
    seen: Mapping[Label, Label] = dict(zip(nodes, labels, strict=True))
    for label, node in zip(labels, nodes, strict=True):
        if seen[node] != label:
            raise LabelError(
                f"the labels {label!r} and {seen[node]!r} are one node of the taxonomy, {node!r}"
            )
