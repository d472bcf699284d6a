"""Slow twins of the taxonomy room: straight from the definitions, on lists of (parent, child) pairs."""

from __future__ import annotations

import math


def naive_ancestors(edges, node):
    """anc(node): the node and everything above it."""
    found = {node}
    while True:
        above = {parent for parent, child in edges if child in found} | found
        if above == found:
            return found
        found = above


def naive_descendants(edges, node):
    return naive_ancestors([(child, parent) for parent, child in edges], node)


def naive_nodes(edges):
    return {node for edge in edges for node in edge}


def naive_classes(edges):
    return naive_nodes(edges) - {parent for parent, _ in edges}


def naive_root(edges):
    (root,) = naive_nodes(edges) - {child for _, child in edges}
    return root


def naive_depth(edges, node):
    """Length of the longest path from the root, by trying all."""
    return max((1 + naive_depth(edges, parent) for parent, child in edges if child == node), default=0)


def naive_symmetric_difference(edges, y, r, volumes=None, c_miss=1.0, c_extra=1.0):
    return naive_set_cost(edges, {y}, {r}, volumes, c_miss, c_extra)


def naive_set_cost(edges, right, predicted, volumes=None, c_miss=1.0, c_extra=1.0):
    """Cai 3.11 as printed: both sums over whole ancestor sets, then the shared part taken off."""
    mine = set().union(*(naive_ancestors(edges, y) for y in right))
    theirs = set().union(*(naive_ancestors(edges, r) for r in predicted))

    def volume(nodes):
        return sum(1.0 if volumes is None else volumes[v] for v in nodes)

    return c_miss * volume(mine) + c_extra * volume(theirs) - (c_miss + c_extra) * volume(mine & theirs)


def naive_tree(edges, y, r):
    return len(naive_ancestors(edges, y) ^ naive_ancestors(edges, r)) / 2


def naive_tree_distance(edges, y, r):
    """Edges on the shortest undirected path, by breadth-first search."""
    reached, steps = {y}, 0
    while r not in reached:
        reached |= {b for a, b in edges if a in reached} | {a for a, b in edges if b in reached}
        steps += 1
    return steps


def naive_normalized_tree(edges, y, r):
    """Cai 7.2."""
    mine, theirs = naive_ancestors(edges, y), naive_ancestors(edges, r)
    return (len(mine - theirs) / (len(mine) - 1) + len(theirs - mine) / (len(theirs) - 1)) / 2


def naive_path(edges, node):
    """The one path of a tree from the root."""
    above = [parent for parent, child in edges if child == node]
    return [*naive_path(edges, above[0]), node] if above else [node]


def naive_h_weight(edges, node, kind):
    """Wang 2.1 and 2.2: |sub(j)| and |sib(j)| count j itself."""
    parent = next((parent for parent, child in edges if child == node), None)
    if kind == "subtree":
        return len(naive_descendants(edges, node)) / (len(naive_nodes(edges)) - 1)
    if parent is None:
        return 1.0
    return naive_h_weight(edges, parent, kind) / sum(1 for above, _ in edges if above == parent)


def naive_h_loss(edges, y, r, kind="subtree", weights=None):
    """The weights of the two highest nodes where the paths differ: their sum, or for siblings one."""
    if y == r:
        return 0.0
    a, b = next((a, b) for a, b in zip(naive_path(edges, y), naive_path(edges, r), strict=False) if a != b)
    c_a, c_b = ((weights[v] if weights else naive_h_weight(edges, v, kind)) for v in (a, b))
    if kind == "sibling" and not weights:
        assert c_a == c_b
        return c_a
    return c_a + c_b if kind == "subtree" else (c_a + c_b) / 2


def naive_attribute(edges, node, y, kind):
    """t_v(y) of Cai's sections 3.2 and 7.2."""
    if kind == "one-hot":
        return float(node == y)
    if node == naive_root(edges) or node not in naive_ancestors(edges, y):
        return 0.0
    sizes = {c: len(naive_ancestors(edges, c)) - 1 for c in naive_classes(edges)}
    scale = {"ancestors": 1, "depth-scaled": max(sizes.values()), "depth-scaled-class": sizes[y]}
    return 1 / math.sqrt(scale[kind])
