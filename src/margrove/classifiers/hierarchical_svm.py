"""Cai's hierarchical multilabel SVM (chapter 4): the ranking output, a plain norm, certified dual ascent."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data

from margrove.classifiers.ranking_model import RankingModel
from margrove.classifiers.rows import canonical_rows
from margrove.classifiers.targets import read_targets
from margrove.classifiers.thresholds import Threshold
from margrove.errors import DataError, LabelError, ScaleWarning
from margrove.objective.contrasts import ContrastProblem, Duals
from margrove.outputs.layout import Layout, arrange
from margrove.taxonomy import Taxonomy, attributes, costs

SINGLE_TOL = 1e-4  # single precision proves gaps down to about here
FOLDS = 3  # that hold out scores for the threshold of multilabel targets
EXTREME = 1e8  # a bound (C times squared norm) beyond this, or below its inverse, earns a warning
SMALL = 1 << 22  # weights up to this many are kept in double precision, so that batches agree to the last digits


class HierarchicalSVM(RankingModel):
    """Large-margin ranking of classes that share what their ancestors have in common (Cai 4.10).

    minimise  1/2 |W|^2 + C sum_i weight_i xi_i
    subject to  F(x_i, y) - F(x_i, r) >= 1 - xi_i / cost(y, r)   for every right class y and wrong class r,
                F = Lambda W x,  xi_i >= 0                                                        (P.3)

    Parameters
    ----------
    taxonomy : Taxonomy, None or "flat"
        What the classes are. None takes it from labels that are paths (`"a/b/c"`, or one column a level) and
        otherwise gives the flat multi-class SVM, as "flat" always does. A label may be an inner node.
    C : float
        The price of the summed slacks against the norm.
    cost : str, cost or matrix
        What confusing two classes costs; see `margrove.costs`. "tree" is half the distance in the tree.
    attributes : str, attributes or matrix
        Lambda: what classes share. "depth-scaled" (Cai 7.2), "depth-scaled-class", "ancestors", "one-hot".
    kernel : "linear"
        The similarity of inputs.
    slack : "example" or "pair"
        One slack for each example, or one for each pair of a right and a wrong class.
    tol : float
        The relative duality gap, (primal - dual) / primal, at which to stop.
    max_iter : int
        Rounds of the solver after which to stop all the same, with a `ConvergenceWarning`.
    n_jobs : int
        Threads for the passes that change no weights; the result is the same to the bit.
    warm_start : bool
        Start from the previous fit's dual variables; for the same rows and labels, as along a path over C.
    verbose : int
        1 writes a line for each round to standard error.
    random_state : int, RandomState or None
        The order in which examples are visited. None is as 0: two fits agree.

    Attributes
    ----------
    classes_ : the labels, sorted;  taxonomy_ : with miscellaneous classes for labels at inner nodes
    weights_ : W, features x columns;  attributes_ : Lambda, classes x columns
    certificate_ : primal, dual, gap, relative_gap, n_iter, status, seconds
    """

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        *,
        cost: Any = "tree",
        attributes: Any = "depth-scaled",
        kernel: str = "linear",
        slack: str = "example",
        tol: float = 0.01,
        max_iter: int = 200,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.cost = cost
        self.attributes = attributes
        self.kernel = kernel
        self.slack = slack
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        watch: Callable[[Any], bool | None] | None = None,
    ) -> Self:
        """Learn from rows and their labels; `watch` sees the progress of every round and may end the fit."""
        self._check_params()
        if y is None:
            raise LabelError("HierarchicalSVM requires y to be passed, but the target y is None")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        classes, Y = read_targets(y, self.taxonomy)
        if X.shape[0] != Y.shape[0]:
            raise LabelError(f"X has {X.shape[0]} rows but y has {Y.shape[0]}; inconsistent numbers of samples")
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not (weight > 0).any():
            raise DataError("sample_weight: every weight is zero, so there is nothing to learn from")
        self._adopt(classes)
        Lambda, nodes = attributes.get(self.attributes).bind(classes.taxonomy, classes.nodes)
        layout = arrange(Lambda, np.float64)
        bound_cost = costs.get(self.cost).bind(classes.taxonomy, classes.nodes)
        self.attributes_, self.column_nodes_ = _in_columns(Lambda, nodes, layout)

        rows, targets, weight = canonical_rows(_as_csr(X), Y, weight)
        scale = _scale(rows)
        problem = ContrastProblem(
            X=rows / scale if scale != 1 else rows,
            Y=targets,
            Lambda=self.attributes_,
            cost=bound_cost,
            bound=self._bounds(weight, scale),
            slack="pair" if self.slack == "pair" else "example",
        )
        solution = self._solve(problem, layout, self._earlier_duals(problem), self._watch(watch, scale))
        if classes.form != "label":
            self.threshold_ = self._fit_threshold(problem, layout, weight)
        self._duals = solution.duals
        self._problem_size = (*problem.Y.shape, problem.Y.nnz)
        self.certificate_ = _in_user_units(solution.certificate, scale)
        self.n_iter_ = self.certificate_.n_iter
        W = solution.W if solution.W.size > SMALL else solution.W.astype(np.float64)
        if scale != 1:
            W /= W.dtype.type(scale)
        self.weights_ = W
        self.attributes_ = self.attributes_.astype(W.dtype)
        if self.certificate_.status not in ("converged", "interrupted"):
            warnings.warn(
                f"the relative duality gap is {self.certificate_.relative_gap:.3g}, not {self.tol:g} "
                f"({self.certificate_.status} after {self.n_iter_} rounds); "
                "raise max_iter, raise tol, or lower C",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _check_params(self) -> None:
        """Name the parameter that makes no sense, before any work."""
        for name, low in (("C", 0.0), ("tol", 0.0)):
            value = getattr(self, name)
            if not (isinstance(value, int | float | np.number) and np.isfinite(value) and value > low):
                raise ValueError(f"{name} is {value!r}; expected a finite number above {low:g}")
        if not (isinstance(self.max_iter, int | np.integer) and self.max_iter >= 0):
            raise ValueError(f"max_iter is {self.max_iter!r}; expected a whole number of at least 0")
        if self.slack not in ("example", "pair"):
            raise ValueError(f"slack is {self.slack!r}; expected 'example' or 'pair'")
        if self.kernel != "linear":
            raise ValueError(f"kernel is {self.kernel!r}; expected 'linear'")

    def _bounds(self, weight: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
        """C times weight, in the units of the scaled inputs."""
        with np.errstate(over="ignore", under="ignore"):
            bound: NDArray[np.float64] = self.C * weight * scale * scale
        typical = float(np.median(bound))
        if not (np.isfinite(bound).all() and bound.min() > np.finfo(np.float64).tiny):
            raise DataError(
                f"rows of norm about {scale:.1e} with C={self.C:g} are beyond the range of the arithmetic; "
                "scale the features, for example with sklearn.preprocessing.StandardScaler"
            )
        if not 1 / EXTREME < typical < EXTREME:
            effect = "margins cannot be bought at any price" if typical > 1 else "the slacks cost next to nothing"
            warnings.warn(
                f"rows have norms of about {scale:.1e}: with C={self.C:g}, {effect}; "
                "scale the features, or change C by the square of it",
                ScaleWarning,
                stacklevel=3,
            )
        return bound

    def _solve(self, problem: ContrastProblem, layout: Layout, start: Any, watch: Any) -> Any:
        from margrove.solvers import dual_ascent

        seed = check_random_state(0 if self.random_state is None else self.random_state).randint(2**31 - 1)
        ordinary = 1 / EXTREME < problem.bound.min() and problem.bound.max() < EXTREME
        dtype = np.float32 if self.tol >= SINGLE_TOL and ordinary else np.float64
        return dual_ascent.solve(
            problem,
            layout._replace(attributes=_typed(layout.attributes, dtype)),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            rng=np.random.default_rng(seed),
            dtype=dtype,
            n_threads=_n_threads(self.n_jobs),
            start=start,
            watch=watch,
        )

    def _fit_threshold(
        self, problem: ContrastProblem, layout: Layout, weight: NDArray[np.float64]
    ) -> Threshold:
        """Learn the threshold from scores of rows that were held out of the fit, each once."""
        n = problem.X.shape[0]
        fold = np.random.default_rng(0).permutation(n) % min(FOLDS, n)
        scores = np.zeros(problem.Y.shape)
        for held in range(min(FOLDS, n)):
            out = np.flatnonzero(fold == held)
            learn = np.flatnonzero(fold != held) if n > 1 else out
            part = ContrastProblem(
                problem.X[learn], problem.Y[learn], problem.Lambda, problem.cost, problem.bound[learn], problem.slack
            )
            W = self._solve(part, layout, None, None).W
            scores[out] = (problem.X[out].astype(W.dtype) @ W) @ problem.Lambda.T.astype(W.dtype)
        return Threshold.fit(scores, problem.Y, weight)

    def _earlier_duals(self, problem: ContrastProblem) -> Duals | None:
        """The dual variables to start from."""
        if not self.warm_start or getattr(self, "_problem_size", None) != (*problem.Y.shape, problem.Y.nnz):
            return None
        duals: Duals = self._duals
        right = sp.csr_array(problem.Y)
        fits = right[duals.example, duals.pos] > 0
        return duals if bool(np.all(fits)) else None

    def _watch(self, watch: Any, scale: float) -> Any:
        """Report rounds in the user's units to those who want to know."""
        if not self.verbose and watch is None:
            return None

        def see(progress: Any) -> bool | None:
            units = scale * scale
            told = progress._replace(primal=progress.primal / units, dual=progress.dual / units)
            if self.verbose:
                print(
                    f"round {told.n_iter}: primal {told.primal:.6g}, dual {told.dual:.6g}, "
                    f"gap {told.relative_gap:.2%}, {told.seconds:.1f} s",
                    file=sys.stderr,
                )
            return None if watch is None else watch(told)

        return see


def _as_csr(X: Any) -> sp.csr_array:
    """Canonical sparse rows: sorted, no duplicates, no stored zeros."""
    rows = sp.csr_array(X)
    if rows is X or np.shares_memory(rows.data, getattr(X, "data", np.empty(0))):
        rows = rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def _scale(X: sp.csr_array) -> float:
    """A power of two near the largest norm of a row, 1 if that is ordinary; division by it is exact."""
    if not X.nnz:
        return 1.0
    largest = float(abs(X.data).max())
    relative = X.data.astype(np.float64) / largest
    squares = np.add.reduceat(np.append(relative**2, 0.0), X.indptr[:-1][np.diff(X.indptr) > 0])
    norm_exponent = np.log2(np.sqrt(squares.max())) + np.log2(largest)
    return float(2.0 ** np.floor(norm_exponent + 0.5))


def _in_columns(Lambda: Any, nodes: Any, layout: Layout) -> tuple[sp.csr_array, NDArray[np.int64] | None]:
    """Lambda with the engine's columns, and the taxonomy's node of each (-1 for none)."""
    shape = (Lambda.shape[0], layout.n_columns)
    arranged = sp.csr_array((Lambda.data, layout.columns[Lambda.indices], Lambda.indptr), shape=shape)
    arranged.sort_indices()
    if nodes is None:
        return arranged, None
    column_nodes = np.full(layout.n_columns, -1, np.int64)
    column_nodes[layout.columns] = nodes
    return arranged, column_nodes


def _typed(tables: Any, dtype: Any) -> Any:
    """The same tables with floating arrays of one type."""
    return type(tables)(*(part.astype(dtype) if part.dtype.kind == "f" else part for part in tables))


def _in_user_units(certificate: Any, scale: float) -> Any:
    """Objective values of the scaled problem are scale^2 times the user's."""
    from dataclasses import replace

    return replace(certificate, primal=certificate.primal / scale / scale, dual=certificate.dual / scale / scale)


def _n_threads(n_jobs: int | None) -> int:
    """scikit-learn's convention: None is 1, -1 is all cores."""
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))
