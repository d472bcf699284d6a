"""Tables are read whole: every record is used or rejected, at its line, as it was."""

from __future__ import annotations

import csv
import io
import json
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margrove.errors import DataError
from margrove.tables.labels import table_labels
from margrove.tables.read import read_table
from margrove.tables.table import as_table


def read(content: str | bytes, **options):
    raw = content.encode() if isinstance(content, str) else content
    return read_table(io.BytesIO(raw), **options)


def rows(table) -> list[dict]:
    return table.data.to_pylist()


def read_rejects(path) -> list[tuple[int, str, bytes]]:
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    header, *found = csv.reader(io.StringIO(text, newline=""))
    assert header == ["line", "reason", "row"]
    return [(int(line), reason, row.encode("utf-8", "surrogateescape")) for line, reason, row in found]


def test_labels_stay_text():
    table = read("text,label\na,0111\nb,NA\nc,None\nd,null\ne,1e3\nf, x \n", labels=["label"])
    assert table_labels(table, "label") == ["0111", "NA", "None", "null", "1e3", " x "]


def test_every_kind_of_bad_row(tmp_path):
    content = (
        b"title,age,label\n"
        b"fine,1,x\n"
        b"short,2\n"
        b"long,3,x,y\n"
        b"caf\xe9,4,x\n"
        b"none,5,\n"
        b"blank,6,  \n"
        b"\n"
        b'"two\nlines",7,x\n'
        b"old,eight,x\n"
        b'"ab"c,9,x\n'
        b"nul\0,10,x\n"
        b"a\rb,11,x\n"
        b"fine,,x\r\n"
        b"\n\n"
    )
    rejects = tmp_path / "rejects.csv"
    table = read(content, labels=["label"], numeric=["age"], on_error="skip", rejects=rejects)
    assert table.line_numbers.tolist() == [2, 9, 15]
    assert rows(table) == [
        {"title": "fine", "age": "1", "label": "x"},
        {"title": "two\nlines", "age": "7", "label": "x"},
        {"title": "fine", "age": None, "label": "x"},
    ]
    reasons = {row.line: row.reason for row in table.rejected}
    assert reasons == {
        3: "it has 2 cells where the header has 3",
        4: "it has 4 cells where the header has 3",
        5: "byte 0xe9 at position 4 is not utf-8",
        6: "it has no label in column 'label'",
        7: "it has no label in column 'label'",
        11: "column 'age' has to hold a finite number, not 'eight'",
        12: "its quotes are wrong (',' expected after '\"')",
        13: "it contains a NUL character",
        14: "a carriage return stands within the line",
    }
    assert table.n_read == 12
    physical = content.split(b"\n")
    assert read_rejects(rejects) == [(line, why, physical[line - 1]) for line, why in reasons.items()]

    rejects.unlink()
    with pytest.raises(DataError, match=r"9 of the 12 rows") as caught:
        read(content, labels=["label"], numeric=["age"], rejects=rejects)
    assert "line 3: it has 2 cells" in str(caught.value)
    assert "and 4 more" in str(caught.value)
    assert len(read_rejects(rejects)) == 9


def test_rejects_of_several_lines_are_kept_whole(tmp_path):
    table = read('a,b\n"x\n""y""\r\nz",1,2\nu,v\n', on_error="skip", rejects=tmp_path / "r.csv")
    assert rows(table) == [{"a": "u", "b": "v"}]
    assert table.line_numbers.tolist() == [5]
    assert table.rejected[0].content == b'"x\n""y""\r\nz",1,2\n'
    assert read_rejects(tmp_path / "r.csv")[0][2] == b'"x\n""y""\r\nz",1,2'


def test_a_quote_that_never_closes_swallows_nothing():
    table = read('a,b\n1,2\n"3,4\n5,6\n"7",8\n9,10\n', on_error="skip")
    assert [row["a"] for row in rows(table)] == ["1", "5", "7", "9"]
    assert [(row.line, row.content) for row in table.rejected] == [(3, b'"3,4\n')]
    table = read('a,b\n1,2\n"3,4\n5,6\n', on_error="skip")
    assert [row["a"] for row in rows(table)] == ["1", "5"]
    assert [row.line for row in table.rejected] == [3]


def test_quotes_within_cells_are_text():
    assert rows(read('a,b\n5" pipe,x\n"6"" pipe",y\n')) == [
        {"a": '5" pipe', "b": "x"},
        {"a": '6" pipe', "b": "y"},
    ]


def test_an_undecodable_line_within_a_quoted_record():
    table = read(b'a,b\n"x\n\xff",1\ny,2\n', on_error="skip")
    assert [(row.line, row.content) for row in table.rejected] == [(2, b'"x\n\xff",1\n')]
    assert rows(table) == [{"a": "y", "b": "2"}]


def test_very_long_cells():
    long = "x" * 300_000
    assert rows(read(f'a,b\n{long},"{long},"\n')) == [{"a": long, "b": long + ","}]


def test_byte_order_mark_and_line_ends():
    assert rows(read(b'\xef\xbb\xbfa,b\r\n"x\r\ny",2\r\n3,4')) == [
        {"a": "x\r\ny", "b": "2"},
        {"a": "3", "b": "4"},
    ]


def test_another_encoding():
    assert rows(read("a,b\ncafé,x\n".encode("cp1252"), encoding="cp1252")) == [{"a": "café", "b": "x"}]


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0\r")).filter(
    lambda text: text.strip() or not text
)


@settings(deadline=None)
@given(
    st.lists(st.lists(cells, min_size=3, max_size=3)),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(",\t;|"),
)
def test_whatever_the_csv_module_writes_is_read(table_rows, end, delimiter):
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=end, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL)
    writer.writerow(["a", "b", "c"])
    starts = []
    for row in table_rows:
        starts.append(out.getvalue().count("\n") + 1)
        writer.writerow(row)
    table = read(out.getvalue())
    assert [list(row.values()) for row in rows(table)] == [
        [cell or None for cell in row] for row in table_rows
    ]
    assert table.line_numbers.tolist() == starts


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"a", b"b", b",", b'"', b"\n", b"\r\n", b"\xff", b"\0", b" "]), max_size=60))
def test_every_byte_is_used_or_rejected(pieces):
    body = b"".join(pieces)
    table = read(b"p,q\n" + body, on_error="skip", labels=["q"])
    assert table.n_read == len(table) + len(table.rejected)
    lines = body.splitlines(keepends=True) if b"\r" not in body else body.split(b"\n")
    starts = sorted([*table.line_numbers.tolist(), *(row.line for row in table.rejected)])
    assert len(set(starts)) == len(starts)
    for row in table.rejected:
        start = sum(len(line) for line in io.BytesIO(b"p,q\n" + body).readlines()[: row.line - 1])
        assert (b"p,q\n" + body)[start:].startswith(row.content)
    assert len(starts) <= len(lines)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b,a\n", "several columns are called 'a'"),
        (b",text,label\n", "column 1 has no name"),
        (b"text,labels\n", "has no column 'label'; did you mean 'labels'"),
        (b'te"xt,"label\n', "line 1 of the stream does not name columns"),
        (b"caf\xe9,label\n", "line 1 of the stream does not name columns: byte 0xe9"),
        ("text,label\n".encode("utf-16"), "UTF-16"),
        (b"\x1f\x8b\x08...", "gzip"),
        (b"PK\x03\x04....", "Excel"),
    ],
)
def test_headers_that_will_not_do(content, message):
    with pytest.raises(DataError, match=message):
        read(content, labels=["label"])


def test_a_header_alone_is_a_table_without_rows():
    table = read("text,label\n", labels=["label"])
    assert len(table) == table.n_read == 0
    assert table.column_names == ["text", "label"]


@pytest.mark.parametrize(
    "options",
    [
        {"format": "xls"},
        {"delimiter": ",,"},
        {"delimiter": '"'},
        {"encoding": "utf-16"},
        {"encoding": "?"},
        {"on_error": "pad"},
    ],
)
def test_wrong_options(options):
    with pytest.raises(ValueError, match="has to"):
        read("a\n", **options)


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_the_delimiter_is_found(delimiter, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(delimiter.join(['"a,;b"', "label"]) + "\n" + delimiter.join(["1", "2"]) + "\n")
    table = read_table(path)
    assert rows(table) == [{"a,;b": "1", "label": "2"}]
    assert repr(delimiter) in table.layout


@pytest.mark.parametrize("name", ["data.jsonl", "data"])
def test_json_lines(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(
        b'{"text": "a", "label": 111, "n": 1}\n'
        b'{"text": "b", "label": "NA", "extra": true, "n": 2.5}\n'
        b"\n"
        b'{"text": "c"}\n'
        b'{"text": "d", "label": ""}\n'
        b"[1]\n"
        b'{"text": NaN, "label": "x"}\n'
        b'{"text": "e", "label": "x", "label": "y"}\n'
        b"{\n"
        b'{"text": "\xff", "label": "x"}\n' + b"[" * 100_000 + b"\n"
        b'{"text": "half a pair \\ud83d", "label": "x"}\n'
        b'{"text": "a pair \\ud83d\\ude00", "label": "x"}\n'
    )
    table = read_table(path, labels=["label"], on_error="skip")
    assert rows(table) == [
        {"text": "a", "label": "111", "n": 1.0, "extra": None},
        {"text": "b", "label": "NA", "n": 2.5, "extra": True},
        {"text": "a pair 😀", "label": "x", "n": None, "extra": None},
    ]
    assert [row.line for row in table.rejected] == [4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert table.n_read == 12
    with pytest.raises(DataError, match=r"line 4: it has no label in column 'label'"):
        read_table(path, labels=["label"])
    with pytest.raises(DataError, match="did you mean 'label'"):
        read_table(path, labels=["labels"])


def test_json_numbers_and_nests_of_any_size():
    nest = "[" * 400 + "1" + "]" * 400
    table = read(f'{{"a": {2**70}, "b": {nest}}}\n{{"a": 1, "b": {{}}}}\n')
    assert table.texts("a") == [str(2**70), "1"]
    assert table.texts("b") == [nest, "{}"]


def test_json_lines_of_mixed_types_become_text():
    table = read(
        '{"a": 1, "l": ["x", "y"]}\n{"a": "b", "l": "z"}\n{"a": {"k": 1}, "l": ["x", "x"]}\n', labels=["l"]
    )
    assert table.texts("a") == ["1", "b", '{"k": 1}']
    assert table_labels(table, "l") == [["x", "y"], ["z"], ["x"]]


def test_a_label_column_named_twice():
    with pytest.raises(ValueError, match="'l' is named twice"):
        read("l,a\nx,y\n", labels=["l", "l"])


def test_a_parse_error_names_the_place_in_its_line():
    table = read('{"a": 1}\n{"a" 2}\n', format="jsonl", on_error="skip")
    assert table.rejected[0].reason == "it is not JSON: Expecting ':' delimiter at position 6"


def test_parquet(tmp_path):
    path = tmp_path / "data.parquet"
    data = pa.table(
        {
            "text": pa.array(["a", "b", "c"]).dictionary_encode(),
            "day": pa.array([0, 1, None], type=pa.date32()),
            "label": pa.array([111, None, 7]),
        }
    )
    pa.parquet.write_table(data, path)
    table = read_table(path, labels=["label"], on_error="skip")
    assert rows(table) == [
        {"text": "a", "day": "1970-01-01", "label": "111"},
        {"text": "c", "day": None, "label": "7"},
    ]
    assert table.line_numbers.tolist() == [1, 3]
    assert json.loads(table.rejected[0].content) == {"text": "b", "day": "1970-01-02", "label": None}
    assert table.where(1) == f"row 3 of {path}"
    assert rows(read_table(path))[1] == {"text": "b", "day": "1970-01-02", "label": None}  # none is rejected
    (tmp_path / "broken").write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DataError, match="no readable Parquet"):
        read_table(tmp_path / "broken")


def test_standard_input(monkeypatch):
    class Standard:
        buffer = io.BytesIO(b"a\tb\n1\t2\n")

    monkeypatch.setattr(sys, "stdin", Standard)
    table = read_table("-", format="tsv")
    assert rows(table) == [{"a": "1", "b": "2"}]
    assert table.where(0) == "line 2 of standard input"


def test_no_such_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "nothing.csv")


def test_levels():
    table = read("a,b,c\nx,y,z\nx,y,\nx,,\n,,\nx,,z\n", labels=["a", "b", "c"], on_error="skip")
    assert table_labels(table, ["a", "b", "c"]).tolist() == [
        ["x", "y", "z"],
        ["x", "y", None],
        ["x", None, None],
    ]
    assert [row.reason for row in table.rejected] == [
        "it has no label in column 'a'",
        "it has a label in column 'c' but none in column 'b'",
    ]


def test_separated_labels():
    table = read("t,l\na,x; y;;x\nb,z\nc, ;\n", labels=["l"], label_separator=";", on_error="skip")
    assert [(row.line, row.reason) for row in table.rejected] == [(4, "it has no label in column 'l'")]
    assert table_labels(table, "l", separator=";") == [["x", "y"], ["z"]]
    with pytest.raises(DataError, match="separator"):
        table_labels(table, ["t", "l"], separator=";")


def test_unlabelled_rows_of_a_table_read_without_labels():
    with pytest.raises(DataError, match="line 3 of the stream has no label"):
        table_labels(read("t,l\na,x\nb,\n"), "l")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_frames(frame):
    table = as_table(frame({"text": ["a", None], "n": [1.0, 2.5], "m": ["u", "v"]}))
    assert rows(table) == [{"text": "a", "n": 1.0, "m": "u"}, {"text": None, "n": 2.5, "m": "v"}]
    assert table.where(1) == "row 2 of the table"


def test_pandas_of_any_kind():
    frame = pd.DataFrame(
        {"a": ["x", 3, None], "b": pd.Categorical(["u", "v", "u"]), 5: [1, None, 3]}, index=[7, 8, 9]
    )
    table = as_table(frame)
    assert table.texts("a") == ["x", "3", None]
    assert table.texts("b") == ["u", "v", "u"]
    assert table.texts("5") == ["1", None, "3"]


def test_what_is_no_frame():
    with pytest.raises(DataError, match="not list"):
        as_table([1, 2])
    with pytest.raises(DataError, match="different lengths"):
        as_table({"a": [1], "b": []})


def test_taking_rows():
    table = read("a,b\n1,2\n3,4\n5,6\n")
    part = table.take(table.line_numbers != 3)
    assert rows(part) == [{"a": "1", "b": "2"}, {"a": "5", "b": "6"}]
    assert part.line_numbers.tolist() == [2, 4]


def test_numbers():
    table = read("a,b\n1,x\n NA ,y\n-2e3,z\n,w\n")
    numbers = table.numbers("a")
    assert numbers[[0, 2]].tolist() == [1.0, -2000.0]
    assert (numbers != numbers).tolist() == [False, True, False, True]
    with pytest.raises(
        DataError, match="line 2 of the stream: column 'b' has to hold finite numbers and here is 'x'"
    ):
        table.numbers("b")
