"""Choosing C by cross-validation along a path: each fit starts where that of the next smaller C ended."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags, indexable
from sklearn.utils.metaestimators import _safe_split, available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, check_is_fitted

from margrove.outputs.labels import COLLECTIONS

DEFAULT = tuple(10.0 ** (k / 2) for k in range(-4, 6))  # (Wang 3.6.1)


def _has_label_sets(y: Any) -> bool:
    """Whether rows have collections of labels, of which no fold can have an equal share."""
    return y is not None and getattr(y, "ndim", 1) == 1 and isinstance(next(iter(y), None), COLLECTIONS)


def _has(method: str) -> Callable[[Any], bool]:
    """Whether the estimator has a method; the fitted one if there is one."""

    def check(search: Any) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), method)
        return True

    return check


class PathSearch(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Choose C by cross-validation, on paths from the smallest C to the largest.

    On each fold one copy of the estimator is fitted for every C in turn, with `warm_start` where it has that:
    dual variables of a smaller C are feasible for a larger one, and near to its optimum. The scores are
    those of separate fits, up to the estimator's `tol` (Wang 3.7 asks for such paths).

    Parameters
    ----------
    estimator : classifier
        With a parameter C; most gain from its parameter `warm_start`, as those of Margrove have.
    Cs : sequence of float or None
        What to try; None is 10^(-2), 10^(-1.5), .., 10^2.5.
    cv : int, splitter or None
        As in scikit-learn: None is 5 folds with each class in all of them.
    scoring : str, function or None
        As in scikit-learn; None is the estimator's `score`.
    n_jobs : int or None
        How many folds at a time.
    parameter : str
        The name of C: in a pipeline for example "hierarchicalsvm__C".

    Attributes
    ----------
    best_estimator_ : fitted to all rows with the best C;  classes_ : those of it
    best_params_, best_score_, best_index_ : as of `GridSearchCV`
    cv_results_ : dictionary of arrays as of `GridSearchCV`, by rising C;  refit_time_, n_splits_, scorer_
    """

    def __init__(
        self,
        estimator: Any,
        Cs: Sequence[float] | None = None,
        *,
        cv: Any = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        parameter: str = "C",
    ) -> None:
        self.estimator = estimator
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.parameter = parameter

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type, tags.classifier_tags = own.estimator_type, own.classifier_tags
        tags.input_tags, tags.target_tags = own.input_tags, own.target_tags
        return tags

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Choose C and fit with it; `params`, as `sample_weight`, go to every fit, those of rows by rows."""
        Cs = self._values()
        X, y = indexable(X, y)
        with np.errstate(invalid="ignore"):  # labels that are infinite are for the estimator to refuse
            cv = check_cv(self.cv, y, classifier=not _has_label_sets(y))
        scorer = check_scoring(self.estimator, self.scoring)
        folds = list(cv.split(X, y))
        paths = Parallel(n_jobs=self.n_jobs)(
            delayed(self._path)(X, y, params, train, test, Cs, scorer) for train, test in folds
        )
        scores, seconds = np.array(paths).transpose(1, 0, 2)  # folds x Cs, each
        self.cv_results_ = _results(self.parameter, Cs, scores, seconds)
        self.best_index_ = int(
            self.cv_results_["rank_test_score"].argmin()
        )  # of equal scores, the smallest C
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.n_splits_, self.scorer_ = len(folds), scorer
        began = time.perf_counter()
        self.best_estimator_ = clone(self.estimator).set_params(**self.best_params_).fit(X, y, **params)
        self.refit_time_ = time.perf_counter() - began
        return self

    def _values(self) -> list[float]:
        """The values of C, rising."""
        known = self.estimator.get_params()
        if self.parameter not in known:
            raise ValueError(
                f"{type(self.estimator).__name__} has no parameter {self.parameter!r}; name that which is C "
                f"by `parameter`{_such_as(known)}"
            )
        values = np.unique(np.asarray(DEFAULT if self.Cs is None else self.Cs, dtype=np.float64))
        if not (values.size and np.isfinite(values).all() and values.min() > 0):
            raise ValueError(f"Cs is {self.Cs!r}; expected finite numbers above 0")
        return [float(value) for value in values]

    def _path(
        self, X: Any, y: Any, params: Any, train: Any, test: Any, Cs: list[float], scorer: Any
    ) -> tuple[list[float], list[float]]:
        """Scores and seconds of one fold, by C."""
        model = clone(self.estimator)
        warm = self.parameter.removesuffix("C") + "warm_start"
        if warm in model.get_params():
            model.set_params(**{warm: True})
        X_train, y_train = _safe_split(model, X, y, train)
        X_test, y_test = _safe_split(model, X, y, test, train)
        mine = _check_method_params(X, params, indices=train)
        scores, seconds = [], []
        for C in Cs:
            began = time.perf_counter()
            model.set_params(**{self.parameter: C}).fit(X_train, y_train, **mine)
            seconds.append(time.perf_counter() - began)
            scores.append(float(scorer(model, X_test, y_test)))
        return scores, seconds

    @property
    def classes_(self) -> Any:
        """The classes of the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """How many features the best estimator has seen."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError("PathSearch is not fitted, so it has no n_features_in_")
        return int(self.best_estimator_.n_features_in_)

    def score(self, X: Any, y: Any) -> float:
        """The score of the best estimator, by `scoring`."""
        check_is_fitted(self, "best_estimator_")
        return float(self.scorer_(self.best_estimator_, X, y))

    @available_if(_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """What the best estimator predicts."""
        return self._call("predict", X)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The probabilities of the best estimator."""
        return self._call("predict_proba", X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """The scores of the best estimator."""
        return self._call("decision_function", X)

    def _call(self, method: str, X: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        return getattr(self.best_estimator_, method)(X)


def _such_as(names: Iterable[str]) -> str:
    """Those that may be meant."""
    found = [name for name in sorted(names) if name.endswith("__C")]
    return f", as {found[0]!r}" if found else ""


def _results(
    parameter: str, Cs: list[float], scores: NDArray[np.float64], seconds: NDArray[np.float64]
) -> dict[str, Any]:
    """Scores and seconds (folds x Cs) in the form of `GridSearchCV`; what is not finite ranks last."""
    mean = scores.mean(axis=0)
    is_finite = np.isfinite(mean)
    if not is_finite.any():
        raise ValueError("no value of C has a finite score in all folds; see `scoring`")
    if not is_finite.all():
        warnings.warn(f"One or more of the test scores are non-finite: {mean}", UserWarning, stacklevel=3)
    return {
        f"param_{parameter}": np.array(Cs),
        "params": [{parameter: C} for C in Cs],
        "mean_fit_time": seconds.mean(axis=0),
        "std_fit_time": seconds.std(axis=0),
        **{f"split{k}_test_score": fold for k, fold in enumerate(scores)},
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=0),
        "rank_test_score": rankdata(np.where(is_finite, -mean, np.inf), method="min").astype(np.int32),
    }
