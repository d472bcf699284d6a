"""Docstrings tell of every parameter, and of every attribute that a fit leaves."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import margrove as mg

ESTIMATORS = [name for name in mg.__all__ if hasattr(getattr(mg, name), "get_params")]
AROUND = ("CalibratedTaxonomyClassifier", "PathSearch")  # another estimator
OF_ALL = {"n_features_in_", "feature_names_in_"}  # scikit-learn's


def undocumented(estimator_class, names):
    text = inspect.getdoc(estimator_class)
    return {name for name in names if not re.search(rf"\b{name}\b", text)}


def test_there_are_estimators():
    assert len(ESTIMATORS) >= 12


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters(name):
    estimator_class = getattr(mg, name)
    assert not undocumented(estimator_class, estimator_class._get_param_names())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_attributes_of_a_fit(name):
    estimator_class = getattr(mg, name)
    model = estimator_class(mg.HierarchicalSVM()) if name in AROUND else estimator_class()
    labels = np.array(["a/x", "b/y", "a/z", "b/w"] * 10)
    model.fit(np.random.default_rng(0).normal(size=(40, 3)), labels)
    properties = [key for key, _ in inspect.getmembers(estimator_class, lambda v: isinstance(v, property))]
    left = {key for key in [*vars(model), *properties] if re.fullmatch(r"[a-z]\w*_", key)}
    unset = {"intercept_"} if getattr(model, "intercept_", None) is None else set()
    assert not undocumented(estimator_class, left - OF_ALL - unset)


def test_the_package_tells_of_all_its_names():
    assert not undocumented(mg, mg.__all__)
