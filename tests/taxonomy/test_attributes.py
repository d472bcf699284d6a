"""Class attributes, against their definitions."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from margrove.errors import DataError, LabelError
from margrove.taxonomy import Taxonomy, attributes
from margrove.testing import taxonomies
from oracles.problems import random_case
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


@given(taxonomies(), st.sampled_from(attributes.NAMES), st.data())
def test_a_class_kernel_has_a_factor(tax, name, data):
    """(A.7), for any choice of classes in any order; contrasts see the same products."""
    Lambda = attributes.get(name).bind(tax, tax.classes)[0].toarray()
    G = Lambda @ Lambda.T
    chosen = data.draw(
        st.lists(st.sampled_from(range(len(G))), min_size=2, unique=True) if len(G) > 1 else st.just([0])
    )
    classes = [tax.classes[k] for k in chosen]
    factor, nodes = attributes.kernel(G, tax.classes).bind(tax, classes)
    assert nodes is None
    contrasts = np.eye(len(chosen)) - 1 / len(chosen)
    found, expected = factor.toarray() @ factor.T.toarray(), G[np.ix_(chosen, chosen)]
    np.testing.assert_allclose(contrasts @ found @ contrasts, contrasts @ expected @ contrasts, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_learning_by_products_of_classes_is_learning_by_attributes(seed):
    case = random_case(seed)
    Lambda = attributes.depth_scaled().bind(case.taxonomy, case.classes)[0]
    by_attributes = case.fit(tol=1e-8)
    by_products = case.fit(tol=1e-8, attributes=attributes.kernel(Lambda @ Lambda.T, case.classes))
    np.testing.assert_allclose(
        by_products.decision_function(case.X), by_attributes.decision_function(case.X), atol=1e-3
    )
    assert by_products.certificate_.primal == pytest.approx(by_attributes.certificate_.primal, rel=1e-7)


def test_a_class_kernel_of_float32_is_judged_by_its_digits():
    G = np.array([[1, 0.5, 0.5], [0.5, 1, 1], [0.5, 1, 1]], np.float32)
    G[0, 1] += np.float32(1e-7)
    factor = attributes.kernel(G, "abc").bind(None, ["a", "b", "c"])[0]
    assert factor.shape[1] == 2
    with pytest.raises(DataError, match=r"kernel\[0, 1\] is 0\.50000\d+; it differs from its mirror image"):
        attributes.kernel(G.astype(np.float64))


def test_wrong_class_kernels_are_told():
    with pytest.raises(DataError, match=r"not positive semidefinite: its most negative eigenvalue is -1$"):
        attributes.kernel([[1, 2], [2, 1]]).bind(None, ["a", "b"])
    with pytest.raises(DataError, match=r"must be square; its shape is \(2, 3\)"):
        attributes.kernel(np.ones((2, 3)))
    with pytest.raises(DataError, match=r"kernel\[1, 1\] is inf; it must be finite"):
        attributes.kernel([[1, 0], [0, np.inf]])
    with pytest.raises(DataError, match="has 2 rows but 1 classes are named"):
        attributes.kernel(np.eye(2), ["a"])
    with pytest.raises(DataError, match="has 2 rows but there are 3 classes; name them"):
        attributes.kernel(np.eye(2)).bind(None, ["a", "b", "c"])
    with pytest.raises(LabelError, match="has no row for class 'c'"):
        attributes.kernel(np.eye(2), ["a", "b"]).bind(None, ["a", "c"])


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


@given(taxonomies(), st.sampled_from(attributes.NAMES), st.floats(0, 1))
def test_sharing_is_a_line_of_class_kernels(tax, name, sharing):
    """(A.8), with every column still that of a node."""
    base, _ = attributes.get(name).bind(tax, tax.classes)
    Lambda, nodes = attributes.shared(sharing, name).bind(tax, tax.classes)
    expected = sharing * (base @ base.T).toarray() + (1 - sharing) * np.eye(len(tax.classes))
    np.testing.assert_allclose((Lambda @ Lambda.T).toarray(), expected, atol=1e-12)
    ancestors = tax.ancestor_matrix(tax.classes).toarray()
    assert (ancestors[:, nodes][Lambda.toarray() != 0] == 1).all()
    assert Lambda.has_canonical_format
    assert Lambda.indices.dtype == Lambda.indptr.dtype == nodes.dtype == np.int32


def test_sharing_at_its_ends():
    tax = Taxonomy.from_paths(["a/b/c/d", "e/f", "e/g"])
    flat, nodes = attributes.shared(0).bind(tax, tax.classes)
    np.testing.assert_array_equal(flat.toarray(), np.eye(3))
    np.testing.assert_array_equal(nodes, tax.indices(tax.classes))
    whole = attributes.depth_scaled().bind(tax, tax.classes)
    for ours, theirs in zip(attributes.shared(1.0).bind(tax, tax.classes), whole, strict=True):
        assert (ours != theirs).sum() == 0


def test_sharing_of_a_matrix_gives_each_class_a_column_of_its_own():
    given = np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 1.0]])
    Lambda, nodes = attributes.shared(0.25, given).bind(None, ["a", "b", "c"])
    assert nodes is None
    np.testing.assert_allclose(Lambda.toarray(), np.hstack([given / 2, np.eye(3) * np.sqrt(0.75)]))


@pytest.mark.parametrize("sharing", [-0.1, 1.5, np.nan, "half", True, None])
def test_wrong_sharing_is_told(sharing):
    with pytest.raises(DataError, match=f"sharing is {sharing!r}; expected a number from 0"):
        attributes.shared(sharing)
