"""What every fitted model with the ranking output can do: score, rank, predict, save. No solver is needed for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from margrove.classifiers.storage import classes_from_state, classes_to_state, params_to_state
from margrove.classifiers.targets import Classes
from margrove.classifiers.thresholds import Threshold
from margrove.errors import InvalidModelFileError
from margrove.modelfile import pack_csr, unpack_csr
from margrove.objective.certificate import Certificate
from margrove.outputs.ranking import top as best

ROWS = 1 << 22  # scores computed together


class RankingModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Class scores F = Lambda W x, decoded by sorting.

    A fitted model has `weights_` (features x columns of Lambda), `attributes_` (Lambda, classes x columns),
    `column_nodes_` (the taxonomy's node of each column, or None), `classes_`, `taxonomy_`, `certificate_`, and
    `threshold_` for multilabel targets.
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
        """Score every class for every row (n x classes); for two classes and single labels, the difference."""
        F = self._class_scores(self._check_X(X))
        if self._is_binary:
            difference: NDArray[Any] = F[:, 1] - F[:, 0]
            return difference
        return F

    @property
    def _is_binary(self) -> bool:
        return self._form == "label" and len(self.classes_) == 2

    def node_scores(self, X: Any) -> NDArray[Any]:
        """Score every node for every row: <w_v, x>, in the order of `taxonomy_.nodes`.

        A class's score is the sum of its ancestors' node scores, each times its attribute. Nodes above all
        classes or none, such as the root, score zero.
        """
        X = self._check_X(X)
        if self.column_nodes_ is None:
            return self._column_scores(X)
        scores = np.zeros((X.shape[0], self.taxonomy_.n_nodes), self.weights_.dtype)
        known = self.column_nodes_ >= 0
        scores[:, self.column_nodes_[known]] = self._column_scores(X)[:, known]
        return scores

    def predict_ranking(self, X: Any, top: int | None = 5, return_scores: bool = False) -> Any:
        """Return the `top` best labels of each row, best first (n x top); None ranks all classes."""
        X = self._check_X(X)
        k = len(self.classes_) if top is None else min(int(top), len(self.classes_))
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
        """Return the label of each row; for multilabel targets, its labels in the form that `y` had."""
        X = self._check_X(X)
        if self._form == "label":
            order = np.empty(X.shape[0], np.int64)
            for rows, F in self._blocks(X):
                order[rows] = F.argmax(axis=1)
            return self.classes_[order]
        chosen = np.empty((X.shape[0], len(self.classes_)), bool)
        sets: list[list[Any]] = []
        for rows, F in self._blocks(X):
            chosen[rows] = self.threshold_.predict(F)
            if self._form == "sets":
                for scores, mine in zip(F, chosen[rows], strict=True):
                    numbers = np.flatnonzero(mine)
                    ranked = numbers[np.argsort(-scores[numbers], kind="stable")]
                    sets.append(self.classes_[ranked].tolist())
        return sets if self._form == "sets" else chosen.astype(np.int64)

    def _blocks(self, X: Any) -> Any:
        """Class scores of a block of rows at a time, so that memory stays bounded."""
        step = max(1, ROWS // max(self.attributes_.shape))
        for start in range(0, X.shape[0], step):
            rows = slice(start, min(start + step, X.shape[0]))
            yield rows, self._class_scores(X[rows])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose label, or whole set of labels, is right."""
        predicted = self.predict(X)
        if self._form == "sets":
            right = [set(mine) == set(theirs) for mine, theirs in zip(predicted, y, strict=True)]
            return float(np.average(right, weights=sample_weight))
        return float(super().score(X, y, sample_weight))

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
        """Return the model as plain values and arrays; mostly empty weights are stored by their nonzeros."""
        params, arrays = params_to_state(self.get_params(deep=False))
        header: dict[str, Any] = {
            "params": params,
            "classes": classes_to_state(self.classes_, self.class_nodes_, self.taxonomy_, self._form),
            "certificate": self.certificate_.as_dict(),
            "n_features": int(self.n_features_in_),
            "feature_names": [str(name) for name in getattr(self, "feature_names_in_", [])] or None,
            "threshold": None,
        }
        if self._form != "label":
            header["threshold"] = {"at_least_one": self.threshold_.at_least_one}
            arrays["threshold"] = self.threshold_.coefficients
        if self.column_nodes_ is not None:
            arrays["column_nodes"] = self.column_nodes_
        arrays |= pack_csr("attributes", self.attributes_)
        W = self.weights_
        if np.count_nonzero(W) * (4 + W.itemsize) < W.nbytes:
            arrays |= pack_csr("weights", sp.csr_array(W))
        else:
            arrays["weights"] = W
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model that `to_state` described; what does not fit together is refused."""
        model = cls(**{name: value for name, value in header["params"].items() if name in cls._get_param_names()})
        classes = classes_from_state(header["classes"])
        model._adopt(classes)
        W = arrays["weights"] if "weights" in arrays else unpack_csr("weights", arrays).toarray()
        Lambda = unpack_csr("attributes", arrays)
        nodes = arrays.get("column_nodes")
        n_features = header["n_features"]
        if not (
            W.ndim == 2
            and W.dtype in (np.float32, np.float64)
            and W.shape == (n_features, Lambda.shape[1])
            and Lambda.shape[0] == len(classes.labels) > 0
            and (nodes is None or (nodes.dtype.kind == "i" and nodes.shape == (Lambda.shape[1],)))
            and (nodes is None or bool((nodes < classes.taxonomy.n_nodes).all()))
        ):
            raise InvalidModelFileError("weights, attributes and classes do not fit together")
        model.weights_, model.attributes_, model.column_nodes_ = W, Lambda.astype(W.dtype), nodes
        model.n_features_in_ = n_features
        if header["feature_names"] is not None:
            model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
            if len(model.feature_names_in_) != n_features:
                raise InvalidModelFileError("the names of the features do not fit their number")
        fields = Certificate.__dataclass_fields__
        model.certificate_ = Certificate(**{k: v for k, v in header["certificate"].items() if k in fields})
        model.n_iter_ = model.certificate_.n_iter
        if classes.form != "label":
            coefficients = arrays["threshold"].astype(np.float64)
            if len(coefficients) != min(16, len(classes.labels)) + 1:
                raise InvalidModelFileError("the threshold does not fit the classes")
            model.threshold_ = Threshold(coefficients, bool(header["threshold"]["at_least_one"]))
        return model
