"""What it costs to predict class r where y is right (maths.md, C.1-C.10).

A cost is a small specification, bound to a taxonomy and its classes when they are known:

>>> mg.costs.tree().bind(taxonomy, classes).row(0)

All costs but a given matrix are one formula, with weights P on the ancestors of the right class and Q on
those of the predicted one:

    cost(y, r) = sum of P[y, v] over anc(y) - anc(r)  +  sum of Q[r, v] over anc(r) - anc(y).           (C.1)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from margrove.errors import DataError, LabelError, TaxonomyError
from margrove.taxonomy.binding import class_taxonomy, keep_columns
from margrove.taxonomy.build import Name, SparseMatrix

if TYPE_CHECKING:
    from margrove.taxonomy.graph import Taxonomy

FloatArray: TypeAlias = NDArray[np.float64]
Weights: TypeAlias = Mapping[Name, float] | Callable[[Name], float]

_MATRIX_LIMIT = 20_000  # classes; above it a square matrix takes more than 3 GB


@dataclass(frozen=True, eq=False)
class BoundCost:
    """The costs between q classes without a square matrix (C.2): zero for r = y, otherwise

    cost(y, r) = own[y] + other[r] - sum of (left[y, v] + right[v, r]) over v stored in both rows.
    """

    own: FloatArray
    """(q,)"""
    other: FloatArray
    """(q,)"""
    left: SparseMatrix
    """(q, s): P on the pattern A; stored zeros count."""
    right: SparseMatrix
    """(s, q): Q on the pattern B, by node; stored zeros count."""

    def __post_init__(self) -> None:
        for matrix in (self.left, self.right):
            for array in (matrix.data, matrix.indices, matrix.indptr):
                array.setflags(write=False)
        self.own.setflags(write=False)
        self.other.setflags(write=False)

    def __len__(self) -> int:
        return len(self.own)

    def row(self, y: int) -> FloatArray:
        """The costs of predicting each class where class number `y` is right."""
        entries = slice(self.left.indptr[y], self.left.indptr[y + 1])
        nodes = self.left.indices[entries]
        start, stop = self.right.indptr[nodes], self.right.indptr[nodes + 1]
        count = stop - start
        at = np.arange(count.sum()) + np.repeat(start - (np.cumsum(count) - count), count)
        shared = self.right.data[at] + np.repeat(self.left.data[entries], count)
        cost: FloatArray = self.other + self.own[y]
        cost -= np.bincount(self.right.indices[at], weights=shared, minlength=len(self))
        cost[y] = 0.0
        return cost

    def rows(self, ys: ArrayLike) -> FloatArray:
        """One `row` for each of several right classes."""
        numbers = np.asarray(ys, dtype=np.int64)
        costs = np.empty((len(numbers), len(self)))
        for k, y in enumerate(numbers.tolist()):
            costs[k] = self.row(y)
        return costs

    def pairs(self, ys: ArrayLike, rs: ArrayLike) -> FloatArray:
        """The cost of each pair (ys[k] is right, rs[k] is predicted)."""
        y, r = np.asarray(ys, dtype=np.int64), np.asarray(rs, dtype=np.int64)
        cost: FloatArray = self.own[y] + self.other[r]
        if self.left.shape[1]:
            mine, theirs = self.left[y], self._right_by_class[r]
            cost -= mine.multiply(_ones(theirs)).sum(axis=1) + _ones(mine).multiply(theirs).sum(axis=1)
        cost[y == r] = 0.0
        return cost

    @cached_property
    def _right_by_class(self) -> SparseMatrix:
        return self.right.T.tocsr()

    def matrix(self) -> FloatArray:
        """All costs, as a square matrix; for few classes only."""
        if len(self) > _MATRIX_LIMIT:
            raise DataError(
                f"a cost matrix of {len(self)} x {len(self)} is too large; use row, rows or pairs"
            )
        return self.rows(np.arange(len(self)))


def _ones(matrix: SparseMatrix) -> SparseMatrix:
    """The pattern of a matrix."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(matrix.data)), matrix.indices, matrix.indptr), shape=matrix.shape)


def _on_ancestors(ancestors: SparseMatrix, p: FloatArray, q: FloatArray) -> BoundCost:
    """(C.1) as (C.2): P and Q are given for every stored entry of `ancestors`.

    A node above every class is never in a difference, so its weights go; a node above one class only is never
    shared, so its weights stay in the sums `own` and `other` alone.
    """
    n_classes, n_nodes = ancestors.shape
    above = np.bincount(ancestors.indices, minlength=n_nodes)
    differs = above[ancestors.indices] < n_classes
    start = ancestors.indptr[:-1]  # no row is empty: every class is its own ancestor
    own: FloatArray = np.add.reduceat(np.where(differs, p, 0.0), start)
    other: FloatArray = np.add.reduceat(np.where(differs, q, 0.0), start)
    keep = (above > 1) & (above < n_classes)
    return BoundCost(own, other, keep_columns(ancestors, keep, p), keep_columns(ancestors, keep, q).T.tocsr())


class Cost(Protocol):
    """A specification of costs, without a taxonomy yet."""

    def bind(self, taxonomy: Taxonomy | None, classes: Sequence[Name]) -> BoundCost:
        """The costs between these terminal nodes; without a taxonomy, between the classes of a star."""
        ...


@dataclass(frozen=True)
class ZeroOne:
    """1 for every wrong class (C.3)."""

    def bind(self, taxonomy: Taxonomy | None, classes: Sequence[Name]) -> BoundCost:
        """The costs between these classes."""
        from scipy.sparse import csr_array

        class_taxonomy(taxonomy, classes)
        q = len(classes)
        return BoundCost(np.ones(q), np.zeros(q), csr_array((q, 0)), csr_array((0, q)))


@dataclass(frozen=True)
class SymmetricDifference:
    """Volumes of the nodes missed, times `c_miss`, and of those wrongly added, times `c_extra` (C.4, C.5)."""

    volumes: Weights | None = None
    c_miss: float = 1.0
    c_extra: float = 1.0

    def __post_init__(self) -> None:
        for option, value in (("c_miss", self.c_miss), ("c_extra", self.c_extra)):
            if not (np.isfinite(value) and value >= 0):
                raise DataError(f"{option} is {value!r}; expected a finite number, zero or more")
        if self.c_miss + self.c_extra == 0:
            raise DataError("c_miss and c_extra are both zero; then no mistake costs anything")

    def bind(self, taxonomy: Taxonomy | None, classes: Sequence[Name]) -> BoundCost:
        """The costs between these classes."""
        graph = class_taxonomy(taxonomy, classes)
        ancestors = graph.ancestor_matrix(classes)
        volume = _node_weights(graph, self.volumes, "volumes", _below_root(ancestors))
        free = [name for name in classes if not volume[graph.index(name)] > 0]
        if free:
            raise DataError(
                f"the volume of class {free[0]!r} is zero; then mistaking it for a sibling costs nothing"
            )
        s = volume[ancestors.indices]
        return _on_ancestors(ancestors, self.c_miss * s, self.c_extra * s)

    def of_nodes(self, taxonomy: Taxonomy, nodes: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """What missing and what adding each node of the taxonomy costs; only these nodes need a volume."""
        volume = _node_weights(taxonomy, self.volumes, "volumes", np.asarray(nodes, dtype=np.int64))
        return self.c_miss * volume, self.c_extra * volume

    def set_cost(self, taxonomy: Taxonomy, right: Iterable[Name], predicted: Iterable[Name]) -> float:
        """The cost of a predicted label set where another is right (C.4, Cai 3.11)."""
        mine = {v for y in right for v in taxonomy.ancestors(y)}
        theirs = {v for y in predicted for v in taxonomy.ancestors(y)}
        missed, extra = taxonomy.indices(mine - theirs), taxonomy.indices(theirs - mine)
        volume = _node_weights(taxonomy, self.volumes, "volumes", np.union1d(missed, extra))
        return float(
            self.c_miss * volume[np.sort(missed)].sum() + self.c_extra * volume[np.sort(extra)].sum()
        )


@dataclass(frozen=True)
class NormalizedTree:
    """Half of the share of y's ancestors missed plus the share of r's wrongly added (C.7, Cai 7.2)."""

    def bind(self, taxonomy: Taxonomy | None, classes: Sequence[Name]) -> BoundCost:
        """The costs between these classes."""
        ancestors = class_taxonomy(taxonomy, classes).ancestor_matrix(classes)
        size = np.diff(ancestors.indptr)
        half_share = np.repeat(0.5 / np.maximum(size - 1, 1), size)
        return _on_ancestors(ancestors, half_share, half_share)


@dataclass(frozen=True)
class HLoss:
    """Only the highest mistake counts: the weights of the two nodes where the paths part (C.8, C.9)."""

    kind: Literal["subtree", "sibling"] = "subtree"
    weights: Weights | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("subtree", "sibling"):
            raise DataError(f"h_loss kind is {self.kind!r}; expected 'subtree' or 'sibling'")

    def bind(self, taxonomy: Taxonomy | None, classes: Sequence[Name]) -> BoundCost:
        """The costs between these classes; trees only."""
        tree = class_taxonomy(taxonomy, classes)
        if not tree.is_tree:
            raise TaxonomyError("h_loss needs a tree: with several parents, paths part in several places")
        paths = tree.ancestor_matrix(classes)
        c = self._node_costs(tree, paths)
        # P[y, v] = c(v) - c(next on the path), so that the unshared nodes sum to the first one's c.
        on_path = c[paths.indices]
        below = np.append(on_path[1:], 0.0)
        below[paths.indptr[1:] - 1] = 0.0
        return _on_ancestors(paths, on_path - below, on_path - below)

    def _node_costs(self, tree: Taxonomy, paths: SparseMatrix) -> FloatArray:
        """c(v), halved for siblings, whose two weights are one weight (C.9)."""
        if self.weights is not None:
            c = _node_weights(tree, self.weights, "weights", _below_root(paths))
            if not np.all(c[_below_root(paths)] > 0):
                raise DataError("weights of an h_loss must be positive")
        elif self.kind == "subtree":
            size = np.ones(tree.n_nodes)
            above = tree.parent_idx
            for v in range(tree.n_nodes - 1, 0, -1):
                size[above[v - 1]] += size[v]
            c = size / max(tree.n_nodes - 1, 1)
        else:
            c = np.ones(tree.n_nodes)
            n_siblings = np.diff(tree.child_ptr)[tree.parent_idx]
            for v in range(1, tree.n_nodes):
                c[v] = c[tree.parent_idx[v - 1]] / n_siblings[v - 1]
        return c / 2 if self.kind == "sibling" else c


@dataclass(frozen=True, eq=False)
class CostMatrix:
    """Any matrix: `costs[i, j]` is the cost of predicting `classes[j]` where `classes[i]` is right (C.10)."""

    costs: FloatArray = field(repr=False)
    classes: Sequence[Name] | None = None

    def __post_init__(self) -> None:
        costs = np.array(self.costs, dtype=np.float64)
        if costs.ndim != 2 or costs.shape[0] != costs.shape[1]:
            raise DataError(f"a cost matrix must be square; its shape is {costs.shape}")
        if self.classes is not None and len(self.classes) != len(costs):
            raise DataError(
                f"the cost matrix has {len(costs)} rows but {len(self.classes)} classes are named"
            )
        off = ~np.eye(len(costs), dtype=bool)
        for wrong, what in (
            (~np.isfinite(costs), "must be finite"),
            (~off & (costs != 0), "must be zero: being right costs nothing"),
            (off & (costs <= 0), "must be positive: every mistake costs something"),
        ):
            if wrong.any():
                i, j = np.argwhere(wrong)[0].tolist()
                raise DataError(f"costs[{i}, {j}] is {costs[i, j]}; it {what}")
        costs.setflags(write=False)
        object.__setattr__(self, "costs", costs)

    def bind(self, taxonomy: Taxonomy | None, classes: Sequence[Name]) -> BoundCost:
        """The rows and columns of these classes; without names, the matrix is in the order of `classes`."""
        class_taxonomy(taxonomy, classes)
        q = len(classes)
        if self.classes is None:
            if q != len(self.costs):
                raise DataError(
                    f"the cost matrix has {len(self.costs)} rows but there are {q} classes; name them"
                )
            return bind_matrix(self.costs)
        place = {name: i for i, name in enumerate(self.classes)}
        unknown = [name for name in classes if name not in place]
        if unknown:
            raise LabelError(f"the cost matrix has no row for class {unknown[0]!r}")
        order = [place[name] for name in classes]
        return bind_matrix(self.costs[np.ix_(order, order)])


def bind_matrix(costs: FloatArray) -> BoundCost:
    """A square matrix as bound costs; its diagonal is zero, and mistakes may cost nothing."""
    from scipy.sparse import csr_array, eye_array

    q = len(costs)
    everywhere = np.tile(np.arange(q, dtype=np.int32), q)
    ptr = np.arange(0, q * q + 1, q, dtype=np.int32)
    left = csr_array((-costs.ravel(), everywhere, ptr), shape=(q, q))
    right = eye_array(q, format="csr")
    right.data[:] = 0.0  # the pattern alone: left holds the whole cost
    return BoundCost(np.zeros(q), np.zeros(q), left, right)


def _below_root(ancestors: SparseMatrix) -> NDArray[np.int32]:
    """All nodes above some class but the root, which no difference holds: every class has it."""
    return np.unique(ancestors.indices)[1:]


def _node_weights(taxonomy: Taxonomy, weights: Weights | None, option: str, needed: Any) -> FloatArray:
    """One number for each node that is needed, and 1 for the others."""
    values = np.ones(taxonomy.n_nodes)
    if weights is None:
        return values
    look_up = weights if callable(weights) else weights.__getitem__
    for v in needed.tolist():
        name = taxonomy.name(v)
        try:
            value = float(look_up(name))
        except KeyError as error:
            raise DataError(f"{option} has no entry for node {name!r}") from error
        if not (np.isfinite(value) and value >= 0):
            raise DataError(f"{option} of node {name!r} is {value!r}; expected a finite number, zero or more")
        values[v] = value
    return values


def zero_one() -> ZeroOne:
    """1 for every wrong class (C.3)."""
    return ZeroOne()


def symmetric_difference(
    volumes: Weights | None = None, c_miss: float = 1.0, c_extra: float = 1.0
) -> SymmetricDifference:
    """The volumes of ancestors missed and wrongly added (C.5; Cai 3.11-3.13); volumes are 1 unless given."""
    return SymmetricDifference(volumes, c_miss, c_extra)


def tree() -> SymmetricDifference:
    """Half the size of the symmetric difference of ancestors: in a tree, half the distance (C.6; Cai 7.2)."""
    return SymmetricDifference(c_miss=0.5, c_extra=0.5)


def normalized_tree() -> NormalizedTree:
    """The tree cost with each class's edges weighted by one over its depth (C.7; Cai's equation 7.2)."""
    return NormalizedTree()


def h_loss(kind: Literal["subtree", "sibling"] = "subtree", weights: Weights | None = None) -> HLoss:
    """Only the highest mistake counts (C.8, C.9; Wang 2.1, 2.2); `weights` by node replace the document's."""
    return HLoss(kind, weights)


def matrix(costs: ArrayLike, classes: Sequence[Name] | None = None) -> CostMatrix:
    """Any matrix, zero on the diagonal and positive elsewhere (C.10); rows are right, columns predicted."""
    return CostMatrix(np.asarray(costs, dtype=np.float64), None if classes is None else tuple(classes))


_NAMED: Mapping[str, Callable[[], Cost]] = {
    "zero-one": zero_one,
    "symmetric-difference": symmetric_difference,
    "tree": tree,
    "normalized-tree": normalized_tree,
    "h-loss": h_loss,
    "h-loss-subtree": h_loss,
    "h-loss-sibling": lambda: h_loss("sibling"),
}
NAMES: Collection[str] = tuple(_NAMED)


def get(cost: Any) -> Cost:
    """A cost from its specification, its function (`mg.costs.tree`), its name ("tree") or a matrix."""
    if isinstance(cost, str):
        found = _NAMED.get(cost.replace("_", "-"))
        if found is None:
            raise DataError(f"no cost is called {cost!r}; expected one of {', '.join(NAMES)}, or a matrix")
        return found()
    if hasattr(cost, "bind"):
        spec: Cost = cost
        return spec
    return get(cost()) if callable(cost) else matrix(cost)
