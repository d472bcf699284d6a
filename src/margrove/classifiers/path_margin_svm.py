"""Wang's margins with respect to a hierarchy (chapter 2): the descent output, a plain norm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from margrove.classifiers.descent_fit import DescentFit, descent_problem, read_examples
from margrove.outputs.layout import arrange
from margrove.taxonomy import Taxonomy

if TYPE_CHECKING:
    from margrove.classifiers.fitting import Watch


class PathMarginSVM(DescentFit):
    """Descent by margins that hold along the whole path (Wang 2.3): HSVM, and with one level a flat SVM.

    minimise  1/2 |W|^2 + C sum_i weight_i phi(u(x_i, y_i))                                          (S.1)
    u(x, y) = least of s_t - s_j over nodes t on the path to y and siblings j of t,     s = W x

    Parameters
    ----------
    taxonomy : Taxonomy, None or "flat"
        The tree of classes; None takes it from labels that are paths and otherwise has one level.
    C : float
        The price of the summed losses against the norm.
    loss : "hinge" or "logistic"
        max(0, 1 - u), or log(1 + exp(-u)).
    kernel, cache_size, tol, max_iter, n_jobs, warm_start, verbose, random_state : as for `HierarchicalSVM`.

    Attributes
    ----------
    classes_ : the labels, sorted;  taxonomy_ : the tree
    weights_ : W, features x nodes;  certificate_ : primal, dual, gap, relative_gap, n_iter, status, seconds
    """

    _choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"loss": ("hinge", "logistic")}

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        kernel: Any = "linear",
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
        self.loss = loss
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
        problem = descent_problem(
            examples, descent, self.C, loss="logistic" if self.loss == "logistic" else "hinge"
        )
        layout = arrange(problem.Lambda, np.float64)
        start = self._earlier_duals(problem) if self.warm_start else None
        solution = self._solve(problem, layout, self.max_iter, start, self._reporter(watch, examples.units))
        if self.warm_start:
            self._duals = solution.duals
        self._keep(examples, descent, solution.W, solution.certificate)
