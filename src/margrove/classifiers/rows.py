"""Training rows in a canonical order, each distinct one once.

Equal rows with equal labels become one row with the sum of their weights, and the order depends on the rows
alone. So a weight of two is two equal rows, and neither their order nor rows of weight zero matter, to the
bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def as_csr(X: Any) -> sp.csr_array:
    """A copy as sparse rows in canonical form: sorted, no duplicates, no stored zeros."""
    rows = sp.csr_array(X, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def canonical_rows(
    X: sp.csr_array, Y: sp.csr_array, weight: NDArray[np.float64]
) -> tuple[sp.csr_array, sp.csr_array, NDArray[np.float64]]:
    """Return distinct rows with positive weight; rows of one class stand together, classes in order."""
    kept, weight = distinct_rows(X, Y, weight)
    return X[kept], Y[kept], weight


def distinct_rows(
    X: sp.csr_array, Y: sp.csr_array, weight: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Which rows stand for all, in the canonical order, and the weight that each then has."""
    keep = np.flatnonzero(weight > 0)
    X, Y, weight = X[keep], Y[keep], weight[keep]
    rng = np.random.default_rng(0)
    # a projection of a sparse row is computed entry by entry, so equal rows have equal keys to the bit
    keys = [X @ rng.standard_normal(X.shape[1]) for _ in range(2)]
    first = np.where(np.diff(Y.indptr) > 0, np.append(Y.indices, 0)[Y.indptr[:-1]], -1)
    keys += [Y @ rng.standard_normal(Y.shape[1]), first]
    order = np.lexsort([weight, *keys])
    X, Y, weight = X[order], Y[order], weight[order]
    before, after = np.arange(len(order) - 1), np.arange(1, len(order))
    alike = np.ones(len(after), bool)
    for key in keys:
        alike &= key[order[before]] == key[order[after]]
    twins = np.flatnonzero(alike)
    differs = (abs(X[twins] - X[twins + 1]).sum(axis=1) > 0) | (abs(Y[twins] - Y[twins + 1]).sum(axis=1) > 0)
    new = np.ones(len(order), bool)
    new[twins[~differs] + 1] = False
    starts = np.flatnonzero(new)
    return keep[order[starts]], np.add.reduceat(weight, starts)


def merge_private(X: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Make one input of all that an example has alone, and leave out what nobody has.

    The contributions of such inputs to any inner product of rows are those of their norm, and their weights
    are the norm's, times their share of it (E.11). Returns the rows, and the matrix that takes the weights
    of their inputs to those of the inputs of X.
    """
    n, d = X.shape
    row = np.repeat(np.arange(n), np.diff(X.indptr))
    users = np.bincount(X.indices, minlength=d)
    alone = users[X.indices] == 1
    private, owner = X.indices[alone], row[alone]
    norm = np.sqrt(np.bincount(owner, weights=X.data[alone].astype(np.float64) ** 2, minlength=n))
    kept, owners = np.flatnonzero(users > 1), np.flatnonzero(norm)
    merged = np.zeros(n, np.intp)
    merged[owners] = len(kept) + np.arange(len(owners))
    column = np.zeros(d, np.intp)
    column[kept] = np.arange(len(kept))
    column[private] = merged[owner]
    share = np.ones(d, X.dtype)
    share[private] = X.data[alone] / norm[owner]

    # both matrices are written as sorted rows: one entry for each feature, and an example's norm as its last
    size, met = max(len(kept) + len(owners), 1), users > 0  # one, if there is nothing but zeros
    expand = sp.csr_array((share[met], column[met], np.append(0, np.cumsum(met))), shape=(d, size))
    ends = np.cumsum(np.diff(X.indptr) - np.bincount(owner, minlength=n))
    indices = np.insert(column[X.indices[~alone]], ends[owners], merged[owners])
    values = np.insert(X.data[~alone], ends[owners], norm[owners])
    indptr = np.append(0, ends + np.cumsum(norm > 0))
    return sp.csr_array((values, indices, indptr), shape=(n, size)), expand
