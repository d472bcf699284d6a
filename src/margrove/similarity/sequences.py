"""The similarity of strings by the subsequences that they share (K.5 to K.7; Lodhi et al. 2002)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import comb, log, log1p
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from margrove.errors import DataError, InvalidModelFileError
from margrove.modelfile import pack_strings, unpack_strings
from margrove.similarity.bound import BoundSimilarity, FloatArray, Numbers, State, is_count
from margrove.similarity.strings import Engine, Strings, encode, subsequence_pairs

PAIRS = 1 << 14  # pairs of strings in one call: about a second, between which a fit can be interrupted
LOG_LIMIT = 700.0  # e to this is a double


@dataclass(frozen=True)
class Subsequence:
    """Shared subsequences of `length` characters; each character that one spans counts as `decay` (K.6)."""

    kind: ClassVar[str] = "subsequence"
    length: int = 4
    decay: float = 0.5
    normalize: bool = True

    def __post_init__(self) -> None:
        if not is_count(self.length):
            raise DataError(f"length is {self.length!r}; expected a whole number, one or more")
        if not 0 < self.decay <= 1:
            raise DataError(f"decay is {self.decay!r}; expected a number above 0 and up to 1")
        if not isinstance(self.normalize, bool | np.bool_):
            raise DataError(f"normalize is {self.normalize!r}; expected True or False")
        if not self.normalize and self.decay ** (2 * self.length) == 0:
            raise DataError(f"decay {self.decay} to the power 2 x {self.length} is zero; use normalize=True")

    def bind(self, X: Any, y: Any = None) -> BoundSubsequence:
        """The similarity with these training strings."""
        strings = read_strings(X)
        self.check_sizes(strings)
        return BoundSubsequence(self, strings)

    def check_sizes(self, strings: NDArray[Any]) -> None:
        """Refuse strings so long that sums over their subsequences may overflow."""
        longest = max(map(len, strings), default=0)
        if longest < self.length:
            return
        most = log(comb(longest, int(self.length)))
        if self.decay < 1:
            most = min(most, log(longest) - (self.length - 1) * log1p(-self.decay))
        if 2 * most > LOG_LIMIT:
            raise DataError(
                f"a string of {longest} characters has too many subsequences of length {self.length} "
                f"for the arithmetic with decay {self.decay}; lower length or decay"
            )


@dataclass(frozen=True, eq=False)
class BoundSubsequence(BoundSimilarity):
    """Subsequences, with the training strings.

    The recursion is NumPy's unless a faster function for it is given: `with_engine(subsequence_pairs)`, of
    `margrove.kernels.strings`, which this room does not know. Do so before the first use, so that everything
    is computed by it; both agree but for rounding.
    """

    spec: Subsequence
    strings: NDArray[Any] = field(repr=False)
    engine: Engine = field(default=subsequence_pairs, repr=False)
    own: FloatArray | None = field(default=None, repr=False)
    """The sum over the common subsequences of each string and itself, if known."""

    def with_engine(self, engine: Engine | None) -> Self:
        """The same, computed by another function; None is NumPy's."""
        return replace(self, engine=subsequence_pairs if engine is None else engine)

    @property
    def n(self) -> int:
        """The number of training strings."""
        return len(self.strings)

    @cached_property
    def _codes(self) -> Strings:
        return encode(self.strings.tolist())

    @cached_property
    def _own(self) -> FloatArray:
        return self._self_sums(self._codes) if self.own is None else self.own

    def diagonal(self) -> FloatArray:
        """The similarity of each training string to itself; zero if it is too short."""
        if self.spec.normalize:
            return (self._own > 0).astype(np.float64)
        return self._own * self.spec.decay ** (2 * self.spec.length)

    def restricted(self, indices: ArrayLike) -> Self:
        """The same with these training strings only."""
        kept = np.asarray(indices, dtype=np.int64)
        return replace(self, strings=self.strings[kept], own=self._own[kept])

    def extended(self, X: Any) -> Self:
        """The same with more training strings."""
        new = self._read(X)
        own = np.concatenate([self._own, self._self_sums(encode(new.tolist()))])
        return replace(self, strings=np.concatenate([self.strings, new]), own=own)

    def _training(self, indices: Numbers) -> FloatArray:
        """Each pair of strings of the block is computed once."""
        block = np.empty((len(indices), self.n))
        place = np.full(self.n, -1)
        place[indices] = np.arange(len(indices))
        step = max(1, PAIRS // max(self.n, 1))
        for start in range(0, len(indices), step):
            rows = np.arange(start, min(start + step, len(indices)))
            row, column = np.nonzero((place < 0) | (place >= rows[:, None]))
            block[start + row, column] = self._sums(self._codes, indices[rows[row]], column)
            mirrored = place[column] >= 0
            row, column = start + row[mirrored], column[mirrored]
            block[place[column], indices[row]] = block[row, column]
        factors = self._factors(self._own)
        block *= factors[indices, None] * factors
        return block

    def _read(self, X: Any) -> Any:
        strings = read_strings(X)
        self.spec.check_sizes(strings)
        return strings

    def _between(self, part: Any) -> FloatArray:
        new = encode(part.tolist())
        row, column = np.divmod(np.arange(len(part) * self.n), max(self.n, 1))
        block: FloatArray = np.empty(len(row))
        for start in range(0, len(row), PAIRS):
            some = slice(start, start + PAIRS)
            block[some] = self._sums(new, row[some], column[some])
        block = block.reshape(len(part), self.n)
        own = self._self_sums(new) if self.spec.normalize else np.empty(len(part))
        block *= self._factors(own)[:, None] * self._factors(self._own)
        return block

    def _sums(self, left: Strings, a: Numbers, b: Numbers) -> FloatArray:
        return self._run(left, self._codes, a, b)

    def _self_sums(self, strings: Strings) -> FloatArray:
        every = np.arange(len(strings.ptr) - 1)
        return self._run(strings, strings, every, every)

    def _run(self, left: Strings, right: Strings, a: Numbers, b: Numbers) -> FloatArray:
        pairs = a.astype(np.int32), b.astype(np.int32)
        return self.engine(left, right, *pairs, int(self.spec.length), float(self.spec.decay))

    def _factors(self, own: FloatArray) -> FloatArray:
        """What each string's sums are multiplied by: (K.7), or the weight of the characters matched."""
        if not self.spec.normalize:
            return np.full(len(own), float(self.spec.decay) ** self.spec.length)
        return np.divide(1.0, np.sqrt(own), out=np.zeros(len(own)), where=own > 0)

    def to_state(self) -> State:
        """The parameters, the strings, and their sums with themselves."""
        strings = pack_strings("strings", self.strings.tolist())
        return {"kind": self.spec.kind} | asdict(self.spec), strings | {"own": self._own}

    @classmethod
    def from_arrays(cls, spec: Subsequence, arrays: Any) -> BoundSubsequence:
        """What `to_state` described."""
        strings, own = read_strings(unpack_strings("strings", arrays)), arrays["own"]
        if own.shape != strings.shape or own.dtype != np.float64 or not (np.isfinite(own) & (own >= 0)).all():
            raise InvalidModelFileError("the strings of the similarity do not fit their norms")
        spec.check_sizes(strings)
        return cls(spec, strings, own=own)


def read_strings(X: Any) -> NDArray[Any]:
    """One string for each row, as an array of objects."""
    if isinstance(X, str) or getattr(X, "ndim", 1) != 1:
        raise DataError("X must be a sequence of strings, one for each row")
    rows = list(X)
    for i, row in enumerate(rows):
        if not isinstance(row, str):
            raise DataError(f"X, row {i}: expected a string, not {row!r}")
    strings = np.empty(len(rows), dtype=object)
    strings[:] = [str(row) for row in rows]
    return strings
