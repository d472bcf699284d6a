"""What classes share: the attribute vectors of Cai's section 3.2 (maths.md, A.1-A.14).

A class's score is `F = Lambda @ (node scores)`. Like a cost, an attribute map is a small specification,
bound to a taxonomy and its classes when they are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np

from margrove.errors import DataError, LabelError
from margrove.taxonomy.binding import class_taxonomy, keep_columns, read_matrix, row_of
from margrove.taxonomy.build import IntArray, Name, SparseMatrix
from margrove.taxonomy.descriptions import Descriptions, described
from margrove.taxonomy.learned import Learned
from margrove.taxonomy.shared import Shared

if TYPE_CHECKING:
    from margrove.taxonomy.graph import Taxonomy

Bound: TypeAlias = "tuple[SparseMatrix, IntArray | None]"
"""Lambda (classes x columns, sorted indices) and the taxonomy's node of each column, if it is one."""

ROOT = 0  # its attribute is zero in Cai's section 7.2


class Attributes(Protocol):
    """A specification of class attributes, without a taxonomy yet."""

    def bind(self, taxonomy: Taxonomy | None, classes: Sequence[Name]) -> Bound:
        """Lambda for these terminal nodes, without columns that cannot matter, and each column's node."""
        ...


@dataclass(frozen=True)
class OneHot:
    """Every class is an attribute of its own: the flat classifier (A.2)."""

    def bind(self, taxonomy: Taxonomy | None, classes: Sequence[Name]) -> Bound:
        """The identity; its columns are the classes' nodes."""
        from scipy.sparse import eye_array

        graph = class_taxonomy(taxonomy, classes)
        identity = eye_array(len(classes), format="csr")
        return identity, graph.indices(classes)


@dataclass(frozen=True)
class Ancestors:
    """1 for every ancestor but the root (A.3)."""

    def bind(self, taxonomy: Taxonomy | None, classes: Sequence[Name]) -> Bound:
        """The rows of ancestors."""
        ancestors = class_taxonomy(taxonomy, classes).ancestor_matrix(classes)
        return _informative(ancestors, ROOT)


@dataclass(frozen=True)
class DepthScaled:
    """One over the square root of the depth, for every ancestor but the root (A.4, A.5).

    `by="taxonomy"` takes the depth of the deepest class for all, `by="class"` each class's own.
    """

    by: Literal["taxonomy", "class"] = "taxonomy"

    def __post_init__(self) -> None:
        if self.by not in ("taxonomy", "class"):
            raise DataError(f"depth_scaled by is {self.by!r}; expected 'taxonomy' or 'class'")

    def bind(self, taxonomy: Taxonomy | None, classes: Sequence[Name]) -> Bound:
        """The scaled rows of ancestors."""
        graph = class_taxonomy(taxonomy, classes)
        ancestors = graph.ancestor_matrix(classes)
        depth = np.diff(ancestors.indptr) - 1
        if self.by == "taxonomy":
            deepest = np.diff(graph.ancestor_matrix().indptr).max() - 1
            depth = np.full(len(depth), deepest)
        ancestors.data /= np.sqrt(np.maximum(depth, 1))[row_of(ancestors)]
        return _informative(ancestors, ROOT)


@dataclass(frozen=True, eq=False)
class Given:
    """Any matrix, one row for each class (A.1)."""

    matrix: Any = field(repr=False)

    def bind(self, taxonomy: Taxonomy | None, classes: Sequence[Name]) -> Bound:
        """The matrix; its columns stand for no nodes."""
        class_taxonomy(taxonomy, classes)
        return _informative(read_matrix(self.matrix, len(classes), "attributes", "classes"))[0], None


@dataclass(frozen=True, eq=False)
class ClassKernel:
    """Inner products of classes, for classes whose attributes are not known (A.7)."""

    matrix: Any = field(repr=False)
    classes: Sequence[Name] | None = None

    def __post_init__(self) -> None:
        given = np.array(self.matrix.toarray() if hasattr(self.matrix, "toarray") else self.matrix)
        products = given if given.dtype == np.float32 else given.astype(np.float64)
        if products.ndim != 2 or products.shape[0] != products.shape[1]:
            raise DataError(f"a class kernel must be square; its shape is {products.shape}")
        if self.classes is not None and len(self.classes) != len(products):
            raise DataError(
                f"the class kernel has {len(products)} rows but {len(self.classes)} classes are named"
            )
        with np.errstate(invalid="ignore"):
            differs = abs(products - products.T) > _rounding(products) * abs(products).max(initial=0.0)
        for wrong, what in (
            (~np.isfinite(products), "must be finite"),
            (differs, "differs from its mirror image"),
        ):
            if wrong.any():
                i, j = np.argwhere(wrong)[0].tolist()
                raise DataError(f"kernel[{i}, {j}] is {products[i, j]}; it {what}")
        products.setflags(write=False)
        object.__setattr__(self, "matrix", products)

    def bind(self, taxonomy: Taxonomy | None, classes: Sequence[Name]) -> Bound:
        """A factor of the products of these classes; its columns stand for no nodes."""
        products = self.matrix
        if self.classes is not None:
            place = {name: i for i, name in enumerate(self.classes)}
            unknown = [name for name in classes if name not in place]
            if unknown:
                raise LabelError(f"the class kernel has no row for class {unknown[0]!r}")
            order = [place[name] for name in classes]
            products = products[np.ix_(order, order)]
        elif len(products) != len(classes):
            raise DataError(
                f"the class kernel has {len(products)} rows but there are {len(classes)} classes; name them"
            )
        values, vectors = np.linalg.eigh(products.astype(np.float64))
        limit = _rounding(products) * abs(values).max(initial=0.0)
        if values.min(initial=0.0) < -limit:
            raise DataError(
                "the class kernel is not positive semidefinite: "
                f"its most negative eigenvalue is {values.min():.6g}"
            )
        positive = values > limit
        return Given(vectors[:, positive] * np.sqrt(values[positive])).bind(taxonomy, classes)


def _rounding(products: Any) -> float:
    """What arithmetic in the type of a square matrix may get wrong, relative to the largest value."""
    return float(16 * len(products) * np.finfo(products.dtype).eps)


def _informative(attributes: SparseMatrix, spare: int | None = None) -> tuple[SparseMatrix, IntArray]:
    """Without column `spare`, and without those that are in no contrast: unused, or the same for all."""
    n_classes, n_columns = attributes.shape
    used = np.bincount(attributes.indices, minlength=n_columns)
    lowest, highest = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    np.minimum.at(lowest, attributes.indices, attributes.data)
    np.maximum.at(highest, attributes.indices, attributes.data)
    same = (used == n_classes) & (lowest == highest) & (n_classes > 1)
    keep = (used > 0) & ~same
    if spare is not None:
        keep[spare] = False
    return keep_columns(attributes, keep), np.flatnonzero(keep).astype(np.int32)


def one_hot() -> OneHot:
    """Every class is an attribute of its own (A.2): the flat classifier."""
    return OneHot()


def ancestors() -> Ancestors:
    """1 for every ancestor but the root (A.3)."""
    return Ancestors()


def depth_scaled(by: Literal["taxonomy", "class"] = "taxonomy") -> DepthScaled:
    """Ancestors, scaled by the depth of the taxonomy (A.4) or of each class (A.5); Cai's section 7.2."""
    return DepthScaled(by)


def kernel(products: Any, classes: Sequence[Name] | None = None) -> ClassKernel:
    """Any positive semidefinite matrix of inner products between classes (A.7; Cai 4.17)."""
    return ClassKernel(products, None if classes is None else tuple(classes))


def shared(sharing: float, of: Any = "depth-scaled") -> Shared:
    """From one-hot attributes, 0, to those of `of`, 1, along the line between their class kernels (A.8)."""
    return Shared(get(of), sharing)


def descriptions(
    of: Any, names: Sequence[Name] | None = None, part: float = 0.5, beside: Any = "depth-scaled"
) -> Descriptions:
    """Texts or vectors that describe classes, beside other attributes (A.14).

    `of` is a mapping from classes to texts, or to vectors, or a matrix whose rows are those of `names`. The
    descriptions have the part `part` of the class kernel.
    """
    return described(of, names, part, get(beside))


def learned(of: Any = "depth-scaled", by: Literal["level", "node"] = "level", power: float = 2.0) -> Learned:
    """Those of `of`, with weights of levels or nodes that are learned with the classifier (A.9-A.13).

    `power` says how far the weights may go: 1 is as far as the margin gains, large ones are hardly at all.
    """
    return Learned(get(of), by, power)


_NAMED: Mapping[str, Callable[[], Attributes]] = {
    "one-hot": one_hot,
    "ancestors": ancestors,
    "depth-scaled": depth_scaled,
    "depth-scaled-class": lambda: depth_scaled("class"),
}
NAMES: tuple[str, ...] = tuple(_NAMED)
LEARNED = "learned"


def get(attributes: Any) -> Attributes:
    """Attributes from their specification, their function, their name ("depth-scaled") or a matrix.

    The matrix is Lambda; inner products of classes go through `kernel`.
    """
    if isinstance(attributes, str):
        if attributes == LEARNED:
            return learned()
        found = _NAMED.get(attributes.replace("_", "-"))
        if found is None:
            raise DataError(
                f"no attributes are called {attributes!r}; expected one of "
                f"{', '.join(NAMES)}, {LEARNED}, or a matrix"
            )
        return found()
    if hasattr(attributes, "bind"):
        bound: Attributes = attributes
        return bound
    return get(attributes()) if callable(attributes) else Given(attributes)
