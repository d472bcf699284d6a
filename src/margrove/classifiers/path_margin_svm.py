"""Wang's margins with respect to a hierarchy (chapter 2): the descent output, a plain norm."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from margrove.classifiers.descent_fit import DescentFit, against_costs, descent_problem, read_examples
from margrove.errors import InvalidModelFileError, ZeroModelWarning
from margrove.objective.contrasts import ContrastProblem
from margrove.outputs.layout import Layout, arrange
from margrove.taxonomy import Taxonomy

if TYPE_CHECKING:
    from margrove.solvers.dual_ascent import Solution
    from margrove.solvers.progress import Watch


class PathMarginSVM(DescentFit):
    """Descent by margins that hold along the whole path (Wang 2.3): HSVM, HPSI, and with one level flat ones.

    minimise  1/2 |W|^2 + C sum_i weight_i phi(u(x_i, y_i))                                          (S.1)
    u(x, y) = least of s_t - s_j over nodes t on the path to y and siblings j of t,     s = W x + b

    Parameters
    ----------
    taxonomy : Taxonomy, None or "flat"
        The tree of classes; None takes it from labels that are paths and otherwise has one level, which makes
        this the k-class SVM, or psi-learner, of Liu and Shen.
    C : float
        The price of the summed losses against the norm.
    loss : "hinge", "psi" or "logistic"
        max(0, 1 - u), the same but never more than 1, or log(1 + exp(-u)). psi is not convex: from the hinge
        solution, convex problems lead to lower objectives, until none is worth `tol` (S.5-S.7).
    fit_intercept : bool
        Whether each node has a bias b, which is not penalised (D.8), as in the document.
    target_cost : None, or as `cost` of `HierarchicalSVM`
        The loss that predictions are to make small, in place of zero-one (Wang 4.1; S.9). Each row then
        counts for every class, in proportion to what that class is cheaper than the dearest mistake.
    kernel, cache_size, tol, max_iter, n_jobs, warm_start, verbose, random_state : as for `HierarchicalSVM`.

    Attributes
    ----------
    classes_ : the labels, sorted;  taxonomy_ : the tree
    weights_ : W, features x nodes;  intercept_ : None, or b
    certificate_ : primal, dual, gap, relative_gap, n_iter, status, seconds. For psi they are those of the
        last convex problem: they tell how close this is to where no such step goes lower, not how close to
        the least of all values
    objectives_ : for psi, its objective at the hinge solution and at each better one after that
    attributes_, class_nodes_, column_nodes_, similarity_, n_iter_ : as of `HierarchicalSVM`
    """

    _choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"loss": ("hinge", "psi", "logistic")}

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        fit_intercept: bool = True,
        target_cost: Any = None,
        kernel: Any = "linear",
        cache_size: float = 200.0,
        tol: float = 0.01,
        max_iter: int = 5000,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.target_cost = target_cost
        self.kernel = kernel
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any, watch: Watch | None) -> None:
        examples, descent = read_examples(self, X, y, sample_weight)
        if self.target_cost is not None:
            examples = against_costs(examples, self.target_cost)
        problem = descent_problem(
            examples, descent, self.C, loss="logistic" if self.loss == "logistic" else "hinge"
        )
        layout = arrange(problem.Lambda, np.float64)
        report = self._reporter(watch, examples.units)
        self.objectives_ = None
        if self.loss == "psi":
            solution, objectives = self._descend(problem, layout, report)
            self.objectives_ = np.array(objectives) / examples.units.scale / examples.units.scale
        else:
            start = self._earlier_duals(problem) if self.warm_start else None
            solution = self._solve(problem, layout, self.max_iter, start, report)
            if self.warm_start:
                self._duals, self._bias = solution.duals, solution.bias
        if self.target_cost is not None:
            self._warn_if_zero(problem, solution)
        self._keep(examples, descent, solution.W, solution.certificate, solution.bias)

    def _descend(
        self, problem: ContrastProblem, layout: Layout, watch: Watch | None
    ) -> tuple[Solution, list[float]]:
        from margrove.solvers import difference_convex  # compiles; prediction has no need of it

        found = difference_convex.solve_psi(
            problem,
            layout,
            fit_intercept=self.fit_intercept,
            watch=watch,
            **self._options(problem.bound),
        )
        return found.solution, found.objectives

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the model as plain values and arrays."""
        header, arrays = super().to_state()
        return header, arrays if self.objectives_ is None else arrays | {"objectives": self.objectives_}

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model that `to_state` described; what does not fit together is refused."""
        model = super().from_state(header, arrays)
        model.objectives_ = found = arrays.get("objectives")
        if found is not None and (found.ndim != 1 or found.dtype.kind != "f" or not np.isfinite(found).all()):
            raise InvalidModelFileError("the objectives are not numbers")
        return model

    def _warn_if_zero(self, problem: ContrastProblem, solution: Solution) -> None:
        """Say that costs have left nothing to learn."""
        if (
            problem.n_contrasts.any()
            and problem.penalty(solution.W) <= self.tol * solution.certificate.primal
        ):
            warnings.warn(
                f"zero weights are optimal, to within tol={self.tol:g}, so every row gets one prediction: "
                f"what target_cost={self.target_cost!r} spreads over the classes of a row pulls in opposite "
                "directions; raise C, take another loss, or target_cost=None",
                ZeroModelWarning,
                stacklevel=4,
            )
