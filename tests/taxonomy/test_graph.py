"""Questions to a taxonomy, against the definitions."""

import copy
import os
import pickle
import subprocess
import sys
from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from margrove.errors import AmbiguousNodeError, TaxonomyError, UnknownNodeError
from margrove.taxonomy import Taxonomy
from margrove.testing import edge_lists, labels, taxonomies
from oracles.taxonomy import naive_ancestors, naive_classes, naive_depth, naive_descendants, naive_root

graphs = st.sampled_from([1, 3]).flatmap(lambda most: edge_lists(max_parents=most, names=labels()))


@given(graphs)
def test_questions_have_the_answers_of_the_definitions(edges):
    tax = Taxonomy.from_edges(edges)
    assert tax.root == tax.name(0) == naive_root(edges)
    assert set(tax.classes) == naive_classes(edges)
    assert tax.is_tree == (len(edges) == tax.n_nodes - 1)
    position = {node: i for i, node in enumerate(tax.nodes)}
    assert all(position[parent] < position[child] for parent, child in edges)
    for node in tax.nodes:
        assert tax.name(tax.index(node)) == node
        assert set(tax.parents(node)) == {parent for parent, child in edges if child == node}
        assert set(tax.children(node)) == {child for parent, child in edges if parent == node}
        assert set(tax.ancestors(node)) == naive_ancestors(edges, node)
        assert set(tax.descendants(node)) == naive_descendants(edges, node)
        assert set(tax.leaves_under(node)) == naive_descendants(edges, node) & naive_classes(edges)
        assert tax.depth(node) == naive_depth(edges, node)
        siblings = {c for p, c in edges if (p, node) in edges} - {node}
        assert set(tax.siblings(node)) == siblings
        for listed in (tax.ancestors(node), tax.descendants(node), tax.siblings(node), tax.children(node)):
            assert [position[v] for v in listed] == sorted({position[v] for v in listed})
        path = tax.path(node)
        assert path[0] == tax.root
        assert path[-1] == node
        assert set(pairwise(path)) <= set(edges)


@given(graphs, st.data())
def test_lowest_common_ancestor_is_common_and_as_deep_as_any(edges, data):
    tax = Taxonomy.from_edges(edges)
    a, b = data.draw(st.sampled_from(tax.nodes)), data.draw(st.sampled_from(tax.nodes))
    common = naive_ancestors(edges, a) & naive_ancestors(edges, b)
    assert tax.lca(a, b) in common
    assert tax.depth(tax.lca(a, b)) == max(tax.depth(v) for v in common)
    assert tax.lca(a, b) == tax.lca(b, a)
    lowest = {v for v in common if not common & set(tax.children(v))}
    assert tax.lca(a, b) in lowest
    assert set(tax.lowest_common_ancestors(a, b)) == lowest


@given(graphs)
def test_arrays_say_the_same_as_the_questions(edges):
    tax = Taxonomy.from_edges(edges)
    for v, node in enumerate(tax.nodes):
        parents = tax.parent_idx[tax.parent_ptr[v] : tax.parent_ptr[v + 1]]
        children = tax.child_idx[tax.child_ptr[v] : tax.child_ptr[v + 1]]
        assert tuple(map(tax.name, parents)) == tax.parents(node)
        assert tuple(map(tax.name, children)) == tax.children(node)
    matrix = tax.ancestor_matrix()
    assert matrix.has_canonical_format
    assert matrix.dtype == np.float64
    expected = [[float(node in tax.ancestors(y)) for node in tax.nodes] for y in tax.classes]
    np.testing.assert_array_equal(matrix.toarray(), expected)
    some = tax.ancestor_matrix([tax.classes[-1], tax.root]).toarray()
    np.testing.assert_array_equal(some, [expected[-1], [1.0] + [0.0] * (tax.n_nodes - 1)])


@given(taxonomies())
def test_nothing_in_it_can_be_changed(tax):
    arrays = (tax.parent_ptr, tax.parent_idx, tax.child_ptr, tax.child_idx, tax.class_indices, tax.depths)
    for array in arrays:
        assert not array.flags.writeable
        assert array.dtype == np.int32
    with pytest.raises(AttributeError, match="immutable"):
        tax.root = "other"
    with pytest.raises(AttributeError, match="immutable"):
        tax.source = "other"
    with pytest.raises(AttributeError, match="immutable"):
        del tax.n_nodes


@given(graphs, st.randoms())
def test_equality_looks_at_names_and_edges_only(edges, random):
    tax = Taxonomy.from_edges(edges)
    shuffled = random.sample(edges, len(edges))
    other = Taxonomy.from_edges(shuffled)
    assert tax == other
    assert hash(tax) == hash(other)
    assert tax != Taxonomy.from_edges([*edges, (edges[-1][1], "a new node")])
    assert tax != "tax"


def test_equality_sees_a_moved_node():
    edges = [("r", "a"), ("r", "b"), ("a", "x")]
    assert Taxonomy.from_edges(edges) != Taxonomy.from_edges([*edges[:2], ("b", "x")])
    assert Taxonomy.from_edges(edges) != Taxonomy.from_edges([*edges[:2], ("a", "y")])


@given(taxonomies(names=labels()))
def test_copies_are_equal(tax):
    assert copy.deepcopy(tax) is tax
    assert copy.copy(tax) is tax
    thawed = pickle.loads(pickle.dumps(tax))
    assert thawed == tax
    assert thawed.nodes == tax.nodes
    assert not thawed.parent_idx.flags.writeable


def test_a_shared_label_needs_its_path():
    tax = Taxonomy.from_paths(["news/sport/ball", "games/sport/ball", "games/cards"])
    assert len(tax) == 8
    assert tax.parents("news/sport/ball") == ("news/sport",)
    assert tax.label("news/sport/ball") == "ball"
    assert tax.label_path("games/cards") == ("games", "cards")
    for same in ("cards", "games/cards", "root/games/cards", "games > cards", ("games", "cards")):
        assert tax.index(same) == tax.index("cards")
        assert same in tax
    with pytest.raises(AmbiguousNodeError, match=r"2 nodes are labelled 'ball'.*'news/sport/ball'"):
        tax.index("ball")
    assert "ball" not in tax


def test_paths_that_would_be_unclear_are_tuples():
    tax = Taxonomy.from_paths([("a/b", "x"), ("a", "b", "x"), (1, "x"), "root"])
    assert {tax.label(v) for v in tax.nodes} == {"root", "a/b", "x", "a", "b", 1}
    assert ("a/b", "x") in tax.nodes
    assert "a/b/x" in tax.nodes
    assert (1, "x") in tax.nodes
    assert ("root",) in tax.nodes
    assert tax.root == "root"
    for node in tax.nodes:
        assert tax.name(tax.index(node)) == node


def test_unknown_names_are_told_with_similar_ones():
    tax = Taxonomy.from_edges([("animals", "cats"), ("animals", "dogs")])
    with pytest.raises(UnknownNodeError, match=r"no node 'cat'; did you mean 'cats'"):
        tax.parents("cat")
    with pytest.raises(UnknownNodeError, match="not hashable"):
        tax.index(["cats"])
    with pytest.raises(KeyError):
        tax.index("cats/none")


def test_labels_are_kept_exactly():
    edges = [("NA", "0111"), ("NA", 7), (7, 7.5), (7, ("a", 1)), ("NA", "None")]
    tax = Taxonomy.from_edges(edges)
    assert tax.children(7) == (7.5, ("a", 1))
    assert [type(node) for node in tax.children("NA")] == [str, int, str]
    assert all(type(node) is int for node in Taxonomy.from_edges(np.array([[0, 2], [0, 3]])).nodes)


def test_one_line_says_what_it_is():
    assert (
        repr(Taxonomy.from_paths(["a/b", "c"])) == "Taxonomy(tree, 4 nodes, 2 classes, depth 2, root 'root')"
    )
    assert repr(Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "b")])).startswith(
        "Taxonomy(graph, 3 nodes"
    )


def test_every_door_leads_to_the_same_taxonomy():
    edges = [("r", "a"), ("r", "b"), ("a", "x"), ("a", "y")]
    expected = Taxonomy.from_edges(edges)
    assert Taxonomy.from_edges(pd.DataFrame(edges)) == expected
    assert Taxonomy.from_edges(set(edges)) == expected
    assert Taxonomy.from_dict({"r": {"a": ["x", "y"], "b": None}}) == expected
    assert Taxonomy.from_dict({"r": [{"a": {"x": {}, "y": {}}}, "b"]}) == expected
    nested = {"name": "r", "children": [{"name": "a", "children": [{"name": "x"}, {"name": "y"}]}, "b"]}
    assert Taxonomy.from_dict(nested) == expected
    assert Taxonomy.from_dict({"a": ["x", "y"], "b": {}}, root="r") == expected
    assert Taxonomy.from_networkx(nx.DiGraph(edges)) == expected
    assert Taxonomy.from_paths(["a / x", "a/y/", "/b"], root="r") == expected
    assert Taxonomy.from_paths(["r>a>x", "r>a>y", "r>b"], sep=">", root=None) == expected
    levels = [["a", "x"], ["a", "y"], ["b", None]]
    for table in (
        levels,
        np.array(levels, dtype=object),
        pd.DataFrame(levels),
        pl.DataFrame(levels, orient="row"),
    ):
        assert Taxonomy.from_paths(table, root="r") == expected
    assert (
        Taxonomy.from_paths([["a", "x", float("nan")], ["a", "y", ""], ["b", pd.NA, None]], root="r")
        == expected
    )


def test_nested_dictionaries_may_repeat_a_label_under_another_parent():
    tax = Taxonomy.from_dict({"r": {"a": {"other": {}}, "b": {"other": {}}}})
    assert tax.classes == ("a/other", "b/other")


def test_codes_hang_under_their_longest_prefix():
    tax = Taxonomy.from_codes(["11", "111", "11111", "31-33", "311", "0", "01"])
    assert tax.path("11111") == ("root", "11", "111", "11111")
    assert tax.parents("01") == ("0",)
    assert tax.parents("311") == ("root",)
    assert "31-33" in tax.classes
    naics = Taxonomy.from_codes(["31-33", "311", "339", "3399", "32"], ranges=True)
    assert naics.path("3399") == ("root", "31-33", "339", "3399")
    assert naics.parents("32") == ("31-33",)


def test_a_single_node_is_a_taxonomy():
    tax = Taxonomy.from_edges([], root="only")
    assert tax.classes == ("only",)
    assert tax.path("only") == ("only",)
    assert tax.depth("only") == 0


def test_a_star_finds_a_free_name_for_its_root():
    tax = Taxonomy.flat(["root", 3, "(root)"])
    assert tax.classes == ("root", 3, "(root)")
    assert tax.root == "((root))"


@given(taxonomies(), st.data())
def test_a_subtree_keeps_names_and_edges(tax, data):
    node = data.draw(st.sampled_from(tax.nodes))
    below = tax.subtree(node)
    assert below.root == node
    assert below.nodes == tax.descendants(node)
    for v in below.nodes[1:]:
        assert below.parents(v) == tuple(p for p in tax.parents(v) if p in below.nodes)


@given(taxonomies(names=labels()))
def test_miscellaneous_leaves_stand_for_inner_nodes(tax):
    inner = [node for node in tax.nodes if tax.children(node)]
    more = tax.with_miscellaneous(inner)
    assert more.nodes[: tax.n_nodes] == tax.nodes
    assert set(more.classes) == {*tax.classes, *more.miscellaneous.values()}
    for node in inner:
        assert more.parents(more.as_class(node)) == (node,)
        assert more.as_label(more.as_class(node)) == node
    for node in tax.classes:
        assert more.as_class(node) == more.as_label(node) == node
    assert more.with_miscellaneous(inner) == more
    assert pickle.loads(pickle.dumps(more)).miscellaneous == more.miscellaneous


def test_miscellaneous_leaves_need_inner_nodes_and_free_names():
    tax = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "a (miscellaneous)")])
    with pytest.raises(TaxonomyError, match=r"already classes.*'b'"):
        tax.with_miscellaneous(["b"])
    again = tax.with_miscellaneous(["a"])
    assert again.as_class("a") == ("a", "a (miscellaneous)")
    assert again.siblings(("a", "a (miscellaneous)")) == ("a (miscellaneous)",)
    with pytest.raises(TaxonomyError, match="taken; choose `label`"):
        Taxonomy.from_edges([("a", "x"), ("a", ("a", "x"))]).with_miscellaneous(["a"], label="x")
    more = tax.with_miscellaneous(["a", "r"], label="{}: rest")
    assert more.subtree("a").miscellaneous == {"a": "a: rest"}


def test_the_hash_seed_does_not_show():
    program = (
        "from margrove.taxonomy import Taxonomy as T;"
        "edges = {(f'n{(i - 1) // 3}', f'n{i}') for i in range(1, 60)} | {('n1', 'n50'), ('n2', 'n50')};"
        "t = T.from_edges(edges); d = T.from_paths(['a/x', 'b/x', 'c/x']);"
        "print(t.nodes, t.siblings('n50'), t.ancestors('n50'), t.lca('n50', 'n8'))"
        "\nprint(t.parent_idx.tolist(), d.nodes)"
    )
    outputs = set()
    for seed in ("0", "1", "12345"):
        command = [sys.executable, "-c", program]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        outputs.add(
            subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout
        )
    assert len(outputs) == 1
