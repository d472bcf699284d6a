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
    users = np.bincount(X.indices, minlength=d)
    kept = np.flatnonzero(users > 1)
    row = np.repeat(np.arange(n), np.diff(X.indptr))
    alone = users[X.indices] == 1
    norm = np.sqrt(np.bincount(row[alone], weights=X.data[alone].astype(np.float64) ** 2, minlength=n))
    owners = np.flatnonzero(norm)
    column = np.full(d, -1)
    column[kept] = np.arange(len(kept))
    merged = np.full(n, -1)
    merged[owners] = len(kept) + np.arange(len(owners))
    size = len(kept) + len(owners)

    features = np.concatenate([kept, X.indices[alone]])
    columns = np.concatenate([column[kept], merged[row[alone]]])
    shares = np.concatenate([np.ones(len(kept)), X.data[alone] / norm[row[alone]]])
    expand = sp.csr_array((shares.astype(X.dtype), (features, columns)), shape=(d, size))

    rows = np.concatenate([row[~alone], owners])
    columns = np.concatenate([column[X.indices[~alone]], merged[owners]])
    values = np.concatenate([X.data[~alone], norm[owners].astype(X.dtype)])
    return sp.csr_array((values, (rows, columns)), shape=(n, size)), expand


def expanded(expand: sp.csr_array, W: NDArray[Any]) -> NDArray[Any]:
    """expand @ W in W's type; where each row has one entry, as after `merge_private`, in one pass."""
    if (np.diff(expand.indptr) == 1).all():
        rows: NDArray[Any] = W[expand.indices]
        shared = np.flatnonzero(expand.data != 1)
        rows[shared] *= expand.data[shared, None].astype(W.dtype)
        return rows
    product: NDArray[Any] = expand.astype(W.dtype) @ W
    return product
