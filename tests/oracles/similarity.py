"""Slow twins of the similarity room: straight from the definitions, a pair of inputs at a time."""

from __future__ import annotations

import math
import statistics
from itertools import combinations

from oracles.kernels import naive_subsequence_pairs


def naive_linear(x, z):
    return sum(a * b for a, b in zip(x, z, strict=True))


def naive_polynomial(x, z, degree=2, constant=1.0):
    return math.prod([constant + naive_linear(x, z)] * degree)


def naive_distance(x, z):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(x, z, strict=True)))


def naive_gaussian(x, z, scale):
    return math.exp(-(naive_distance(x, z) ** 2) / scale)


def naive_median_distance(X, y):
    pairs = combinations(range(len(y)), 2)
    return statistics.median(naive_distance(X[i], X[j]) for i, j in pairs if y[i] != y[j])


def naive_subsequence(s, t, length=4, decay=0.5, normalize=True):
    """Lodhi et al. (2002): by all words, each weighted by the characters that it spans in both strings."""
    (st,) = naive_subsequence_pairs([(s, t)], length, decay)
    if not normalize:
        return decay ** (2 * length) * st
    ss, tt = naive_subsequence_pairs([(s, s), (t, t)], length, decay)
    return st / math.sqrt(ss * tt) if ss * tt else 0.0


def naive_gram(similarity, X, Z, **options):
    return [[similarity(x, z, **options) for z in Z] for x in X]


class NaiveCache:
    """The rows that a cache keeps, least recently used first, and what it counts."""

    def __init__(self, capacity):
        self.capacity, self.kept, self.hits, self.misses = capacity, [], 0, 0

    def ask(self, indices):
        """What has to be computed for this request."""
        wanted = sorted(set(indices))
        missing = [i for i in wanted if i not in self.kept]
        self.hits += len(wanted) - len(missing)
        self.misses += len(missing)
        if len(wanted) <= self.capacity:
            rest = [i for i in self.kept if i not in wanted]
            self.kept = [*rest, *wanted][-self.capacity :] if self.capacity else []
        elif not missing:
            raise AssertionError("more rows were kept than fit")
        else:
            used = [i for i in wanted if i in self.kept]
            self.kept = [*(i for i in self.kept if i not in used), *used]
        return missing
