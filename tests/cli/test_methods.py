"""Every method trains and predicts from the command line; wrong settings are named."""

from __future__ import annotations

import pytest

import margrove as mg
from margrove.cli.methods import METHODS


def train(call, shop, target, *more):
    return call(
        "train", shop / "data.csv", "--text", "title", "--label", "category",
        "--taxonomy", shop / "taxonomy.csv", "-o", target, *more,
    )  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_every_method(call, shop, tmp_path, method):
    target = tmp_path / "m.mg"
    result = train(call, shop, target, "--method", method)
    assert result.status == 0, result.err
    assert type(mg.load(target).classifier).__name__ == METHODS[method]
    predicted = call("predict", target, shop / "data.csv")
    assert predicted.status == 0, predicted.err
    result = call("evaluate", target, shop / "data.csv", "--json")
    assert result.status == 0, result.err
    assert call("info", target).status == 0


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_probabilities(call, shop, tmp_path, method):
    target = tmp_path / "m.mg"
    assert train(call, shop, target, "--method", method, "--probabilities").status == 0
    model = mg.load(target).classifier
    assert type(model.estimator_).__name__ == METHODS[method]
    assert "probabilities" in call("info", target).out
    assert call("info", target, "--json").json["probabilities"] == {"folds": 5, "decode": "best-path"}
    scored = call("predict", target, shop / "data.csv", "--scores").out.splitlines()[1:]
    assert all(0 < float(line.rpartition(",")[2]) <= 1 for line in scored)
    sure = call("predict", target, shop / "data.csv", "--confidence", "1", "--scores").out.splitlines()[1:]
    assert {line.split(",")[1] for line in sure} <= {model.taxonomy_.root}
    measures = call("evaluate", target, shop / "data.csv", "--confidence", "0.5", "--json").json
    assert measures["containment"] >= measures["classes_predicted"] * measures["one_accuracy"] >= 0
    assert set(measures["calibration_error_by_level"]) == set(
        map(str, range(1, model.taxonomy_.depths.max() + 1))
    )


def test_confidence_needs_probabilities(call, shop):
    for command in ("predict", "evaluate"):
        result = call(command, shop / "model.mg", shop / "data.csv", "--confidence", "0.9")
        assert result.status == 2
        assert "train --probabilities" in " ".join(result.err.split())
    assert call("predict", shop / "model.mg", shop / "data.csv", "--confidence", "2").status == 2
    both = call("predict", shop / "model.mg", shop / "data.csv", "--confidence", "0.9", "--top", "2")
    assert both.status == 2


def test_any_setting(call, shop, tmp_path):
    target = tmp_path / "m.mg"
    settings = ["warm_start=true", "tol=0.5", "kernel=gaussian", "max_iter=7"]
    options = [part for setting in settings for part in ("--set", setting)]
    assert train(call, shop, target, *options).status == 0
    model = mg.load(target).classifier
    assert (model.warm_start, model.tol, model.kernel, model.max_iter) == (True, 0.5, "gaussian", 7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "gama=1"], "--gama is no option of hierarchical-svm, which has: C,"),
        (["--set", "gamma"], "--set gamma: expected NAME=VALUE"),
        (["--kernel", "gausian"], "--kernel: no similarity is called 'gausian'"),
        (["--set", "tol=soon"], "tol is 'soon'"),
        (["--method", "magic"], "'magic'"),
    ],
)
def test_wrong_settings_are_named(call, shop, tmp_path, options, message):
    result = train(call, shop, tmp_path / "m.mg", *options)
    assert result.status == 2
    assert message in " ".join(result.err.split())
