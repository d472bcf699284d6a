"""A taxonomy inside a larger one: where its nodes are, and whether they kept their ancestors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from margrove.errors import TaxonomyError, UnknownNodeError

if TYPE_CHECKING:
    from margrove.taxonomy.build import Name
    from margrove.taxonomy.graph import Taxonomy


def embed(small: Taxonomy, large: Taxonomy) -> NDArray[np.int64]:
    """The number in `large` of each node of `small`; what stood above a node has to stand there still.

    A node is found by its name, or, if that is not clear any more, by its path. The roots are one whatever
    they are called, and a miscellaneous class is that of the same inner node.
    """
    if large is small:
        return np.arange(small.n_nodes)
    place = np.zeros(small.n_nodes, np.int64)
    for v in range(1, small.n_nodes):
        node = small.name(v)
        label = small.as_label(node)
        if label == node:
            place[v] = _found(small, large, node)
        else:
            inner = large.name(int(place[small.index(label)]))
            place[v] = large.index(large.as_class(inner))
    for v in range(1, small.n_nodes):
        above = large.ancestors(large.name(int(place[v])))
        for parent in small.parent_idx[small.parent_ptr[v] : small.parent_ptr[v + 1]].tolist():
            if large.name(int(place[parent])) not in above:
                raise TaxonomyError(
                    f"{small.name(v)!r} was below {small.name(parent)!r}, and in the new taxonomy it is not; "
                    "a taxonomy may gain nodes and edges, but what is learned stands on the old ones"
                )
    return place


def _found(small: Taxonomy, large: Taxonomy, node: Name) -> int:
    for name in (node, small.label_path(node)):
        try:
            return large.index(name)
        except UnknownNodeError as error:
            reason = error
    raise TaxonomyError(f"the new taxonomy lacks the node {node!r} of the old one: {reason}") from reason
