"""Cai's hierarchical perceptrons (chapter 5): the ranking output, steps on what is ranked wrong."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils.metaestimators import available_if

from margrove.classifiers.fitting import check_choice
from margrove.classifiers.online_fit import OnlineFit
from margrove.taxonomy import Taxonomy

UPDATES = ("online", "averaged", "minover")


def _has_parts(estimator: Any) -> bool:
    if estimator.update == "minover":
        raise AttributeError("update='minover' looks at all rows before each step, so it has no partial_fit")
    return True


class HierarchicalPerceptron(OnlineFit):
    """A perceptron that ranks classes, which share what their ancestors have in common (Cai 5).

    For the right class y of the lowest and the wrong class r of the highest score, if F(x, y) <= F(x, r),

    W <- W + cost(y, r) x (Lambda[y] - Lambda[r])',     F = Lambda W x                         (G.1, G.2)

    Parameters
    ----------
    taxonomy : Taxonomy, None or "flat"
        As for `HierarchicalSVM`. "flat" is the flat perceptron.
    update : "averaged", "online" or "minover"
        The model is the mean of the weights after all steps, or the last weights; "minover" corrects the row
        of the least margin first, and needs all rows for that.
    kernel : str, similarity or function
        The similarity of inputs, as for `HierarchicalSVM`. With any but "linear" the model remembers the rows
        that led to a step.
    cost : str, cost or matrix
        What confusing two classes costs: the length of a step.
    attributes : str, attributes or matrix
        Lambda: what classes share. "ancestors" and "depth-scaled" give the same ranking.
    max_iter : int
        Epochs of `fit`, which ends before if a whole epoch changes nothing.
    shuffle : bool
        Draw the order of each epoch of `fit` anew. `partial_fit` keeps that of the rows.
    cache_size : float
        Megabytes for rows of similarities in `fit`.
    random_state : int, RandomState or None
        The orders that are drawn. None is as 0: two fits agree.

    Attributes
    ----------
    classes_ : after `fit` sorted; `partial_fit` adds new ones behind, as they turn up
    taxonomy_ : with miscellaneous classes for labels at inner nodes
    weights_ : W, features x columns;  attributes_ : Lambda, classes x columns
    n_updates_ : steps that changed the weights;  active_ratio_ : positive dual variables (Cai 7.7)
    n_iter_ : epochs of `fit`;  converged_ : whether its last epoch changed nothing
    class_nodes_, column_nodes_, similarity_ : as of `HierarchicalSVM`
    """

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        update: str = "averaged",
        *,
        kernel: Any = "linear",
        cost: Any = "tree",
        attributes: Any = "ancestors",
        max_iter: int = 20,
        shuffle: bool = True,
        cache_size: float = 200.0,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.update = update
        self.kernel = kernel
        self.cost = cost
        self.attributes = attributes
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.cache_size = cache_size
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # where no weights are right for all rows, the worst ones are all that it ever looks at
        tags.classifier_tags.poor_score = self._worst_first
        return tags

    @property
    def _rule(self) -> str:
        return "perceptron"

    @property
    def _averaged(self) -> bool:
        return self.update == "averaged"

    @property
    def _worst_first(self) -> bool:
        return self.update == "minover"

    def _check_parameters(self) -> None:
        check_choice(self, update=UPDATES)
        super()._check_parameters()

    @available_if(_has_parts)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, *, taxonomy: Taxonomy | None = None) -> Self:
        """Learn from the next rows of a stream, once each, in their order.

        Labels may be new: they become classes from the row on where they first stand, those of `classes` at
        once. A taxonomy that is made from labels grows with them. One that was given is replaced by
        `taxonomy`, which holds all of the old one. Growth alone does not change how old classes are ranked.
        """
        self._learn_part(X, y, classes, taxonomy)
        return self
