"""Conjugate gradients on the face: a step that moves all positive dual variables together.

Steps of single examples find out which variables are positive. Where inputs are few and alike, they then
take many rounds to settle how large. With the zeros kept at zero and full examples kept full, the dual (D.7)
of the hinge losses is a quadratic function of the rest, and conjugate gradients go straight towards its top
(E.14), as far as the constraints allow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.objective.contrasts import ContrastProblem, Duals

ITERATIONS = 50
SMALLER = 1e-2  # residual at which to stop, as a share of the first
FULL = 1 - 1e-9  # an example that has used this share of its bound is full

Array = NDArray[Any]


def climb(problem: ContrastProblem, duals: Duals, W: Array, value: float) -> tuple[float, Duals] | None:
    """By how much the dual rises, from `value`, and the variables; None if they are best on this face."""
    if problem.loss == "logistic" or not len(duals.alpha):
        return None
    face = _Face(problem, duals)
    direction = face.ascent_direction(W)
    if direction is None:
        return None
    best, highest = None, value
    for beta in (face.projected(face.beta + direction), face.beta + face.room(direction) * direction):
        found = duals._replace(alpha=np.maximum(beta, 0.0) * face.cost)
        reached = problem.dual(found, problem.weights(found))
        if reached > highest:
            best, highest = found, reached
    return None if best is None else (highest - value, best)


class _Face:
    """The variables beta > 0 of a point, the directions that keep to its constraints, and the curvature."""

    def __init__(self, problem: ContrastProblem, duals: Duals) -> None:
        self.problem = problem
        self.n = problem.inputs.shape[0]
        self.example = duals.example
        self.cost = problem.cost.pairs(duals.pos, duals.neg)
        self.beta = duals.alpha / self.cost
        contrasts = problem.Lambda[duals.pos] - problem.Lambda[duals.neg]
        self.contrasts = sp.csr_array(contrasts.multiply(self.cost[:, None]))
        self.base = 0.0 if problem.base is None else self.contrasts @ problem.base
        self.shared = problem.slack == "example"
        self.bound = problem.bound if self.shared else problem.bound[self.example]
        self.used = self.sums(self.beta) if self.shared else self.beta
        full = self.used >= FULL * self.bound
        self.full = full & (problem.loss == "hinge")
        self.count = np.maximum(self.sums(np.ones(len(self.beta))), 1.0)

    def sums(self, v: Array) -> Array:
        """By example."""
        return np.bincount(self.example, weights=v, minlength=self.n)

    def along(self, v: Array) -> Array:
        """The nearest direction that leaves full examples full."""
        if self.shared:
            mean = np.where(self.full, self.sums(v) / self.count, 0.0)
            along: Array = v - mean[self.example]
            return along
        return np.where(self.full, 0.0, v)

    def products(self, V: Array) -> Array:
        """d <a, V x> for each contrast."""
        scores = self.problem.inputs.scores(V, slice(None))
        row = np.repeat(np.arange(len(self.beta)), np.diff(self.contrasts.indptr))
        terms = self.contrasts.data * scores[self.example[row], self.contrasts.indices]
        return np.bincount(row, weights=terms, minlength=len(self.beta))

    def spare(self, v: Array) -> Array:
        """What the squared hinge's conjugate t^2 / 4 adds to the derivatives, linear in v."""
        if self.problem.loss == "hinge":
            return np.zeros(len(v))
        level: Array = (self.sums(v) if self.shared else v) / self.bound / 2
        return level[self.example] if self.shared else level

    def curvature(self, v: Array) -> Array:
        """Minus the second derivative of the dual, times v."""
        weighted = sp.csr_array(self.contrasts.multiply(v[:, None]))
        to_rows = sp.csr_array((np.ones(len(v)), (self.example, np.arange(len(v)))), (self.n, len(v)))
        V = self.problem.inputs.combine(to_rows @ weighted, np.float64)
        return self.products(V) + self.spare(v)

    def ascent_direction(self, W: Array) -> Array | None:
        """From the point towards the top of the face."""
        gradient = self.cost - self.base - self.products(W.astype(np.float64)) - self.spare(self.beta)
        residual = self.along(gradient)
        first = size = float(residual @ residual)
        if not size > 0:
            return None
        direction, step = np.zeros(len(residual)), residual
        for _ in range(ITERATIONS):
            bent = self.along(self.curvature(step))
            curved = float(step @ bent)
            if not curved > 1e-14 * float(step @ step):
                # flat: as far as the constraints allow
                return direction if direction.any() else step * 1e6
            t = size / curved
            direction, residual = direction + t * step, residual - t * bent
            size, before = float(residual @ residual), size
            if size <= SMALLER**2 * first:
                break
            step = residual + size / before * step
        return direction

    def room(self, direction: Array) -> float:
        """The longest step, up to 1, that breaks no constraint."""
        falls = -direction > self.beta  # by a whole step, below zero
        limit = float((self.beta[falls] / -direction[falls]).min(initial=1.0))
        if self.problem.loss == "hinge":
            rise = self.sums(direction) if self.shared else direction
            left = np.maximum(self.bound - self.used, 0.0)
            over = rise > left
            limit = min(limit, float((left[over] / rise[over]).min(initial=1.0)))
        return limit

    def projected(self, beta: Array) -> Array:
        """The variables without what is below zero or above the bounds."""
        beta = np.maximum(beta, 0.0)
        if self.problem.loss != "hinge":
            return beta
        if self.shared:
            over = self.bound / np.maximum(self.sums(beta), self.bound)
            scaled: Array = beta * over[self.example]
            return scaled
        return np.minimum(beta, self.bound)
