"""Cai's propositions, on random problems and on every solution (2 and Corollary 1 are in conftest.py)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import margrove as mg
from margrove.testing import edge_lists
from oracles.objective import naive_dual, naive_primal, naive_psi, naive_share, naive_weights
from oracles.problems import mixed_case, plain_of, solve
from oracles.taxonomy import naive_ancestors


@given(st.data())
def test_proposition_1(data):
    """The cost between label sets is at most the sum of those between the labels that they do not share."""
    edges = data.draw(edge_lists(min_nodes=4, max_nodes=12, max_parents=3))
    taxonomy = mg.Taxonomy.from_edges(edges)
    classes = list(taxonomy.classes)
    sets = st.sets(st.sampled_from(classes), min_size=1)
    right, predicted = data.draw(sets), data.draw(sets)
    volumes = {v: data.draw(st.floats(0.1, 3)) for v in taxonomy.nodes}
    for cost in (mg.costs.symmetric_difference(), mg.costs.symmetric_difference(volumes, 2.0, 0.3)):
        total = cost.set_cost(taxonomy, right, predicted)
        if right <= predicted or predicted <= right:
            continue  # the proposition says nothing: there may be no pair at all
        table = cost.bind(taxonomy, classes).matrix()
        numbers = {label: k for k, label in enumerate(classes)}
        pairs = sum(table[numbers[y], numbers[r]] for y in right - predicted for r in predicted - right)
        assert total <= pairs + 1e-9
    mine = set().union(*(naive_ancestors(edges, y) for y in right))
    theirs = set().union(*(naive_ancestors(edges, y) for y in predicted))
    assert mg.costs.symmetric_difference().set_cost(taxonomy, right, predicted) == len(mine ^ theirs)


@pytest.mark.parametrize("k", range(12))
def test_proposition_3_no_psi_at_the_optimum(k):
    plain, solution, duals = solve(mixed_case(k).problem())
    psi = [naive_psi(plain, solution.W, duals, i) for i in range(len(plain.X))]
    scale = plain.cost.max() * max(1.0, solution.certificate.primal)
    assert max(psi) <= 1e-5 * scale
    assert solution.certificate.max_violation <= 1e-5 * scale


@pytest.mark.parametrize("max_iter", [0, 1, 2])
@pytest.mark.parametrize("k", range(12))
def test_proposition_3_no_optimum_with_psi_and_shares_make_the_gap(k, max_iter):
    """Stopped early: the gap is the sum of the shares (E.5), none larger than what psi allows."""
    plain, solution, duals = solve(mixed_case(k).problem(), max_iter=max_iter)
    examples = range(len(plain.X))
    psi = [naive_psi(plain, solution.W, duals, i) for i in examples]
    shares = [naive_share(plain, solution.W, duals, i) for i in examples]
    gap = naive_primal(plain, solution.W) - naive_dual(plain, duals)
    assert sum(shares) == pytest.approx(gap, rel=1e-9, abs=1e-9)
    assert solution.certificate.gap == pytest.approx(gap, rel=1e-7, abs=1e-9)
    # one slack an example has one bound to spend; a slack for each contrast has as many bounds as contrasts
    counts = [1 if plain.slack == "example" else len(plain.contrasts(i)) for i in examples]
    for share, bound, count, violation in zip(shares, plain.bound, counts, psi, strict=True):
        assert -1e-9 <= share <= bound * count * violation + 1e-9
    if gap > 1e-6 * naive_primal(plain, solution.W):
        assert max(psi) > 0
    assert solution.certificate.max_violation == pytest.approx(max(psi), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("k", range(12))
def test_proposition_3_for_any_feasible_dual_variables(k):
    """Away from the optimum some psi is positive, and the shares still make the gap."""
    plain = plain_of(mixed_case(k).problem())
    rng = np.random.default_rng(1)
    duals = {}
    for i in range(len(plain.X)):
        contrasts = plain.contrasts(i)
        parts = rng.dirichlet(np.ones(len(contrasts) + 1))[:-1] * plain.bound[i]
        duals |= {(i, *pair): plain.cost[pair] * beta for pair, beta in zip(contrasts, parts, strict=True)}
    W = naive_weights(plain, duals)
    gap = naive_primal(plain, W) - naive_dual(plain, duals)
    shares = [naive_share(plain, W, duals, i) for i in range(len(plain.X))]
    assert gap > 0
    assert sum(shares) == pytest.approx(gap, rel=1e-9)
    assert max(naive_psi(plain, W, duals, i) for i in range(len(plain.X))) > 0
