"""From what a user gives to a specification, and from a model file to a bound similarity."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from typing import Any, Protocol

from numpy.typing import NDArray

from margrove.errors import DataError, InvalidModelFileError, ModelFileError
from margrove.similarity.bound import BoundSimilarity
from margrove.similarity.given import BoundPrecomputed, Custom, Function, Precomputed
from margrove.similarity.sequences import BoundSubsequence, Subsequence
from margrove.similarity.vectors import BoundVectors, Gaussian, Linear, OfProducts, Polynomial


class Similarity(Protocol):
    """A specification of inner products, without inputs yet."""

    def bind(self, X: Any, y: Any = None) -> BoundSimilarity:
        """The similarity with these training inputs; few specifications look at their labels."""
        ...


def linear() -> Linear:
    """The inner product (K.1)."""
    return Linear()


def polynomial(degree: int = 2, constant: float = 1.0) -> Polynomial:
    """(constant + <x, x'>)^degree (K.2; Liu, section 4)."""
    return Polynomial(degree, constant)


def gaussian(
    *,
    variance: float | None = None,
    width: float | None = None,
    sigma: float | None = None,
    rate: float | None = None,
) -> Gaussian:
    """exp(-|x - x'|^2 / scale) (K.3), with the scale given in one of four ways:

    2 variance (Liu), width^2 (Wang 2.4.1), 2 sigma^2 (Wang 2.5), 1 / rate (Yang). With none of them, width is
    the median distance between inputs of different classes (K.4).
    """
    return Gaussian(variance, width, sigma, rate)


def precomputed() -> Precomputed:
    """X holds similarities: n x n in training, new inputs x n in prediction."""
    return Precomputed()


def custom(function: Function) -> Custom:
    """A function f(A, B) of yours, the matrix of similarities of A's rows to B's; it cannot be saved."""
    return Custom(function)


def subsequence(length: int = 4, decay: float = 0.5, normalize: bool = True) -> Subsequence:
    """Strings by their common subsequences of `length` characters, gaps allowed (K.6, K.7)."""
    return Subsequence(length, decay, normalize)


_NAMED: Mapping[str, Callable[[], Similarity]] = {
    "linear": linear,
    "polynomial": polynomial,
    "gaussian": gaussian,
    "precomputed": precomputed,
    "subsequence": subsequence,
}
NAMES: Collection[str] = tuple(_NAMED)


def get(similarity: Any) -> Similarity:
    """A similarity from its specification, its function (`mg.similarity.linear`), its name or an f(A, B)."""
    expected = f"expected one of {', '.join(NAMES)}, or a function f(A, B)"
    if isinstance(similarity, str):
        found = _NAMED.get(similarity)
        if found is None:
            raise DataError(f"no similarity is called {similarity!r}; {expected}")
        return found()
    if isinstance(similarity, type):
        raise DataError(f"{similarity!r} is a class; {expected}")
    if hasattr(similarity, "bind"):
        spec: Similarity = similarity
        return spec
    if any(similarity is function for function in _NAMED.values()):
        return get(similarity())
    if callable(similarity):
        return custom(similarity)
    raise DataError(f"{similarity!r} is no similarity; {expected}")


_SPECS: Mapping[str, Any] = {
    kind.kind: kind for kind in (Linear, Polynomial, Gaussian, Precomputed, Subsequence)
}


def spec_to_state(value: Any) -> Any:
    """A specification as plain JSON values; anything else as it is."""
    if type(value) not in _SPECS.values():
        return value
    return {"kind": value.kind} | {option: _plain(given) for option, given in asdict(value).items()}


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def spec_from_state(state: Any) -> Any:
    """What `spec_to_state` was given; what is no specification as it is."""
    if not (isinstance(state, dict) and state.get("kind") in _SPECS):
        return state
    options = dict(state)
    try:
        return _SPECS[options.pop("kind")](**options)
    except (TypeError, ValueError) as error:
        raise InvalidModelFileError(f"{state!r} is no similarity: {error}") from error


_OF_PRODUCTS: Mapping[str, type[OfProducts]] = {kind.kind: kind for kind in (Linear, Polynomial, Gaussian)}


def from_state(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> BoundSimilarity:
    """What `to_state` described; what does not fit together is refused."""
    options = dict(header)
    kind = options.pop("kind", None)
    try:
        if kind in _OF_PRODUCTS:
            return BoundVectors.from_arrays(_OF_PRODUCTS[kind](**options), arrays)
        if kind == Subsequence.kind:
            return BoundSubsequence.from_arrays(Subsequence(**options), arrays)
        if kind == Precomputed.kind:
            return BoundPrecomputed.from_arrays(options["n_training"], arrays["columns"])
    except ModelFileError:
        raise
    except (TypeError, KeyError, ValueError, OverflowError) as error:
        raise InvalidModelFileError(f"{dict(header)!r} is no similarity: {error}") from error
    raise InvalidModelFileError(f"similarities of the kind {kind!r} are unknown")
