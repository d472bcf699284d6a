"""Cai's hierarchical multilabel SVM (chapter 4): the ranking output, a plain norm, certified dual ascent."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from margrove.classifiers.fitting import (
    check_choice,
    check_count,
    check_positive,
    n_threads,
    unchanged_on_failure,
)
from margrove.classifiers.ranking_model import RankingModel
from margrove.classifiers.rows import as_csr, canonical_rows, merge_private
from margrove.classifiers.scaling import EXTREME, Units
from margrove.classifiers.targets import read_targets
from margrove.classifiers.thresholds import Threshold
from margrove.errors import LabelError
from margrove.objective.contrasts import ContrastProblem, Duals
from margrove.objective.inputs import Vectors
from margrove.outputs.labels import read_weights
from margrove.outputs.layout import Layout, arrange
from margrove.taxonomy import Taxonomy, attributes, costs

if TYPE_CHECKING:
    from margrove.solvers.dual_ascent import Progress, Solution

    Watch = Callable[[Progress], bool | None]

SINGLE_TOL = 1e-4  # single precision proves gaps down to about here
FOLDS = 3  # that hold out scores for the threshold of multilabel targets
SMALL = 1 << 22  # weights; up to this many are kept in double precision, so that all batches agree


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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, watch: Watch | None = None) -> Self:
        """Learn from rows and their labels; `watch` sees the progress of every round and may end the fit.

        A fit that `watch` ends by returning True gives a model, whose certificate tells how good it is. One
        that ends with an error or a keyboard interrupt leaves the estimator as it was.
        """
        check_positive(self, "C", "tol")
        check_count(self, "max_iter")
        check_choice(self, slack=("example", "pair"), kernel=("linear",))
        with unchanged_on_failure(self):
            self._fit(X, y, sample_weight, watch)
        self._warn_unless_converged()
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, watch: Watch | None) -> None:
        if y is None:  # before anything is said of X
            raise LabelError("HierarchicalSVM requires y to be passed, but the target y is None")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        classes, Y = read_targets(y, self.taxonomy)
        if X.shape[0] != Y.shape[0]:
            raise LabelError(
                f"X has {X.shape[0]} rows but y has {Y.shape[0]}: inconsistent numbers of samples; "
                "give one label, or collection of labels, for each row"
            )
        rows, right, weight = canonical_rows(as_csr(X), Y, read_weights(sample_weight, X.shape[0]))
        Lambda, nodes = attributes.get(self.attributes).bind(classes.taxonomy, classes.nodes)
        layout = arrange(Lambda, np.float64)
        Lambda, column_nodes = _in_columns(Lambda, nodes, layout)
        units = Units.of(rows)
        merged, expand = merge_private(units.inputs(rows))
        problem = ContrastProblem(
            inputs=Vectors(merged),
            Y=right,
            Lambda=Lambda,
            cost=costs.get(self.cost).bind(classes.taxonomy, classes.nodes),
            bound=units.bounds(self.C, weight),
            slack="pair" if self.slack == "pair" else "example",
        )
        start = self._earlier_duals(problem) if self.warm_start else None
        solution = self._solve(problem, layout, self.max_iter, start, self._reporter(watch, units))
        if classes.form != "label":
            self.threshold_ = self._fit_threshold(problem, layout, weight, solution.certificate.n_iter)
        ordinary = 1 / EXTREME < units.scale < EXTREME
        double = solution.W.size <= SMALL or not ordinary
        W = solution.W.astype(np.float64) if double else solution.W
        self.weights_ = units.weights(expand.astype(W.dtype) @ W)
        self.attributes_, self.column_nodes_ = Lambda.astype(self.weights_.dtype), column_nodes
        self.certificate_ = units.certificate(solution.certificate)
        self.n_iter_ = self.certificate_.n_iter
        self._adopt(classes)
        if self.warm_start:
            self._duals = solution.duals

    def _solve(
        self,
        problem: ContrastProblem,
        layout: Layout,
        max_iter: int,
        start: Duals | None = None,
        watch: Watch | None = None,
    ) -> Solution:
        from margrove.solvers import dual_ascent  # compiles; prediction has no need of it

        seed = check_random_state(0 if self.random_state is None else self.random_state).randint(2**31 - 1)
        ordinary = problem.bound.min() > 1 / EXTREME and problem.bound.max() < EXTREME
        dtype = np.float32 if self.tol >= SINGLE_TOL and ordinary else np.float64
        return dual_ascent.solve(
            problem,
            layout,
            tol=float(self.tol),
            max_iter=int(max_iter),
            rng=np.random.default_rng(seed),
            dtype=dtype,
            n_threads=n_threads(self.n_jobs),
            start=start,
            watch=watch,
        )

    def _fit_threshold(
        self, problem: ContrastProblem, layout: Layout, weight: NDArray[np.float64], max_iter: int
    ) -> Threshold:
        """Learn the threshold from scores of rows that were held out of a fit as long as the model's."""
        n = problem.inputs.shape[0]
        folds = min(FOLDS, n)
        fold = np.random.default_rng(0).permutation(n) % folds
        scores = np.zeros(problem.Y.shape)
        for k in range(folds):
            out = np.flatnonzero(fold == k)
            learn = np.flatnonzero(fold != k) if n > 1 else out
            inputs = problem.inputs.take(learn)
            part = replace(problem, inputs=inputs, Y=problem.Y[learn], bound=problem.bound[learn])
            W = self._solve(part, layout, max_iter).W
            held_out = problem.inputs.held_out(W, out, learn)
            scores[out] = held_out @ problem.Lambda.T.astype(W.dtype)
        return Threshold.fit(scores, problem.Y, weight)

    def _earlier_duals(self, problem: ContrastProblem) -> Duals | None:
        """The dual variables of the last fit, if they are of contrasts that this problem has."""
        duals: Duals | None = getattr(self, "_duals", None)
        if duals is None or not len(duals.alpha):
            return None
        n, q = problem.Y.shape
        if duals.example.max() >= n or max(duals.pos.max(), duals.neg.max()) >= q:
            return None
        right = sp.csr_array(problem.Y)
        fits = (right[duals.example, duals.pos] > 0).all() and not (right[duals.example, duals.neg] > 0).any()
        return duals if fits else None

    def _reporter(self, watch: Watch | None, units: Units) -> Watch | None:
        """Tell of every round, in the user's units, those who want to know."""
        if not self.verbose and watch is None:
            return None

        def report(progress: Progress) -> bool | None:
            told = units.progress(progress)
            if self.verbose:
                print(
                    f"round {told.n_iter}: primal {told.primal:.6g}, dual {told.dual:.6g}, "
                    f"gap {told.relative_gap:.2%}, {told.seconds:.1f} s",
                    file=sys.stderr,
                )
            return None if watch is None else watch(told)

        return report

    def _warn_unless_converged(self) -> None:
        reached = self.certificate_
        if reached.status in ("converged", "interrupted"):
            return
        change = {
            "iteration limit": f"raise max_iter (now {self.max_iter}), raise tol, or lower C",
            "stalled": "raise tol, lower C, or scale the features",
        }[reached.status]
        warnings.warn(
            f"the relative duality gap is {reached.relative_gap:.3g}, not tol={self.tol:g} "
            f"({reached.status} after {reached.n_iter} rounds); {change}",
            ConvergenceWarning,
            stacklevel=3,
        )


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
