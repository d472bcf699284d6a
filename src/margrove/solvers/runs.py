"""Several runs of the dual ascent within one fit: one count of rounds, one clock, one certificate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from margrove.objective.certificate import Certificate, Status
from margrove.objective.contrasts import ContrastProblem
from margrove.outputs.layout import Layout
from margrove.solvers.dual_ascent import Solution, solve
from margrove.solvers.progress import Progress, Watch


class Runs:
    """What the runs have used of `max_iter` rounds; `options` are those of every run."""

    def __init__(self, max_iter: int, watch: Watch | None, **options: Any) -> None:
        self.began = time.perf_counter()
        self.max_iter = max_iter
        self.watch = watch
        self.options = options
        self.used = 0

    @property
    def are_over(self) -> bool:
        """Whether no round is left."""
        return self.used >= self.max_iter

    def solve(
        self,
        problem: ContrastProblem,
        layout: Layout,
        *,
        by: Callable[..., Solution] = solve,
        seen: Callable[[Progress], Progress] | None = None,
        **options: Any,
    ) -> Solution:
        """One more run; `watch` hears of its rounds as those of the fit, and what `seen` makes of them."""
        watch = self.watch

        def told(progress: Progress) -> bool | None:
            if watch is None:
                return None
            rounds, seconds = self.used + progress.n_iter, time.perf_counter() - self.began
            whole = progress if seen is None else seen(progress)
            return watch(whole._replace(n_iter=rounds, seconds=seconds))

        left = self.max_iter - self.used
        solution = by(problem, layout, max_iter=left, watch=told, **self.options, **options)
        self.used += solution.certificate.n_iter
        return solution

    def certificate(self, last: Certificate, primal: float, dual: float, status: Status) -> Certificate:
        """That of the fit, which ends with this run."""
        seconds = time.perf_counter() - self.began
        return replace(last, primal=primal, dual=dual, n_iter=self.used, status=status, seconds=seconds)
