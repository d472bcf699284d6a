"""The figures of a comparison as rows of text, the same for a terminal and for HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One measure of every run: its name, what it means, the values as text, and which of them are best."""

    name: str
    meaning: str
    values: list[str]
    best: list[bool]


def figures(report: Mapping[str, Any]) -> list[Figure]:
    """Return the figures of a comparison: accuracy by level, losses, F measures, ranking, and seconds."""
    runs = report["runs"]
    rows: list[Figure] = []
    for depth, name in reversed(report["levels"].items()):
        rows += _figure(
            runs,
            ("measures", "accuracy_by_level", depth),
            f"{name} accuracy",
            f"share of test rows with the right {name}",
            _percent,
            max,
        )
    for key, name, meaning, shown, better in _MEASURES:
        rows += _figure(runs, ("measures", key), name, meaning, shown, better)
    rows += _figure(runs, ("seconds", "training"), "training", "wall time", _seconds, min)
    rows += _figure(runs, ("seconds", "prediction"), "prediction", "wall time, all test rows", _seconds, min)
    return rows


def certificate_rows(report: Mapping[str, Any]) -> list[Figure]:
    """Return the certificates of the runs that have one, row by row."""
    runs = [run for run in report["runs"] if run["certificate"] is not None]
    rows: list[Figure] = []
    for key, name, meaning, shown in _CERTIFICATE:
        rows += _figure(runs, ("certificate", key), name, meaning, shown, None)
    return rows


def _figure(
    runs: Sequence[Mapping[str, Any]],
    place: Sequence[str],
    name: str,
    meaning: str,
    shown: Callable[[Any], str],
    better: Callable[[Sequence[float]], float] | None,
) -> list[Figure]:
    """Return a figure, or none where no run has it."""
    found = [_at(run, place) for run in runs]
    known = [value for value in found if value is not None]
    if not known:
        return []
    texts = ["" if value is None else shown(value) for value in found]
    best = shown(better(known)) if better and len(set(texts)) > 1 else None
    return [Figure(name, meaning, texts, [text == best for text in texts])]


def _at(value: Any, place: Sequence[str]) -> Any:
    for key in place:
        value = value.get(key)
        if value is None:
            return None
    return value


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _small_percent(value: float) -> str:
    return f"{100 * value:.2f} %"


def _number(value: float) -> str:
    return f"{value:.3f}"


def _seconds(value: float) -> str:
    return f"{value:.1f} s"


def _significant(value: float) -> str:
    return f"{value:,.6g}"


_MEASURES: tuple[tuple[str, str, str, Callable[[Any], str], Callable[..., float]], ...] = (
    (
        "tree_loss",
        "tree loss",
        "half the distance in the tree between truth and prediction, on average",
        _number,
        min,
    ),
    ("parent_accuracy", "parent accuracy", "right class, or one under the same parent", _percent, max),
    ("hierarchical_f1", "hierarchical F1", "overlap of the sets of ancestors", _percent, max),
    ("macro_f1", "macro F1", "mean over classes", _percent, max),
    ("average_precision", "average precision", "of the ranking of all classes", _percent, max),
    ("ranking_loss", "ranking loss", "pairs of classes in the wrong order", _percent, min),
)

_CERTIFICATE: tuple[tuple[str, str, str, Callable[[Any], str]], ...] = (
    ("status", "status", "", str),
    ("primal", "primal", "value of the solution", _significant),
    ("dual", "dual", "no solution has less", _significant),
    ("relative_gap", "relative gap", "how far from the optimum at most", _small_percent),
    ("n_iter", "rounds", "", "{:,}".format),
    ("seconds", "seconds", "", "{:.1f}".format),
)
