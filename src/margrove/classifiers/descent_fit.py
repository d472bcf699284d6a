"""From what `fit` is given to the joint problem of a descent, and back to a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.classifiers.descent_model import DescentModel
from margrove.classifiers.examples import Examples
from margrove.classifiers.fitting import CertifiedFit
from margrove.classifiers.rows import merge_private
from margrove.classifiers.targets import refuse_root, with_miscellaneous
from margrove.errors import LabelError
from margrove.objective.contrasts import ContrastProblem
from margrove.objective.inputs import Similarities, Vectors
from margrove.objective.losses import Loss
from margrove.outputs.descent import Descent
from margrove.outputs.layout import Layout, arrange
from margrove.taxonomy import costs

if TYPE_CHECKING:
    from margrove.objective.certificate import Certificate


def read_examples(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, merge: bool = True
) -> tuple[Examples, Descent]:
    """Rows with one label each, and the descent to these labels; `merge` as in `Examples.read`."""
    examples = Examples.read(estimator, X, y, sample_weight, miscellaneous=False, merge=merge)
    classes = examples.classes
    if classes.form != "label":
        raise LabelError(
            f"y holds several labels a row; {type(estimator).__name__} descends to one. "
            "HierarchicalSVM learns sets of labels"
        )
    refuse_root(classes)
    return examples, Descent.of(classes.taxonomy, classes.nodes)


def against_costs(examples: Examples, target_cost: Any) -> Examples:
    """Each row once for every class j, its weight times max cost - cost(y, j) (Wang 4.1; S.9).

    A label at an inner node costs what its miscellaneous class would (T.3).
    """
    classes = examples.classes
    if len(classes.labels) < 2:
        return examples
    nodes, taxonomy = with_miscellaneous(classes.nodes, classes.taxonomy)
    cost = costs.get(target_cost).bind(taxonomy, nodes)
    most = max(float(cost.row(y).max()) for y in range(len(cost)))
    share = most - cost.rows(examples.Y.indices)
    row, j = np.nonzero(share)
    back = sp.csr_array((np.ones(len(row)), (np.arange(len(row)), row)), (len(row), len(share)))
    similar = examples.similar is not None
    return replace(
        examples,
        inputs=examples.inputs.take(row),
        Y=sp.csr_array((np.ones(len(row)), (np.arange(len(row)), j)), (len(row), len(classes.labels))),
        weight=examples.weight[row] * share[row, j],
        expand=sp.csr_array(back.T) if similar else examples.expand,
    )


def descent_problem(
    examples: Examples,
    descent: Descent,
    C: float,
    *,
    Lambda: sp.csr_array | None = None,
    loss: Loss = "hinge",
) -> ContrastProblem:
    """Siblings against each node of the path, one slack for all of them (S.1); Lambda is the regulariser's.

    Outputs score F = Lambda V x, with the penalty |V|^2 / 2; without Lambda V is W, their weights.
    """
    q = len(descent)
    right = sp.csr_array(examples.Y @ descent.paths)
    right.sort_indices()
    return ContrastProblem(
        inputs=examples.inputs,
        Y=right,
        Lambda=sp.eye_array(q, format="csr") if Lambda is None else Lambda,
        cost=costs.zero_one().bind(None, range(q)),
        bound=examples.bounds(C),
        loss=loss,
        rivals=(descent.first, descent.last),
    )


@dataclass(frozen=True)
class Step:
    """What one step of a descent has to learn: siblings against each other, from the rows that pass them."""

    siblings: slice
    rows: NDArray[np.intp]
    """By the sibling to which they go on."""
    child: NDArray[np.intp]
    """The place of this one among its siblings."""

    def problem(
        self, examples: Examples, bound: NDArray[np.float64], loss: Loss
    ) -> tuple[ContrastProblem, Layout, sp.csr_array]:
        """The flat problem (S.4), its layout, and what takes its W to weights of the examples' inputs.

        Its inputs are those that its rows have, and what one of them has alone is one input.
        """
        n, k = len(self.rows), self.siblings.stop - self.siblings.start
        inputs: Vectors | Similarities = examples.inputs.take(self.rows)
        if isinstance(inputs, Vectors):
            merged, expand = merge_private(inputs.X)
            inputs = Vectors(merged)
        else:
            expand = sp.csr_array((np.ones(n), (self.rows, np.arange(n))), shape=(len(bound), n))
        Lambda, cost, layout = _flat(k)
        problem = ContrastProblem(
            inputs=inputs,
            Y=sp.csr_array((np.ones(n), self.child, np.arange(n + 1)), shape=(n, k)),
            Lambda=Lambda,
            cost=cost,
            bound=bound[self.rows],
            loss=loss,
        )
        return problem, layout, expand


@cache
def _flat(k: int) -> tuple[sp.csr_array, Any, Layout]:
    """Attributes, costs and layout of k outputs that share nothing; most groups of siblings are as small."""
    Lambda = sp.eye_array(k, format="csr")
    return Lambda, costs.zero_one().bind(None, range(k)), arrange(Lambda, np.float64)


def steps_of(examples: Examples, descent: Descent) -> list[Step]:
    """All groups of siblings that rows pass."""
    right = (examples.Y @ descent.paths).tocsc()
    steps = []
    for siblings in descent.choices:
        ptr = right.indptr[siblings.start : siblings.stop + 1]
        rows = right.indices[ptr[0] : ptr[-1]]
        if len(rows):
            steps.append(Step(siblings, rows, np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))))
    return steps


class DescentFit(CertifiedFit, DescentModel):
    """Fit and prediction of every estimator that descends."""

    def _keep(
        self, examples: Examples, descent: Descent, W: Any, certificate: Certificate, bias: Any = None
    ) -> None:
        """Keep weights of the outputs (inputs x outputs), and a bias of each."""
        identity = sp.eye_array(len(descent), format="csr")
        examples.keep(self, W, certificate, identity, descent.nodes, bias)
