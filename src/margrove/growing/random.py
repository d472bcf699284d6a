"""Random taxonomies of the form of a given one: what is a true taxonomy worth? (Cai 7.4.3; T.7, T.8)"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from margrove.classifiers.targets import read_targets
from margrove.errors import TaxonomyError
from margrove.taxonomy import Taxonomy
from margrove.taxonomy.build import Parts
from margrove.taxonomy.spec import link

Keep = Literal["shape", "levels"]


class RandomTaxonomy(BaseEstimator):  # type: ignore[misc]
    """A taxonomy with the nodes of another, in which the classes stand at random places.

    Parameters
    ----------
    like : Taxonomy
        The taxonomy whose form and names are taken.
    keep : "shape" or "levels"
        "shape" keeps the graph of the inner nodes and lets the classes change places (T.7). "levels" draws
        the edges too: it keeps how many inner nodes and classes stand at each depth, and every inner node has
        a child (T.8); that is Cai's random hierarchy, for trees only.
    random_state : int, RandomState or None
        Where the draw comes from; None is another one each time.

    Attributes
    ----------
    taxonomy_ : the random taxonomy, with the names of `like`

    A label at an inner node stays there: its miscellaneous class is below the same inner node. Classes are
    called by their names in `like`; a path such as "food/apple" is another one here.
    """

    def __init__(self, like: Taxonomy, *, keep: Keep = "shape", random_state: Any = None) -> None:
        self.like = like
        self.keep = keep
        self.random_state = random_state

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Draw `taxonomy_`. X is not looked at; labels in y that `like` does not have are an error."""
        taxonomy = random_taxonomy(self.like, keep=self.keep, random_state=self.random_state)
        if y is not None:
            read_targets(y, self.like)
        self.taxonomy_ = taxonomy
        return self


def random_taxonomy(like: Taxonomy, *, keep: Keep = "shape", random_state: Any = None) -> Taxonomy:
    """Draw what `RandomTaxonomy(like, keep=keep, random_state=random_state)` fits."""
    if not isinstance(like, Taxonomy):
        raise ValueError(f"like is {like!r}; expected a margrove.Taxonomy")
    if keep not in ("shape", "levels"):
        raise ValueError(f"keep is {keep!r}; expected 'shape' or 'levels'")
    rng = check_random_state(random_state)
    misc = {like.index(inner): like.index(node) for inner, node in like.miscellaneous.items()}
    movable = np.setdiff1d(like.class_indices, list(misc.values()))
    names = list(like.nodes)
    for place, v in zip(movable.tolist(), rng.permutation(movable).tolist(), strict=True):
        names[place] = like.name(v)
    if keep == "shape":
        parts = Parts(names, names, like.parent_ptr, like.parent_idx)
    else:
        parts = link(names, names, _random_parents(like, set(misc.values()), rng))
    return Taxonomy(parts, f"random, keeping the {keep} of {like.source}", misc)


def _random_parents(like: Taxonomy, fixed: set[int], rng: np.random.RandomState) -> list[list[int]]:
    """A parent in the level above for every node; each inner node gets one child before chance decides."""
    if not like.is_tree:
        raise TaxonomyError("keep='levels' is for trees, but nodes have several parents; take keep='shape'")
    parents = [like.parent_idx[start : start + 1].tolist() for start in like.parent_ptr[:-1].tolist()]
    parents[0] = []
    moving = np.ones(like.n_nodes, dtype=bool)
    moving[list(fixed)] = False
    is_inner = np.isin(np.arange(like.n_nodes), like.parent_idx[moving[1:]])  # the root has no entry there
    for depth in range(1, int(like.depths.max()) + 1):
        above: NDArray[np.int64] = np.flatnonzero(is_inner & (like.depths == depth - 1))
        nodes = rng.permutation(np.flatnonzero(moving & (like.depths == depth)))
        drawn = np.concatenate([above, rng.choice(above, len(nodes) - len(above))])
        for v, parent in zip(nodes.tolist(), drawn.tolist(), strict=True):
            parents[v] = [parent]
    return parents
