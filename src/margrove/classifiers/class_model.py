"""What models have that score every class: scores, rankings and labels; they need no solver."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margrove.classifiers.margin_model import MarginModel
from margrove.classifiers.targets import number_labels
from margrove.errors import LabelError
from margrove.outputs.labels import LabelSets, check_lengths, read_weights
from margrove.outputs.ranking import top as best

ROWS = 1 << 22  # scores computed together


def ranking(
    blocks: Iterable[tuple[slice, NDArray[Any]]], n: int, classes: NDArray[Any], top: int | None, dtype: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The `top` best labels of n rows, best first, and their scores, from blocks of scores of all classes."""
    k = len(classes) if top is None else min(operator.index(top), len(classes))
    if k < 1:
        raise ValueError(f"top is {top!r}; expected at least 1, or None for all classes")
    order, scores = np.empty((n, k), np.int64), np.empty((n, k), dtype)
    for rows, F in blocks:
        order[rows] = best(F, k)
        scores[rows] = np.take_along_axis(F, order[rows], axis=1)
    return classes[order], scores


def row_blocks(n: int, width: int) -> Iterator[slice]:
    """So many rows at a time that scores of this width stay within bounds."""
    step = max(1, ROWS // max(width, 1))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


class ClassModel(MarginModel):
    """A subclass has `_class_scores`; the class of the highest score is the prediction."""

    _descends: ClassVar[bool] = False

    def _class_scores(self, X: Any) -> NDArray[Any]:
        """Score every class for each row."""
        raise NotImplementedError

    def _choice_scores(self, X: Any) -> NDArray[Any]:
        """The scores that probabilities are made of: of classes, or, where `_descends`, of outputs."""
        return self._class_scores(X)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score every class for every row (rows x classes, in the order of `classes_`).

        For two classes and single labels it is one number a row, the second's score less the first's.
        """
        F = self._class_scores(self._check_X(X))
        if self._is_binary:
            difference: NDArray[Any] = F[:, 1] - F[:, 0]
            return difference
        return F

    @property
    def _is_binary(self) -> bool:
        return self._form == "label" and len(self.classes_) == 2

    def predict_ranking(self, X: Any, top: int | None = 5, return_scores: bool = False) -> Any:
        """Return the `top` best labels of each row, best first (rows x top), or all with None.

        With `return_scores`, a pair: the labels, and their scores. Of equal scores, the first class wins.
        """
        X = self._check_X(X)
        labels, scores = ranking(self._blocks(X), X.shape[0], self.classes_, top, self._input_weights.dtype)
        return (labels, scores) if return_scores else labels

    def predict(self, X: Any) -> Any:
        """Return the label of each row.

        A path that was given as one column a level is returned as one label: "a/b/c", or, where a level is no
        text or holds a "/", the tuple of its levels.
        """
        X = self._check_X(X)
        return self.classes_[self._winners(X)]

    def _winners(self, X: Any) -> NDArray[np.int64]:
        """The number of the best class of each row; of equal scores, the first wins."""
        winners = [F.argmax(axis=1) for _, F in self._blocks(X)]
        return np.concatenate([np.empty(0, np.int64), *winners])

    def _blocks(self, X: Any) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Class scores of a block of rows at a time, so that memory stays bounded."""
        for rows in row_blocks(X.shape[0], max(self.attributes_.shape)):
            yield rows, self._class_scores(X[rows])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose label, or whole set of labels, is right; `y` as in `fit`."""
        X = self._check_X(X)
        truth = number_labels(y, self.classes_)
        check_lengths(X=X.shape[0], y=len(truth))
        right = self._right(X, truth)
        return float(np.average(right, weights=read_weights(sample_weight, len(right))))

    def _right(self, X: Any, truth: LabelSets) -> NDArray[np.bool_]:
        """Which rows are predicted right."""
        if not truth.single:
            raise LabelError("y holds several labels a row, but the model was fitted to one a row")
        return self._agrees(self._winners(X), truth.numbers)

    def _agrees(self, winners: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which predicted classes are right where these are true; a number beyond the classes is no class."""
        right: NDArray[np.bool_] = winners == numbers
        return right
