"""Descriptions of classes as attributes: the class kernel (A.14), words, and names."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from margrove import Taxonomy
from margrove.errors import DataError, LabelError
from margrove.taxonomy import attributes
from margrove.taxonomy.descriptions import text_vectors

TREE = Taxonomy.from_paths(["fruit/apple", "fruit/pear", "tool/saw", "tool/drill"])
CLASSES = ("apple", "pear", "saw", "drill")
VECTORS = {
    "apple": [1.0, 2.0, 0.0],
    "pear": [0.0, 3.0, 0.0],
    "saw": [0.0, 0.0, 1.0],
    "drill": [1.0, 0.0, 1.0],
}


def products(spec, classes=CLASSES, tree=TREE):
    Lambda = spec.bind(tree, classes)[0]
    return (Lambda @ Lambda.T).toarray()


@pytest.mark.parametrize("part", [0.3, 1.0])
def test_the_class_kernel_is_a_mixture(part):
    D = np.array([VECTORS[name] for name in CLASSES])
    D /= np.linalg.norm(D, axis=1)[:, None]
    found = products(attributes.descriptions(VECTORS, part=part, beside="ancestors"))
    expected = (1 - part) * products(attributes.ancestors()) + part * D @ D.T
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert products(attributes.descriptions(VECTORS, part=part)).diagonal() == pytest.approx(np.ones(4))


def test_all_forms_of_descriptions_are_the_same():
    rows = np.array(list(VECTORS.values()))
    expected = products(attributes.descriptions(VECTORS))
    for spec in (
        attributes.descriptions(rows, list(VECTORS)),
        attributes.descriptions(sp.coo_array(rows), list(VECTORS)),
        attributes.descriptions(
            {f"fruit/{k}" if k in ("apple", "pear") else k: v for k, v in VECTORS.items()}
        ),
    ):
        np.testing.assert_allclose(products(spec), expected)


def test_columns_are_nodes_and_then_descriptions():
    Lambda, nodes = attributes.descriptions(VECTORS).bind(TREE, CLASSES)
    assert nodes.tolist()[-3:] == [-1, -1, -1]
    assert (nodes[:-3] > 0).all()
    assert Lambda.has_canonical_format
    assert Lambda.shape == (4, len(nodes))
    assert attributes.descriptions(VECTORS, beside=np.eye(4)).bind(TREE, CLASSES)[1] is None


def test_some_classes_and_some_descriptions():
    some = attributes.descriptions({"apple": [1.0, 0.0], "drill": [1.0, 1.0]}, part=1.0)
    np.testing.assert_allclose(products(some)[0], [1, 0, 0, np.sqrt(0.5)])
    np.testing.assert_allclose(products(some, ("saw", "apple")), [[0, 0], [0, 1]])


def test_an_inner_node_is_described_for_its_miscellaneous_class():
    tree = TREE.with_miscellaneous(["tool"])
    spec = attributes.descriptions({"tool": [1.0], "saw": [2.0], "fruit": [1.0]}, part=1.0)
    misc = tree.as_class("tool")
    np.testing.assert_allclose(
        products(spec, (misc, "saw", "apple"), tree), [[1, 1, 0], [1, 1, 0], [0, 0, 0]]
    )


def test_words_count_that_tell_classes_apart_and_are_shared():
    texts = ["Red, round fruit", "green round ROUND fruit", "red steel and fruit", "steel fruit"]
    V = text_vectors(texts).toarray()
    assert V.shape == (4, 3)  # red, round, steel; "fruit" is everywhere, the others are of one text
    half = np.log(2)
    np.testing.assert_allclose(V, [[half, half, 0], [0, half * (1 + half), 0], [half, 0, half], [0, 0, half]])


def test_descriptions_and_sharing_and_levels():
    spec = attributes.descriptions(VECTORS)
    shared = products(attributes.shared(0.25, spec))
    np.testing.assert_allclose(shared, 0.25 * products(spec) + 0.75 * np.eye(4), atol=1e-12)
    _, nodes = spec.bind(TREE, CLASSES)
    groups, names = attributes.learned(spec).groups(nodes, TREE, CLASSES)
    assert set(names) == {"own", "level 1", "given"}
    assert [names[g] for g in groups[-3:]] == ["given"] * 3


@pytest.mark.parametrize(
    ("of", "options", "message"),
    [
        ({"appel": "x"}, {}, r"of no class: .*no node 'appel'; did you mean 'apple'\?"),
        (
            {"apple": "x y", "fruit/apple": "x y"},
            {},
            "'apple' and 'fruit/apple' are one class, described twice",
        ),
    ],
)
def test_wrong_names_are_told(of, options, message):
    with pytest.raises(LabelError, match=message):
        attributes.descriptions(of, **options).bind(TREE, CLASSES)


@pytest.mark.parametrize(
    ("of", "options", "message"),
    [
        ({"apple": "x", "pear": [1.0]}, {}, "all texts, or all vectors of one length"),
        ({"apple": [1.0], "pear": [1.0, 2.0]}, {}, "all texts, or all vectors of one length"),
        ({"apple": [1.0], "pear": [np.nan]}, {}, r"descriptions\[1, 0\] is nan"),
        (np.eye(3), {}, "a mapping from classes to texts or vectors, or a matrix and names"),
        (np.eye(3), {"names": ["apple"]}, r"shape \(3, 3\); expected a row for each of 1 names"),
        (VECTORS, {"part": 0}, "part is 0; expected a number above 0"),
    ],
)
def test_wrong_descriptions_are_told(of, options, message):
    with pytest.raises(DataError, match=message):
        attributes.descriptions(of, **options)
