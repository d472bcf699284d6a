"""The kernels of the perceptrons beside their slow twins, by weights and by similarities."""

from __future__ import annotations

import numpy as np
import pytest

from margrove.kernels import online as kernels
from margrove.outputs.growing import spread
from margrove.outputs.ranking import inputs_of
from margrove.solvers import online
from oracles import perceptron as twins
from oracles.problems import arranged, mixed_case, plain_of

DTYPES = [np.float32, np.float64]
RULES = list(online.RULES)


class Setting:
    """The k-th problem for the kernels, and as dense arrays."""

    def __init__(self, k, dtype, rule="perceptron", averaged=False):
        self.rng = np.random.default_rng(k)
        self.problem, layout = arranged(mixed_case(k).problem())
        columns = spread(layout, np.arange(len(layout.columns)))
        self.machine = online.Machine(columns, self.problem.cost, online.RULES[rule], averaged, dtype)
        self.plain = plain_of(self.problem)
        self.n, self.q = self.problem.Y.shape
        self.close = {"rtol": 1e-3, "atol": 1e-3} if dtype == np.float32 else {"atol": 1e-9}
        self.d, self.m = self.plain.X.shape[1], layout.n_columns
        self.known = self.rng.integers(1, self.q + 1, self.n).astype(np.int32)
        for i, right in enumerate(self.plain.right):
            self.known[i] = max(self.known[i], max(right, default=0) + 1)

    def tables(self):
        return self.machine.problem(
            inputs_of(self.problem.inputs.X, self.machine.dtype, alone=False)[0], self.problem.Y
        )

    def scores(self):
        return self.rng.standard_normal(self.q).astype(self.machine.dtype)

    def naive_learn(self, rule, order, **options):
        plain = self.plain
        return twins.naive_learn(plain.X, plain.right, plain.Lambda, plain.cost, rule, order, **options)


@pytest.mark.parametrize("dtype", DTYPES, ids=["single", "double"])
@pytest.mark.parametrize("k", range(12))
def test_choices_and_lengths(k, dtype):
    """lowest_right, highest_wrong, dearest_pair, step_length, with ties and with classes not known yet."""
    setting = Setting(k, dtype)
    targets, costs = setting.tables().targets, setting.machine.costs
    for i, right in enumerate(setting.plain.right):
        for F in (setting.scores(), np.zeros(setting.q, dtype), np.round(setting.scores())):
            known = int(setting.known[i])
            assert kernels.lowest_right(targets, i, F) == twins.naive_lowest_right(right, F)
            assert kernels.highest_wrong(targets, i, F, known) == twins.naive_highest_wrong(right, F, known)
            p, r = kernels.dearest_pair(targets, costs, i, F, known, setting.scores())
            best = twins.naive_dearest_pair(right, setting.plain.cost, F, known)
            assert (p < 0) == (best[0] < 0)
            if p >= 0 and (p, r) != best:  # a tie, but for rounding
                value = [np.sqrt(setting.plain.cost[y, w]) + F[w] - F[y] for y, w in ((p, r), best)]
                assert value[0] == pytest.approx(value[1], rel=1e-5)
    for name, rule in online.RULES.items():
        for margin in (-1.5, 0.0, 0.5, 3.0):
            for sq in (0.0, 2.0):
                found = kernels.step_length(rule, 2.0, margin, sq)
                assert found == pytest.approx(twins.naive_step_length(name, 2.0, margin, sq))


@pytest.mark.parametrize("dtype", DTYPES, ids=["single", "double"])
@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("k", range(12))
def test_learn(k, rule, averaged, dtype):
    """learn and score_example: every step, its scores before, the last weights and their mean."""
    setting = Setting(k, dtype, rule, averaged)
    order = setting.rng.integers(0, setting.n, 4 * setting.n)
    pasts, log = setting.naive_learn(rule, order, known=setting.known)
    W, U = np.zeros((2, setting.d, setting.m), dtype)
    visit = setting.machine.visit(setting.tables(), order, setting.known, W, U, 0, keep=True)
    chosen = list(zip(visit.pos.tolist(), visit.neg.tolist(), strict=True))
    differs = [t for t, (p, r, _) in enumerate(log) if chosen[t] != (p, r)]
    if differs:  # two pairs that are equally good, but for rounding; until then both agree
        t = differs[0]
        F = setting.plain.Lambda @ (pasts[t] @ setting.plain.X[order[t]])
        worth = np.sqrt(setting.plain.cost) if rule == "hieron-batch" else np.zeros_like(setting.plain.cost)
        losses = [worth[p, r] + F[r] - F[p] for p, r in (chosen[t], log[t][:2])]
        assert losses[0] == pytest.approx(losses[1], rel=1e-3, abs=setting.close["atol"])
        order, log, pasts = order[:t], log[:t], pasts[: t + 1]
        W, U = np.zeros((2, setting.d, setting.m), dtype)
        visit = setting.machine.visit(setting.tables(), order, setting.known, W, U, 0, keep=True)
    np.testing.assert_allclose(visit.step, [tau for *_, tau in log], **setting.close)
    np.testing.assert_allclose(W.T, pasts[-1], **setting.close)
    if averaged and len(order):
        np.testing.assert_allclose(W.T - U.T / len(order), np.mean(pasts[1:], axis=0), **setting.close)
    else:
        assert not U.any()
    for t, i in enumerate(order):
        before = pasts[1 : t + 1] if averaged and t else [pasts[t]]
        F = twins.naive_score_example(setting.plain.X[i], setting.plain.Lambda, before)
        np.testing.assert_allclose(visit.scores[t], F, **setting.close)


@pytest.mark.parametrize("k", range(12))
def test_find_worst(k):
    setting = Setting(k, np.float64)
    W = setting.rng.standard_normal((setting.d, setting.m))
    scores = [setting.plain.Lambda @ (W.T @ x) for x in setting.plain.X]
    found = kernels.find_worst(setting.tables(), setting.known, W, setting.machine.space)
    assert found == twins.naive_find_worst(setting.plain.right, setting.known, scores)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("k", range(6))
def test_weights_and_scores_are_two_forms_of_one_pass(k, rule):
    """The primal and the dual form: the same steps, and coefficients that combine to the same weights."""
    setting = Setting(k, np.float64, rule, averaged=True)
    machine, X = setting.machine, setting.problem.inputs.X
    W, U = np.zeros((2, setting.d, setting.m))
    primal = online.Weights(machine, X, setting.problem.Y, W, U)
    gram = (X @ X.T).toarray()
    dual = online.Scores(machine, gram.__getitem__, gram.diagonal().copy(), setting.problem.Y)
    orders = [setting.rng.permutation(setting.n) for _ in range(5)]
    ours, n_ours = online.epochs(machine, primal, orders)
    theirs, n_theirs = online.epochs(machine, dual, orders)
    assert (ours.contrasts, ours.updates, n_ours) == (theirs.contrasts, theirs.updates, n_theirs)
    C, D = dual.coefficients()
    np.testing.assert_allclose(X.T @ C, W, atol=1e-9)
    np.testing.assert_allclose(X.T @ D, U, atol=1e-8)


@pytest.mark.parametrize("k", range(6))
def test_dual_variables(k):
    """Algorithm 5, which knows nothing of weights, has the same variables and so the same weights (G.3)."""
    setting = Setting(k, np.float64)
    plain = setting.plain
    order = setting.rng.integers(0, setting.n, 3 * setting.n)
    alpha = twins.naive_dual(plain.X @ plain.X.T, plain.right, plain.Lambda, plain.cost, order)
    pasts, _ = setting.naive_learn("perceptron", order)
    total = sum(
        (
            value * np.outer(plain.Lambda[y] - plain.Lambda[r], plain.X[i])
            for (i, y, r), value in alpha.items()
        ),
        np.zeros_like(pasts[-1]),
    )
    np.testing.assert_allclose(total, pasts[-1], atol=1e-9)
    W, U = np.zeros((2, setting.d, setting.m))
    known = setting.machine.all_known(setting.n)
    log = setting.machine.visit(setting.tables(), order, known, W, U, 0)
    steps = {}
    for i, p, r, tau in zip(order, log.pos, log.neg, log.step, strict=True):
        if tau > 0:
            steps[i, p, r] = steps.get((i, p, r), 0.0) + tau
    assert steps == pytest.approx(alpha)


@pytest.mark.parametrize("k", range(6))
def test_minover(k):
    setting = Setting(k, np.float64)
    plain, X = setting.plain, setting.problem.inputs.X
    W, updates, converged = twins.naive_minover(plain.X, plain.right, plain.Lambda, plain.cost, 60)
    gram = (X @ X.T).toarray()
    scores = online.Scores(setting.machine, gram.__getitem__, gram.diagonal().copy(), setting.problem.Y)
    found = online.worst_first(setting.machine, scores, 60)
    assert (found.updates, found.converged) == (updates, converged)
    np.testing.assert_allclose((X.T @ scores.coefficients()[0]).T, W, atol=1e-9)
