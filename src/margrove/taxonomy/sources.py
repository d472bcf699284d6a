"""Paths, nested dictionaries, codes and networkx graphs, each turned into the edges that `build` checks.

In paths and nested dictionaries a node is a place: the same label under two parents is two nodes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

from margrove.errors import (
    DataError,
    DuplicateEdgeError,
    EmptyNameError,
    LabelError,
    RootError,
    TaxonomyError,
)
from margrove.taxonomy.build import (
    Name,
    Parts,
    Where,
    arrange,
    from_pairs,
    is_missing,
    listing,
    plain,
    rows,
)

_RANGE = re.compile(r"(\d+)-(\d+)")


def from_paths(
    paths: Iterable[Any], sep: str = "/", root: Name | None = "root", where: Where = "paths[{}]".format
) -> Parts:
    """One path, or one row with a column a level, for each place; `root=None`: paths start with the root."""
    labels: list[Name] = [] if root is None else [root]
    parents: list[int] = []
    children: list[int] = []
    places: dict[tuple[int, Name], int] = {}
    k = 0
    try:
        for k, path in enumerate(rows(paths)):
            above = -1 if root is None else 0
            for label in split(path, sep, where, k):
                place = places.get((above, label))
                if place is None:
                    place = places[above, label] = len(labels)
                    labels.append(plain(label))
                    if above >= 0:
                        parents.append(above)
                        children.append(place)
                above = place
    except TypeError as error:
        raise LabelError(f"{where(k)}: a node's name must be hashable ({error})") from error
    if not places:
        raise RootError("the taxonomy is empty: there are no paths")
    if root is None and len(labels) - len(children) != 1:
        tops = [label for above, label in places if above < 0]
        raise RootError(
            f"the paths start at {len(tops)} different nodes: {listing(tops)}; "
            'pass root="name" (--taxonomy-root name) to put them under one root'
        )
    return arrange(labels, parents, children, None, where)


def split(path: Any, sep: str, where: Where, k: int) -> list[Name]:
    """The labels of one path; a missing cell ends a row, and nothing may follow it."""
    if isinstance(path, str):
        parts: list[Any] = [part.strip() for part in path.strip().removeprefix(sep).split(sep)]
    elif isinstance(path, Iterable):
        parts = list(path)
    else:
        raise DataError(f"{where(k)} is {path!r}; expected a string such as 'a{sep}b', or a row of labels")
    while parts and is_missing(parts[-1]):
        parts.pop()
    if not parts:
        raise EmptyNameError(f"{where(k)}: the path {path!r} names no node")
    if any(map(is_missing, parts)):
        raise EmptyNameError(
            f"{where(k)}: in {path!r} an empty name stands before a name; give every level a name"
        )
    return parts


def from_nested(nested: Any, root: Name | None = None) -> Parts:
    """`{"root": {"a": {"x": {}}, "b": ["y", "z"]}}`, or `{"name": "root", "children": [...]}`."""
    tops = list(_children(nested))
    if not tops:
        raise RootError("the taxonomy is empty: there are no nodes")
    labels: list[Name] = [] if root is None else [root]
    if root is None and len(tops) != 1:
        names = [label for label, _ in tops]
        raise RootError(
            f"{len(tops)} nodes stand at the top: {listing(names)}; a taxonomy has one root. "
            'Pass root="name" (--taxonomy-root name) to join them under a new root'
        )
    parents: list[int] = []
    children: list[int] = []
    queue = deque([(-1 if root is None else 0, tops)])
    while queue:
        above, below = queue.popleft()
        under = "at the top" if above < 0 else f"under {labels[above]!r}"
        seen: set[Name] = set()
        for label, inner in below:
            if is_missing(label):
                raise EmptyNameError(f"{under}: a node has the empty name {label!r}; every node needs a name")
            if label in seen:
                raise DuplicateEdgeError(f"{under}: {label!r} is given twice; keep one of them")
            seen.add(label)
            if above >= 0:
                parents.append(above)
                children.append(len(labels))
            queue.append((len(labels), list(_children(inner))))
            labels.append(plain(label))
    return arrange(labels, parents, children, None, "edge {}".format)


def _children(value: Any) -> Iterator[tuple[Name, Any]]:
    """The (label, what stands below it) pairs of one level of a nested taxonomy."""
    if value is None:
        return
    if isinstance(value, Mapping):
        if is_named_node(value):
            yield value["name"], value.get("children")
        else:
            yield from value.items()
    elif isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, Mapping | list | tuple):
                yield from _children(item)
            else:
                yield item, None
    elif isinstance(value, set | frozenset):
        raise TaxonomyError(f"children in a set have no order: {value!r}; use a list")
    else:
        yield value, None


def is_named_node(value: Mapping[Any, Any]) -> bool:
    """Whether this is `{"name": ..., "children": [...]}` and not a dictionary of children."""
    if not isinstance(value.get("name", []), Hashable):
        return False
    return isinstance(value.get("children"), list | tuple) or len(value) == 1


def from_codes(
    codes: Iterable[Name],
    root: Name = "root",
    ranges: bool = False,
    where: Where = "codes[{}]".format,
) -> Parts:
    """A code's parent is its longest proper prefix; `ranges` lets "31-33" stand for 31, 32 and 33."""
    first: dict[str, int] = {}
    for k, code in enumerate(rows(codes)):
        if is_missing(code):
            raise EmptyNameError(f"{where(k)}: the code is empty")
        if not isinstance(code, str):
            raise LabelError(f"{where(k)}: the code {code!r} is no string; codes lose their zeros as numbers")
        if code in first:
            raise DuplicateEdgeError(f"the code {code!r} is given twice: {where(first[code])} and {where(k)}")
        first[code] = k
    if not first:
        raise RootError("the taxonomy is empty: there are no codes")
    within = {prefix: code for code in first for prefix in covered(code)} if ranges else {}
    pairs = [(_parent(code, first, within, root), code) for code in first]
    return from_pairs(pairs, root, where)


def covered(code: str) -> list[str]:
    """The prefixes that a range stands for: "31-33" for 31, 32, 33; none where the code is no range."""
    match = _RANGE.fullmatch(code)
    if not match or len(match[1]) != len(match[2]):
        return []
    width = len(match[1])
    return [str(i).zfill(width) for i in range(int(match[1]), int(match[2]) + 1)]


def _parent(code: str, known: Mapping[str, int], within: Mapping[str, str], root: Name) -> Name:
    if code in within:
        return within[code]
    for end in range(len(code) - 1, 0, -1):
        prefix = code[:end]
        parent = prefix if prefix in known else within.get(prefix, code)
        if parent != code:
            return parent
    return root


def from_networkx(graph: Any, root: Name | None = None) -> Parts:
    """A directed networkx graph whose edges go from parent to child."""
    if not graph.is_directed():
        raise TaxonomyError(
            "the graph is undirected; a taxonomy needs edges from parent to child (networkx.DiGraph)"
        )
    where: Callable[[int], str] = "edges[{}]".format
    return from_pairs(list(graph.edges()), root, where, alone=graph.nodes)
