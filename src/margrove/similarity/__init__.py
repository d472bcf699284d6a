"""Inner products of inputs: vectors, strings, matrices and functions of the user's.

>>> gram = mg.similarity.gaussian(sigma=2.0).bind(X)
>>> gram.rows([0, 5])
"""

from margrove.similarity.bound import BoundSimilarity
from margrove.similarity.cache import RowCache
from margrove.similarity.choose import (
    NAMES,
    Similarity,
    custom,
    from_state,
    gaussian,
    get,
    linear,
    polynomial,
    precomputed,
    spec_from_state,
    spec_to_state,
    subsequence,
)
from margrove.similarity.width import median_distance

__all__ = [
    "NAMES",
    "BoundSimilarity",
    "RowCache",
    "Similarity",
    "custom",
    "from_state",
    "gaussian",
    "get",
    "linear",
    "median_distance",
    "polynomial",
    "precomputed",
    "spec_from_state",
    "spec_to_state",
    "subsequence",
]
