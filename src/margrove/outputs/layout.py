"""Class attributes rearranged for the engine: what an output has alone beside what its group shares."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from margrove.outputs.tables import Attributes


class Layout(NamedTuple):
    """Attributes for the engine, and `columns[v]`: the engine's column for column v of Lambda."""

    attributes: Attributes
    columns: NDArray[np.int64]
    n_columns: int


def typed(layout: Layout, dtype: Any) -> Layout:
    """The same with floating arrays of one type."""
    a = layout.attributes
    own, val, base = (part.astype(dtype) for part in (a.own, a.val, a.base))
    return layout._replace(attributes=a._replace(own=own, val=val, base=base))


def weighted(layout: Layout, factor: NDArray[np.float64]) -> Layout:
    """The same with the engine's columns of Lambda times these factors."""
    a = layout.attributes
    own, val = a.own * factor[: len(a.own)], a.val * factor[a.idx]
    return layout._replace(attributes=a._replace(own=own, val=val))


def arrange(Lambda: Any, dtype: Any) -> Layout:
    """Give each output one column of its own where it has one, and group outputs that share all the rest.

    Columns 0 .. q - 1 are the outputs' own (a zero weight where an output has none), the shared ones follow.
    In a tree a class's own column is its own node, and siblings are a group.
    """
    q, m = Lambda.shape
    row = np.repeat(np.arange(q), np.diff(Lambda.indptr))
    users = np.bincount(Lambda.indices, minlength=m)
    alone = np.flatnonzero(users[Lambda.indices] == 1)
    owner, first = np.unique(row[alone], return_index=True)
    entry = alone[first]
    own = np.zeros(q, dtype)
    own[owner] = Lambda.data[entry]

    columns = np.full(m, -1, np.int64)
    columns[Lambda.indices[entry]] = owner
    shared = np.flatnonzero(columns < 0)
    columns[shared] = q + np.arange(len(shared))

    rest = np.ones(len(row), bool)
    rest[entry] = False
    ptr = np.concatenate([[0], np.cumsum(np.bincount(row[rest], minlength=q))])
    idx = columns[Lambda.indices[rest]].astype(np.int32)
    val = Lambda.data[rest].astype(dtype)
    groups: dict[tuple[bytes, bytes], int] = {}
    group = np.empty(q, np.int32)
    leaders: list[int] = []
    for r in range(q):
        mine = slice(ptr[r], ptr[r + 1])
        group[r] = groups.setdefault((idx[mine].tobytes(), val[mine].tobytes()), len(groups))
        if group[r] == len(leaders):
            leaders.append(r)
    entries = [np.arange(ptr[r], ptr[r + 1]) for r in leaders]
    chosen = np.concatenate([*entries, np.empty(0, np.int64)]).astype(np.int64)
    group_ptr = np.cumsum([0, *map(len, entries)]).astype(np.int64)
    base = np.zeros(q + len(shared), dtype)
    attributes = Attributes(own, group, group_ptr, idx[chosen], val[chosen], base)
    return Layout(attributes, columns, q + len(shared))


def in_columns(Lambda: Any, nodes: Any, layout: Layout) -> tuple[Any, NDArray[np.int64] | None]:
    """Lambda with the engine's columns, and the taxonomy's node of each (-1 for none)."""
    shape = (Lambda.shape[0], layout.n_columns)
    arranged = csr_array((Lambda.data, layout.columns[Lambda.indices], Lambda.indptr), shape=shape)
    arranged.sort_indices()
    if nodes is None:
        return arranged, None
    column_nodes = np.full(layout.n_columns, -1, np.int64)
    column_nodes[layout.columns] = nodes
    return arranged, column_nodes


def arranged(Lambda: Any) -> tuple[Any, Layout]:
    """Lambda with the engine's columns, and its layout."""
    layout = arrange(Lambda, np.float64)
    return in_columns(Lambda, None, layout)[0], layout
