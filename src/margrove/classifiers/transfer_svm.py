"""Zhou's TRANSFER: the descent output, weights near those of the parent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from margrove.classifiers.descent_fit import DescentFit, descent_problem, read_examples
from margrove.classifiers.fitting import check_not_negative
from margrove.objective import metric
from margrove.outputs.layout import arranged
from margrove.taxonomy import Taxonomy

if TYPE_CHECKING:
    from margrove.solvers.progress import Watch


class TransferSVM(DescentFit):
    """Descent by margins along the path, with each node's weights drawn to its parent's (Zhou 5, TRANSFER).

    minimise  1/2 sum_t (|w_t|^2 + transfer sum_{j child of t} |w_t - w_j|^2) + C sum_i weight_i xi_i
    s_t - s_j >= 1 - xi_i  for every node t on the path to y_i and sibling j of t,   s = W x_i    (R.4, S.1)

    The print has |w_ii|^2 for the first term; |w_i|^2 is the reading taken. Without it nothing would penalise
    what a node below the root has in common with all its descendants.

    Parameters
    ----------
    taxonomy : Taxonomy, None or "flat"
        The tree of classes; None takes it from labels that are paths and otherwise has one level.
    C : float
        The price of the summed losses against the penalty.
    transfer : float
        The weight of the second term: 1 in the document; 0 is `PathMarginSVM` without a bias.
    solver : "dual-ascent" or "dual-averaging"
        The engine, or Algorithm 1 of Zhou, which is slow and needs many more rounds (`max_iter`).
    kernel, cache_size, tol, max_iter, n_jobs, verbose, random_state : as for `HierarchicalSVM`.

    Attributes
    ----------
    classes_ : the labels, sorted;  taxonomy_ : the tree
    weights_ : W, features x nodes;  certificate_ : primal, dual, gap, relative_gap, n_iter, status, seconds
    attributes_, class_nodes_, column_nodes_, similarity_, n_iter_ : as of `HierarchicalSVM`
    """

    _choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"solver": ("dual-ascent", "dual-averaging")}

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        *,
        transfer: float = 1.0,
        solver: str = "dual-ascent",
        kernel: Any = "linear",
        cache_size: float = 200.0,
        tol: float = 0.01,
        max_iter: int = 200,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.transfer = transfer
        self.solver = solver
        self.kernel = kernel
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any, watch: Watch | None) -> None:
        check_not_negative(self, "transfer")
        examples, descent = read_examples(self, X, y, sample_weight)
        Lambda, layout = arranged(metric.factor(metric.transfer(descent.parent, float(self.transfer))))
        problem = descent_problem(examples, descent, self.C, Lambda=Lambda)
        told = self._reporter(watch, examples.units)
        if self.solver == "dual-averaging":
            solution = self._average(problem, problem.bound, told)
        else:
            solution = self._solve(problem, layout, self.max_iter, None, told)
        W = solution.W @ Lambda.T.astype(solution.W.dtype)
        self._keep(examples, descent, W, solution.certificate)
