"""What the contrast problem can be beside Cai's: other losses, rivals, base scores, offsets, similarities.

Each is given to a conic solver contrast by contrast, from its definition (P.6).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from margrove.objective.inputs import Similarities
from margrove.objective.losses import LOSSES
from margrove.solvers import dual_ascent
from oracles.contrasts import Table, naive_optimum, random_problem


def solve(problem, layout, **options):
    defaults = {"tol": 1e-8, "max_iter": 20_000, "rng": np.random.default_rng(0), "dtype": np.float64}
    return dual_ascent.solve(problem, layout, **(defaults | options))


CASES = [
    {"loss": loss, "slack": slack, "descent": descent, "base": extra, "offset": extra}
    for loss in LOSSES
    for slack in ("example", "pair")
    for descent in (False, True)
    for extra in (False, True)
    if not (loss == "logistic" and slack == "pair")
]


@pytest.mark.parametrize("options", CASES, ids=lambda options: "-".join(map(str, options.values())))
@pytest.mark.parametrize("seed", range(2))
def test_optimum(seed, options):
    problem, layout = random_problem(seed, **options)
    value, W = naive_optimum(problem)
    solution = solve(problem, layout)
    assert solution.certificate.status == "converged"
    assert problem.infeasibility(solution.duals) <= 1e-12
    assert solution.certificate.primal == pytest.approx(value, rel=1e-6)
    assert solution.certificate.dual <= value + 1e-7 * abs(value)
    # of the columns, only what contrasts see is determined
    centre = problem.Lambda - problem.Lambda.mean(axis=0)[None, :]
    ours, theirs = centre @ solution.W.T, centre @ W.T
    if not options["descent"]:
        np.testing.assert_allclose(ours, theirs, atol=2e-3 * abs(theirs).max())


@pytest.mark.parametrize("options", CASES, ids=lambda options: "-".join(map(str, options.values())))
def test_inner_products_are_enough(options):
    """With the similarity of the same vectors: the same optimum, and W = X' A."""
    problem, layout = random_problem(5, **options)
    X = problem.inputs.X.toarray()
    A = None
    if problem.offset is not None:
        A = np.random.default_rng(0).standard_normal((len(X), layout.n_columns))
        problem = replace(problem, offset=X.T @ A)
    linear = solve(problem, layout)
    similar = solve(
        replace(problem, inputs=Similarities(Table(X @ X.T), np.arange(len(X))), offset=A), layout
    )
    assert similar.certificate.status == "converged"
    assert similar.certificate.primal == pytest.approx(linear.certificate.primal, rel=1e-6)
    np.testing.assert_allclose(X.T @ similar.W, linear.W, atol=5e-3)
