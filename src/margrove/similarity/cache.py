"""Rows of a Gram matrix that have been computed before."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from margrove.errors import DataError
from margrove.similarity.bound import BoundSimilarity, Numbers


class RowCache:
    """The rows asked for last, as many as `megabytes` hold; the whole matrix if that is as large.

    `hits` and `misses` count rows found and rows computed, a row once in each request.
    """

    def __init__(self, bound: BoundSimilarity, megabytes: float, dtype: DTypeLike = np.float64) -> None:
        if not megabytes >= 0:
            raise DataError(f"megabytes is {megabytes!r}; expected a number, zero or more")
        self.bound = bound
        self.dtype = np.dtype(dtype)
        fitting = megabytes * 2**20 / (max(bound.n, 1) * self.dtype.itemsize)
        self.capacity = int(min(fitting, bound.n))
        self.hits = self.misses = 0
        self._store = np.empty((self.capacity, bound.n), self.dtype)
        self._slot: OrderedDict[int, int] = OrderedDict()  # of each row kept; least recently used first

    @property
    def is_whole(self) -> bool:
        """Whether all rows fit."""
        return self.capacity == self.bound.n

    def __len__(self) -> int:
        return len(self._slot)

    def rows(self, indices: ArrayLike) -> NDArray[Any]:
        """A copy of some rows of the Gram matrix (len(indices) x n), missing ones computed in one block."""
        wanted, place = np.unique(np.asarray(indices, dtype=np.int64), return_inverse=True)
        missing = np.array([i for i in wanted.tolist() if i not in self._slot], dtype=np.int64)
        self.hits += len(wanted) - len(missing)
        self.misses += len(missing)
        fresh = self.bound.rows(missing, self.dtype) if len(missing) else None
        if fresh is not None and len(wanted) > self.capacity:
            found = np.empty((len(wanted), self.bound.n), self.dtype)
            new = np.isin(wanted, missing)
            found[new] = fresh
            found[~new] = self._store[self._used(wanted[~new])]
            return found[place]
        if fresh is not None:
            self._used(wanted[~np.isin(wanted, missing)])  # so that none of them makes room
            self._store[self._room(missing)] = fresh
        return self._store[self._used(wanted)[place]]

    def matrix(self) -> NDArray[Any]:
        """The whole Gram matrix, for reading, if it fits."""
        if not self.is_whole:
            raise DataError(f"{self.bound.n} rows do not fit a cache of {self.capacity}")
        missing = np.array([i for i in range(self.bound.n) if i not in self._slot], dtype=np.int64)
        if len(missing):
            self.misses += len(missing)
            self._store[self._room(missing)] = self.bound.rows(missing, self.dtype)
        whole = self._store.view()
        whole.setflags(write=False)
        return whole

    def _used(self, indices: Numbers) -> Numbers:
        """Slots of rows that are kept, which now are the last used."""
        slots = np.empty(len(indices), np.int64)
        for k, i in enumerate(indices.tolist()):
            slots[k] = self._slot[i]
            self._slot.move_to_end(i)
        return slots

    def _room(self, indices: Numbers) -> Numbers:
        """Slots for new rows: in a whole matrix the row's own, else a free one, else that idle longest."""
        slots = np.empty(len(indices), np.int64)
        for k, i in enumerate(indices.tolist()):
            if self.is_whole:
                slots[k] = i
            elif len(self._slot) < self.capacity:
                slots[k] = len(self._slot)
            else:
                _, slots[k] = self._slot.popitem(last=False)
            self._slot[i] = slots[k]
        return slots
