"""From the names of classes to the rows of their ancestors: what costs and attributes have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margrove.errors import DataError, LabelError
from margrove.taxonomy.build import Name, SparseMatrix, listing

if TYPE_CHECKING:
    from margrove.taxonomy.graph import Taxonomy


def class_taxonomy(taxonomy: Taxonomy | None, classes: Sequence[Name]) -> Taxonomy:
    """The taxonomy, or a star where there is none; the classes must be distinct terminal nodes."""
    if not len(classes):
        raise LabelError("there are no classes")
    if taxonomy is None:
        from margrove.taxonomy.graph import Taxonomy

        taxonomy = Taxonomy.flat(dict.fromkeys(classes))
    nodes = taxonomy.indices(classes)
    twice = [taxonomy.name(v) for v, times in Counter(nodes.tolist()).items() if times > 1]
    if twice:
        raise LabelError(f"classes given twice: {listing(twice)}")
    inner = nodes[taxonomy.child_ptr[nodes + 1] > taxonomy.child_ptr[nodes]].tolist()
    if inner:
        raise LabelError(
            f"inner nodes cannot be classes: {listing([taxonomy.name(v) for v in inner])}; "
            "give them miscellaneous leaves with Taxonomy.with_miscellaneous"
        )
    return taxonomy


def row_of(matrix: SparseMatrix) -> NDArray[np.int64]:
    """The row of every stored entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def read_matrix(matrix: Any, n_rows: int, what: str, whose: str) -> SparseMatrix:
    """A user's matrix of finite numbers in canonical form; `whose` rows it should have is for messages."""
    from scipy.sparse import csr_array, issparse

    values: Any = matrix if issparse(matrix) else np.asarray(matrix, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != n_rows:
        raise DataError(f"{what} have the shape {values.shape}; expected a row for each of {n_rows} {whose}")
    read: SparseMatrix = csr_array(values, dtype=np.float64, copy=True)
    read.sum_duplicates()
    read.eliminate_zeros()
    wrong = np.flatnonzero(~np.isfinite(read.data))
    if len(wrong):
        row, column = row_of(read)[wrong[0]], read.indices[wrong[0]]
        raise DataError(f"{what}[{row}, {column}] is {read.data[wrong[0]]}; it must be finite")
    read.indices, read.indptr = read.indices.astype(np.int32), read.indptr.astype(np.int32)
    return read


def keep_columns(
    matrix: SparseMatrix, keep: NDArray[np.bool_], data: NDArray[np.float64] | None = None
) -> SparseMatrix:
    """The matrix without the other columns, with new values if `data` is given; stored zeros stay stored."""
    from scipy.sparse import csr_array

    entry = keep[matrix.indices]
    rank = np.cumsum(keep) - 1
    ptr = np.concatenate([[0], np.cumsum(entry)])[matrix.indptr].astype(np.int32)
    values = (matrix.data if data is None else data)[entry]
    shape = (matrix.shape[0], int(keep.sum()))
    kept = csr_array((values, rank[matrix.indices[entry]].astype(np.int32), ptr), shape=shape)
    kept.has_sorted_indices = True
    return kept
