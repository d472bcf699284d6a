"""The ranking output (Cai, chapter 4): every right class should score above every wrong one.

Targets are sets of classes; the contrasts of an example are all pairs of a right and a wrong class. Scores
are decoded by sorting, and for label sets by a threshold on the ranking.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from margrove.outputs.tables import HINGE, LOGISTIC, SQUARED_HINGE, Costs, Inputs, Targets

LOSS_CODES = {"hinge": HINGE, "squared-hinge": SQUARED_HINGE, "logistic": LOGISTIC}


def inputs_of(X: Any, dtype: Any, alone: bool = True) -> tuple[Inputs, NDArray[np.intp]]:
    """A canonical CSR matrix as the engine's rows, and the inputs kept: those of several examples.

    Without `alone` all are kept, as they have to be where weights are more than the examples' sums.
    """
    users = np.bincount(X.indices, minlength=X.shape[1])
    kept = np.flatnonzero(users > 1) if alone else np.arange(X.shape[1])
    number = np.full(X.shape[1], -1, np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    idx = number[X.indices]
    shared = idx >= 0
    n, row = X.shape[0], np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    squares = X.data.astype(dtype).astype(np.float64) ** 2
    sqnorm = np.bincount(row, weights=squares, minlength=n)
    private = np.bincount(row[~shared], weights=squares[~shared], minlength=n)
    ptr = np.concatenate([[0], np.cumsum(shared)])[X.indptr].astype(np.int64)
    rows = Inputs(
        ptr,
        idx[shared],
        X.data[shared].astype(dtype),
        sqnorm.astype(dtype),
        private.astype(dtype),
        gram=np.zeros((0, 0), dtype),
        at=np.zeros(n, np.int32),
    )
    return rows, kept


def similar_inputs_of(diagonal: NDArray[Any], dtype: Any) -> Inputs:
    """Examples known by their inner products: row i is the i-th of the scores (E.12)."""
    n = len(diagonal)
    one, zero = np.ones(n, dtype), np.zeros(n, dtype)
    places, ptr = np.arange(n, dtype=np.int32), np.arange(n + 1, dtype=np.int64)
    nothing = np.zeros((1, n), dtype)  # its rows are put there before they are used
    return Inputs(ptr, places, one, diagonal.astype(dtype), zero, nothing, np.zeros(n, np.int32))


def targets_of(
    Y: Any, bound: NDArray[np.float64], dtype: Any, ranges: Any = None, loss: str = "hinge"
) -> Targets:
    """An indicator matrix (n x q, CSR) of right outputs, what each example's slack costs, and the rivals."""
    q = Y.shape[1]
    first, last = (np.zeros(q), np.full(q, q)) if ranges is None else ranges
    return Targets(
        Y.indptr.astype(np.int64),
        Y.indices.astype(np.int32),
        bound.astype(dtype),
        np.asarray(first).astype(np.int32),
        np.asarray(last).astype(np.int32),
        LOSS_CODES[loss],
    )


def costs_of(cost: Any, dtype: Any) -> Costs:
    """A bound cost (C.2) as the engine's tables."""
    left, right = cost.left, cost.right
    return Costs(
        cost.own.astype(dtype),
        cost.other.astype(dtype),
        left.indptr.astype(np.int64),
        left.indices.astype(np.int32),
        left.data.astype(dtype),
        right.indptr.astype(np.int64),
        right.indices.astype(np.int32),
        right.data.astype(dtype),
    )


def top(scores: NDArray[Any], k: int) -> NDArray[np.int64]:
    """The k best outputs of each row, best first; of equal scores, the first output wins."""
    k = min(k, scores.shape[1])
    if k == 1:
        first: NDArray[np.int64] = scores.argmax(axis=1)[:, None]
        return first
    if k < scores.shape[1] // 4:
        # among a few more than k, so that ties at the cut are settled by position
        cut = np.partition(scores, -k, axis=1)[:, -k, None]
        best = np.empty((len(scores), k), np.int64)
        for i, row in enumerate(scores >= cut):
            candidates = np.flatnonzero(row)
            best[i] = candidates[np.argsort(-scores[i, candidates], kind="stable")[:k]]
        return best
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]
