"""Measures of a ranking of all classes by scores (Cai, section 7.3).

`scores` has one row an example and one column a class, in the order of `classes`. A wrong class that scores
as high as a right one beats it. Rows without a label have no ranking to judge: they are left out, and it is
an error if no row is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from margrove.errors import DataError
from margrove.metrics.comparison import node_numbers
from margrove.metrics.distances import Cost, bind
from margrove.outputs.labels import (
    FloatArray,
    IntArray,
    Label,
    LabelSets,
    Vocabulary,
    check_lengths,
    read_labels,
    read_weights,
)

if TYPE_CHECKING:
    from margrove.taxonomy import Taxonomy

_CELLS_AT_ONCE = 1 << 21  # scores looked at together; bounds the memory beside the scores themselves


def average_precision(
    y_true: Any, scores: ArrayLike, classes: Sequence[Label], *, sample_weight: ArrayLike | None = None
) -> float:
    """The mean precision among the classes that score at least as high as a right one (M.12; Cai 7.4)."""
    ranking = read_ranking(y_true, scores, classes, sample_weight)
    right = ranking.right_at_least_as_high()
    precision = right / (right + ranking.wrong_at_least_as_high())
    return ranking.mean_of_rows(precision, ranking.truth.sizes)


def ranking_loss(
    y_true: Any, scores: ArrayLike, classes: Sequence[Label], *, sample_weight: ArrayLike | None = None
) -> float:
    """The mean fraction of (right, wrong) pairs whose wrong class scores at least as high (M.13; Cai 7.5).

    A row to which every class belongs has no such pair, and loss 0.
    """
    ranking = read_ranking(y_true, scores, classes, sample_weight)
    sizes = ranking.truth.sizes
    pairs = sizes * (ranking.scores.shape[1] - sizes)
    return ranking.mean_of_rows(ranking.wrong_at_least_as_high(), np.maximum(pairs, 1))


def maximal_loss(
    y_true: Any,
    scores: ArrayLike,
    classes: Sequence[Label],
    taxonomy: Taxonomy | None = None,
    *,
    cost: Cost | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """The mean over rows of the largest cost of a misordered (right, wrong) pair (M.14; Cai 4.18 and 4.19).

    `cost` is any cost of `margrove.costs`; by default Δ_h, which without a taxonomy is zero-one.
    """
    ranking = read_ranking(y_true, scores, classes, sample_weight, taxonomy)
    delta = bind(cost, taxonomy, ranking.classes, in_order=True)
    worst = np.zeros(len(ranking.truth))
    for label, entries in ranking.entries_by_label():
        row_of_costs = delta.row(label)
        for block in ranking.blocks(entries):
            largest = np.where(ranking.beaten_by(block), row_of_costs, 0.0).max(axis=1)
            np.maximum.at(worst, ranking.truth.rows[block], largest)
    return ranking.mean(worst)


@dataclass(frozen=True)
class Ranking:
    """Checked scores of rows that have labels, and those labels as columns of the scores."""

    scores: NDArray[np.floating]
    truth: LabelSets
    classes: list[Label]
    weights: FloatArray
    rows: IntArray  # the rows of `scores` that have a label: row i of `truth` is row rows[i] of `scores`

    def mean(self, values: ArrayLike) -> float:
        """The weighted mean of one value a labelled row."""
        return float(np.average(np.asarray(values, dtype=np.float64), weights=self.weights))

    def mean_of_rows(self, values: NDArray[Any], sizes: IntArray) -> float:
        """The mean over rows of: the sum of one value for each right label, over the row's size."""
        sums = np.bincount(self.truth.rows, weights=values, minlength=len(self.truth))
        return self.mean(sums / sizes)

    def blocks(self, entries: IntArray) -> Iterator[IntArray]:
        """Entries of the truth, in pieces whose scores fit into a bounded room."""
        step = max(1, _CELLS_AT_ONCE // self.scores.shape[1])
        for start in range(0, len(entries), step):
            yield entries[start : start + step]

    def entries_by_label(self) -> Iterator[tuple[int, IntArray]]:
        """Each right label, with the entries of the truth that hold it."""
        order = np.argsort(self.truth.numbers, kind="stable")
        labels, starts = np.unique(self.truth.numbers[order], return_index=True)
        return zip(labels.tolist(), np.split(order, starts[1:]), strict=True)

    def own_scores(self, entries: IntArray) -> NDArray[np.floating]:
        """The score of the right label that each entry holds."""
        return self.scores[self.rows[self.truth.rows[entries]], self.truth.numbers[entries]]

    def beaten_by(self, entries: IntArray) -> NDArray[np.bool_]:
        """Entries x classes: which wrong classes score at least as high as the entry's right label."""
        rows = self.truth.rows[entries]
        beaten = self.scores[self.rows[rows]] >= self.own_scores(entries)[:, None]
        right = self.indicators[rows]
        beaten[np.repeat(np.arange(len(rows)), np.diff(right.indptr)), right.indices] = False
        return beaten

    def wrong_at_least_as_high(self) -> IntArray:
        """For each right label the number of wrong classes that score at least as high."""
        everything = np.arange(len(self.truth.numbers))
        return np.concatenate([self.beaten_by(block).sum(axis=1) for block in self.blocks(everything)])

    def right_at_least_as_high(self) -> IntArray:
        """For each right label the number of right labels of its row, itself included, that score as high."""
        rows, own = self.truth.rows, self.own_scores(np.arange(len(self.truth.numbers)))
        order = np.lexsort((own, rows))
        rows, own = rows[order], own[order]
        new = np.ones(len(order), dtype=bool)  # the first entry of each run of equal scores within a row
        new[1:] = (rows[1:] != rows[:-1]) | (own[1:] != own[:-1])
        first_equal = np.flatnonzero(new)[np.cumsum(new) - 1]
        result = np.empty(len(order), dtype=np.int64)
        result[order] = self.truth.starts[rows + 1] - first_equal
        return result

    @cached_property
    def indicators(self) -> sp.csr_array:
        """Rows x classes: the truth as a matrix."""
        return self.truth.matrix(self.scores.shape[1])


def read_ranking(
    y_true: Any,
    scores: ArrayLike,
    classes: Sequence[Label],
    sample_weight: ArrayLike | None = None,
    taxonomy: Taxonomy | None = None,
) -> Ranking:
    """Check the arguments of a ranking measure, and leave out the rows without a label."""
    vocabulary = Vocabulary(classes, closed=True)
    if taxonomy is not None:
        node_numbers(vocabulary.labels, taxonomy, {})
    table = read_scores(scores, len(vocabulary))
    truth = read_labels(y_true, vocabulary, "y_true", classes)
    check_lengths(y_true=len(truth), scores=len(table))
    weights = read_weights(sample_weight, len(truth))
    rows = np.flatnonzero(truth.sizes)
    if not len(rows):
        raise DataError("y_true: no row has a label, so there is no ranking to judge")
    starts = np.concatenate([[0], np.cumsum(truth.sizes[rows])])
    kept = weights[rows]
    if not kept.any():
        raise DataError("sample_weight: every row with a label has weight 0, so there is no mean")
    return Ranking(table, LabelSets(truth.numbers, starts, truth.single), vocabulary.labels, kept, rows)


def read_scores(scores: ArrayLike, n_classes: int) -> NDArray[np.floating]:
    """The scores as a table of floats with one column a class, none of them NaN."""
    table = np.asarray(scores)
    if table.ndim != 2 or table.shape[1] != n_classes:
        raise DataError(
            f"scores has shape {table.shape}; expected (rows, {n_classes}), one column for each class"
        )
    if not np.issubdtype(table.dtype, np.floating):
        table = table.astype(np.float64)
    step = max(1, _CELLS_AT_ONCE // max(1, n_classes))
    for start in range(0, len(table), step):
        for row, column in np.argwhere(np.isnan(table[start : start + step]))[:1]:
            raise DataError(f"scores, row {start + row}, column {column}: the score is NaN")
    return table
