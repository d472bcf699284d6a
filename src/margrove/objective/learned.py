"""The contrast problem with weights of the attributes learned too (maths.md, A.9-A.13), from its definition.

    minimise over W, theta >= 0   1/2 sum_g |W_g|^2 / theta_g + sum_i bound_i xi_i(W)            (A.11)
    subject to                    sum_g t_g theta_g^p <= sum_g t_g,    t_g = |Lambda_g|^2        (A.10)

    maximise over alpha           (D.7) with the largest 1/2 sum_g theta_g |V_g|^2
                                  over these theta in place of 1/2 |V|^2                         (A.13)

g goes over groups of columns of Lambda. theta = 1 is the problem with Lambda as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from margrove.objective.contrasts import Array, ContrastProblem, Duals

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class LearnedProblem:
    """A problem without an offset, and the group of each of its columns, by number."""

    problem: ContrastProblem
    groups: NDArray[np.int64]
    power: float

    @cached_property
    def trace(self) -> Weights:
        """t, the part of each group in the trace of the class kernel."""
        Lambda = self.problem.Lambda
        trace: Weights = np.bincount(self.groups[Lambda.indices], weights=Lambda.data**2).astype(np.float64)
        return trace

    def with_weights(self, theta: Weights) -> ContrastProblem:
        """The problem for these weights: Lambda's columns times their roots (A.9)."""
        Lambda = self.problem.Lambda.copy()
        Lambda.data = Lambda.data * np.sqrt(theta)[self.groups[Lambda.indices]]
        return replace(self.problem, Lambda=Lambda)

    def parts(self, theta: Weights) -> Weights:
        """The part of each group in the trace of the given class kernel."""
        parts: Weights = theta * self.trace / self.trace.sum()
        return parts

    def squares(self, W: Array) -> Weights:
        """|W_g|^2."""
        of_columns = self.problem.inputs.squares(W)
        squares: Weights = np.bincount(self.groups, weights=of_columns, minlength=len(self.trace)).astype(
            np.float64
        )
        return squares

    def best_weights(self, squares: Weights) -> Weights:
        """theta of least penalty for |W_g|^2 (A.12)."""
        ratio = squares / self.trace
        if not ratio.any():
            return np.ones(len(ratio))
        theta: Weights = (ratio / ratio.max()) ** (1 / (self.power + 1))
        mean = np.average(theta**self.power, weights=self.trace) ** (1 / self.power)
        return theta / mean

    @staticmethod
    def penalty(squares: Weights, theta: Weights) -> float:
        """1/2 sum_g |W_g|^2 / theta_g."""
        used = squares > 0
        return 0.5 * float((squares[used] / theta[used]).sum())

    def primal(self, W: Array, theta: Weights) -> float:
        """(A.11)."""
        loss = float(self.problem.bound @ self.problem.slacks(W))
        return self.penalty(self.squares(W), theta) + loss

    def dual(self, duals: Duals) -> float:
        """(A.13)."""
        V = self.problem.weights(duals)
        fixed = self.problem.dual(duals, V) + self.problem.penalty(V)
        return fixed - 0.5 * self.largest(self.squares(V))

    def largest(self, squares: Weights) -> float:
        """The largest sum of theta_g |V_g|^2."""
        ratio, total = squares / self.trace, float(self.trace.sum())
        if self.power == 1 or not ratio.any():
            return total * float(ratio.max())
        dual_power = self.power / (self.power - 1)
        top = float(ratio.max())
        mean = float(np.average((ratio / top) ** dual_power, weights=self.trace))
        return float(total * top * mean ** (1 / dual_power))
