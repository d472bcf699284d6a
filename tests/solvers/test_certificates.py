"""What a fit says of itself: recomputed by plain loops, never too good, right after a warm start."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from oracles.objective import naive_dual, naive_infeasibility, naive_primal, naive_weights
from oracles.problems import by_contrast, mixed_case, plain_of, random_case, solve


def user_problem(case, model):
    """The case in the units of the user, with the attributes in the columns of the model's weights."""
    return plain_of(case.problem())._replace(Lambda=model.attributes_.toarray())


@pytest.mark.parametrize("max_iter", [0, 2, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", range(12))
def test_solution_is_what_its_certificate_says(k, dtype, max_iter):
    tol = 1e-3 if dtype == np.float32 else 1e-7
    plain, solution, duals = solve(mixed_case(k).problem(), tol=tol, max_iter=max_iter, dtype=dtype)
    certificate = solution.certificate
    precise = 1e-5 if dtype == np.float32 else 1e-10
    assert solution.W.dtype == dtype
    assert all(alpha > 0 for alpha in duals.values())
    assert len(duals) == certificate.n_active == len(solution.duals.alpha)
    assert all(r not in plain.right[i] and y in plain.right[i] for i, y, r in duals)
    assert naive_infeasibility(plain, duals) <= 1e-12
    np.testing.assert_allclose(solution.W, naive_weights(plain, duals), rtol=precise, atol=precise)
    assert certificate.primal == pytest.approx(naive_primal(plain, solution.W), rel=precise)
    assert certificate.dual == pytest.approx(naive_dual(plain, duals), rel=precise, abs=precise)
    assert (certificate.status == "converged") == (certificate.relative_gap <= tol)
    assert certificate.n_iter <= max_iter


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("k", range(6))
def test_estimator_tells_its_objective_in_the_units_of_the_user(k, size):
    """Inputs are scaled before training; weights and certificate speak of the inputs that were given."""
    case = mixed_case(k)
    case = replace(case, X=case.X * size, C=case.C / size**2)
    model = case.fit(tol=1e-6)
    plain = user_problem(case, model)
    certificate = model.certificate_
    assert certificate.primal == pytest.approx(naive_primal(plain, model.weights_), rel=1e-9)
    assert certificate.dual <= certificate.primal
    assert model.n_iter_ == certificate.n_iter


@pytest.mark.parametrize("max_iter", [0, 1, 3])
def test_a_fit_that_was_cut_short_says_so(max_iter):
    case = random_case(16, slack="example", multilabel=False)
    with pytest.warns(ConvergenceWarning, match=f"after {max_iter} rounds"):
        model = case.fit(tol=1e-9, max_iter=max_iter)
    assert model.certificate_.status == "iteration limit"
    assert model.certificate_.relative_gap > 1e-9
    assert model.n_iter_ == max_iter


def test_converged_and_warned_are_opposites():
    """For any tolerance and any limit: converged means a gap within tol, anything else is a warning."""
    for k in range(12):
        for tol, max_iter in ((0.3, 0), (0.05, 3), (0.01, 200), (1e-4, 5), (1e-6, 40), (1e-15, 400)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = mixed_case(k).fit(tol=tol, max_iter=max_iter)
            warned = [one for one in caught if issubclass(one.category, ConvergenceWarning)]
            certificate = model.certificate_
            assert (certificate.status == "converged") == (not warned)
            if certificate.status == "converged":
                assert certificate.relative_gap <= tol
            else:
                assert certificate.status in ("iteration limit", "stalled")
                assert certificate.relative_gap > tol


def test_watch_sees_honest_values_and_can_end_the_fit():
    case = random_case(16)
    seen = []

    def watch(progress):
        seen.append(progress)
        return len(seen) == 4

    model = case.estimator(tol=1e-9).fit(case.X, case.y, case.weight, watch=watch)
    assert model.certificate_.status == "interrupted"
    assert [progress.n_iter for progress in seen] == [0, 1, 2, 3]
    assert all(a.dual <= b.dual + 1e-12 for a, b in pairwise(seen))
    assert seen[-1].primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    assert seen[-1].dual == pytest.approx(model.certificate_.dual, rel=1e-9)
    assert model.certificate_.primal == pytest.approx(
        naive_primal(user_problem(case, model), model.weights_), rel=1e-9
    )


def test_a_slack_for_each_of_many_contrasts_converges():
    """With slack "pair" the gap may be far larger than any psi; the solver must not rest on a small psi."""
    rng = np.random.default_rng(0)
    edges = [("root", f"c{k:02}") for k in range(40)]
    case = random_case(0, "flat", slack="pair", edges=edges, n=80, d=3)
    case = replace(case, X=rng.standard_normal(case.X.shape), C=0.02)
    for tol in (1e-2, 1e-3, 1e-6):
        assert case.fit(tol=tol, max_iter=3000).certificate_.status == "converged"


@pytest.mark.parametrize("k", range(12))
def test_warm_start_with_the_same_data_has_nothing_left_to_do(k):
    model = mixed_case(k).estimator(tol=1e-5, warm_start=True)
    case = mixed_case(k)
    first = model.fit(case.X, case.y, case.weight).certificate_
    again = model.fit(case.X, case.y, case.weight).certificate_
    assert again.status == "converged"
    assert again.n_iter <= 1
    assert again.primal == pytest.approx(first.primal, rel=1e-5)


@pytest.mark.parametrize("path", [(0.1, 1.0, 10.0), (10.0, 1.0, 0.1)], ids=["rising", "falling"])
@pytest.mark.parametrize("k", range(12))
def test_warm_start_along_a_path_of_C_reaches_the_same_optima(k, path):
    case = mixed_case(k)
    warm = case.estimator(tol=1e-6, warm_start=True)
    for C in path:
        at = replace(case, C=C)
        warm.set_params(C=C).fit(case.X, case.y, case.weight)
        cold = at.fit(tol=1e-6).certificate_
        assert warm.certificate_.status == "converged"
        assert warm.certificate_.primal == pytest.approx(cold.primal, rel=2e-6)
        assert warm.certificate_.primal == pytest.approx(
            naive_primal(user_problem(at, warm), warm.weights_), rel=1e-9
        )


@pytest.mark.parametrize("k", range(12))
def test_dual_variables_from_a_larger_C_are_cut_down_to_the_bounds(k):
    """Already the first look, before any step, rests on feasible dual variables."""
    case = mixed_case(k)
    _, large, _ = solve(replace(case, C=10 * case.C).problem(), tol=1e-6)
    plain, solution, duals = solve(case.problem(), max_iter=0, start=large.duals)
    assert naive_infeasibility(plain, duals) <= 1e-12
    assert solution.certificate.dual == pytest.approx(naive_dual(plain, duals), rel=1e-10, abs=1e-10)
    assert solution.certificate.primal == pytest.approx(naive_primal(plain, solution.W), rel=1e-10)
    optimum = solve(case.problem(), tol=1e-7)[1].certificate
    assert solution.certificate.dual <= optimum.primal + 1e-9


def test_warm_start_with_other_data_starts_afresh():
    one, other = random_case(1, n=8), random_case(2, n=12)
    model = one.estimator(tol=1e-6, warm_start=True).fit(one.X, one.y, one.weight)
    model.set_params(taxonomy=other.taxonomy, C=other.C).fit(other.X, other.y, other.weight)
    cold = other.fit(tol=1e-6)
    assert model.certificate_.primal == cold.certificate_.primal
    np.testing.assert_array_equal(model.weights_, cold.weights_)


def test_more_violated_contrasts_than_an_example_has_room_for():
    """Slots grow where they are too few, and no contrast is given up for want of room."""
    edges = [("root", f"c{k:02}") for k in range(100)]
    case = random_case(5, "flat", slack="pair", edges=edges, d=2)
    case = replace(case, C=1e-3)  # every contrast of every example at its bound
    plain, solution, duals = solve(case.problem(), tol=1e-9)
    assert solution.certificate.status == "converged"
    count = sum(len(plain.contrasts(i)) for i in range(len(plain.X)) if plain.X[i].any())
    assert len(duals) >= count
    assert by_contrast(solution.duals) == duals
