"""`arrange` moves columns about and shares what is equal; Lambda and its scores stay what they are."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import margrove as mg
from margrove.outputs.layout import arrange
from margrove.taxonomy import attributes
from margrove.testing import taxonomies


def rebuilt(layout):
    """Lambda in the engine's columns, from own columns and shared parts."""
    table = layout.attributes
    q = len(table.own)
    Lambda = np.zeros((q, layout.n_columns))
    for r in range(q):
        Lambda[r, r] = table.own[r]
        g = table.group[r]
        for e in range(table.ptr[g], table.ptr[g + 1]):
            assert Lambda[r, table.idx[e]] == 0
            Lambda[r, table.idx[e]] = table.val[e]
    return Lambda


def check(Lambda, dtype=np.float64):
    """Everything that the layout promises; returns it."""
    layout = arrange(Lambda, dtype)
    table, dense, q = layout.attributes, Lambda.toarray(), Lambda.shape[0]
    ours = rebuilt(layout)
    np.testing.assert_array_equal(ours[:, layout.columns], dense.astype(dtype))
    unused = np.setdiff1d(np.arange(layout.n_columns), layout.columns)
    assert not ours[:, unused].any()
    assert len(set(layout.columns.tolist())) == Lambda.shape[1], "two columns became one"

    s = np.random.default_rng(0).standard_normal(layout.n_columns)
    np.testing.assert_allclose(
        ours @ s, dense @ s[layout.columns], atol=1e-5 if dtype == np.float32 else 1e-12
    )

    # groups are all the outputs that share the same part, numbered from 0, and the part is in no own column
    shared = [ours[r].copy() for r in range(q)]
    for r, part in enumerate(shared):
        part[r] = 0.0
    for a in range(q):
        for b in range(q):
            assert (table.group[a] == table.group[b]) == np.array_equal(shared[a], shared[b])
    assert sorted(set(table.group.tolist())) == list(range(len(table.ptr) - 1))
    assert (table.idx >= q).all()
    for g in range(len(table.ptr) - 1):
        assert (np.diff(table.idx[table.ptr[g] : table.ptr[g + 1]]) > 0).all()

    # an output with a column that it has to itself gets it as its own
    users = (dense != 0).sum(axis=0)
    alone = ((dense != 0) & (users == 1)).any(axis=1)
    np.testing.assert_array_equal(table.own != 0, alone)
    kinds = {"own": dtype, "group": np.int32, "ptr": np.int64, "idx": np.int32, "val": dtype, "base": dtype}
    assert {name: part.dtype for name, part in table._asdict().items()} == {
        n: np.dtype(t) for n, t in kinds.items()
    }
    return layout


@given(taxonomies(max_nodes=15), st.sampled_from(attributes.NAMES), st.sampled_from([np.float32, np.float64]))
def test_attributes_of_taxonomies(taxonomy, name, dtype):
    Lambda, _ = attributes.get(name).bind(taxonomy, list(taxonomy.classes))
    check(Lambda, dtype)


@given(st.integers(1, 7), st.integers(0, 7), st.integers(0, 2**31))
def test_any_matrix(q, m, seed):
    """Also with outputs that have nothing, columns that nobody has, and outputs with several of their own."""
    rng = np.random.default_rng(seed)
    dense = rng.choice([0.0, 0.0, 1.0, -0.5], (q, m))
    check(sp.csr_array(dense))


def test_siblings_are_a_group():
    """In a tree a class's own column is its node, and what siblings share is the path above them."""
    taxonomy = mg.Taxonomy.from_edges(
        [("r", "a"), ("r", "b"), ("a", "c"), ("a", "d"), ("b", "e"), ("b", "f"), ("b", "g")]
    )
    classes = ["c", "e", "d", "g", "f"]
    Lambda, nodes = attributes.get("ancestors").bind(taxonomy, classes)
    layout = check(Lambda)
    assert layout.attributes.group.tolist() == [0, 1, 0, 1, 1]
    assert layout.n_columns == 7
    names = {column: taxonomy.name(node) for column, node in zip(layout.columns, nodes, strict=True)}
    assert [names[column] for column in range(7)] == [*classes, "a", "b"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_flat_classes_are_one_group_that_shares_nothing(dtype):
    layout = check(sp.csr_array(np.eye(4)), dtype)
    assert layout.attributes.group.tolist() == [0, 0, 0, 0]
    assert len(layout.attributes.idx) == 0
    assert layout.n_columns == 4
