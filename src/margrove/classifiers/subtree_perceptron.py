"""Liu's perceptrons over closed sets of nodes: hard (HP), stochastic (SP) and kernel stochastic (KSP)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from margrove.classifiers.examples import Examples
from margrove.classifiers.fitting import (
    check_choice,
    check_count,
    check_not_negative,
    check_positive,
    check_switch,
    n_threads,
    seed_of,
    unchanged_on_failure,
)
from margrove.classifiers.subtree_model import SubtreeModel, read_examples
from margrove.errors import InvalidModelFileError
from margrove.outputs.subtrees import Subtrees
from margrove.taxonomy import Taxonomy


class SubtreePerceptron(SubtreeModel):
    """Nearly the largest margin between the right set of nodes and every other, by very cheap steps (Liu).

    maximise over |W| <= 1  the least <y_i - z, W x_i> of all rows i and closed sets z other than y_i  (U.17)

    Each step adds the contrast of one row with its best other set. If some W separates the rows, the margin
    is within `epsilon` of the largest one, in units of the longest contrast: always ("hard", unless the rows
    are separated before), or with probability 1 - O(1/n) ("stochastic"). Where none does, the steps end after
    as many all the same. In a graph z may be any set closed along the first parent of each node; predictions
    are exact.

    Parameters
    ----------
    taxonomy : Taxonomy, None or "flat"
        The tree or graph of classes; None takes it from labels that are paths and otherwise has one level.
    update : "stochastic" or "hard"
        Draw the row of a step by multiplicative weights (Algorithms 2 and 3), or take the row of least lead
        and stop when all lead (Algorithm 1).
    kernel : str, similarity or function
        As for `HierarchicalSVM`; "linear" keeps a weight for each feature, others coefficients of rows.
    epsilon : float
        What the margin may lack. The number of steps grows with its inverse square.
    blocks : int
        Divide the rows into so many blocks and learn from one after the other, each from the weights that the
        one before has left (Liu 3.6). The guarantee is then for each block alone.
    average : bool
        Return the mean of all steps' weights, of which the guarantee is, or the last, as Liu's experiments.
    max_iter : int or None
        T, the steps for each block; None is what the guarantee asks for (U.19, U.20).
    radius : float or None
        R, at least |x| sqrt(number of nodes); None takes the largest. A smaller one makes larger first steps.
    eta : float or None
        The rate of the multiplicative weights; None is that of the guarantee (U.20).
    calibrate : bool
        Learn `node_probabilities` from rows held out in three more fits.
    cache_size : float
        Megabytes for rows of similarities; of no use to the linear one.
    n_jobs : int
        Threads that go through the rows in a step; the result is the same to the bit.
    random_state : int, RandomState or None
        For draws and blocks. None is as 0: two fits agree.

    Attributes
    ----------
    classes_ : the labels, sorted;  taxonomy_ : the tree or graph
    weights_ : W, features x nodes;  n_iter_ : steps taken;  separated_ : whether a hard fit ended early
    calibration_ : None, or what `node_probabilities` needs
    attributes_, class_nodes_, column_nodes_, similarity_ : as of `HierarchicalSVM`
    """

    certificate_ = None
    _is_certified = False

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        *,
        update: str = "stochastic",
        kernel: Any = "linear",
        epsilon: float = 0.2,
        blocks: int = 1,
        average: bool = True,
        max_iter: int | None = None,
        radius: float | None = None,
        eta: float | None = None,
        calibrate: bool = False,
        cache_size: float = 200.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.update = update
        self.kernel = kernel
        self.epsilon = epsilon
        self.blocks = blocks
        self.average = average
        self.max_iter = max_iter
        self.radius = radius
        self.eta = eta
        self.calibrate = calibrate
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, watch: Callable[[int], bool | None] | None = None
    ) -> Self:
        """Learn from rows and their labels; `watch` is told the number of steps, and may end the fit.

        A weight of two is two equal rows. A fit that ends with an error or a keyboard interrupt leaves the
        estimator as it was.
        """
        check_positive(
            self, "epsilon", *(name for name in ("radius", "eta") if getattr(self, name) is not None)
        )
        check_count(self, "blocks", *(["max_iter"] if self.max_iter is not None else []))
        check_choice(self, update=("stochastic", "hard"))
        check_switch(self, "average", "calibrate")
        check_not_negative(self, "cache_size")
        if not self.blocks:
            raise ValueError("blocks is 0; expected at least 1")
        with unchanged_on_failure(self):
            examples, subtrees, right = read_examples(self, X, y, sample_weight)
            found = self._learn(examples, subtrees, right, np.arange(len(right)), watch)
            self.calibration_ = None
            if self.calibrate:

                def learn(rows: NDArray[np.int64]) -> NDArray[Any]:
                    W: NDArray[Any] = self._learn(examples, subtrees, right, rows, None).W
                    return W

                self.calibration_ = self._calibrated(examples.inputs, right, examples.weight, subtrees, learn)
            self._keep(examples, subtrees, found.W, None)
            self.n_iter_, self.separated_ = found.n_steps, found.separated
        return self

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the model as plain values and arrays."""
        header, arrays = super().to_state()
        header["steps"] = {"number": self.n_iter_, "separated": self.separated_}
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model that `to_state` described; what does not fit together is refused."""
        model = super().from_state(header, arrays)
        number, separated = header["steps"]["number"], header["steps"]["separated"]
        if not (type(number) is int and number >= 0 and type(separated) is bool):
            raise InvalidModelFileError(f"{header['steps']!r} says nothing about steps")
        model.n_iter_, model.separated_ = number, separated
        return model

    def _learn(
        self,
        examples: Examples,
        subtrees: Subtrees,
        right: NDArray[np.bool_],
        rows: NDArray[np.int64],
        watch: Callable[[int], bool | None] | None,
    ) -> Any:
        """The steps on some of the rows."""
        from margrove.solvers import set_perceptron as solver  # compiles; prediction has no need of it

        inputs = examples.inputs.take(rows)
        update = cast("solver.Update", self.update)
        rng = np.random.default_rng(seed_of(self.random_state))
        n = len(rows)
        order = np.arange(n) if self.blocks == 1 else rng.permutation(n)
        blocks = [np.sort(part) for part in np.array_split(order, min(self.blocks, n))]
        size = len(blocks[0])
        n_steps = self.max_iter
        if n_steps is None:
            n_steps = solver.steps_needed(update, size, float(self.epsilon))
        settings = solver.Settings(
            update=update,
            n_steps=int(n_steps),
            radius=solver.radius(inputs, len(subtrees))
            if self.radius is None
            else self.radius / examples.units.scale,
            eta=solver.rate(size, n_steps) if self.eta is None else float(self.eta),
            average=bool(self.average),
        )
        return solver.run(
            inputs, right[rows], subtrees, examples.weight[rows], settings, blocks, rng,
            n_threads(self.n_jobs), watch,
        )  # fmt: skip
