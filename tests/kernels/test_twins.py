"""Every kernel beside its slow twin, on random problems of every kind, in both float types."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import margrove.kernels
from margrove.kernels import block as blocks
from margrove.kernels import losses, passes, scores, strings
from margrove.objective.losses import LOSSES, conjugate, loss_of
from margrove.outputs.ranking import LOSS_CODES
from margrove.outputs.tables import HINGE
from margrove.similarity.strings import encode
from margrove.similarity.strings import subsequence_pairs as plain_subsequence_pairs
from margrove.solvers.state import empty_slots, filled, no_findings, scratch
from oracles import kernels as twins
from oracles import perceptron, subtrees
from oracles.objective import naive_primal, naive_slack, naive_violation, naive_weights
from oracles.problems import arranged, mixed_case, plain_of, random_case, tables_of

DTYPES = [np.float32, np.float64]
OFFERS = 4
EXACT = 1e-12  # as good as zero for the tolerance of a small problem
MANY = 100_000  # steps


class Engine:
    """The k-th problem as the kernels see it, with weights and active contrasts to start from."""

    def __init__(self, k, dtype, capacity=6):
        problem, layout = arranged(mixed_case(k).problem())
        self.rng = np.random.default_rng(k)
        self.dtype, self.close = (
            dtype,
            {"rtol": 2e-4, "atol": 2e-4} if dtype == np.float32 else {"atol": 1e-9},
        )
        self.plain = plain_of(problem)
        self.n, self.q = problem.Y.shape
        self.shared = problem.slack == "example"
        self.tables, self.features = tables_of(problem, layout, dtype)
        self.W = (0.3 * self.rng.standard_normal((len(self.features), layout.n_columns))).astype(dtype)
        counts = np.array([len(self.plain.contrasts(i)) for i in range(self.n)])
        self.slots = empty_slots(np.minimum(counts, capacity), dtype)
        offers = OFFERS if self.shared else self.q
        self.scratch = scratch(self.tables.attributes, self.slots, layout.n_columns, offers)
        self.found = no_findings(self.n)

    def fill(self, most=3):
        """Some active contrasts for every example, some of them without weight."""
        for i in range(self.n):
            pairs = self.plain.contrasts(i)
            chosen = self.rng.permutation(len(pairs))[: self.rng.integers(0, most + 1)]
            parts = self.rng.dirichlet(np.ones(len(chosen) + 1))[:-1] * self.plain.bound[i]
            parts[self.rng.random(len(parts)) < 0.3] = 0.0
            self.slots.used[i] = len(chosen)
            for b, (k, beta) in enumerate(zip(chosen, parts, strict=True)):
                at = self.slots.ptr[i] + b
                self.slots.pos[at], self.slots.neg[at] = pairs[k]
                self.slots.cost[at], self.slots.beta[at] = self.plain.cost[pairs[k]], beta
        return self

    @property
    def active(self):
        """{example: {contrast: beta}}"""
        found = {i: {} for i in range(self.n)}
        for i, at in zip(*filled(self.slots), strict=True):
            pair = int(self.slots.pos[at]), int(self.slots.neg[at])
            assert pair not in found[i], "a contrast has two slots"
            found[int(i)][pair] = float(self.slots.beta[at])
        return found

    @property
    def duals(self):
        return {
            (i, *pair): beta * self.plain.cost[pair]
            for i, mine in self.active.items()
            for pair, beta in mine.items()
        }

    @property
    def whole(self):
        """The weights of all inputs: also of those that only one example has, which follow from its duals."""
        W = np.zeros((self.plain.X.shape[1], self.W.shape[1]))
        alone = np.setdiff1d(np.arange(len(W)), self.features)
        W[alone] = naive_weights(self.plain, self.duals)[alone]
        W[self.features] = self.W
        return W

    def contrasts(self, k=4):
        """A few distinct contrasts of some example, as arrays."""
        i = int(self.rng.integers(self.n))
        pairs = self.plain.contrasts(i) or [(0, 1)]
        chosen = [pairs[c] for c in self.rng.permutation(len(pairs))[:k]]
        pos, neg = np.array(chosen, np.int32).T
        return chosen, np.ascontiguousarray(pos), np.ascontiguousarray(neg)

    def load(self, k=4):
        """A few contrasts, what the working space holds of them, and how many nodes they touch."""
        chosen, pos, neg = self.contrasts(k)
        n_nodes = blocks.load_contrasts(self.scratch.block, self.tables.attributes, pos, neg)
        return chosen, [self.local(b) for b in range(len(chosen))], n_nodes

    def local(self, b):
        """Contrast b in the working space, by local node."""
        part = slice(self.scratch.block.ptr[b], self.scratch.block.ptr[b + 1])
        return dict(
            zip(self.scratch.block.idx[part].tolist(), self.scratch.block.val[part].tolist(), strict=True)
        )


@pytest.fixture(params=range(12))
def k(request):
    return request.param


@pytest.fixture(params=DTYPES, ids=["single", "double"])
def engine(request, k):
    return Engine(k, request.param)


def kernel_names():
    """All functions under the decorator, by reading the source: compiled or not, they are found."""
    room = Path(margrove.kernels.__file__).parent
    for file in room.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef) and "kernel" in map(ast.unparse, node.decorator_list):
                yield node.name


def test_every_kernel_has_a_twin_and_every_twin_a_test():
    names = set(kernel_names())
    assert {"search", "ascend", "score_nodes", "dot"} <= names
    rooms = (twins, perceptron, subtrees)
    assert not [name for name in names if not any(hasattr(room, f"naive_{name}") for room in rooms)]
    here = "".join(file.read_text() for file in sorted(Path(__file__).parent.glob("test_*.py")))
    assert not [name for name in names if f"naive_{name}(" not in here]


def test_scores(engine):
    s, T, F = engine.scratch.s, engine.scratch.T, engine.scratch.F
    base = engine.rng.standard_normal(len(s)).astype(engine.dtype)
    for i in range(engine.n):
        scores.score_nodes(engine.tables.inputs, i, engine.W, base, s)
        np.testing.assert_allclose(
            s, twins.naive_score_nodes(engine.plain.X[i, engine.features], engine.W, base), **engine.close
        )
        scores.score_outputs(engine.tables.attributes, s, T, F)
        np.testing.assert_allclose(F, twins.naive_score_outputs(engine.plain.Lambda, s), **engine.close)
        nodes = engine.rng.permutation(engine.W.shape[1])[:3].astype(np.uint32)
        some = np.full(3, np.nan, engine.dtype)
        passes.gather_scores(engine.tables.inputs, i, engine.W, base, nodes, some)
        np.testing.assert_allclose(
            some,
            twins.naive_gather_scores(engine.plain.X[i, engine.features], engine.W, base, nodes),
            **engine.close,
        )


def test_scores_of_long_and_short_rows():
    """Nonzeros are taken several at a time: every remainder, and an empty row."""
    rng = np.random.default_rng(0)
    for nonzeros in range(10):
        engine = Engine(0, np.float64)
        x = rng.standard_normal(nonzeros)
        inputs = engine.tables.inputs._replace(
            ptr=np.array([0, nonzeros]), idx=np.arange(nonzeros, dtype=np.int32), val=x
        )
        W = rng.standard_normal((nonzeros + 1, 3))
        s = np.full(3, np.nan)
        base = rng.standard_normal(3)
        scores.score_nodes(inputs, 0, W, base, s)
        np.testing.assert_allclose(s, twins.naive_score_nodes(x, W, base), atol=1e-12)


def test_cost_row(engine):
    out = engine.scratch.d
    for p in range(engine.q):
        scores.cost_row(engine.tables.costs, np.int32(p), out)
        np.testing.assert_allclose(out, twins.naive_cost_row(engine.plain.cost, p), rtol=1e-5, atol=1e-6)
        assert out[p] == 0


def test_write_contrast(engine):
    block = engine.scratch.block
    for p in range(engine.q):
        for r in range(engine.q):
            if p == r:
                continue
            end = blocks.write_contrast(
                engine.tables.attributes, np.int32(p), np.int32(r), block.idx, block.val, 0
            )
            ours = dict(zip(block.idx[:end].tolist(), block.val[:end].tolist(), strict=True))
            theirs = twins.naive_write_contrast(engine.plain.Lambda.astype(engine.dtype), p, r)
            assert len(ours) == end, "a column twice"
            assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-6)


def test_load_and_unload_contrasts(engine):
    chosen, local, n_nodes = engine.load()
    contrasts, touched = twins.naive_load_contrasts(engine.plain.Lambda.astype(engine.dtype), chosen)
    nodes = engine.scratch.block.nodes[:n_nodes].tolist()
    assert len(nodes) == len(touched)
    assert set(nodes) == touched
    for mine, theirs in zip(local, contrasts, strict=True):
        assert {nodes[u]: a for u, a in mine.items()} == pytest.approx(theirs, rel=1e-5)
    blocks.unload_contrasts(engine.scratch.block, n_nodes)
    assert engine.scratch.block.local.tolist() == twins.naive_unload_contrasts(engine.W.shape[1])


def test_steps_along_contrasts(engine):
    """dot, add_to_line and take_step."""
    _, local, n_nodes = engine.load(2)
    block = engine.scratch.block
    line, change = np.zeros(n_nodes), np.zeros(n_nodes)
    dense = engine.rng.standard_normal(len(block.score)).astype(engine.dtype)
    for b, contrast in enumerate(local):
        assert blocks.dot(block, b, dense) == pytest.approx(
            twins.naive_dot(contrast, dense), rel=1e-4, abs=1e-5
        )
        factor = engine.dtype(0.7 - b)
        blocks.add_to_line(block, b, factor)
        line = twins.naive_add_to_line(line, contrast, factor)
        np.testing.assert_allclose(block.line[:n_nodes], line, **engine.close)
    for b, contrast in enumerate(local):
        blocks.take_step(block, b, 0.4)
        change, line = twins.naive_take_step(change, line, contrast, 0.4)
        np.testing.assert_allclose(block.line[:n_nodes], line, **engine.close)
        np.testing.assert_allclose(block.change[:n_nodes], change, **engine.close)
    assert not block.line.any()


@pytest.mark.parametrize("start", ["nothing", "some", "all", "one"])
def test_small_problems_are_solved_exactly(engine, start):
    """ascend_shared and ascend_pairs, from several starts, against every face of the feasible set."""
    chosen, local, n_nodes = engine.load()
    k, block, dtype = len(chosen), engine.scratch.block, engine.dtype
    bound, sq = dtype(engine.rng.choice([0.375, 1.5])), dtype(engine.rng.uniform(0.5, 3))
    cost = np.array([engine.plain.cost[pair] for pair in chosen], dtype)
    part = {"nothing": np.zeros(k), "one": np.eye(k)[0]}.get(
        start, engine.rng.multinomial(64, np.ones(k) / k) / 64
    )
    old = (part * bound * (0.5 if start == "some" else 1)).astype(dtype)  # of which the sum is exact
    H = (engine.rng.standard_normal(k) * cost).astype(dtype)
    Q = twins.naive_gram(local, cost, sq)

    for ascend, naive, limits in (
        (blocks.ascend_shared, twins.naive_ascend_shared(H, Q, old, bound), (np.inf, bound)),
        (blocks.ascend_pairs, twins.naive_ascend_pairs(H, Q, old, bound), (bound, np.inf)),
    ):
        beta = old.copy()
        block.H[:k], block.change[:] = H, 0.0
        psi = ascend(block, beta, cost, bound, HINGE, sq, 1e-6 if dtype == np.float32 else EXACT, MANY)
        expected_psi, best = naive
        assert psi == pytest.approx(expected_psi, rel=1e-5, abs=1e-6)
        assert beta.min() >= 0
        assert beta.max() <= limits[0]
        assert beta.sum() <= limits[1] * (1 + 1e-6)
        value = twins.naive_value(H, Q, old, beta)
        assert value == pytest.approx(twins.naive_value(H, Q, old, best), rel=1e-4, abs=1e-5)
        # the step in node space, unlike beta, is unique; violations are kept up to date; nothing is left over
        step = np.zeros(n_nodes)
        for contrast, d, move in zip(local, cost, beta - old, strict=True):
            step = twins.naive_add_to_line(step, contrast, d * move)
        np.testing.assert_allclose(block.change[:n_nodes], step, **engine.close)
        np.testing.assert_allclose(block.H[:k], H - Q @ (beta - old), rtol=1e-3, atol=1e-4)
        assert not block.line.any()


def test_no_step_is_taken_within_the_tolerance(engine):
    chosen, _, _ = engine.load()
    k, block = len(chosen), engine.scratch.block
    cost, beta = np.ones(k, engine.dtype), np.zeros(k, engine.dtype)
    for ascend in (blocks.ascend_shared, blocks.ascend_pairs):
        block.H[:k] = 0.25
        one = engine.dtype(1)
        assert ascend(block, beta, cost, one, HINGE, one, 0.3, MANY) == 0.25
        assert not beta.any()
        assert not block.change.any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_offer(k, dtype):
    """Contrasts come one by one to slots that are too few."""
    engine = Engine(k, dtype, capacity=2).fill(most=2)
    i = int(np.argmax(np.diff(engine.slots.ptr)))
    start, capacity = engine.slots.ptr[i], int(np.diff(engine.slots.ptr)[i])
    H = engine.scratch.block.H
    H[: engine.slots.used[i]] = engine.rng.random(engine.slots.used[i])
    model = {pair: (beta, float(H[b])) for b, (pair, beta) in enumerate(engine.active[i].items())}
    others = [pair for pair in engine.plain.contrasts(i) if pair not in model]
    for pair in others:
        h = engine.dtype(engine.rng.random())
        model, taken = twins.naive_offer(model, capacity, pair, float(h))
        cost = engine.plain.cost[pair]
        assert passes.offer(engine.slots, i, np.int32(pair[0]), np.int32(pair[1]), cost, h, H) == taken
        assert engine.active[i] == {key: beta for key, (beta, _) in model.items()}
        for b in range(engine.slots.used[i]):
            key = int(engine.slots.pos[start + b]), int(engine.slots.neg[start + b])
            assert H[b] == engine.dtype(model[key][1])
            assert engine.slots.cost[start + b] == pytest.approx(engine.plain.cost[key], rel=1e-5)


def test_drop_idle(engine):
    engine.fill()
    for i in range(engine.n):
        H = engine.scratch.block.H
        used = engine.slots.used[i]
        H[:used] = engine.rng.standard_normal(used)
        model = {pair: (beta, float(H[b])) for b, (pair, beta) in enumerate(engine.active[i].items())}
        passes.drop_idle(engine.slots, i, H, engine.dtype(0.1))
        model = twins.naive_drop_idle(model, 0.1)
        assert list(engine.active[i].items()) == [(pair, beta) for pair, (beta, _) in model.items()]
        assert H[: len(model)].tolist() == [h for _, h in model.values()]
        at = slice(engine.slots.ptr[i], engine.slots.ptr[i] + len(model))
        costs = [engine.plain.cost[pair] for pair in model]
        np.testing.assert_allclose(engine.slots.cost[at], costs, rtol=1e-6)


def test_helpers_of_the_search(engine):
    """Violations from costs, and whether any is above a floor; at the ends of a chunk too."""
    d, F = engine.rng.standard_normal((2, engine.q)).astype(engine.dtype)
    expected = twins.naive_violations(d.tolist(), 0.5, F.tolist())
    passes.violations(d, engine.dtype(0.5), F)
    np.testing.assert_allclose(d, expected, **engine.close)
    for least in (-9.0, *d.tolist(), 9.0):
        assert passes.any_above(d, engine.dtype(least)) == twins.naive_any_above(d.tolist(), least)
    assert not passes.any_above(d[:0], engine.dtype(-9.0))


@pytest.mark.parametrize("loss", LOSSES)
def test_losses(loss):
    """By their definitions; the conjugate by a search, its slope by differences, the best step by grids."""
    rng, code = np.random.default_rng(0), LOSS_CODES[loss]
    for m in (-30.0, -1.0, 0.0, 0.3, 1.0, 4.0):
        assert losses.loss_at(code, m) == pytest.approx(twins.naive_loss_at(loss, m))
        assert loss_of(loss, np.array([m]))[0] == pytest.approx(twins.naive_loss_at(loss, m))
    for t in (0.01, 0.2, 0.5, 0.99):
        assert losses.conjugate(code, t) == pytest.approx(twins.naive_conjugate(loss, t), abs=1e-6)
        assert conjugate(loss, np.array([t]))[0] == pytest.approx(losses.conjugate(code, t))
        slope = twins.naive_spare_violation(loss, t)
        assert losses.spare_violation(code, t) == pytest.approx(slope, abs=1e-5)
    for _ in range(40):
        bound, slope = rng.uniform(0.2, 3.0, 2)
        total = rng.uniform(0, bound)
        low, high = -rng.uniform(0, total), rng.uniform(0, bound - total)
        h = 2 * rng.standard_normal()
        expected = twins.naive_best_step(loss, bound, total, h, slope, low, high)
        found = losses.best_step(code, bound, total, h, slope, low, high)
        assert found == pytest.approx(expected, abs=1e-6)
    assert losses.best_step(code, 1.0, 0.0, 1.0, 0.0, 0.0, 0.5) > 0  # two equal contrasts, no curvature


def test_what_one_example_has_alone(engine):
    """Weights of private inputs are not stored: scores get their part from the example's own duals."""
    engine.fill()
    block, shape = engine.scratch.block, engine.W.shape[1]
    for i in range(engine.n):
        s = engine.rng.standard_normal(shape).astype(engine.dtype)
        duals = {pair: beta for pair, beta in engine.active[i].items() if beta > 0}
        private = engine.tables.inputs.private[i]
        expected = twins.naive_add_private_everywhere(engine.plain, duals, s, private)
        passes.add_private_everywhere(engine.tables, engine.slots, i, block, s)
        np.testing.assert_allclose(s, expected, **engine.close)
    chosen, _, n_nodes = engine.load()
    beta, cost = engine.rng.random((2, len(chosen))).astype(engine.dtype)
    beta[:1] = 0.0
    block.score[:n_nodes] = 1.0
    blocks.add_private(block, beta, cost, engine.dtype(0.7))
    nodes = block.nodes[:n_nodes].tolist()
    contrasts = [twins.naive_write_contrast(engine.plain.Lambda, *pair) for pair in chosen]
    expected = twins.naive_add_private(contrasts, beta, cost, 0.7)
    np.testing.assert_allclose(
        block.score[:n_nodes], [1.0 + expected.get(v, 0.0) for v in nodes], **engine.close
    )
    blocks.unload_contrasts(block, n_nodes)


@pytest.mark.parametrize("limit", [1, 3, 20])
@pytest.mark.parametrize("dtype", DTYPES)
def test_keep_worst(dtype, limit):
    """Outputs come in any order, each more violated than the last of a full list; ties keep their order."""
    rng = np.random.default_rng(limit)
    H = rng.integers(0, 8, 15).astype(dtype)
    worst, count, theirs = np.zeros(limit, np.int32), 0, []
    for r in range(15):
        if count == limit and H[r] <= H[worst[count - 1]]:
            continue
        count = passes.keep_worst(worst, count, H, r)
        theirs = twins.naive_keep_worst(theirs, limit, H, r)
        assert worst[:count].tolist() == theirs


def assert_found(engine, i, theirs):
    for name, value in theirs.items():
        ours = getattr(engine.found, name)[i]
        assert ours == pytest.approx(value, rel=2e-4, abs=1e-4 if engine.dtype == np.float32 else 1e-9), name


def test_look_at_all(engine):
    """What is found agrees with the definitions, and the worst contrast of each example gets a slot."""
    engine.fill()
    before = engine.active
    for i in range(engine.n):
        theirs = twins.naive_look_at_all(engine.plain, engine.whole, engine.duals, i)
        passes.look_at_all(
            engine.tables, engine.slots, i, engine.W, engine.scratch, engine.shared, engine.found
        )
        assert_found(engine, i, theirs)
        after = engine.active[i]
        kept = {pair: beta for pair, beta in before[i].items() if beta > 0}
        assert kept == {pair: beta for pair, beta in after.items() if beta > 0}
        assert set(after) <= set(engine.plain.contrasts(i))
        H = {
            pair: naive_violation(engine.plain, engine.whole, i, *pair) for pair in engine.plain.contrasts(i)
        }
        if not H:
            continue  # every class is right
        worst = max(H, key=H.get)
        lowest = min([H[pair] for pair in kept], default=0.0)
        if H[worst] > max(lowest, 0.0) + 1e-4:
            assert worst in after
        new = set(after) - set(before[i])
        if engine.found.fresh[i]:
            assert new or engine.found.missed[i]


def test_search(engine):
    """The statistics of every example in the order; their sums are the primal and the gap; W stays."""
    engine.fill()
    W, whole, duals = engine.W.copy(), engine.whole, engine.duals
    order = engine.rng.permutation(engine.n)[:-2].astype(np.int64)
    passes.search(engine.tables, engine.slots, order, engine.W, engine.scratch, engine.shared, engine.found)
    for i, theirs in twins.naive_search(engine.plain, whole, duals, order.tolist()).items():
        assert_found(engine, i, theirs)
    assert (engine.W == W).all()
    assert {key for key, alpha in engine.duals.items() if alpha > 0} == {
        key for key, a in duals.items() if a > 0
    }
    left_out = sorted(set(range(engine.n)) - set(order.tolist()))
    assert not engine.found.loss[left_out].any()
    assert sum(naive_slack(engine.plain, whole, i) for i in order) == pytest.approx(
        engine.found.loss.sum(), rel=1e-3
    )


def test_add_to_weights(engine):
    for i in range(engine.n):
        nodes = engine.rng.permutation(engine.W.shape[1])[:4].astype(np.uint32)
        change = engine.rng.standard_normal(len(nodes)).astype(engine.dtype)
        change[1] = 0.0
        expected = twins.naive_add_to_weights(
            engine.plain.X[i, engine.features], engine.W, nodes.tolist(), change.tolist()
        )
        passes.add_to_weights(engine.tables.inputs, i, engine.W, nodes, change)
        np.testing.assert_allclose(engine.W, expected, **engine.close)
        assert not change.any()


def visit(engine, order, full):
    eps = 1e-6 if engine.dtype == np.float32 else EXACT
    passes.ascend(
        engine.tables,
        engine.slots,
        np.asarray(order, np.int64),
        engine.W,
        engine.scratch,
        engine.shared,
        engine.found,
        full,
        eps,
        MANY,
    )


def test_ascend_over_active_contrasts(engine):
    """A pass solves the problems of examples one by one, each with the weights that the last one left."""
    engine.fill()
    order = engine.rng.permutation(engine.n)
    W, psi = twins.naive_ascend(engine.plain, engine.whole, engine.active, order.tolist())
    visit(engine, order, full=False)
    np.testing.assert_allclose(engine.whole, W, rtol=2e-3, atol=engine.close["atol"] * 5 + 1e-6)
    for i, value in psi.items():
        assert engine.found.psi[i] == pytest.approx(
            value, rel=1e-3, abs=1e-3 if engine.dtype == np.float32 else 1e-6
        )
    assert (engine.scratch.block.local == -1).all()


def test_ascend_after_looking_at_all(engine):
    """With `full`, an example gets new contrasts first; with those and its old ones it is solved exactly."""
    engine.fill()
    for i in engine.rng.permutation(engine.n).tolist():
        before, W = engine.active[i], engine.whole
        visit(engine, [i], full=True)
        start = {i: {pair: before.get(pair, 0.0) for pair in engine.active[i]}}
        expected, _ = twins.naive_ascend(engine.plain, W, start, [i])
        np.testing.assert_allclose(engine.whole, expected, rtol=2e-3, atol=engine.close["atol"] * 5 + 1e-6)


def test_passes_raise_the_dual_to_the_optimum():
    """Nothing but passes: their dual never falls, and it meets the primal."""
    for k in range(12):
        engine = Engine(k, np.float64, capacity=100)
        duals = []
        engine.W[:] = 0
        for _ in range(400):
            visit(engine, engine.rng.permutation(engine.n), full=True)
            weights = float((engine.whole**2).sum())
            duals.append(sum(engine.duals.values()) - weights / 2)
        assert (np.diff(duals) >= -1e-9 * duals[-1]).all()
        assert duals[-1] == pytest.approx(naive_primal(engine.plain, engine.whole), rel=1e-2)


@pytest.mark.parametrize("q", [63, 64, 65, 150])
@pytest.mark.parametrize("slack", ["example", "pair"])
def test_search_among_many_outputs(q, slack):
    """Outputs are looked at in chunks: none is missed at the ends, and the worst get the slots."""
    edges = [("root", f"g{k % 7}") for k in range(7)] + [(f"g{k % 7}", f"c{k:03}") for k in range(q)]
    case = random_case(q, edges=edges, slack=slack, multilabel=True, n=q, d=3)
    problem, layout = arranged(replace(case, weight=np.ones(len(case.X))).problem())
    rng = np.random.default_rng(q)
    W = rng.standard_normal((problem.inputs.shape[1], layout.n_columns))
    (tables, features), n = tables_of(problem, layout, np.float64), len(case.X)
    W[np.setdiff1d(np.arange(len(W)), features)] = 0.0  # as nobody has duals yet
    slots = empty_slots(np.full(n, 4 * q), np.float64)
    space = scratch(tables.attributes, slots, layout.n_columns, OFFERS if slack == "example" else q)
    found = no_findings(n)
    passes.search(tables, slots, np.arange(n), W[features], space, slack == "example", found)
    np.testing.assert_allclose(found.loss, problem.slacks(W), rtol=1e-9, atol=1e-9)

    F = problem.inputs.X.toarray() @ W @ problem.Lambda.toarray().T
    cost, Y = problem.cost.matrix(), problem.Y.toarray() > 0
    for i in range(n):
        H = np.where(~Y[i], cost * (1 - F[i][:, None] + F[i]), -np.inf)
        at = slice(slots.ptr[i], slots.ptr[i] + slots.used[i])
        taken = set(zip(slots.pos[at].tolist(), slots.neg[at].tolist(), strict=True))
        for y in np.flatnonzero(Y[i]):
            violated = np.flatnonzero(H[y] > 0)
            most = violated[np.argsort(-H[y, violated])][: len(space.worst)]
            assert {r for p, r in taken if p == y} == set(most.tolist())


def random_strings(rng, count, longest, letters="abc"):
    sizes = rng.integers(0, longest + 1, count)
    return ["".join(rng.choice(list(letters), size)) for size in sizes]


@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize("decay", [0.1, 0.5, 1.0])
def test_subsequence_pairs(length, decay):
    """Both the kernel and its NumPy form, on strings of every short length, the empty one among them."""
    rng = np.random.default_rng(length)
    left, right = random_strings(rng, 6, 8), random_strings(rng, 5, 8, "abä")
    left[0], right[0], right[1] = "", "cab", left[1]
    a, b = (part.ravel().astype(np.int32) for part in np.indices((len(left), len(right))))
    expected = twins.naive_subsequence_pairs(
        [(left[e], right[f]) for e, f in zip(a, b, strict=True)], length, decay
    )
    assert any(expected)
    for function in (strings.subsequence_pairs, plain_subsequence_pairs):
        found = function(encode(left), encode(right), a, b, length, decay)
        np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("decay", [0.01, 0.5, 1.0])
def test_long_strings_agree_in_both_forms(decay):
    """Sums over very many subsequences neither overflow nor lose digits."""
    rng = np.random.default_rng(0)
    long = encode([*random_strings(rng, 3, 60), "ab" * 40, "c" + "a" * 50])
    a, b = (part.ravel().astype(np.int32) for part in np.indices((5, 5)))
    for length in (1, 4, 12):
        fast = strings.subsequence_pairs(long, long, a, b, length, decay)
        slow = plain_subsequence_pairs(long, long, a, b, length, decay)
        np.testing.assert_allclose(fast, slow, rtol=1e-12)
        assert np.isfinite(fast).all()
        np.testing.assert_allclose(fast.reshape(5, 5), fast.reshape(5, 5).T, rtol=1e-12)


def test_steps_along_a_diagonal():
    """meet and advance."""
    rng = np.random.default_rng(0)
    for size in range(10):
        x, y = rng.integers(0, 3, (2, size)).astype(np.int32)
        below, above, run, total = rng.random((4, size))
        equal, new = np.full((2, size), np.nan)
        expected, sums = twins.naive_meet(x, y, below, total)
        strings.meet(x, y, below, equal, total)
        np.testing.assert_array_equal(equal, expected)
        np.testing.assert_allclose(total, sums, rtol=1e-15)
        expected, sums = twins.naive_advance(run, equal, below, above, 0.3)
        strings.advance(run, equal, below, above, new, 0.3)
        np.testing.assert_allclose(run, expected, rtol=1e-15)
        np.testing.assert_allclose(new, sums, rtol=1e-15)
