"""Descriptions of classes, texts or vectors, as attributes (maths.md, A.14; Cai 8.2)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from margrove.errors import DataError, LabelError
from margrove.taxonomy.binding import class_taxonomy, read_matrix, row_of
from margrove.taxonomy.build import IntArray, Name, SparseMatrix

if TYPE_CHECKING:
    from margrove.taxonomy.graph import Taxonomy

WORD = re.compile(r"\w+")


@dataclass(frozen=True, eq=False)
class Descriptions:
    """Beside the attributes of `beside`, the vectors of classes, which have `part` of the class kernel."""

    vectors: SparseMatrix = field(repr=False)
    """A row for each name, of length one, or zero."""
    names: tuple[Name, ...] = field(repr=False)
    part: float
    beside: Any

    def __post_init__(self) -> None:
        number = isinstance(self.part, int | float | np.number) and not isinstance(self.part, bool)
        if not (number and 0 < self.part <= 1):
            raise DataError(f"part is {self.part!r}; expected a number above 0 and up to 1")

    def bind(
        self, taxonomy: Taxonomy | None, classes: Sequence[Name]
    ) -> tuple[SparseMatrix, IntArray | None]:
        """Both kinds of columns, the described ones last; a class that has no description has zeros there."""
        from scipy.sparse import csr_array, hstack

        graph = class_taxonomy(taxonomy, classes)
        row = self._rows(graph)
        places = [(k, row[v]) for k, v in enumerate(graph.indices(classes).tolist()) if v in row]
        described, chosen = np.array(places, np.int64).reshape(-1, 2).T
        pick = csr_array((np.ones(len(places)), (described, chosen)), (len(classes), len(self.names)))
        found = csr_array(pick @ self.vectors)
        found = found[:, np.bincount(found.indices, minlength=found.shape[1]) > 0]
        Lambda, nodes = self.beside.bind(taxonomy, classes)
        parts = [Lambda * np.sqrt(1 - self.part), found * np.sqrt(self.part)]
        both = csr_array(hstack(parts, format="csr"))
        both.eliminate_zeros()
        both.sort_indices()
        if nodes is None:
            return both, None
        return both, np.concatenate([nodes, np.full(found.shape[1], -1)]).astype(np.int32)

    def _rows(self, graph: Taxonomy) -> dict[int, int]:
        """The row of each class that has one; those of inner nodes are of use where these are classes."""
        rows: dict[int, int] = {}
        for row, name in enumerate(self.names):
            try:
                node = graph.index(graph.as_class(name))
            except KeyError as error:
                raise LabelError(f"a description is of no class: {error}") from error
            if node in rows:
                raise LabelError(f"{self.names[rows[node]]!r} and {name!r} are one class, described twice")
            rows[node] = row
        return rows


def described(of: Any, names: Sequence[Name] | None, part: float, beside: Any) -> Descriptions:
    """From a mapping from classes to texts or to vectors, or a matrix with a row for each name."""
    if names is None:
        if not isinstance(of, Mapping):
            raise DataError(
                "descriptions are a mapping from classes to texts or vectors, or a matrix and names"
            )
        names, of = list(of), list(of.values())
    if len(names) and all(isinstance(text, str) for text in of):
        vectors = text_vectors(of)
    else:
        vectors = _matrix(of, len(names))
    return Descriptions(unit_rows(vectors), tuple(names), part, beside)


def _matrix(of: Any, n: int) -> SparseMatrix:
    try:
        return read_matrix(of, n, "descriptions", "names")
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError("descriptions have to be all texts, or all vectors of one length") from error


def text_vectors(texts: Sequence[str]) -> SparseMatrix:
    """Words by (1 + log count) log(texts / texts with the word).

    Words of one text alone are left out: as attributes they were that class's own, which it has already.
    """
    from scipy.sparse import csr_array

    counts = [Counter(WORD.findall(text.lower())) for text in texts]
    users = Counter(word for count in counts for word in count)
    column = {word: k for k, word in enumerate(word for word, n in users.items() if 1 < n < len(texts))}
    ptr, idx, val = [0], list[int](), list[float]()
    for count in counts:
        for word, times in count.items():
            if word in column:
                idx.append(column[word])
                val.append((1 + np.log(times)) * np.log(len(texts) / users[word]))
        ptr.append(len(idx))
    vectors = csr_array(
        (np.array(val), np.array(idx, np.int32), np.array(ptr, np.int32)), (len(texts), len(column))
    )
    vectors.sort_indices()
    return vectors


def unit_rows(vectors: SparseMatrix) -> SparseMatrix:
    """The rows at length one; zero ones stay."""
    from scipy.sparse import csr_array

    length = np.sqrt(np.bincount(row_of(vectors), weights=vectors.data**2, minlength=vectors.shape[0]))
    data = vectors.data / np.where(length > 0, length, 1.0)[row_of(vectors)]
    return csr_array((data, vectors.indices, vectors.indptr), vectors.shape)
