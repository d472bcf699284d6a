from __future__ import annotations

import json
from pathlib import Path

import pytest

import margrove as mg


def train(call, shop: Path, target: Path, *more: str | Path):
    return call("train", shop / "data.csv", "--text", "title", "--label", "category", "-o", target, *more)


def test_a_model_file_that_python_loads(shop):
    model = mg.load(shop / "model.mg")
    assert list(model.predict({"title": ["a red apple", "raw carrot soup"]})) == ["apple", "0111"]


def test_it_says_what_was_read_and_detected(call, shop, tmp_path):
    result = train(call, shop, tmp_path / "m.mg", "--taxonomy", shop / "taxonomy.csv")
    assert result.status == 0
    assert "edge list CSV, columns parent, child" in result.err
    assert "12 rows read = 12 used + 0 rejected" in result.err
    assert "title: text" in result.err
    assert "id: left out" in result.err
    assert "3 classes from 12 rows" in " ".join(result.out.split())
    assert "certificate" in result.out


def test_json(call, shop, tmp_path):
    result = train(call, shop, tmp_path / "m.mg", "--taxonomy", shop / "taxonomy.csv", "--json")
    summary = result.json
    assert summary["read"] == summary["used"] + summary["rejected"] == 12
    assert summary["certificate"]["dual"] <= summary["certificate"]["primal"]
    assert summary["model"] == str(tmp_path / "m.mg")


def test_options_reach_the_estimator_and_others_keep_its_defaults(call, shop, tmp_path):
    target = tmp_path / "m.mg"
    options = ["--C", "0.5", "--slack", "pair", "--tol", "0.1", "--seed", "3", "--words", "1"]
    assert train(call, shop, target, *options).status == 0
    model = mg.load(target)
    given = {"C": 0.5, "slack": "pair", "tol": 0.1, "random_state": 3}
    defaults = mg.HierarchicalSVM().get_params()
    parameters = model.classifier.get_params()
    for name in defaults.keys() - {"taxonomy"}:
        assert parameters[name] == given.get(name, defaults[name]), name
    assert model.features.ngram_range == (1, 1)


@pytest.mark.parametrize("options", [["--method", "flat"], ["--taxonomy", "none"]])
def test_flat_takes_labels_as_they_are(call, tmp_path, options):
    data = tmp_path / "data.csv"
    data.write_text("title,category\n" + "red apple,a/b\ngreen pear,a/c\nraw carrot,d\n" * 3)
    target = tmp_path / "m.mg"
    result = call("train", data, "--text", "title", "--label", "category", "-o", target, *options)
    assert result.status == 0, result.err
    taxonomy = mg.load(target).classifier.taxonomy_
    assert sorted(map(str, taxonomy.children(taxonomy.root))) == ["a/b", "a/c", "d"]


def test_several_label_columns_are_levels(call, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text(
        "title,top,sub\n" + "red apple,fruit,apple\nripe banana,fruit,banana\nany other,fruit,\n" * 3
    )
    target = tmp_path / "m.mg"
    arguments = ["train", data, "--text", "title", "--label", "top", "--label", "sub", "-o", target]
    assert call(*arguments, "--taxonomy", "none").status == 0
    assert mg.load(target).classifier.taxonomy_.depths.max() == 1
    assert call(*arguments).status == 0
    result = call("predict", target, data)
    assert result.status == 0, result.err
    assert result.out.splitlines()[1:4] == ["2,fruit/apple", "3,fruit/banana", "4,fruit"]
    assert call("evaluate", target, data, "--fail-under", "one_accuracy=1").status == 0


def test_several_labels_in_a_cell(call, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("title,tags\n" + "red apple,red;fruit\nripe banana,fruit\nred carrot,red\n" * 20)
    target = tmp_path / "m.mg"
    options = ["--text", "title", "--label", "tags", "--label-separator", ";", "-o", target]
    result = call("train", data, *options)
    assert result.status == 0, result.err
    result = call("predict", target, data, "--scores", "--output-format", "jsonl")
    first = json.loads(result.out.splitlines()[0])
    assert sorted(first["prediction"]) == ["fruit", "red"]
    assert len(first["score"]) == 2
    measured = call("evaluate", target, data, "--json")
    assert measured.json["multilabel"] is True
    assert measured.json["one_accuracy"] == 1


def test_rejected_rows_are_counted_and_kept(call, tmp_path, shop):
    data = tmp_path / "data.csv"
    data.write_text((shop / "data.csv").read_text() + "13,no label,\n14,too,many,cells\n")
    options = ["--text", "title", "--label", "category", "-o", tmp_path / "m.mg"]
    stopped = call("train", data, *options)
    assert stopped.status == 65
    assert "line 14" in stopped.err
    assert "line 15" in stopped.err
    assert not (tmp_path / "m.mg").exists()
    skipped = call("train", data, *options, "--on-error", "skip", "--rejects", tmp_path / "bad.csv")
    assert skipped.status == 0
    assert "14 rows read = 12 used + 2 rejected" in skipped.err
    assert (tmp_path / "bad.csv").read_text().splitlines()[1].startswith("14,")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--C", "-1"),
        ("--C", "nan"),
        ("--tol", "0"),
        ("--cost", "free"),
        ("--attributes", "none"),
    ],
)
def test_an_option_without_sense_is_a_wrong_call(call, shop, tmp_path, option, value):
    result = train(call, shop, tmp_path / "m.mg", option, value)
    assert result.status == 2
    assert option in result.err
    assert "expected" in result.err


def test_a_column_cannot_be_label_and_feature(call, shop, tmp_path):
    result = train(call, shop, tmp_path / "m.mg", "--text", "category")
    assert result.status == 2
    assert "'category' cannot be a label and a feature" in result.err


def test_the_output_is_checked_before_the_work(call, shop, tmp_path):
    for target in (tmp_path / "no" / "such" / "m.mg", tmp_path):
        result = train(call, shop, target)
        assert result.status == 73
        assert "rows read" not in result.err


def test_no_input_is_overwritten(call, shop):
    result = train(call, shop, shop / "data.csv")
    assert result.status == 2
    assert (shop / "data.csv").read_text().startswith("id,title")


def test_a_label_that_the_taxonomy_lacks(call, shop, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text((shop / "data.csv").read_text().replace("banana\n", "bananna\n"))
    options = ["--text", "title", "--label", "category", "--taxonomy", shop / "taxonomy.csv"]
    result = call("train", data, *options, "-o", tmp_path / "m.mg")
    assert result.status == 65
    assert "line 6: the label 'bananna'" in result.err
    assert "the label 'bananna' is not in the taxonomy; did you mean 'banana'?" in result.err
    assert not (tmp_path / "m.mg").exists()


def test_rows_with_such_labels_can_be_set_aside(call, shop, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text((shop / "data.csv").read_text().replace("banana\n", "bananna\n"))
    options = ["--text", "title", "--label", "category", "--taxonomy", shop / "taxonomy.csv"]
    rejects = tmp_path / "rejects.csv"
    result = call(
        "train", data, *options, "-o", tmp_path / "m.mg", "--on-error", "skip", "--rejects", rejects
    )
    assert result.status == 0
    lines = rejects.read_text().splitlines()[1:]
    assert lines
    assert all("'bananna' is not in the taxonomy" in line for line in lines)
    assert f"{len(lines)} rejected" in result.err


def test_descriptions_let_a_class_without_a_row_be_predicted(call, shop, tmp_path):
    (tmp_path / "about.csv").write_text(
        "class,title,more\napple,round fruit,red or green\nbanana,yellow fruit,\n"
        "0111,orange vegetable,raw or cooked\nleek,green vegetable,raw or cooked\n"
    )
    target = tmp_path / "m.mg"
    arguments = ["train", shop / "data.csv", "--text", "title", "--label", "category", "-o", target]
    arguments += ["--taxonomy", shop / "taxonomy.csv", "--set", "classes=taxonomy"]
    for more in ([], ["--attributes", "learned"], ["--attributes", "ancestors"]):
        result = call(*arguments, "--descriptions", tmp_path / "about.csv", *more)
        assert result.status == 0, result.err
        assert "descriptions of 4 classes in 'title', 'more'" in result.err
        assert "leek" in mg.load(target).classifier.classes_
    assert call("predict", target, shop / "data.csv").status == 0
    (tmp_path / "about.csv").write_text("class,text\nappel,round\n")
    result = call(*arguments, "--descriptions", tmp_path / "about.csv")
    assert result.status == 65
    assert "did you mean 'apple'" in result.err
    (tmp_path / "about.csv").write_text("class,text\napple,round\napple,red\n")
    result = call(*arguments, "--descriptions", tmp_path / "about.csv")
    assert "line 3 of" in result.err
    assert "'apple' is described twice" in result.err
