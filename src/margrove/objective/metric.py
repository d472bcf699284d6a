"""Metrics of nodes: the penalty tr(W' M W) / 2, which couples the weights of nodes (R.4, O.2 to O.7).

With Lambda Lambda' = M^-1, weights W = Lambda V of outputs have the penalty |V|^2 / 2: so a metric is a
choice of attributes, and the contrast problem needs to know no more of it. Nodes are numbered as in a
descent, a parent before its children; then Lambda is zero but at pairs of a node and an ancestor where M is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

Array = NDArray[Any]
Whole = NDArray[np.int64]


def blocks(M: Array) -> list[Whole]:
    """The sets of nodes that M couples, directly or by way of others; in a tree those below each top node."""
    count, label = connected_components(sp.csr_array(M), directed=False)
    order = np.argsort(label, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if count else []


def factor(M: Array) -> sp.csr_array:
    """Lambda, lower triangular, with Lambda Lambda' = M^-1 (O.7)."""
    rows, columns, values = [], [], []
    for block in blocks(M):
        backwards = block[::-1]  # the last node first: then only pairs that M couples enter
        L = la.cholesky(M[np.ix_(backwards, backwards)], lower=True)
        inverse = la.solve_triangular(L, np.eye(len(L)), lower=True).T
        row, column = np.nonzero(inverse)
        rows.append(backwards[row])
        columns.append(backwards[column])
        values.append(inverse[row, column])
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    Lambda = sp.csr_array(entries, shape=M.shape)
    Lambda.sort_indices()
    return Lambda


def transfer(parent: Whole, strength: float = 1.0) -> Array:
    """TRANSFER's metric: nodes near their parents (R.4)."""
    M = np.eye(len(parent))
    for child in np.flatnonzero(parent >= 0):
        pair = [parent[child], child]
        M[np.ix_(pair, pair)] += strength * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return M


def descendants(above: Any) -> Array:
    """The matrix of Zhou's (6) with alpha = 1; `above` has ones at all nodes on the path to each (O.2)."""
    path = above.toarray()
    K: Array = ((path + path.T) > 0).astype(np.float64)
    np.fill_diagonal(K, path.sum(axis=0))
    return K


def with_alpha(K: Array, alpha: float) -> Array:
    """K with its pairs of different nodes times alpha."""
    scaled: Array = alpha * K
    np.fill_diagonal(scaled, K.diagonal())
    return scaled


def comparison(K: Array) -> Array:
    """The comparison matrix of a K that is nowhere negative: its pairs with a minus (O.3)."""
    return with_alpha(K, -1.0)


def convexity(K: Array) -> float:
    """The convexity parameter of Omega, the smallest eigenvalue of the comparison matrix (O.3)."""
    return min(float(la.eigvalsh(comparison(K[np.ix_(b, b)]))[0]) for b in blocks(K))


def alpha_bound(K: Array) -> float:
    """The alpha from which on `with_alpha` is not convex; infinite where no pair is coupled (O.4)."""
    scale = 1 / np.sqrt(K.diagonal())
    pairs = K * scale * scale[:, None]
    np.fill_diagonal(pairs, 0.0)
    largest = max((float(la.eigvalsh(pairs[np.ix_(b, b)])[-1]) for b in blocks(K)), default=0.0)
    return 1 / largest if largest > 0 else np.inf


def not_convex_at(K: Array) -> int | None:
    """The last node that with later ones makes the comparison matrix indefinite; None if it is definite.

    In a tree the later nodes that count are those below it.
    """
    _, info = la.lapack.dpotrf(comparison(K)[::-1, ::-1], lower=True)
    return None if info == 0 else len(K) - int(info)
