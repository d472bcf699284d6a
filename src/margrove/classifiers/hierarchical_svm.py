"""Cai's hierarchical multilabel SVM (chapter 4): the ranking output, a plain norm, certified dual ascent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from margrove.classifiers import storage
from margrove.classifiers.class_attributes import ClassAttributes
from margrove.classifiers.examples import SINGLE_TOL, Examples
from margrove.classifiers.fitting import CertifiedFit
from margrove.classifiers.folds import FOLDS, deal, splits
from margrove.classifiers.ranking_model import RankingModel
from margrove.classifiers.targets import with_unseen
from margrove.classifiers.thresholds import Threshold
from margrove.objective.contrasts import ContrastProblem, Duals, Slack
from margrove.objective.losses import LOSSES, Loss
from margrove.outputs.labels import Label
from margrove.taxonomy import Taxonomy, costs

if TYPE_CHECKING:
    from margrove.solvers.dual_ascent import Solution
    from margrove.solvers.progress import Watch


class HierarchicalSVM(CertifiedFit, RankingModel):
    """Large-margin ranking of classes that share what their ancestors have in common (Cai 4.10).

    minimise  1/2 |W|^2 + C sum_i weight_i xi_i
    subject to  F(x_i, y) - F(x_i, r) >= 1 - xi_i / cost(y, r)   for every right class y and wrong class r,
                F = Lambda W x,  xi_i >= 0                                                        (P.3)

    Zhou's FLATMULT is this with taxonomy="flat" and cost="zero-one", his TREELOSS with attributes="ancestors"
    and cost="tree".

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
        Lambda: what classes share. "depth-scaled" (Cai 7.2), "depth-scaled-class", "ancestors", "one-hot";
        "learned" are the first with weights of the levels that are learned too (A.9).
    sharing : float
        How much of that to use: from 0, nothing is shared, to 1, the attributes as they are (A.8).
    classes : "seen" or "taxonomy"
        What can be predicted: classes with examples, or all terminal nodes of the taxonomy, of which those
        without examples are known by the attributes that they share with others (A.15).
    kernel : str, similarity or function
        The similarity of inputs: "linear", "polynomial", "gaussian", "precomputed", "subsequence", one of
        `margrove.similarity` with options, or a function f(A, B).
    slack : "example" or "pair"
        One slack for each example, or one for each pair of a right and a wrong class.
    loss : "hinge", "squared-hinge" or "logistic"
        What a violation m costs: max(0, m), the square of that, or log(1 + exp(m - 1)) (D.6).
    fit_intercept : bool
        Whether each column of attributes has a bias, which is not penalised (D.8).
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
    intercept_ : None, or what is added to the score of each column
    attribute_weights_ : None, or the part of the class kernel's trace that each level has learned to have
    similarity_ : None, or the similarity to the rows whose coefficients `weights_` then has
    class_nodes_, column_nodes_ : the node of each class, by name; of each column, by number, -1 for none
    certificate_ : primal, dual, gap, relative_gap, n_iter, status, seconds;  n_iter_ : its rounds
    """

    attribute_weights_: dict[Label, float] | None = None
    _choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "slack": ("example", "pair"),
        "loss": LOSSES,
        "classes": ("seen", "taxonomy"),
    }

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        *,
        cost: Any = "tree",
        attributes: Any = "depth-scaled",
        sharing: float = 1.0,
        classes: str = "seen",
        kernel: Any = "linear",
        slack: str = "example",
        loss: str = "hinge",
        fit_intercept: bool = False,
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
        self.classes = classes
        self.kernel = kernel
        self.slack = slack
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any, watch: Watch | None) -> None:
        examples = Examples.read(self, X, y, sample_weight)
        seen, taxonomy = examples.classes, examples.classes.taxonomy
        classes = with_unseen(seen) if self.classes == "taxonomy" else seen
        bound = ClassAttributes.bind(self.attributes, self.sharing, classes, classes.numbers(seen))
        problem = ContrastProblem(
            inputs=examples.inputs,
            Y=examples.Y,
            Lambda=bound.learned_from,
            cost=costs.get(self.cost).bind(taxonomy, seen.nodes),
            bound=examples.bounds(self.C),
            slack=cast("Slack", self.slack),
            loss=cast("Loss", self.loss),
        )
        start = self._earlier_duals(problem) if self.warm_start else None
        solution, bound = self._learn(problem, bound, start, self._reporter(watch, examples.units))
        if classes.form != "label":
            self.threshold_ = self._fit_threshold(
                problem, bound, examples.weight, solution.certificate.n_iter
            )
        examples = replace(examples, classes=classes)
        examples.keep(self, solution.W, solution.certificate, bound.Lambda, bound.column_nodes, solution.bias)
        if self.warm_start:
            self._duals, self._bias = solution.duals, solution.bias

    def _learn(
        self, problem: ContrastProblem, bound: ClassAttributes, start: Duals | None, watch: Watch | None
    ) -> tuple[Solution, ClassAttributes]:
        """Learn the weights of features, and those of attributes if they are asked for."""
        joint = bound.joint(problem)
        if joint is None:
            self.attribute_weights_ = None
            return self._solve(problem, bound.layout, self.max_iter, start, watch), bound
        if self.fit_intercept:
            raise ValueError("fit_intercept is True, and attributes are learned; expected one of the two")
        from margrove.solvers.learned_attributes import solve_with_weights  # compiles

        options = self._options(problem.bound)
        if self.tol < 2 * SINGLE_TOL:  # its steps are solved to half of that
            options["dtype"] = np.float64
        solution, theta = solve_with_weights(joint, bound.layout, start=start, watch=watch, **options)
        self.attribute_weights_ = dict(zip(bound.names, joint.parts(theta).tolist(), strict=True))
        return solution, bound.weighted(theta)

    def _fit_threshold(
        self, problem: ContrastProblem, bound: ClassAttributes, weight: NDArray[np.float64], max_iter: int
    ) -> Threshold:
        """Learn the threshold from scores of rows that were held out of a fit as long as the model's."""
        problem = replace(problem, Lambda=bound.learned_from)
        n = problem.inputs.shape[0]
        Y = bound.among_all(problem.Y)
        scores = np.zeros(Y.shape)
        for learn, out in splits(deal(n, FOLDS)):
            inputs = problem.inputs.take(learn)
            part = replace(problem, inputs=inputs, Y=problem.Y[learn], bound=problem.bound[learn])
            found = self._solve(part, bound.layout, max_iter)
            held_out = problem.inputs.held_out(found.W, out, learn)
            if found.bias is not None:
                held_out = held_out + found.bias
            scores[out] = held_out @ bound.Lambda.T.astype(held_out.dtype)
        return Threshold.fit(scores, Y, weight)

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the model as plain values and arrays."""
        header, arrays = super().to_state()
        if self.attribute_weights_ is not None:
            header["attribute_weights"] = storage.attribute_weights_to_state(self.attribute_weights_)
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model that `to_state` described; what does not fit together is refused."""
        model = super().from_state(header, arrays)
        model.attribute_weights_ = storage.attribute_weights_from_state(header.get("attribute_weights"))
        return model
