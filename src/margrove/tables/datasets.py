"""Built-in data sets: the ICD-10-CM codes of diseases, and random problems over a tree (Cai 7.1.1)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.errors import DataError
from margrove.taxonomy import Taxonomy

_CATEGORY = slice(3)  # the first three characters of a code name its category
_POINTS_AT_ONCE = 1 << 22  # class scores drawn together; bounds the memory beside the result
_HOPELESS = 200_000  # candidate points after which fewer than one accepted in a thousand is given up


@dataclass(frozen=True)
class TextDataset:
    """Texts with one label each, split into a training and a test part, and the taxonomy of the labels."""

    train_texts: list[str] = field(repr=False)
    train_labels: list[str] = field(repr=False)
    test_texts: list[str] = field(repr=False)
    test_labels: list[str] = field(repr=False)
    taxonomy: Taxonomy
    descriptions: dict[str, str] = field(repr=False)
    """What each code means, also the codes that are no node of the taxonomy."""


def load_icd10cm(split_seed: int = 0, test_fraction: float = 0.3, *, drop_seen: bool = False) -> TextDataset:
    """Short diagnosis texts, to be coded into the 1,918 three-character categories of ICD-10-CM.

    The texts are the descriptions of every code at or below a category, and their synonyms ("inclusion
    terms"). All descriptions are for training; each synonym is held out for testing with probability
    `test_fraction`. The package lists the 39 blocks that are one category, such as B20, twice, and so are
    their texts here: that gives 107,066 training and 3,743 test texts (release 1.5.0). 11 of these test texts
    stand under the same category in the training part too; `drop_seen` leaves them out.

    The taxonomy has 2,187 nodes: a root, 22 chapters, 246 blocks, and the categories. The 39 categories that
    are their own block stand right under their chapter, and 12 blocks to which the package gives no
    categories (as C00-C96, a heading over other blocks) are left out.
    """
    if not 0 <= test_fraction < 1:
        raise DataError(f"test_fraction is {test_fraction!r}; expected at least 0 and less than 1")
    codes = _icd10cm()
    listed = [code for code in codes.get_all_codes() if _is_below_block(code)]
    synonyms = [(term, code[_CATEGORY]) for code in listed for term in codes.get_inclusion_term(code)]
    held_out = np.random.default_rng(split_seed).random(len(synonyms)) < test_fraction
    train = [(codes.get_description(code), code[_CATEGORY]) for code in listed]
    train += [pair for pair, out in zip(synonyms, held_out, strict=True) if not out]
    seen = set(train) if drop_seen else set()
    test = [pair for pair, out in zip(synonyms, held_out, strict=True) if out and pair not in seen]
    return TextDataset(
        train_texts=[text for text, _ in train],
        train_labels=[label for _, label in train],
        test_texts=[text for text, _ in test],
        test_labels=[label for _, label in test],
        taxonomy=Taxonomy.from_edges(_icd10cm_edges(codes, listed)),
        descriptions={code: codes.get_description(code) for code in codes.get_all_codes()},
    )


def _icd10cm() -> Any:
    """The package, which reads its tables on import and so takes two seconds."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of importlib.resources.read_text
            import simple_icd_10_cm
    except ImportError as error:
        raise ImportError(
            "load_icd10cm reads the codes from the package simple-icd-10-cm, which is not installed; "
            "install it with: pip install 'margrove[icd]'"
        ) from error
    return simple_icd_10_cm


def _is_below_block(code: str) -> bool:
    """Whether a code is a category or below one; "7" is a chapter, "A00-A09" a block."""
    return re.fullmatch(r"\d+|.+-.+", code) is None


def _icd10cm_edges(codes: Any, listed: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(parent, child) from the root to the categories, each once, chapters first."""
    edges: dict[tuple[str, str], None] = {}
    for chapter in (code for code in codes.get_all_codes() if codes.is_chapter(code)):
        edges["ICD-10-CM", chapter] = None
    for category in dict.fromkeys(code[_CATEGORY] for code in listed):
        *above, chapter = (code for code in codes.get_ancestors(category) if code != category)
        path = [chapter, *reversed(above), category]
        edges |= dict.fromkeys(pairwise(path))
    return iter(edges)


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
