"""From what `fit` is given to the joint problem of a descent, and back to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scipy.sparse as sp

from margrove.classifiers.descent_model import DescentModel
from margrove.classifiers.examples import Examples
from margrove.classifiers.fitting import CertifiedFit
from margrove.errors import LabelError
from margrove.objective.contrasts import ContrastProblem
from margrove.objective.losses import Loss
from margrove.outputs.descent import Descent
from margrove.taxonomy import costs

if TYPE_CHECKING:
    from margrove.objective.certificate import Certificate


def read_examples(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Examples, Descent]:
    """Rows with one label each, and the descent to these labels."""
    examples = Examples.read(estimator, X, y, sample_weight, miscellaneous=False)
    classes = examples.classes
    if classes.form != "label":
        raise LabelError(
            f"y holds several labels a row; {type(estimator).__name__} descends to one. "
            "HierarchicalSVM learns sets of labels"
        )
    if classes.taxonomy.root in classes.nodes:
        label = classes.labels[classes.nodes.index(classes.taxonomy.root)]
        raise LabelError(f"the label {label!r} is the root of the taxonomy, which says nothing about a row")
    return examples, Descent.of(classes.taxonomy, classes.nodes)


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


class DescentFit(CertifiedFit, DescentModel):
    """Fit and prediction of every estimator that descends."""

    def _keep(self, examples: Examples, descent: Descent, W: Any, certificate: Certificate) -> None:
        """Keep weights of the outputs (inputs x outputs)."""
        identity = sp.eye_array(len(descent), format="csr")
        examples.keep(self, W, certificate, identity, descent.nodes)
