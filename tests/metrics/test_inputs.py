"""The forms in which labels and scores may come, and what is said of those that cannot be used."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import margrove as mg
from margrove import metrics
from margrove.errors import DataError, LabelError

TREE = mg.Taxonomy.from_edges([("root", "a"), ("root", "b"), ("a", "0111"), ("a", "x"), ("b", "y")])
CLASSES = ["0111", "x", "y"]
TRUE, PREDICTED = ["0111", "x", "y", "y"], ["0111", "y", "y", "x"]


@pytest.mark.parametrize("form", [list, np.array, pd.Series, pl.Series, tuple, lambda y: np.array(y, object)])
def test_one_label_a_row(form):
    assert metrics.zero_one_loss(form(TRUE), form(PREDICTED)) == 1 / 2
    assert metrics.tree_loss(form(TRUE), PREDICTED, TREE) == (2 + 2) / 4


def test_several_labels_a_row():
    rows = [["0111", "x"], ["x", "x"], []]
    table = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0]])
    forms = [
        rows,
        [set(row) for row in rows],
        [frozenset(row) for row in rows],
        [np.array(row) for row in rows],
        pl.Series(rows),
        pd.Series(rows),
        pd.DataFrame(table, columns=CLASSES),
        pl.DataFrame(dict(zip(CLASSES, table.T, strict=True))),
    ]
    for form in forms:
        assert metrics.micro_f1(form, [["x"], ["x"], ["y"]]) == 2 * 2 / (3 + 3)
    for form in (table, table.astype(bool), table * 1.0, sp.csr_array(table), sp.coo_matrix(table)):
        assert metrics.micro_f1(form, [["x"], ["x"], ["y"]], classes=CLASSES) == 2 * 2 / (3 + 3)
        assert metrics.ranking_loss(form, np.eye(3), CLASSES) == pytest.approx((1 / 2 + 0) / 2)


def test_labels_are_kept_as_they_are():
    assert metrics.zero_one_loss(["0111", "1"], ["111", "1"]) == 1 / 2
    assert metrics.zero_one_loss([1, 2], np.array([1, 3])) == 1 / 2
    assert metrics.zero_one_loss([1, 2], ["1", "2"]) == 1.0
    assert metrics.zero_one_loss([("a", 1), "NA"], [("a", 1), "None"]) == 1 / 2


def test_two_names_of_one_node_are_one_label():
    assert metrics.zero_one_loss(["a/x", "x"], ["x", "a/x"], TREE) == 0.0
    assert metrics.macro_f1(["a/x", "x"], ["x", "a/x"], TREE) == 1.0
    assert metrics.micro_f1([["a/x", "x"]], [["x"]], TREE) == 1.0


def test_float32_and_integer_scores():
    scores = np.array([[3, 1, 2], [0, 1, 2]])
    for table in (scores, scores.astype(np.float32), scores.tolist(), pd.DataFrame(scores)):
        assert metrics.one_accuracy(["0111", "x"], table, CLASSES) == 1 / 2
        assert metrics.ranking_loss(["0111", "x"], table, CLASSES) == 1 / 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.zero_one_loss(["x"], ["x", "y"]), "y_true has 1, y_pred has 2"),
        (lambda: metrics.zero_one_loss([], []), "no rows"),
        (lambda: metrics.zero_one_loss("xy", "xy"), "y_true: expected a sequence"),
        (lambda: metrics.tree_loss(["x"], ["x"], "taxonomy"), "expected a Taxonomy, got str"),
        (lambda: metrics.parent_accuracy(["x"], ["x"]), "needs a taxonomy"),
        (lambda: metrics.parent_accuracy(["x"], ["x"], TREE), "pass taxonomy="),
        (lambda: metrics.top_loss(["x"], ["x"], TREE), "as taxonomy="),
        (lambda: metrics.zero_one_loss(["x"], ["x"], sample_weight=[-1]), "sample_weight, row 0: -1.0"),
        (lambda: metrics.zero_one_loss(["x"], ["x"], sample_weight=[1, 1]), r"shape \(2,\)"),
        (lambda: metrics.zero_one_loss(["x"], ["x"], sample_weight=[0]), "every weight is 0"),
        (lambda: metrics.one_accuracy(["x"], [[1.0, 2.0]], CLASSES), r"expected \(rows, 3\)"),
        (lambda: metrics.one_accuracy(["x"], [[1, np.nan, 0]], CLASSES), "row 0, column 1: the score is NaN"),
        (lambda: metrics.ranking_loss([[]], [[1, 2, 3]], CLASSES), "no row has a label"),
        (lambda: metrics.top_loss([[]], ["x"]), "has a label"),
        (lambda: metrics.cost_loss(["x"], ["y"], cost=np.ones((2, 2)) - np.eye(2)), "names of its rows"),
        (lambda: metrics.symmetric_difference_loss(["x"], ["y"], volumes={}), "nodes of a taxonomy"),
        (
            lambda: metrics.symmetric_difference_loss(["x"], ["y"], TREE, volumes={}),
            "no entry for node 'root'",
        ),
        (lambda: metrics.micro_f1(np.eye(2), np.eye(2), classes=CLASSES), "2 columns for 3 classes"),
        (lambda: metrics.evaluate(["x"]), "nothing to evaluate"),
        (lambda: metrics.evaluate(["x"], scores=[[1.0]]), "scores need classes"),
    ],
)
def test_arguments_that_cannot_be_used(call, message):
    with pytest.raises(DataError if "expected a sequence" not in message else LabelError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.tree_loss(TRUE, ["x", "x", "z", "y"], TREE), "y_pred, row 2: .* no node 'z'"),
        (lambda: metrics.tree_loss([["x"], ["y", "q"]], [[], []], TREE), "y_true, row 1: .* no node 'q'"),
        (lambda: metrics.ranking_loss(["x", "z"], np.ones((2, 3)), CLASSES), "y_true, row 1: .*'z'"),
        (lambda: metrics.one_accuracy(["x", "z"], np.ones((2, 3)), CLASSES), "y_true, row 1: .*'z'"),
        (lambda: metrics.maximal_loss(["x"], [[1.0, 2.0]], ["x", "q"], TREE), "classes: .*'q'"),
        (lambda: metrics.ranking_loss(["x"], np.ones((1, 2)), ["x", "x"]), "'x' stands there twice"),
        (
            lambda: metrics.zero_one_loss([["x"], "y"], [["x"], ["y"]]),
            "y_true, row 1: 'y' is not a collection",
        ),
        (lambda: metrics.zero_one_loss(["y", ["x"]], ["x", "y"]), r"y_true, row 1: \['x'\] is not one label"),
        (lambda: metrics.zero_one_loss([["x"], [{}]], [["x"], ["y"]]), "y_true, row 1: {} cannot be a label"),
        (lambda: metrics.zero_one_loss([1.0, np.nan], [1.0, 1.0]), "y_true, row 1: .*missing"),
        (lambda: metrics.zero_one_loss(["x", "y"], ["x", None]), "y_pred, row 1: .*missing"),
        (lambda: metrics.micro_f1(np.array([[1, 2]]), np.array([[1, 1]])), "y_true, row 0: .*found 2"),
        (lambda: metrics.h_loss([["x"]], [["x"]], TREE), "y_true: this measure compares one label with one"),
        (lambda: metrics.one_accuracy(["x"], [["x", "y"]]), "takes one label a row"),
    ],
)
def test_labels_that_cannot_be_used(call, message):
    with pytest.raises(LabelError, match=message):
        call()


def test_a_million_predictions_take_seconds():
    rng = np.random.default_rng(0)
    leaves = [f"{group}.{k}" for group in range(40) for k in range(50)]
    tax = mg.Taxonomy.from_edges(
        [("root", str(g)) for g in range(40)] + [(leaf.split(".")[0], leaf) for leaf in leaves]
    )
    true, predicted = (np.array(leaves)[rng.integers(0, 2000, 1_000_000)] for _ in range(2))
    start = time.process_time()
    metrics.tree_loss(true, predicted, tax)
    assert time.process_time() - start < 10


def test_many_scores_need_little_memory_beside_them():
    import tracemalloc

    scores = np.random.default_rng(0).random((20_000, 500), dtype=np.float32)
    true = np.arange(20_000) % 500
    tracemalloc.start()
    metrics.ranking_loss(true, scores, range(500))
    metrics.maximal_loss(true, scores, range(500))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * scores.nbytes
