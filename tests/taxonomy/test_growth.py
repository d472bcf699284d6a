"""A taxonomy inside a larger one."""

from __future__ import annotations

import pytest

import margrove as mg
from margrove.errors import TaxonomyError
from margrove.taxonomy.growth import embed


def names(small, large):
    return [large.name(int(v)) for v in embed(small, large)]


def test_nodes_are_found_by_name_or_by_path():
    small = mg.Taxonomy.from_paths(["a/x", "a/other", "b"])
    large = mg.Taxonomy.from_paths(["a/x/y", "a/other", "b/other", "c"])
    assert names(small, large) == ["root", "a", "b", "x", "a/other"]
    assert names(large, large) == list(large.nodes)


def test_a_miscellaneous_class_is_that_of_its_node():
    small = mg.Taxonomy.from_paths(["a/x", "b"]).with_miscellaneous(["a"])
    large = mg.Taxonomy.from_paths(["a/x", "b/y", "b"]).with_miscellaneous(["b", "a"])
    found = dict(zip(small.nodes, names(small, large), strict=True))
    assert found[small.as_class("a")] == large.as_class("a")


def test_nodes_may_come_to_stand_between():
    small = mg.Taxonomy.from_edges([("r", "a"), ("r", "b")])
    large = mg.Taxonomy.from_edges([("s", "m"), ("m", "a"), ("s", "b"), ("m", "b")])
    assert names(small, large) == ["s", "a", "b"]


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("r", "a"), ("a", "y")], "lacks the node 'x'"),
        ([("r", "a"), ("r", "x")], "'x' was below 'a'"),
        ([("r", "x"), ("x", "a")], "'x' was below 'a'"),
    ],
)
def test_what_is_lost_is_named(edges, message):
    small = mg.Taxonomy.from_edges([("r", "a"), ("a", "x")])
    with pytest.raises(TaxonomyError, match=message):
        embed(small, mg.Taxonomy.from_edges(edges))
