"""The two ways in which inputs enter a problem: as vectors, or by their inner products alone.

Either way a model is a matrix W with a column for each attribute. With vectors, its rows are weights of
features; with inner products (a similarity), coefficients of the training examples (the representer theorem:
Cai 4.16, Zhou's Theorem 3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[Any]
Rows = slice | NDArray[np.intp]
CHUNK = 1 << 20  # numbers summed in single precision's own squares, at most
SPARSE = 50  # numbers are added one after the other as fast as one that has to be looked up


class Inputs(Protocol):
    """What a problem asks of its inputs."""

    @property
    def shape(self) -> tuple[int, int]:
        """Examples, and rows of W."""

    def diagonal(self) -> Array:
        """Each example's inner product with itself."""

    def scores(self, W: Array, rows: Rows) -> Array:
        """What W gives to some of the examples."""

    def combine(self, A: Any, dtype: Any) -> Array:
        """The W whose columns are sums of examples, with coefficients A (examples x columns, sparse)."""

    def inner(self, V: Array, W: Array) -> float:
        """The inner product of two models."""

    def products(self, V: Array, W: Array) -> Array:
        """The inner products of the columns of two models."""

    def squares(self, W: Array) -> NDArray[np.float64]:
        """The squared norm of each column of a model."""

    def take(self, rows: NDArray[np.intp]) -> Inputs:
        """Some of the examples."""

    def held_out(self, W: Array, rows: NDArray[np.intp], learned: NDArray[np.intp]) -> Array:
        """Scores of some of the examples by a model of others."""


@dataclass(frozen=True)
class Vectors:
    """Sparse rows, n x d."""

    X: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Examples, and features."""
        n, d = self.X.shape
        return n, d

    def scores(self, W: Array, rows: Rows) -> Array:
        """X W."""
        S: Array = self.X[rows].astype(W.dtype, copy=False) @ W
        return S

    def combine(self, A: Any, dtype: Any) -> Array:
        """X' A."""
        A = A.astype(dtype, copy=False)
        filled = A.nnz * SPARSE > A.shape[0] * A.shape[1]
        product = self._transposed.astype(dtype, copy=False) @ (A.toarray() if filled else A)
        W: Array = product if filled else product.toarray()
        return W

    @cached_property
    def _transposed(self) -> Any:
        return self.X.T.tocsr()

    def inner(self, V: Array, W: Array) -> float:
        """tr V' W."""
        v, w = V.ravel(order="K"), W.ravel(order="K")
        if V is W or V.flags.c_contiguous == W.flags.c_contiguous:
            parts = range(0, v.size, CHUNK)
            return sum(
                float(np.multiply(v[k : k + CHUNK], w[k : k + CHUNK], dtype=np.float64).sum()) for k in parts
            )
        return float(np.sum(V.astype(np.float64) * W))

    def products(self, V: Array, W: Array) -> Array:
        """V' W, in double precision."""
        step = max(1, CHUNK // max(V.shape[1], 1))
        total = np.zeros((V.shape[1], W.shape[1]))
        for k in range(0, len(V), step):
            total += V[k : k + step].astype(np.float64).T @ W[k : k + step].astype(np.float64)
        return total

    def squares(self, W: Array) -> NDArray[np.float64]:
        """The diagonal of W' W."""
        found: NDArray[np.float64] = np.einsum("ij,ij->j", W, W, dtype=np.float64)
        return found

    def diagonal(self) -> Array:
        """The squared norm of each example."""
        squares: Array = self.X.multiply(self.X).sum(axis=1)
        return squares

    def take(self, rows: NDArray[np.intp]) -> Vectors:
        """Some rows."""
        return Vectors(self.X[rows])

    def held_out(self, W: Array, rows: NDArray[np.intp], learned: NDArray[np.intp]) -> Array:
        """X W, whoever it was learned from."""
        S: Array = self.X[rows].astype(W.dtype, copy=False) @ W
        return S


class Gram(Protocol):
    """Inner products of the training examples, computed when asked for."""

    def diagonal(self) -> Array:
        """Each example with itself."""

    def rows(self, indices: NDArray[np.intp]) -> Array:
        """Some examples with all."""


@dataclass(frozen=True)
class Similarities:
    """Examples known by their inner products alone; `gram` has them all, `kept` are those of this problem."""

    gram: Gram
    kept: NDArray[np.intp]

    @property
    def shape(self) -> tuple[int, int]:
        """Examples, twice."""
        return len(self.kept), len(self.kept)

    def diagonal(self) -> Array:
        """Each example with itself."""
        return self.gram.diagonal()[self.kept]

    def rows(self, indices: NDArray[np.intp], dtype: Any = np.float64) -> Array:
        """Some of the examples with all of them."""
        block = self.gram.rows(self.kept[indices]).astype(dtype, copy=False)
        if block.shape[1] == len(self.kept) and (self.kept == np.arange(len(self.kept))).all():
            return block
        return block[:, self.kept]

    def scores(self, W: Array, rows: Rows) -> Array:
        """K W."""
        S: Array = self.rows(np.arange(len(self.kept))[rows], W.dtype) @ W
        return S

    def combine(self, A: Any, dtype: Any) -> Array:
        """The coefficients themselves."""
        W: Array = sp.csr_array(A).toarray().astype(dtype)
        return W

    def inner(self, V: Array, W: Array) -> float:
        """tr V' K W."""
        parts = (V[rows].astype(np.float64) * self.scores(W, rows) for rows in self._blocks())
        return sum(float(part.sum()) for part in parts)

    def products(self, V: Array, W: Array) -> Array:
        """V' K W."""
        total = np.zeros((V.shape[1], W.shape[1]))
        for rows in self._blocks():
            total += V[rows].astype(np.float64).T @ self.scores(W, rows)
        return total

    def squares(self, W: Array) -> NDArray[np.float64]:
        """The diagonal of W' K W."""
        found = np.zeros(W.shape[1])
        for rows in self._blocks():
            found += np.einsum("ij,ij->j", W[rows], self.scores(W, rows), dtype=np.float64)
        return np.maximum(found, 0.0)

    def _blocks(self) -> Iterator[slice]:
        n = len(self.kept)
        step = max(1, CHUNK // max(n, 1))
        return (slice(k, min(k + step, n)) for k in range(0, n, step))

    def take(self, rows: NDArray[np.intp]) -> Similarities:
        """Some of the examples, known to each other alone."""
        return Similarities(self.gram, self.kept[rows])

    def held_out(self, W: Array, rows: NDArray[np.intp], learned: NDArray[np.intp]) -> Array:
        """Similarities of the former to the latter, times W."""
        S: Array = self.rows(rows, W.dtype)[:, learned] @ W
        return S
