"""The subtrees output beside an enumeration of all closed sets."""

from __future__ import annotations

import numpy as np
import pytest

import margrove as mg
from margrove.outputs.cuts import largest_closed_set
from margrove.outputs.subtrees import Subtrees
from oracles import subtrees as twins


def all_trees(n):
    """The parents of nodes 1 .. n - 1 in every increasing tree of n nodes, n up to 5; else random ones."""
    rng = np.random.default_rng(n)
    if n <= 5:
        choices = np.indices([max(v, 1) for v in range(1, n)]).reshape(n - 1, -1).T
        return [list(row) for row in choices]
    return [[int(rng.integers(v)) for v in range(1, n)] for _ in range(25)]


def output_of(edges):
    """The output of all nodes of a graph, and each output's parents."""
    taxonomy = mg.Taxonomy.from_edges(edges)
    output = Subtrees.of(taxonomy, taxonomy.nodes)
    place = {taxonomy.name(v): k for k, v in enumerate(output.nodes)}
    parents = [[place[p] for p in taxonomy.parents(taxonomy.name(v)) if p in place] for v in output.nodes]
    return output, parents


def tree_output(above):
    return output_of([(p, v + 1) for v, p in enumerate(above)])


def as_signs(sets):
    return np.where(sets, 1.0, -1.0)


@pytest.mark.parametrize("n", range(2, 14))  # 12 nodes below the root at most
def test_best_and_second_best_of_trees(n):
    rng = np.random.default_rng(n)
    for above in all_trees(n):
        output, parents = tree_output(above)
        assert output.is_tree
        scores = rng.standard_normal((4, len(output)))
        best, second = output.best_two(scores)
        np.testing.assert_array_equal(best, output.best(scores))
        sets = twins.naive_closed_sets(parents)
        values = as_signs(sets) @ scores.T
        for row in range(len(scores)):
            order = np.argsort(-values[:, row])
            np.testing.assert_array_equal(best[row], sets[order[0]])
            np.testing.assert_array_equal(second[row], sets[order[1]])


@pytest.mark.parametrize("n", range(2, 14))
def test_lius_recursions_give_the_same_values(n):
    rng = np.random.default_rng(n)
    for above in all_trees(n):
        output, parents = tree_output(above)
        children = [[k for k, mine in enumerate(parents) if v in mine] for v in range(len(output))]
        roots = [v for v, mine in enumerate(parents) if not mine]
        s = rng.standard_normal(len(output))
        best, second = output.best_two(s[None])
        ours = [twins.naive_score(z[0], s) for z in (best, second)]
        assert ours == pytest.approx(twins.naive_recursion(children, roots, s))


@pytest.mark.parametrize("n", [2, 3, 5, 8, 11])
def test_margins_of_trees(n):
    rng = np.random.default_rng(n)
    for above in all_trees(n):
        output, parents = tree_output(above)
        scores = rng.standard_normal((3, len(output)))
        margins = output.margins(scores)
        for row, s in enumerate(scores):
            np.testing.assert_allclose(2 * margins[row], twins.naive_margins(parents, s), atol=1e-12)
        np.testing.assert_array_equal(margins > 0, output.best(scores))


def random_graph(rng, n):
    edges = []
    for child in range(1, n):
        parents = rng.choice(child, min(int(rng.integers(1, 4)), child), replace=False)
        edges += [(int(p), child) for p in parents]
    return edges


@pytest.mark.parametrize("seed", range(40))
def test_graphs(seed):
    rng = np.random.default_rng(seed)
    edges = random_graph(rng, int(rng.integers(3, 13)))
    output, parents = output_of(edges)
    scores = rng.standard_normal((5, len(output)))
    best = output.best(scores)
    for row, s in enumerate(scores):
        np.testing.assert_array_equal(best[row], twins.naive_ranked_sets(parents, s)[0][0])
        np.testing.assert_array_equal(largest_closed_set(output.edges, s), best[row])
    margins = output.margins(scores)
    np.testing.assert_array_equal(margins > 0, best)
    for child, mine in enumerate(parents):
        for parent in mine:
            assert (margins[:, child] <= margins[:, parent]).all()


def test_ties_go_to_the_smaller_set():
    output, _ = tree_output([0, 1])
    assert not output.best(np.zeros((1, 2))).any()
    assert not output.best(np.array([[1.0, -1.0]]))[0, 1]
    graph, _ = output_of([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    assert not largest_closed_set(graph.edges, np.array([-1.0, -1.0, 2.0])).any()


def test_scores_of_any_scale_and_type():
    rng = np.random.default_rng(0)
    edges = random_graph(rng, 10)
    output, _ = output_of(edges)
    scores = rng.standard_normal((50, len(output)))
    best = output.best(scores)
    for scale in (1e-150, 1e150):
        np.testing.assert_array_equal(output.best(scores * scale), best)
    assert output.margins(scores.astype(np.float32)).dtype == np.float32


def test_only_what_classes_need_is_an_output():
    taxonomy = mg.Taxonomy.from_paths(["a/x", "a/y", "b/z", "c"])
    output = Subtrees.of(taxonomy, ["a/x", "b", "root"])
    assert [taxonomy.name(v) for v in output.nodes] == ["a", "b", "x"]
    assert output.end.tolist() == [2, 1, -1]
    assert output.closures.toarray().tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 0]]
    nothing = Subtrees.of(taxonomy, ["root"])
    assert len(nothing) == 0
    assert nothing.best(np.zeros((3, 0))).shape == (3, 0)
    assert nothing.margins(np.zeros((3, 0))).shape == (3, 0)


def test_deep_and_wide():
    """A path of 5,000 nodes and a star of 5,000: no recursion, and time in proportion."""
    path = mg.Taxonomy.from_edges([(v, v + 1) for v in range(5000)])
    output = Subtrees.of(path, [5000])
    scores = np.full((2, 5000), -1.0)
    scores[0, -1] = 5000.5
    assert output.best(scores).sum(axis=1).tolist() == [5000, 0]
    star = Subtrees.of(mg.Taxonomy.flat(range(5000)), range(5000))
    assert star.best(np.ones((1, 5000))).all()
