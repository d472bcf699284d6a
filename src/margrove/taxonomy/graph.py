"""`Taxonomy`: an immutable rooted directed acyclic graph whose terminal nodes are the classes (T.1-T.6)."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from margrove.errors import AmbiguousNodeError, TaxonomyError, UnknownNodeError
from margrove.taxonomy import build, sources, spec
from margrove.taxonomy.build import IntArray, Name, Parts, SparseMatrix, listing

_SPELLING_LIMIT = 20_000  # nodes; looking for a similar name takes longer than an error should


class Taxonomy:
    """An immutable rooted directed acyclic graph; build one with `Taxonomy.from_edges` and its sisters.

    A node is named by its label, or by its path below the root ("a/b") where a label occurs twice; every
    method that takes a node also takes a path, as "a/b", "a > b" or a tuple of labels. Nodes stand in one
    fixed topological order (the root is number 0), and everything that lists nodes lists them in that order.

    Two taxonomies are equal when they have the same names and the same edges, in whatever order given.
    """

    source: str
    """Where the taxonomy came from and, for a file, which format was detected; no part of equality."""
    n_nodes: int
    parent_ptr: IntArray
    parent_idx: IntArray

    def __init__(
        self, parts: Parts, source: str = "", miscellaneous: Mapping[int, int] | None = None
    ) -> None:
        for array in (parts.parent_ptr, parts.parent_idx):
            array.setflags(write=False)
        vars(self).update(
            source=source,
            n_nodes=len(parts.names),
            parent_ptr=parts.parent_ptr,
            parent_idx=parts.parent_idx,
            _labels=parts.labels,
            _names=parts.names,
            _miscellaneous=dict(miscellaneous or {}),
        )

    _labels: Sequence[Name]
    _names: Sequence[Name]
    _miscellaneous: dict[int, int]  # inner node -> the terminal child that stands for it

    # --- making one ---

    @classmethod
    def from_edges(cls, pairs: Iterable[Any], root: Name | None = None) -> Taxonomy:
        """From (parent, child) pairs; the same child under two parents is one node with two parents.

        A `root` that is no node joins all nodes without a parent under a new root of that name.
        """
        parts = build.from_pairs(pairs, root)
        return cls(parts, f"edges; {_count(parts)}")

    @classmethod
    def from_paths(cls, paths: Iterable[Any], sep: str = "/", root: Name | None = "root") -> Taxonomy:
        """From paths below the root: "a/b/c", tuples or lists, or a table with one column a level.

        Rows may be ragged: None, NaN or "" ends a path. Blanks around the separator are dropped. With
        `root=None` the paths start with the root itself.
        """
        parts = sources.from_paths(paths, sep, root)
        return cls(parts, f"paths; {_count(parts)}")

    @classmethod
    def from_dict(cls, nested: Mapping[Any, Any], root: Name | None = None) -> Taxonomy:
        """From `{"root": {"a": {"x": {}}, "b": ["y", "z"]}}`, or `{"name": "root", "children": [...]}`."""
        parts = sources.from_nested(nested, root)
        return cls(parts, f"nested dictionary; {_count(parts)}")

    @classmethod
    def from_networkx(cls, graph: Any, root: Name | None = None) -> Taxonomy:
        """From a directed networkx graph whose edges go from parent to child."""
        parts = sources.from_networkx(graph, root)
        return cls(parts, f"networkx graph; {_count(parts)}")

    @classmethod
    def from_codes(cls, codes: Iterable[Name], root: Name = "root", ranges: bool = False) -> Taxonomy:
        """From prefix codes: a code's parent is its longest proper prefix among the codes, or else the root.

        "31-33" is an ordinary name, unless `ranges=True` lets it stand for 31, 32 and 33 (as in NAICS).
        """
        parts = sources.from_codes(codes, root, ranges)
        return cls(parts, f"prefix codes; {_count(parts)}")

    @classmethod
    def from_file(cls, path: str | Path, format: str | None = None, root: Name | None = None) -> Taxonomy:
        """From a file; `source` tells which format was detected (`formats.FORMATS` lists them)."""
        from margrove.taxonomy import formats

        parts, found = formats.read(Path(path), format, root)
        return cls(parts, f"{found}; {_count(parts)}")

    @classmethod
    def flat(cls, classes: Iterable[Name]) -> Taxonomy:
        """The star: every class right under one root, whose name is free among the classes."""
        names = list(classes)
        taken = set(names)
        root = "root"
        while root in taken:
            root = f"({root})"
        return cls(build.from_pairs([(root, name) for name in names], root), f"flat; {len(names)} classes")

    @classmethod
    def from_spec(cls, stored: Mapping[str, Any]) -> Taxonomy:
        """From what `to_spec` gave; everything is checked, so the source need not be trusted."""
        return cls(*spec.decode(stored))

    def to_spec(self) -> dict[str, Any]:
        """The taxonomy as plain JSON values; a label that JSON has no type for is a `LabelError`."""
        return spec.encode(self._parts, self.source, self._miscellaneous)

    # --- names and numbers ---

    @property
    def root(self) -> Name:
        """The one node without a parent; number 0."""
        return self._names[0]

    @cached_property
    def nodes(self) -> tuple[Name, ...]:
        """All nodes."""
        return tuple(self._names)

    @property
    def topological_order(self) -> tuple[Name, ...]:
        """All nodes, parents before children: the fixed order of `nodes`."""
        return self.nodes

    @cached_property
    def classes(self) -> tuple[Name, ...]:
        """The terminal nodes (T.2)."""
        return self._named(self.class_indices)

    def name(self, index: int) -> Name:
        """The name of a node's number."""
        return self._names[index]

    def label(self, node: Name) -> Name:
        """The node's own label, without the path that its name may need."""
        return self._labels[self.index(node)]

    def index(self, node: Name) -> int:
        """The number of a node, given by its name or by its path below the root."""
        found = self._find(node)
        if found is None:
            raise self._unknown(node)
        return found

    def indices(self, nodes: Iterable[Name]) -> IntArray:
        """The numbers of several nodes."""
        return np.fromiter(map(self.index, nodes), dtype=np.int32)

    @cached_property
    def _index(self) -> dict[Name, int]:
        return {name: i for i, name in enumerate(self._names)}

    @cached_property
    def _steps(self) -> dict[tuple[int, Name], int]:
        """(node, label) -> the child with this label."""
        child = np.repeat(np.arange(self.n_nodes), np.diff(self.parent_ptr)).tolist()
        above = self.parent_idx.tolist()
        return {(p, self._labels[c]): c for p, c in zip(above, child, strict=True)}

    def _find(self, node: Name) -> int | None:
        try:
            found = self._index.get(node)
        except TypeError as error:
            raise UnknownNodeError(f"{node!r} cannot be a node: it is not hashable") from error
        if found is not None:
            return found
        paths: list[list[Name]] = []
        if isinstance(node, tuple):
            paths = [list(node)]
        elif isinstance(node, str):
            paths = [[part.strip() for part in node.split(sep)] for sep in ("/", ">") if sep in node]
        for path in paths:
            from_root = path[1:] if path[:1] == [self._labels[0]] else []
            for labels in (path, from_root):
                found = self._walk(labels) if labels else None
                if found is not None:
                    return found
        return None

    def _walk(self, labels: Sequence[Name]) -> int | None:
        at: int | None = 0
        for label in labels:
            at = None if at is None else self._steps.get((at, label))
        return at

    def _unknown(self, node: Name) -> UnknownNodeError:
        places = [self._names[i] for i, label in enumerate(self._labels) if label == node]
        if places:
            return AmbiguousNodeError(
                f"{len(places)} nodes are labelled {node!r}; say which: {listing(places)}"
            )
        near = self.similar(node)
        hint = f"; did you mean {listing(near)}?" if near else ""
        return UnknownNodeError(f"the taxonomy ({self.n_nodes} nodes) has no node {node!r}{hint}")

    def similar(self, label: Hashable) -> list[str]:
        """Names that are spelt like a label, or the places of one that several nodes have."""
        places = [str(self._names[i]) for i, known in enumerate(self._labels) if known == label]
        if places or self.n_nodes > _SPELLING_LIMIT:
            return places
        last = label[-1] if isinstance(label, tuple) and label else label
        return difflib.get_close_matches(str(last), [name for name in self._names if isinstance(name, str)])

    def _named(self, indices: Iterable[int]) -> tuple[Name, ...]:
        return tuple(self._names[i] for i in indices)

    # --- arrays for the numeric rooms ---

    @cached_property
    def _child_arrays(self) -> tuple[IntArray, IntArray]:
        count = np.bincount(self.parent_idx, minlength=self.n_nodes)
        ptr = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
        child = np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.parent_ptr))
        idx = child[np.argsort(self.parent_idx, kind="stable")]
        ptr.setflags(write=False)
        idx.setflags(write=False)
        return ptr, idx

    @property
    def child_ptr(self) -> IntArray:
        """Node v's children are `child_idx[child_ptr[v]:child_ptr[v + 1]]`."""
        return self._child_arrays[0]

    @property
    def child_idx(self) -> IntArray:
        """The children of all nodes, one node's after another's, each sorted."""
        return self._child_arrays[1]

    @cached_property
    def class_indices(self) -> IntArray:
        """The numbers of the terminal nodes."""
        found = np.flatnonzero(np.diff(self.child_ptr) == 0).astype(np.int32)
        found.setflags(write=False)
        return found

    @cached_property
    def depths(self) -> IntArray:
        """Every node's depth (T.4): edges on the longest path from the root."""
        depth = [0] * self.n_nodes
        ptr, above = self.parent_ptr.tolist(), self.parent_idx.tolist()
        for v in range(1, self.n_nodes):
            depth[v] = 1 + max(depth[p] for p in above[ptr[v] : ptr[v + 1]])
        array = np.asarray(depth, dtype=np.int32)
        array.setflags(write=False)
        return array

    def ancestor_matrix(self, classes: Sequence[Name] | None = None) -> SparseMatrix:
        """One row for each of `classes` (default: all): 1.0 at every node of `anc` (T.1)."""
        from scipy.sparse import csr_array

        nodes = self.class_indices if classes is None else self.indices(classes)
        rows, columns = self._ancestor_pairs(nodes)
        ptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(nodes)))]).astype(np.int32)
        shape = (len(nodes), self.n_nodes)
        matrix = csr_array((np.ones(len(columns)), columns.astype(np.int32), ptr), shape=shape)
        matrix.has_sorted_indices = True
        return matrix

    def _ancestor_pairs(self, nodes: IntArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All (place in `nodes`, ancestor) pairs, sorted: climb from all nodes at once, an edge at a time."""
        keys = np.arange(len(nodes), dtype=np.int64) * self.n_nodes + nodes
        climbed = [keys]
        while len(keys):
            row, node = np.divmod(keys, self.n_nodes)
            start, count = self.parent_ptr[node], np.diff(self.parent_ptr)[node]
            step = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            keys = np.repeat(row, count) * self.n_nodes + self.parent_idx[np.repeat(start, count) + step]
            if not self.is_tree:
                keys = np.unique(keys)
            climbed.append(keys)
        all_keys = np.sort(np.concatenate(climbed)) if self.is_tree else np.unique(np.concatenate(climbed))
        rows, columns = np.divmod(all_keys, self.n_nodes)
        return rows, columns

    # --- questions ---

    @property
    def is_tree(self) -> bool:
        """Whether every node but the root has exactly one parent."""
        return len(self.parent_idx) == self.n_nodes - 1

    @property
    def n_edges(self) -> int:
        """The number of parent-child pairs."""
        return len(self.parent_idx)

    def parents(self, node: Name) -> tuple[Name, ...]:
        """The nodes right above; none for the root."""
        return self._named(self._parents(self.index(node)))

    def children(self, node: Name) -> tuple[Name, ...]:
        """The nodes right below; none for a class."""
        return self._named(self._children(self.index(node)))

    def ancestors(self, node: Name) -> tuple[Name, ...]:
        """`anc` (T.1): every node above, root first, and, as in Cai, the node itself last."""
        return self._named(sorted(self._reach(self.index(node), self._parents)))

    def descendants(self, node: Name) -> tuple[Name, ...]:
        """Every node whose ancestors include this one: the node itself first."""
        return self._named(sorted(self._reach(self.index(node), self._children)))

    def leaves_under(self, node: Name) -> tuple[Name, ...]:
        """The classes among the descendants; a class itself where the node is one."""
        below = sorted(self._reach(self.index(node), self._children))
        return self._named(v for v in below if not len(self._children(v)))

    def siblings(self, node: Name) -> tuple[Name, ...]:
        """The other children of the node's parents."""
        v = self.index(node)
        return self._named(sorted({s for p in self._parents(v) for s in self._children(p)} - {v}))

    def path(self, node: Name) -> tuple[Name, ...]:
        """The nodes from the root down to this one; where there are several paths, through first parents."""
        v = self.index(node)
        path = [v]
        while v:
            v = self._parents(v)[0]
            path.append(v)
        return self._named(reversed(path))

    def label_path(self, node: Name) -> tuple[Name, ...]:
        """The labels along `path` below the root: what a user writes as "a/b/c"."""
        return tuple(self._labels[self.index(v)] for v in self.path(node)[1:])

    def depth(self, node: Name) -> int:
        """The number of edges from the root (T.4); where there are several paths, on the longest."""
        return int(self.depths[self.index(node)])

    def lca(self, a: Name, b: Name) -> Name:
        """The deepest common ancestor (T.5); the first in node order where a graph has several as deep."""
        common = self._reach(self.index(a), self._parents) & self._reach(self.index(b), self._parents)
        return self._names[min(common, key=lambda v: (-self.depths[v], v))]

    def lowest_common_ancestors(self, a: Name, b: Name) -> tuple[Name, ...]:
        """All common ancestors that have none below them (T.6); in a tree there is one."""
        common = self._reach(self.index(a), self._parents) & self._reach(self.index(b), self._parents)
        return self._named(sorted(common - {p for v in common for p in self._parents(v)}))

    def _parents(self, v: int) -> list[int]:
        found: list[int] = self.parent_idx[self.parent_ptr[v] : self.parent_ptr[v + 1]].tolist()
        return found

    def _children(self, v: int) -> list[int]:
        found: list[int] = self.child_idx[self.child_ptr[v] : self.child_ptr[v + 1]].tolist()
        return found

    @staticmethod
    def _reach(start: int, step: Any) -> set[int]:
        found, stack = {start}, [start]
        while stack:
            fresh = [v for v in step(stack.pop()) if v not in found]
            found.update(fresh)
            stack.extend(fresh)
        return found

    # --- other taxonomies from this one ---

    def subtree(self, node: Name) -> Taxonomy:
        """The taxonomy of a node's descendants, with it as the root; names stay as they are here."""
        kept = np.asarray(sorted(self._reach(self.index(node), self._children)), dtype=np.int32)
        rank = np.full(self.n_nodes, -1, dtype=np.int32)
        rank[kept] = np.arange(len(kept), dtype=np.int32)
        above = [[r for r in rank[self._parents(v)].tolist() if r >= 0] for v in kept.tolist()]
        above[0] = []
        misc = {int(rank[i]): int(rank[m]) for i, m in self._miscellaneous.items() if rank[i] >= 0}
        labels, names = [self._labels[i] for i in kept], [self._names[i] for i in kept]
        return Taxonomy(spec.link(labels, names, above), f"subtree of {node!r} in {self.source}", misc)

    def with_miscellaneous(self, nodes: Iterable[Name], label: str = "{} (miscellaneous)") -> Taxonomy:
        """Give each of these inner nodes a terminal child that stands for "this, but none below" (T.3).

        The new nodes come last, so numbers keep their meaning. `as_class` and `as_label` lead there and back.
        Where the name that `label` makes is taken, it stands in a tuple behind the inner node's.
        """
        wanted = sorted(set(self.indices(nodes).tolist()) - self._miscellaneous.keys())
        terminal = [i for i in wanted if not self._children(i)]
        if terminal:
            raise TaxonomyError(
                f"already classes, because nothing is below them: {listing(self._named(terminal))}"
            )
        labels, names, taken = list(self._labels), list(self._names), set(self._names)
        for i in wanted:
            name: Name = label.format(self._names[i])
            if name in taken:
                name = (self._names[i], name)
            if name in taken:
                raise TaxonomyError(f"the name {name!r} of a miscellaneous class is taken; choose `label`")
            taken.add(name)
            names.append(name)
            labels.append(label.format(self._labels[i]))
        ptr = np.append(self.parent_ptr, self.n_edges + 1 + np.arange(len(wanted))).astype(np.int32)
        parts = Parts(labels, names, ptr, np.append(self.parent_idx, wanted).astype(np.int32))
        misc = self._miscellaneous | {i: self.n_nodes + k for k, i in enumerate(wanted)}
        return Taxonomy(parts, self.source, misc)

    @cached_property
    def miscellaneous(self) -> Mapping[Name, Name]:
        """Inner node -> the miscellaneous class that stands for it."""
        return MappingProxyType({self._names[i]: self._names[m] for i, m in self._miscellaneous.items()})

    @cached_property
    def _stands_for(self) -> dict[int, int]:
        return {m: i for i, m in self._miscellaneous.items()}

    def as_class(self, node: Name) -> Name:
        """The class that stands for a label: the node itself, or an inner node's miscellaneous child."""
        v = self.index(node)
        return self._names[self._miscellaneous.get(v, v)]

    def as_label(self, node: Name) -> Name:
        """The label that a class stands for: a miscellaneous child's inner node, else the class itself."""
        v = self.index(node)
        return self._names[self._stands_for.get(v, v)]

    # --- a value like any other ---

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Taxonomy is immutable: {name!r} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Taxonomy is immutable: {name!r} cannot be deleted")

    def __copy__(self) -> Taxonomy:
        return self

    def __deepcopy__(self, memo: object) -> Taxonomy:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Taxonomy, (self._parts, self.source, self._miscellaneous)

    @property
    def _parts(self) -> Parts:
        return Parts(self._labels, self._names, self.parent_ptr, self.parent_idx)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Taxonomy):
            return NotImplemented
        if self.n_nodes != other.n_nodes or self.n_edges != other.n_edges:
            return False
        try:
            rank = np.asarray([other._index[name] for name in self._names])
        except KeyError:
            return False
        mine = np.repeat(rank, np.diff(self.parent_ptr)) * self.n_nodes + rank[self.parent_idx]
        theirs = (
            np.repeat(np.arange(self.n_nodes), np.diff(other.parent_ptr)) * self.n_nodes + other.parent_idx
        )
        return bool(np.array_equal(np.sort(mine), np.sort(theirs)))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((frozenset(self._names), self.n_edges))

    def __len__(self) -> int:
        return self.n_nodes

    def __iter__(self) -> Iterator[Name]:
        return iter(self._names)

    def __contains__(self, node: Hashable) -> bool:
        return self._find(node) is not None

    def __repr__(self) -> str:
        kind = "tree" if self.is_tree else "graph"
        return (
            f"Taxonomy({kind}, {self.n_nodes} nodes, {len(self.class_indices)} classes, "
            f"depth {int(self.depths.max())}, root {self.root!r})"
        )


def _count(parts: Parts) -> str:
    return f"{len(parts.names):,} nodes"
