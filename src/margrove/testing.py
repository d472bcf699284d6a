"""Hypothesis strategies for taxonomies and labels: for this project's tests, and for those of its users.

>>> @given(taxonomies())
... def test_every_class_is_terminal(taxonomy): ...
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from margrove.taxonomy import Taxonomy
from margrove.taxonomy.build import Name

Edges = list[tuple[Name, Name]]


def labels() -> st.SearchStrategy[Name]:
    """Labels of several hashable kinds: text such as "0111", "NA" or "a b", integers, and pairs."""
    text = st.text(st.characters(codec="utf-8", exclude_characters="/>"), min_size=1, max_size=6)
    words: st.SearchStrategy[Any] = text.filter(lambda word: bool(word.strip()))
    tricky = st.sampled_from(["0111", "NA", "None", "nan", "1", "a b", "root"])
    return st.one_of(tricky, words, st.integers(-5, 99), st.tuples(words, words))


@st.composite
def edge_lists(
    draw: st.DrawFn,
    *,
    min_nodes: int = 2,
    max_nodes: int = 20,
    max_parents: int = 1,
    names: st.SearchStrategy[Name] | None = None,
) -> Edges:
    """(parent, child) pairs of a rooted acyclic graph, in any order; a tree if `max_parents` is 1."""
    n = draw(st.integers(min_nodes, max_nodes))
    chosen: list[Name] = [f"n{i}" for i in range(n)]
    if names is not None:
        chosen = draw(st.lists(names, min_size=n, max_size=n, unique=True))
    edges: Edges = []
    for child in range(1, n):
        above = st.lists(st.integers(0, child - 1), min_size=1, max_size=max_parents, unique=True)
        edges.extend((chosen[parent], chosen[child]) for parent in draw(above))
    return draw(st.permutations(edges))


@st.composite
def taxonomies(
    draw: st.DrawFn,
    *,
    min_nodes: int = 2,
    max_nodes: int = 20,
    trees_only: bool = False,
    names: st.SearchStrategy[Name] | None = None,
) -> Taxonomy:
    """Random taxonomies: trees, and unless `trees_only` graphs in which nodes have up to three parents."""
    max_parents = 1 if trees_only else draw(st.sampled_from([1, 3]))
    edges = edge_lists(min_nodes=min_nodes, max_nodes=max_nodes, max_parents=max_parents, names=names)
    return Taxonomy.from_edges(draw(edges))
