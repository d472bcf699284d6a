from __future__ import annotations

import pytest


def test_measures_as_a_table_and_as_json(call, shop):
    shown = call("evaluate", shop / "model.mg", shop / "data.csv")
    measures = call("evaluate", shop / "model.mg", shop / "data.csv", "--json").json
    assert measures["one_accuracy"] == 1
    assert measures["accuracy_by_level"] == {"1": 1, "2": 1}
    assert measures["average_precision"] == 1
    assert "accuracy_by_level.2" in shown.out
    assert "average_precision" in shown.out


def test_without_the_ranking(call, shop):
    measures = call("evaluate", shop / "model.mg", shop / "data.csv", "--json", "--no-ranking").json
    assert "average_precision" not in measures
    assert measures["tree_loss"] == 0


@pytest.mark.parametrize(
    ("gate", "status"),
    [
        (["--fail-under", "one_accuracy=1"], 0),
        (["--fail-under", "one_accuracy=1.01"], 1),
        (["--fail-under", "accuracy_by_level.1=1"], 0),
        (["--fail-under", "accuracy_by_level.1=2"], 1),
        (["--fail-over", "tree_loss=0"], 0),
        (["--fail-over", "tree_loss=-1"], 1),
        (["--fail-under", "one_accuracy=1", "--fail-over", "tree_loss=-1"], 1),
        (["--fail-under", "one_accuracy=nan"], 1),
        (["--fail-under", "accuracy"], 2),
        (["--fail-under", "accuracy=high"], 2),
        (["--fail-under", "no_such=1"], 2),
    ],
)
def test_gates(call, shop, gate, status):
    result = call("evaluate", shop / "model.mg", shop / "data.csv", *gate)
    assert result.status == status
    assert bool(status) == ("error" in result.err.lower())


def test_a_missed_gate_still_prints_the_measures(call, shop):
    result = call(
        "evaluate", shop / "model.mg", shop / "data.csv", "--json", "--fail-under", "one_accuracy=2"
    )
    assert result.json["rows"] == 12
    assert "one_accuracy is 1, expected at least 2" in result.err


def test_a_class_unseen_in_training_ranks_last(call, shop, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("title,category\nred apple,apple\ngreen leek,leek\n")
    measures = call("evaluate", shop / "model.mg", data, "--json").json
    assert measures["one_accuracy"] == 0.5
    assert measures["ranking_loss"] == 0.5


def test_other_label_column(call, shop, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("title,truth\nred apple,banana\n")
    assert call("evaluate", shop / "model.mg", data).status == 65
    unknown = call("evaluate", shop / "model.mg", data, "--label", "title")
    assert unknown.status == 65
    assert "line 2: the label 'red apple' is not in the taxonomy" in unknown.err
    measures = call("evaluate", shop / "model.mg", data, "--label", "truth", "--json").json
    assert measures["one_accuracy"] == 0


def test_nothing_to_measure_on(call, shop, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("title,category\n")
    result = call("evaluate", shop / "model.mg", data)
    assert result.status == 65
    assert "no rows to measure on" in result.err


def test_rows_with_unknown_labels_can_be_set_aside(call, shop, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("title,category\nred apple,apple\nred apple,appel\n")
    measures = call("evaluate", shop / "model.mg", data, "--on-error", "skip", "--json").json
    assert (measures["rows"], measures["one_accuracy"]) == (1, 1.0)
