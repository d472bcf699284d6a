"""The ranking output of a fitted model: score, rank, predict; it needs no solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from margrove.classifiers import storage
from margrove.classifiers.class_model import ClassModel, row_blocks
from margrove.outputs.labels import LabelSets


class RankingModel(ClassModel):
    """Class scores F = Lambda s, decoded by sorting; `threshold_` gives multilabel targets their sets."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _class_scores(self, X: Any) -> NDArray[Any]:
        """F for each row."""
        n, q = X.shape[0], self.attributes_.shape[0]
        F = np.empty((n, q), self._input_weights.dtype)
        to_classes = self.attributes_.T.tocsc()
        for rows in row_blocks(n, self.attributes_.shape[1]):
            F[rows] = self._column_scores(X[rows]) @ to_classes
        return F

    def predict(self, X: Any) -> Any:
        """Return the label of each row; for multilabel targets, its labels in the form that `y` had.

        That is a list of labels, best first, for collections, and a row of zeros and ones for indicators. A
        path that was given as one column a level is returned as one label: "a/b/c", or, where a level is no
        text or holds a "/", the tuple of its levels.
        """
        X = self._check_X(X)
        if self._form == "label":
            return self.classes_[self._winners(X)]
        if self._form == "indicator":
            chosen = [self.threshold_.predict(F) for _, F in self._blocks(X)]
            return np.vstack([np.empty((0, len(self.classes_)), bool), *chosen]).astype(np.int64)
        sets: list[list[Any]] = []
        for _, F in self._blocks(X):
            for scores, mine in zip(F, self.threshold_.predict(F), strict=True):
                numbers = np.flatnonzero(mine)
                ranked = numbers[np.argsort(-scores[numbers], kind="stable")]
                sets.append(self.classes_[ranked].tolist())
        return sets

    def _right(self, X: Any, truth: LabelSets) -> NDArray[np.bool_]:
        """Which rows are predicted right, as whole sets."""
        if self._form == "label":
            return super()._right(X, truth)
        right = np.empty(X.shape[0], bool)
        Y = truth.matrix(max(len(self.classes_), int(truth.numbers.max(initial=0)) + 1))
        for rows, F in self._blocks(X):
            mistakes = Y[rows].toarray()
            mistakes[:, : len(self.classes_)] -= self.threshold_.predict(F)
            right[rows] = ~mistakes.any(axis=1)
        return right

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the model as plain values and arrays."""
        header, arrays = super().to_state()
        if self._form != "label":
            header["threshold"] = {"at_least_one": self.threshold_.at_least_one}
            arrays["threshold"] = self.threshold_.coefficients
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model that `to_state` described; what does not fit together is refused."""
        model = super().from_state(header, arrays)
        if model._form != "label":
            model.threshold_ = storage.threshold_from_state(
                header["threshold"], arrays["threshold"], len(model.classes_)
            )
        return model
