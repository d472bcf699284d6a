"""Steps of all variables together keep to the constraints, never lower the dual, and end slow convergence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from margrove.objective.contrasts import ContrastProblem
from margrove.objective.inputs import Similarities, Vectors
from margrove.outputs.layout import arrange
from margrove.solvers import dual_ascent
from margrove.solvers.face import _Face, climb
from margrove.taxonomy import costs
from oracles.contrasts import Table, random_problem

CASES = [
    {"loss": loss, "slack": slack, "descent": descent, "base": extra, "offset": extra}
    for loss in ("hinge", "squared-hinge")
    for slack in ("example", "pair")
    for descent in (False, True)
    for extra in (False, True)
]


def rough(problem, layout):
    options = {"tol": 1e-9, "max_iter": 2, "rng": np.random.default_rng(0), "dtype": np.float64}
    return dual_ascent.solve(problem, layout, **options)


@pytest.mark.parametrize("options", CASES, ids=lambda options: "-".join(map(str, options.values())))
@pytest.mark.parametrize("seed", range(3))
def test_the_dual_rises_within_the_constraints(seed, options):
    problem, layout = random_problem(seed, **options)
    solution = rough(problem, layout)
    value = problem.dual(solution.duals, problem.weights(solution.duals))
    found = climb(problem, solution.duals, problem.weights(solution.duals), value)
    if found is None:
        return
    raised, duals = found
    assert raised > 0
    assert problem.infeasibility(duals) < 1e-12
    assert problem.dual(duals, problem.weights(duals)) == pytest.approx(value + raised, rel=1e-12)
    assert raised <= solution.certificate.primal - value


@pytest.mark.parametrize("options", CASES, ids=lambda options: "-".join(map(str, options.values())))
def test_curvature_and_gradient_are_those_of_the_dual(options):
    """Second and first differences of the dual along a line."""
    problem, layout = random_problem(4, **options)
    duals = rough(problem, layout).duals
    face = _Face(problem, duals)
    v = np.random.default_rng(0).standard_normal(len(face.beta)) * face.beta  # no variable changes its sign

    def dual(t):
        moved = duals._replace(alpha=(face.beta + t * v) * face.cost)
        return problem.dual(moved, problem.weights(moved))

    h = 1e-3
    curved = (dual(h) - 2 * dual(0) + dual(-h)) / h**2
    assert -curved == pytest.approx(v @ face.curvature(v), rel=1e-5)
    assert face.along(v) @ face.along(v) == pytest.approx(v @ face.along(v))  # a projection


def alike(n=60, C=1.0):
    """Few inputs, far from the origin: one row is much like the other."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = rng.normal(0, 1, (n, 3)) + 2 * np.eye(3)[y] + 5
    return ContrastProblem(
        inputs=Vectors(sp.csr_array(X)),
        Y=sp.csr_array(np.eye(3)[y]),
        Lambda=sp.csr_array(np.eye(3)),
        cost=costs.zero_one().bind(None, [0, 1, 2]),
        bound=np.full(n, C),
    )


def test_slow_convergence_is_over(monkeypatch):
    problem = alike()
    layout = arrange(problem.Lambda, np.float64)
    options = {"tol": 1e-6, "max_iter": 400, "dtype": np.float64}
    quick = dual_ascent.solve(problem, layout, rng=np.random.default_rng(0), **options)
    assert quick.certificate.status == "converged"
    X = problem.inputs.X.toarray()
    similar = replace(problem, inputs=Similarities(Table(X @ X.T), np.arange(len(X))))
    again = dual_ascent.solve(similar, layout, rng=np.random.default_rng(0), **options)
    assert again.certificate.primal == pytest.approx(quick.certificate.primal, rel=2e-6)
    monkeypatch.setattr(dual_ascent, "CLIMBS", 0)
    slow = dual_ascent.solve(problem, layout, rng=np.random.default_rng(0), **options)
    assert slow.certificate.status == "iteration limit"
