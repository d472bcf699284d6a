"""Values worked out by hand on one small tree, and on one graph."""

from __future__ import annotations

import json

import pytest

import margrove as mg
from margrove import metrics

#            root
#       a            b        d
#    a1   a2      b1   b2
TREE = mg.Taxonomy.from_edges(
    [("root", "a"), ("root", "b"), ("root", "d"), ("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2")]
)
CLASSES = ["a1", "a2", "b1", "b2", "d"]


def test_losses_of_single_labels():
    true, predicted = ["a1", "a1", "a1", "d"], ["a1", "a2", "b1", "b1"]
    assert metrics.zero_one_loss(true, predicted) == 3 / 4
    assert metrics.tree_loss(true, predicted, TREE) == pytest.approx((0 + 1 + 2 + 1.5) / 4)
    assert metrics.tree_loss(true, predicted) == 3 / 4
    assert metrics.symmetric_difference_loss(true, predicted, TREE) == pytest.approx((0 + 2 + 4 + 3) / 4)
    # 7 nodes below the root; the highest wrong nodes are a1, a2; then a, b (3 nodes each); then d (1), b (3)
    assert metrics.h_loss(true, predicted, TREE) == pytest.approx((0 + 2 / 7 + 6 / 7 + 4 / 7) / 4)
    assert metrics.parent_accuracy(true, predicted, taxonomy=TREE) == 2 / 4


def test_hierarchical_precision_counts_ancestors_below_the_root():
    measured = metrics.hierarchical_precision_recall_f1(["a1", "d"], ["a2", "b1"], TREE)
    assert measured.precision == 1 / 4  # a of a, a2, b, b1
    assert measured.recall == 1 / 3  # a of a, a1, d
    assert measured.f1 == pytest.approx(2 / 7)


def test_sets_of_labels():
    true, predicted = [{"a1", "b1"}, set()], [{"a1", "a2"}, {"d"}]
    # missed b, b1 and added a2; then added root, d
    assert metrics.symmetric_difference_loss(true, predicted, TREE) == (3 + 2) / 2
    assert metrics.symmetric_difference_loss(true, predicted, TREE, c_miss=10) == (21 + 2) / 2
    assert metrics.symmetric_difference_loss(true, predicted) == (2 + 1) / 2
    assert metrics.micro_f1(true, predicted) == 2 * 1 / (3 + 2)
    assert metrics.macro_f1(true, predicted) == 1 / 4  # a1 right; a2, b1, d each never


def test_measures_without_anything_to_count_are_zero():
    assert metrics.micro_f1([[]], [[]]) == 0.0
    assert metrics.macro_f1([[]], [[]]) == 0.0
    assert metrics.hierarchical_precision_recall_f1([[]], [[]], TREE) == (0.0, 0.0, 0.0)
    assert metrics.zero_one_loss([[]], [[]]) == 0.0


def test_a_ranking_with_ties():
    true, scores = [["a1", "b1"]], [[2.0, 3.0, 1.0, 1.0, 0.0]]
    # a1 is second; b1 shares the third and fourth places
    assert metrics.average_precision(true, scores, CLASSES) == pytest.approx((1 / 2 + 2 / 4) / 2)
    # of 6 pairs: a2 beats both, b2 ties with b1
    assert metrics.ranking_loss(true, scores, CLASSES) == pytest.approx(3 / 6)
    assert metrics.maximal_loss(true, scores, CLASSES, TREE) == 2.0  # b1 below a2
    assert metrics.top_loss(true, scores, CLASSES, TREE) == 2.0
    assert metrics.one_accuracy(true, scores, CLASSES) == 0.0
    assert metrics.parent_accuracy(true, scores, CLASSES, TREE) == 1.0
    assert metrics.maximal_loss(true, scores, CLASSES) == 1.0


def test_rows_without_labels_are_left_out_of_rankings():
    scores = [[1.0, 0, 0, 0, 0], [0, 0, 0, 0, 1.0]]
    for measure in (metrics.average_precision, metrics.one_accuracy):
        assert measure([["a1"], []], scores, CLASSES) == 1.0
    assert metrics.ranking_loss([["a1"], CLASSES], scores, CLASSES) == 0.0
    assert metrics.evaluate([["a1"], []], scores=scores, classes=CLASSES)["unlabelled_rows"] == 1


def test_levels_of_a_ragged_tree():
    true, predicted = ["a1", "a1", "d", "d", "b"], ["a2", "b1", "d", "a1", "b1"]
    assert metrics.accuracy_by_level(true, predicted, TREE) == {1: 3 / 5, 2: 1 / 5}


def test_a_graph_where_a_class_has_two_parents():
    graph = mg.Taxonomy.from_edges(
        [("r", "p"), ("r", "q"), ("r", "s"), ("p", "x"), ("q", "x"), ("q", "y"), ("s", "z")]
    )
    assert metrics.parent_accuracy(["x", "x", "r"], ["y", "z", "r"], taxonomy=graph) == 2 / 3
    assert metrics.level_accuracy(["x", "x"], ["y", "z"], graph, 1) == 1 / 2
    assert metrics.tree_loss(["x"], ["y"], graph) == 1.5  # x, p against y


def test_inner_nodes_are_labels_too():
    assert metrics.tree_loss(["a"], ["a1"], TREE) == 0.5
    assert metrics.top_loss([["a"]], ["a1"], taxonomy=TREE) == 0.5
    # under costs of classes, "a" is a miscellaneous class beside a1
    assert metrics.cost_loss(["a"], ["a1"], TREE, cost="tree") == 1.0


def test_summary_of_single_labels_goes_through_json():
    scores = [[3.0, 1, 0, 0, 0], [0, 2.0, 1, 0, 0]]
    summary = metrics.evaluate(["a1", "b1"], ["a1", "a2"], scores, CLASSES, TREE)
    assert json.loads(json.dumps(summary)) == summary
    assert not summary["multilabel"]
    assert summary["one_accuracy"] == 1 / 2
    assert summary["accuracy_by_level"] == {"1": 1 / 2, "2": 1 / 2}
    assert summary["tree_loss"] == summary["top_loss"] == summary["maximal_loss"] == 1.0
    assert set(summary) == {
        *("rows", "unlabelled_rows", "multilabel", "zero_one_loss", "one_accuracy", "parent_accuracy"),
        *("accuracy_by_level", "tree_loss", "symmetric_difference_loss", "h_loss", "top_loss"),
        *("maximal_loss", "average_precision", "ranking_loss", "micro_f1", "macro_f1"),
        *("hierarchical_precision", "hierarchical_recall", "hierarchical_f1"),
    }


def test_summary_has_what_applies():
    flat = metrics.evaluate(["a1", "b1"], ["a1", "a2"])
    assert not {"parent_accuracy", "h_loss", "accuracy_by_level", "ranking_loss"} & set(flat)
    several = metrics.evaluate([["a1"], ["b1", "d"]], [["a1"], []], taxonomy=TREE)
    assert several["multilabel"]
    assert not {"h_loss", "accuracy_by_level", "one_accuracy"} & set(several)
    assert json.dumps(several)
