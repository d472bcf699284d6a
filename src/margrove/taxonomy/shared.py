"""How much classes share: between the flat classifier and given attributes (maths.md, A.8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from margrove.errors import DataError
from margrove.taxonomy.binding import class_taxonomy, keep_columns, row_of
from margrove.taxonomy.build import IntArray, Name, SparseMatrix

if TYPE_CHECKING:
    from margrove.taxonomy.graph import Taxonomy


@dataclass(frozen=True)
class Shared:
    """Attributes whose class kernel is `sharing` times that of `of`, and the rest one-hot (A.8)."""

    of: Any
    sharing: float

    def __post_init__(self) -> None:
        number = isinstance(self.sharing, int | float | np.number) and not isinstance(self.sharing, bool)
        if not (number and 0 <= self.sharing <= 1):
            raise DataError(f"sharing is {self.sharing!r}; expected a number from 0 (flat) to 1")

    def bind(
        self, taxonomy: Taxonomy | None, classes: Sequence[Name]
    ) -> tuple[SparseMatrix, IntArray | None]:
        """The weight of what lies above a class times sqrt(sharing), its own weight made up for that."""
        from scipy.sparse import csr_array, hstack

        Lambda, nodes = self.of.bind(taxonomy, classes)
        if self.sharing == 1:
            return Lambda, nodes
        class_nodes = class_taxonomy(taxonomy, classes).indices(classes)
        q, m = Lambda.shape
        place = {} if nodes is None else {node: column for column, node in enumerate(nodes.tolist())}
        own = np.array([place.get(node, -1) for node in class_nodes.tolist()])  # the class's own column
        alone = np.flatnonzero(own < 0)
        own[alone] = m + np.arange(len(alone))
        more = csr_array((np.zeros(len(alone)), (alone, np.arange(len(alone)))), shape=(q, len(alone)))
        mixed = csr_array(hstack([Lambda, more], format="csr"))
        mine = mixed.indices == own[row_of(mixed)]
        mixed.data[mine] **= 2
        mixed.data[mine] = np.sqrt(self.sharing * mixed.data[mine] + 1 - self.sharing)
        mixed.data[~mine] *= np.sqrt(self.sharing)
        mixed.eliminate_zeros()
        used = np.bincount(mixed.indices, minlength=mixed.shape[1]) > 0
        kept = keep_columns(mixed, used)
        return kept, None if nodes is None else np.concatenate([nodes, class_nodes[alone]])[used]
