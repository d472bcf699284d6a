"""Every measure against its naive twin, on random trees and graphs, labels and scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import margrove as mg
from margrove import metrics
from oracles import metrics as oracle


@dataclass(frozen=True)
class Case:
    taxonomy: mg.Taxonomy
    classes: list[int]
    true: list[set[int]]
    predicted: list[set[int]]
    scores: np.ndarray

    @property
    def anc(self):
        return {v: set(self.taxonomy.ancestors(v)) for v in self.taxonomy.nodes}

    @property
    def score_rows(self):
        return [dict(zip(self.classes, row, strict=True)) for row in self.scores.tolist()]

    @property
    def one_true(self):
        return [min(labels) for labels in self.true]

    @property
    def one_predicted(self):
        return [min(labels) for labels in self.predicted]


@st.composite
def cases(draw, only_trees=False, only_leaves=False):
    n = draw(st.integers(3, 12))
    edges = []
    several = not only_trees and draw(st.booleans())
    for v in range(1, n):
        parents = draw(st.sets(st.integers(0, v - 1), min_size=1, max_size=3 if several else 1))
        edges += [(p, v) for p in sorted(parents)]
    taxonomy = mg.Taxonomy.from_edges(edges)
    pool = sorted(taxonomy.classes if only_leaves else range(n))
    classes = draw(st.permutations(pool))
    n_rows = draw(st.integers(1, 8))
    sets = st.lists(st.sets(st.sampled_from(pool), min_size=1, max_size=4), min_size=n_rows, max_size=n_rows)
    few_values = st.integers(0, 3)  # so that ties are common
    scores = draw(
        st.lists(
            st.lists(few_values, min_size=len(pool), max_size=len(pool)), min_size=n_rows, max_size=n_rows
        )
    )
    return Case(taxonomy, list(classes), draw(sets), draw(sets), np.array(scores, dtype=float))


def close(value):
    return pytest.approx(value, abs=1e-12, rel=1e-12)


@given(cases())
def test_losses_of_label_sets(case):
    y, p, tax, anc = case.true, case.predicted, case.taxonomy, case.anc
    volume = {v: 0.5 + v for v in tax.nodes}
    weights = np.arange(1.0, len(y) + 1)
    assert metrics.zero_one_loss(y, p) == close(oracle.naive_zero_one_loss(y, p))
    assert metrics.zero_one_loss(y, p, tax, sample_weight=weights) == close(
        oracle.naive_zero_one_loss(y, p, weights)
    )
    assert metrics.tree_loss(y, p, tax) == close(oracle.naive_tree_loss(y, p, anc))
    loss = metrics.symmetric_difference_loss(
        y, p, tax, volumes=volume, c_miss=2.0, c_extra=0.25, sample_weight=weights
    )
    assert loss == close(oracle.naive_symmetric_difference_loss(y, p, anc, volume, 2.0, 0.25, weights))
    assert metrics.micro_f1(y, p) == close(oracle.naive_micro_f1(y, p))
    assert metrics.macro_f1(y, p, tax) == close(oracle.naive_macro_f1(y, p))
    assert tuple(metrics.hierarchical_precision_recall_f1(y, p, tax)) == close(
        oracle.naive_hierarchical_precision_recall_f1(y, p, anc, tax.root)
    )


@given(cases())
def test_losses_of_single_labels_of_any_node(case):
    y, p, tax, anc = case.one_true, case.one_predicted, case.taxonomy, case.anc
    weights = np.arange(1.0, len(y) + 1)
    singletons, predicted = [{v} for v in y], [{v} for v in p]
    assert metrics.zero_one_loss(y, p, sample_weight=weights) == close(
        oracle.naive_zero_one_loss(singletons, predicted, weights)
    )
    assert metrics.tree_loss(y, p, tax, sample_weight=weights) == close(
        oracle.naive_tree_loss(singletons, predicted, anc, weights)
    )
    assert metrics.top_loss(y, p, taxonomy=tax) == close(metrics.tree_loss(y, p, tax))
    assert metrics.micro_f1(y, p) == close(1 - metrics.zero_one_loss(y, p))
    assert metrics.macro_f1(y, p) == close(oracle.naive_macro_f1(singletons, predicted))


@given(cases(only_trees=True, only_leaves=True))
def test_costs_of_single_labels(case):
    y, p, tax, anc = case.one_true, case.one_predicted, case.taxonomy, case.anc
    assert metrics.cost_loss(y, p, tax, cost=mg.costs.tree()) == close(metrics.tree_loss(y, p, tax))
    assert metrics.cost_loss(y, p, cost="zero-one") == close(metrics.zero_one_loss(y, p))
    parent = {v: tax.parents(v)[0] for v in tax.nodes[1:]}
    children = {v: tax.children(v) for v in tax.nodes}
    for kind in ("subtree", "sibling"):

        def cost(a, b, kind=kind):
            return oracle.naive_h_loss(parent, children, a, b, kind)

        assert metrics.h_loss(y, p, tax, kind=kind) == close(oracle.naive_cost_loss(y, p, cost))
    depth = {v: len(anc[v]) - 1 for v in tax.nodes}

    def normalized(a, b):
        return 0.5 * (len(anc[a] - anc[b]) / depth[a] + len(anc[b] - anc[a]) / depth[b])

    assert metrics.cost_loss(y, p, tax, cost=mg.costs.normalized_tree) == close(
        oracle.naive_cost_loss(y, p, normalized)
    )


@given(cases())
def test_measures_of_the_highest_label(case):
    y, tax, anc = case.true, case.taxonomy, case.anc
    given_scores = (case.scores, case.classes, tax)
    tops = [oracle.naive_top(row) for row in case.score_rows]
    parents = {v: set(tax.parents(v)) for v in tax.nodes}

    def distance(a, b):
        return oracle.naive_tree_distance(anc, a, b)

    assert metrics.one_accuracy(y, *given_scores) == close(oracle.naive_one_accuracy(y, tops))
    assert metrics.one_accuracy(y, tops) == close(oracle.naive_one_accuracy(y, tops))
    assert metrics.parent_accuracy(y, *given_scores) == close(oracle.naive_parent_accuracy(y, tops, parents))
    assert metrics.top_loss(y, *given_scores) == close(oracle.naive_top_loss(y, tops, distance))
    depth_of = {v: tax.depth(v) for v in tax.nodes}
    levels = metrics.accuracy_by_level(y, tops, tax)
    assert list(levels) == list(range(1, max(depth_of.values()) + 1))
    for depth, accuracy in levels.items():
        assert accuracy == close(oracle.naive_level_accuracy(y, tops, anc, depth_of, depth))
        assert metrics.level_accuracy(y, tops, tax, depth) == accuracy


@given(cases())
def test_measures_of_the_ranking(case):
    y, tax, anc = case.true, case.taxonomy, case.anc

    def distance(a, b):
        return oracle.naive_tree_distance(anc, a, b)

    assert metrics.average_precision(y, case.scores, case.classes) == close(
        oracle.naive_average_precision(y, case.score_rows)
    )
    assert metrics.ranking_loss(y, case.scores, case.classes) == close(
        oracle.naive_ranking_loss(y, case.score_rows)
    )
    maximal = metrics.maximal_loss(y, case.scores, case.classes, tax)
    assert maximal == close(oracle.naive_maximal_loss(y, case.score_rows, distance))
    assert maximal >= metrics.top_loss(y, case.scores, case.classes, tax) - 1e-12  # Cai, section 4.2.2


@given(cases(only_leaves=True), st.data())
def test_a_cost_matrix_in_the_order_of_the_classes(case, data):
    q = len(case.classes)
    values = data.draw(st.lists(st.integers(1, 9), min_size=q * q, max_size=q * q))
    table = np.reshape(values, (q, q)) * (1.0 - np.eye(q))
    place = {k: j for j, k in enumerate(case.classes)}

    def cost(a, b):
        return table[place[a], place[b]]

    given_scores = (case.scores, case.classes, case.taxonomy)
    tops = [oracle.naive_top(row) for row in case.score_rows]
    assert metrics.maximal_loss(case.true, *given_scores, cost=table) == close(
        oracle.naive_maximal_loss(case.true, case.score_rows, cost)
    )
    assert metrics.top_loss(case.true, *given_scores, cost=table) == close(
        oracle.naive_top_loss(case.true, tops, cost)
    )
    one = (case.one_true, case.one_predicted)
    expected = close(oracle.naive_cost_loss(*one, cost))
    assert metrics.cost_loss(*one, cost=table, classes=case.classes) == expected
    named = mg.costs.matrix(table, case.classes)
    assert metrics.cost_loss(*one, case.taxonomy, cost=named) == expected


@settings(max_examples=30)
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_classes_does_not_matter(case, random):
    rows = list(range(len(case.true)))
    columns = list(range(len(case.classes)))
    random.shuffle(rows)
    random.shuffle(columns)
    scores = case.scores + np.linspace(0, 0.5, case.scores.shape[1])  # without ties for the first place
    before = metrics.evaluate(case.true, case.predicted, scores, case.classes, case.taxonomy)
    after = metrics.evaluate(
        [case.true[i] for i in rows],
        [case.predicted[i] for i in rows],
        scores[np.ix_(rows, columns)],
        [case.classes[j] for j in columns],
        case.taxonomy,
    )
    assert after == pytest.approx(before)


@given(cases())
def test_an_integer_weight_is_a_repetition(case):
    weights = np.arange(len(case.true)) % 3 + 1
    repeated = np.repeat(np.arange(len(case.true)), weights)
    weighted = metrics.evaluate(
        case.true, case.predicted, case.scores, case.classes, case.taxonomy, sample_weight=weights
    )
    longer = metrics.evaluate(
        [case.true[i] for i in repeated],
        [case.predicted[i] for i in repeated],
        case.scores[repeated],
        case.classes,
        case.taxonomy,
    )
    counts = ("rows", "unlabelled_rows")
    assert {k: v for k, v in weighted.items() if k not in counts} == pytest.approx(
        {k: v for k, v in longer.items() if k not in counts}
    )


@given(cases())
def test_measures_of_nodes(case):
    y, p, tax, anc = case.true, case.predicted, case.taxonomy, case.anc
    assert tuple(metrics.node_precision_recall_f1(y, p)) == close(oracle.naive_node_precision_recall_f1(y, p))
    closed = [[oracle.naive_union(anc, labels) - {tax.root} for labels in rows] for rows in (y, p)]
    naive = oracle.naive_node_precision_recall_f1(*closed)
    assert tuple(metrics.node_precision_recall_f1(y, p, tax)) == close(naive)
    assert tuple(metrics.node_precision_recall_f1(*closed)) == close(naive)


@given(cases())
def test_average_precision_area(case):
    rows = list(zip(case.score_rows, case.true, strict=True))
    pairs = [(score, v in labels) for row, labels in rows for v, score in row.items()]
    if any(right for _, right in pairs):
        area = metrics.average_precision_area(case.true, case.scores, case.classes)
        assert area == close(oracle.naive_average_precision_area(pairs))
    tax, anc = case.taxonomy, case.anc
    pairs = [
        (score, v in oracle.naive_union(anc, labels))
        for row, labels in rows
        for v, score in row.items()
        if v != tax.root
    ]
    if any(right for _, right in pairs):
        area = metrics.average_precision_area(case.true, case.scores, case.classes, tax)
        assert area == close(oracle.naive_average_precision_area(pairs))


def test_area_of_perfect_and_of_constant_scores():
    y = [["a"], ["b"], ["a", "b"]]
    right = np.array([[1.0, 0], [0, 1], [1, 1]])
    assert metrics.average_precision_area(y, right, ["a", "b"]) == 1
    assert metrics.average_precision_area(y, 0 * right, ["a", "b"]) == close(4 / 6)
    infinite = np.where(right > 0, np.inf, -np.inf)
    assert metrics.average_precision_area(y, infinite, ["a", "b"]) == 1
    with pytest.raises(ValueError, match="no row has a node"):
        metrics.average_precision_area([[], []], np.zeros((2, 2)), ["a", "b"])
