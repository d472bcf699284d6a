"""The best closed set of a graph, as a minimum cut (U.6; Picard 1976)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

RANGE = 1 << 30  # of whole capacities; their sum has to fit 32 bits


def largest_closed_set(edges: sp.csr_array, scores: NDArray[Any]) -> NDArray[np.bool_]:
    """The set of largest sum that holds all parents of its members; the smallest of such.

    `edges` has ones at the parents of each node. Flows are whole numbers, so this is exact for scores rounded
    to 2^-30 of the sum of their positive ones.
    """
    n = len(scores)
    gain = np.where(scores > 0, scores, 0).astype(np.float64)
    total = gain.sum()
    if total == 0:
        return np.zeros(n, bool)
    unit = total / RANGE
    gain = np.floor(gain / unit)
    price = np.minimum(np.ceil(np.where(scores < 0, -scores, 0) / unit), RANGE)
    source, sink = n, n + 1
    child = np.repeat(np.arange(n), np.diff(edges.indptr))
    givers, takers = np.flatnonzero(gain), np.flatnonzero(price)
    tail = np.concatenate([child, np.full(len(givers), source), takers])
    head = np.concatenate([edges.indices, givers, np.full(len(takers), sink)])
    room = np.concatenate([np.full(len(child), RANGE + n), gain[givers], price[takers]]).astype(np.int32)
    graph = sp.csr_array((room, (tail, head)), shape=(n + 2, n + 2))
    residual = sp.csr_array(graph - maximum_flow(graph, source, sink).flow)
    residual.eliminate_zeros()
    reached = breadth_first_order(residual, source, return_predecessors=False)
    chosen = np.zeros(n + 2, bool)
    chosen[reached] = True
    return chosen[:n]
