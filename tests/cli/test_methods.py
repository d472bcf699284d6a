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


def test_weights_of_levels_are_learned_and_shown(call, shop, tmp_path):
    target = tmp_path / "m.mg"
    assert train(call, shop, target, "--attributes", "learned", "--set", "sharing=0.5").status == 0
    shown = " ".join(call("info", target).out.split())
    assert re.search(r"weights own \d+\.\d%, level 1 \d+\.\d%", shown)
    weights = dict(call("info", target, "--json").json["attribute_weights"])
    assert weights == mg.load(target).classifier.attribute_weights_
