"""Large taxonomies: time and memory stay in proportion."""

import time

import numpy as np
import pytest

from margrove.taxonomy import Taxonomy, costs


def tree_edges(n, fan):
    return [(f"n{(i - 1) // fan}", f"n{i}") for i in range(1, n)]


@pytest.mark.parametrize(
    ("n", "seconds"), [(200_000, 4.0), pytest.param(1_000_000, 10.0, marks=pytest.mark.slow)]
)
def test_many_nodes_load_fast(tmp_path, n, seconds):
    edges = tree_edges(n, 10)
    start = time.process_time()
    tax = Taxonomy.from_edges(edges)
    assert time.process_time() - start < seconds
    assert tax.n_nodes == n
    path = tmp_path / "edges.csv"
    path.write_text("parent,child\n" + "".join(f"{a},{b}\n" for a, b in edges))
    start = time.process_time()
    assert Taxonomy.from_file(path).n_nodes == n
    assert time.process_time() - start < seconds


def test_rows_for_a_hundred_thousand_classes():
    tax = Taxonomy.from_edges(tree_edges(105_000, 18))
    bound = costs.tree().bind(tax, tax.classes)
    assert len(bound) > 99_000
    assert bound.left.nnz + bound.right.nnz < 10 * len(bound)
    bound.row(0)
    start = time.process_time()
    for y in range(0, 5000, 100):
        row = bound.row(y)
    assert (time.process_time() - start) / 50 < 0.005
    lca = [tax.depth(tax.lca(tax.classes[4900], tax.classes[r])) for r in (0, 4899, 50_000)]
    depths = [tax.depth(tax.classes[r]) for r in (0, 4899, 50_000)]
    expected = [(tax.depth(tax.classes[4900]) + d - 2 * up) / 2 for d, up in zip(depths, lca, strict=True)]
    np.testing.assert_array_equal(row[[0, 4899, 50_000]], expected)
