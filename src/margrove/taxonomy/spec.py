"""A taxonomy as plain JSON values and back: what a model file stores.

    {"labels": [...], "parents": [...], "several": {"7": [2, 3]}, "names": {"5": "a/b"},
     "miscellaneous": {"1": 9}, "source": "..."}

`parents[v - 1]` is the first parent of node v; `several` lists all parents where there is more than one, and
`names` the names that are no labels. Labels are JSON's own types, and tuples of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from margrove.errors import LabelError, TaxonomyError
from margrove.taxonomy.build import Name, Parts, is_missing

Spec = dict[str, Any]

_PLAIN = (str, int, float, bool, type(None))
_MOST_LEVELS = 8  # of tuples within tuples


def encode_label(label: Name, level: int = 0) -> Any:
    """A label as JSON: a tuple as {"tuple": [...]}, anything that JSON has no type for is an error."""
    if type(label) is tuple and level < _MOST_LEVELS:
        return {"tuple": [encode_label(part, level + 1) for part in label]}
    if type(label) not in _PLAIN or (isinstance(label, float) and not np.isfinite(label)):
        raise LabelError(
            f"the label {label!r} ({type(label).__name__}) cannot be stored; "
            "use text, numbers, booleans or tuples of them as labels"
        )
    return label


def decode_label(value: Any, level: int = 0) -> Name:
    """The label that `encode_label` wrote."""
    if isinstance(value, dict) and set(value) == {"tuple"} and isinstance(value["tuple"], list):
        if level < _MOST_LEVELS:
            return tuple(decode_label(part, level + 1) for part in value["tuple"])
        raise TaxonomyError("a stored label has tuples within tuples without end")
    if type(value) not in _PLAIN:
        raise TaxonomyError(f"{value!r} is no stored label")
    label: Name = value
    return label


def encode(parts: Parts, source: str, miscellaneous: Mapping[int, int]) -> Spec:
    """The plain form of a taxonomy."""
    parents = parts.parent_idx.tolist()
    ptr = parts.parent_ptr.tolist()
    above = [parents[ptr[v] : ptr[v + 1]] for v in range(1, len(parts.names))]
    pairs = enumerate(zip(parts.labels, parts.names, strict=True))
    return {
        "labels": [encode_label(label) for label in parts.labels],
        "parents": [nodes[0] for nodes in above],
        "several": {str(v): nodes for v, nodes in enumerate(above, 1) if len(nodes) > 1},
        "names": {str(v): encode_label(name) for v, (label, name) in pairs if name != label},
        "miscellaneous": {str(v): m for v, m in miscellaneous.items()},
        "source": source,
    }


def decode(spec: Any) -> tuple[Parts, str, dict[int, int]]:
    """The parts of a stored taxonomy; every promise that they make is checked again."""
    if not isinstance(spec, Mapping):
        raise TaxonomyError("the stored taxonomy is no mapping")
    labels = [decode_label(value) for value in _field(spec, "labels", list)]
    n = len(labels)
    above = [[parent] for parent in _field(spec, "parents", list)]
    if not n or len(above) != n - 1:
        raise TaxonomyError(f"the stored taxonomy has {n} labels but {len(above)} parents")
    for v, nodes in _numbered(spec, "several", 1, n):
        above[v - 1] = nodes if isinstance(nodes, list) else [nodes]
    for v, nodes in enumerate(above, 1):
        if not nodes or not all(type(p) is int and 0 <= p < v for p in nodes) or sorted(set(nodes)) != nodes:
            raise TaxonomyError(f"the stored taxonomy gives node {v} the parents {nodes!r}")
    names = list(labels)
    for v, name in _numbered(spec, "names", 0, n):
        names[v] = decode_label(name)
    if len(set(names)) < n or any(map(is_missing, names)):
        raise TaxonomyError("the stored taxonomy has an empty name, or one that two nodes share")
    inner = {p for nodes in above for p in nodes}
    misc = dict(_numbered(spec, "miscellaneous", 0, n))
    for v, m in misc.items():
        if type(m) is not int or not 0 < m < n or m in inner or above[m - 1] != [v]:
            raise TaxonomyError(f"the stored taxonomy gives node {v} the miscellaneous child {m!r}")
    return link(labels, names, [[], *above]), str(spec.get("source", "")), misc


def link(labels: Sequence[Name], names: Sequence[Name], parents: Sequence[Sequence[int]]) -> Parts:
    """Parts from each node's own list of parents."""
    ptr = np.concatenate([[0], np.cumsum([len(above) for above in parents])]).astype(np.int32)
    idx = np.asarray([p for above in parents for p in above], dtype=np.int32)
    return Parts(labels, names, ptr, idx)


def _field(spec: Mapping[str, Any], key: str, kind: type) -> Any:
    value = spec.get(key)
    if not isinstance(value, kind):
        raise TaxonomyError(f"the stored taxonomy has no {kind.__name__} {key!r}")
    return value


def _numbered(spec: Mapping[str, Any], key: str, first: int, n: int) -> list[tuple[int, Any]]:
    """The entries of a mapping whose keys are node numbers as text."""
    entries = []
    for text, value in _field(spec, key, dict).items():
        if not (text.isascii() and text.isdecimal() and len(text) < 10 and first <= int(text) < n):
            raise TaxonomyError(f"the stored taxonomy has no node {text!r}, but {key!r} names it")
        entries.append((int(text), value))
    return entries
