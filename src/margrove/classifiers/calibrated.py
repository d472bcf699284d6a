"""Probabilities of classes and of all nodes above them, from any margin classifier's scores (Q.1 to Q.7)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from margrove.classifiers.calibration import Calibration, held_out_scores
from margrove.classifiers.class_model import ClassModel, ranking, row_blocks
from margrove.classifiers.examples import read_X
from margrove.classifiers.fitting import check_choice, check_count, unchanged_on_failure
from margrove.classifiers.hierarchical_svm import HierarchicalSVM
from margrove.classifiers.label_forms import path_label, read_rows
from margrove.classifiers.targets import number_labels
from margrove.errors import DataError, InvalidModelFileError, LabelError
from margrove.modelfile import pack_part, unpack_part
from margrove.outputs.labels import check_lengths, read_weights
from margrove.outputs.paths import Steepness, best_paths

if TYPE_CHECKING:
    from margrove.objective.certificate import Certificate
    from margrove.solvers.progress import Watch
    from margrove.taxonomy import Taxonomy

ROUNDING = 1e-12  # by which a sum of probabilities may miss what it should be


class CalibratedTaxonomyClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Probabilities that agree across the levels of a taxonomy, whatever the classifier below.

    The children of a node share its probability, by a softmax of their scores (Q.2). How steeply it follows
    them depends on the depth and on how far the best child leads, and is that of least logarithmic loss on
    rows that were held out of the fit that scored them (Q.4).

    Parameters
    ----------
    estimator : classifier of one label a row
        Any of this package; `HierarchicalSVM()` by default. It is fitted to all rows, and once for each fold.
    folds : int
        Parts that the rows are dealt to. They are held out in turn until there are enough rows.
    knots : int
        Leads at which each depth has a steepness of its own, with lines between; 1 for the same everywhere.
    decode : "best-path" or "steps"
        Whether `predict` gives the most probable class (Q.6), or that to which steps to the best child lead.

    Attributes
    ----------
    estimator_ : the classifier, fitted to all rows
    classes_, taxonomy_, class_nodes_, certificate_ : those of it
    calibration_ : the steepness at each depth
    """

    def __init__(
        self, estimator: Any = None, *, folds: int = 5, knots: int = 4, decode: str = "best-path"
    ) -> None:
        self.estimator = estimator
        self.folds = folds
        self.knots = knots
        self.decode = decode

    estimator_: ClassModel
    calibration_: Calibration

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        below = get_tags(HierarchicalSVM() if self.estimator is None else self.estimator)
        tags.input_tags = below.input_tags
        return tags

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        return self.estimator_.classes_

    @property
    def taxonomy_(self) -> Taxonomy:
        """The taxonomy of the classes."""
        return self.estimator_.taxonomy_

    @property
    def class_nodes_(self) -> tuple[Any, ...]:
        """The node of each class."""
        return self.estimator_.class_nodes_

    @property
    def certificate_(self) -> Certificate:
        """How close the fit to all rows is to the optimum."""
        certificate: Certificate = self.estimator_.certificate_
        return certificate

    @property
    def n_features_in_(self) -> int:
        """How many features rows have."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Their names, where they have any."""
        names: NDArray[Any] = self.estimator_.feature_names_in_
        return names

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        calibration_weight: Any = None,
        watch: Watch | None = None,
    ) -> Self:
        """Fit the estimator to all rows, and the probabilities to scores of held-out ones.

        Where the rows to come are not like all of these, `calibration_weight` says how like them each row is:
        its share in learning the probabilities, 0 for those never held out. `watch` is passed to the fit to
        all rows.
        """
        check_count(self, "folds")
        check_count(self, "knots")
        if self.knots < 1:
            raise ValueError(f"knots is {self.knots!r}; expected at least 1")
        if self.folds < 2:
            raise ValueError(f"folds is {self.folds!r}; expected at least 2")
        check_choice(self, decode=("best-path", "steps"))
        estimator = HierarchicalSVM() if self.estimator is None else self.estimator
        if not isinstance(estimator, ClassModel):
            raise ValueError(
                f"estimator is {estimator!r}; expected a classifier of this package that gives one label a "
                "row, as HierarchicalSVM. In a pipeline, make this the last step"
            )
        with unchanged_on_failure(self):
            given = {"sample_weight": sample_weight, "watch": watch}
            options = {name: value for name, value in given.items() if value is not None}
            for name in options:
                if not has_fit_parameter(estimator, name):
                    raise ValueError(f"{type(estimator).__name__} takes no {name}")
            estimator = clone(estimator)
            read_X(estimator, X, reset=True)  # what is wrong with X is said first
            if y is not None and read_rows(y).form != "label":  # before the long fit
                raise LabelError("y holds several labels a row; probabilities are those of one label a row")
            self.estimator_ = estimator.fit(X, y, **options)
            X = self.estimator_._check_X(X)
            numbers = number_labels(y, self.classes_).numbers
            weight = read_weights(sample_weight, X.shape[0])
            share = _read_share(calibration_weight, X.shape[0])
            scores, right, weight = held_out_scores(
                self.estimator_, X, numbers, weight, share, int(self.folds)
            )
            self.calibration_ = Calibration.fit(self.estimator_, scores, right, weight, int(self.knots))
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class for each row, in the order of `classes_`."""
        X = self._check_X(X)
        P = np.empty((X.shape[0], len(self.classes_)))
        for rows, scores in self._blocks(X):
            P[rows] = self.calibration_.probabilities(scores)
        return P

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        X = self._check_X(X)
        logs = np.empty((X.shape[0], len(self.classes_)))
        for rows, scores in self._blocks(X):
            logs[rows] = self.calibration_.log_probabilities(scores)
        return logs

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of the probabilities; for two classes, the second's less the first's."""
        logs = self.predict_log_proba(X)
        return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs

    def node_probabilities(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each of `taxonomy_.nodes`: that of all classes at and below it (Q.3)."""
        return self.predict_proba(X) @ self._above

    @property
    def _above(self) -> sp.csr_array:
        """Classes x nodes: ones at and above each class."""
        return self.taxonomy_.ancestor_matrix(self.class_nodes_)

    def predict(self, X: Any, confidence: float | None = None, return_scores: bool = False) -> Any:
        """Return the label of each row, or with `confidence` the deepest node of at least this probability.

        That is a label, or the name of an inner node (its path where labels are paths), at worst of the root
        (Q.7). With `return_scores`, a pair: these, and their probabilities.
        """
        X = self._check_X(X)
        if confidence is not None:
            numbers, probability = self._deepest(X, _checked(confidence))
            found = node_labels(self.estimator_)[numbers]
            return (found, probability) if return_scores else found
        winners = self._winners(X)
        labels = self.classes_[winners]
        if not return_scores:
            return labels
        return labels, np.take_along_axis(self.predict_proba(X), winners[:, None], axis=1)[:, 0]

    def _winners(self, X: Any) -> NDArray[np.int64]:
        """The number of the class that `decode` leads to; of equal ones, the first wins."""
        at = self.calibration_
        winners = [np.empty(0, np.int64)]
        for _, scores in self._blocks(X):
            choice = at.choice_scores(scores)
            if self.decode == "steps":
                winners.append(at.descent.class_margins(choice).argmax(axis=1))
            else:
                winners.append(best_paths(at.descent, choice, at.steepness))
        return np.concatenate(winners)

    def _deepest(self, X: Any, confidence: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The deepest node of enough probability; of equally deep ones the most probable, then the first."""
        numbers, probability = np.empty(X.shape[0], np.int64), np.empty(X.shape[0])
        above, depths = self._above, self.taxonomy_.depths
        for rows, scores in self._blocks(X):
            P = np.minimum(self.calibration_.probabilities(scores) @ above, 1.0)
            P[:, 0] = 1.0
            is_enough = confidence - ROUNDING <= P
            numbers[rows] = np.where(is_enough, depths + 0.5 * P, -1).argmax(axis=1)
            probability[rows] = np.take_along_axis(P, numbers[rows, None], axis=1)[:, 0]
        return numbers, probability

    def predict_ranking(self, X: Any, top: int | None = 5, return_scores: bool = False) -> Any:
        """Return the `top` most probable labels of each row, best first (rows x top), or all with None.

        With `return_scores`, a pair: the labels, and their probabilities. Of equal ones, the first wins.
        """
        X = self._check_X(X)
        blocks = ((rows, self.calibration_.probabilities(scores)) for rows, scores in self._blocks(X))
        labels, scores = ranking(blocks, X.shape[0], self.classes_, top, np.float64)
        return (labels, scores) if return_scores else labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose label is right; `y` as in `fit`."""
        X = self._check_X(X)
        truth = number_labels(y, self.classes_)
        check_lengths(X=X.shape[0], y=len(truth))
        if not truth.single:
            raise LabelError("y holds several labels a row, but the model was fitted to one a row")
        right = self.estimator_._agrees(self._winners(X), truth.numbers)
        return float(np.average(right, weights=read_weights(sample_weight, len(right))))

    def node_scores(self, X: Any) -> NDArray[Any]:
        """Return the estimator's own scores of nodes."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.node_scores(X)

    def _check_X(self, X: Any) -> Any:
        check_is_fitted(self, "estimator_")
        X = self.estimator_._check_X(X)
        # a dense product in single precision depends on how many rows there are, a sparse one does not
        is_single = self.estimator_.similarity_ is None and self.estimator_._input_weights.dtype == np.float32
        return sp.csr_array(X) if is_single and not sp.issparse(X) else X

    def _blocks(self, X: Any) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Scores of a block of rows at a time, so that memory stays bounded."""
        for rows in row_blocks(X.shape[0], max(self.taxonomy_.n_nodes, len(self.classes_))):
            yield rows, self.estimator_._choice_scores(X[rows])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which `margrove.load` reads."""
        from margrove import loading

        check_is_fitted(self, "estimator_")
        loading.save(self, path)

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the model as plain values and arrays."""
        from margrove import loading

        check_is_fitted(self, "estimator_")
        estimator, arrays = loading.describe(self.estimator_)
        header = {"folds": int(self.folds), "knots": int(self.knots), "decode": self.decode}
        header |= {"estimator": estimator, "evidence": self.calibration_.evidence}
        steepness = self.calibration_.steepness._asdict()
        return header, pack_part("estimator", arrays) | pack_part("steepness", steepness)

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model that `to_state` described; what does not fit together is refused."""
        from margrove import loading

        estimator = loading.restore(header["estimator"], unpack_part("estimator", arrays))
        if not isinstance(estimator, ClassModel) or estimator._form != "label":
            raise InvalidModelFileError(f"a {type(estimator).__name__} has no probabilities of single labels")
        options = {name: header[name] for name in ("folds", "knots", "decode")}
        is_whole = type(options["folds"]) is int and type(options["knots"]) is int
        if not is_whole or options["knots"] < 1 or options["decode"] not in ("best-path", "steps"):
            raise InvalidModelFileError(f"folds, knots or decode is not valid: {options}")
        model = cls(estimator, **options)
        model.estimator_ = estimator
        steepness = Steepness(arrays["steepness.knots"], arrays["steepness.values"])
        model.calibration_ = Calibration.from_state(
            estimator, header["evidence"], steepness, options["knots"]
        )
        return model


def node_labels(model: Any) -> NDArray[Any]:
    """What to call each node of a model's taxonomy: a class by its label, others in the same manner."""
    taxonomy = model.taxonomy_
    named = [taxonomy.as_label(node) for node in model.class_nodes_]
    by_path = named != model.classes_.tolist()
    labels = np.empty(taxonomy.n_nodes, dtype=object)
    for v, node in enumerate(taxonomy.nodes):
        labels[v] = path_label(taxonomy.label_path(node)) if by_path and v else node
    for node, label in zip(taxonomy.indices(model.class_nodes_), model.classes_.tolist(), strict=True):
        labels[node] = label
    return labels


def _read_share(calibration_weight: Any, n: int) -> NDArray[np.float64]:
    try:
        return read_weights(calibration_weight, n)
    except DataError as error:
        raise DataError(str(error).replace("sample_weight", "calibration_weight")) from None


def _checked(confidence: float) -> float:
    value = float(confidence)
    if not 0 < value <= 1:
        raise ValueError(f"confidence is {confidence!r}; expected a probability above 0, at most 1")
    return value
