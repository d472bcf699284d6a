"""Orthogonal transfer (maths.md, O.1 to O.11), from its definition.

    minimise over W   Omega(W) + sum_i bound_i xi_i(W),    Omega(W) = 1/2 sum_ij K_ij |<w_i, w_j>|     (O.1)

For signs S in [-1, 1], one for each pair of nodes with K_ij > 0, the penalty tr(W' (K o S) W) / 2 is
nowhere above Omega, and is Omega for the best S (O.5). So each S and feasible dual variables give a lower
bound (O.8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margrove.objective.contrasts import ContrastProblem, Duals
from margrove.objective.inputs import Similarities, Vectors
from margrove.objective.metric import blocks, convexity, factor

Array = NDArray[Any]
TOGETHER = 64  # nodes whose inner products are computed at once


@dataclass(frozen=True)
class OrthogonalProblem:
    """Losses of outputs that are nodes, and what the angles of their weights cost. W is inputs x nodes."""

    contrasts: ContrastProblem
    """The losses; its attributes are one for each node."""
    K: Array
    """Nowhere negative, symmetric, its comparison matrix positive definite."""

    @property
    def inputs(self) -> Vectors | Similarities:
        """The examples."""
        return self.contrasts.inputs

    @property
    def n_columns(self) -> int:
        """Of W: the nodes."""
        return len(self.K)

    @cached_property
    def pairs(self) -> tuple[Array, Array]:
        """The pairs of nodes i < j that K couples."""
        i, j = np.nonzero(np.triu(self.K, 1))
        return i, j

    @cached_property
    def convexity(self) -> float:
        """Of Omega, and so of the objective (O.3)."""
        return convexity(self.K)

    @cached_property
    def blocks(self) -> list[tuple[Array, Array, tuple[Array, Array]]]:
        """Nodes that K couples with each other, their pairs by number, and as places among these nodes."""
        i, j = self.pairs
        place, found = np.empty(len(self.K), np.int64), []
        for nodes in blocks(self.K):
            mine = np.flatnonzero(np.isin(i, nodes))
            place[nodes] = np.arange(len(nodes))
            found.append((nodes, mine, (place[i[mine]], place[j[mine]])))
        return found

    def products(self, W: Array) -> Array:
        """<w_i, w_j> for all pairs of nodes that K couples, and some others."""
        found = np.zeros_like(self.K)
        for nodes in self._groups():
            V = W if len(nodes) == len(self.K) else np.ascontiguousarray(W[:, nodes])
            found[np.ix_(nodes, nodes)] = self.inputs.products(V, V)
        return found

    def _groups(self) -> Iterator[Array]:
        """Blocks of nodes, small ones together."""
        waiting: list[Array] = []
        for nodes, _, _ in self.blocks:
            waiting.append(nodes)
            if sum(map(len, waiting)) >= TOGETHER:
                yield np.sort(np.concatenate(waiting))
                waiting = []
        if waiting:
            yield np.sort(np.concatenate(waiting))

    def penalty(self, products: Array) -> float:
        """Omega (O.1), from inner products."""
        return 0.5 * float((self.K * abs(products)).sum())

    def primal(self, W: Array) -> float:
        """(O.1)."""
        losses = float(self.contrasts.bound @ self.contrasts.slacks(W))
        return self.penalty(self.products(W)) + losses

    def metric(self, S: Array) -> Array:
        """K o S, for signs of the pairs."""
        i, j = self.pairs
        M = np.diag(self.K.diagonal())
        M[i, j] = M[j, i] = self.K[i, j] * S
        return M

    def signed(self, S: Array) -> ContrastProblem:
        """The problem with the penalty tr(W' (K o S) W) / 2 in W = Lambda V (O.7)."""
        return replace(self.contrasts, Lambda=factor(self.metric(S)))

    def dual(self, duals: Duals, S: Array) -> float:
        """The lower bound of feasible dual variables and signs (O.8)."""
        signed = self.signed(S)
        return signed.dual(duals, signed.weights(duals))

    def subgradient(self, W: Array) -> tuple[float, Array]:
        """The objective, and one of its subgradients (O.11)."""
        products = self.products(W)
        loss, H = self.contrasts.loss_subgradient(W)
        M = self.K * np.sign(products)
        return self.penalty(products) + loss, W @ M.astype(W.dtype) + H
