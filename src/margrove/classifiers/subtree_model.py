"""The subtrees output of a fitted model: sets of nodes closed upwards, and comparable node scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.classifiers.class_model import ClassModel
from margrove.classifiers.examples import Examples
from margrove.classifiers.folds import FOLDS, deal, splits
from margrove.classifiers.node_chances import NodeChances
from margrove.classifiers.targets import Classes, refuse_root
from margrove.errors import DataError, InvalidModelFileError
from margrove.objective.inputs import Similarities, Vectors
from margrove.outputs.labels import LabelSets
from margrove.outputs.subtrees import Subtrees

Learn = Callable[[NDArray[np.int64]], NDArray[Any]]
"""From numbers of examples to weights learned of these."""


class SubtreeModel(ClassModel):
    """Predicts the best closed set of nodes (U.1): in a tree by dynamic programming, in a graph by a cut.

    Columns are the outputs of `Subtrees`. For single labels, the sets of the classes compete: a class scores
    the sum over the nodes above it.
    """

    _subtrees: Subtrees
    _whole: bool
    """Whether y names with a label all classes above it, so that predictions do the same."""
    calibration_: NodeChances | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _adopt(self, classes: Classes) -> None:
        super()._adopt(classes)
        self._subtrees = Subtrees.of(classes.taxonomy, classes.nodes)

    def _n_outputs(self) -> int:
        return len(self._subtrees)

    def _class_scores(self, X: Any) -> NDArray[Any]:
        S = self._column_scores(X)
        if self._form == "label":
            sums: NDArray[Any] = S @ self._subtrees.closures.T
            return sums
        margins: NDArray[Any] = self._subtrees.margins(S)[:, self._subtrees.end]
        return margins

    def node_scores(self, X: Any) -> NDArray[Any]:
        """Score every node for every row (U.5), with columns in the order of `taxonomy_.nodes`.

        By how much the best set with the node is better than the best without: positive in the predicted set,
        never higher than at what is above, and of one measure for all nodes of a row. The root scores as the
        best node, and a node without classes at or below as the worst, at most zero.
        """
        X = self._check_X(X)
        margins = self._subtrees.margins(self._column_scores(X))
        scores = np.full((len(margins), self.taxonomy_.n_nodes), margins.min(axis=1, initial=0.0)[:, None])
        scores[:, self._subtrees.nodes] = margins
        scores[:, 0] = margins.max(axis=1, initial=0.0)
        return scores

    def node_probabilities(self, X: Any) -> NDArray[Any]:
        """The chance of every node to be right, with columns in the order of `taxonomy_.nodes` (U.21).

        Needs `calibrate=True` in training. A chance is never higher than above; the root's is one.
        """
        X = self._check_X(X)
        if self.calibration_ is None:
            raise DataError("node_probabilities needs a calibration; fit with calibrate=True")
        found = self.calibration_.predict(self._subtrees.margins(self._column_scores(X)))
        chances = np.zeros((len(found), self.taxonomy_.n_nodes))
        chances[:, self._subtrees.nodes] = self._subtrees.lowered(found)
        chances[:, 0] = 1.0
        return chances

    def predict(self, X: Any) -> Any:
        """Return the label of each row; for label sets, those of the predicted set in the form that `y` had.

        These are the deepest nodes of the set: those without a node of the set below, best first, by the
        taxonomy's name where a node is no class. Where `y` names with its labels all classes above them too,
        so do predictions. Indicators have a one for each of these that is a class.
        """
        X = self._check_X(X)
        if self._form == "label":
            return self.classes_[self._winners(X)]
        S = self._column_scores(X)
        named = self._named(self._subtrees.best(S))
        if self._form == "indicator":
            return named[:, self._subtrees.end].astype(np.int64)
        labels = self._labels()
        margins = self._subtrees.margins(S)
        sets: list[list[Any]] = []
        for mine, scores in zip(named, margins, strict=True):
            outputs = np.flatnonzero(mine)
            sets.append([labels[k] for k in outputs[np.argsort(-scores[outputs], kind="stable")]])
        return sets

    def _named(self, sets: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which outputs of a closed set a label is given for."""
        if self._whole:
            is_class = np.zeros(len(self._subtrees), bool)
            is_class[self._subtrees.end] = True
            return sets & is_class
        deepest: NDArray[np.bool_] = sets & ~((sets @ self._subtrees.edges) > 0)
        return deepest

    def _labels(self) -> list[Any]:
        """What each output is called."""
        labels: list[Any] = [self.taxonomy_.name(v) for v in self._subtrees.nodes.tolist()]
        for k, label in zip(self._subtrees.end.tolist(), self.classes_.tolist(), strict=True):
            labels[k] = label
        return labels

    def _right(self, X: Any, truth: LabelSets) -> NDArray[np.bool_]:
        """Which rows are predicted right: their whole set of nodes."""
        if self._form == "label":
            return super()._right(X, truth)
        q = len(self.classes_)
        Y = truth.matrix(max(q, int(truth.numbers.max(initial=-1)) + 1))
        strange = np.asarray(Y[:, q:].sum(axis=1)).ravel() > 0
        found = self._subtrees.best(self._column_scores(X))
        right: NDArray[np.bool_] = (found == closed_sets(self._subtrees, Y[:, :q])).all(axis=1)
        return right & ~strange

    def _keep(self, examples: Examples, subtrees: Subtrees, W: NDArray[Any], certificate: Any) -> None:
        """Keep weights of the outputs (inputs x outputs), and how y speaks of sets."""
        identity = sp.eye_array(len(subtrees), format="csr")
        examples.keep(self, W, certificate, identity, subtrees.nodes)
        self._whole = examples.classes.form != "label" and _names_all(examples.Y, subtrees)

    def _calibrated(
        self,
        inputs: Vectors | Similarities,
        right: NDArray[np.bool_],
        weight: NDArray[np.float64],
        subtrees: Subtrees,
        learn: Learn,
    ) -> NodeChances:
        """Learn from margins of rows that were held out."""
        scores = np.zeros(right.shape)
        for rest, out in splits(deal(len(right), FOLDS)):
            scores[out] = inputs.held_out(learn(rest), out, rest)
        return NodeChances.fit(subtrees.margins(scores), right, weight)

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the model as plain values and arrays."""
        header, arrays = super().to_state()
        header["whole"] = self._whole
        if self.calibration_ is not None:
            arrays["calibration"] = np.stack([self.calibration_.slope, self.calibration_.offset])
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model that `to_state` described; what does not fit together is refused."""
        model = super().from_state(header, arrays)
        if type(header["whole"]) is not bool:
            raise InvalidModelFileError(f"how labels speak of sets is {header['whole']!r}")
        model._whole = header["whole"]
        model.calibration_ = None
        lines = arrays.get("calibration")
        if lines is not None:
            if lines.shape != (2, model._n_outputs()) or not np.isfinite(lines).all():
                raise InvalidModelFileError("the calibration does not fit the nodes")
            model.calibration_ = NodeChances(*lines.astype(np.float64))
        return model


def read_examples(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Examples, Subtrees, NDArray[np.bool_]]:
    """Rows, the outputs, and the right set of each row."""
    examples = Examples.read(estimator, X, y, sample_weight, miscellaneous=False)
    classes = examples.classes
    refuse_root(classes, "; for a row without labels give an empty list")
    subtrees = Subtrees.of(classes.taxonomy, classes.nodes)
    return examples, subtrees, closed_sets(subtrees, examples.Y)


def closed_sets(subtrees: Subtrees, Y: sp.csr_array) -> NDArray[np.bool_]:
    """The nodes at or above the classes of each row."""
    found: NDArray[np.bool_] = (Y @ subtrees.closures).toarray() > 0
    return np.ascontiguousarray(found)


def _names_all(Y: sp.csr_array, subtrees: Subtrees) -> bool:
    """Whether some class is above another one, and no row has the lower without the higher."""
    among = subtrees.closures[:, subtrees.end]  # classes x classes: at or above
    if among.nnz == len(subtrees.end):
        return False
    return bool((Y @ among).astype(bool).sum() == Y.sum())
