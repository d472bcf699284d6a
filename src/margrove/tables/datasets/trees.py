"""Random problems over a tree or a graph, whose near classes are alike (Cai 7.1.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.errors import DataError
from margrove.taxonomy import Taxonomy

_POINTS_AT_ONCE = 1 << 22  # class scores drawn together; bounds the memory beside the result
_HOPELESS = 200_000  # candidate points after which fewer than one accepted in a thousand is given up


@dataclass(frozen=True)
class TreeProblem:
    """Points with labels that a hierarchical linear function gave them, and that function's node weights."""

    X: NDArray[np.float64] | sp.csr_array = field(repr=False)
    y: list[str] | list[list[str]] = field(repr=False)
    """The class of each point or, multilabel, its list of classes in the order of the taxonomy's classes."""
    taxonomy: Taxonomy
    weights: NDArray[np.float64] = field(repr=False)
    """Nodes x features, in the order of `taxonomy.nodes`."""


def make_tree_classification(
    n_samples: int = 200,
    n_features: int = 20,
    fanout: int | Sequence[int] = 3,
    depth: int = 3,
    *,
    taxonomy: Taxonomy | None = None,
    multilabel: bool = True,
    decay: float = 0.5,
    density: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> TreeProblem:
    """Random points and classes in which near classes are alike (Cai 7.1.1; maths.md, M.16).

    Every node has Gaussian weights of variance `decay ** depth`, a class the sum of the weights above it, and
    a point x belongs to the classes with F(x, y) > 0. Only points with at least one class, and fewer than the
    square root of the number of classes, are accepted. With `multilabel=False` every point is, and its class
    is the one of highest F.

    The tree has `depth` levels below the root with `fanout` children a node: one number, or a list with one
    for each level, which then makes the depth; `taxonomy` replaces it by any other. With `density < 1`, X is
    sparse: each row has that share of the features, drawn with replacement, and Gaussian values there.
    """
    _check_sizes(n_samples, n_features, decay, density)
    tax = _full_tree(fanout, depth) if taxonomy is None else taxonomy
    rng = np.random.default_rng(random_state)
    scale = np.sqrt(decay) ** tax.depths
    weights = rng.standard_normal((tax.n_nodes, n_features)) * scale[:, None]
    of_classes = tax.ancestor_matrix() @ weights
    names = tax.classes
    most = np.sqrt(len(names))
    blocks: list[Any] = []
    labels: list[Any] = []
    seen = 0
    while len(labels) < n_samples:
        n_block = min(max(256, 2 * n_samples), max(1, _POINTS_AT_ONCE // max(len(names), n_features)))
        points = _points(rng, n_block, n_features, density)
        scores = points @ of_classes.T
        if multilabel:
            relevant = scores > 0
            count = relevant.sum(axis=1)
            accepted = np.flatnonzero((count > 0) & (count < most))[: n_samples - len(labels)]
            labels += [[names[k] for k in np.flatnonzero(row).tolist()] for row in relevant[accepted]]
        else:
            accepted = np.arange(min(n_block, n_samples - len(labels)))
            labels += [names[k] for k in scores[accepted].argmax(axis=1).tolist()]
        blocks.append(points[accepted])
        seen += n_block
        if seen >= _HOPELESS and len(labels) * 1000 < seen:
            raise DataError(
                f"only {len(labels)} of {seen} random points have at least one and fewer than {most:.1f} of "
                f"{len(names)} classes; use a tree with more or smaller branches, another decay, or "
                "multilabel=False"
            )
    X = sp.vstack(blocks, format="csr") if density < 1 else np.concatenate(blocks)
    return TreeProblem(X, labels, tax, weights)


def _check_sizes(n_samples: int, n_features: int, decay: float, density: float) -> None:
    for option, value in (("n_samples", n_samples), ("n_features", n_features)):
        if value < 1:
            raise DataError(f"{option} is {value!r}; expected at least 1")
    for option, share in (("decay", decay), ("density", density)):
        if not 0 < share <= 1:
            raise DataError(f"{option} is {share!r}; expected more than 0 and at most 1")


def _full_tree(fanout: int | Sequence[int], depth: int) -> Taxonomy:
    """Every node at the same level has equally many children; "2.1" is the first child of "2"."""
    fanouts = [fanout] * depth if isinstance(fanout, int) else list(fanout)
    if not fanouts or min(fanouts) < 1:
        raise DataError(f"fanout is {fanout!r} and depth {depth!r}; expected at least one level of 1 or more")
    level, edges = ["root"], []
    for width in fanouts:
        below = [
            (node, str(k) if node == "root" else f"{node}.{k}") for node in level for k in range(1, width + 1)
        ]
        edges += below
        level = [child for _, child in below]
    return Taxonomy.from_edges(edges)


def _points(rng: np.random.Generator, n: int, n_features: int, density: float) -> Any:
    if density == 1:
        return rng.standard_normal((n, n_features))
    per_row = max(1, round(density * n_features))
    columns = rng.integers(0, n_features, size=n * per_row)
    starts = np.arange(0, n * per_row + 1, per_row)
    points = sp.csr_array((rng.standard_normal(n * per_row), columns, starts), shape=(n, n_features))
    points.sum_duplicates()
    return points
