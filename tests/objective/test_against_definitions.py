"""objective/ beside plain loops over contrasts, for any weights and any dual variables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from margrove.objective.certificate import Certificate
from margrove.objective.contrasts import Duals
from margrove.objective.inputs import Vectors
from oracles.objective import naive_dual, naive_infeasibility, naive_primal, naive_slack, naive_weights
from oracles.problems import ATTRIBUTES, COSTS, SHAPES, SLACKS, TREE_ONLY, plain_of, random_case

POINTS = [
    (seed, shape, cost, slack, multilabel)
    for seed, (shape, cost, slack, multilabel) in enumerate(product(SHAPES, COSTS, SLACKS, (False, True)))
    if not (shape == "dag" and cost in TREE_ONLY)
]


def random_duals(rng, plain, feasible=True):
    """Some dual variables of each example; in all less than its bound, or more."""
    duals = {}
    for i in range(len(plain.X)):
        contrasts = [pair for pair in plain.contrasts(i) if rng.random() < 0.5]
        share = rng.dirichlet(np.ones(len(contrasts) + 1)) * (1 if feasible else 3) * plain.bound[i]
        duals |= {(i, *pair): plain.cost[pair] * beta for pair, beta in zip(contrasts, share, strict=False)}
    return duals


def as_duals(duals):
    keys = np.array(list(duals), np.int64).reshape(-1, 3)
    return Duals(*keys.T, np.array(list(duals.values()), float))


@pytest.mark.parametrize(("seed", "shape", "cost", "slack", "multilabel"), POINTS)
def test_values_are_those_of_the_definitions(seed, shape, cost, slack, multilabel):
    attributes = ATTRIBUTES[seed % len(ATTRIBUTES)]
    case = random_case(
        seed, shape, cost=cost, attributes=attributes, slack=slack, multilabel=multilabel, n=7, d=3
    )
    problem = case.problem()
    plain = plain_of(problem)
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((plain.X.shape[1], plain.Lambda.shape[1]))
    xi = [naive_slack(plain, W, i) for i in range(len(plain.X))]
    for block in (1, 1 << 21):
        np.testing.assert_allclose(problem.slacks(W, block), xi, rtol=1e-12, atol=1e-12)
    assert problem.primal(W) == pytest.approx(naive_primal(plain, W), rel=1e-12)
    np.testing.assert_allclose(problem.slacks(W.astype(np.float32)), xi, rtol=1e-4, atol=1e-4)

    duals = random_duals(rng, plain)
    ours = as_duals(duals)
    np.testing.assert_allclose(problem.weights(ours), naive_weights(plain, duals), rtol=1e-12, atol=1e-13)
    V = problem.weights(ours)
    assert problem.dual(ours, V) == pytest.approx(naive_dual(plain, duals), rel=1e-12)
    assert problem.values(ours, V) == (problem.primal(V), problem.dual(ours, V))
    assert problem.n_contrasts.tolist() == [len(plain.contrasts(i)) for i in range(len(plain.X))]

    # weak duality: no feasible dual is above any primal
    assert problem.infeasibility(ours) <= 1e-12
    assert problem.dual(ours, V) <= problem.primal(W)

    too_much = random_duals(rng, plain, feasible=False)
    assert problem.infeasibility(as_duals(too_much)) == pytest.approx(
        naive_infeasibility(plain, too_much), rel=1e-9
    )
    negative = ours._replace(alpha=np.full_like(ours.alpha, -0.25))
    assert problem.infeasibility(negative) >= 0.25


@pytest.mark.parametrize("slack", SLACKS)
def test_the_costs_and_attributes_of_the_problem_are_those_of_the_definitions(slack):
    """What the other tests take over from the problem, against the taxonomy's own twins."""
    for seed, cost in enumerate(COSTS):
        case = random_case(seed, cost=cost, slack=slack)
        theirs, ours = case.plain(), plain_of(case.problem())
        np.testing.assert_allclose(ours.cost, theirs.cost, atol=1e-14)
        contrasts, expected = (lam[:, None, :] - lam[None, :, :] for lam in (ours.Lambda, theirs.Lambda))
        gram, expected_gram = (np.einsum("abv,cdv->abcd", part, part) for part in (contrasts, expected))
        np.testing.assert_allclose(gram, expected_gram, atol=1e-14)


@pytest.mark.parametrize("density", [0.0, 0.01, 0.3])
def test_sums_of_examples_are_the_same_from_few_coefficients_and_from_many(density):
    rng = np.random.default_rng(0)
    X = sp.random_array((40, 30), density=0.2, format="csr", rng=rng)
    A = sp.random_array((40, 25), density=density, format="csr", rng=rng)
    W = Vectors(X).combine(A, np.float64)
    assert type(W) is np.ndarray
    np.testing.assert_allclose(W, X.toarray().T @ A.toarray(), atol=1e-13)


def test_no_dual_variables():
    problem = random_case(0).problem()
    nothing = Duals(*(np.zeros(0, np.int64) for _ in range(3)), np.zeros(0))
    W = problem.weights(nothing)
    assert not W.any()
    assert problem.dual(nothing, W) == 0
    assert problem.infeasibility(nothing) == 0
    # without weights every margin is 0, so each slack is the worst cost
    worst = [max(plain_of(problem).cost[y].max() for y in mine) for mine in plain_of(problem).right]
    assert problem.primal(W) == pytest.approx(problem.bound @ worst)


def test_certificate_tells_its_gap():
    certificate = Certificate(4.0, 3.0, 7, "stalled", 0.1, 0.5, 12)
    assert certificate.gap == 1.0
    assert certificate.relative_gap == 0.25
    assert certificate.as_dict()["relative_gap"] == 0.25
    assert Certificate(0.0, 0.0, 0, "converged", 0.0, 0.0, 0).relative_gap == 0.0
    assert "stalled" in str(certificate)
    assert "7 rounds" in str(certificate)
