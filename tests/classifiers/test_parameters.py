"""What no parameter can be is an error that names it, whatever the estimator."""

from __future__ import annotations

import numpy as np
import pytest

import margrove as mg
from margrove.errors import LabelError

ESTIMATORS = [
    mg.CostSensitiveSVM,
    mg.DivideAndConquerSVM,
    mg.HierarchicalPerceptron,
    mg.HierarchicalSVM,
    mg.Hieron,
    mg.OrthogonalTransferSVM,
    mg.PathMarginSVM,
    mg.SubtreePerceptron,
    mg.SubtreeSVM,
    mg.TransferSVM,
]
SWITCHES = {"average", "averaged", "calibrate", "fit_intercept", "shuffle", "warm_start"}
X, Y = np.eye(4), ["a/b", "a/c", "d", "d"]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_switch_is_true_or_false(estimator):
    for name in sorted(SWITCHES & set(estimator().get_params())):
        with pytest.raises(ValueError, match=f"{name} is 'no'; expected True or False"):
            estimator(**{name: "no"}).fit(X, Y)


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_cache_has_a_size(estimator, kernel):
    with pytest.raises(ValueError, match="cache_size is -1; expected a finite number of at least 0"):
        estimator(kernel=kernel, cache_size=-1).fit(X, Y)


def test_alpha_is_a_number_or_found():
    with pytest.raises(ValueError, match="alpha is 'large'; expected a finite number above 0, or 'auto'"):
        mg.OrthogonalTransferSVM(alpha="large").fit(X, Y)


@pytest.mark.parametrize("estimator", [mg.PathMarginSVM, mg.SubtreePerceptron])
def test_the_root_as_a_label_is_shown_as_text(estimator):
    taxonomy = mg.Taxonomy.from_dict({"top": ["a", "b"]})
    with pytest.raises(LabelError, match="the label 'top' is the root"):
        estimator(taxonomy).fit(X, np.array(["a", "b", "top", "a"]))


@pytest.mark.parametrize("estimator", [mg.HierarchicalSVM, mg.SubtreeSVM])
def test_numpys_labels_in_lists_are_plain_ones(estimator, tmp_path):
    sets = [[label] for label in np.array([3, 1, 2, 2])]
    model = estimator().fit(X, sets)
    assert {type(label) for labels in model.predict(X) for label in labels} == {int}
    model.save(tmp_path / "model.mg")
    assert mg.load(tmp_path / "model.mg").predict(X) == model.predict(X)
