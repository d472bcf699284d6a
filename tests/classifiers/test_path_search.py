"""C chosen along a path: the results of separate fits, in less work, as scikit-learn's searches give them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import margrove as mg

CS = (0.01, 0.1, 1.0, 10.0)


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 30)) + 2 * np.eye(3, 30)[y]
    return X / np.linalg.norm(X, axis=1)[:, None], np.array(["a", "b", "c"])[y]


ESTIMATORS = {
    "hierarchical": mg.HierarchicalSVM(tol=1e-3, max_iter=5000),
    "path margin": mg.PathMarginSVM(tol=1e-3, max_iter=5000, fit_intercept=False),
    "with a bias": mg.PathMarginSVM(tol=1e-3, max_iter=5000),
    "ranked": mg.CostSensitiveSVM(method="ranked", tol=1e-3, max_iter=5000, fit_intercept=False),
    "gaussian": mg.HierarchicalSVM(tol=1e-3, max_iter=5000, kernel="gaussian"),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fits_of_a_path_are_those_apart(blobs, name):
    X, y = blobs
    warm = clone(ESTIMATORS[name]).set_params(warm_start=True)
    for C in CS:
        cold = clone(ESTIMATORS[name]).set_params(C=C).fit(X, y)
        warm.set_params(C=C).fit(X, y)
        assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=1e-3)
        assert warm.certificate_.dual <= cold.certificate_.primal


@pytest.mark.parametrize("name", ["hierarchical", "path margin", "ranked"])
def test_a_path_takes_fewer_rounds(name):
    rng = np.random.default_rng(0)
    y = rng.integers(6, size=300)
    X = 0.3 * rng.normal(size=(300, 40)) + np.eye(6, 40)[y]
    warm = clone(ESTIMATORS[name]).set_params(warm_start=True, tol=1e-2)
    cold = clone(ESTIMATORS[name]).set_params(C=100.0, tol=1e-2).fit(X, y)
    for C in (1.0, 10.0, 100.0):
        warm.set_params(C=C).fit(X, y)
    assert 2 * warm.n_iter_ < cold.n_iter_


@pytest.mark.parametrize("scoring", [None, "f1_macro"])
def test_results_are_those_of_a_grid_search(blobs, scoring):
    X, y = blobs
    model = mg.HierarchicalSVM(tol=1e-3, max_iter=5000)
    search = mg.PathSearch(model, CS[::-1], cv=3, scoring=scoring).fit(X, y)
    grid = GridSearchCV(model, {"C": CS}, cv=3, scoring=scoring).fit(X, y)
    for key in ("params", "rank_test_score"):
        assert list(search.cv_results_[key]) == list(grid.cv_results_[key])
    for key in ("mean_test_score", "std_test_score", *(f"split{k}_test_score" for k in range(3))):
        np.testing.assert_allclose(search.cv_results_[key], grid.cv_results_[key], atol=0.021)
    assert search.best_params_ == grid.best_params_
    assert search.best_index_ == grid.best_index_
    np.testing.assert_array_equal(search.decision_function(X), grid.decision_function(X))
    assert search.score(X, y) == grid.score(X, y)
    assert search.n_splits_ == 3
    assert search.classes_.tolist() == ["a", "b", "c"]
    assert set(grid.cv_results_) - set(search.cv_results_) <= {"mean_score_time", "std_score_time"}
    assert len(pd.DataFrame(search.cv_results_)) == 4


def test_defaults_are_wangs_grid(blobs):
    search = mg.PathSearch(mg.HierarchicalSVM(), cv=2).fit(*blobs)
    np.testing.assert_allclose(search.cv_results_["param_C"], [10 ** (k / 2) for k in range(-4, 6)])


def test_other_estimators_and_pipelines(blobs):
    X, y = blobs
    for model in (LinearSVC(dual=False), LogisticRegression()):
        assert mg.PathSearch(model, CS, cv=2).fit(X, y).score(X, y) > 0.6
    pipeline = make_pipeline(StandardScaler(), mg.HierarchicalSVM())
    search = mg.PathSearch(pipeline, CS, cv=2, parameter="hierarchicalsvm__C").fit(X, y)
    assert search.best_params_["hierarchicalsvm__C"] == search.best_estimator_[-1].C
    assert search.cv_results_["params"][0] == {"hierarchicalsvm__C": 0.01}
    assert not hasattr(search, "predict_proba")
    assert mg.PathSearch(LogisticRegression(), CS, cv=2).fit(X, y).predict_proba(X).shape == (60, 3)


def test_rows_of_parameters_and_of_similarities_go_with_the_folds(blobs):
    X, y = blobs
    cv = StratifiedKFold(2)
    weight = np.where(np.arange(60) % 3, 1.0, 0.0)
    search = mg.PathSearch(mg.HierarchicalSVM(), (1.0,), cv=cv).fit(X, y, sample_weight=weight)
    for k, (train, test) in enumerate(cv.split(X, y)):
        apart = mg.HierarchicalSVM().fit(X[train], y[train], weight[train])
        assert search.cv_results_[f"split{k}_test_score"][0] == apart.score(X[test], y[test])
    given = mg.PathSearch(mg.HierarchicalSVM(kernel="precomputed"), CS, cv=cv).fit(X @ X.T, y)
    linear = mg.PathSearch(mg.HierarchicalSVM(), CS, cv=cv).fit(X, y)
    np.testing.assert_allclose(
        given.cv_results_["mean_test_score"], linear.cv_results_["mean_test_score"], atol=0.05
    )


def test_label_sets(blobs):
    X, y = blobs
    sets = [[label, "c"] if label == "a" else [label] for label in y]
    assert mg.PathSearch(mg.HierarchicalSVM(), CS, cv=KFold(2)).fit(X, sets).best_score_ > 0.3
    assert mg.PathSearch(mg.HierarchicalSVM(), CS[2:], cv=2).fit(X, sets).best_score_ > 0.3


def test_scores_that_are_not_finite_rank_last(blobs):
    def scoring(model, X, y):
        return np.nan if model.C < 1 else model.score(X, y)

    with pytest.warns(UserWarning, match="non-finite"):
        search = mg.PathSearch(mg.HierarchicalSVM(), CS, cv=2, scoring=scoring).fit(*blobs)
    assert search.best_params_["C"] >= 1
    assert search.cv_results_["rank_test_score"][:2].tolist() == [3, 3]
    with pytest.raises(ValueError, match="no value of C has a finite score"):
        mg.PathSearch(mg.HierarchicalSVM(), CS, cv=2, scoring=lambda *_: np.nan).fit(*blobs)


def test_the_parameter_of_an_estimator_inside_is_named(blobs):
    with pytest.raises(ValueError, match=r"name that which is C by `parameter`, as 'estimator__C'"):
        mg.PathSearch(mg.CalibratedTaxonomyClassifier(mg.HierarchicalSVM())).fit(*blobs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"Cs": ()}, "finite numbers above 0"),
        ({"Cs": (1.0, 0.0)}, "finite numbers above 0"),
        ({"parameter": "alpha"}, "HierarchicalSVM has no parameter 'alpha'"),
    ],
)
def test_wrong_parameters(blobs, options, message):
    with pytest.raises(ValueError, match=message):
        mg.PathSearch(mg.HierarchicalSVM(), **options).fit(*blobs)
