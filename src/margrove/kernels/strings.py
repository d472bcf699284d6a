"""Common subsequences of two strings, weighted by their gaps.

    M_1(i, j) = [s_i = t_j],   M_{k+1}(i, j) = [s_i = t_j] S_k(i - 1, j - 1)                         (K.8)
    R_k(i, j) = M_k(i, j) + decay R_k(i, j - 1),   S_k(i, j) = R_k(i, j) + decay S_k(i - 1, j)       (K.9)
    the sum of M_length over all i and j                                                            (K.10)

After Lodhi et al. (2002). Nothing on a diagonal i + j = d depends on the rest of it, so that the inner loops,
along diagonals, become vector instructions; and nothing is subtracted, so that small sums are as precise as
large ones. Gaps alone are weighted, not the characters in between: no factor decay^(2 length) to underflow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from margrove.kernels.jit import allocates, kernel
from margrove.outputs.tables import Floats, Indices
from margrove.similarity.strings import Strings


@kernel
def meet(x: Indices, y: Indices, below: Floats, equal: Floats, total: Floats) -> None:
    """On a diagonal: where the strings have the same character, and M of the top level, added to `total`."""
    for i in range(x.shape[0]):
        equal[i] = 1.0 if x[i] == y[i] else 0.0
        total[i] += equal[i] * below[i]


@kernel
def advance(run: Floats, equal: Floats, below: Floats, above: Floats, new: Floats, decay: float) -> None:
    """On a diagonal: M and R (in `run`) from S of the level below, and S (in `new`) from that of `above`."""
    for i in range(run.shape[0]):
        r = decay * run[i] + equal[i] * below[i]
        run[i] = r
        new[i] = decay * above[i] + r


@allocates
def subsequence_pairs(
    left: Strings, right: Strings, a: Indices, b: Indices, length: int, decay: float
) -> NDArray[np.float64]:
    """The sum (K.10) for left[a[e]] and right[b[e]], for each e."""
    longest, widest = 0, 0
    for e in range(a.shape[0]):
        longest = max(longest, left.ptr[a[e] + 1] - left.ptr[a[e]])
        widest = max(widest, right.ptr[b[e] + 1] - right.ptr[b[e]])
    sums = np.zeros((2, length, longest + 1))  # S of the two last diagonals, by level and i + 1; 1 at level 0
    runs = np.zeros((length, longest))  # R, by level and i
    equal = np.zeros(longest)
    total = np.zeros(longest)
    backwards = np.zeros(widest, np.int32)
    sums[:, 0] = 1.0
    out = np.zeros(a.shape[0])
    for e in range(a.shape[0]):
        s = left.codes[left.ptr[a[e]] : left.ptr[a[e] + 1]]
        t = right.codes[right.ptr[b[e]] : right.ptr[b[e] + 1]]
        n, m = s.shape[0], t.shape[0]
        if min(n, m) < length:
            continue
        for j in range(m):
            backwards[j] = t[m - 1 - j]
        sums[:, 1:, : n + 1] = 0.0
        runs[:, :n] = 0.0
        total[:n] = 0.0
        for d in range(n + m - 1):
            lo, hi = max(0, d - m + 1), min(n, d + 1)
            old, last, here = sums[d % 2], sums[(d + 1) % 2], equal[lo:hi]
            there = backwards[m - 1 - d + lo : m - 1 - d + hi]
            meet(s[lo:hi], there, old[length - 1, lo:hi], here, total[lo:hi])
            for k in range(length - 1, 0, -1):  # downwards: S of d takes the place of that of d - 2
                new = old[k, lo + 1 : hi + 1]
                advance(runs[k, lo:hi], here, old[k - 1, lo:hi], last[k, lo:hi], new, decay)
        out[e] = total[:n].sum()
    return out
