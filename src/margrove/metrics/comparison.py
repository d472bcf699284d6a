"""True labels beside predicted ones, each distinct pair once: where every measure of predictions starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from margrove.errors import DataError, LabelError, UnknownNodeError
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


_ROWS_AT_ONCE = 1 << 16  # bounds the memory that ancestor sets take


@dataclass(frozen=True)
class Comparison:
    """Rows of true and predicted label sets over one list of labels, with the weight of every row.

    Where every row has one label, equal pairs are merged into one row with their summed weight: a million
    rows rarely hold more than some thousands of distinct pairs, and a cost is computed once for each.
    """

    true: LabelSets
    predicted: LabelSets
    labels: list[Label]
    weights: FloatArray

    def matrices(self) -> tuple[sp.csr_array, sp.csr_array]:
        """The rows x labels indicator matrices of the truth and of the prediction."""
        return self.true.matrix(len(self.labels)), self.predicted.matrix(len(self.labels))

    def mean(self, values: ArrayLike) -> float:
        """The weighted mean of one value a row."""
        return float(np.average(np.asarray(values, dtype=np.float64), weights=self.weights))

    def single_pairs(self, measure: str) -> tuple[IntArray, IntArray]:
        """The true and the predicted label of every row, which must have one of each."""
        for argument, sets in (("y_true", self.true), ("y_pred", self.predicted)):
            if not sets.single:
                raise LabelError(
                    f"{argument}: {measure} compares one label with one; this holds label collections"
                )
        return self.true.numbers, self.predicted.numbers


def compare(
    y_true: Any,
    y_pred: Any,
    taxonomy: Taxonomy | None = None,
    sample_weight: ArrayLike | None = None,
    classes: Sequence[Label] | None = None,
    closed: bool = False,
) -> Comparison:
    """Read both arguments; with a taxonomy labels are nodes, and two names of one node are one label.

    `classes` name the columns of indicator matrices and come first among the labels; if `closed`, no others
    may occur.
    """
    vocabulary = Vocabulary(classes, closed)
    true = read_labels(y_true, vocabulary, "y_true", classes)
    predicted = read_labels(y_pred, vocabulary, "y_pred", classes)
    check_lengths(y_true=len(true), y_pred=len(predicted))
    weights = read_weights(sample_weight, len(true))
    labels = vocabulary.labels
    if taxonomy is not None:
        nodes = node_numbers(labels, taxonomy, {"y_true": true, "y_pred": predicted})
        _, first, numbers = np.unique(nodes, return_index=True, return_inverse=True)
        numbers = np.argsort(np.argsort(first))[numbers]  # in the order of first use, as before
        labels = [labels[number] for number in sorted(first.tolist())]
        true, predicted = _renumbered(true, numbers), _renumbered(predicted, numbers)
    if true.single and predicted.single:
        true, predicted, weights = _distinct(true, predicted, weights, len(labels))
    return Comparison(true, predicted, labels, weights)


def node_numbers(labels: Sequence[Label], taxonomy: Taxonomy, places: dict[str, LabelSets]) -> IntArray:
    """The taxonomy's number of every label; `places` tells an error where a label stands."""
    if not hasattr(taxonomy, "ancestor_matrix"):
        raise DataError(f"taxonomy: expected a Taxonomy, got {type(taxonomy).__name__}")
    nodes = np.empty(len(labels), dtype=np.int64)
    for number, label in enumerate(labels):
        try:
            nodes[number] = taxonomy.index(label)
        except UnknownNodeError as error:
            raise LabelError(f"{_place(number, places)}: {error}") from error
    return nodes


def _place(number: int, places: dict[str, LabelSets]) -> str:
    for argument, sets in places.items():
        for entry in np.flatnonzero(sets.numbers == number)[:1]:
            return f"{argument}, row {sets.rows[entry]}"
    return "classes"


def _renumbered(sets: LabelSets, numbers: IntArray) -> LabelSets:
    if len(np.unique(numbers)) == len(numbers):
        return LabelSets(numbers[sets.numbers], sets.starts, sets.single)
    return LabelSets.without_repetitions(numbers[sets.numbers], sets.starts, single=sets.single)


def _distinct(
    true: LabelSets, predicted: LabelSets, weights: FloatArray, n_labels: int
) -> tuple[LabelSets, LabelSets, FloatArray]:
    pairs, where = np.unique(true.numbers * n_labels + predicted.numbers, return_inverse=True)
    starts = np.arange(len(pairs) + 1)
    first, second = np.divmod(pairs, n_labels)
    summed: FloatArray = np.bincount(where, weights=weights).astype(np.float64)
    return LabelSets(first, starts, True), LabelSets(second, starts, True), summed


def ancestor_sets(labels: Sequence[Label], taxonomy: Taxonomy | None) -> sp.csr_array:
    """The labels x nodes matrix of `anc`, the root in column 0.

    Without a taxonomy each label is its own node, no root is above it, and column 0 is empty.
    """
    if taxonomy is not None:
        return taxonomy.ancestor_matrix(labels)
    alone = sp.eye_array(len(labels), format="csr")
    return sp.csr_array((alone.data, alone.indices + 1, alone.indptr), shape=(len(labels), len(labels) + 1))


def volumes_of_sets(
    rows: Comparison, ancestors: sp.csr_array, volumes: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For each row the volume of anc(Y), of anc(Ŷ) and of what they share; 1 a node by default."""
    per_node = np.ones(ancestors.shape[1]) if volumes is None else volumes
    result = np.empty((3, len(rows.weights)))
    matrices = rows.matrices()
    for start in range(0, len(rows.weights), _ROWS_AT_ONCE):
        block = slice(start, start + _ROWS_AT_ONCE)
        true, predicted = ((matrix[block] @ ancestors).astype(bool) for matrix in matrices)
        for place, nodes in zip(result, (true, predicted, true.multiply(predicted)), strict=True):
            place[block] = nodes @ per_node
    return result[0], result[1], result[2]
