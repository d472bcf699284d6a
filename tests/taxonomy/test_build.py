"""Everything that can be wrong with a taxonomy has a typed error that says where."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

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
from margrove.taxonomy import Taxonomy
from margrove.testing import edge_lists


@pytest.mark.parametrize(
    ("edges", "error", "message"),
    [
        ([("r", "a"), ("a", "b"), ("b", "a")], CycleError, r"'a' -> 'b' -> 'a' \(pairs\[1\], pairs\[2\]\)"),
        ([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")], CycleError, "'a' -> 'b' -> 'c' -> 'a'"),
        ([("r", "a"), ("x", "y"), ("y", "x")], CycleError, "'x' -> 'y' -> 'x'"),
        ([("r", "a"), ("a", "a")], SelfParentError, r"pairs\[1\]: 'a' is its own parent"),
        ([("r", "a"), ("r", "b"), ("r", "a")], DuplicateEdgeError, r"twice: pairs\[0\] and pairs\[2\]"),
        ([("r", "a"), ("s", "b")], RootError, r"2 nodes have no parent: 'r', 's'.*root=\"name\""),
        ([], RootError, "empty"),
        ([("r", "a"), ("r", "")], EmptyNameError, r"pairs\[1\]: a node has the empty name ''"),
        ([("r", "a"), (None, "b")], EmptyNameError, r"pairs\[1\]"),
        ([("r", "  ")], EmptyNameError, r"pairs\[0\]"),
        ([("r", float("nan"))], EmptyNameError, "nan"),
        ([("r", "a"), ("r",)], DataError, r"pairs\[1\] is \('r',\); expected a pair"),
        (["ra"], DataError, r"pairs\[0\] is 'ra'"),
        ([{"r", "a"}], DataError, r"pairs\[0\] is \{"),
        ([("r", ["a"])], LabelError, "hashable"),
    ],
)
def test_bad_edges(edges, error, message):
    with pytest.raises(error, match=message) as caught:
        Taxonomy.from_edges(edges)
    assert isinstance(caught.value, ValueError)


def test_a_root_joins_or_is_checked():
    edges = [("r", "a"), ("s", "b")]
    assert Taxonomy.from_edges(edges, root="all").children("all") == ("r", "s")
    assert Taxonomy.from_edges(edges[:1], root="r").root == "r"
    assert Taxonomy.from_edges(edges[:1], root="top").path("a") == ("top", "r", "a")
    with pytest.raises(OrphanError, match="not below the root 'r': 's'"):
        Taxonomy.from_edges(edges, root="r")
    with pytest.raises(RootError, match="'a' cannot be the root"):
        Taxonomy.from_edges(edges, root="a")


@given(edge_lists(max_nodes=12, max_parents=3), st.data())
def test_an_edge_back_up_is_shown_as_a_cycle_of_real_edges(edges, data):
    tax = Taxonomy.from_edges(edges)
    child = data.draw(st.sampled_from(tax.nodes[1:]))
    ancestor = data.draw(st.sampled_from(tax.ancestors(child)[:-1]))
    broken = [*edges, (child, ancestor)]
    with pytest.raises(CycleError) as caught:
        Taxonomy.from_edges(broken)
    shown = str(caught.value).split(": ", 1)[1].split(" (")[0].split(" -> ")
    cycle = [name.strip("'") for name in shown]
    assert cycle[0] == cycle[-1]
    assert len(set(cycle)) == len(cycle) - 1
    assert set(pairwise(cycle)) <= set(broken)


@given(edge_lists(max_nodes=12), st.data())
def test_a_second_root_is_named(edges, data):
    cut = data.draw(st.integers(0, len(edges) - 1))
    rest = edges[:cut] + edges[cut + 1 :]
    assume(rest)
    lost = edges[cut][1]
    left = {node for edge in rest for node in edge}
    tops = left - {child for _, child in rest}
    assume(len(tops) > 1)
    assert lost in tops
    with pytest.raises(RootError, match=repr(lost)):
        Taxonomy.from_edges(rest)


@pytest.mark.parametrize(
    ("paths", "error", "message"),
    [
        (["a/b", "a//c"], EmptyNameError, r"paths\[1\].*empty name stands before"),
        ([["a", None, "c"]], EmptyNameError, r"paths\[0\]"),
        (["a", ""], EmptyNameError, r"paths\[1\]: the path '' names no node"),
        ([5], DataError, r"paths\[0\] is 5"),
        ([], RootError, "no paths"),
        ([[["a"], "b"]], LabelError, r"paths\[0\].*hashable"),
    ],
)
def test_bad_paths(paths, error, message):
    with pytest.raises(error, match=message):
        Taxonomy.from_paths(paths)


def test_paths_without_a_root_start_at_one_node():
    with pytest.raises(RootError, match="start at 2 different nodes: 'a', 'b'"):
        Taxonomy.from_paths(["a/x", "b/y"], root=None)


@pytest.mark.parametrize(
    ("nested", "error", "message"),
    [
        ({"a": {}, "b": {}}, RootError, "2 nodes stand at the top: 'a', 'b'"),
        ({}, RootError, "there are no nodes"),
        ({"r": {"": {}}}, EmptyNameError, "under 'r'"),
        ({"r": ["a", "a"]}, DuplicateEdgeError, "under 'r': 'a' is given twice"),
        ({"r": {"a", "b"}}, TaxonomyError, "no order"),
    ],
)
def test_bad_dictionaries(nested, error, message):
    with pytest.raises(error, match=message):
        Taxonomy.from_dict(nested)


@pytest.mark.parametrize(
    ("codes", "error", "message"),
    [
        (["11", "11"], DuplicateEdgeError, r"codes\[0\] and codes\[1\]"),
        (["11", ""], EmptyNameError, r"codes\[1\]"),
        ([11], LabelError, "11 is no string"),
        ([], RootError, "no codes"),
    ],
)
def test_bad_codes(codes, error, message):
    with pytest.raises(error, match=message):
        Taxonomy.from_codes(codes)


def test_bad_graphs():
    with pytest.raises(TaxonomyError, match="undirected"):
        Taxonomy.from_networkx(nx.Graph([("r", "a")]))
    with pytest.raises(DuplicateEdgeError, match=r"edges\[0\] and edges\[1\]"):
        Taxonomy.from_networkx(nx.MultiDiGraph([("r", "a"), ("r", "a")]))
    lonely = nx.DiGraph([("r", "a")])
    lonely.add_node("b")
    with pytest.raises(OrphanError, match="'b'"):
        Taxonomy.from_networkx(lonely, root="r")


def test_long_lists_of_names_are_cut_in_messages():
    with pytest.raises(RootError, match=r"30 nodes have no parent.*and 25 more"):
        Taxonomy.from_edges([(f"r{i}", f"a{i}") for i in range(30)])


def test_depth_ten_thousand():
    n = 10_000
    chain = Taxonomy.from_edges([(i + 2, i + 3) for i in range(n)])
    assert chain.depth(n + 2) == n
    assert len(chain.ancestors(n + 2)) == len(chain.path(n + 2)) == len(chain.descendants(2)) == n + 1
    assert chain.lca(n + 2, n) == n
    assert chain.ancestor_matrix().nnz == n + 1
    assert Taxonomy.from_paths(["/".join(f"n{i}" for i in range(n))]).n_nodes == n + 1
    nested: dict[str, object] = {}
    for i in range(n):
        nested = {f"n{n - i}": nested}
    assert Taxonomy.from_dict(nested).depths.max() == n - 1
    with pytest.raises(CycleError):
        Taxonomy.from_edges([(i + 2, i + 3) for i in range(n)] + [(n + 2, 2)])
    assert Taxonomy.from_spec(chain.to_spec()) == chain


def test_arrays_are_taken_as_pairs():
    assert Taxonomy.from_edges(np.array([["r", "a"], ["r", "b"]])).classes == ("a", "b")


@pytest.mark.parametrize("build", [Taxonomy.from_edges, Taxonomy.from_paths, Taxonomy.from_codes])
def test_a_text_is_no_collection(build):
    with pytest.raises(DataError, match="not the text 'a/b'"):
        build("a/b")
