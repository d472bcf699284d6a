"""Orthogonal transfer: the saddle-point solver against dual averaging, to the same certified gap.

The problem has the size and the tree of CCAT in Zhou's Table 1: 5,810 texts of 47,236 words, 31 nodes below the
root of which 26 are terminal. Its texts are drawn: words by Zipf's law, and each node prefers words of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import margrove as mg

N, WORDS, LENGTH = 5810, 47236, 100
OWN, PREFERRED = 300, 0.4  # words that a node prefers; the share of a text that follows its nodes


def ccat_like(n: int = N, words: int = WORDS, seed: int = 0) -> tuple[sp.csr_array, np.ndarray, mg.Taxonomy]:
    """Texts as rows of unit length with log tf-idf weights, their categories, and the tree."""
    rng = np.random.default_rng(seed)
    top = [f"C{k}" for k in range(11, 29)]
    below = {"C15": 2, "C17": 4, "C18": 3, "C24": 2, "C28": 2}
    edges = [("CCAT", node) for node in top]
    edges += [(node, f"{node}{k + 1}") for node, count in below.items() for k in range(count)]
    tree = mg.Taxonomy.from_edges(edges)
    often = 1 / np.arange(1, words + 1)
    often /= often.sum()
    own = {node: rng.choice(words, OWN, replace=False, p=_evened(often)) for node in tree.nodes}
    share = 1 / np.arange(1, len(tree.classes) + 1)
    y = rng.permutation(tree.classes)[rng.choice(len(share), n, p=share / share.sum())]
    rows, columns = [], []
    for i, label in enumerate(y):
        length = max(10, rng.poisson(LENGTH))
        text = rng.choice(words, length, p=often)
        path = [node for node in tree.path(label) if node != tree.root]
        follows = np.flatnonzero(rng.random(length) < PREFERRED)
        text[follows] = [rng.choice(own[path[k]]) for k in rng.integers(len(path), size=len(follows))]
        rows.append(np.full(length, i))
        columns.append(text)
    row, column = np.concatenate(rows), np.concatenate(columns)
    counts = sp.csr_array((np.ones(len(row)), (row, column)), shape=(n, words))
    counts.sum_duplicates()
    rarity = np.log(n / np.maximum(np.bincount(counts.indices, minlength=words), 1))
    counts.data = (1 + np.log(counts.data)) * rarity[counts.indices]
    lengths = np.sqrt(counts.multiply(counts).sum(axis=1))
    return sp.csr_array(counts.multiply(1 / lengths[:, None])), y, tree


def _evened(often: Any) -> Any:
    """Chances between even ones and those of the words."""
    flat = np.sqrt(often)
    return flat / flat.sum()
