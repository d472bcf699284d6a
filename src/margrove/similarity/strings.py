"""Gap-weighted common subsequences of strings (K.8 to K.10), for many pairs at once, in plain NumPy.

`margrove.kernels.strings` has the fast twin of `subsequence_pairs`, with the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

CELLS = 1 << 15  # numbers of one kind held at a time; a few arrays of them fit a cache

Codes: TypeAlias = NDArray[np.int32]


class Strings(NamedTuple):
    """String k is codes[ptr[k]:ptr[k + 1]]."""

    codes: Codes
    ptr: NDArray[np.int64]


Engine: TypeAlias = Callable[[Strings, Strings, Codes, Codes, int, float], NDArray[np.float64]]
"""A function with the arguments of `subsequence_pairs`."""


def encode(strings: Sequence[str]) -> Strings:
    """The code points of strings, end to end."""
    text = "".join(strings).encode("utf-32-le", "surrogatepass")
    sizes = np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
    return Strings(np.frombuffer(text, dtype="<i4").astype(np.int32), np.concatenate([[0], np.cumsum(sizes)]))


def subsequence_pairs(
    left: Strings, right: Strings, a: Codes, b: Codes, length: int, decay: float
) -> NDArray[np.float64]:
    """The sum over common subsequences of left[a[k]] and right[b[k]], weighted by gaps alone, for each k."""
    rows, columns = np.diff(left.ptr)[a], np.diff(right.ptr)[b]
    out = np.zeros(len(a))
    order = np.lexsort((columns, rows))  # pairs of like sizes waste little in padding
    start = 0
    while start < len(a):
        lanes = max(1, CELLS // max(int(rows[order[start]]), 1))
        some = order[start : start + lanes]
        out[some] = _lanes(_padded(left, a[some], -1), _padded(right, b[some], -2), length, decay)
        start += lanes
    return out


def _padded(strings: Strings, chosen: Codes, fill: int) -> Codes:
    """Strings as columns of one length; `fill` is no character."""
    start, size = strings.ptr[chosen], np.diff(strings.ptr)[chosen]
    position = np.arange(size.max(initial=0))[:, None]
    inside = position < size
    grid = np.full(inside.shape, fill, np.int32)
    grid[inside] = strings.codes[(start + position)[inside]]
    return grid


def _lanes(s: Codes, t: Codes, length: int, decay: float) -> NDArray[np.float64]:
    """(K.10) for the strings in each column of s and t, along the diagonals i + j = d.

    A diagonal needs the two before it only: `sums[d % 2]` holds S of d - 2 until that of d takes its place,
    which is why levels go down. Index i + 1 stands for place i; S of level 0 is 1.
    """
    (n, lanes), m = s.shape, t.shape[0]
    backwards = np.ascontiguousarray(t[::-1])
    sums = np.zeros((2, length, n + 1, lanes))
    sums[:, 0] = 1.0
    runs = np.zeros((length, n, lanes))
    total = np.zeros(lanes)
    for d in range(n + m - 1):
        lo, hi = max(0, d - m + 1), min(n, d + 1)
        equal = (s[lo:hi] == backwards[m - 1 - d + lo : m - 1 - d + hi]).astype(np.float64)
        old, last = sums[d % 2], sums[(d + 1) % 2]
        total += np.einsum("ij,ij->j", equal, old[length - 1, lo:hi])
        for k in range(length - 1, 0, -1):
            run = runs[k, lo:hi]
            run *= decay
            run += equal * old[k - 1, lo:hi]
            new = old[k, lo + 1 : hi + 1]
            np.multiply(last[k, lo:hi], decay, out=new)
            new += run
    return total
