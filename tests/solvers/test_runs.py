"""Several runs in one fit: rounds add up, and patience ends."""

from __future__ import annotations

import numpy as np

from margrove.objective.certificate import Certificate
from margrove.objective.contrasts import Duals
from margrove.solvers.dual_ascent import Solution
from margrove.solvers.progress import Patience, Progress
from margrove.solvers.runs import Runs

NOTHING = Duals(*(np.empty(0, np.int64) for _ in range(3)), np.empty(0))


def run(problem, layout, *, max_iter, watch, rounds, most):
    """A solver that takes so many rounds, or all that it may; it notes how many these are."""
    most.append(max_iter)
    n_iter = min(rounds, max_iter)
    for k in range(n_iter):
        if watch(Progress(k + 1, 2.0, 1.0, 0.5, 0.0)):
            break
    certificate = Certificate(2.0, 1.0, n_iter, "converged", 0.0, 0.0, 0)
    return Solution(np.zeros((1, 1)), NOTHING, certificate)


def test_rounds_add_up():
    told, most = [], []
    runs = Runs(7, told.append, most=most)
    runs.solve(None, None, by=run, rounds=3)
    assert not runs.are_over
    last = runs.solve(None, None, by=run, rounds=9, seen=lambda progress: progress._replace(dual=1.5))
    assert runs.are_over
    assert most == [7, 4]
    assert [progress.n_iter for progress in told] == [1, 2, 3, 4, 5, 6, 7]
    assert [progress.dual for progress in told] == [1.0] * 3 + [1.5] * 4
    seconds = [progress.seconds for progress in told]
    assert seconds == sorted(seconds)
    assert seconds[0] > 0
    whole = runs.certificate(last.certificate, 3.0, 2.5, "stalled")
    assert (whole.primal, whole.dual, whole.n_iter, whole.status) == (3.0, 2.5, 7, "stalled")
    assert whole.seconds >= seconds[-1]


def test_without_a_watch_nobody_is_told():
    runs = Runs(5, None, most=[])
    assert runs.solve(None, None, by=run, rounds=2).certificate.n_iter == 2


def test_patience():
    patience = Patience(2)
    assert not patience.is_over(1.0, 0.0)
    assert not patience.is_over(1.0, 0.0)
    assert not patience.is_over(2.0, 0.1)  # a higher dual
    assert not patience.is_over(0.5, 0.0)  # a smaller gap
    assert not patience.is_over(0.5, 0.1)
    assert patience.is_over(0.6, 0.1)
