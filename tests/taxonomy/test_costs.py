"""Costs, against their definitions and the documents' own numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from margrove.errors import DataError, LabelError, TaxonomyError, UnknownNodeError
from margrove.taxonomy import Taxonomy, costs
from margrove.testing import taxonomies
from oracles.taxonomy import (
    naive_h_loss,
    naive_normalized_tree,
    naive_set_cost,
    naive_symmetric_difference,
    naive_tree,
    naive_tree_distance,
)

WANG = Taxonomy.from_edges([(0, 4), (0, 3), (4, 1), (4, 2)])


def edges_of(tax):
    return [(parent, node) for node in tax.nodes for parent in tax.parents(node)]


def some_classes(data, tax):
    chosen = st.lists(st.sampled_from(tax.classes), min_size=1, unique=True)
    return data.draw(st.one_of(st.just(list(tax.classes)), chosen))


def check(bound, classes, expected):
    """All ways to ask give the costs of the definition."""
    q = len(classes)
    table = np.array([[0.0 if y == r else expected(y, r) for r in classes] for y in classes])
    np.testing.assert_allclose(bound.matrix(), table, rtol=1e-12, atol=1e-12)
    y, r = np.divmod(np.arange(q * q), q)
    np.testing.assert_allclose(bound.pairs(y, r).reshape(q, q), table, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(bound.rows([q - 1, 0]), [bound.row(q - 1), bound.row(0)])
    # The representation itself, by its own formula.
    left, right = bound.left.toarray(), bound.right.toarray()
    in_left, in_right = np.zeros_like(left, bool), np.zeros_like(right, bool)
    in_left[np.repeat(np.arange(q), np.diff(bound.left.indptr)), bound.left.indices] = True
    in_right[np.repeat(np.arange(right.shape[0]), np.diff(bound.right.indptr)), bound.right.indices] = True
    both = in_left[:, :, None] & in_right[None]
    formula = bound.own[:, None] + bound.other - ((left[:, :, None] + right[None]) * both).sum(axis=1)
    np.fill_diagonal(formula, 0.0)
    np.testing.assert_allclose(formula, table, rtol=1e-12, atol=1e-12)
    for matrix in (bound.left, bound.right):
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
        assert matrix.data.dtype == np.float64
        assert matrix.has_canonical_format
    assert bound.left.shape == bound.right.shape[::-1]


@given(taxonomies(), st.data())
def test_zero_one(tax, data):
    classes = some_classes(data, tax)
    check(costs.zero_one().bind(tax, classes), classes, lambda y, r: 1.0)


@given(taxonomies(), st.data())
def test_symmetric_difference(tax, data):
    classes, edges = some_classes(data, tax), edges_of(tax)
    check(
        costs.symmetric_difference().bind(tax, classes),
        classes,
        lambda y, r: naive_symmetric_difference(edges, y, r),
    )
    volumes = {node: data.draw(st.integers(1, 9)) / 2 for node in tax.nodes}
    c_miss, c_extra = data.draw(st.sampled_from([(1, 1), (2, 0.5), (0, 1), (1, 0)]))
    for given_as in (volumes, volumes.__getitem__):
        cost = costs.symmetric_difference(given_as, c_miss, c_extra)
        check(
            cost.bind(tax, classes),
            classes,
            lambda y, r: naive_symmetric_difference(edges, y, r, volumes, c_miss, c_extra),
        )


@given(taxonomies(), st.data())
def test_symmetric_difference_of_label_sets(tax, data):
    sets = st.lists(st.sampled_from(tax.nodes), unique=True, max_size=4)
    right, predicted = data.draw(sets), data.draw(sets)
    volumes = {node: data.draw(st.integers(0, 9)) / 2 for node in tax.nodes}
    cost = costs.symmetric_difference(volumes, 3, 0.25)
    expected = naive_set_cost(edges_of(tax), right, predicted, volumes, 3, 0.25)
    assert cost.set_cost(tax, right, predicted) == pytest.approx(expected)
    assert costs.symmetric_difference().set_cost(tax, right, right) == 0.0


@given(taxonomies(), st.data())
def test_tree(tax, data):
    classes, edges = some_classes(data, tax), edges_of(tax)
    bound = costs.tree().bind(tax, classes)
    check(bound, classes, lambda y, r: naive_tree(edges, y, r))
    if tax.is_tree:
        check(bound, classes, lambda y, r: naive_tree_distance(edges, y, r) / 2)


@given(taxonomies(), st.data())
def test_normalized_tree(tax, data):
    classes, edges = some_classes(data, tax), edges_of(tax)
    check(
        costs.normalized_tree().bind(tax, classes), classes, lambda y, r: naive_normalized_tree(edges, y, r)
    )


@given(taxonomies(trees_only=True), st.data())
def test_h_loss(tax, data):
    classes, edges = some_classes(data, tax), edges_of(tax)
    weights = {node: data.draw(st.integers(1, 9)) / 2 for node in tax.nodes[1:]}
    for kind in ("subtree", "sibling"):
        for given_weights in (None, weights):
            bound = costs.h_loss(kind, given_weights).bind(tax, classes)
            check(bound, classes, lambda y, r, k=kind, w=given_weights: naive_h_loss(edges, y, r, k, w))


def test_h_loss_gives_all_numbers_of_the_example_of_wang():
    probability = np.array([0.31, 0.29, 0.4])
    subtree = costs.h_loss("subtree").bind(WANG, [1, 2, 3]).matrix()
    np.testing.assert_allclose(subtree, [[0, 0.5, 1], [0.5, 0, 1], [1, 1, 0]])
    np.testing.assert_allclose(probability @ subtree, [0.545, 0.555, 0.6])
    sibling = costs.h_loss("sibling").bind(WANG, [1, 2, 3]).matrix()
    np.testing.assert_allclose(probability @ sibling, [0.2725, 0.2775, 0.3])  # printed as 0.273, 0.278, 0.3


def test_tree_cost_of_classes_at_one_depth_is_the_normalized_cost_times_depth():
    tax = Taxonomy.from_paths([f"{i}/{j}/{k}" for i in "ab" for j in "cd" for k in "ef"])
    classes = tax.classes
    by_depth = 3 * costs.normalized_tree().bind(tax, classes).matrix()
    np.testing.assert_allclose(by_depth, costs.tree().bind(tax, classes).matrix())


@given(taxonomies(), st.data())
def test_any_matrix(tax, data):
    classes = some_classes(data, tax)
    q = len(tax.classes)
    values = np.array(data.draw(st.lists(st.integers(1, 9), min_size=q * q, max_size=q * q)), float).reshape(
        q, q
    )
    np.fill_diagonal(values, 0)
    place = {name: i for i, name in enumerate(tax.classes)}
    check(
        costs.matrix(values, tax.classes).bind(tax, classes), classes, lambda y, r: values[place[y], place[r]]
    )
    check(costs.get(values).bind(None, tax.classes), tax.classes, lambda y, r: values[place[y], place[r]])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0, 1, 1], [1, 0, 1]], r"square; its shape is \(2, 3\)"),
        ([[0, 1], [np.nan, 0]], r"costs\[1, 0\] is nan; it must be finite"),
        ([[0, 1], [1, 2]], r"costs\[1, 1\] is 2.0; it must be zero"),
        ([[0, 0], [1, 0]], r"costs\[0, 1\] is 0.0; it must be positive"),
        ([[0, -1], [1, 0]], r"costs\[0, 1\] is -1.0"),
    ],
)
def test_bad_matrices(values, message):
    with pytest.raises(DataError, match=message):
        costs.matrix(values)


def test_a_matrix_must_fit_the_classes():
    with pytest.raises(DataError, match="2 rows but 3 classes are named"):
        costs.matrix([[0, 1], [1, 0]], ["a", "b", "c"])
    with pytest.raises(DataError, match="2 rows but there are 3 classes"):
        costs.matrix([[0, 1], [1, 0]]).bind(WANG, [1, 2, 3])
    with pytest.raises(LabelError, match="no row for class 3"):
        costs.matrix([[0, 1], [1, 0]], [1, 2]).bind(WANG, [1, 3])


def test_wrong_uses_are_told():
    diamond = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("b", "y")])
    with pytest.raises(TaxonomyError, match="h_loss needs a tree"):
        costs.h_loss().bind(diamond, diamond.classes)
    with pytest.raises(LabelError, match=r"inner nodes cannot be classes: 4; .*with_miscellaneous"):
        costs.tree().bind(WANG, [1, 4])
    with pytest.raises(LabelError, match="given twice: 1"):
        costs.tree().bind(WANG, [1, 2, 1])
    with pytest.raises(LabelError, match="given twice: 'a'"):
        costs.tree().bind(None, ["a", "b", "a"])
    with pytest.raises(LabelError, match="no classes"):
        costs.tree().bind(WANG, [])
    with pytest.raises(UnknownNodeError, match="no node 9"):
        costs.tree().bind(WANG, [1, 9])
    with pytest.raises(DataError, match="h_loss kind is 'sub'"):
        costs.h_loss("sub")
    with pytest.raises(DataError, match="c_miss is -1"):
        costs.symmetric_difference(c_miss=-1)
    with pytest.raises(DataError, match="both zero"):
        costs.symmetric_difference(c_miss=0, c_extra=0)
    with pytest.raises(DataError, match="volumes has no entry for node 4"):
        costs.symmetric_difference({1: 1, 2: 1, 3: 1}).bind(WANG, [1, 2, 3])
    with pytest.raises(DataError, match="volume of class 1 is zero"):
        costs.symmetric_difference(lambda v: v - 1).bind(WANG, [1, 2, 3])
    with pytest.raises(DataError, match="volumes of node 4 is nan"):
        costs.symmetric_difference({1: 1, 2: 1, 3: 1, 4: np.nan}).bind(WANG, [1, 2, 3])
    with pytest.raises(DataError, match="weights of an h_loss must be positive"):
        costs.h_loss(weights={1: 1, 2: 1, 3: 1, 4: 0}).bind(WANG, [1, 2, 3])
    with pytest.raises(DataError, match="no cost is called 'hamming'; expected one of zero-one"):
        costs.get("hamming")


def test_a_cost_goes_by_name_function_or_specification():
    for name in costs.NAMES:
        assert costs.get(name) == costs.get(name.replace("-", "_"))
        assert costs.get(costs.get(name)) is not None
    assert costs.get(costs.tree) == costs.get("tree") == costs.tree()
    assert costs.get("h-loss-sibling") == costs.h_loss("sibling")


def test_without_a_taxonomy_the_classes_make_a_star():
    for name in costs.NAMES:
        bound = costs.get(name).bind(None, ["a", "b", "c"])
        off = bound.matrix()[~np.eye(3, dtype=bool)]
        assert (off == off[0]).all()
        assert off[0] > 0


@given(taxonomies(), st.data())
def test_sets_cost_no_more_than_their_pairs(tax, data):
    """Cai's Proposition 1."""
    sets = st.sets(st.sampled_from(tax.classes), min_size=1)
    right, predicted = data.draw(sets), data.draw(sets)
    if right <= predicted or predicted <= right:
        return
    cost = costs.symmetric_difference()
    pairs = [cost.set_cost(tax, {y}, {r}) for y in right - predicted for r in predicted - right]
    assert cost.set_cost(tax, right, predicted) <= sum(pairs)


def test_bound_costs_are_read_only_and_small():
    bound = costs.tree().bind(WANG, [1, 2, 3])
    for array in (bound.own, bound.other, bound.left.data, bound.left.indices, bound.right.data):
        assert not array.flags.writeable
    assert bound.left.nnz == 2  # only node 4 is shared by some classes and not by all
    assert len(bound) == 3
