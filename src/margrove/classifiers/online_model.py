"""What a perceptron that was fitted, or loaded, knows; it needs no solver until it learns on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.classifiers import storage
from margrove.classifiers.merged import Merged
from margrove.classifiers.ranking_model import RankingModel
from margrove.classifiers.targets import Classes
from margrove.classifiers.thresholds import SIZE, Threshold, normal_equations
from margrove.errors import InvalidModelFileError
from margrove.outputs.growing import GrowingMatrix
from margrove.solvers.memory import Memory

_COUNTS = ("steps", "updates", "active", "right", "right_squared")


class CutSums:
    """Sums for the threshold of label sets, of scores that were there before their row was learned (G.9)."""

    def __init__(self, values: NDArray[np.float64] | None = None, at_least_one: bool = True) -> None:
        self.values = np.zeros((SIZE + 1, SIZE + 2)) if values is None else values
        self.at_least_one = at_least_one

    def add(self, scores: NDArray[Any], Y: sp.csr_array, weight: NDArray[np.float64]) -> None:
        """Take note of rows with their scores of all classes that were known."""
        if not len(scores):
            return
        gram, right = normal_equations(scores, Y, weight)
        places = self._places(scores.shape[1])
        self.values[np.ix_(places, places)] += gram
        self.values[places, -1] += right
        self.at_least_one &= bool((np.diff(Y.indptr) > 0).all())

    def threshold(self, n_classes: int) -> Threshold:
        """The best threshold for so many classes."""
        places = self._places(n_classes)
        return Threshold.solve(
            self.values[np.ix_(places, places)], self.values[places, -1], self.at_least_one
        )

    @staticmethod
    def _places(n_classes: int) -> NDArray[np.int64]:
        return np.append(np.arange(min(SIZE, n_classes)), SIZE)


class OnlineModel(RankingModel):
    """A ranking model whose weights go on changing.

    Columns of `weights_` and `attributes_` may stand for nothing yet: room for classes to come.
    """

    _is_certified = False
    _memory: Memory
    _own: int
    """Columns kept for what classes have alone; shared ones begin there."""
    _follows: bool
    """Whether the taxonomy is made from the labels, and so grows with them."""
    _lost: tuple[str, ...] = ()
    """Parameters that a model file could not hold; they are needed to learn on."""

    @property
    def weights_(self) -> NDArray[Any]:
        """W, features x columns of Lambda; with a similarity, coefficients of the inputs that mattered."""
        return self._memory.weights()

    def _keep_weights(self, W: NDArray[Any], merged: Merged | None = None) -> None:
        if merged is not None:
            raise InvalidModelFileError("a model that goes on learning has weights of every feature")
        self._memory = Memory(GrowingMatrix(np.array(W)))

    @property
    def _input_weights(self) -> NDArray[Any]:
        return self.weights_

    @property
    def n_updates_(self) -> int:
        """How many steps changed the weights."""
        return self._memory.updates

    @property
    def active_ratio_(self) -> float:
        """The share of dual variables, a right and a wrong class of a row, that are positive (G.8)."""
        return self._memory.active_ratio(len(self.classes_))

    def _classes(self) -> Classes:
        return Classes(self.classes_, self.class_nodes_, self.taxonomy_, self._form)

    def __getstate__(self) -> Any:
        """Without the compiled side, which is made again when it is needed."""
        state = dict(super().__getstate__())
        state.pop("_machine", None)
        return state

    def _stored_weights(self) -> NDArray[Any]:
        return self._memory.W.array

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the model as plain values and arrays, with all that it takes to learn on."""
        header, arrays = super().to_state()
        memory = self._memory
        lost = [name for name in ("cost", "attributes") if name not in header["params"]]
        header["online"] = {name: getattr(memory, name) for name in _COUNTS} | {
            "averaged": memory.U is not None,
            "own": self._own,
            "follows": self._follows,
            "lost": sorted({*lost, *self._lost}),
            "n_iter": self.n_iter_,
            "converged": self.converged_,
            "at_least_one": self._cuts.at_least_one,
        }
        if memory.U is not None:
            arrays |= storage.matrix_to_state("sum", memory.U.array)
        if self._form != "label":
            arrays["cuts"] = self._cuts.values
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model that `to_state` described; what does not fit together is refused."""
        model = super().from_state(header, arrays)
        state, memory = header["online"], model._memory
        W = memory.W.array
        for name in (*_COUNTS, "n_iter", "own"):
            if type(state[name]) is not int or state[name] < 0:
                raise InvalidModelFileError(f"{name} is {state[name]!r}; it is a count")
        flags = ("averaged", "follows", "converged", "at_least_one")
        if not all(type(state[name]) is bool for name in flags):
            raise InvalidModelFileError("the state of learning is not complete")
        for name in _COUNTS:
            setattr(memory, name, state[name])
        if state["averaged"]:
            memory.U = GrowingMatrix(storage.matrix_from_state("sum", arrays, W.shape, W.dtype))
        if not len(model.classes_) <= state["own"] <= W.shape[1]:
            raise InvalidModelFileError("the columns of the weights do not fit the classes")
        if not set(state["lost"]) <= {"cost", "attributes"}:
            raise InvalidModelFileError("the state of learning names parameters that it cannot have lost")
        model._own, model._follows, model._lost = state["own"], state["follows"], tuple(state["lost"])
        model.n_iter_, model.converged_ = state["n_iter"], state["converged"]
        model._cuts = CutSums(at_least_one=state["at_least_one"])
        if model._form != "label":
            shape = model._cuts.values.shape
            model._cuts.values = storage.matrix_from_state("cuts", arrays, shape, np.float64)
        return model
