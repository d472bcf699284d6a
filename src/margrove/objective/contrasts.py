"""The contrast problem (maths.md, P.1-P.4, D.1-D.7), from its definition.

    minimise   1/2 |W - G|^2 + sum_i bound_i xi_i(W)                                              (P.6)
    xi_i = phi(max H)  (slack "example")   or   sum phi(H)  (slack "pair"),
           over H = cost(y, r) (1 - F_y + F_r), y right for example i and r wrong and a rival of y,
           F = Lambda (W' x_i + base)

    maximise   sum alpha (1 - <a, base>) - sum_i bound_i phi*(sum alpha / cost / bound_i)
               - 1/2 |V|^2 - <V, G>,     V = sum alpha x_i a',  a = Lambda[y] - Lambda[r],  alpha >= 0   (D.7)

phi is the loss (losses.py): for the hinge loss (P.3) and (D.1). G, the offset, and base are zero but in the
steps of other solvers. `W` is inputs x columns of Lambda. Nothing here is incremental, and nothing is shared
with the kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.objective.inputs import Similarities, Vectors
from margrove.objective.losses import Loss, conjugate, loss_of, slope

Slack = Literal["example", "pair"]
Array = NDArray[Any]


class Duals(NamedTuple):
    """Positive dual variables as a list: `alpha` of the contrast of right `pos` against wrong `neg`."""

    example: NDArray[np.int64]
    pos: NDArray[np.int64]
    neg: NDArray[np.int64]
    alpha: NDArray[np.float64]


@dataclass(frozen=True)
class ContrastProblem:
    """All that the problem is made of."""

    inputs: Vectors | Similarities
    """The n examples, as vectors or by their inner products."""
    Y: Any
    """Right outputs, n x q, CSR of ones with sorted indices."""
    Lambda: Any
    """Attributes, q x columns, CSR."""
    cost: Any
    """Costs between outputs: `rows(ys)` and `pairs(ys, rs)`."""
    bound: NDArray[np.float64]
    """What the slack of each example costs: C times its weight."""
    slack: Slack = "example"
    loss: Loss = "hinge"
    rivals: tuple[Array, Array] | None = None
    """Output y is compared with outputs rivals[0][y] up to rivals[1][y]; None is all."""
    base: Array | None = None
    """Added to the scores of the columns."""
    offset: Array | None = None
    """G, as W."""

    convexity: ClassVar[float] = 1.0
    """Of the objective in W: that of the penalty."""

    @property
    def n_columns(self) -> int:
        """Of W."""
        return int(self.Lambda.shape[1])

    @cached_property
    def ranges(self) -> tuple[Array, Array]:
        """Where the rivals of each output begin and end."""
        q = self.Y.shape[1]
        return (np.zeros(q, np.int64), np.full(q, q)) if self.rivals is None else self.rivals

    def slacks(self, W: Array, block: int = 1 << 17) -> NDArray[np.float64]:
        """xi_i (P.4), a block of rows at a time that stays in the processor's cache."""
        n = self.inputs.shape[0]
        xi, worst = np.zeros(n), np.full(n, -np.inf)
        for example, _, H in self._violations(W, block):
            if self.slack == "example":
                worst[example] = np.maximum(worst[example], H.max(axis=1))
            else:
                xi[example] += loss_of(self.loss, H).sum(axis=1, dtype=np.float64)
        return loss_of(self.loss, worst) if self.slack == "example" else xi

    def worst(self, W: Array, block: int = 1 << 17) -> tuple[Array, Array, Array]:
        """The most violated contrast of each example: y, r, and H, which is -infinity where there is none."""
        n = self.inputs.shape[0]
        pos, neg, worst = np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, -np.inf)
        for example, y, H in self._violations(W, block):
            r = H.argmax(axis=1)
            value = H[np.arange(len(r)), r]
            more = value > worst[example]
            at = example[more]
            pos[at], neg[at], worst[at] = y[more], r[more], value[more]
        return pos, neg, worst

    def subgradient(self, W: Array, block: int = 1 << 17) -> tuple[float, Array]:
        """(P.6), and one of its subgradients."""
        loss, G = self.loss_subgradient(W, block)
        return self.penalty(W) + loss, G + (W if self.offset is None else W - self.offset)

    def loss_subgradient(self, W: Array, block: int = 1 << 17) -> tuple[float, Array]:
        """sum_i bound_i xi_i, and one of its subgradients: minus the weights of the worst contrasts (D.2)."""
        if self.slack == "example":
            pos, neg, worst = self.worst(W, block)
            some = np.flatnonzero(worst > -np.inf)
            total = float(self.bound[some] @ loss_of(self.loss, worst[some]))
            pulls = self._pull(some, pos[some], neg[some], worst[some])
        else:
            nobody = np.zeros(0, np.int64)
            total, found = 0.0, [self._pull(nobody, nobody, nobody, np.zeros(0))]
            for example, y, H in self._violations(W, block):
                total += float(self.bound[example] @ loss_of(self.loss, H).sum(axis=1, dtype=np.float64))
                k, r = np.nonzero(np.isfinite(H))
                found.append(self._pull(example[k], y[k], r, H[k, r]))
            pulls = Duals(*(np.concatenate(part) for part in zip(*found, strict=True)))
        return total, -replace(self, offset=None).weights(pulls, W.dtype)

    def _pull(self, example: Array, pos: Array, neg: Array, H: Array) -> Duals:
        """The multiplier of each contrast of which the loss is a function: the loss falls along it."""
        alpha = self.bound[example] * slope(self.loss, H) * self.cost.pairs(pos, neg)
        some = alpha > 0
        return Duals(example[some], pos[some], neg[some], alpha[some].astype(np.float64))

    def _violations(self, W: Array, block: int) -> Iterator[tuple[Array, Array, Array]]:
        """Some examples, a right output of each, and H of it and every output; -infinity for no contrast."""
        for rows, F in self._scores(W, block):
            Y = self.Y[rows]
            example = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
            for e, y in self._waves(Y):
                H = F.copy() if len(e) == len(F) else F[e]
                H += 1 - F[e, y][:, None]
                H *= self._costs(y, F.dtype)
                place = np.full(len(F), -1)
                place[e] = np.arange(len(e))
                right = place[example] >= 0
                H[place[example[right]], Y.indices[right]] = -np.inf
                if self.rivals is not None:
                    r = np.arange(H.shape[1])
                    H[(r < self.rivals[0][y][:, None]) | (r >= self.rivals[1][y][:, None])] = -np.inf
                yield rows.start + e, y, H

    def _scores(self, W: Array, block: int) -> Iterator[tuple[slice, Array]]:
        """Output scores of blocks of examples."""
        n, q = self.Y.shape
        step = max(1, block // max(q, 1))
        Lambda_T = self.Lambda.T.astype(W.dtype)
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            S = self.inputs.scores(W, rows)
            if self.base is not None:
                S = S + self.base.astype(W.dtype)
            yield rows, S if self._one_hot else S @ Lambda_T

    @cached_property
    def _one_hot(self) -> bool:
        """Whether output scores are node scores."""
        q, m = self.Lambda.shape
        L = self.Lambda.tocoo()
        return bool(q == m == L.nnz and (L.row == L.col).all() and (L.data == 1).all())

    @staticmethod
    def _waves(Y: Any) -> Iterator[tuple[Array, Array]]:
        """Each example's first right output, then each one's second, and so on."""
        count = np.diff(Y.indptr)
        for k in range(count.max(initial=0)):
            e = np.flatnonzero(count > k)
            yield e, Y.indices[Y.indptr[e] + k]

    def _costs(self, y: Array, dtype: Any) -> Array:
        """Cost rows, computed once for each distinct class."""
        classes, place = np.unique(y, return_inverse=True)
        rows: Array = self.cost.rows(classes).astype(dtype)[place]
        return rows

    def penalty(self, W: Array) -> float:
        """1/2 |W - G|^2."""
        V = W if self.offset is None else W - self.offset
        return 0.5 * self.inputs.inner(V, V)

    def primal(self, W: Array) -> float:
        """(P.6)."""
        return self.penalty(W) + self._loss(W)

    def _loss(self, W: Array) -> float:
        return float(self.bound @ self.slacks(W))

    def weights(self, duals: Duals, dtype: Any = np.float64) -> Array:
        """W(alpha) = G + V (D.7), inputs x columns."""
        n, q = self.Y.shape
        rows = np.concatenate([duals.example, duals.example])
        outputs = np.concatenate([duals.pos, duals.neg])
        signed = np.concatenate([duals.alpha, -duals.alpha])
        A = sp.csr_array((signed, (rows, outputs)), shape=(n, q)) @ self.Lambda
        V = self.inputs.combine(A, dtype)
        return V if self.offset is None else V + self.offset.astype(dtype)

    def dual(self, duals: Duals, W: Array) -> float:
        """(D.7), where W = W(alpha)."""
        return self._gain(duals, W) - self.penalty(W)

    def values(self, duals: Duals, W: Array) -> tuple[float, float]:
        """Primal and dual, where W = W(alpha); what they have in common is computed once."""
        penalty = self.penalty(W)
        return penalty + self._loss(W), self._gain(duals, W) - penalty

    def _gain(self, duals: Duals, W: Array) -> float:
        """(D.7) without the square."""
        value = float(duals.alpha.sum())
        if self.loss != "hinge":
            value -= self._conjugates(duals)
        if self.base is not None:
            lift = self.Lambda @ self.base
            value -= float(duals.alpha @ (lift[duals.pos] - lift[duals.neg]))
        if self.offset is not None:
            value -= self.inputs.inner(W - self.offset, self.offset)
        return value

    def _conjugates(self, duals: Duals) -> float:
        beta = duals.alpha / self.cost.pairs(duals.pos, duals.neg)
        if self.slack == "example":
            total = np.bincount(duals.example, weights=beta, minlength=len(self.bound))
            return float(self.bound @ conjugate(self.loss, total / self.bound))
        bound = self.bound[duals.example]
        return float(bound @ conjugate(self.loss, beta / bound))

    def infeasibility(self, duals: Duals) -> float:
        """By how much the constraints of (D.1) are broken, as a share of the bound."""
        if not len(duals.alpha) or self.loss == "squared-hinge":
            return float(max(0.0, -duals.alpha.min(initial=0.0)))
        beta = duals.alpha / self.cost.pairs(duals.pos, duals.neg)
        if self.slack == "example":
            beta, bound = np.bincount(duals.example, weights=beta, minlength=len(self.bound)), self.bound
        else:
            bound = self.bound[duals.example]
        return float(max(0.0, -duals.alpha.min(), ((beta - bound) / bound)[bound > 0].max(initial=0.0)))

    @cached_property
    def n_contrasts(self) -> NDArray[np.int64]:
        """How many contrasts, and so dual variables, each example has."""
        n, q = self.Y.shape
        example = np.repeat(np.arange(n), np.diff(self.Y.indptr))
        first, last = (side[self.Y.indices] for side in self.ranges)
        place = example * q + self.Y.indices  # sorted
        right = np.searchsorted(place, example * q + last) - np.searchsorted(place, example * q + first)
        count = np.bincount(example, weights=last - first - right, minlength=n)
        return count.astype(np.int64)
