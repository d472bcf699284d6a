"""Ranking by scores, and the tables in which the ranking output states its problem."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from margrove.outputs.ranking import costs_of, inputs_of, targets_of, top
from oracles.problems import mixed_case


def naive_top(scores, k):
    """Best first; of equals, the first."""
    return [sorted(range(len(row)), key=lambda r: (-row[r], r))[:k] for row in scores]


@given(
    st.data(),
    st.integers(1, 5),
    st.integers(1, 40),
    st.sampled_from([np.float32, np.float64]),
)
def test_top_is_sorting_with_ties_by_position(data, n, q, dtype):
    """With many ties, for one, for few and for many of the outputs."""
    scores = data.draw(hnp.arrays(dtype, (n, q), elements=st.sampled_from([-1.5, 0.0, -0.0, 0.25, 2.0])))
    for k in (1, 2, max(1, q // 5), q, q + 3):
        best = top(scores, k)
        assert best.tolist() == naive_top(scores.tolist(), k)
        assert best.shape == (n, min(k, q))


def test_top_of_all_equal_scores_is_the_order_of_outputs():
    for k in (1, 3, 30):
        assert top(np.zeros((2, 30)), k).tolist() == [list(range(k))] * 2


def test_top_of_no_rows():
    for k in (1, 2, 8):
        assert top(np.zeros((0, 8)), k).shape == (0, k)


def test_top_of_infinite_scores():
    scores = np.array([[-np.inf, 1.0, np.inf, 0.0, np.inf, -np.inf, 0.5, 2.0, 3.0]])
    for k in (1, 2, 5, 9):
        assert top(scores, k).tolist() == naive_top(scores.tolist(), k)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tables_say_what_the_matrices_say(dtype):
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((6, 4)) * (rng.random((6, 4)) < 0.4)
    dense[2] = dense[5] = 0.0  # an empty row in the middle, and one at the end
    dense[1:, 1] = 0.0
    dense[0, 1] = 0.5  # which nobody else has
    inputs, kept = inputs_of(sp.csr_array(dense), dtype)
    alone = (dense != 0).sum(axis=0) == 1
    assert alone[1]
    assert kept.tolist() == np.flatnonzero((dense != 0).sum(axis=0) > 1).tolist()
    np.testing.assert_allclose(inputs.sqnorm, (dense**2).sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(inputs.private, (dense[:, alone] ** 2).sum(axis=1), rtol=1e-6)
    again = sp.csr_array((inputs.val, inputs.idx, inputs.ptr), shape=(6, len(kept))).toarray()
    np.testing.assert_array_equal(again, dense[:, kept].astype(dtype))
    assert inputs.val.dtype == inputs.sqnorm.dtype == dtype
    assert (inputs.ptr.dtype, inputs.idx.dtype) == (np.int64, np.int32)

    Y = sp.csr_array(rng.random((6, 3)) < 0.5, dtype=np.int64)
    targets = targets_of(Y, np.arange(6.0), dtype)
    for i in range(6):
        assert (
            targets.idx[targets.ptr[i] : targets.ptr[i + 1]].tolist()
            == np.flatnonzero(Y.toarray()[i]).tolist()
        )
    assert targets.bound.tolist() == list(range(6))


def test_inputs_without_any_nonzero():
    inputs, kept = inputs_of(sp.csr_array((3, 4)), np.float32)
    assert not len(kept)
    assert inputs.sqnorm.tolist() == [0, 0, 0]
    assert inputs.ptr.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("k", range(12))
def test_cost_tables_by_their_formula(k):
    """(C.2) term by term."""
    problem = mixed_case(k).problem()
    table, q = costs_of(problem.cost, np.float64), len(problem.cost)
    for p in range(q):
        for r in range(q):
            cost = table.own[p] + table.other[r]
            for e in range(table.left_ptr[p], table.left_ptr[p + 1]):
                v = table.left_idx[e]
                for f in range(table.right_ptr[v], table.right_ptr[v + 1]):
                    if table.right_idx[f] == r:
                        cost -= table.left_val[e] + table.right_val[f]
            if p != r:
                assert cost == pytest.approx(problem.cost.row(p)[r], abs=1e-12)
