"""Liu's perceptrons over closed sets of nodes (Algorithms 1 to 3; maths.md, U.17 to U.20).

    maximise over |w| <= 1   the least <w, x_i (y_i - z)'> of all examples i and sets z other than y_i  (U.17)

Each step adds the contrast of one example with its best other set to a sum: the example with the least lead
("hard"), or one drawn by multiplicative weights ("stochastic"). What is kept is the node scores of all
examples, which a step changes by one column of inner products (Algorithm 3); with vectors the weights of the
features are their sum (Algorithm 2), so that all forms take the same steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.kernels import subtrees as kernels
from margrove.objective.inputs import Similarities, Vectors

Update = Literal["hard", "stochastic"]
Array = NDArray[Any]
Sets = NDArray[np.bool_]
RATE = 2.0  # the c of Theorem 2: the least whole number for which Lemma 3 holds


@dataclass(frozen=True)
class Settings:
    """What the theorems ask for, or the user."""

    update: Update
    n_steps: int
    """T, for each block of examples."""
    radius: float
    """R, at least the norm of every x_i y_i'."""
    eta: float
    """Of the multiplicative weights."""
    average: bool
    """Whether the mean of all w_t is returned, or the last."""


@dataclass(frozen=True)
class SetPerceptron:
    """Weights (inputs x outputs) of norm one at most."""

    W: Array
    n_steps: int
    """Steps that were taken, in all blocks together."""
    separated: bool
    """Whether a hard fit ended since every example of its last block had a positive lead."""


def steps_needed(update: Update, n: int, epsilon: float) -> int:
    """T of Theorems 1 and 2, with contrasts in units of the longest possible (U.19, U.20)."""
    if update == "hard":
        return int(np.ceil(epsilon**-2))
    return int(np.ceil(((6 * np.sqrt(np.log(n)) + 1) / epsilon) ** 2))


def rate(n: int, n_steps: int) -> float:
    """eta of Theorem 2 (U.20)."""
    return float(min(RATE * np.sqrt(np.log(n) / max(n_steps, 1)), 1.0))


def radius(inputs: Vectors | Similarities, n_outputs: int) -> float:
    """R: the largest norm of an input, times that of a set of signs (Liu, section 4)."""
    return float(np.sqrt(inputs.diagonal().max(initial=0.0) * n_outputs))


def run(
    inputs: Vectors | Similarities,
    right: Sets,
    output: Any,
    weight: NDArray[np.float64],
    settings: Settings,
    blocks: list[NDArray[np.int64]],
    rng: np.random.Generator,
    n_threads: int = 1,
    watch: Callable[[int], bool | None] | None = None,
) -> SetPerceptron:
    """Take the steps on one block of examples after the other, each from the weights of the one before.

    `weight` is what examples count in the first draw, so that one of two is two equal examples. `watch` is
    told the number of steps now and then, and ends the fit by True.
    """
    path = _Path(inputs, right, settings)
    separated = False
    with _workers(n_threads) as work:
        for block in blocks:
            separated = _run_block(path, block, output, weight[block], settings, rng, work, n_threads, watch)
    W = inputs.combine(path.coefficients(settings.average and not separated), np.float64)
    return SetPerceptron(W, len(path.example), separated)


def _run_block(
    path: _Path,
    block: NDArray[np.int64],
    output: Any,
    weight: NDArray[np.float64],
    settings: Settings,
    rng: np.random.Generator,
    work: Callable[..., Any],
    n_threads: int,
    watch: Callable[[int], bool | None] | None,
) -> bool:
    """Algorithm 1 or 2 on some of the examples; whether all of them have a positive lead."""
    examples = _Examples(path, block, output.parent, n_threads, work)
    u = weight / weight.sum()
    for _ in range(settings.n_steps):
        if settings.update == "hard":
            i = int(examples.lead.argmin())
            if examples.lead[i] > 0:
                return True
        else:
            chances = np.cumsum(u)
            i = min(int(np.searchsorted(chances, rng.random() * chances[-1], side="right")), len(u) - 1)
            v = settings.eta * np.clip(path.in_units(examples.lead), -1, 1)
            u *= 1 - v + v * v
            u /= u.sum()
        examples.step(i)
        if watch is not None and len(path.example) % 256 == 0 and watch(len(path.example)):
            break
    return settings.update == "hard" and bool(examples.lead.min(initial=np.inf) > 0)


class _Path:
    """The steps so far: the example of each, the contrast that was added, and how long the sum then was."""

    def __init__(self, inputs: Vectors | Similarities, right: Sets, settings: Settings) -> None:
        self.inputs = inputs
        self.right = right
        self.squares = inputs.diagonal()
        self.unit = 2 * settings.radius or 1.0
        self.step_length = 1 / np.sqrt(max(settings.n_steps, 1))
        self.square = 0.0  # of the norm of the sum of contrasts
        self.example: list[int] = []
        self.contrast: list[NDArray[np.int8]] = []
        self.shrink: list[float] = []

    @property
    def _shrink(self) -> float:
        """By what the sum is multiplied to lie in the unit ball, in units of the longest contrast."""
        return float(1 / max(1.0, np.sqrt(self.square) * self.step_length / self.unit))

    def in_units(self, lead: Array) -> Array:
        """v_t of leads that the sum of contrasts gives: of w_t, and in units of the longest contrast."""
        scaled: Array = lead * (self.step_length / self.unit**2 * self._shrink)
        return scaled

    def add(self, i: int, contrast: NDArray[np.int8], lead: float) -> None:
        """A step."""
        size = float(self.squares[i] * np.square(contrast, dtype=np.float64).sum())
        self.square = max(self.square + size + 2 * lead, 0.0)
        self.example.append(i)
        self.contrast.append(contrast)
        self.shrink.append(self._shrink)

    def coefficients(self, average: bool) -> sp.csr_array:
        """Examples x outputs: of the last w_t, or of the mean of w_1 = 0, w_2, ... w_T (U.18)."""
        n, m = self.right.shape
        if not self.example:
            return sp.csr_array((n, m))
        shrink = np.array(self.shrink)
        if average:  # step s is in all w_t after it
            shrink = np.append(shrink[:-1], 0.0)[::-1].cumsum()[::-1] / len(shrink)
        else:
            shrink = np.full(len(shrink), shrink[-1])
        scaled = sp.csr_array(np.array(self.contrast)) * (shrink * self.step_length / self.unit)[:, None]
        places = (self.example, np.arange(len(self.example)))
        to_rows = sp.csr_array((np.ones(len(self.example)), places), shape=(n, len(self.example)))
        return sp.csr_array(to_rows @ scaled)

    def sum(self) -> sp.csr_array:
        """Examples x outputs: of the sum of contrasts."""
        n, m = self.right.shape
        total = np.zeros((n, m))
        np.add.at(total, self.example, np.array(self.contrast).reshape(len(self.example), m))
        return sp.csr_array(total)


class _Examples:
    """Node scores of the examples of a block by the sum of contrasts, and their leads."""

    def __init__(
        self, path: _Path, block: NDArray[np.int64], parent: Array, n_threads: int, work: Callable[..., Any]
    ) -> None:
        self.path = path
        self.block = block
        self.parent = parent
        self.right = np.ascontiguousarray(path.right[block])
        m = self.right.shape[1]
        self.column_of = _columns(path.inputs, block)
        self.scores = np.zeros((len(block), m))
        if path.example:
            W = path.inputs.combine(path.sum(), np.float64)
            self.scores += path.inputs.scores(W, block)
        self.lead = np.zeros(len(block))
        ends = np.linspace(0, len(block), n_threads + 1).astype(int)
        self.parts = list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
        self.scratch = [(np.zeros(m), np.zeros(m, bool)) for _ in self.parts]
        self.work = work
        self._follow(np.ones(len(block)), np.zeros(m))

    def step(self, i: int) -> None:
        """Add the contrast of the block's i-th example with its best other set."""
        gain, z = self.scratch[0]
        kernels.rival(self.scores[i], self.right[i], self.parent, gain, z)
        contrast = 2 * (self.right[i].astype(np.int8) - z)
        self.path.add(int(self.block[i]), contrast, float(self.lead[i]))
        self._follow(self.column_of(i), contrast.astype(np.float64))

    def _follow(self, column: Array, change: Array) -> None:
        def part(k: int) -> None:
            kernels.follow(
                self.scores,
                column,
                change,
                self.right,
                self.parent,
                *self.parts[k],
                *self.scratch[k],
                self.lead,
            )

        list(self.work(part, range(len(self.parts))))


def _columns(inputs: Vectors | Similarities, block: NDArray[np.int64]) -> Callable[[int], Array]:
    """A function that gives the inner products of one example of a block with all of the block."""
    if isinstance(inputs, Similarities):
        whole = len(block) == len(inputs.kept)

        def similar(i: int) -> Array:
            row: Array = inputs.rows(block[i : i + 1])[0]
            return np.ascontiguousarray(row, np.float64) if whole else row[block].astype(np.float64)

        return similar
    rows = sp.csr_array(inputs.X[block], dtype=np.float64)
    by_feature = rows.tocsc()
    column = np.empty(len(block))

    def product(i: int) -> Array:
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        kernels.add_column(
            by_feature.indptr,
            by_feature.indices,
            by_feature.data,
            rows.indices[part],
            rows.data[part],
            column,
        )
        return column

    return product


@contextmanager
def _workers(n_threads: int) -> Iterator[Callable[..., Any]]:
    """A function like `map`, on so many threads."""
    if n_threads == 1:
        yield map
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield pool.map
