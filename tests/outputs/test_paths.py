"""Probabilities of paths against walks from the root, and the best path against trying all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import margrove as mg
from margrove.outputs.descent import Descent
from margrove.outputs.paths import (
    Steepness,
    best_paths,
    leads,
    log_probabilities,
    of_classes,
    scores_below,
    spans,
)
from margrove.testing import taxonomies
from oracles.probabilities import naive_path_probabilities, naive_scores_below

seeds = st.integers(0, 2**32 - 1)


def steepness_of(descent, rng):
    shape = (len(descent.levels), rng.integers(1, 5))
    return Steepness(np.cumsum(rng.uniform(0.1, 1, shape), axis=1), rng.uniform(0, 3, shape))


def natural(descent):
    return Steepness(*np.tile([[[0.0]], [[1.0]]], (1, len(descent.levels), 1)))


@given(taxonomies(), seeds)
def test_scores_and_probabilities_of_classes_in_trees_and_graphs(taxonomy, seed):
    rng = np.random.default_rng(seed)
    pool = taxonomy.classes
    classes = [pool[k] for k in rng.choice(len(pool), rng.integers(1, len(pool) + 1), replace=False)]
    if classes == [taxonomy.root]:
        return
    descent = Descent.along_first_parents(taxonomy, classes)
    F, beta, steepness = 3 * rng.standard_normal((4, len(classes))), 1.7, steepness_of(descent, rng)
    A = scores_below(descent, F, beta)
    logs = log_probabilities(descent, A, steepness)
    P = np.exp(of_classes(descent, logs))
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    outputs = [taxonomy.name(v) for v in descent.nodes]
    for row, scores, mine, each in zip(F, A, P, np.exp(logs), strict=True):
        below = naive_scores_below(taxonomy, classes, row, beta)
        np.testing.assert_allclose(scores, [below[node] for node in outputs], rtol=1e-10)
        of_class, of_node = naive_path_probabilities(
            taxonomy, classes, below, list(zip(*steepness, strict=True))
        )
        np.testing.assert_allclose(mine, [of_class[label] for label in classes], rtol=1e-9)
        np.testing.assert_allclose(each, [of_node[node] for node in outputs], rtol=1e-9)
    softmax = np.exp(beta * F - np.logaddexp.reduce(beta * F, axis=1, keepdims=True))
    flat = of_classes(descent, log_probabilities(descent, A, natural(descent)))
    np.testing.assert_allclose(np.exp(flat), softmax, rtol=1e-9)


@given(taxonomies(trees_only=True, min_nodes=3), seeds, st.booleans())
def test_the_best_path_is_that_of_trying_all(taxonomy, seed, ties):
    rng = np.random.default_rng(seed)
    nodes = [node for node in taxonomy.nodes if node != taxonomy.root]
    classes = [nodes[k] for k in rng.choice(len(nodes), rng.integers(1, len(nodes) + 1), replace=False)]
    descent = Descent.of(taxonomy, classes)
    shape = (20, len(descent))
    scores = rng.integers(0, 2, shape).astype(float) if ties else rng.standard_normal(shape)
    steepness = steepness_of(descent, rng)
    logs = of_classes(descent, log_probabilities(descent, scores, steepness))
    found = best_paths(descent, scores, steepness)
    assert descent.terminal[found].all()
    reached = logs[np.arange(20), found]
    np.testing.assert_allclose(reached, logs.max(axis=1), rtol=1e-12, atol=1e-14)
    if not ties:
        np.testing.assert_array_equal(found, logs.argmax(axis=1))
    # a walk that cannot go back is never better
    steps = descent.class_margins(scores).argmax(axis=1)
    assert (logs[np.arange(20), steps] <= reached + 1e-12).all()


def test_the_best_path_goes_back_where_steps_cannot():
    taxonomy = mg.Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("a", "y"), ("b", "z")])
    descent = Descent.of(taxonomy, ["x", "y", "z"])
    by_name = {"a": 0.2, "b": 0.0, "x": 0.0, "y": 0.0, "z": 0.0}
    scores = np.array([[by_name[taxonomy.name(v)] for v in descent.nodes]])
    assert descent.class_margins(scores).argmax() != 2
    assert best_paths(descent, scores, natural(descent)).tolist() == [2]


def test_of_equally_probable_classes_the_first_is_found():
    taxonomy = mg.Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "z")])
    for classes in (["x", "z"], ["z", "x"]):
        descent = Descent.of(taxonomy, classes)
        assert best_paths(descent, np.zeros((3, len(descent))), natural(descent)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("n", [0, 1])
def test_few_rows_and_one_class(n):
    descent = Descent.of(mg.Taxonomy.from_edges([("r", "a")]), ["a"])
    assert best_paths(descent, np.zeros((n, 1)), natural(descent)).tolist() == [0] * n
    logs = log_probabilities(descent, np.zeros((n, 1)), natural(descent))
    assert of_classes(descent, logs).tolist() == [[0.0]] * n


def test_spans():
    owner, number, starts = spans(np.array([3, 0, 7]), np.array([5, 3, 8]))
    assert owner.tolist() == [0, 0, 1, 1, 1, 2]
    assert number.tolist() == [3, 4, 0, 1, 2, 7]
    assert starts.tolist() == [0, 2, 5]


def test_the_order_of_siblings_never_changes():
    rng = np.random.default_rng(0)
    descent = Descent.of(mg.Taxonomy.from_edges([("r", str(k)) for k in range(5)]), list("01234"))
    scores = rng.standard_normal((200, 5))
    logs = log_probabilities(
        descent, scores, Steepness(np.array([[0.5, 1.0, 2.0]]), np.array([[3.0, 0.1, 2]]))
    )
    assert (logs.argsort(axis=1) == scores.argsort(axis=1)).all()
    shifted = log_probabilities(descent, scores + 7, Steepness(np.array([[0.5]]), np.array([[3.0]])))
    same = log_probabilities(descent, scores, Steepness(np.array([[0.5]]), np.array([[3.0]])))
    np.testing.assert_allclose(shifted, same, atol=1e-12)


def test_leads_are_by_group():
    found = leads(np.array([[3.0, 1, 5, 4, 3]]), np.array([0, 2]), np.array([2, 3]))
    np.testing.assert_allclose(found, [[1, 1]])
