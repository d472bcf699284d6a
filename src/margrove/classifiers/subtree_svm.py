"""Large margins between closed sets of nodes: Liu's comparators LM-2 and LM-1, with certificates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from margrove.classifiers.fitting import CertifiedFit, check_switch, seed_of
from margrove.classifiers.subtree_model import SubtreeModel, read_examples
from margrove.errors import DataError
from margrove.objective.subtrees import Scaling, SubtreeProblem
from margrove.taxonomy import Taxonomy, costs
from margrove.taxonomy.costs import SymmetricDifference

if TYPE_CHECKING:
    from margrove.outputs.subtrees import Subtrees
    from margrove.solvers.progress import Watch
    from margrove.solvers.subtrees import Algorithm, SubtreeSolution


class SubtreeSVM(CertifiedFit, SubtreeModel):
    """The right set of nodes should beat every other by a margin that grows with what the mistake costs.

    minimise  1/2 |W|^2 + C sum_i weight_i xi_i,      s = W x_i                                        (U.8)
    <y_i - z, s> >= loss(y_i, z) - xi_i       for every closed set z (scaling "margin")                (U.9)
    <y_i - z, s> >= 1 - xi_i / loss(y_i, z)   (scaling "slack")                                        (U.10)

    Sets are coded by -1 and 1, and labels are closed upwards. The loss is what the nodes cost in which two
    sets differ: with the default, their number. In a graph z may be any set closed along the first parent of
    each node, which is more than there are: the certificate is of that problem, whose optimum is an upper
    bound. Predictions are exact in graphs too.

    Parameters
    ----------
    taxonomy : Taxonomy, None or "flat"
        The tree or graph of classes; None takes it from labels that are paths and otherwise has one level.
    C : float
        The price of the summed slacks against the norm.
    algorithm : "cutting-plane" or "marginal"
        Both reach the same optimum. The first holds the most violated sets against each example, with either
        scaling (Tsochantaridis et al.); the second moves the marginals of the nodes by conditional gradients,
        with scaling "margin" (Rousu et al.).
    scaling : "margin" or "slack"
        Whether a costly mistake asks for a wider margin or for a dearer slack. The latter is exact for trees
        in which all nodes cost the same, in time quadratic in their number.
    cost : str or cost
        "symmetric-difference", or `margrove.costs.symmetric_difference` with volumes of nodes and prices of
        missing and of adding them.
    node_weight : None or "balanced"
        "balanced" multiplies the cost of missing a node by n / (2 n_v), where n_v of n rows have it, and that
        of adding it by n / (2 (n - n_v)): rare nodes then get scores that tell rows apart.
    calibrate : bool
        Learn `node_probabilities` from rows held out in three more fits.
    kernel, cache_size, tol, max_iter, verbose, random_state : as for `HierarchicalSVM`.

    Attributes
    ----------
    classes_ : the labels, sorted;  taxonomy_ : the tree or graph
    weights_ : W, features x nodes;  certificate_ : primal, dual, gap, relative_gap, n_iter, status, seconds
    calibration_ : None, or what `node_probabilities` needs
    attributes_, class_nodes_, column_nodes_, similarity_, n_iter_ : as of `HierarchicalSVM`
    """

    _choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "algorithm": ("cutting-plane", "marginal"),
        "scaling": ("margin", "slack"),
    }

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        *,
        algorithm: str = "cutting-plane",
        scaling: str = "margin",
        cost: Any = "symmetric-difference",
        node_weight: str | None = None,
        kernel: Any = "linear",
        calibrate: bool = False,
        cache_size: float = 200.0,
        tol: float = 0.01,
        max_iter: int = 200,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.algorithm = algorithm
        self.scaling = scaling
        self.cost = cost
        self.node_weight = node_weight
        self.kernel = kernel
        self.calibrate = calibrate
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any, watch: Watch | None) -> None:
        check_switch(self, "calibrate")
        examples, subtrees, right = read_examples(self, X, y, sample_weight)
        miss, extra = self._prices(examples.classes.taxonomy, subtrees, right, examples.weight)
        problem = SubtreeProblem(
            inputs=examples.inputs,
            right=right,
            output=subtrees,
            miss=miss,
            extra=extra,
            bound=examples.bounds(self.C),
            scaling=cast("Scaling", self.scaling),
        )
        solution = self._solve_subtrees(problem, self._reporter(watch, examples.units))

        def learn(rows: NDArray[np.int64]) -> NDArray[Any]:
            part = replace(
                problem, inputs=problem.inputs.take(rows), right=right[rows], bound=problem.bound[rows]
            )
            return self._solve_subtrees(part, None).W

        self.calibration_ = (
            self._calibrated(examples.inputs, right, examples.weight, subtrees, learn)
            if self.calibrate
            else None
        )
        self._keep(examples, subtrees, solution.W, solution.certificate)

    def _solve_subtrees(self, problem: SubtreeProblem, watch: Any) -> SubtreeSolution:
        from margrove.solvers.subtrees import solve  # compiles; prediction has no need of it

        return solve(
            problem,
            cast("Algorithm", self.algorithm),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            rng=np.random.default_rng(seed_of(self.random_state)),
            watch=watch,
        )

    def _prices(
        self,
        taxonomy: Taxonomy,
        subtrees: Subtrees,
        right: NDArray[np.bool_],
        weight: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What missing and adding each output costs."""
        cost = costs.get(self.cost)
        if not isinstance(cost, SymmetricDifference):
            raise DataError(
                f"cost is {self.cost!r}; a loss between sets is a sum over nodes: 'symmetric-difference', "
                "'tree', or margrove.costs.symmetric_difference with volumes"
            )
        miss, extra = (prices[subtrees.nodes] for prices in cost.of_nodes(taxonomy, subtrees.nodes))
        if self.node_weight == "balanced":
            share = np.clip(weight @ right / weight.sum(), 1 / len(right), 1 - 1 / max(len(right), 2))
            miss, extra = miss / (2 * share), extra / (2 * (1 - share))
        elif self.node_weight is not None:
            raise ValueError(f"node_weight is {self.node_weight!r}; expected None or 'balanced'")
        if self.scaling == "slack":
            if self.algorithm == "marginal":
                raise ValueError("algorithm 'marginal' has scaling 'margin' alone; use 'cutting-plane'")
            if np.ptp(np.concatenate([miss, extra])) > 0:
                raise DataError(
                    "scaling is 'slack', for which all nodes have to cost the same, missed or added; use "
                    "scaling='margin' for other costs"
                )
        return miss, extra
