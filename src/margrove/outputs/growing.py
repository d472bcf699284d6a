"""Columns of weights that stay where they are while outputs and attributes are added.

The engine wants the columns that outputs have alone first, by output, and shared ones behind them (E.9).
Between the two there is room, and behind the shared ones too; when either is full a quarter is added, so that
moving everything is rare and its cost, per column, bounded.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from margrove.outputs.layout import Layout


class Columns(NamedTuple):
    """A layout with room to grow, and the column of each attribute, which a key names."""

    layout: Layout
    """`n_columns` counts the room; the engine's columns that are in use, len(attributes.base)."""
    keys: NDArray[np.int64]
    own: int
    """Columns kept for what outputs have alone; shared ones begin there."""

    @property
    def places(self) -> NDArray[np.int64]:
        """The column of each key."""
        return self.layout.columns

    @property
    def width(self) -> int:
        """All columns, used or not."""
        return self.layout.n_columns


def spread(layout: Layout, keys: NDArray[np.int64], before: Columns | None = None) -> Columns:
    """Give a layout room; attributes that are shared before and after keep their places among the shared."""
    q = len(layout.attributes.own)
    alone = layout.columns < q
    if before is None:
        own, width = q, 0
    else:
        own, width = (before.own if q <= before.own else _roomy(q)), before.width - before.own
    slots = _slots(keys[~alone], before)
    n_slots = int(slots.max(initial=-1)) + 1
    width = own + (width if n_slots <= width else (n_slots if before is None else _roomy(n_slots)))

    column = np.arange(layout.n_columns)  # of each of the tight layout's columns
    column[layout.columns[~alone]] = own + slots
    a = layout.attributes
    idx = column[a.idx]
    order = np.lexsort([idx, np.repeat(np.arange(len(a.ptr) - 1), np.diff(a.ptr))])
    base = np.zeros(own + n_slots, a.base.dtype)
    attributes = a._replace(idx=idx[order].astype(np.int32), val=a.val[order], base=base)
    return Columns(Layout(attributes, column[layout.columns], width), keys, own)


def moves(
    before: Columns, after: Columns, place: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """From which columns to which; key k of `before` is place[k] in `after`.

    An attribute that all outputs have since then is no column any more. Its weights are zero: it was in no
    contrast of the outputs before, which were one, or had it all.
    """
    column = dict(zip(after.keys.tolist(), after.places.tolist(), strict=True))
    now = np.array([column.get(key, -1) for key in place[before.keys].tolist()], np.int64)
    return before.places[now >= 0], now[now >= 0]


def _slots(keys: NDArray[np.int64], before: Columns | None) -> NDArray[np.int64]:
    """A number for each shared key: the one that it had, or the lowest free."""
    had: dict[int, int] = {}
    if before is not None:
        had = {
            key: place - before.own
            for key, place in zip(before.keys.tolist(), before.places.tolist(), strict=True)
            if place >= before.own
        }
    slots = np.array([had.get(key, -1) for key in keys.tolist()], np.int64)
    new = slots < 0
    free = np.setdiff1d(np.arange(len(keys)), slots[~new])
    slots[new] = free[: new.sum()]
    return slots


def _roomy(size: int) -> int:
    return size + size // 4 + 1


class GrowingMatrix:
    """A matrix to which columns and rows are added without copying it each time."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._store = np.ascontiguousarray(values)
        self.n_rows = len(values)

    @property
    def array(self) -> NDArray[Any]:
        """The rows in use, with all columns, to be read and written."""
        return self._store[: self.n_rows]

    def rearrange(self, old: NDArray[np.int64], new: NDArray[np.int64], width: int) -> None:
        """Bring column old[k] to new[k] for all k; all others are zero afterwards."""
        moved = old != new
        if width == self._store.shape[1]:
            part = self.array[:, old[moved]]
            self.array[:, old[moved]] = 0
            self.array[:, new[moved]] = part
            return
        store = np.zeros((len(self._store), width), self._store.dtype)
        for start in range(0, self.n_rows, 1024):
            rows = slice(start, min(start + 1024, self.n_rows))
            store[rows, new] = self._store[rows, old]
        self._store = store

    def append(self, rows: NDArray[Any]) -> None:
        """Add rows at the end."""
        n = self.n_rows + len(rows)
        if n > len(self._store):
            store = np.zeros((n + n // 4, self._store.shape[1]), self._store.dtype)
            store[: self.n_rows] = self.array
            self._store = store
        self._store[self.n_rows : n] = rows
        self.n_rows = n

    def scale(self, factor: float) -> None:
        """Multiply everything."""
        self._store *= self._store.dtype.type(factor)
