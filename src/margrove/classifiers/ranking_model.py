"""What every fitted model with the ranking output can do: score, rank, predict, save; it needs no solver."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from margrove.classifiers import storage
from margrove.classifiers.targets import Classes, number_labels
from margrove.errors import LabelError
from margrove.outputs.labels import check_lengths, read_weights
from margrove.outputs.ranking import top as best

ROWS = 1 << 22  # scores computed together


class RankingModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Class scores F = Lambda W x, decoded by sorting.

    A fitted model has `weights_` (features x columns of Lambda), `attributes_` (Lambda, classes x columns),
    `column_nodes_` (the taxonomy's node of each column, or None), `classes_`, `taxonomy_`, `certificate_`,
    and `threshold_` for multilabel targets.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _check_X(self, X: Any) -> Any:
        check_is_fitted(self, "weights_")
        return validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])

    def _column_scores(self, X: Any) -> NDArray[Any]:
        """W x for each row, by column of Lambda."""
        scores: NDArray[Any] = X.astype(self.weights_.dtype, copy=False) @ self.weights_
        return scores

    def _class_scores(self, X: Any) -> NDArray[Any]:
        """F for each row."""
        n, q = X.shape[0], self.attributes_.shape[0]
        F = np.empty((n, q), self.weights_.dtype)
        step = max(1, ROWS // max(self.attributes_.shape[1], 1))
        to_classes = self.attributes_.T.tocsc()
        for start in range(0, n, step):
            rows = slice(start, start + step)
            F[rows] = self._column_scores(X[rows]) @ to_classes
        return F

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

    def node_scores(self, X: Any) -> NDArray[Any]:
        """Score every node for every row, <w_v, x>, with columns in the order of `taxonomy_.nodes`.

        A class's score is the sum over nodes of its attribute times the node's score. A node that makes no
        difference, above all classes (as the root) or none, scores zero. With attributes that are a matrix
        of the user's, the columns are those of `attributes_` instead.
        """
        X = self._check_X(X)
        if self.column_nodes_ is None:
            return self._column_scores(X)
        scores = np.zeros((X.shape[0], self.taxonomy_.n_nodes), self.weights_.dtype)
        known = self.column_nodes_ >= 0
        scores[:, self.column_nodes_[known]] = self._column_scores(X)[:, known]
        return scores

    def predict_ranking(self, X: Any, top: int | None = 5, return_scores: bool = False) -> Any:
        """Return the `top` best labels of each row, best first (rows x top), or all with None.

        With `return_scores`, a pair: the labels, and their scores. Of equal scores, the first class wins.
        """
        X = self._check_X(X)
        k = len(self.classes_) if top is None else min(operator.index(top), len(self.classes_))
        if k < 1:
            raise ValueError(f"top is {top!r}; expected at least 1, or None for all classes")
        order = np.empty((X.shape[0], k), np.int64)
        scores = np.empty((X.shape[0], k), self.weights_.dtype)
        for rows, F in self._blocks(X):
            order[rows] = best(F, k)
            scores[rows] = np.take_along_axis(F, order[rows], axis=1)
        labels = self.classes_[order]
        return (labels, scores) if return_scores else labels

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

    def _winners(self, X: Any) -> NDArray[np.int64]:
        """The number of the best class of each row; of equal scores, the first wins."""
        winners = [F.argmax(axis=1) for _, F in self._blocks(X)]
        return np.concatenate([np.empty(0, np.int64), *winners])

    def _blocks(self, X: Any) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Class scores of a block of rows at a time, so that memory stays bounded."""
        step = max(1, ROWS // max(self.attributes_.shape))
        for start in range(0, X.shape[0], step):
            rows = slice(start, min(start + step, X.shape[0]))
            yield rows, self._class_scores(X[rows])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose label, or whole set of labels, is right; `y` as in `fit`."""
        X = self._check_X(X)
        truth = number_labels(y, self.classes_)
        check_lengths(X=X.shape[0], y=len(truth))
        if self._form == "label":
            if not truth.single:
                raise LabelError("y holds several labels a row, but the model was fitted to one a row")
            right = truth.numbers == self._winners(X)
        else:
            right = np.empty(X.shape[0], bool)
            Y = truth.matrix(max(len(self.classes_), int(truth.numbers.max(initial=0)) + 1))
            for rows, F in self._blocks(X):
                mistakes = Y[rows].toarray()
                mistakes[:, : len(self.classes_)] -= self.threshold_.predict(F)
                right[rows] = ~mistakes.any(axis=1)
        return float(np.average(right, weights=read_weights(sample_weight, len(right))))

    def _adopt(self, classes: Classes) -> None:
        """Keep what prediction needs to know of the targets."""
        self.classes_ = classes.labels
        self.taxonomy_ = classes.taxonomy
        self.class_nodes_ = classes.nodes
        self._form = classes.form

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which `margrove.load` reads."""
        from margrove import loading

        check_is_fitted(self, "weights_")
        loading.save(self, path)

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the model as plain values and arrays."""
        check_is_fitted(self, "weights_")
        params = storage.params_to_state(self.get_params(deep=False))
        header = {
            "params": params,
            "classes": storage.classes_to_state(self.classes_, self.class_nodes_, self.taxonomy_, self._form),
            "certificate": self.certificate_.as_dict(),
            "features": storage.features_to_state(self),
        }
        arrays = storage.weights_to_state(self.weights_, self.attributes_, self.column_nodes_)
        if self._form != "label":
            header["threshold"] = {"at_least_one": self.threshold_.at_least_one}
            arrays["threshold"] = self.threshold_.coefficients
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model that `to_state` described; what does not fit together is refused."""
        classes = storage.classes_from_state(header["classes"])
        names = cls._get_param_names()
        model = cls(**storage.params_from_state(header["params"], names, classes.taxonomy))
        model._adopt(classes)
        n_features, feature_names = storage.features_from_state(header["features"])
        model.n_features_in_ = n_features
        if feature_names is not None:
            model.feature_names_in_ = feature_names
        model.weights_, model.attributes_, model.column_nodes_ = storage.weights_from_state(
            arrays, n_features, len(classes.labels), classes.taxonomy.n_nodes
        )
        model.certificate_ = storage.certificate_from_state(header["certificate"])
        model.n_iter_ = model.certificate_.n_iter
        if classes.form != "label":
            model.threshold_ = storage.threshold_from_state(
                header["threshold"], arrays["threshold"], len(classes.labels)
            )
        return model
