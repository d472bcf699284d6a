"""From scores of held-out rows to the steepness of choices at each depth (Q.4, Q.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import norm
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from margrove import similarity
from margrove.classifiers.class_model import ClassModel, row_blocks
from margrove.classifiers.examples import identities
from margrove.classifiers.folds import deal_by_class, splits
from margrove.classifiers.rows import as_csr, distinct_rows
from margrove.classifiers.steepness import Choices, steepness, steepness_by_lead
from margrove.classifiers.targets import with_miscellaneous
from margrove.errors import DataError, InvalidModelFileError
from margrove.outputs.descent import Descent
from margrove.outputs.paths import Steepness, log_probabilities, of_classes, scores_below, spans
from margrove.similarity.given import Precomputed
from margrove.similarity.sequences import Subsequence

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

NORMALISED = 1e-4  # by which the lengths of normalised rows may differ
ENOUGH = 4096  # rows held out, for a few numbers to be learned from
HELD_OUT = 1 << 24  # scores that are kept


@dataclass(frozen=True)
class Calibration:
    """The choices that lead to each class, and how steeply probabilities follow scores at each depth."""

    descent: Descent
    steepness: Steepness
    evidence: float | None
    """Of the class scores that make those above (Q.1); None where outputs have scores of their own."""

    @classmethod
    def fit(
        cls, model: ClassModel, scores: NDArray[Any], right: Whole, weight: Array, knots: int
    ) -> Calibration:
        """Learn from scores of rows, the numbers of their classes, and weights."""
        descent = descent_of(model)
        evidence = None
        if not model._descends:
            evidence = steepness(_flat_choices(scores, right, weight))
            scores = scores_below(descent, scores, evidence)
        found = Steepness(*np.empty((2, len(descent.levels), knots)))
        at = descent.end[right]
        for depth in range(len(descent.levels), 0, -1):
            here = np.flatnonzero(descent.depth[at] == depth)
            choices = _choices(descent, scores, here, at[here], weight)
            found.knots[depth - 1], found.values[depth - 1] = steepness_by_lead(choices, knots)
            at = at.copy()
            at[here] = descent.parent[at[here]]
        return cls(descent, found, evidence)

    @classmethod
    def from_state(cls, model: ClassModel, evidence: Any, found: Steepness, knots: int) -> Calibration:
        """The calibration of a loaded model; what does not fit it is refused."""
        descent = descent_of(model)
        numbers = np.asarray([0.0] if model._descends else [evidence])
        for table in (*found, numbers):
            if table.dtype.kind != "f" or not (np.isfinite(table) & (table >= 0)).all():
                raise InvalidModelFileError("the calibration does not fit the model")
        shape = (len(descent.levels), knots)
        if any(table.shape != shape for table in found) or not (np.diff(found.knots, axis=1) > 0).all():
            raise InvalidModelFileError("the calibration does not fit the model")
        steep = Steepness(*(table.astype(np.float64) for table in found))
        return cls(descent, steep, None if model._descends else float(evidence))

    def choice_scores(self, scores: NDArray[Any]) -> NDArray[Any]:
        """The score of each output beside its siblings."""
        return scores if self.evidence is None else scores_below(self.descent, scores, self.evidence)

    def log_probabilities(self, scores: NDArray[Any]) -> Array:
        """The logarithm of each class's probability."""
        logs = log_probabilities(self.descent, self.choice_scores(scores), self.steepness)
        return of_classes(self.descent, logs)

    def probabilities(self, scores: NDArray[Any]) -> Array:
        """The probability of each class."""
        return np.exp(self.log_probabilities(scores))


def descent_of(model: ClassModel) -> Descent:
    """The choices that lead to each class; in a graph, along first parents.

    A class at an inner node is chosen beside the node's children, unless the model never ends there (S.3).
    """
    nodes, taxonomy = list(model.class_nodes_), model.taxonomy_
    if not model._descends:
        nodes, taxonomy = with_miscellaneous(nodes, taxonomy)
    return Descent.along_first_parents(taxonomy, nodes)


def held_out_scores(
    model: ClassModel, X: Any, number: Whole, weight: Array, share: Array, folds: int
) -> tuple[NDArray[Any], Whole, Array]:
    """Scores of rows by fits that did not see them, the numbers of their classes, and their weights.

    Equal rows of a class count as one of their weight. Rows without a share are not held out, nor is the only
    row of a class. A class whose rows all weigh nothing is there in every fit, by one of them.
    """
    if sp.issparse(X):
        X = as_csr(X)  # the caller's matrix stays as it is, sorted or not
    n, q = X.shape[0], len(model.classes_)
    Y = sp.csr_array((np.ones(n), (np.arange(n), number)), shape=(n, q))
    kernel = similarity.get(model.kernel)
    rows, weight = distinct_rows(identities(kernel, X), Y, weight)
    weightless = np.setdiff1d(number, number[rows])
    silent = np.array([np.argmax(number == r) for r in weightless], np.int64)
    all_numbers, number = number, number[rows]
    fold = deal_by_class(number, folds, share[rows] > 0)
    if q > 1 and not (fold >= 0).any():
        raise DataError(
            f"n_samples={n}: no class has two different rows of which one can be held out to learn "
            "probabilities from"
        )
    width = q if not model._descends else len(descent_of(model))
    chosen = _enough(fold, max(1, HELD_OUT // max(width, 1))) if q > 1 else np.empty(0, np.int64)
    place = np.full(len(rows), -1)
    place[chosen] = np.arange(len(chosen))
    scores = np.empty((len(chosen), width), model._input_weights.dtype)
    length = None if isinstance(kernel, Precomputed | Subsequence) else common_length(X)
    for learn, out in splits(fold):
        out = out[place[out] >= 0]
        if not len(out):
            continue
        fitted = clone(model).set_params(taxonomy=model.taxonomy_)
        known = np.append(rows[learn], silent)
        learned = _take(kernel, X, known, known)
        weights = np.append(weight[learn], np.zeros(len(silent)))
        given = [weights] if has_fit_parameter(fitted, "sample_weight") else []
        fitted.fit(learned, model.classes_[all_numbers[known]], *given)
        seen: Any = None if length is None else (abs(X[rows[learn]]).sum(axis=0) > 0).astype(X.dtype)
        for part in row_blocks(len(out), width):
            block = out[part]
            inputs = _take(kernel, X, rows[block], known)
            if length is not None:
                inputs = without_unseen(inputs, seen, length)
            scores[place[block]] = fitted._choice_scores(inputs)
    weight, share = weight[chosen], share[rows[chosen]]
    counted = share * (weight.sum() / (weight @ share)) if len(chosen) else share  # as many rows as before
    return scores, number[chosen], weight * counted


def _enough(fold: Whole, most: int) -> Whole:
    """Some of the rows of as few folds as hold enough rows, and no more than fit into memory."""
    most = min(most, ENOUGH)
    n_folds = 1 + int(np.searchsorted(np.cumsum(np.bincount(fold[fold >= 0])), most))
    held = np.flatnonzero((fold >= 0) & (fold < n_folds))
    return np.sort(np.random.default_rng(0).permutation(held)[:most])


def common_length(X: Any) -> float | None:
    """The length of all rows but empty ones, if they have the same, as those of normalised texts have."""
    lengths = norm(sp.csr_array(X), axis=1)
    lengths = lengths[lengths > 0]
    if not len(lengths) or np.ptp(lengths) > NORMALISED * lengths.max():
        return None
    return float(lengths.mean())


def without_unseen(X: Any, seen: NDArray[Any], length: float) -> Any:
    """Rows as new ones are: without features that no row of the fit has, and of the same length all the same.

    A vectorizer that was fitted to these rows too knows words which it would not know in a new row, and so
    leaves less of the row's length to the words that count.
    """
    rows = sp.csr_array(X).multiply(seen).tocsr()
    lengths = norm(rows, axis=1)
    factor = np.divide(length, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    rows = sp.csr_array(rows.multiply(factor[:, None]).astype(X.dtype))
    return rows if sp.issparse(X) else rows.toarray()


def _take(kernel: Any, X: Any, rows: Whole, columns: Whole) -> Any:
    """Some rows; of similarities, those to some of the rows."""
    return X[rows][:, columns] if isinstance(kernel, Precomputed) else X[rows]


def _flat_choices(scores: NDArray[Any], right: Whole, weight: Array) -> Choices:
    """One choice a row, among all columns."""
    n, q = scores.shape
    starts = np.arange(n) * q
    return Choices(scores.ravel(), starts, starts + right, weight)


def _choices(descent: Descent, scores: NDArray[Any], rows: Whole, right: Whole, weight: Array) -> Choices:
    """The choices of some rows among the siblings of the right outputs."""
    owner, column, starts = spans(descent.first[right], descent.last[right])
    return Choices(scores[rows[owner], column], starts, starts + right - descent.first[right], weight[rows])
