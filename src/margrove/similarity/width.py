"""How far apart the classes are: the width of a Gaussian that nobody has chosen (K.4)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from margrove.errors import DataError, LabelError
from margrove.similarity.bound import FloatArray, Numbers

PAIRS = 1 << 16  # up to this many distances are all taken, else as many are drawn
ENTRIES = 1 << 20  # numbers held at a time


def read_vectors(X: Any) -> Any:
    """Dense or sparse rows of finite numbers, in double precision."""
    from scipy.sparse import csr_array

    try:
        rows: Any = csr_array(X, dtype=np.float64) if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"X must be rows of numbers: {error}") from error
    if rows.ndim != 2:
        raise DataError(f"X has {rows.ndim} axes; expected rows of numbers, n x features")
    is_dense = isinstance(rows, np.ndarray)
    wrong = np.flatnonzero(~np.isfinite(rows.ravel() if is_dense else rows.data))
    if len(wrong):
        row = wrong[0] // rows.shape[1] if is_dense else np.searchsorted(rows.indptr, wrong[0], "right") - 1
        raise DataError(f"X, row {row}: it holds a number that is not finite")
    return rows


def squares(rows: Any) -> FloatArray:
    """|x|^2 of each row."""
    if isinstance(rows, np.ndarray):
        dense: FloatArray = np.einsum("ij,ij->i", rows, rows)
        return dense
    sparse: FloatArray = rows.multiply(rows).sum(axis=1)
    return sparse


def median_distance(X: Any, y: Any) -> float:
    """The median of |x - x'| over all pairs of inputs with different labels (K.4).

    `y` holds a label, or a collection of labels, for each row, or is an indicator matrix. Where there are
    many pairs, the same ones are drawn every time.
    """
    rows, group = read_vectors(X), _groups(y)
    if rows.shape[0] != len(group):
        raise LabelError(f"X has {rows.shape[0]} rows but y has {len(group)}")
    a, b = _pairs(group)
    if not len(a):
        raise DataError("there are no two classes to take a median distance between; give a width")
    step = max(1, ENTRIES // max(rows.shape[1], 1))
    parts = [squares(rows[a[k : k + step]] - rows[b[k : k + step]]) for k in range(0, len(a), step)]
    distance = float(np.median(np.sqrt(np.concatenate(parts))))
    if not (np.isfinite(distance) and distance > 0):
        raise DataError(f"the median distance between classes is {distance}; give a width")
    return distance


def _groups(y: Any) -> Numbers:
    """A number for each row, the same where the labels are."""
    from scipy.sparse import csr_array, issparse

    if issparse(y) or getattr(y, "ndim", 1) == 2:
        right = csr_array(y)
        right.eliminate_zeros()
        right.sort_indices()
        keys: list[Any] = [tuple(part.tolist()) for part in np.split(right.indices, right.indptr[1:-1])]
    else:
        keys = [
            frozenset(label)
            if isinstance(label, Collection) and not isinstance(label, str | bytes | tuple)
            else label
            for label in y
        ]
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def _pairs(group: Numbers, limit: int = PAIRS, seed: int = 0) -> tuple[Numbers, Numbers]:
    """All pairs of rows in different groups, or if those are more than `limit`, as many drawn evenly."""
    n = len(group)
    size = np.bincount(group)
    order = np.argsort(group, kind="stable")
    end = np.cumsum(size)
    if (n * n - int((size**2).sum())) // 2 <= limit:
        later = end[group[order]]  # where the rows of the next groups begin
        first = np.repeat(np.arange(n), n - later)
        place = np.arange(len(first)) - np.repeat(np.cumsum(n - later) - n, n - later)
        return order[first], order[place]
    rng = np.random.default_rng(seed)
    others = n - size[group]
    a = rng.choice(n, limit, p=others / others.sum())
    place = rng.integers(others[a])  # among the rows of the other groups, in order
    return a, order[place + np.where(place >= (end - size)[group[a]], size[group[a]], 0)]
