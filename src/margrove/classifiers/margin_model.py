"""What every fitted model has, whatever its output: scores of nodes, and a file to be saved in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from margrove import similarity
from margrove.classifiers import storage
from margrove.classifiers.examples import read_X
from margrove.classifiers.merged import Merged
from margrove.classifiers.targets import Classes
from margrove.errors import InvalidModelFileError
from margrove.modelfile import pack_part


class MarginModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Column scores s = W x + intercept, and output scores F = Lambda s.

    A fitted model has `weights_` (features x columns of Lambda), `attributes_` (Lambda, outputs x columns),
    `column_nodes_` (the taxonomy's node of each column, or None), `classes_`, `taxonomy_`, `certificate_`.
    With a similarity, `similarity_` knows the rows that matter, and `weights_` has their coefficients.
    """

    _is_certified = True
    """Whether a fit ends with a `certificate_`."""
    similarity_: similarity.BoundSimilarity | None
    intercept_: NDArray[Any] | None = None
    """Added to the column scores."""
    _W: NDArray[Any]
    """Weights as training had them: of inputs."""
    _merged: Merged | None = None
    """Which input each feature is part of, where they are not the same."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kind = getattr(similarity.get(self.kernel), "kind", None)
        tags.input_tags.sparse = kind != "subsequence"
        tags.input_tags.pairwise = kind == "precomputed"
        tags.input_tags.string = kind == "subsequence"
        return tags

    @property
    def weights_(self) -> NDArray[Any]:
        """W, features x columns of Lambda; with a similarity, coefficients of the rows that matter."""
        return self._W if self._merged is None else self._merged.weights(self._W)

    def _keep_weights(self, W: NDArray[Any], merged: Merged | None = None) -> None:
        self._W, self._merged = W, merged

    @property
    def _input_weights(self) -> NDArray[Any]:
        """W, inputs x columns of Lambda."""
        return self._W

    def _check_X(self, X: Any) -> Any:
        check_is_fitted(self, "classes_")
        return read_X(self, X, reset=False)

    def _column_scores(self, X: Any) -> NDArray[Any]:
        """W x for each row, by column of Lambda."""
        W = self._input_weights
        if self.similarity_ is None:
            rows = X.astype(W.dtype, copy=False)
            scores: NDArray[Any] = (rows if self._merged is None else self._merged.rows(rows)) @ W
        else:
            scores = np.empty((X.shape[0], W.shape[1]), W.dtype)
            for rows, block in self.similarity_.blocks(X):
                scores[rows] = block @ W
        if self.intercept_ is not None:
            scores += self.intercept_
        return scores

    def node_scores(self, X: Any) -> NDArray[Any]:
        """Score every node for every row, <w_v, x>, with columns in the order of `taxonomy_.nodes`.

        An output's score is the sum over nodes of its attribute times the node's score. A node that makes no
        difference, above all classes (as the root) or none, scores zero. With attributes that are a matrix
        of the user's, the columns are those of `attributes_` instead.
        """
        X = self._check_X(X)
        if self.column_nodes_ is None:
            return self._column_scores(X)
        scores = np.zeros((X.shape[0], self.taxonomy_.n_nodes), self._input_weights.dtype)
        known = self.column_nodes_ >= 0
        scores[:, self.column_nodes_[known]] = self._column_scores(X)[:, known]
        return scores

    def _adopt(self, classes: Classes) -> None:
        """Keep what prediction needs to know of the targets."""
        self.classes_ = classes.labels
        self.taxonomy_ = classes.taxonomy
        self.class_nodes_ = classes.nodes
        self._form = classes.form

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which `margrove.load` reads."""
        from margrove import loading

        check_is_fitted(self, "classes_")
        loading.save(self, path)

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the model as plain values and arrays."""
        check_is_fitted(self, "classes_")
        certificate = getattr(self, "certificate_", None)
        header = {
            "params": storage.params_to_state(self.get_params(deep=False)),
            "classes": storage.classes_to_state(self.classes_, self.class_nodes_, self.taxonomy_, self._form),
            "certificate": None if certificate is None else certificate.as_dict(),
            "features": storage.features_to_state(self),
        }
        arrays = storage.weights_to_state(self._stored_weights(), self.attributes_, self.column_nodes_)
        if self._merged is not None:
            arrays |= self._merged.to_state()
        if self.intercept_ is not None:
            arrays["intercept"] = self.intercept_
        if self.similarity_ is not None:
            header["similarity"], rows = self.similarity_.to_state()
            arrays |= pack_part("similarity", rows)
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model that `to_state` described; what does not fit together is refused."""
        classes = storage.classes_from_state(header["classes"])
        names = cls._get_param_names()
        model = cls(**storage.params_from_state(header["params"], names, classes.taxonomy))
        model._adopt(classes)
        model.n_features_in_, feature_names = storage.features_from_state(header["features"])
        if feature_names is not None:
            model.feature_names_in_ = feature_names
        model.similarity_ = storage.similarity_from_state(header.get("similarity"), arrays)
        W, model.attributes_, model.column_nodes_ = storage.weights_from_state(
            arrays, model._n_outputs(), classes.taxonomy.n_nodes
        )
        if model.similarity_ is None:
            n_inputs, merged = model.n_features_in_, Merged.from_state(arrays, model.n_features_in_, len(W))
        else:
            n_inputs, merged = model.similarity_.n, None
        if merged is None and len(W) != n_inputs:
            raise InvalidModelFileError(f"there are weights of {len(W):,} inputs, not of {n_inputs:,}")
        model._keep_weights(W, merged)
        model.intercept_ = storage.intercept_from_state(arrays, W)
        if header["certificate"] is not None or cls._is_certified:
            model.certificate_ = storage.certificate_from_state(header["certificate"])
            model.n_iter_ = model.certificate_.n_iter
        return model

    def _stored_weights(self) -> NDArray[Any]:
        """The weights of which a file keeps a copy."""
        return self._W

    def _n_outputs(self) -> int:
        """How many rows Lambda has."""
        return len(self.classes_)
