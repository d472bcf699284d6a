"""Random taxonomies: the form of another one, its names, and chance in nothing else than it should be."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.base import clone

import margrove as mg
from margrove.errors import LabelError, TaxonomyError
from margrove.growing import RandomTaxonomy, random_taxonomy
from margrove.testing import taxonomies

TINY = mg.Taxonomy.from_paths(["a/1", "a/2", "b/3"])
UNEVEN = mg.Taxonomy.from_paths(["a/x/1", "a/x/2", "a/y/3", "a/4", "b/z/5", "b/z/6", "b/z/7", "8"])
GRAPH = mg.Taxonomy.from_edges(map(tuple, ["ra", "rb", "ax", "bx", "x1", "x2", "b3", "a4", "b4"]))


def form(tax):
    """Depths, numbers of children and numbers of parents, by node, in any order."""
    children, parents = np.diff(tax.child_ptr), np.diff(tax.parent_ptr)
    return Counter(zip(tax.depths.tolist(), children.tolist(), parents.tolist(), strict=True))


def levels(tax):
    """How many inner nodes and classes stand at each depth."""
    inner = np.diff(tax.child_ptr) > 0
    return Counter(zip(tax.depths.tolist(), inner.tolist(), strict=True))


def inner_nodes(tax):
    return set(tax.nodes) - set(tax.classes)


@given(taxonomies(), st.integers(0, 2**31))
def test_shape_and_names_are_kept(like, seed):
    drawn = random_taxonomy(like, random_state=seed)
    assert form(drawn) == form(like)
    assert sorted(map(repr, drawn.classes)) == sorted(map(repr, like.classes))
    assert inner_nodes(drawn) == inner_nodes(like)
    for node in inner_nodes(like):
        assert drawn.parents(node) == like.parents(node)
    assert mg.Taxonomy.from_spec(drawn.to_spec()) == drawn


@pytest.mark.parametrize("like", [TINY, UNEVEN, mg.Taxonomy.flat("abc")])
@pytest.mark.parametrize("seed", range(20))
def test_levels_are_kept_and_every_inner_node_has_a_child(like, seed):
    drawn = random_taxonomy(like, keep="levels", random_state=seed)
    assert levels(drawn) == levels(like)
    assert drawn.is_tree
    assert sorted(drawn.classes) == sorted(like.classes)
    assert {node: drawn.depth(node) for node in inner_nodes(drawn)} == {
        node: like.depth(node) for node in inner_nodes(like)
    }
    assert all(drawn.parents(node) for node in drawn.nodes[1:])
    assert mg.Taxonomy.from_spec(drawn.to_spec()) == drawn


def test_levels_change_the_numbers_of_children():
    drawn = [random_taxonomy(UNEVEN, keep="levels", random_state=seed) for seed in range(10)]
    assert len({tuple(sorted(form(tax).items())) for tax in drawn}) > 1


@pytest.mark.parametrize("keep", ["shape", "levels"])
def test_same_seed_same_taxonomy(keep):
    assert random_taxonomy(UNEVEN, keep=keep, random_state=1) == random_taxonomy(
        UNEVEN, keep=keep, random_state=np.random.RandomState(1)
    )
    drawn = {tuple(random_taxonomy(UNEVEN, keep=keep, random_state=seed).nodes) for seed in range(8)}
    assert len(drawn) == 8


def test_all_places_are_equally_likely():
    rng = np.random.RandomState(0)
    counts = Counter(random_taxonomy(TINY, random_state=rng).classes for _ in range(3000))
    assert set(counts) == set(permutations(TINY.classes))
    assert chisquare(list(counts.values())).pvalue > 0.01


def test_all_parents_are_equally_likely():
    rng = np.random.RandomState(0)
    drawn = [random_taxonomy(TINY, keep="levels", random_state=rng) for _ in range(3000)]
    counts = Counter(("1" in tax.children("a"), len(tax.children("a"))) for tax in drawn)
    # Of three classes one goes to a, one to b, and one to either.
    expected = {(True, 1): 500, (False, 1): 1000, (True, 2): 1000, (False, 2): 500}
    assert chisquare([counts[key] for key in expected], list(expected.values())).pvalue > 0.01


def test_graphs_keep_their_shape_and_have_no_random_edges():
    drawn = RandomTaxonomy(GRAPH, random_state=3).fit().taxonomy_
    assert form(drawn) == form(GRAPH)
    assert not drawn.is_tree
    with pytest.raises(TaxonomyError, match="keep='levels' is for trees"):
        random_taxonomy(GRAPH, keep="levels")


@pytest.mark.parametrize("keep", ["shape", "levels"])
def test_names_that_are_paths_stay_names(keep):
    like = mg.Taxonomy.from_paths(["food/other", "food/apple", "tools/other", "tools/saw"])
    for seed in range(5):
        drawn = random_taxonomy(like, keep=keep, random_state=seed)
        assert set(drawn.classes) == {"food/other", "tools/other", "apple", "saw"}
        assert drawn.index("food/other") in drawn.class_indices


@pytest.mark.parametrize("keep", ["shape", "levels"])
def test_labels_at_inner_nodes_stay_there(keep):
    like = UNEVEN.with_miscellaneous(["a", "z"])
    drawn = random_taxonomy(like, keep=keep, random_state=0)
    assert dict(drawn.miscellaneous) == dict(like.miscellaneous)
    for node, stands in drawn.miscellaneous.items():
        assert drawn.parents(stands) == (node,)
        assert len(drawn.children(node)) > 1
        assert drawn.as_class(node) == stands
    assert levels(drawn) == levels(like)


@pytest.mark.parametrize("keep", ["shape", "levels"])
def test_an_estimator_learns_labels_at_inner_nodes_with_it(keep):
    X, y = np.eye(4), ["1", "5", "8", "a"]
    drawn = RandomTaxonomy(UNEVEN, keep=keep, random_state=0).fit(X, y).taxonomy_
    model = mg.HierarchicalSVM(drawn).fit(X, y)
    assert model.predict(X).tolist() == y
    assert model.taxonomy_.parents(model.taxonomy_.as_class("a")) == ("a",)


def test_it_is_an_estimator():
    estimator = RandomTaxonomy(like=UNEVEN, keep="levels", random_state=5)
    copied = clone(estimator)
    assert copied.get_params() == {"like": UNEVEN, "keep": "levels", "random_state": 5}
    assert copied.fit(None, ["1"]).taxonomy_ == estimator.fit().taxonomy_
    assert mg.growing.RandomTaxonomy is RandomTaxonomy


def test_wrong_parameters_and_labels_are_named():
    with pytest.raises(ValueError, match=r"like is 'flat'; expected a margrove\.Taxonomy"):
        RandomTaxonomy("flat").fit()
    with pytest.raises(ValueError, match="keep is 'depth'"):
        RandomTaxonomy(TINY, keep="depth").fit()
    with pytest.raises(LabelError, match="row 1: the label 'q' is not in the taxonomy"):
        RandomTaxonomy(TINY).fit(None, ["1", "q"])
