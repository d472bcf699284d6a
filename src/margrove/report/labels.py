"""Whether labels fit a taxonomy, and how they are spread over it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from margrove.taxonomy import Taxonomy

_MOST_COMMON = 10
_SPELLINGS_LOOKED_UP = 20  # unknown labels; each is compared with every name


def check_labels(labels: Iterable[Any], taxonomy: Taxonomy | None = None) -> dict[str, Any]:
    """Count labels, and find those that the taxonomy lacks and the classes that have no example.

    A row is one label, a list or set of labels, or, in a two-dimensional array, a path with None below its
    last level. Labels that a taxonomy lacks come with the first row where they stand, from 0, and, for the
    first of them, with similar names; `inner` counts rows labelled with a node that has others below it.
    """
    rows = list(_label_lists(labels))
    counts: Counter[Hashable] = Counter()
    first: dict[Hashable, int] = {}
    for row, names in enumerate(rows):
        for name in names:
            counts[name] += 1
            first.setdefault(name, row)
    summary: dict[str, Any] = {
        "rows": len(rows),
        "labels": counts.total(),
        "distinct": len(counts),
        "seen_once": sum(count == 1 for count in counts.values()),
        "most_common": [
            {"label": _shown(name), "rows": count} for name, count in counts.most_common(_MOST_COMMON)
        ],
    }
    if taxonomy is not None:
        summary |= _against(taxonomy, counts, first)
    return summary


def one_label_each(y: Any) -> Any:
    """Return paths given as one column a level as the labels that a classifier makes of them: `a/b/c`."""
    if getattr(y, "ndim", 1) != 2 or y.dtype.kind not in "OU":
        return y
    return ["/".join(str(level) for level in path if level is not None) for path in y.tolist()]


def _against(taxonomy: Taxonomy, counts: Counter[Hashable], first: dict[Hashable, int]) -> dict[str, Any]:
    unknown: list[dict[str, Any]] = []
    inner: list[dict[str, Any]] = []
    used: set[Hashable] = set()
    for label, count in counts.items():
        if label not in taxonomy:
            similar = taxonomy.similar(label) if len(unknown) < _SPELLINGS_LOOKED_UP else []
            entry = {"label": _shown(label), "rows": count, "first_row": first[label], "similar": similar}
            unknown.append(entry)
            continue
        node = taxonomy.name(taxonomy.index(label))
        used.add(node)
        if taxonomy.children(node):
            inner.append({"label": _shown(label), "rows": count})
    unused = [name for name in taxonomy.classes if name not in used]
    return {
        "classes": len(taxonomy.classes),
        "unknown": unknown,
        "inner": inner,
        "without_examples": [_shown(name) for name in unused],
    }


def _label_lists(labels: Iterable[Any]) -> Iterable[list[Hashable]]:
    """Yield the labels of each row; a row of a two-dimensional array is one path, and so one label."""
    is_levels = getattr(labels, "ndim", 1) == 2
    for row in labels:
        if is_levels:
            yield [tuple(level for level in row if level is not None)]
        elif isinstance(row, list | set | frozenset):
            yield list(row)
        else:
            yield [row]


def _shown(label: Any) -> str:
    return (
        "/".join(map(str, label))
        if isinstance(label, Sequence) and not isinstance(label, str)
        else str(label)
    )
