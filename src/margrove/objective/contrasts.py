"""The contrast problem (maths.md, P.1-P.4, D.1-D.3), from its definition.

    minimise   1/2 |W|^2 + sum_i bound_i xi_i(W)                                                  (P.3)
    xi_i = max(0, max H)  (slack "example")   or   sum max(0, H)  (slack "pair"),
           over H = cost(y, r) (1 - F_y + F_r), y right and r wrong for example i, F = Lambda W' x_i

    maximise   sum alpha - 1/2 |W(alpha)|^2,    W(alpha) = sum alpha x_i (Lambda[y] - Lambda[r])'   (D.1)
    alpha >= 0,  sum_r alpha / cost <= bound_i  (example),   each alpha / cost <= bound_i  (pair)

`W` is features x columns of Lambda. Nothing here is incremental, and nothing is shared with the kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

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

    X: Any
    """Inputs, n x d, CSR."""
    Y: Any
    """Right outputs, n x q, CSR of ones."""
    Lambda: Any
    """Attributes, q x columns, CSR."""
    cost: Any
    """Costs between outputs: `rows(ys)` and `pairs(ys, rs)`."""
    bound: NDArray[np.float64]
    """What the slack of each example costs: C times its weight."""
    slack: Slack = "example"

    def slacks(self, W: Array, block: int = 1 << 17) -> NDArray[np.float64]:
        """xi_i (P.4), a block of rows at a time that stays in the processor's cache."""
        xi = np.zeros(self.X.shape[0])
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
                H[place[example[right]], Y.indices[right]] = 0.0
                if self.slack == "example":
                    xi[rows.start + e] = np.maximum(xi[rows.start + e], H.max(axis=1))
                else:
                    xi[rows.start + e] += np.maximum(H, 0.0, out=H).sum(axis=1, dtype=np.float64)
        return xi

    def _scores(self, W: Array, block: int) -> Iterator[tuple[slice, Array]]:
        """Output scores of blocks of examples."""
        n, q = self.Y.shape
        step = max(1, block // max(q, 1))
        Lambda_T = self.Lambda.T.astype(W.dtype)
        X = self.X.astype(W.dtype, copy=False)
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            S = X[rows] @ W
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
        """1/2 |W|^2."""
        flat = W.ravel(order="K")
        return 0.5 * sum(
            float(np.square(flat[k : k + (1 << 20)], dtype=np.float64).sum())
            for k in range(0, flat.size, 1 << 20)
        )

    def primal(self, W: Array) -> float:
        """(P.3)."""
        return self.penalty(W) + float(self.bound @ self.slacks(W))

    def weights(self, duals: Duals, dtype: Any = np.float64) -> Array:
        """W(alpha) (D.2), features x columns."""
        n, q = self.Y.shape
        rows = np.concatenate([duals.example, duals.example])
        outputs = np.concatenate([duals.pos, duals.neg])
        signed = np.concatenate([duals.alpha, -duals.alpha])
        A = (sp.csr_array((signed, (rows, outputs)), shape=(n, q)) @ self.Lambda).astype(dtype)
        W: Array = (self.X.T.tocsr().astype(dtype) @ A).toarray()
        return W

    def dual(self, duals: Duals, W: Array) -> float:
        """(D.1), where W = W(alpha)."""
        return float(duals.alpha.sum() - self.penalty(W))

    def infeasibility(self, duals: Duals) -> float:
        """By how much the constraints of (D.1) are broken, as a share of the bound."""
        if not len(duals.alpha):
            return 0.0
        beta = duals.alpha / self.cost.pairs(duals.pos, duals.neg)
        if self.slack == "example":
            beta, bound = np.bincount(duals.example, weights=beta, minlength=len(self.bound)), self.bound
        else:
            bound = self.bound[duals.example]
        return float(max(0.0, -duals.alpha.min(), ((beta - bound) / bound)[bound > 0].max(initial=0.0)))

    @cached_property
    def n_contrasts(self) -> int:
        """How many dual variables there are."""
        right = np.diff(self.Y.indptr).astype(np.int64)
        return int((right * (self.Y.shape[1] - right)).sum())
