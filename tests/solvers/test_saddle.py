"""Orthogonal transfer: the direct programme by enumeration of signs, and what holds at its optimum."""

from __future__ import annotations

import numpy as np
import pytest

from margrove.objective.metric import alpha_bound, with_alpha
from margrove.solvers.progress import Progress
from margrove.solvers.saddle import solve_saddle
from oracles.orthogonal import TREES, random_descent_case


def solve(problem, **options):
    defaults = {"tol": 1e-9, "max_iter": 50_000, "rng": np.random.default_rng(0), "dtype": np.float64}
    return solve_saddle(problem, **(defaults | options))


def check_optimum(case, problem):
    value, _ = case.orthogonal_optimum(problem.K)
    solution, S = solve(problem)
    certificate = solution.certificate
    assert certificate.status == "converged"
    assert certificate.primal == pytest.approx(value, rel=1e-6)
    assert certificate.dual <= value * (1 + 1e-8)
    W = solution.W.T
    assert case.omega(W, problem.K) + case.losses(W) == pytest.approx(certificate.primal, rel=1e-9)
    assert problem.dual(solution.duals, S) == pytest.approx(certificate.dual, rel=1e-9)
    assert problem.contrasts.infeasibility(solution.duals) <= 1e-12
    return W, S


@pytest.mark.parametrize("C", [0.3, 5.0, 100.0])
@pytest.mark.parametrize("tree", range(len(TREES)))
def test_optimum(tree, C):
    case = random_descent_case(tree, TREES[tree], C=C)
    alpha = min(1.0, 0.9 * alpha_bound(case.K(1.0)))
    W, S = check_optimum(case, case.problem(alpha))
    i, j = case.problem(alpha).pairs
    interior = abs(S) < 1 - 1e-4
    cosine = (W[i] * W[j]).sum(axis=1) / np.maximum(
        np.linalg.norm(W[i], axis=1) * np.linalg.norm(W[j], axis=1), 1e-9
    )
    assert abs(cosine[interior]).max(initial=0.0) < 1e-5  # orthogonal
    settled = abs(cosine) > 1e-3
    np.testing.assert_allclose(S[settled], np.sign(cosine[settled]), atol=1e-9)


def test_some_signs_are_settled_and_some_are_not():
    """So that the test above has seen both."""
    case = random_descent_case(1, TREES[1], C=5.0)
    signs = np.concatenate([abs(solve(case.problem(alpha))[1]) for alpha in (0.02, 0.9)])
    assert (signs > 1 - 1e-9).any()
    assert (signs < 0.99).any()


@pytest.mark.parametrize("seed", range(3))
def test_any_matrix_even_one_that_couples_siblings(seed):
    case = random_descent_case(seed, TREES[0])
    rng = np.random.default_rng(seed)
    n = len(case.nodes)
    K = np.triu(rng.uniform(0, 1, (n, n)) * (rng.random((n, n)) < 0.7), 1)
    K = K + K.T + np.diag(rng.uniform(1, 3, n))
    K = with_alpha(K, min(1.0, 0.95 * alpha_bound(K)))
    check_optimum(case, case.problem(K=K))


@pytest.mark.parametrize("alpha", [0.99, 0.999])
def test_near_the_border_of_convexity(alpha):
    case = random_descent_case(2, TREES[2], C=5.0)
    check_optimum(case, case.problem(alpha * alpha_bound(case.K(1.0))))


def test_single_precision():
    case = random_descent_case(1, TREES[1], C=5.0)
    value, _ = case.orthogonal_optimum(case.K(1.0))
    solution, _ = solve(case.problem(), tol=1e-3, dtype=np.float32)
    assert solution.W.dtype == np.float32
    assert solution.certificate.status == "converged"
    assert solution.certificate.dual <= value * (1 + 1e-6)
    assert solution.certificate.primal >= value * (1 - 1e-6)


def test_a_gap_in_place_of_a_relative_one():
    case = random_descent_case(1, TREES[1], C=5.0)
    certificate = solve(case.problem(), epsilon=1e-3)[0].certificate
    assert certificate.status == "converged"
    assert 1e-6 < certificate.gap <= 1e-3


def test_watch_sees_bounds_and_can_end_the_fit():
    case = random_descent_case(1, TREES[1], C=20.0)
    seen: list[Progress] = []
    watch = lambda progress: bool(seen.append(progress)) or len(seen) == 4  # noqa: E731
    solution, _ = solve(case.problem(), watch=watch)
    assert solution.certificate.status == "interrupted"
    value, _ = case.orthogonal_optimum(case.K(1.0))
    assert all(progress.dual <= value * (1 + 1e-9) <= progress.primal * (1 + 2e-9) for progress in seen)
    assert solution.certificate.dual <= value <= solution.certificate.primal


def test_too_few_rounds():
    case = random_descent_case(1, TREES[1], C=20.0)
    certificate = solve(case.problem(), max_iter=3)[0].certificate
    assert certificate.status == "iteration limit"
    assert certificate.n_iter == 3
