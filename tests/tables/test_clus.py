"""Clus's ARFF files: their trees and graphs, every kind of cell, and errors that name the line."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import margrove as mg
from margrove.errors import CycleError, DataError, LabelError, MargroveError, OrphanError
from margrove.tables.datasets import load_clus_arff

DATA = Path(os.environ.get("MARGROVE_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))

TREE = """\
% soils, made up
@RELATION 'soils of the north'

@ATTRIBUTE depth                numeric
@ATTRIBUTE 'top layer'          {clay, 'fine sand', peat}
@attribute "pH, mean"	REAL
@ATTRIBUTE class                hierarchical wet,wet/bog,dry/heath/low,dry,3/3

@DATA
0.5,clay,7,wet/bog@dry
% a comment

?, 'fine sand' ,-1e1,dry/heath
2,?,0,wet@wet/bog@wet/bog
3,"peat",?,?
"""

GRAPH = """\
@RELATION genes
@ATTRIBUTE a numeric
@ATTRIBUTE class hierarchical root/x,root/y,x/z,y/z,z/w
@DATA
1,z@y
2,w
"""

SPARSE = """\
@relation words
@attribute w0 numeric
@attribute kind {plain,odd}
@attribute w2 integer
@attribute class hierarchical a,a/b,c
@data
{0 2, 3 a/b@c}
{ 1 'odd', 2 ?, 3 c }
{3 a}
{}
"""


@pytest.fixture
def load(tmp_path):
    def load(text, **options):
        path = tmp_path / "data.arff"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_clus_arff(path, **options)

    return load


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_trees_and_every_kind_of_cell(load, end):
    data = load(TREE.replace("\n", end))
    assert data.feature_names == [
        "depth", "top layer=clay", "top layer=fine sand", "top layer=peat", "pH, mean"
    ]  # fmt: skip
    nan = np.nan
    expected = [[0.5, 1, 0, 0, 7], [nan, 0, 1, 0, -10], [2, nan, nan, nan, 0], [3, 0, 0, 1, nan]]
    np.testing.assert_array_equal(data.X, expected)
    assert data.X.dtype == np.float64
    assert data.y == [["wet/bog", "dry"], ["dry/heath"], ["wet", "wet/bog"], []]
    assert data.taxonomy == mg.Taxonomy.from_edges(
        [("root", "wet"), ("wet", "wet/bog"), ("root", "dry"), ("dry", "dry/heath"),
         ("dry/heath", "dry/heath/low"), ("root", "3"), ("3", "3/3")]
    )  # fmt: skip
    assert data.taxonomy.source == "Clus tree; 8 nodes"


def test_labels_above_others_can_be_left_out(load):
    assert load(TREE, most_specific=True).y == [["wet/bog", "dry"], ["dry/heath"], ["wet/bog"], []]
    assert load(GRAPH, most_specific=True).y == [["z"], ["w"]]


def test_graphs(load):
    data = load(GRAPH)
    pairs = [("root", "x"), ("root", "y"), ("x", "z"), ("y", "z"), ("z", "w")]
    assert data.taxonomy == mg.Taxonomy.from_edges(pairs)
    assert data.y == [["z", "y"], ["w"]]
    assert data.X.tolist() == [[1], [2]]


def test_the_root_is_made_where_needed(load):
    header = GRAPH.replace("root/x,root/y,", "")
    data = load(header, hierarchy="graph")
    assert data.taxonomy == load(GRAPH).taxonomy
    one_top = load(header.replace("x/z,y/z", "x/z,x/y"), hierarchy="graph")
    assert one_top.taxonomy.root == "x"


def test_pairs_without_a_root_are_paths_unless_told_otherwise(load):
    text = "@attribute class hierarchical a/b,b/c\n@data\n{}\n"
    assert load(text).taxonomy.path("b/c") == ("root", "b", "b/c")
    assert load(text, hierarchy="graph").taxonomy.path("c") == ("a", "b", "c")
    named = load("@attribute class hierarchical root,root/a/b\n@data\n")
    assert named.taxonomy.path("root/a") == ("(root)", "root", "root/a")
    assert (named.X.shape, named.y) == ((0, 0), [])
    with pytest.raises(ValueError, match="hierarchy is 'dag'"):
        load(text, hierarchy="dag")


def test_sparse_rows(load):
    data = load(SPARSE)
    assert sp.issparse(data.X)
    np.testing.assert_array_equal(
        data.X.toarray(), [[2, 1, 0, 0], [0, 0, 1, np.nan], [0, 1, 0, 0], [0, 1, 0, 0]]
    )
    assert data.y == [["a/b", "c"], ["c"], ["a"], []]
    mixed = load(SPARSE + "0,odd,5,a\n")
    np.testing.assert_array_equal(mixed.X[4], [0, 0, 1, 5])


def test_the_class_may_stand_anywhere(load):
    data = load("@attribute class hierarchical a,b\n@attribute x real\n@data\na@b,2\nb,3\n")
    assert (data.X.tolist(), data.y) == ([[2], [3]], [["a", "b"], ["b"]])


def test_it_can_be_learned(load):
    data = load(
        "@attribute x real\n@attribute c hierarchical a,a/b,a/d,e\n@data\n1,a/b\n-1,e\n2,a\n-2,e@a/d\n"
    )
    model = mg.HierarchicalSVM(data.taxonomy).fit(data.X, data.y)
    assert model.classes_.tolist() == ["a", "a/b", "a/d", "e"]


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ("0.5,clay,7,", "0.5,clay,", DataError, "line 10 has 3 cells, but there are 4 attributes"),
        ("0.5,", "half,", DataError, "line 10: 'depth' is 'half'; expected a number or ?"),
        ("0.5,", "nan,", DataError, "line 10: 'depth' is 'nan'"),
        ("0.5,", "1e999,", DataError, "line 10: 'depth' is '1e999'"),
        ("0.5,", ",", DataError, "line 10: 'depth' is ''"),
        ("0.5,clay", "0.5,loam", DataError, "line 10: 'top layer' is 'loam'; expected one of 'clay'"),
        ("wet/bog@dry\n", "wet/sea\n", LabelError, "line 10: the label 'wet/sea' is not in the hierarchy"),
        ("wet/bog@dry\n", "bog\n", LabelError, "line 10: the label 'bog' is not"),
        ("wet/bog@dry\n", "dry@\n", LabelError, "line 10: the label '' is not"),
        ("'fine sand' ,", "'fine sand ,", DataError, "line 13: the quotes around .* do not close"),
        ("numeric", "string", DataError, "line 4: the type of 'depth' is 'string'; expected numeric"),
        ("{clay,", "{clay,clay,", DataError, "line 5: the values of 'top layer' are empty or not"),
        ("{clay, 'fine sand', peat}", "", DataError, "line 5: .* names no attribute with its type"),
        ("depth  ", "class  ", DataError, "line 7: the attribute 'class' is already that of line 4"),
        ("wet/bog,dry/heath/low", "wet//bog", DataError, "line 7, entry 2, 'wet//bog', has an empty name"),
        ("hierarchical", "hierarchical\n", DataError, "line 7: the type of 'class' is 'hierarchical'"),
        ("hierarchical wet,wet/bog,dry/heath/low,dry,3/3", "{a}", DataError, "0 hierarchical attributes"),
        ("@attribute", "attribute", DataError, "line 6: 'attribute .* is no @RELATION, @ATTRIBUTE or @DATA"),
        ("@DATA", "%", DataError, "line 10: .* is no @RELATION"),
    ],
)  # fmt: skip
def test_errors_name_the_line(load, old, new, error, message):
    assert old in TREE
    with pytest.raises(error, match=message):
        load(TREE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ("z/w", "z/w,w/x", CycleError, "line 3, entry 6"),
        ("z/w", "z/w,q/w", OrphanError, "not below the root 'root': 'q'"),
    ],
)
def test_errors_of_graphs(load, old, new, error, message):
    with pytest.raises(error, match=message):
        load(GRAPH.replace(old, new))


def test_entries_of_graphs_are_pairs(load):
    with pytest.raises(DataError, match="line 3, entry 5, 'w', is no pair parent/child"):
        load(GRAPH.replace("z/w", "w"), hierarchy="graph")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{0 2", "line 10: the sparse row has no } at its end"),
        ("{9 2}", "line 10: '9 2' is no number of an attribute, 0 to 3"),
        ("{0 2, 0 3}", "line 10: '0 3' is no number of an attribute, 0 to 3, with its value, each once"),
        ("{w0 2}", "line 10: 'w0 2' is no number"),
        ("{0}", "line 10: '0' is no number"),
        ("{0 two}", "line 10: 'w0' is 'two'"),
    ],
)
def test_errors_of_sparse_rows(load, row, message):
    with pytest.raises(DataError, match=message):
        load(SPARSE.replace("{}", row))


def test_files_that_are_something_else(load):
    with pytest.raises(DataError, match=r"data\.arff has no @DATA"):
        load("@relation x\n@attribute y numeric\n")
    with pytest.raises(DataError, match=r"data\.arff has no @DATA"):
        load("")
    with pytest.raises(DataError, match="line 2: byte 0xff at position 1 is not utf-8"):
        load(b"@relation x\n\xff\n")
    with pytest.raises(MargroveError, match="line 1"):
        load("id,title,category\n")


@pytest.mark.skipif(not DATA.is_dir(), reason="no data here; MARGROVE_DATA names their folder")
@pytest.mark.parametrize(
    ("archive", "member", "shape", "nodes", "classes", "several"),
    [
        ("imclef07a/ImCLEF07A", "ImCLEF07A_Test", (1006, 80), 96, 63, 0),
        ("enron/Enron", "Enron_corr_test", (660, 1001), 56, 52, 0),
        ("funcat/cellcycle_FUN", "cellcycle_FUN.test", (1281, 77), 499, 324, 0),
        ("funcat/pheno_FUN", "pheno_FUN.test", (582, 276), 455, 290, 0),
        ("go/cellcycle_GO", "cellcycle_GO.valid", (848, 77), 4125, 2041, 1477),
    ],
)
def test_published_files(tmp_path, archive, member, shape, nodes, classes, several):
    with tarfile.open(DATA / f"{archive}.tar.xz") as tar:
        (name,) = (name for name in tar.getnames() if name.endswith(f"{member}.arff"))
        contents = tar.extractfile(name)
        assert contents is not None
        (tmp_path / "data.arff").write_bytes(contents.read())
    data = load_clus_arff(tmp_path / "data.arff")
    tax = data.taxonomy
    assert data.X.shape == shape
    assert (tax.n_nodes, len(tax.classes)) == (nodes + 1, classes)
    assert int((np.diff(tax.parent_ptr) > 1).sum()) == several
    assert len(data.y) == shape[0]
    assert min(map(len, data.y)) >= 1
    text = (tmp_path / "data.arff").read_text()
    assert np.isnan(data.X).sum() == text[text.index("@DATA") :].count("?")  # these have no nominal ones
