"""Hieron (Dekel, Keshet and Singer 2004), with which Cai 7.5.2 compares the hierarchical perceptron."""

from __future__ import annotations

from typing import Any, Self

from margrove.classifiers.fitting import check_switch
from margrove.classifiers.online_fit import OnlineFit
from margrove.taxonomy import Taxonomy


class Hieron(OnlineFit):
    """A perceptron whose steps are just long enough for a margin that grows with the cost (Cai 7.8, 7.9).

    W <- W + tau x a',   a = Lambda[y] - Lambda[r],   tau = (sqrt(cost) - <a, W x>) / (|a|^2 |x|^2)    (G.5)

    for the pair of the right class y of the lowest and the wrong class r of the highest score, if these are
    ordered wrongly. Only nodes above one of the two and not both change. `averaged=True` takes the pair with
    the largest sqrt(cost) - <a, W x> instead, and steps whenever that is positive (G.6).

    Parameters
    ----------
    averaged : bool
        The model is the mean of the weights after all steps, with the choice of pairs that goes with it, or
        the last weights.
    taxonomy, kernel, cost, attributes, max_iter, shuffle, cache_size, random_state
        As for `HierarchicalPerceptron`.

    Attributes
    ----------
    classes_, taxonomy_, weights_, attributes_, n_updates_, active_ratio_, n_iter_, converged_, class_nodes_,
    column_nodes_, similarity_ : as of `HierarchicalPerceptron`
    """

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        averaged: bool = True,
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
        self.averaged = averaged
        self.kernel = kernel
        self.cost = cost
        self.attributes = attributes
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.cache_size = cache_size
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_switch(self, "averaged")
        super()._check_parameters()

    @property
    def _rule(self) -> str:
        return "hieron-batch" if self.averaged else "hieron"

    @property
    def _averaged(self) -> bool:
        return bool(self.averaged)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, *, taxonomy: Taxonomy | None = None) -> Self:
        """Learn from the next rows of a stream, as `HierarchicalPerceptron.partial_fit` does."""
        self._learn_part(X, y, classes, taxonomy)
        return self
