"""Inputs that break arithmetic: a right answer, a named warning or a typed error, in bounded time."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import margrove as mg
from margrove.classifiers.rows import merge_private
from margrove.errors import DataError, MargroveError, ScaleWarning

pytestmark = pytest.mark.timeout(60)


def problem(n=60, d=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n)
    return rng.normal(size=(n, d)) + 3 * np.eye(4, d)[y], np.array(list("abcd"))[y]


TAX = mg.Taxonomy.from_edges([("r", "ab"), ("r", "cd"), ("ab", "a"), ("ab", "b"), ("cd", "c"), ("cd", "d")])


def model(**params):
    return mg.HierarchicalSVM(TAX, **params)


# --- scale ---


@pytest.mark.parametrize("slack", ["example", "pair"])
@pytest.mark.parametrize("power", [-450, -30, 30, 450])
def test_scaled_features_with_a_price_to_match_give_the_same_model(power, slack):
    X, y = problem()
    factor = 2.0**power
    plain = model(slack=slack).fit(X, y)
    scaled = model(C=factor**-2, slack=slack).fit(X * factor, y)
    np.testing.assert_array_equal(scaled.weights_ * factor, plain.weights_)
    np.testing.assert_array_equal(scaled.predict(X * factor), plain.predict(X))
    np.testing.assert_allclose(scaled.certificate_.relative_gap, plain.certificate_.relative_gap, rtol=1e-6)


@pytest.mark.parametrize("factor", [1e-150, 1e-12])
def test_tiny_features_earn_a_warning(factor):
    X, y = problem()
    with pytest.warns(ScaleWarning, match=r"norms of up to .* C=1 nearly allows .* scale the features"):
        fitted = model().fit(X * factor, y)
    assert fitted.certificate_.status == "converged"
    assert fitted.score(X * factor, y) > 0.5  # a mean of each class, that is, and not silence


@pytest.mark.parametrize("factor", [1e12, 1e150])
def test_huge_features_earn_a_warning(factor):
    X, y = problem()
    with (
        pytest.warns(ScaleWarning, match=r"norms of up to .* C=1 nearly forbids .* scale the features"),
        pytest.warns(ConvergenceWarning, match="raise max_iter"),
    ):
        fitted = model(max_iter=30).fit(X * factor, y)
    assert fitted.certificate_.status != "converged"
    assert fitted.score(X * factor, y) > 0.6


@pytest.mark.parametrize("C", [1e3, 1e4])
def test_where_single_precision_comes_to_a_halt_double_goes_on(C):
    """Nothing but rounding is in the way of a gap: C times tiny errors, where there need be none."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 200)), np.resize(list("abc"), 60)
    rounds = []
    fitted = mg.HierarchicalSVM("flat", C=C).fit(X, y, watch=rounds.append)
    assert fitted.certificate_.status == "converged"
    assert fitted.certificate_.relative_gap <= fitted.tol
    counts = [told.n_iter for told in rounds]
    assert counts == sorted(counts)
    assert counts[-1] == fitted.n_iter_ > 15  # the rounds of both
    exact = mg.HierarchicalSVM("flat", C=C, tol=1e-6).fit(X, y)
    assert fitted.certificate_.primal == pytest.approx(exact.certificate_.primal, rel=fitted.tol)


@pytest.mark.parametrize("factor", [1e-170, 1e160, 1e300, 5e-324])
def test_features_beyond_the_arithmetic_are_an_error(factor):
    X, y = problem()
    X = np.where(X > 0, factor, 0.0)
    with pytest.raises(DataError, match="beyond the range of the arithmetic; scale the features"):
        model().fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("factor", [1e-150, 1e-30, 1e30, 1e150])
@pytest.mark.parametrize("part", ["row", "column"])
def test_one_row_or_column_of_another_scale(factor, part):
    X, y = problem()
    X[(0, slice(None)) if part == "row" else (slice(None), 0)] *= factor
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        fitted = model(max_iter=50).fit(X, y)
    if factor > 1:
        assert ScaleWarning in {w.category for w in seen}
    else:
        assert fitted.score(X, y) > 0.7
    assert np.isfinite(fitted.decision_function(X)).all()


@pytest.mark.parametrize("C", [1e-300, 1e-12, 1e12, 1e300])
def test_prices_of_an_extreme_size(C):
    X, y = problem()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        fitted = model(C=C, max_iter=30).fit(X, y)
    assert ScaleWarning in {w.category for w in seen}
    assert np.isfinite(fitted.weights_).all()
    reached = fitted.certificate_
    assert reached.dual <= reached.primal * (1 + 1e-9)


def test_a_hard_margin_that_does_not_exist_ends_with_an_honest_warning():
    X, y = problem()
    y[:8] = y[7::-1]
    with pytest.warns(ConvergenceWarning, match=r"gap is .*, not tol=0.01 .*(max_iter|lower C)"):
        fitted = model(C=1e6, max_iter=20).fit(X, y)
    assert fitted.certificate_.status != "converged"
    assert fitted.certificate_.relative_gap > 0.01


# --- shape ---


def test_constant_duplicate_and_empty_columns():
    X, y = problem()
    plain = model(tol=1e-6, max_iter=2000).fit(X, y)
    padded = np.hstack([X, np.zeros((len(X), 3))])
    with_zeros = model(tol=1e-6, max_iter=2000).fit(padded, y)
    np.testing.assert_array_equal(with_zeros.predict(padded), plain.predict(X))
    assert (with_zeros.weights_[6:] == 0).all()
    np.testing.assert_array_equal(
        model().fit(np.hstack([X, X]), y).predict(np.hstack([X, X])), plain.predict(X)
    )
    ones = np.ones((len(X), 2))
    assert model().fit(np.hstack([X, ones]), y).score(np.hstack([X, ones]), y) > 0.8


def test_all_zero_rows_and_nothing_but_zero_rows():
    X, y = problem()
    X[::7] = 0
    assert model().fit(X, y).certificate_.status == "converged"
    fitted = model().fit(np.zeros_like(X), y)
    assert (fitted.weights_ == 0).all()
    assert set(fitted.predict(X)) == {"a"}
    assert fitted.certificate_.status == "converged"


@pytest.mark.parametrize("y", [["a"], [["a"]], [["a", "b"]], [[]], np.ones((1, 1, 1))])
def test_one_row(y):
    X = np.ones((1, 2))
    if isinstance(y, np.ndarray) or y == [[]]:
        with pytest.raises(MargroveError):
            mg.HierarchicalSVM().fit(X, y)
    else:
        assert list(mg.HierarchicalSVM().fit(X, y).predict(X)) == y


def test_one_class():
    X, y = problem()
    fitted = mg.HierarchicalSVM().fit(X, np.full(len(y), "only"))
    assert set(fitted.predict(X)) == {"only"}
    assert fitted.decision_function(X).shape == (len(X), 1)
    assert fitted.certificate_.status == "converged"


def test_more_features_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3000)), np.array(list("abcd") * 3)
    assert model().fit(X, y).score(X, y) == 1
    sparse = sp.random_array((12, 100_000), density=1e-3, rng=rng, format="csr")
    assert model(C=1e3).fit(sparse, y).score(sparse, y) == 1


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_not_finite(value, form):
    X, y = problem()
    fitted = model().fit(form(X), y)
    X[3, 2] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model().fit(form(X), y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fitted.predict(form(X))


# --- storage ---


def sparse_forms(X):
    csr = sp.csr_array(np.where(abs(X) > 1, X, 0))
    unsorted = csr.copy()
    for start, end in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        unsorted.indices[start:end] = csr.indices[start:end][::-1]
        unsorted.data[start:end] = csr.data[start:end][::-1]
    unsorted.has_sorted_indices = False
    halves = sp.csr_array(
        (np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), csr.indptr * 2), shape=csr.shape
    )
    zeros = sp.coo_array(csr)
    zeros = sp.csr_array(
        (np.append(zeros.data, 0.0), (np.append(zeros.row, 0), np.append(zeros.col, 0))), shape=csr.shape
    )
    wide = sp.csr_array(
        (csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)), shape=csr.shape
    )
    return csr, {
        "dense": csr.toarray(),
        "Fortran": np.asfortranarray(csr.toarray()),
        "strided": np.repeat(csr.toarray(), 2, axis=1)[:, ::2],
        "unsorted": unsorted,
        "duplicates": halves,
        "explicit zeros": zeros,
        "int64 indices": wide,
        "matrix": sp.csr_matrix(csr),
        "csc": csr.tocsc(),
        "coo": csr.tocoo(),
    }


@pytest.mark.parametrize("name", sparse_forms(np.eye(2))[1])
def test_every_form_of_the_same_inputs_gives_the_same_model(name):
    X, y = problem()
    csr, forms = sparse_forms(X)
    given = forms[name]
    before = given.copy()
    fitted = model().fit(given, y)
    assert abs(given - before).max() == 0
    if sp.issparse(given):
        assert given.nnz == before.nnz
    expected = model().fit(csr, y)
    np.testing.assert_array_equal(fitted.weights_, expected.weights_)
    np.testing.assert_allclose(fitted.decision_function(given), expected.decision_function(csr), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, bool, np.uint16, object])
def test_types_of_inputs(dtype):
    X, y = problem()
    X = (X > 1).astype(dtype)
    np.testing.assert_array_equal(model().fit(X, y).weights_, model().fit(X.astype(np.float64), y).weights_)


def test_read_only_inputs():
    X, y = problem()
    X.setflags(write=False)
    csr = sp.csr_array(X)
    for array in (csr.data, csr.indices, csr.indptr):
        array.setflags(write=False)
    weight = np.ones(len(y))
    weight.setflags(write=False)
    np.testing.assert_array_equal(model().fit(X, y, weight).weights_, model().fit(csr, y, weight).weights_)


# --- weights ---


@pytest.mark.parametrize("targets", ["label", "sets"])
@pytest.mark.parametrize("slack", ["example", "pair"])
def test_a_weight_of_two_is_two_rows_and_a_weight_of_zero_none(targets, slack):
    X, y = problem()
    y = y if targets == "label" else np.array([f"{label}{'ab' if label in 'cd' else ''}" for label in y])
    y = y.tolist() if targets == "label" else [sorted(set(labels)) for labels in y]
    weight = np.random.default_rng(1).integers(0, 3, size=len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    copies = np.random.default_rng(2).permutation(copies)
    weighted = model(slack=slack).fit(X, y, weight)
    copied = model(slack=slack).fit(X[copies], [y[i] for i in copies])
    np.testing.assert_array_equal(weighted.weights_, copied.weights_)
    assert weighted.certificate_.primal == copied.certificate_.primal
    if targets == "sets":
        np.testing.assert_array_equal(weighted.threshold_.coefficients, copied.threshold_.coefficients)


def test_rows_of_weight_zero_may_be_anything_but_their_labels_stay_classes():
    X, y = problem()
    weight = (y != "d").astype(float)
    other = np.where((y == "d")[:, None], 1e3 * X, X)
    first, second = (model().fit(inputs, y, weight) for inputs in (X, other))
    np.testing.assert_array_equal(first.weights_, second.weights_)
    assert first.classes_.tolist() == list("abcd")
    assert "d" not in first.predict(X[y != "d"])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_of_very_different_sizes():
    X, y = problem()
    fitted = model(max_iter=50).fit(X, y, np.where(np.arange(len(y)) % 2, 1e-12, 1.0))
    half = slice(None, None, 2)
    assert fitted.score(X[half], y[half]) > 0.85
    with pytest.raises(DataError, match=r"sample weights from 1.0e-320"):
        model().fit(X, y, np.where(np.arange(len(y)) % 2, 1e-320, 1.0))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.zeros(60), "every weight is 0"),
        (np.full(60, -1.0), "row 0: -1.0 is not"),
        (np.full(60, np.nan), "row 0: nan is not"),
        (np.ones(59), r"shape \(59,\); expected one weight for each of 60 rows"),
        (np.ones((60, 1)), r"shape \(60, 1\)"),
    ],
)
def test_wrong_weights(weight, message):
    with pytest.raises(DataError, match=message):
        model().fit(*problem(), weight)


def test_what_one_row_has_alone_is_merged_and_shared_out_again():
    """Inner products stay, and the weights of merged inputs are those of the inputs themselves (E.11)."""
    rng = np.random.default_rng(0)
    X = sp.random_array((12, 60), density=0.05, rng=rng, format="csr")
    merged, expand = merge_private(X)
    assert merged.shape[1] < (np.bincount(X.indices) > 0).sum()
    np.testing.assert_allclose((merged @ merged.T).toarray(), (X @ X.T).toarray(), atol=1e-12)
    A = rng.standard_normal((12, 3))
    np.testing.assert_allclose(expand @ (merged.T @ A), X.T @ A, atol=1e-12)
