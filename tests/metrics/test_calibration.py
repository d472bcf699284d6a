"""Calibration errors and containment against their definitions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import margrove as mg
from margrove import metrics
from margrove.errors import DataError
from margrove.testing import taxonomies
from oracles import metrics as oracle


def up(taxonomy, depth):
    """The numbers of each label's nodes at a depth."""
    found = {}
    for node in taxonomy.nodes:
        wanted = min(depth, taxonomy.depth(node))
        found[node] = {taxonomy.index(a) for a in taxonomy.ancestors(node) if taxonomy.depth(a) == wanted}
    return found


@given(taxonomies(min_nodes=3), st.integers(1, 8), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_errors_at_every_level_of_trees_and_graphs(taxonomy, n, n_bins, seed):
    rng = np.random.default_rng(seed)
    classes = list(taxonomy.classes)
    eighths = rng.multinomial(8, np.ones(len(classes)) / len(classes), size=n)  # sums of which are exact
    P = eighths / 8
    true = [taxonomy.nodes[k] for k in rng.integers(taxonomy.n_nodes, size=n)]
    weights = rng.integers(1, 4, n)
    rows = [{label: Fraction(int(p), 8) for label, p in zip(classes, row, strict=True)} for row in eighths]
    got = metrics.calibration_error_by_level(true, P, classes, taxonomy, n_bins=n_bins, sample_weight=weights)
    assert list(got) == list(range(1, max(taxonomy.depth(c) for c in classes) + 1))
    for depth, error in got.items():
        expected = oracle.naive_expected_calibration_error(
            [{label} for label in true], rows, up(taxonomy, depth), n_bins, weights.tolist()
        )
        assert error == pytest.approx(float(expected), abs=1e-12)
        options = {"taxonomy": taxonomy, "depth": depth, "n_bins": n_bins, "sample_weight": weights}
        assert metrics.expected_calibration_error(true, P, classes, **options) == error
    place = {label: {k} for k, label in enumerate(classes)}
    place |= {label: {-1} for label in taxonomy.nodes if label not in place}
    flat = oracle.naive_expected_calibration_error([{t} for t in true], rows, place, n_bins)
    assert metrics.expected_calibration_error(true, P, classes, n_bins=n_bins) == pytest.approx(float(flat))


def test_honest_coins_have_no_error_and_boasters_have():
    y = ["a", "b", "a", "b"]
    assert metrics.expected_calibration_error(y, np.full((4, 2), 0.5), ["a", "b"]) == 0
    assert metrics.expected_calibration_error(y, np.tile([1.0, 0.0], (4, 1)), ["a", "b"]) == 0.5
    tree = mg.Taxonomy.from_edges([("r", "x"), ("x", "a"), ("x", "b")])
    errors = metrics.calibration_error_by_level(y, np.tile([1.0, 0.0], (4, 1)), ["a", "b"], tree)
    assert errors == {1: 0.0, 2: 0.5}


def test_what_is_no_probability_is_refused():
    y = ["a", "b"]
    for wrong in (1.5, -0.1, np.nan):
        with pytest.raises(DataError, match="row 1, column 0"):
            metrics.expected_calibration_error(y, [[0.5, 0.5], [wrong, 0.5]], ["a", "b"])
    P = [[0.5, 0.5], [0.5, 0.5]]
    with pytest.raises(DataError, match="a taxonomy and a depth"):
        metrics.expected_calibration_error(y, P, ["a", "b"], depth=1)
    with pytest.raises(DataError, match="n_bins"):
        metrics.expected_calibration_error(y, P, ["a", "b"], n_bins=0)
    with pytest.raises(DataError, match="no row of positive weight"):
        metrics.expected_calibration_error([[], []], P, ["a", "b"])


@given(taxonomies(), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_containment(taxonomy, n, seed):
    rng = np.random.default_rng(seed)
    pick = [[taxonomy.nodes[k] for k in rng.integers(taxonomy.n_nodes, size=n)] for _ in range(2)]
    weights = rng.uniform(0.5, 2, n)
    anc = {v: set(taxonomy.ancestors(v)) for v in taxonomy.nodes}
    expected = oracle.naive_containment([{t} for t in pick[0]], pick[1], anc, weights)
    assert metrics.containment(*pick, taxonomy, sample_weight=weights) == pytest.approx(expected)
    assert metrics.containment(pick[0], [taxonomy.root] * n, taxonomy) == 1
