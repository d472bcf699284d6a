"""Linear, polynomial and Gaussian similarities against a double loop, dense and sparse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import margrove as mg
from margrove.errors import DataError, LabelError
from margrove.similarity import width
from oracles import similarity as twins

SPECS = {
    "linear": (mg.similarity.linear(), twins.naive_linear, {}),
    "polynomial": (mg.similarity.polynomial(), twins.naive_polynomial, {}),
    "cubic": (mg.similarity.polynomial(3, 0.5), twins.naive_polynomial, {"degree": 3, "constant": 0.5}),
    "variance": (mg.similarity.gaussian(variance=1.3), twins.naive_gaussian, {"scale": 2 * 1.3}),
    "width": (mg.similarity.gaussian(width=1.3), twins.naive_gaussian, {"scale": 1.3**2}),
    "sigma": (mg.similarity.gaussian(sigma=1.3), twins.naive_gaussian, {"scale": 2 * 1.3**2}),
    "rate": (mg.similarity.gaussian(rate=1.3), twins.naive_gaussian, {"scale": 1 / 1.3}),
}
FORMS = {"dense": np.asarray, "sparse": sp.csr_array, "by column": sp.csc_matrix, "float32": np.float32}


def random_rows(seed, n=9, d=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    X[0] = 0.0
    return X.astype(np.float32).astype(np.float64)  # the same in single precision


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("new_form", ["dense", "sparse"])
def test_by_definition(name, form, new_form):
    spec, naive, options = SPECS[name]
    X, new = random_rows(0), random_rows(1, n=4)
    bound = spec.bind(FORMS[form](X))
    expected = np.array(twins.naive_gram(naive, X, X, **options))
    assert bound.n == len(X)
    assert bound.is_linear == (name == "linear")
    np.testing.assert_allclose(bound.rows(np.arange(9)), expected, atol=1e-13)
    np.testing.assert_allclose(bound.diagonal(), expected.diagonal(), atol=1e-13)
    some = bound.rows([3, 0, 3], np.float32)
    assert some.dtype == np.float32
    np.testing.assert_allclose(some, expected[[3, 0, 3]], rtol=1e-6, atol=1e-7)
    expected = twins.naive_gram(naive, new, X, **options)
    np.testing.assert_allclose(bound.between(FORMS[new_form](new)), expected, atol=1e-13)
    assert bound.rows([]).shape == bound.between(FORMS[new_form](new[:0])).shape == (0, 9)


@pytest.mark.parametrize("name", SPECS)
def test_gram_matrices_are_positive_semidefinite(name):
    gram = SPECS[name][0].bind(random_rows(2, n=30)).rows(np.arange(30))
    np.testing.assert_allclose(gram, gram.T, atol=1e-13)
    assert np.linalg.eigvalsh(gram).min() > -1e-12 * abs(gram).max()


def test_parameterisations_of_one_gaussian_are_one():
    X, s = random_rows(3), 0.8
    grams = [
        mg.similarity.gaussian(**option).bind(X).rows(np.arange(9))
        for option in ({"sigma": s}, {"variance": s**2}, {"width": s * 2**0.5}, {"rate": 0.5 / s**2})
    ]
    for gram in grams[1:]:
        np.testing.assert_allclose(gram, grams[0], rtol=1e-14)


def test_a_gaussian_far_from_the_origin_keeps_its_digits():
    X = random_rows(4)
    near, far = (mg.similarity.gaussian().bind(X + shift, range(9)) for shift in (0.0, 2.0**20))
    np.testing.assert_allclose(far.rows([1, 2]), near.rows([1, 2]), rtol=1e-8)
    np.testing.assert_allclose(far.between(X + 2.0**20), near.between(X), rtol=1e-8)
    np.testing.assert_array_equal(far.diagonal(), 1.0)


def test_blocks_are_bounded_and_cover_all_rows():
    X, new = random_rows(5, n=50), random_rows(6, n=23)
    bound = mg.similarity.linear().bind(X)
    seen = np.zeros(23, int)
    for rows, block in bound.blocks(new, megabytes=4 * 50 * 8 / 2**20):
        assert block.shape == (len(seen[rows]), 50)
        assert len(block) <= 4
        seen[rows] += 1
        np.testing.assert_allclose(block, new[rows] @ X.T, atol=1e-13)
    assert (seen == 1).all()
    assert [len(block) for _, block in bound.blocks(new, megabytes=1e-9)] == [1] * 23
    with pytest.raises(DataError, match="megabytes is 0"):
        bound.blocks(new, megabytes=0)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_median_distance_by_definition(form):
    for seed in range(5):
        X, y = random_rows(seed, n=12), [f"c{k % 3}" for k in range(12)]
        found = mg.similarity.median_distance(FORMS[form](X), y)
        assert found == pytest.approx(twins.naive_median_distance(X, y), rel=1e-12)
        gram = mg.similarity.gaussian().bind(FORMS[form](X), y).rows(np.arange(12))
        expected = mg.similarity.gaussian(width=found).bind(X).rows(np.arange(12))
        np.testing.assert_allclose(gram, expected, rtol=1e-12, atol=1e-14)


def test_labels_may_be_sets_or_indicators():
    X = random_rows(1, n=6)
    sets = [["a"], ["a", "b"], ["b", "a"], [], ["b"], ["a"]]
    Y = np.array([[label in mine for label in "ab"] for mine in sets], float)
    expected = twins.naive_median_distance(X, [frozenset(mine) for mine in sets])
    for y in (sets, Y, sp.csr_array(Y), sp.coo_array(Y)):
        assert mg.similarity.median_distance(X, y) == pytest.approx(expected, rel=1e-12)


def test_many_pairs_are_sampled_evenly_and_always_the_same():
    """The draw is over all pairs of different classes, whatever the sizes of these."""
    group = np.repeat([2, 0, 1], [2, 30, 5])
    a, b = width._pairs(group)
    assert len(a) == len(b) == len({*map(frozenset, zip(a, b, strict=True))}) == 220
    assert (group[a] != group[b]).all()
    np.testing.assert_array_equal(width._pairs(group, 20), width._pairs(group, 20))
    count = np.zeros((37, 37))
    for seed in range(200):
        np.add.at(count, width._pairs(group, 219, seed), 1)
    differ = group[:, None] != group
    assert not count[~differ].any()
    mean = count[differ].mean()
    assert abs(count[differ] - mean).max() < 6 * mean**0.5


@pytest.mark.parametrize("n", [50_000, 100_000])
def test_one_row_in_a_class_among_very_many(n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    X[77] = 50.0
    assert mg.similarity.median_distance(X, np.arange(len(X)) == 77) == pytest.approx(50 * 2**0.5, rel=0.01)


def test_wrong_uses_are_told():
    X = random_rows(0)
    similarity = mg.similarity
    for options, message in (
        ({"degree": 0}, "degree is 0"),
        ({"degree": 1.5}, "degree is 1.5"),
        ({"constant": -1.0}, "constant is -1.0"),
    ):
        with pytest.raises(DataError, match=message):
            similarity.polynomial(**options)
    for options, message in (
        ({"sigma": 0.0}, "sigma is 0.0; expected a positive"),
        ({"width": np.inf}, "width is inf"),
        ({"width": 1.0, "rate": 2.0}, "width and rate are given"),
        ({"sigma": 1e-200}, "beyond the range"),
    ):
        with pytest.raises(DataError, match=message):
            similarity.gaussian(**options)
    with pytest.raises(DataError, match="y is None; give y or a width"):
        similarity.gaussian().bind(X)
    with pytest.raises(DataError, match="no two classes"):
        similarity.gaussian().bind(X, ["a"] * 9)
    with pytest.raises(DataError, match=r"median distance between classes is 0\.0"):
        similarity.median_distance(np.ones((4, 2)), [0, 1, 0, 1])
    with pytest.raises(LabelError, match="X has 9 rows but y has 2"):
        similarity.median_distance(X, [0, 1])
    with pytest.raises(DataError, match="X has 4 features; the training inputs have 5"):
        similarity.linear().bind(X).between(X[:, :4])
    with pytest.raises(DataError, match="X has 1 axes"):
        similarity.linear().bind(X[0])
    with pytest.raises(DataError, match="X must be rows of numbers"):
        similarity.linear().bind([["a", "b"]])
    wrong = X.copy()
    wrong[4, 2] = np.nan
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(DataError, match="X, row 4: it holds a number that is not finite"):
            similarity.linear().bind(form(wrong))
    wrong[4, 2] = 1e200
    for spec in (similarity.linear(), similarity.polynomial(), similarity.gaussian(sigma=1.0)):
        with pytest.raises(DataError, match=r"X, row 4: its .* similarity to itself overflows"):
            spec.bind(wrong)
        with pytest.raises(DataError, match="X, row 4"):
            spec.bind(X).between(wrong)
