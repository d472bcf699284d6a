from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import margrove as mg
from margrove.report import compare_methods, example_predictions, representative_rows


@given(st.lists(st.booleans(), min_size=1), st.integers(0, 20), st.integers(0, 9))
def test_rows_in_proportion(right, n, seed):
    rows = representative_rows(right, n, np.random.default_rng(seed))
    assert len(rows) == len(set(rows)) == min(n, len(right))
    assert sum(right[row] for row in rows) == pytest.approx(len(rows) * np.mean(right), abs=0.5)


@pytest.fixture(scope="module")
def problem():
    return mg.datasets.make_tree_classification(120, 8, 2, 2, multilabel=False, random_state=0)


def test_both_methods_are_measured_by_the_same_taxonomy(problem):
    told = []

    @contextlib.contextmanager
    def progress(name):
        told.append(name)
        yield lambda reached: told.append(reached.relative_gap)

    methods = {"tree": mg.HierarchicalSVM(problem.taxonomy), "flat": mg.HierarchicalSVM("flat")}
    X, y = problem.X, problem.y
    runs = compare_methods(methods, X[:80], y[:80], X[80:], y[80:], problem.taxonomy, progress)
    assert [run["name"] for run in runs] == ["tree", "flat"]
    for run in runs:
        assert set(run["measures"]["accuracy_by_level"]) == {"1", "2"}
        right = np.mean([a == b for a, b in zip(run["predictions"], y[80:], strict=True)])
        assert run["measures"]["one_accuracy"] == pytest.approx(right)
        assert run["certificate"]["dual"] <= run["certificate"]["primal"]
        assert run["parameters"]["C"] == 1.0
    assert told[0] == "tree"
    assert told[1] > 0  # a gap


def test_examples_as_paths(problem):
    tree = problem.taxonomy
    (example,) = example_predictions(
        [1], ["a", "b"], ["1.1", "1.2"], {"m": ["1.1", "2.1"]}, tree, {"2.1": "two one"}
    )
    assert example["text"] == "b"
    assert [step["label"] for step in example["true"]] == ["1", "1.2"]
    assert example["predicted"]["m"]["right"] is False
    assert example["predicted"]["m"]["path"][-1] == {"label": "2.1", "description": "two one"}
