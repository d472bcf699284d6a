"""The estimator is a citizen of scikit-learn's world."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import margrove as mg


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::margrove.errors.ScaleWarning")
@parametrize_with_checks(
    [
        mg.HierarchicalSVM(),
        mg.HierarchicalSVM(slack="pair"),
        mg.HierarchicalSVM(loss="squared-hinge", sharing=0.5),
        mg.HierarchicalSVM(attributes="learned"),
        mg.HierarchicalSVM(fit_intercept=True),
        mg.HierarchicalPerceptron(),
        mg.HierarchicalPerceptron(update="minover", kernel="polynomial", max_iter=2),
        mg.Hieron(),
        mg.PathMarginSVM(),
        mg.PathMarginSVM(loss="psi", fit_intercept=False),
        mg.DivideAndConquerSVM(),
        mg.TransferSVM(),
        mg.OrthogonalTransferSVM(alpha="auto"),
        mg.CostSensitiveSVM(tol=0.1),
        mg.CostSensitiveSVM(method="ranked", fit_intercept=False, tol=0.1),
        mg.SubtreePerceptron(max_iter=300),
        mg.SubtreePerceptron(update="hard", blocks=2),
        mg.SubtreeSVM(),
        mg.SubtreeSVM(algorithm="marginal", node_weight="balanced"),
        mg.PathSearch(mg.HierarchicalSVM(tol=0.1), (0.1, 1.0), cv=2),
        mg.CalibratedTaxonomyClassifier(folds=2),
        mg.CalibratedTaxonomyClassifier(mg.PathMarginSVM(fit_intercept=False, tol=0.1), folds=2),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=60)
    X = rng.normal(size=(60, 5)) + 2 * np.eye(3, 5)[y]
    return X, np.array(["0111", "NA", "None"])[y]


def test_cross_validation_and_grid_search(blobs):
    X, y = blobs
    assert cross_val_score(mg.HierarchicalSVM(), X, y, cv=3).mean() > 0.6
    grid = GridSearchCV(mg.HierarchicalSVM(), {"C": [0.01, 1.0], "slack": ["example", "pair"]}, cv=3).fit(
        X, y
    )
    assert grid.best_score_ > 0.6
    assert grid.predict(X[:2]).dtype == y.dtype


@pytest.mark.parametrize("form", ["lists", "levels"])
def test_cross_validation_of_labels_that_scikit_learn_does_not_know(blobs, form):
    X, y = blobs
    targets = (
        [[label] if label != "NA" else ["NA", "0111"] for label in y]
        if form == "lists"
        else np.array([["top", label] if label != "NA" else ["top", None] for label in y], object)
    )
    assert cross_val_score(mg.HierarchicalSVM(), X, targets, cv=KFold(3)).mean() > 0.4


def test_pipelines_of_text():
    texts = ["heart attack", "attack of the heart", "broken arm", "broken leg"] * 5
    codes = ["0111", "0111", "S42", "S42"] * 5
    model = make_pipeline(TfidfVectorizer(), mg.HierarchicalSVM()).fit(texts, codes)
    assert model.predict(["the heart", "leg"]).tolist() == ["0111", "S42"]
    assert model.score(texts, codes) == 1


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_go_in_and_their_columns_are_checked(blobs, library):
    frames = pytest.importorskip(library)
    X, y = blobs
    names = [f"x{j}" for j in range(X.shape[1])]
    frame = frames.DataFrame(dict(zip(names, X.T, strict=True)))
    model = mg.HierarchicalSVM().fit(frame, y)
    assert model.feature_names_in_.tolist() == names
    assert (model.predict(frame) == mg.HierarchicalSVM().fit(X, y).predict(X)).all()
    with pytest.raises(ValueError, match=r"(?i)feature names"):
        model.predict(frame[names[::-1]])


def test_set_output_of_steps_before_it(blobs):
    pytest.importorskip("pandas")
    X, y = blobs
    model = make_pipeline(StandardScaler(), mg.HierarchicalSVM()).set_output(transform="pandas").fit(X, y)
    assert model[-1].feature_names_in_.tolist() == [f"x{j}" for j in range(X.shape[1])]


def test_parameters_and_clones(blobs):
    tax = mg.Taxonomy.from_edges([("r", "0111"), ("r", "codes"), ("codes", "NA"), ("codes", "None")])
    model = mg.HierarchicalSVM(tax, C=2.0, cost=mg.costs.zero_one())
    copied = clone(model)
    assert copied.get_params() == model.get_params() | {"cost": copied.cost}
    assert copied.taxonomy is tax
    assert copied.set_params(C=3.0, slack="pair").C == 3.0
    with pytest.raises(ValueError, match="Invalid parameter 'c'"):
        model.set_params(c=1)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_of_fitted_models(blobs, duplicate):
    X, y = blobs
    model = mg.HierarchicalSVM().fit(X, y)
    twin = duplicate(model)
    assert (twin.decision_function(X) == model.decision_function(X)).all()
    assert twin.taxonomy_ == model.taxonomy_
    assert (twin.fit(X, y).weights_ == model.weights_).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("C", 0), ("C", "1"), ("C", True), ("C", np.inf), ("C", None), ("tol", -1e-3), ("tol", np.nan),
        ("max_iter", -1), ("max_iter", 10.5), ("loss", "log"), ("sharing", 2),
        ("slack", "both"), ("slack", None), ("kernel", "rbf"),
        ("cost", "free"), ("attributes", "none"), ("taxonomy", "flatt"), ("taxonomy", {"a": ["b"]}),
    ],
)  # fmt: skip
def test_wrong_parameters_are_named(blobs, name, value):
    named = name in ("cost", "attributes", "kernel")
    with pytest.raises(ValueError, match=repr(value) if named else name):
        mg.HierarchicalSVM(**{name: value}).fit(*blobs)


def test_numpy_numbers_are_numbers(blobs):
    model = mg.HierarchicalSVM(C=np.float32(1), tol=np.float64(0.01), max_iter=np.int64(100))
    assert model.fit(*blobs).certificate_.status == "converged"
