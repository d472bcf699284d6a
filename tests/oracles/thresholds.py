"""Cuts of rankings, by trying each."""

from __future__ import annotations

import math
from itertools import pairwise


def naive_best_cut(scores, right):
    """The cut with the fewest mistakes, the highest of several; no row with a right class is cut above all.

    Cuts are in the middle between two scores, or half a mean gap beyond the ends.
    """
    ranked = sorted(scores, reverse=True)
    gaps = [above - below for above, below in pairwise(ranked)]
    gap = (sum(gaps) / len(gaps) if gaps else 0) or 1
    cuts = [] if any(right) else [ranked[0] + gap / 2]
    cuts += [(above + below) / 2 for above, below in pairwise(ranked)]
    cuts += [ranked[-1] - gap / 2]
    best, fewest = None, math.inf
    for cut in cuts:
        mistakes = sum((score > cut) != is_right for score, is_right in zip(scores, right, strict=True))
        if mistakes < fewest:
            best, fewest = cut, mistakes
    return best
