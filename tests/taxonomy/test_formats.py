"""Files: each format is detected, read, and described; every error names the line."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from margrove.errors import (
    CycleError,
    DataError,
    DuplicateEdgeError,
    EmptyNameError,
    LabelError,
    MargroveError,
    OrphanError,
    RootError,
    SelfParentError,
)
from margrove.taxonomy import Taxonomy
from margrove.taxonomy.deepjson import _loads_deep, loads
from margrove.taxonomy.formats import FORMATS

EDGES = [("r", "a"), ("r", "b"), ("a", "x"), ("a", "y")]
EXPECTED = Taxonomy.from_edges(EDGES)


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    "header",
    [
        "parent,child",
        "Parent ID,ID",
        "source;target",
        "broader\tnarrower",
        "from|to",
        "parent_id,id",
        "Parent,Name",
        "superclass,class",
        "parent_code,code",
    ],
)
def test_edge_lists_of_any_usual_header(write, header):
    delimiter = next(d for d in "\t;|," if d in header)
    lines = [header, *(delimiter.join(edge) for edge in EDGES)]
    tax = Taxonomy.from_file(write("edges.csv", "\n".join(lines)))
    assert tax == EXPECTED
    assert tax.source.startswith("edge list ")
    assert tax.source.endswith("columns " + ", ".join(header.split(delimiter)) + "; 5 nodes")


@pytest.mark.parametrize(
    ("name", "content", "source"),
    [
        ("e.csv", "child,note,parent\na,1,r\nb,,r\nx,,a\ny,,a\n", "edge list CSV, columns parent, child"),
        ("e.tsv", "r\ta\nr\tb\na\tx\na\ty\n", "edge list TSV, columns parent, child (no header)"),
        ("e.csv", "id,parent\nr,\na,r\nb,r\nx,a\ny,a\n", "edge list CSV, columns parent, id"),
        (
            "e.csv",
            "id,parent,name\n1,,r\n2,1,a\n3,1,b\n4,2,x\n5,2,y\n",
            "edge list CSV, columns parent, id, name",
        ),
        (
            "e.csv",
            b'\xef\xbb\xbfparent,child\r\nr,"a"\r\nr,b\r\n\r\na,x\r\na,y\r\n',
            "edge list CSV, columns parent, child",
        ),
        ("t.json", '{"r": {"a": {"x": {}, "y": null}, "b": []}}', "JSON tree"),
        (
            "t.txt",
            '{"name": "r", "children": [{"name": "a", "children": ["x", "y"]}, {"name": "b"}]}',
            "JSON tree",
        ),
        ("t.json", json.dumps(EDGES), "JSON edge list"),
        ("t.json", json.dumps([{"parent": p, "child": c} for p, c in EDGES]), "JSON edge list"),
        (
            "t.json",
            json.dumps(
                {
                    "nodes": [{"id": v} for v in "rabxy"],
                    "links": [{"source": p, "target": c} for p, c in EDGES],
                }
            ),
            "JSON edge list",
        ),
        (
            "t.json",
            '{"nodes": [{"id": 1, "name": "r"}, {"id": 2, "label": "a"}, "b", "x", "y"],'
            '"edges": [[1, 2], [1, "b"], [2, "x"], [2, "y"]]}',
            "JSON edge list",
        ),
    ],
)
def test_formats_with_a_root(write, name, content, source):
    tax = Taxonomy.from_file(write(name, content))
    assert tax == EXPECTED
    assert tax.source == f"{source}; 5 nodes"


@pytest.mark.parametrize(
    ("name", "content", "source"),
    [
        ("l.csv", "Top,Below\na,x\na,y\nb,\n", "one column a level CSV, columns Top, Below"),
        ("l.csv", "Top,Below\na,x\na,y\nb\n", "one column a level CSV, columns Top, Below"),
        ("l.csv", "a,x\na,y\nb,\n", "one column a level CSV, columns 2 without a header"),
        ("p.txt", "# a comment\na\na > x\n\na > y\nb\n", "paths 'A > B', one a line"),
        (
            "p.txt",
            "7 - a\n71 - a > x\n72 - a > y\n9 - b\n",
            "paths 'A > B', one a line, without their numbers",
        ),
        ("p.txt", "a/x\na/y\nb\n", "paths 'a/b', one a line"),
        ("p.csv", "path\n/a/x/\na/y\nb\n", "paths 'a/b', one a line"),
    ],
)
def test_formats_below_a_new_root(write, name, content, source):
    tax = Taxonomy.from_file(write(name, content), root="r")
    assert tax == EXPECTED
    assert tax.source == f"{source}; 5 nodes"
    assert Taxonomy.from_file(write(name, content)).root == "root"


@pytest.mark.parametrize(
    ("name", "content", "source"),
    [
        ("c.txt", "11\n111\n31-33\n311\n", "prefix codes, one a line, with ranges; 5 nodes"),
        ("c.csv", 'Code,Title\n11,"Farms, all"\n111,Crops\n31-33,Making\n311,Food\n', None),
    ],
)
def test_prefix_codes(write, name, content, source):
    tax = Taxonomy.from_file(write(name, content))
    assert tax == Taxonomy.from_codes(["11", "111", "31-33", "311"], ranges=True)
    assert tax.source == (source or "prefix codes, CSV, column Code, with ranges; 5 nodes")
    plain = Taxonomy.from_file(write(name, content), format="codes")
    assert plain == Taxonomy.from_codes(["11", "111", "31-33", "311"])


def test_the_same_name_in_two_places_is_two_nodes(write):
    tax = Taxonomy.from_file(write("p.txt", "Art > Other\nFood > Other\n"))
    assert tax.classes == ("Art/Other", "Food/Other")
    tax = Taxonomy.from_file(write("p.csv", "id,parent,name\n1,,Top\n2,1,A\n3,1,B\n4,2,Other\n5,3,Other\n"))
    assert tax.classes == ("A/Other", "B/Other")


def test_one_unlisted_parent_is_the_root(write):
    tax = Taxonomy.from_file(write("p.csv", "id,parent_id\n1,0\n2,0\n3,1\n"))
    assert tax.path("3") == ("0", "1", "3")


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("e.csv", "parent,child\nr,a\na,b\n\nb,a\n", CycleError, r"'a' -> 'b' -> 'a' \(line 3, line 5\)"),
        ("e.csv", 'parent,child\nr,"a\nb"\nr,c\nr,c\n', DuplicateEdgeError, "line 4 and line 5"),
        ("e.csv", "parent,child\nr,a\na,a\n", SelfParentError, "line 3"),
        ("e.csv", "parent,child\nr,a\nr,\n", EmptyNameError, "line 3"),
        ("e.csv", "parent,child\nr,a\ns,b\n", RootError, "'r', 's'"),
        ("e.csv", "parent,child\nr,a\nr\n", DataError, "line 3 has 1 columns"),
        ("e.csv", "parent,child\nr,a\nr,b,c\n", DataError, "line 3 has 3 columns"),
        ("e.csv", b"parent,child\nr,a\nr,caf\xe9\n", DataError, "line 3: byte 0xe9"),
        ("e.csv", "parent,child\nr," + "a" * 200_000 + "\n", DataError, "line 2: field larger"),
        ("e.csv", 'parent,child\nr,a\nr,"b\nr,c\n', DataError, "line 3: unexpected end"),
        ("e.csv", "id,parent\n1,\n2,1\n3,9\n", OrphanError, "line 4: the parent '9' of '3'"),
        ("e.csv", "id,parent\n1,\n1,\n", DuplicateEdgeError, "line 2 and line 3"),
        ("e.csv", "id,parent,name\n1,,r\n2,1,\n", EmptyNameError, "line 3: node '2' has no name"),
        (
            "e.csv",
            "id,parent,name\n1,,r\n2,1,a\n3,1,b\n3,2,c\n",
            LabelError,
            "line 5: node '3' is called 'c'",
        ),
        ("l.csv", "Top,Mid,Low\na,,x\n", EmptyNameError, "line 2"),
        ("p.txt", "# c\na > b\na > > b\n", EmptyNameError, "line 3"),
        ("c.txt", "11\n111\n111\n", DuplicateEdgeError, "line 2 and line 3"),
        ("t.json", '{"r": {"a": {}, "a": {}}}', DuplicateEdgeError, "key 'a' stands twice"),
        ("t.json", '{"r": {"a": {}}', DataError, "line 1, column 16"),
        ("t.json", '{"r": ' + "1" * 5000 + "}", DataError, "no readable JSON"),
        ("t.json", "3", DataError, "is 3; expected a tree"),
        ("t.json", '{"edges": [["r", "a"], ["r", ["b"]]]}', DataError, r"edges\[1\]"),
        ("t.json", '{"edges": [["r", "a"], 5]}', DataError, r"edges\[1\] is 5"),
        ("t.json", '{"edges": [{"x": 1}]}', DataError, "keys 'x'"),
        ("t.json", '{"nodes": [[1]], "edges": [["r", "a"]]}', DataError, r"nodes\[0\]"),
        ("u.txt", "just\nsome words\n", DataError, "not recognised; say format="),
        ("u.txt", " \n", DataError, "empty"),
        ("e.csv", "parent,child\n", DataError, "header parent, child but no rows"),
        ("p.txt", "# only\n", DataError, "not recognised"),
    ],
)
def test_bad_files(write, name, content, error, message):
    with pytest.raises(error, match=message) as caught:
        Taxonomy.from_file(write(name, content))
    assert str(caught.value).startswith(f"{name}")  # there may be other files


def test_unknown_formats_and_missing_files(write, tmp_path):
    with pytest.raises(DataError, match="no taxonomy format is called 'xml'; expected one of edges"):
        Taxonomy.from_file(write("e.csv", "parent,child\nr,a\n"), format="xml")
    with pytest.raises(FileNotFoundError):
        Taxonomy.from_file(tmp_path / "none.csv")


@pytest.mark.parametrize("format", FORMATS)
def test_a_format_can_be_forced(write, format):
    content = {
        "edges": "r,a\nr,b\n",
        "levels": "Top\na\nb\n",
        "json": '{"r": ["a", "b"]}',
    }.get(format, "a\nb\n")
    assert Taxonomy.from_file(write("f.dat", content), format=format, root="r").classes == ("a", "b")


def test_only_line_ends_end_lines(write):
    tax = Taxonomy.from_file(write("p.txt", "a/x\u2028y\r\na/z\x0bw\r\n"))
    assert set(tax.classes) == {"x\u2028y", "z\x0bw"}


PIECES = [
    *("parent", "child", "id", "name", "code", "r", "a", "b", "11", "111", "31-33", "null", "1e999"),
    *("#", '"', "{", "}", "[", "]", ":", ",", ",", ";", "/", ">", " > ", " - "),
    *("\t", "\n", "\n", "\r", "\x00", "\u2028"),
]


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(PIECES),
        max_size=25,
    ),
    st.sampled_from([".csv", ".tsv", ".txt", ".json", ""]),
    st.sampled_from([None, *FORMATS]),
)
def test_any_file_gives_a_taxonomy_or_one_typed_error(write, pieces, suffix, format):
    try:
        tax = Taxonomy.from_file(write(f"any{suffix}", "".join(pieces)), format)
    except MargroveError:
        return
    assert all(tax.index(node) == i for i, node in enumerate(tax.nodes))
    assert Taxonomy.from_spec(tax.to_spec()).nodes == tax.nodes


plain_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
)


@given(plain_json, st.sampled_from([None, 1]))
def test_the_deep_reader_reads_json(value, indent):
    assert _loads_deep(json.dumps(value, indent=indent)) == value


@settings(max_examples=300)
@given(plain_json, st.integers(0, 60), st.sampled_from('{}[]:,"1 x\\'), st.booleans())
def test_the_deep_reader_refuses_what_json_refuses(value, at, char, insert):
    text = json.dumps(value)
    broken = text[:at] + char + text[at + (not insert) :]
    try:
        expected = loads(broken)
    except MargroveError:
        with pytest.raises((json.JSONDecodeError, DuplicateEdgeError)):
            _loads_deep(broken)
    else:
        assert _loads_deep(broken) == expected


def test_json_ten_thousand_deep(write):
    depth = 10_000
    text = "".join(f'{{"n{i}":' for i in range(depth)) + "null" + "}" * depth
    assert Taxonomy.from_file(write("deep.json", text)).depths.max() == depth - 1
    with pytest.raises(DataError, match="brackets"):
        Taxonomy.from_file(write("deep.json", text[:-1]))
