"""Wang's SVM of unequal costs (chapter 3), and the two that it is compared with."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.classifiers.class_costs import read_costs
from margrove.classifiers.examples import Examples
from margrove.classifiers.fitting import CertifiedFit
from margrove.classifiers.ranking_model import RankingModel
from margrove.errors import DataError, InvalidModelFileError, LabelError, ZeroModelWarning
from margrove.objective.certificate import Certificate
from margrove.objective.contrasts import ContrastProblem, Duals
from margrove.objective.inputs import Similarities
from margrove.objective.losses import Loss
from margrove.outputs.decisions import (
    cost_levels,
    is_balanced,
    label_weights,
    possible_costs,
    pseudo_labels,
    undoing,
)
from margrove.outputs.layout import arranged
from margrove.taxonomy import Taxonomy
from margrove.taxonomy.costs import bind_matrix

if TYPE_CHECKING:
    from margrove.solvers.progress import Watch

Floats = NDArray[np.float64]


class CostSensitiveSVM(CertifiedFit, RankingModel):
    """Classification where mistakes differ in what they cost: the class of least cost is predicted.

    minimise  1/2 |G|^2 + C sum_ij weight_i (max costs - costs[y_i, j]) phi(u_j(x_i))                 (N.1)
    u_j(x) = least of g_k(x) - g_j(x) over classes k other than j,     g = costs' f,  sum f = 0

    Parameters
    ----------
    costs : matrix, data frame, mapping, str or cost
        What it costs to predict r where y is right: a matrix with rows y and columns r in the order of
        `classes_` (sorted), a frame whose index and columns are labels, `{y: {r: cost}}`, or a name or a
        cost of `margrove.costs`. Zero on the diagonal, finite and not negative elsewhere.
    C : float
        The price of the summed losses against the norm.
    method : "decisions", "ranked", "rescaled" or "equal"
        Wang's (3.4), as above, which has no better model than none for many costs; every pair of classes in
        the order of their costs, by weights that are their difference (N.7), which has not; slacks rescaled
        by the cost of the mistake (Wang 3.5.2); or no costs at all (Wang 3.5.1).
    fit_intercept : bool
        Whether decision functions have a bias, which is not penalised.
    taxonomy : Taxonomy, None or "flat"
        For costs that come from one.
    loss : "hinge" or "squared-hinge"
        phi of the margin u: max(0, 1 - u), or the square of that; "rescaled" multiplies 1 - u by the cost.
    warm_start : bool
        Start from the previous fit's dual variables; for the same rows and labels, as along a path over C.
    kernel, cache_size, tol, max_iter, n_jobs, verbose, random_state : as for `HierarchicalSVM`.

    Attributes
    ----------
    classes_ : the labels, sorted;  costs_ : the costs, in their order
    weights_, intercept_ : of the class scores that `decision_function` gives: -g, or f where costs are not
        in the decisions;  certificate_ : primal, dual, gap, relative_gap, n_iter, status, seconds
    taxonomy_, attributes_, class_nodes_, column_nodes_, similarity_, n_iter_ : as of `HierarchicalSVM`
    """

    _choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "method": ("decisions", "ranked", "rescaled", "equal"),
        "loss": ("hinge", "squared-hinge"),
    }
    costs_: Floats

    def __init__(
        self,
        costs: Any = "zero-one",
        C: float = 1.0,
        *,
        method: str = "decisions",
        fit_intercept: bool = True,
        taxonomy: Taxonomy | str | None = None,
        kernel: Any = "linear",
        loss: str = "hinge",
        cache_size: float = 200.0,
        tol: float = 0.01,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.C = C
        self.method = method
        self.fit_intercept = fit_intercept
        self.taxonomy = taxonomy
        self.kernel = kernel
        self.loss = loss
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: Any, watch: Watch | None) -> None:
        examples = Examples.read(self, X, y, sample_weight)
        classes = examples.classes
        if classes.form != "label":
            raise LabelError(
                "y holds several labels a row; CostSensitiveSVM decides for one. "
                "HierarchicalSVM learns sets of labels"
            )
        costs = read_costs(self.costs, classes)
        problem, row = self._problem(examples, costs)
        start = self._earlier_duals(problem) if self.warm_start else None
        if start is None and self.method == "decisions" and len(costs) > 1:
            start = _at_zero(problem, costs, examples.Y.indices[row])
        V, b, certificate = self._class_scores_of(problem, start, self._reporter(watch, examples.units))
        if self.method == "decisions" and not V.any():
            self._warn_of_zero(classes.labels, costs)
        if isinstance(examples.inputs, Similarities):  # a row's coefficients are those of its label sets
            shape = (len(examples.weight), len(row))
            V = sp.csr_array((np.ones(len(row)), (row, np.arange(len(row)))), shape) @ V
        nodes = classes.taxonomy.indices(classes.nodes).astype(np.int64)
        examples.keep(self, V, certificate, sp.eye_array(len(costs), format="csr"), nodes, b)
        self.costs_ = costs

    def _problem(self, examples: Examples, costs: Floats) -> tuple[ContrastProblem, NDArray[np.intp]]:
        """The training problem, and the row of each of its examples."""
        loss = cast("Loss", self.loss)
        bound = examples.bounds(self.C)
        identity = sp.eye_array(len(costs), format="csr")
        equal = bind_matrix(1.0 - np.eye(len(costs)))
        if self.method in ("rescaled", "equal") or len(costs) == 1:
            cost = bind_matrix(costs) if self.method == "rescaled" else equal
            problem = ContrastProblem(examples.inputs, examples.Y, identity, cost, bound, loss=loss)
            return problem, np.arange(len(bound))
        ranked = self.method == "ranked"
        label_sets = cost_levels(costs) if ranked else pseudo_labels(costs)
        row, chosen = label_sets.of_rows(examples.Y.indices)
        if not len(row):
            raise DataError("no mistake about any row costs anything; then there is nothing to learn")
        problem = ContrastProblem(
            inputs=examples.inputs.take(row),
            Y=label_sets.sets[chosen],
            Lambda=identity if ranked else possible_costs(costs),
            cost=equal,
            bound=bound[row] * label_sets.weight[chosen],
            slack="pair" if ranked else "example",
            loss=loss,
        )
        return problem, row

    def _class_scores_of(
        self, problem: ContrastProblem, start: Duals | None, watch: Watch | None
    ) -> tuple[Any, Floats | None, Certificate]:
        """Solve; return weights of the classes, their bias, and how good both are."""
        Lambda, layout = arranged(problem.Lambda)
        problem = replace(problem, Lambda=Lambda)
        solution = self._solve(problem, layout, self.max_iter, start, watch)
        if self.warm_start:
            self._duals, self._bias = solution.duals, solution.bias
        W, b, certificate = _or_zero(problem, solution.W, solution.bias, solution.certificate, self.tol)
        V = np.asarray(W @ problem.Lambda.T.astype(W.dtype))
        return V, None if b is None else problem.Lambda @ b, certificate

    def _warn_of_zero(self, labels: NDArray[Any], costs: Floats) -> None:
        """Say that there is no better model than none, and what to change."""
        mistakes = costs[~np.eye(len(costs), dtype=bool)]
        if (mistakes == mistakes.max(initial=0.0)).all():
            return  # equal costs: it is rows that are at fault, or of one class
        balanced = is_balanced(costs)
        if balanced.all():
            why = "no label has more than half of any row's weight, max costs less its own"
        elif balanced.any():
            pulling = ", ".join(repr(label) for label in labels[~balanced][:5].tolist())
            why = f"only rows of {pulling} pull one way, and the others can undo it"
        else:
            why = "rows of different classes undo what the others want"
        warnings.warn(
            f"zero weights are optimal, to within tol={self.tol:g}, so every row gets one prediction: {why}. "
            "This does not depend on C; take method='ranked' or 'rescaled', or costs that differ less",
            ZeroModelWarning,
            stacklevel=4,
        )

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the model as plain values and arrays."""
        header, arrays = super().to_state()
        return header, arrays | {"costs": self.costs_}

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model that `to_state` described; what does not fit together is refused."""
        model = super().from_state(header, arrays)
        model.costs_ = arrays["costs"].astype(np.float64)
        if model.costs_.shape != (len(model.classes_),) * 2 or not np.isfinite(model.costs_).all():
            raise InvalidModelFileError("the costs do not fit the classes")
        if "costs" not in header["params"]:
            model.costs = model.costs_
        return model


def _at_zero(problem: ContrastProblem, costs: Floats, right: NDArray[np.integer[Any]]) -> Duals:
    """Dual variables that cancel and use up the bounds: the whole proof where no class pulls (N.6)."""
    weights, label = label_weights(costs), problem.Y.indices
    plans = np.stack([undoing(mine) for mine in weights]) / np.where(weights > 0, weights, 1.0)[:, :, None]
    share = sp.csr_array(plans.reshape(-1, len(costs)))[right * len(costs) + label].tocoo()
    example, other = share.row.astype(np.int64), share.col.astype(np.int64)
    return Duals(example, label[example].astype(np.int64), other, share.data * problem.bound[example])


def _or_zero(
    problem: ContrastProblem, W: Any, b: Floats | None, certificate: Certificate, tol: float
) -> tuple[Any, Floats | None, Certificate]:
    """Zero weights where they are as good as what was found: then there is nothing to be gained (N.5)."""
    zero = np.zeros_like(W)
    for bias in (b,) if b is None else (np.zeros_like(b), b):
        value = replace(problem, base=bias).primal(zero)
        if value <= certificate.primal:
            proved = replace(certificate, primal=value)
            return zero, bias, replace(proved, status="converged") if proved.relative_gap <= tol else proved
    return W, b, certificate
