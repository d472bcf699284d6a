"""Zhou's orthogonal transfer: the descent output, weights that are at right angles to those of ancestors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from margrove.classifiers.descent_fit import DescentFit, descent_problem, read_examples
from margrove.classifiers.fitting import check_positive
from margrove.errors import ConvexityError, DataError, InvalidModelFileError
from margrove.objective import metric
from margrove.objective.orthogonal import OrthogonalProblem
from margrove.outputs.descent import Descent
from margrove.taxonomy import Taxonomy

if TYPE_CHECKING:
    from margrove.solvers.progress import Watch

LARGEST = 0.99  # of the bound of alpha; at the bound itself the objective is not strongly convex


class OrthogonalTransferSVM(DescentFit):
    """Descent by margins along the path, with weights that tend to right angles with ancestors' (Zhou 4).

    minimise  1/2 sum_tu K_tu |<w_t, w_u>| + C sum_i weight_i xi_i                                   (O.1)
    s_t - s_j >= 1 - xi_i  for every node t on the path to y_i and sibling j of t,   s = W x_i       (S.1)

    Parameters
    ----------
    taxonomy : Taxonomy, None or "flat"
        The tree of classes; None takes it from labels that are paths and otherwise has one level.
    C : float
        The price of the summed losses against the penalty.
    K : "descendants", "identity" or matrix
        "descendants" is Zhou's (6): how many nodes there are at and below a node, on the diagonal, and
        `alpha` for a node and its ancestor (O.2). "identity" is `PathMarginSVM` without a bias. A matrix, of
        numbers that are not negative, has the nodes of the taxonomy without the root, in the order of
        `taxonomy.nodes`.
    alpha : float or "auto"
        By what the entries of K off its diagonal are multiplied. Where the problem is not convex, an error
        says for which node and what alpha would do; "auto" takes the largest that does, less 1 %.
    solver : "saddle" or "dual-averaging"
        The engine within a search for the best signs, or Algorithm 1 of Zhou, which takes far longer.
    epsilon : float or None
        The gap, primal - dual, at which to stop, as in Algorithm 1; None stops by `tol`.
    max_iter : int
        Rounds of the engine, or steps of dual averaging.
    kernel, cache_size, tol, n_jobs, verbose, random_state : as for `HierarchicalSVM`.

    Attributes
    ----------
    classes_ : the labels, sorted;  taxonomy_ : the tree
    weights_ : W, features x nodes;  certificate_ : primal, dual, gap, relative_gap, n_iter, status, seconds
    alpha_ : the alpha that was used, after `fit`
    attributes_, class_nodes_, column_nodes_, similarity_, n_iter_ : as of `HierarchicalSVM`
    """

    _choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"solver": ("saddle", "dual-averaging")}

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        *,
        K: Any = "descendants",
        alpha: float | str = 1.0,
        solver: str = "saddle",
        epsilon: float | None = None,
        kernel: Any = "linear",
        cache_size: float = 200.0,
        tol: float = 0.01,
        max_iter: int = 10_000,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.K = K
        self.alpha = alpha
        self.solver = solver
        self.epsilon = epsilon
        self.kernel = kernel
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any, watch: Watch | None) -> None:
        if self.epsilon is not None:
            check_positive(self, "epsilon")
        examples, descent = read_examples(self, X, y, sample_weight)
        K = self._convex(
            _matrix(self.K, descent, examples.classes.taxonomy), descent, examples.classes.taxonomy
        )
        problem = OrthogonalProblem(descent_problem(examples, descent, self.C), K)
        told = self._reporter(watch, examples.units)
        epsilon = None if self.epsilon is None else float(self.epsilon) * examples.units.scale**2
        if self.solver == "dual-averaging":
            solution = self._average(problem, problem.contrasts.bound, told, epsilon)
        else:
            from margrove.solvers.saddle import ENOUGH, solve_saddle  # compiles; prediction has no need of it

            options = self._options(problem.contrasts.bound, ENOUGH if epsilon is None else 0.0)
            solution, _ = solve_saddle(problem, **options, epsilon=epsilon, watch=told)
        self._keep(examples, descent, solution.W, solution.certificate)

    def _convex(self, K: NDArray[np.float64], descent: Descent, taxonomy: Taxonomy) -> NDArray[np.float64]:
        """K with its alpha, if that makes the problem convex."""
        bound = metric.alpha_bound(K)
        if isinstance(self.alpha, str):
            if self.alpha != "auto":
                raise ValueError(f"alpha is {self.alpha!r}; expected a finite number above 0, or 'auto'")
            self.alpha_ = LARGEST * bound if np.isfinite(bound) else 1.0
        else:
            check_positive(self, "alpha")
            self.alpha_ = float(self.alpha)
        scaled = metric.with_alpha(K, self.alpha_)
        at = metric.not_convex_at(scaled)
        if at is not None:
            raise ConvexityError(
                f"with alpha={self.alpha_:g} the problem is not convex at the node "
                f"{taxonomy.name(descent.nodes[at])!r}, whose weights are coupled too strongly with those of "
                f'nodes below it; take an alpha below {bound:.4g}, alpha="auto", or a larger diagonal of K'
            )
        return scaled

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the model as plain values and arrays."""
        header, arrays = super().to_state()
        return header | {"alpha": self.alpha_}, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model that `to_state` described; what does not fit together is refused."""
        model = super().from_state(header, arrays)
        model.alpha_ = header["alpha"]
        if type(model.alpha_) is not float or not 0 < model.alpha_ < np.inf:
            raise InvalidModelFileError(f"alpha is {model.alpha_!r}")
        return model


def _matrix(K: Any, descent: Descent, taxonomy: Taxonomy) -> NDArray[np.float64]:
    """K of the outputs, as it was given or named."""
    if isinstance(K, str):
        if K == "descendants":
            return metric.descendants(descent.above)
        if K == "identity":
            return np.eye(len(descent))
        raise DataError(f"K is {K!r}; expected 'descendants' or 'identity', or a matrix")
    given = np.asarray(K.toarray() if hasattr(K, "toarray") else K, np.float64)
    n = taxonomy.n_nodes - 1
    if given.shape != (n, n):
        raise DataError(f"K has the shape {given.shape}; the taxonomy has {n} nodes below its root")
    places = np.arange(1, n + 1)
    wrong = {
        "a finite number of at least 0": ~np.isfinite(given) | (given < 0),
        "what stands on the other side of the diagonal": given != given.T,
        "above 0": np.diag(given.diagonal() == 0),
    }
    for expected, where in wrong.items():
        if where.any():
            u, v = np.argwhere(where)[0]
            names = f"{taxonomy.name(places[u])!r} and {taxonomy.name(places[v])!r}"
            raise DataError(f"K of {names} is {given[u, v]:g}; expected {expected}")
    return given[np.ix_(descent.nodes - 1, descent.nodes - 1)]
