"""Attributes whose weights are learned with the classifier: which columns share one (maths.md, A.9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from margrove.errors import DataError
from margrove.taxonomy.build import Name

if TYPE_CHECKING:
    from margrove.taxonomy.graph import Taxonomy

OWN, GIVEN = "own", "given"


@dataclass(frozen=True)
class Learned:
    """The attributes of `of` times weights that the classifier learns, one for each group of columns."""

    of: Any
    by: Literal["level", "node"] = "level"
    power: float = 2.0

    def __post_init__(self) -> None:
        if self.by not in ("level", "node"):
            raise DataError(f"learned by is {self.by!r}; expected 'level' or 'node'")
        number = isinstance(self.power, int | float | np.number) and not isinstance(self.power, bool)
        if not (number and 1 <= self.power < np.inf):
            raise DataError(f"power is {self.power!r}; expected a finite number of at least 1")

    def bind(self, taxonomy: Taxonomy | None, classes: Sequence[Name]) -> Any:
        """None of their own: there is nothing to learn from."""
        raise DataError("attributes with learned weights are for HierarchicalSVM, which learns them")

    def groups(
        self, nodes: NDArray[Any] | None, taxonomy: Taxonomy, classes: Sequence[Name]
    ) -> tuple[NDArray[np.int64], list[Name]]:
        """The group of each column by number, and what the groups are called.

        `nodes` are those of the columns, -1 for none. By level, what classes have alone is one group, "own",
        the inner nodes of each depth are one, "level 1" and so on, and all columns that are no nodes "given".
        """
        if nodes is None:
            raise DataError("the columns of a matrix have no levels whose weights could be learned")
        key = nodes
        if self.by == "level":
            depth = taxonomy.depths[np.maximum(nodes, 0)]
            key = np.where(nodes < 0, -1, np.where(np.isin(nodes, taxonomy.indices(classes)), 0, depth))
        keys, group = np.unique(key, return_inverse=True)
        return group.astype(np.int64), [self._name(k, taxonomy) for k in keys.tolist()]

    def _name(self, key: int, taxonomy: Taxonomy) -> Name:
        if key < 0:
            return GIVEN
        if self.by == "node":
            return taxonomy.name(key)
        return f"level {key}" if key else OWN
