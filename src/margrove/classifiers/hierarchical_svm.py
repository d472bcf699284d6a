"""Cai's hierarchical multilabel SVM (chapter 4): the ranking output, a plain norm, certified dual ascent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from margrove.classifiers.examples import Examples
from margrove.classifiers.fitting import CertifiedFit
from margrove.classifiers.folds import deal, splits
from margrove.classifiers.ranking_model import RankingModel
from margrove.classifiers.thresholds import Threshold
from margrove.objective.contrasts import ContrastProblem, Slack
from margrove.objective.losses import LOSSES, Loss
from margrove.outputs.layout import Layout, arrange, in_columns
from margrove.taxonomy import Taxonomy, attributes, costs

if TYPE_CHECKING:
    from margrove.classifiers.fitting import Watch

FOLDS = 3  # that hold out scores for the threshold of multilabel targets


class HierarchicalSVM(CertifiedFit, RankingModel):
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
    sharing : float
        How much of that to use: from 0, nothing is shared, to 1, the attributes as they are (A.8).
    kernel : str, similarity or function
        The similarity of inputs: "linear", "polynomial", "gaussian", "precomputed", "subsequence", one of
        `margrove.similarity` with options, or a function f(A, B).
    slack : "example" or "pair"
        One slack for each example, or one for each pair of a right and a wrong class.
    loss : "hinge", "squared-hinge" or "logistic"
        What a violation m costs: max(0, m), the square of that, or log(1 + exp(m - 1)) (D.6).
    cache_size : float
        Megabytes for rows of similarities; of no use to the linear one.
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
    similarity_ : None, or the similarity to the rows whose coefficients `weights_` then has
    certificate_ : primal, dual, gap, relative_gap, n_iter, status, seconds
    """

    _choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"slack": ("example", "pair"), "loss": LOSSES}

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        *,
        cost: Any = "tree",
        attributes: Any = "depth-scaled",
        sharing: float = 1.0,
        kernel: Any = "linear",
        slack: str = "example",
        loss: str = "hinge",
        cache_size: float = 200.0,
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
        self.sharing = sharing
        self.kernel = kernel
        self.slack = slack
        self.loss = loss
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any, watch: Watch | None) -> None:
        examples = Examples.read(self, X, y, sample_weight)
        classes = examples.classes
        specified = attributes.shared(self.sharing, self.attributes)
        Lambda, nodes = specified.bind(classes.taxonomy, classes.nodes)
        layout = arrange(Lambda, np.float64)
        Lambda, column_nodes = in_columns(Lambda, nodes, layout)
        problem = ContrastProblem(
            inputs=examples.inputs,
            Y=examples.Y,
            Lambda=Lambda,
            cost=costs.get(self.cost).bind(classes.taxonomy, classes.nodes),
            bound=examples.bounds(self.C),
            slack=cast("Slack", self.slack),
            loss=cast("Loss", self.loss),
        )
        start = self._earlier_duals(problem) if self.warm_start else None
        solution = self._solve(problem, layout, self.max_iter, start, self._reporter(watch, examples.units))
        if classes.form != "label":
            self.threshold_ = self._fit_threshold(
                problem, layout, examples.weight, solution.certificate.n_iter
            )
        examples.keep(self, solution.W, solution.certificate, Lambda, column_nodes)
        if self.warm_start:
            self._duals = solution.duals

    def _fit_threshold(
        self, problem: ContrastProblem, layout: Layout, weight: NDArray[np.float64], max_iter: int
    ) -> Threshold:
        """Learn the threshold from scores of rows that were held out of a fit as long as the model's."""
        n = problem.inputs.shape[0]
        scores = np.zeros(problem.Y.shape)
        for learn, out in splits(deal(n, FOLDS)):
            learn = learn if len(learn) else out
            inputs = problem.inputs.take(learn)
            part = replace(problem, inputs=inputs, Y=problem.Y[learn], bound=problem.bound[learn])
            W = self._solve(part, layout, max_iter).W
            held_out = problem.inputs.held_out(W, out, learn)
            scores[out] = held_out @ problem.Lambda.T.astype(W.dtype)
        return Threshold.fit(scores, problem.Y, weight)
