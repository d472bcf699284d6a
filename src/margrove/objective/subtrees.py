"""The large-margin problem over closed sets of nodes (maths.md, U.7 to U.13), from its definition.

    minimise   1/2 |W|^2 + sum_i bound_i xi_i(W),    xi_i = max over z of H_iz,  H_iy = 0              (U.8)
    H_iz = loss(y_i, z) - <y_i - z, s_i>           (scaling "margin")                                 (U.9)
    H_iz = loss(y_i, z) (1 - <y_i - z, s_i>)       (scaling "slack")                                  (U.10)

    maximise   sum beta_iz loss(y_i, z) - 1/2 |W|^2,   W = sum_i x_i a_i',  a_i = sum_z beta_iz f (y_i - z)
               with f = 1 (margin) or loss(y_i, z) (slack),  beta >= 0,  sum_z beta_iz <= bound_i     (U.12)

Sets are coded by -1 and 1 in these lines, s_i = W' x_i, and the loss is a sum over the nodes in which they
differ (U.7). With scaling "margin" all that matters of beta is the marginals mu of its sets (U.13). `W` is
inputs x outputs. Nothing here is incremental, and nothing is shared with the kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.objective.inputs import Similarities, Vectors

Scaling = Literal["margin", "slack"]
Array = NDArray[Any]
Sets = NDArray[np.bool_]
BLOCK = 1 << 20  # numbers held at a time


class SetDuals(NamedTuple):
    """Positive dual variables as a list: `beta` of each example's set (a row of booleans)."""

    example: NDArray[np.int64]
    sets: Sets
    beta: NDArray[np.float64]


class Combination(NamedTuple):
    """What dual variables come to: W = sum_i x_i pull_i', and the linear part of the dual."""

    pull: Array
    """a_i, examples x outputs."""
    gain: float


@dataclass(frozen=True)
class SubtreeProblem:
    """All that the problem is made of."""

    inputs: Vectors | Similarities
    right: Sets
    """The right set of each example, n x outputs."""
    output: Any
    """`best_of_tree(scores)`, `preorder` and `size` of the outputs, which stand in a tree."""
    miss: NDArray[np.float64]
    """What it costs to leave out a node that is right."""
    extra: NDArray[np.float64]
    """What it costs to add one that is not."""
    bound: NDArray[np.float64]
    """What the slack of each example costs: C times its weight."""
    scaling: Scaling = "margin"

    def losses(self, example: NDArray[np.intp], sets: Sets) -> Array:
        """loss(y_i, z) (U.7)."""
        right = self.right[example]
        missed: Array = (right & ~sets) @ self.miss
        return missed + (sets & ~right) @ self.extra

    # --- primal ---

    def scores(self, W: Array) -> Iterator[tuple[slice, Array]]:
        """Node scores of blocks of examples."""
        n, m = self.right.shape
        width = m if self.scaling == "margin" else (m + 1) ** 2
        step = max(1, BLOCK // max(width, 1))
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            yield rows, self.inputs.scores(W, rows)

    def slacks(self, W: Array) -> Array:
        """xi_i."""
        highest = self._by_margin if self.scaling == "margin" else self._by_slack
        parts = [highest(S, self.right[rows]) for rows, S in self.scores(W)]
        return np.concatenate([np.zeros(0), *parts])

    def rewards(self, S: Array, right: Sets) -> Array:
        """What each node adds to the violation of a set that holds it, with scaling "margin"."""
        rewards: Array = 2 * S + np.where(right, -self.miss, self.extra)
        return rewards

    def _by_margin(self, S: Array, right: Sets) -> Array:
        rewards = self.rewards(S, right)
        best = self.output.best_of_tree(rewards)
        highest: Array = np.where(best, rewards, 0).sum(axis=1) - np.where(right, rewards, 0).sum(axis=1)
        return np.maximum(highest, 0.0)

    def _by_slack(self, S: Array, right: Sets) -> Array:
        """By how many nodes a set differs, and the best sum of such sets (U.11)."""
        n, m = S.shape
        count = np.arange(m + 1)
        table = np.full((m + 1, n, m + 1), -np.inf)
        table[m, :, 0] = 0.0

        def later(p: int, differ: Array, sums: Array) -> Array:
            """What follows from place p, with so many differences more."""
            k = count - differ[:, None]
            found = np.take_along_axis(table[p], np.maximum(k, 0), axis=1) + sums[:, None]
            return np.where(k >= 0, found, -np.inf)

        for p in reversed(range(m)):
            v, end = self.output.preorder[p], p + self.output.size[p]
            below = self.output.preorder[p:end]
            lost = np.where(right[:, below], S[:, below], 0.0).sum(axis=1)
            inside = later(p + 1, ~right[:, v] * 1, np.where(right[:, v], 0.0, S[:, v]))
            table[p] = np.maximum(inside, later(end, right[:, below].sum(axis=1), -lost))
        H: Array = self.unit * count[1:] * (1 + 2 * table[0, :, 1:])
        return np.asarray(H.max(axis=1, initial=0.0))

    @property
    def unit(self) -> float:
        """What a node costs where all cost the same, as scaling "slack" needs it."""
        return float(self.miss.max(initial=0.0))

    def primal(self, W: Array) -> float:
        """(U.8)."""
        return 0.5 * self.inputs.inner(W, W) + float(self.bound @ self.slacks(W))

    # --- dual ---

    def factors(self, losses: Array) -> Array:
        """f: how much of y - z a unit of beta adds."""
        return np.ones(len(losses)) if self.scaling == "margin" else losses

    def of_sets(self, duals: SetDuals) -> Combination:
        """What variables of sets come to (U.12)."""
        example, sets, beta = duals
        losses = self.losses(example, sets)
        differences = 2.0 * (self.right[example].astype(np.float64) - sets)
        weight = beta * self.factors(losses)
        place = (example, np.arange(len(example)))
        to_rows = sp.csr_array((weight, place), shape=(len(self.bound), len(example)))
        return Combination(np.asarray(to_rows @ differences), float(beta @ losses))

    def of_marginals(self, mu: Array) -> Combination:
        """What shares mu of sets that hold each node come to (U.13); scaling "margin" alone."""
        pull = 2 * self.bound[:, None] * (self.right - mu)
        lost = np.where(self.right, self.miss * (1 - mu), self.extra * mu)
        return Combination(pull, float(self.bound @ lost.sum(axis=1)))

    def weights(self, combination: Combination) -> Array:
        """W."""
        return self.inputs.combine(sp.csr_array(combination.pull), np.float64)

    def dual(self, combination: Combination, W: Array) -> float:
        """(U.12), where W is that of the combination."""
        return combination.gain - 0.5 * self.inputs.inner(W, W)
