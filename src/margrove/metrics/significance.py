"""Is one method better than another, or was it luck? Paired permutation tests (Cai 7.4.1, 7.5).

If two methods are equally good, then which of them gave which of the two results for an item is a coin toss.
The p-value is the share of all such tosses after which the two differ at least as much as they did (M.24).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from margrove.errors import DataError
from margrove.metrics.losses import tree_loss
from margrove.outputs.labels import FloatArray, LabelSets, Vocabulary, check_lengths, read_labels

if TYPE_CHECKING:
    from margrove.taxonomy import Taxonomy

Alternative = Literal["two-sided", "less", "greater"]
TOSSES_AT_ONCE = 1 << 22
EXACT = 20  # items that differ; up to so many, all tosses are made
SAME = 1e-12  # relative difference of sums that are equal but for rounding


class PermutationTest(NamedTuple):
    """The mean of the first less that of the second, and how probable as much is by luck."""

    difference: float
    p_value: float
    exact: bool
    """Whether all tosses were made, and not a sample of them."""


def paired_permutation_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    n_permutations: int = 10_000,
    random_state: int = 0,
) -> PermutationTest:
    """Compare paired values, as the losses of two methods on the same rows, folds or repetitions (M.24).

    "less" asks whether a is smaller, "greater" whether it is larger. Up to 20 pairs that differ are tossed in
    all ways, and more in `n_permutations` ways; then the p-value counts what was found as one of them.
    """
    first, second = _values(a, "a"), _values(b, "b")
    check_lengths(a=len(first), b=len(second))
    if not len(first):
        raise DataError("a and b are empty, so there is nothing to compare")
    differences = first - second
    moving = differences[differences != 0]
    exact = len(moving) <= EXACT
    rng = np.random.default_rng(random_state)
    found: list[FloatArray] = []
    for start, size in _batches(1 << len(moving) if exact else _count(n_permutations), len(moving)):
        if exact:
            heads = np.arange(start, start + size)[:, None] >> np.arange(len(moving)) & 1
        else:
            heads = rng.integers(0, 2, (size, len(moving)), dtype=np.int8)
        found.append((1 - 2.0 * heads) @ moving)
    sums = np.concatenate(found) / len(first)
    mean = float(moving.sum() / len(first))
    return PermutationTest(mean, _p_value(mean, sums, alternative, exact), exact)


class Difference(NamedTuple):
    """Two methods: by how much the first has a higher value, and how probable as much is by luck."""

    first: str
    second: str
    difference: float
    p_value: float
    adjusted_p_value: float
    """For the number of pairs that are looked at, by Holm's rule (M.25)."""


@dataclass(frozen=True)
class Comparisons:
    """What `compare` found: the value of each method, and the differences of all pairs."""

    measure: str
    values: dict[str, float]
    differences: list[Difference]

    def __str__(self) -> str:
        width = max(map(len, self.values))
        lines = [f"{name:{width}}  {self.measure} {value:.4f}" for name, value in self.values.items()]
        lines += [
            f"{d.first} - {d.second}: {d.difference:+.4f}, p = {d.adjusted_p_value:.2g}"
            for d in self.differences
        ]
        return "\n".join(lines)


def compare(
    y_true: Any,
    predictions: Mapping[str, Any],
    taxonomy: Taxonomy | None = None,
    *,
    measure: Callable[..., float] = tree_loss,
    n_permutations: int = 1000,
    random_state: int = 0,
) -> Comparisons:
    """Compare what several methods predict for the same rows, by any measure of predictions (M.24, M.25).

    `predictions` maps the name of each method to its labels. `measure` is called as in `margrove.metrics`,
    f(y_true, y_pred, taxonomy, sample_weight=...); tosses exchange the predictions of two methods row by
    row, so it need not be a mean.
    """
    if not predictions:
        raise DataError("predictions are empty; pass a mapping from names of methods to their labels")
    vocabulary = Vocabulary()
    truth = read_labels(y_true, vocabulary, "y_true")
    given = {name: read_labels(y, vocabulary, f"predictions[{name!r}]") for name, y in predictions.items()}
    for name, sets in given.items():
        check_lengths(y_true=len(truth), **{f"predictions of {name}": len(sets)})
    rng = np.random.default_rng(random_state)
    values = {name: float(measure(y_true, y, taxonomy)) for name, y in predictions.items()}
    pairs = list(combinations(given, 2))
    p_values = []
    for first, second in pairs:
        tosses = _Tosses.of(truth, given[first], given[second], vocabulary.labels)
        found = [tosses.difference(measure, taxonomy, rng) for _ in range(_count(n_permutations))]
        p_values.append(_p_value(values[first] - values[second], np.array(found), "two-sided", exact=False))
    differences = [
        Difference(a, b, values[a] - values[b], p, adjusted)
        for (a, b), p, adjusted in zip(pairs, p_values, _holm(p_values), strict=True)
    ]
    return Comparisons(getattr(measure, "__name__", "measure"), values, differences)


class _Tosses(NamedTuple):
    """The distinct rows of a truth and two predictions, and how often each occurs."""

    truth: list[Any]
    first: list[Any]
    second: list[Any]
    counts: FloatArray

    @classmethod
    def of(cls, truth: LabelSets, first: LabelSets, second: LabelSets, labels: list[Any]) -> _Tosses:
        sets = (truth, first, second)
        if not all(part.single for part in sets):
            true, one, other = (_as_lists(part, labels) for part in sets)
            return cls(true, one, other, np.ones(len(truth)))
        distinct, counts = np.unique(
            np.column_stack([part.numbers for part in sets]), axis=0, return_counts=True
        )
        true, one, other = ([labels[k] for k in column] for column in distinct.T.tolist())
        return cls(true, one, other, counts.astype(np.float64))

    def difference(
        self, measure: Callable[..., float], taxonomy: Taxonomy | None, rng: np.random.Generator
    ) -> float:
        """The difference after one toss for each row: of equal rows, it is their number that counts."""
        swapped = rng.binomial(self.counts.astype(np.int64), 0.5).astype(np.float64)
        kept = self.counts - swapped
        value = [
            measure(
                self.truth + self.truth,
                self.first + self.second,
                taxonomy,
                sample_weight=np.concatenate(weights),
            )
            for weights in ((kept, swapped), (swapped, kept))
        ]
        return float(value[0] - value[1])


def _as_lists(sets: LabelSets, labels: list[Any]) -> list[Any]:
    names = [labels[k] for k in sets.numbers.tolist()]
    return [names[a:b] for a, b in zip(sets.starts[:-1], sets.starts[1:], strict=True)]


def _values(values: ArrayLike, argument: str) -> FloatArray:
    array: FloatArray = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise DataError(f"{argument}: expected one finite number for each item")
    return array


def _count(n_permutations: int) -> int:
    if n_permutations < 1:
        raise DataError(f"n_permutations is {n_permutations}; expected at least 1")
    return n_permutations


def _batches(total: int, width: int) -> list[tuple[int, int]]:
    size = max(1, TOSSES_AT_ONCE // max(width, 1))
    return [(start, min(size, total - start)) for start in range(0, total, size)]


def _p_value(found: float, tossed: FloatArray, alternative: Alternative, exact: bool) -> float:
    """The share of tosses at least as extreme; of a sample, what was found is a member itself."""
    sides = {"two-sided": np.abs, "less": np.negative, "greater": np.positive}
    if alternative not in sides:
        raise DataError(f"alternative is {alternative!r}; expected {' or '.join(map(repr, sides))}")
    size = sides[alternative]
    close = SAME * max(abs(found), float(np.abs(tossed).max(initial=0.0)))
    hits = int((size(tossed) >= size(np.float64(found)) - close).sum())
    return hits / len(tossed) if exact else (hits + 1) / (len(tossed) + 1)


def _holm(p_values: list[float]) -> list[float]:
    """p-values for the family: the k-th smallest of m times m - k + 1, never falling, at most 1."""
    order = np.argsort(p_values, kind="stable")
    m = len(p_values)
    adjusted = np.empty(m)
    raised = np.array([(m - k) * p_values[i] for k, i in enumerate(order)])
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return [float(p) for p in adjusted]
