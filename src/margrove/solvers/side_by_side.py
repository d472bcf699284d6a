"""Problems that share nothing, solved side by side in threads (S.4).

The largest begin, so that no thread is left with one of them at the end. What one finds does not depend on
the others, so neither does the result on the number of threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import numpy as np

from margrove.objective.certificate import relative_gap
from margrove.solvers.progress import Progress, Watch


def run(
    jobs: Sequence[Callable[[Watch], None]],
    *,
    costs: Sequence[float],
    primals: Sequence[float],
    n_threads: int,
    watch: Watch | None,
) -> None:
    """Do all jobs, those with the highest `costs` first; each gets what to tell of its rounds.

    `watch` hears of the sums over all; a job that has not told anything yet has the primal of `primals`, and
    the dual 0. After `watch` has returned True, no more jobs are begun. It is called in one thread at a time.
    """
    sums = _Sums(primals, watch)

    def do(k: int) -> None:
        if not sums.ended:
            jobs[k](lambda progress: sums.told(k, progress))

    order = np.argsort(-np.asarray(costs), kind="stable").tolist()
    if n_threads == 1:
        for k in order:
            do(k)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        running = [pool.submit(do, k) for k in order]
        try:
            for job in running:
                job.result()
        except BaseException:
            sums.ended = True  # those that run end with their round
            raise


class _Sums:
    """What all jobs together have reached."""

    def __init__(self, primals: Sequence[float], watch: Watch | None) -> None:
        self.primal = np.array(primals, np.float64)
        self.dual = np.zeros(len(self.primal))
        self.n_iter = 0
        self.watch = watch
        self.ended = False
        self.began = time.perf_counter()
        self.lock = Lock()

    def told(self, k: int, progress: Progress) -> bool:
        """Take note of a round of job k; whether it is to end."""
        with self.lock:
            self.primal[k], self.dual[k] = progress.primal, progress.dual
            self.n_iter = max(self.n_iter, progress.n_iter)
            if self.watch is not None and not self.ended:
                self.ended = bool(self.watch(self._now()))
            return self.ended

    def _now(self) -> Progress:
        primal, dual = float(self.primal.sum()), float(self.dual.sum())
        seconds = time.perf_counter() - self.began
        return Progress(self.n_iter, primal, dual, relative_gap(primal, dual), seconds)
