"""The descent output against the steps from the root, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import margrove as mg
from margrove.outputs.descent import Descent
from margrove.testing import taxonomies


def naive_descent(descent, scores):
    """The output at which the steps end."""
    at = -1
    while (children := np.flatnonzero(descent.parent == at)).size:
        at = children[scores[children].argmax()]
    return at


def naive_margin(taxonomy, outputs, scores, node):
    """The least margin on the path to a node."""
    score = dict(zip(outputs, scores, strict=True))
    least = np.inf
    for step in taxonomy.path(node)[1:]:
        for other in taxonomy.siblings(step):
            if other in score:
                least = min(least, score[step] - score[other])
    return least if np.isfinite(least) else 0.0


@given(taxonomies(trees_only=True), st.integers(0, 2**32 - 1))
def test_outputs_margins_and_steps(taxonomy, seed):
    rng = np.random.default_rng(seed)
    nodes = [node for node in taxonomy.nodes if node != taxonomy.root]
    classes = [nodes[k] for k in rng.choice(len(nodes), rng.integers(1, len(nodes) + 1), replace=False)]
    descent = Descent.of(taxonomy, classes)
    outputs = [taxonomy.name(v) for v in descent.nodes]
    needed = {step for label in classes for step in taxonomy.path(label)} - {taxonomy.root}
    assert set(outputs) == needed
    assert len(outputs) == len(needed)
    for t, node in enumerate(outputs):
        brothers = {*taxonomy.siblings(node), node} & needed
        assert set(outputs[descent.first[t] : descent.last[t]]) == brothers
        above = taxonomy.parents(node)[0]
        assert descent.parent[t] == (-1 if above == taxonomy.root else outputs.index(above))
        assert descent.parent[t] < t
    paths = descent.paths.toarray()
    for label, path in zip(classes, paths, strict=True):
        assert {outputs[t] for t in np.flatnonzero(path)} == set(taxonomy.path(label)) - {taxonomy.root}

    scores = rng.integers(0, 4, (3, len(outputs))).astype(float)
    margins = descent.class_margins(scores)
    for row, mine in zip(scores, margins, strict=True):
        for label, margin in zip(classes, mine, strict=True):
            inner = any(child in needed for child in taxonomy.children(label))
            assert margin == (-np.inf if inner else naive_margin(taxonomy, outputs, row, label))
    scores = rng.standard_normal((5, len(outputs)))
    ends = [naive_descent(descent, row) for row in scores]
    np.testing.assert_array_equal(descent.end[descent.class_margins(scores).argmax(axis=1)], ends)


def test_graphs_are_refused():
    graph = mg.Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    with pytest.raises(mg.errors.TaxonomyError, match=r"needs a tree.*'c' has 2 parents"):
        Descent.of(graph, ["c"])
