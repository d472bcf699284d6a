"""Class attributes, against their definitions."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from margrove.errors import DataError
from margrove.taxonomy import Taxonomy, attributes
from margrove.testing import taxonomies
from oracles.taxonomy import naive_attribute


@given(taxonomies(), st.sampled_from(attributes.NAMES), st.data())
def test_attributes_are_those_of_the_definition_but_for_constant_columns(tax, name, data):
    chosen = st.lists(st.sampled_from(tax.classes), min_size=1, unique=True)
    classes = data.draw(st.one_of(st.just(list(tax.classes)), chosen))
    edges = [(parent, node) for node in tax.nodes for parent in tax.parents(node)]
    matrix, nodes = attributes.get(name).bind(tax, classes)
    full = np.array([[naive_attribute(edges, v, y, name) for v in tax.nodes] for y in classes])
    dense = np.zeros_like(full)
    dense[:, nodes] = matrix.toarray()
    # What a contrast sees, Lambda[y] - Lambda[r], is unchanged.
    np.testing.assert_allclose(dense[:, None] - dense[None], full[:, None] - full[None], atol=1e-15)
    np.testing.assert_allclose(matrix.toarray(), full[:, nodes])
    if len(classes) > 1:
        varies = full.min(axis=0) < full.max(axis=0)
        np.testing.assert_array_equal(
            nodes, np.flatnonzero(varies) if name != "one-hot" else tax.indices(classes)
        )
    assert matrix.has_canonical_format
    assert matrix.dtype == np.float64
    assert matrix.indices.dtype == matrix.indptr.dtype == nodes.dtype == np.int32


@given(taxonomies())
def test_scaled_by_class_every_vector_has_length_one(tax):
    """Cai's equation 7.1; no node but the root is above every class here, so that no column is dropped."""
    tax = Taxonomy.from_edges(
        [*((p, v) for v in tax.nodes for p in tax.parents(v)), (tax.root, "another class")]
    )
    matrix, nodes = attributes.depth_scaled("class").bind(tax, tax.classes)
    kept = np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()
    assert 0 not in nodes
    np.testing.assert_allclose(kept, 1.0)


def test_scaled_by_taxonomy_the_deepest_class_has_length_one_even_among_others():
    tax = Taxonomy.from_paths(["a/b/c/d", "e/f", "e/g"])
    matrix, _ = attributes.depth_scaled().bind(tax, ["f", "g"])
    np.testing.assert_allclose(matrix.data, 0.5)
    matrix, _ = attributes.depth_scaled().bind(tax, tax.classes)
    np.testing.assert_allclose(np.sort(matrix.multiply(matrix).sum(axis=1)), [0.5, 0.5, 1.0])


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.coo_array, list])
def test_any_matrix(kind):
    rows = [[1.0, 0.0, 2.0, 5.0], [0.0, 0.0, 3.0, 5.0], [4.0, 0.0, 0.0, 5.0]]
    matrix, nodes = attributes.get(kind(rows)).bind(None, ["a", "b", "c"])
    assert nodes is None
    np.testing.assert_array_equal(matrix.toarray(), np.array(rows)[:, [0, 2]])
    assert matrix.has_canonical_format
    assert matrix.indices.dtype == np.int32


def test_a_given_matrix_is_left_alone():
    rows = scipy.sparse.csr_array(np.array([[1.0, 2.0], [3.0, 0.0]]))
    rows.data[1] = 0.0
    attributes.get(rows).bind(None, ["a", "b"])
    assert rows.nnz == 3


def test_wrong_uses_are_told():
    with pytest.raises(DataError, match=r"shape \(2, 2\); expected a row for each of 3 classes"):
        attributes.get(np.eye(2)).bind(None, ["a", "b", "c"])
    with pytest.raises(DataError, match=r"attributes\[1, 0\] is inf"):
        attributes.get([[0, 1], [np.inf, 0]]).bind(None, ["a", "b"])
    with pytest.raises(DataError, match="no attributes are called 'depth'; expected one of one-hot"):
        attributes.get("depth")
    with pytest.raises(DataError, match="by is 'node'"):
        attributes.depth_scaled("node")


def test_attributes_go_by_name_function_or_specification():
    assert attributes.get("one_hot") == attributes.get(attributes.one_hot) == attributes.one_hot()
    assert attributes.get("depth-scaled-class") == attributes.depth_scaled("class")
    spec = attributes.ancestors()
    assert attributes.get(spec) is spec


def test_one_class_keeps_its_columns():
    tax = Taxonomy.from_paths(["a/b", "c"])
    for name in attributes.NAMES:
        matrix, nodes = attributes.get(name).bind(tax, ["b"])
        assert matrix.shape == (1, len(nodes))
        assert matrix.nnz > 0
