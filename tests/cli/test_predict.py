from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import pyarrow.parquet
import pytest

NEW = "id,title\n007,a red apple\n008,yellow banana\n009,carrot soup\n"
EXPECTED = ["apple", "banana", "0111"]


@pytest.fixture
def new(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text(NEW)
    return path


def test_standard_output_has_one_line_a_row(call, shop, new):
    result = call("predict", shop / "model.mg", new)
    assert result.status == 0
    assert result.out == "line,prediction\n2,apple\n3,banana\n4,0111\n"


def test_kept_columns_and_scores(call, shop, new):
    result = call("predict", shop / "model.mg", new, "--keep", "id", "--top", "2", "--scores")
    table = list(csv.DictReader(io.StringIO(result.out)))
    assert [row["id"] for row in table] == ["007", "008", "009"]
    assert [row["prediction_1"] for row in table] == EXPECTED
    assert all(float(row["score_1"]) > float(row["score_2"]) for row in table)


def test_the_name_of_the_output_says_its_format(call, shop, new, tmp_path):
    for name in ("out.csv", "out.tsv", "out.jsonl", "out.parquet"):
        assert call("predict", shop / "model.mg", new, "-o", tmp_path / name).status == 0
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "2,apple"
    assert (tmp_path / "out.tsv").read_text().splitlines()[1] == "2\tapple"
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(lines[2]) == {"line": 4, "prediction": "0111"}
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet").column("prediction").to_pylist() == EXPECTED


def test_scores_that_json_lacks_are_null(call, tmp_path):
    (tmp_path / "rows.csv").write_text("title,label\nred,a/b\nblue,a\nred red,a/b\ngreen,c\n")
    training = ("train", tmp_path / "rows.csv", "--label", "label", "--text", "title")
    assert call(*training, "--method", "divide-and-conquer-svm", "-o", tmp_path / "m.mg").status == 0
    options = ("--top", "3", "--scores", "--output-format", "jsonl")
    lines = call("predict", tmp_path / "m.mg", tmp_path / "rows.csv", *options).out.splitlines()
    row = json.loads(lines[0], parse_constant=pytest.fail)
    assert (row["prediction_3"], row["score_3"]) == ("a", None)


def test_top_beyond_the_number_of_classes(call, shop, new):
    header = call("predict", shop / "model.mg", new, "--top", "99").out.splitlines()[0]
    assert header.startswith("line,prediction_1,prediction_2,prediction_3")


def test_a_table_without_rows(call, shop, tmp_path):
    (tmp_path / "none.csv").write_text("title\n")
    assert call("predict", shop / "model.mg", tmp_path / "none.csv").out == "line,prediction\n"


def test_a_kept_column_cannot_hide_the_prediction(call, shop, tmp_path):
    (tmp_path / "new.csv").write_text("title,prediction\nred apple,x\n")
    assert call("predict", shop / "model.mg", tmp_path / "new.csv", "--keep", "prediction").status == 2


def test_a_column_of_training_is_missing(call, shop, tmp_path):
    (tmp_path / "new.csv").write_text("titel\nred apple\n")
    result = call("predict", shop / "model.mg", tmp_path / "new.csv")
    assert result.status == 65
    assert "did you mean 'titel'" in result.err


def test_bad_rows_are_set_aside(call, shop, tmp_path):
    (tmp_path / "new.csv").write_text(NEW + "010\n")
    options = ["--on-error", "skip", "--rejects", tmp_path / "bad.csv"]
    result = call("predict", shop / "model.mg", tmp_path / "new.csv", *options)
    assert "4 rows read = 3 used + 1 rejected" in result.err
    assert len(result.out.splitlines()) == 4
    assert "\n5," in (tmp_path / "bad.csv").read_text()


def test_prediction_loads_no_numba(shop, new, tmp_path):
    program = (
        "import sys; from margrove.cli import main; status = main(sys.argv[1:]); "
        "sys.exit(99 if 'numba' in sys.modules else status)"
    )
    arguments = ["predict", str(shop / "model.mg"), str(new), "-o", str(tmp_path / "out.csv"), "--top", "2"]
    assert subprocess.run([sys.executable, "-c", program, *arguments], check=False).returncode == 0


def test_a_reader_that_goes_away(shop, tmp_path):
    many = tmp_path / "many.csv"
    many.write_text("title\n" + "red apple\n" * 50_000)
    program = [sys.executable, "-m", "margrove", "predict", str(shop / "model.mg")]
    process = subprocess.Popen([*program, str(many)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"line,prediction\n"
    process.stdout.close()
    messages = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert b"Broken" not in messages
    assert b"Traceback" not in messages


def test_standard_input(shop):
    program = [sys.executable, "-m", "margrove", "predict", str(shop / "model.mg"), "-"]
    done = subprocess.run(program, input=NEW.encode(), capture_output=True, check=True)
    assert done.stdout.decode().splitlines()[1:] == ["2,apple", "3,banana", "4,0111"]
