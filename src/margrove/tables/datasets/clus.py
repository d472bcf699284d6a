"""The hierarchical ARFF format of Clus: attributes, a `hierarchical` class attribute, and rows of cells.

@ATTRIBUTE size numeric                                    % or nominal: {small, 'very large'}
@ATTRIBUTE class hierarchical a,a/b,a/c,d                  % paths: a tree
@ATTRIBUTE class hierarchical root/a,root/d,a/x,d/x        % parent/child pairs: a graph
@DATA
0.5,a/b@d                                                  % labels between @; ? is missing
{0 0.5, 1 a/b@d}                                           % the same, sparse
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.errors import DataError, LabelError
from margrove.tables.datasets.arff import Attribute, Row, read_arff
from margrove.taxonomy import Taxonomy
from margrove.taxonomy.build import Name, Where, from_pairs, listing

_ROOT = "root"  # what Clus calls the root in graphs
Entry = tuple[int, float]


@dataclass(frozen=True)
class ClusDataset:
    """Rows of numbers with any number of labels each, and the taxonomy of the labels."""

    X: NDArray[np.float64] | sp.csr_array = field(repr=False)
    """NaN where a value is missing; sparse if the rows of the file are."""
    y: list[list[str]] = field(repr=False)
    taxonomy: Taxonomy
    """In a tree a node is called by its path, as in the file."""
    feature_names: list[str] = field(repr=False)
    """A column for each numeric attribute, and one for each value of a nominal one, "colour=red"."""


def load_clus_arff(
    path: str | Path, *, hierarchy: Literal["tree", "graph"] | None = None, most_specific: bool = False
) -> ClusDataset:
    """Read a file of Clus (as the benchmarks of hierarchical multilabel classification are published).

    A nominal attribute becomes a one-hot column for each of its values, all NaN where it is missing.

    The taxonomy is a graph if all its entries are pairs and some stand under "root", as Clus has it, else a
    tree; `hierarchy` decides where this is wrong. Nodes that a tree's paths only pass through, and the root,
    are made.

    Labels are as in the file, where many rows also name what is above their labels, as "2@2/1". In Clus that
    says no more than "2/1"; elsewhere here "2" is a label of its own, "2 but none of the classes below".
    `most_specific=True` leaves out labels above others of the row.
    """
    if hierarchy not in (None, "tree", "graph"):
        raise ValueError(f"hierarchy is {hierarchy!r}; expected 'tree', 'graph' or None")
    path = Path(path)
    file = read_arff(path)
    classes = [k for k, attribute in enumerate(file.attributes) if attribute.kind == "hierarchical"]
    if len(classes) != 1:
        raise DataError(f"{path.name} has {len(classes)} hierarchical attributes; expected one")
    (of_labels,) = classes
    taxonomy = _taxonomy(file.attributes[of_labels], hierarchy)
    known = set(taxonomy.nodes)
    starts, names = _columns(file.attributes)
    columns: list[int] = []
    values: list[float] = []
    ends = [0]
    labels: list[list[str]] = []
    for row in file.rows:
        labels.append(_labels(row, of_labels, known))
        for k, cell in row.cells.items():
            if k != of_labels:
                for column, value in _encoded(file.attributes[k], starts[k], cell, row):
                    columns.append(column)
                    values.append(value)
        ends.append(len(columns))
    X = sp.csr_array((np.asarray(values, np.float64), columns, ends), shape=(len(labels), len(names)))
    if most_specific:
        labels = [_most_specific(row_labels, taxonomy) for row_labels in labels]
    return ClusDataset(X if file.sparse else X.toarray(), labels, taxonomy, names)


def _taxonomy(attribute: Attribute, hierarchy: str | None) -> Taxonomy:
    """From paths, or from parent/child pairs; all errors name the line."""
    entries = list(dict.fromkeys(attribute.values))

    def place(k: int) -> str:
        return f"line {attribute.line}, entry {k + 1}"

    paths = [[part.strip() for part in entry.split("/")] for entry in entries]
    for k, parts in enumerate(paths):
        if not all(parts):
            raise DataError(f"{place(k)}, {entries[k]!r}, has an empty name")
    pairs_only = all(len(parts) == 2 for parts in paths)
    if hierarchy is None:
        hierarchy = "graph" if pairs_only and any(parts[0] == _ROOT for parts in paths) else "tree"
    if hierarchy == "graph":
        return _graph(paths, place)
    root = _ROOT if all(parts[0] != _ROOT for parts in paths) else f"({_ROOT})"
    edges: dict[tuple[str, str], None] = {}
    for parts in paths:
        above = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
        edges |= dict.fromkeys(pairwise([root, *above]))
    made = from_pairs(edges, root)
    return Taxonomy(made, f"Clus tree; {len(made.names)} nodes")


def _graph(pairs: list[list[str]], place: Where) -> Taxonomy:
    for k, parts in enumerate(pairs):
        if len(parts) != 2:
            raise DataError(f"{place(k)}, {'/'.join(parts)!r}, is no pair parent/child")
    tops = {parent for parent, _ in pairs} - {child for _, child in pairs}
    made = from_pairs(pairs, None if len(tops) == 1 else _ROOT, place)
    return Taxonomy(made, f"Clus graph; {len(made.names)} nodes")


def _columns(attributes: list[Attribute]) -> tuple[list[int], list[str]]:
    """Where each attribute's columns begin, and the names of all."""
    starts: list[int] = []
    names: list[str] = []
    for attribute in attributes:
        starts.append(len(names))
        if attribute.kind == "numeric":
            names.append(attribute.name)
        elif attribute.kind == "nominal":
            names += [f"{attribute.name}={value}" for value in attribute.values]
    return starts, names


def _encoded(attribute: Attribute, start: int, cell: str, row: Row) -> list[Entry]:
    """The nonzero columns of a cell."""
    if attribute.kind == "numeric":
        if cell == "?":
            return [(start, np.nan)]
        try:
            number = float(cell)
        except ValueError:
            number = np.nan
        if not np.isfinite(number):
            raise DataError(f"line {row.line}: {attribute.name!r} is {cell!r}; expected a number or ?")
        return [(start, number)] if number else []
    if cell == "?":
        return [(start + j, np.nan) for j in range(len(attribute.values))]
    if cell not in attribute.places:
        raise DataError(
            f"line {row.line}: {attribute.name!r} is {cell!r}; expected one of {listing(attribute.values)}"
        )
    return [(start + attribute.places[cell], 1.0)]


def _labels(row: Row, of_labels: int, known: set[Name]) -> list[str]:
    cell = row.cells.get(of_labels, "?")
    if cell in ("?", ""):
        return []
    labels = list(dict.fromkeys(label.strip() for label in cell.split("@")))
    for label in labels:
        if label not in known:
            raise LabelError(f"line {row.line}: the label {label!r} is not in the hierarchy of the header")
    return labels


def _most_specific(labels: list[str], taxonomy: Taxonomy) -> list[str]:
    above = {node for label in labels for node in taxonomy.ancestors(label)[:-1]}
    return [label for label in labels if label not in above]
