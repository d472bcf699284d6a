"""From edges to the arrays of a checked, rooted, acyclic graph in topological order.

Everything that can be wrong with a taxonomy is found here, before any training, and is told with the place
where it stands in the user's data: `where(k)` names the k-th edge ("line 12", "pairs[3]").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from margrove.errors import (
    CycleError,
    DataError,
    DuplicateEdgeError,
    EmptyNameError,
    LabelError,
    OrphanError,
    RootError,
    SelfParentError,
    TaxonomyError,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Name: TypeAlias = Hashable
IntArray: TypeAlias = NDArray[np.int32]
SparseMatrix: TypeAlias = "csr_array[np.float64, tuple[int, int]]"
Where: TypeAlias = Callable[[int], str]

EMPTY: Mapping[Name, Name] = {}
SHOWN = 5  # how many names a message lists before it says "and n more"


@dataclass(frozen=True, slots=True)
class Parts:
    """A checked graph: node 0 is the root, parents stand before their children and are sorted."""

    labels: Sequence[Name]
    names: Sequence[Name]
    parent_ptr: IntArray
    parent_idx: IntArray


def listing(names: Collection[Any]) -> str:
    """The first few names, for a message."""
    shown = ", ".join(repr(name) for name, _ in zip(names, range(SHOWN), strict=False))
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def is_missing(label: object) -> bool:
    """Whether a cell holds no name: None, NaN, pandas' NA or NaT, or nothing but blanks."""
    if isinstance(label, str):
        return not label.strip()
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating) and bool(label != label)


def plain(label: Any) -> Name:
    """The label itself, a NumPy scalar as the Python value that it stands for."""
    value: Name = label.item() if isinstance(label, np.generic) else label
    return value


def rows(table: Any) -> Iterator[Any]:
    """The rows of a data frame, an array or any iterable; a set is ordered, so that no hash seed shows."""
    if isinstance(table, str):
        raise DataError(f"expected a collection, not the text {table!r}; Taxonomy.from_file reads files")
    if hasattr(table, "to_numpy"):
        table = table.to_numpy()
    if isinstance(table, np.ndarray):
        return iter(table.tolist())
    if isinstance(table, set | frozenset):
        return iter(sorted(table, key=repr))
    return iter(table)


def from_pairs(
    pairs: Iterable[Any],
    root: Name | None = None,
    where: Where = "pairs[{}]".format,
    alone: Iterable[Name] = (),
    labels: Mapping[Name, Name] = EMPTY,
) -> Parts:
    """Check and order (parent, child) pairs.

    `alone` names nodes that may stand in no pair; `labels` gives nodes another label than in the pairs.
    """
    ids: dict[Name, int] = {}
    parents: list[int] = []
    children: list[int] = []
    pair: Any = None
    given = rows(pairs)
    try:
        for pair in given:
            if isinstance(pair, str | set | frozenset):
                raise ValueError
            parent, child = pair
            parents.append(ids.setdefault(parent, len(ids)))
            children.append(ids.setdefault(child, len(ids)))
    except (TypeError, ValueError) as error:
        place = where(len(children))
        if isinstance(pair, list | tuple) and len(pair) == 2:
            raise LabelError(f"{place} is {pair!r}: a node's name must be hashable") from error
        raise DataError(f"{place} is {pair!r}; expected a pair (parent, child)") from error
    for name in alone:
        ids.setdefault(name, len(ids))
    for name, i in ids.items():
        if is_missing(name):
            edge = next((k for k, ends in enumerate(zip(parents, children, strict=True)) if i in ends), None)
            place = "" if edge is None else f"{where(edge)}: "
            raise EmptyNameError(f"{place}a node has the empty name {name!r}; every node needs a name")
    return arrange([plain(labels.get(name, name)) for name in ids], parents, children, root, where)


def arrange(
    labels: list[Name], parents: Sequence[int], children: Sequence[int], root: Name | None, where: Where
) -> Parts:
    """Check the edges `parents[k] -> children[k]` between labelled nodes, and put the nodes in order.

    Without `root` exactly one node must have no parent. A `root` that is no node's label becomes a new node
    above all that have none; a `root` that is a node must reach every other.
    """
    tail, head = np.asarray(parents, dtype=np.int64), np.asarray(children, dtype=np.int64)
    n = len(labels)
    _reject_self_parents(labels, tail, head, where)
    _reject_duplicates(labels, tail, head, where)
    order = _topological_order(n, tail, head)
    if len(order) < n:
        raise CycleError(_describe_cycle(labels, tail, head, set(range(n)).difference(order), where))
    tops = np.flatnonzero(np.bincount(head, minlength=n) == 0)
    if root is not None and root not in labels:
        labels = [*labels, root]
        order.insert(0, n)
        tail, head = np.append(tail, np.full_like(tops, n)), np.append(head, tops)
    else:
        _check_root(labels, tops.tolist(), root)
    return _compress(labels, order, tail, head)


def _reject_self_parents(labels: list[Name], tail: NDArray[Any], head: NDArray[Any], where: Where) -> None:
    loops = np.flatnonzero(tail == head)
    if len(loops):
        name = labels[tail[loops[0]]]
        raise SelfParentError(f"{where(int(loops[0]))}: {name!r} is its own parent ({name!r} -> {name!r})")


def _reject_duplicates(labels: list[Name], tail: NDArray[Any], head: NDArray[Any], where: Where) -> None:
    keys = tail * len(labels) + head
    order = np.argsort(keys, kind="stable")
    repeats = np.flatnonzero(np.diff(keys[order]) == 0)
    if len(repeats):
        k = repeats[np.argmin(order[repeats + 1])]
        first, second = int(order[k]), int(order[k + 1])
        edge = f"{labels[tail[first]]!r} -> {labels[head[first]]!r}"
        raise DuplicateEdgeError(
            f"the edge {edge} is given twice: {where(first)} and {where(second)}; keep one of them"
        )


def _topological_order(n: int, tail: NDArray[Any], head: NDArray[Any]) -> list[int]:
    """Kahn's order, first in, first out: by the longest path from the top, then as the user gave them.

    Nodes on or below a cycle are left out.
    """
    ptr = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=n))]).tolist()
    below = head[np.argsort(tail, kind="stable")].tolist()
    waiting = np.bincount(head, minlength=n).tolist()
    order = [v for v in range(n) if not waiting[v]]
    for v in order:  # grows while we walk it
        for child in below[ptr[v] : ptr[v + 1]]:
            waiting[child] -= 1
            if not waiting[child]:
                order.append(child)
    return order


def _describe_cycle(
    labels: list[Name], tail: NDArray[Any], head: NDArray[Any], left: set[int], where: Where
) -> str:
    """Walk upwards among the nodes that Kahn's order left: each has a parent there, so it comes round."""
    edge_above: dict[int, int] = {}
    for k, (parent, child) in enumerate(zip(tail.tolist(), head.tolist(), strict=True)):
        if parent in left and child in left:
            edge_above.setdefault(child, k)
    v, seen = min(left), {}
    while v not in seen:
        seen[v] = edge_above[v]
        v = int(tail[seen[v]])
    walk = list(seen)
    upwards = walk[walk.index(v) :]
    cycle = [v, *reversed(upwards)]
    path = " -> ".join(repr(labels[i]) for i in cycle)
    places = ", ".join(where(seen[i]) for i in cycle[1:])
    return f"the taxonomy has a cycle: {path} ({places}); remove one of these edges"


def _check_root(labels: list[Name], tops: list[int], root: Name | None) -> None:
    names = [labels[i] for i in tops]
    if not names:
        raise RootError("the taxonomy is empty: give at least one edge, or a root")
    if root is None and len(names) > 1:
        raise RootError(
            f"{len(names)} nodes have no parent: {listing(names)}; a taxonomy has one root. "
            'Pass root="name" (--taxonomy-root name), a name that no node has, to join them under a new root'
        )
    if root is not None and root not in names:
        raise RootError(f"{root!r} cannot be the root, because it has a parent")
    if root is not None and len(names) > 1:
        orphans = [name for name in names if name != root]
        raise OrphanError(f"not below the root {root!r}: {listing(orphans)}; give them a parent")


def _compress(labels: list[Name], order: list[int], tail: NDArray[Any], head: NDArray[Any]) -> Parts:
    """Renumber by `order` and gather each node's parents, sorted."""
    n = len(order)
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    tail, head = rank[tail], rank[head]
    parent_ptr = np.concatenate([[0], np.cumsum(np.bincount(head, minlength=n))]).astype(np.int32)
    parent_idx = tail[np.lexsort((tail, head))].astype(np.int32)
    ordered = [labels[i] for i in order]
    return Parts(ordered, name_nodes(ordered, parent_ptr, parent_idx), parent_ptr, parent_idx)


def name_nodes(labels: list[Name], parent_ptr: IntArray, parent_idx: IntArray) -> list[Name]:
    """Each node's label; where it occurs twice, its path: "a/b", or a tuple where that is unclear."""
    count = Counter(labels)
    if len(count) == len(labels):
        return labels
    names: list[Name] = []
    taken = {label for label, times in count.items() if times == 1} | {labels[0]}
    for i, label in enumerate(labels):
        if i == 0 or count[label] == 1:
            names.append(label)
            continue
        path = [label]
        above = int(parent_idx[parent_ptr[i]])
        while above:
            path.append(labels[above])
            above = int(parent_idx[parent_ptr[above]])
        path.reverse()
        clear = all(isinstance(part, str) and "/" not in part for part in path)
        name: Name = path[0] if len(path) == 1 else "/".join(map(str, path)) if clear else tuple(path)
        if name in taken:
            name = tuple(path)
        if name in taken:
            raise TaxonomyError(f"two nodes have the same path {name!r}; rename one of them")
        taken.add(name)
        names.append(name)
    return names
