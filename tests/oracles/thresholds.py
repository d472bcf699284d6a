"""Cuts of rankings, by trying each."""

from __future__ import annotations

import math
from itertools import pairwise


def naive_best_cut(scores, right):
    """The cut with the fewest mistakes, the highest of several; in the middle, or one beyond the ends."""
    ranked = sorted(scores, reverse=True)
    cuts = [ranked[0] + 1]
    cuts += [(above + below) / 2 for above, below in pairwise(ranked)]
    cuts += [ranked[-1] - 1]
    best, fewest = None, math.inf
    for cut in cuts:
        mistakes = sum((score > cut) != is_right for score, is_right in zip(scores, right, strict=True))
        if mistakes < fewest:
            best, fewest = cut, mistakes
    return best
