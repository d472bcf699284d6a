"""Every method trains and predicts from the command line; wrong settings are named."""

from __future__ import annotations

import re

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


def test_psi_learning_with_costs(call, shop, tmp_path):
    target = tmp_path / "m.mg"
    settings = ["loss=psi", "fit_intercept=false", "C=20", "target_cost=h-loss"]
    options = [part for setting in settings for part in ("--set", setting)]
    assert train(call, shop, target, "--method", "path-margin-svm", *options).status == 0
    model = mg.load(target).classifier
    assert (model.loss, model.fit_intercept, model.target_cost) == ("psi", False, "h-loss")
    result = train(call, shop, target, "--method", "path-margin-svm", "--set", "target_cost=dear")
    assert result.status == 2
    assert "--target_cost: no cost is called 'dear'" in result.err


COSTS = "right,apple,banana,0111\napple,0,1,3\nbanana,1,0,3\n0111,1,2,0\n"


@pytest.mark.parametrize(
    ("method", "more"), [("cost-sensitive-svm", ["--set", "method=ranked"]), ("hierarchical-svm", [])]
)
def test_costs_from_a_file(call, shop, tmp_path, method, more):
    (tmp_path / "costs.csv").write_text(COSTS)
    target = tmp_path / "m.mg"
    result = train(call, shop, target, "--method", method, "--cost", tmp_path / "costs.csv", *more)
    assert result.status == 0, result.err
    model = mg.load(target).classifier
    expected = [[0, 1, 2], [3, 0, 1], [3, 1, 0]]  # in the order of 0111, apple, banana
    if method == "cost-sensitive-svm":
        assert model.costs_.tolist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (COSTS.replace("3", "dear"), "costs.csv, row 2, column '0111': 'dear' is not a number"),
        (COSTS.replace("banana,1", "pear,1"), "costs.csv, row 3: expected a class of the first row"),
        (COSTS[: COSTS.index("0111,1")], "costs.csv: expected a row and a column for each class"),
        (COSTS.replace("3\n", "3,4\n"), "costs.csv, row 2: expected a class of the first row, once, and 3"),
        ("", "costs.csv: expected a row and a column for each class"),
    ],
)
def test_wrong_files_of_costs_are_named(call, shop, tmp_path, text, message):
    (tmp_path / "costs.csv").write_text(text)
    result = train(call, shop, tmp_path / "m.mg", "--cost", tmp_path / "costs.csv")
    assert result.status == 65
    assert message in " ".join(result.err.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "gama=1"], "--gama is no option of hierarchical-svm, which has: C,"),
        (["--set", "taxonomy=none"], "a taxonomy is given by --taxonomy FILE"),
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


def test_weights_of_levels_are_learned_and_shown(call, shop, tmp_path):
    target = tmp_path / "m.mg"
    assert train(call, shop, target, "--attributes", "learned", "--set", "sharing=0.5").status == 0
    shown = " ".join(call("info", target).out.split())
    assert re.search(r"weights own \d+\.\d%, level 1 \d+\.\d%", shown)
    weights = dict(call("info", target, "--json").json["attribute_weights"])
    assert weights == mg.load(target).classifier.attribute_weights_
