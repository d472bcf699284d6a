"""How perceptrons learn: from all rows in epochs, or part by part, with classes that turn up on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove import similarity
from margrove.classifiers.examples import check_rows, read_training_X, with_engine
from margrove.classifiers.fitting import (
    check_count,
    check_not_negative,
    check_switch,
    seed_of,
    unchanged_on_failure,
)
from margrove.classifiers.folds import FOLDS, deal, splits
from margrove.classifiers.growing_targets import Segment, read_segments
from margrove.classifiers.online_columns import columns_for
from margrove.classifiers.online_model import CutSums, OnlineModel
from margrove.classifiers.rows import as_csr
from margrove.classifiers.targets import Classes, read_targets
from margrove.errors import DataError
from margrove.outputs.growing import GrowingMatrix
from margrove.similarity.vectors import Linear
from margrove.solvers.memory import Memory
from margrove.taxonomy import Taxonomy, costs

if TYPE_CHECKING:
    from margrove.solvers.online import Machine, Outcome

ROWS_AT_ONCE = 1024  # of a part of a stream, with a similarity

Array = NDArray[Any]


class _Trained(NamedTuple):
    """Weights of features, or coefficients of rows; U and steps give their mean."""

    W: Array
    U: Array | None
    outcome: Outcome
    n_iter: int

    @property
    def mean(self) -> Array:
        return self.W if self.U is None else self.W - self.U / self.outcome.steps


class OnlineFit(OnlineModel):
    """A subclass has the parameters, `_rule`, its name among the solver's rules, and `_averaged`."""

    taxonomy: Taxonomy | str | None
    cost: Any
    attributes: Any
    kernel: Any
    max_iter: int
    shuffle: bool
    cache_size: float
    random_state: Any

    @property
    def _rule(self) -> str:
        raise NotImplementedError

    @property
    def _averaged(self) -> bool:
        raise NotImplementedError

    @property
    def _worst_first(self) -> bool:
        return False

    def _check_parameters(self) -> None:
        check_count(self, "max_iter")
        check_not_negative(self, "cache_size")
        check_switch(self, "shuffle")

    # --- all rows ---

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows and their labels, from the beginning, in at most `max_iter` epochs."""
        self._check_parameters()
        with unchanged_on_failure(self):
            X = read_training_X(self, X, y, reset=True)
            classes, Y = read_targets(y, self.taxonomy)
            check_rows(X, Y.shape[0])
            Y.sort_indices()
            self._begin()
            inputs = self._inputs(X, Y)
            machine = self._made(classes, _dtype(inputs))
            trained = self._train(machine, inputs, Y)
            if classes.form != "label":
                self._cut_by_folds(machine, inputs, Y)
            self._keep(trained, inputs, Y)
        return self

    def _begin(self) -> None:
        """Forget everything."""
        for name in ("_memory", "_machine", "_lost", "similarity_"):
            self.__dict__.pop(name, None)
        self._follows = not isinstance(self.taxonomy, Taxonomy)
        self._cuts = CutSums()
        self.converged_ = False
        self.n_iter_ = 1

    def _inputs(self, X: Any, Y: Any) -> Any:
        """Sparse rows, or a similarity that knows them."""
        if self._is_linear:
            return _checked(as_csr(X))
        return with_engine(similarity.get(self.kernel).bind(X, Y))

    def _train(self, machine: Machine, inputs: Any, Y: sp.csr_array) -> _Trained:
        from margrove.solvers import online

        n = Y.shape[0]
        is_linear = sp.issparse(inputs)
        if is_linear and not self._worst_first:
            W = np.zeros((inputs.shape[1], machine.columns.width), machine.dtype)
            U = np.zeros_like(W) if machine.averaged else None
            holder = online.Weights(machine, inputs, Y, W, U)
            return _Trained(W, U, *online.epochs(machine, holder, self._orders(n)))
        bound = similarity.linear().bind(inputs) if is_linear else inputs
        cache = similarity.RowCache(bound, self.cache_size, machine.dtype)
        scores = online.Scores(machine, cache.rows, bound.diagonal(), Y)
        if self._worst_first:
            outcome = online.worst_first(machine, scores, self.max_iter * n)
            n_iter = max(1, -(-outcome.updates // n))
        else:
            outcome, n_iter = online.epochs(machine, scores, self._orders(n))
        W, U = scores.coefficients()
        if is_linear:
            W = np.asarray(inputs.T @ W)
        return _Trained(W, U, outcome, n_iter)

    def _orders(self, n: int) -> Iterator[NDArray[np.int64]]:
        """The order of each epoch: one drawn anew, or that of the rows."""
        rng = np.random.default_rng(seed_of(self.random_state))
        return (rng.permutation(n) if self.shuffle else np.arange(n) for _ in range(self.max_iter))

    def _cut_by_folds(self, machine: Machine, inputs: Any, Y: sp.csr_array) -> None:
        """Learn the threshold from scores of rows that were held out of a fit as long as the model's."""
        n = Y.shape[0]
        to_classes = self.attributes_.T.tocsc()
        for learn, out in splits(deal(n, FOLDS)):
            if isinstance(inputs, sp.csr_array):
                mean = self._train(machine, inputs[learn], Y[learn]).mean
                columns = inputs[out].astype(machine.dtype) @ mean
            else:
                mean = self._train(machine, inputs.restricted(learn), Y[learn]).mean
                columns = inputs.rows(out)[:, learn] @ mean
            self._cuts.add(columns @ to_classes, Y[out], np.full(len(out), float(n * self.max_iter)))
        self.threshold_ = self._cuts.threshold(Y.shape[1])

    def _keep(self, trained: _Trained, inputs: Any, Y: sp.csr_array) -> None:
        W, U, outcome, self.n_iter_ = trained
        if sp.issparse(inputs):
            self.similarity_ = None
        else:
            support = np.flatnonzero(W.any(axis=1) | (False if U is None else U.any(axis=1)))
            self.similarity_ = inputs.restricted(support)
            W, U = W[support], None if U is None else U[support]
        memory = Memory(GrowingMatrix(W), None if U is None else GrowingMatrix(U))
        memory.steps, memory.updates = outcome.steps, outcome.updates
        memory.active = len(outcome.contrasts)
        memory.count_targets(Y)
        self._memory = memory
        self.converged_ = outcome.converged

    # --- part by part ---

    def _learn_part(self, X: Any, y: Any, classes: Any, taxonomy: Taxonomy | None) -> None:
        """Check everything, then learn; what is learned when an interrupt comes is kept."""
        if hasattr(self, "_memory"):
            with unchanged_on_failure(self):
                rows, segments = self._next_part(X, y, classes, taxonomy)
            self._learn_segments(rows, segments)
            return
        with unchanged_on_failure(self):
            rows, segments = self._next_part(X, y, classes, taxonomy)
            self._begin()
            self._follows = not isinstance(self.taxonomy if taxonomy is None else taxonomy, Taxonomy)
            self._learn_segments(rows, segments)

    def _next_part(
        self, X: Any, y: Any, classes: Any, taxonomy: Taxonomy | None
    ) -> tuple[Any, list[Segment]]:
        """The rows, and what is right for them with the classes that there are by then."""
        self._check_parameters()
        if taxonomy is not None and not isinstance(taxonomy, Taxonomy):
            raise ValueError(f"taxonomy is {taxonomy!r}; expected a margrove.Taxonomy that holds the old one")
        before, in_force = None, self.taxonomy
        if hasattr(self, "_memory"):
            self._check_continuation()
            before = self._classes()
            in_force = self.taxonomy if self._follows else self.taxonomy_
        X = read_training_X(self, X, y, reset=before is None)
        segments = read_segments(y, before, in_force if taxonomy is None else taxonomy, classes)
        check_rows(X, segments[-1].rows.stop)
        if len(segments) > 1:  # what the last asks for is refused before the first is learned
            last = segments[-1].classes
            columns_for(self.attributes, last)
            costs.get(self.cost).bind(last.taxonomy, last.nodes)
        if taxonomy is not None:
            self._follows = False
        return (_checked(as_csr(X)) if self._is_linear else X), segments

    def _learn_segments(self, rows: Any, segments: list[Segment]) -> None:
        learn = self._learn_vectors if self._is_linear else self._learn_similar
        updates = 0
        for segment in segments:
            updates += learn(rows[segment.rows], segment)
        self.converged_ = updates == 0
        if self._form != "label":
            self.threshold_ = self._cuts.threshold(len(self.classes_))

    @property
    def _is_linear(self) -> bool:
        return isinstance(similarity.get(self.kernel), Linear)

    def _check_continuation(self) -> None:
        """Refuse to go on with other parameters than those that led here."""
        if (self._memory.U is not None) != self._averaged:
            raise ValueError(
                f"the model was {'' if self._memory.U is not None else 'not '}averaged, and now it is to be "
                "the other; learn anew with fit"
            )
        if (self.similarity_ is None) != self._is_linear:
            raise ValueError(f"kernel is {self.kernel!r}, but the model was learned with another; use fit")
        defaults = type(self)()
        for name in self._lost:
            value = getattr(self, name)
            if isinstance(value, str) and value == getattr(defaults, name):
                raise ValueError(
                    f"{name} was an object, which a model file does not hold; before learning on, give it "
                    f"again with set_params({name}=...)"
                )

    def _learn_vectors(self, X: sp.csr_array, segment: Segment) -> int:
        from margrove.solvers import online

        dtype = self._memory.W.array.dtype if hasattr(self, "_memory") else _dtype(X)
        machine = self._made(segment.classes, dtype, X.shape[1])
        self.similarity_ = None
        memory = self._memory
        U = None if memory.U is None else memory.U.array
        holder = online.Weights(machine, X, segment.Y, memory.W.array, U)
        return self._visit(machine, holder, segment, slice(0, X.shape[0]))

    def _learn_similar(self, X: Any, segment: Segment) -> int:
        """With a similarity: rows that led to a step join those that are remembered."""
        from margrove.solvers import online

        machine = self._made(segment.classes, np.float64, 0)
        memory, updates = self._memory, 0
        for start in range(0, X.shape[0], ROWS_AT_ONCE):
            rows = slice(start, min(start + ROWS_AT_ONCE, X.shape[0]))
            n, old = rows.stop - start, memory.W.n_rows
            known = getattr(self, "similarity_", None)
            if known is None:
                joint = similarity.get(self.kernel).bind(X[rows], segment.Y[rows])
            else:
                joint = known.extended(X[rows])
            joint = with_engine(joint)
            gram = joint.rows(old + np.arange(n))
            begin = [gram[:, :old] @ matrix.array for matrix in (memory.W, memory.U) if matrix is not None]
            within = gram[:, old:]
            scores = online.Scores(
                machine, within.__getitem__, within.diagonal(), segment.Y[rows], (begin[0], begin[-1])
            )
            updates += self._visit(machine, scores, segment, rows)
            W, U = scores.coefficients()
            used = np.flatnonzero(W.any(axis=1))
            memory.W.append(W[used])
            if memory.U is not None and U is not None:
                memory.U.append(U[used])
            self.similarity_ = joint.restricted(np.concatenate([np.arange(old), old + used]))
        return updates

    def _visit(self, machine: Machine, holder: Any, segment: Segment, rows: slice) -> int:
        """Learn from some rows of a segment, once each, in their order; return how many led to a step."""
        from margrove.solvers import online

        memory, known, Y = self._memory, segment.known[rows], segment.Y[rows]
        memory.forget_mean()
        several = self._form != "label"
        found = online.visit_all(machine, holder, np.arange(len(known)), known, memory.steps, several)
        if found.scores is not None:
            step = memory.steps + 1.0 + np.arange(len(known))
            for n_known in np.unique(known).tolist():
                mine = np.flatnonzero(known == n_known)
                self._cuts.add(found.scores[mine, :n_known], Y[mine, :n_known], step[mine].astype(np.float64))
        memory.steps += found.steps
        memory.updates += found.updates
        memory.active += found.updates  # every row is a new one, so every step a new contrast
        memory.count_targets(Y)
        return found.updates

    # --- columns ---

    def _made(self, classes: Classes, dtype: Any, n_rows: int | None = None) -> Machine:
        """The compiled side for these classes; with `n_rows`, the memory is brought into line with them.

        What it was made for is kept beside it, so that small parts of a stream need not make it again.
        """
        made_for = (classes.nodes, classes.taxonomy, self.cost, self.attributes)
        earlier: tuple[tuple[Any, ...], Machine] | None = getattr(self, "_machine", None)
        if earlier is not None and all(a is b for a, b in zip(earlier[0], made_for, strict=True)):
            self._adopt(classes)
            return earlier[1]
        from margrove.solvers import online

        rule = online.RULES[self._rule]
        learned = hasattr(self, "_memory")
        grown = columns_for(self.attributes, classes, self if learned else None)
        cost = costs.get(self.cost).bind(classes.taxonomy, classes.nodes)
        machine = online.Machine(grown.columns, cost, rule, self._averaged, dtype)
        if grown.before is not None:
            self._memory.regrow(grown.before, grown.columns, grown.place)
            if grown.factor != 1:
                self._memory.scale(1 / grown.factor if rule.exact else grown.factor)
        elif n_rows is not None and not learned:
            self._memory = Memory.empty(n_rows, grown.columns.width, dtype, self._averaged)
        self.attributes_ = grown.Lambda.astype(dtype)
        self.column_nodes_ = grown.nodes
        self._own = grown.columns.own
        self._adopt(classes)
        self._machine = (made_for, machine)
        return machine


def _dtype(inputs: Any) -> Any:
    """The type of the weights: that of vectors, and double for similarities."""
    return np.float64 if isinstance(inputs, similarity.BoundSimilarity) else inputs.dtype


def _checked(X: sp.csr_array) -> sp.csr_array:
    """Rows whose squared norm is a number."""
    with np.errstate(over="ignore"):
        squares = X.multiply(X).sum(axis=1)
    for row in np.flatnonzero(~np.isfinite(squares))[:1]:
        raise DataError(f"X, row {row}: its squared norm overflows; scale X")
    return X
