"""Attributes whose weights are learned: what data of a known kind ask for, and every way to use them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV

import margrove as mg
from margrove.errors import DataError
from margrove.taxonomy.attributes import depth_scaled, learned
from oracles.problems import random_case

PATHS = [f"{a}/{a}{b}/{a}{b}{c}" for a in "xyz" for b in "12" for c in "pqr"]
TREE = mg.Taxonomy.from_paths(PATHS)


def sample(shared, n=300, seed=0):
    """Gaussians whose means have, of each class's variance, `shared` from its top node, the rest its own."""
    rng = np.random.default_rng(seed)
    label = rng.integers(len(PATHS), size=n)
    top, own = np.random.default_rng(0).normal(size=(2, len(PATHS), 12))
    means = np.sqrt(shared) * top[np.arange(len(PATHS)) // 6] + np.sqrt(1 - shared) * own
    return means[label] + rng.normal(size=(n, 12)), np.array(PATHS)[label]


def fit(shared=0.5, **options):
    X, y = sample(shared)
    settings = {"attributes": "learned", "C": 0.1, "tol": 1e-3, "max_iter": 5000}
    return mg.HierarchicalSVM(**(settings | options)).fit(X, y)


def test_data_decide_how_much_a_level_is_shared():
    parts = [fit(shared).attribute_weights_ for shared in (0.0, 0.5, 0.95)]
    assert all(set(part) == {"level 1", "level 2", "own"} for part in parts)
    assert parts[0]["level 1"] < parts[1]["level 1"] < parts[2]["level 1"]
    assert parts[0]["own"] > parts[1]["own"] > parts[2]["own"]


@pytest.mark.parametrize("power", [1, 2, 4])
def test_the_optimum_is_no_worse_than_that_of_given_attributes(power):
    joint = fit(attributes=learned(power=power)).certificate_
    given = fit(attributes="depth-scaled").certificate_
    assert joint.dual <= given.primal
    if power == 1:  # the flat classifier's kernel has the same trace
        flat = fit(attributes="one-hot").certificate_
        assert joint.dual <= flat.primal
        assert joint.primal <= 0.999 * min(given.primal, flat.primal)


def test_large_powers_leave_the_attributes_as_they_are():
    parts = fit(attributes=learned(power=1000)).attribute_weights_
    assert list(parts.values()) == pytest.approx([1 / 3] * 3, rel=0.02)


def test_scores_are_those_of_a_model_that_is_given_the_weights():
    model = fit(tol=1e-5)
    parts = model.attribute_weights_
    assert model.attributes_.nnz == 3 * len(PATHS)
    trace = (model.attributes_.toarray() ** 2).sum() / len(PATHS)
    assert trace == pytest.approx(sum(parts.values()))
    order = [model.classes_.tolist().index(path) for path in sorted(PATHS)]
    given = fit(attributes=model.attributes_[order], tol=1e-5)
    X, _ = sample(0.5, seed=1)
    np.testing.assert_allclose(given.decision_function(X), model.decision_function(X), atol=2e-2)
    assert given.certificate_.primal == pytest.approx(model.certificate_.primal, rel=3e-5)


def test_weights_of_nodes():
    model = fit(attributes=learned(by="node"))
    assert set(model.attribute_weights_) == set(TREE.nodes) - {TREE.root}
    assert model.certificate_.status == "converged"
    levels = fit().certificate_
    assert model.certificate_.primal != levels.primal


@pytest.mark.parametrize("seed", range(6))
def test_trees_and_graphs_of_any_depth(seed):
    case = random_case(seed, ("tree", "dag", "flat")[seed % 3], multilabel=seed % 2 == 1)
    attributes = learned("ancestors", by=("level", "node")[seed // 3])
    model = case.fit(attributes=attributes, tol=1e-6)
    assert model.certificate_.relative_gap <= 1e-6
    assert model.certificate_.primal <= case.fit(attributes="ancestors", tol=1e-6).certificate_.primal * (
        1 + 1e-6
    )


def test_sharing_is_where_the_weights_start():
    flat = fit(sharing=0.0)
    assert list(flat.attribute_weights_) == ["own"]
    assert flat.attribute_weights_["own"] == pytest.approx(1.0)
    little, much = (fit(sharing=sharing, attributes=learned(power=8)) for sharing in (0.1, 0.9))
    assert little.attribute_weights_["own"] > much.attribute_weights_["own"] + 0.2


def test_saved_and_loaded(tmp_path):
    for by in ("level", "node"):
        model = fit(attributes=learned(by=by))
        model.save(tmp_path / "model.mg")
        loaded = mg.load(tmp_path / "model.mg")
        X, _ = sample(0.5, seed=1)
        np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
        assert loaded.attribute_weights_ == model.attribute_weights_


def test_fitted_again_without_learning_has_no_weights():
    model = fit()
    model.set_params(attributes="depth-scaled").fit(*sample(0.5))
    assert model.attribute_weights_ is None


def test_grid_search_over_attributes_and_sharing():
    X, y = sample(0.5)
    grid = GridSearchCV(
        mg.HierarchicalSVM(TREE, C=0.1, tol=0.05),
        [{"attributes": [learned(power=1), "learned", depth_scaled()]}, {"sharing": [0.0, 0.3]}],
        cv=2,
    ).fit(X, y)
    assert len(grid.cv_results_["params"]) == 5
    assert not np.isnan(grid.cv_results_["mean_test_score"]).any()


def test_with_a_kernel_and_sparse_rows_and_label_sets():
    X, y = sample(0.5, n=120)
    linear = fit()
    sparse = mg.HierarchicalSVM(attributes="learned", C=0.1, tol=1e-3).fit(
        sp.csr_array(sample(0.5)[0]), sample(0.5)[1]
    )
    np.testing.assert_allclose(sparse.decision_function(X), linear.decision_function(X), atol=1e-6)
    similar = fit(kernel=mg.similarity.polynomial(1, 0.0))
    assert similar.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=2e-3)
    sets = [[label] if label[0] != "z" else [label, PATHS[0]] for label in y]
    model = mg.HierarchicalSVM(TREE, attributes="learned", tol=0.05).fit(X, sets)
    assert model.score(X, sets) > 0.3
    assert set(model.attribute_weights_) == {"own", "level 1", "level 2"}


def test_what_cannot_be_learned_is_told():
    X, y = sample(0.5, n=60)
    with pytest.raises(DataError, match="columns of a matrix have no levels"):
        mg.HierarchicalSVM(TREE, attributes=learned(np.eye(len(set(y))))).fit(X, y)
    with pytest.raises(DataError, match="by is 'depth'; expected 'level' or 'node'"):
        learned(by="depth")
    for power in (0.5, float("inf"), float("nan"), True):
        with pytest.raises(DataError, match="power is"):
            learned(power=power)
    with pytest.raises(DataError, match="are for HierarchicalSVM"):
        learned().bind(TREE, TREE.classes)


def test_a_warm_start_is_one():
    X, y = sample(0.5)
    model = mg.HierarchicalSVM(attributes="learned", C=0.1, tol=1e-3, warm_start=True).fit(X, y)
    cold = model.n_iter_
    model.set_params(C=0.11).fit(X, y)
    assert model.n_iter_ < cold
    assert model.certificate_.status == "converged"
