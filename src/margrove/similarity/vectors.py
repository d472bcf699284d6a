"""Similarities of vectors that are a function of inner products: linear, polynomial, Gaussian (K.1-K.3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from margrove.errors import DataError, InvalidModelFileError
from margrove.modelfile import pack_csr, unpack_csr
from margrove.similarity.bound import BoundSimilarity, FloatArray, Numbers, State, is_count
from margrove.similarity.width import median_distance, read_vectors, squares


@dataclass(frozen=True)
class OfProducts(ABC):
    """A specification: k(x, x') from <x, x'>, |x|^2 and |x'|^2."""

    kind: ClassVar[str]
    is_linear: ClassVar[bool] = False
    ignores_origin: ClassVar[bool] = False
    """Whether it is the same after all inputs have moved by one vector."""

    @abstractmethod
    def value(self, products: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """The similarities, written over `products`."""

    def bind(self, X: Any, y: Any = None) -> BoundVectors:
        """The similarity with these training inputs, dense or sparse."""
        rows = read_vectors(X)
        check_range(self, rows)
        if self.ignores_origin and isinstance(rows, np.ndarray) and len(rows):
            centre = rows.mean(axis=0)  # far from the origin, distances would drown in |x|^2
            return BoundVectors(self, rows - centre, centre)
        return BoundVectors(self, rows)


@dataclass(frozen=True)
class Linear(OfProducts):
    """The inner product (K.1)."""

    kind: ClassVar[str] = "linear"
    is_linear: ClassVar[bool] = True

    def value(self, products: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """The products themselves."""
        return products


@dataclass(frozen=True)
class Polynomial(OfProducts):
    """(constant + <x, x'>)^degree (K.2)."""

    kind: ClassVar[str] = "polynomial"
    degree: int = 2
    constant: float = 1.0

    def __post_init__(self) -> None:
        if not is_count(self.degree):
            raise DataError(f"degree is {self.degree!r}; expected a whole number, one or more")
        if not (np.isfinite(self.constant) and self.constant >= 0):
            raise DataError(f"constant is {self.constant!r}; expected a finite number, zero or more")

    def value(self, products: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """Powers of the products."""
        products += self.constant
        products **= int(self.degree)
        return products


@dataclass(frozen=True)
class Gaussian(OfProducts):
    """exp(-rate |x - x'|^2), with the rate given in one of four ways, or taken from the inputs (K.3, K.4)."""

    kind: ClassVar[str] = "gaussian"
    ignores_origin: ClassVar[bool] = True
    variance: float | None = None
    width: float | None = None
    sigma: float | None = None
    rate: float | None = None

    def __post_init__(self) -> None:
        given = {option: value for option, value in asdict(self).items() if value is not None}
        if len(given) > 1:
            raise DataError(f"{' and '.join(given)} are given; they say the same thing, so give one")
        for option, value in given.items():
            if not (np.isfinite(value) and value > 0):
                raise DataError(f"{option} is {value!r}; expected a positive number")
        if given and not (np.isfinite(self.factor) and self.factor > 0):
            raise DataError(f"{given} is beyond the range of the arithmetic")

    @property
    def factor(self) -> float:
        """The rate, whichever way it is given."""
        if self.variance is not None:
            return 0.5 / float(self.variance)
        if self.width is not None:
            return 1 / float(self.width) / float(self.width)
        if self.sigma is not None:
            return 0.5 / float(self.sigma) / float(self.sigma)
        if self.rate is not None:
            return float(self.rate)
        raise DataError("the width of gaussian() is not known before it is bound to inputs and labels")

    def bind(self, X: Any, y: Any = None) -> BoundVectors:
        """The similarity with these training inputs; without a width, their labels are needed too."""
        if any(value is not None for value in asdict(self).values()):
            return super().bind(X)
        if y is None:
            raise DataError("gaussian() takes its width from labels, but y is None; give y or a width")
        return replace(self, width=median_distance(X, y)).bind(X)

    def value(self, products: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """By way of |x - x'|^2 = |x|^2 + |x'|^2 - 2 <x, x'>."""
        products *= -2.0
        products += left
        products += right
        np.maximum(products, 0.0, out=products)
        products *= -self.factor
        np.exp(products, out=products)
        return products


def check_range(spec: OfProducts, rows: Any) -> None:
    """Refuse rows that the arithmetic cannot hold; by Cauchy and Schwarz, all pairs of the others fit."""
    with np.errstate(over="ignore", invalid="ignore"):
        sq = squares(rows)
        wrong = np.flatnonzero(~np.isfinite(spec.value(sq.copy(), sq, sq)))
    if len(wrong):
        raise DataError(f"X, row {wrong[0]}: its {spec.kind} similarity to itself overflows; scale X")


@dataclass(frozen=True, eq=False)
class BoundVectors(BoundSimilarity):
    """A function of inner products, with its training inputs; sparse ones stay sparse."""

    spec: OfProducts
    X: Any = field(repr=False)
    centre: FloatArray | None = field(default=None, repr=False)
    """What has been taken off X; only where the training inputs are dense."""

    @property
    def is_linear(self) -> bool:  # type: ignore[override]
        """Whether a weight for each feature does the same."""
        return self.spec.is_linear

    @property
    def n(self) -> int:
        """The number of training inputs."""
        return int(self.X.shape[0])

    @cached_property
    def _squares(self) -> FloatArray:
        return squares(self.X)

    @cached_property
    def _columns(self) -> Any:
        return self.X.T if isinstance(self.X, np.ndarray) else self.X.T.tocsr()

    def diagonal(self) -> FloatArray:
        """The similarity of each training input to itself."""
        return self.spec.value(self._squares.copy(), self._squares, self._squares)

    def restricted(self, indices: ArrayLike) -> BoundVectors:
        """The same with these training inputs only."""
        return replace(self, X=self.X[np.asarray(indices, dtype=np.int64)])

    def extended(self, X: Any) -> BoundVectors:
        """The same with more training inputs; the centre stays where it is."""
        new = self._in_form(self._read(X))
        if isinstance(self.X, np.ndarray):
            return replace(self, X=np.concatenate([self.X, new]))
        from scipy.sparse import csr_array, vstack

        return replace(self, X=csr_array(vstack([self.X, new], format="csr")))

    def _training(self, indices: Numbers) -> FloatArray:
        return self._against(self.X[indices])

    def _read(self, X: Any) -> Any:
        rows = read_vectors(X)
        if rows.shape[1] != self.X.shape[1]:
            raise DataError(f"X has {rows.shape[1]} features; the training inputs have {self.X.shape[1]}")
        check_range(self.spec, rows)
        return rows

    def _between(self, part: Any) -> FloatArray:
        return self._against(self._in_form(part))

    def _in_form(self, rows: Any) -> Any:
        """New inputs in the form of X: sparse or dense, and moved as these were."""
        from scipy.sparse import csr_array

        if not isinstance(self.X, np.ndarray):
            return csr_array(rows)
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        return dense if self.centre is None else dense - self.centre

    def _against(self, rows: Any) -> FloatArray:
        """The similarities of rows in the form of X to those of X."""
        products = rows @ self._columns
        dense: FloatArray = products if isinstance(products, np.ndarray) else products.toarray()
        return self.spec.value(dense, squares(rows)[:, None], self._squares)

    def to_state(self) -> State:
        """The parameters that are given, and the inputs."""
        plain = {option: _plain(value) for option, value in asdict(self.spec).items() if value is not None}
        arrays: dict[str, NDArray[Any]] = (
            {"inputs": self.X} if isinstance(self.X, np.ndarray) else pack_csr("inputs", self.X)
        )
        if self.centre is not None:
            arrays["centre"] = self.centre
        return {"kind": self.spec.kind} | plain, arrays

    @classmethod
    def from_arrays(cls, spec: OfProducts, arrays: Any) -> BoundVectors:
        """What `to_state` described."""
        X = arrays["inputs"] if "inputs" in arrays else unpack_csr("inputs", arrays)
        centre = arrays.get("centre")
        values = X if isinstance(X, np.ndarray) else X.data
        if X.ndim != 2 or X.dtype != np.float64 or not np.isfinite(values).all():
            raise InvalidModelFileError("the inputs of the similarity are no matrix of finite numbers")
        if centre is not None and not (
            isinstance(X, np.ndarray) and centre.shape == X.shape[1:] and np.isfinite(centre).all()
        ):
            raise InvalidModelFileError("the centre of the similarity does not fit its inputs")
        check_range(spec, X)
        return cls(spec, X, centre)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
