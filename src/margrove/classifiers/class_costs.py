"""The costs of a fit's classes, from any form in which users have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margrove.classifiers.targets import Classes
from margrove.errors import DataError, LabelError
from margrove.taxonomy import costs as specifications

Floats = NDArray[np.float64]


def read_costs(costs: Any, classes: Classes) -> Floats:
    """C(y, r), by the classes' order: what it costs to predict r where y is right (N.1).

    `costs` is a name or a cost of `margrove.costs`, a matrix in the order of the classes, a data frame
    whose index and columns are labels, or a mapping from right labels to those from predicted ones.
    """
    labels = classes.labels.tolist()
    if isinstance(costs, str) or hasattr(costs, "bind") or callable(costs):
        matrix = specifications.get(costs).bind(classes.taxonomy, classes.nodes).matrix()
    elif isinstance(costs, Mapping):
        matrix = _numbers([[_entry(costs, y, r) for r in labels] for y in labels])
    elif hasattr(costs, "columns"):
        matrix = _of_frame(costs, labels)
    else:
        matrix = _numbers(costs)
        if matrix.shape != (len(labels), len(labels)):
            raise DataError(
                f"costs have the shape {matrix.shape} but y has {len(labels)} classes; give a row (right) "
                "and a column (predicted) for each, in sorted order, or name them by a frame or a mapping"
            )
    _check(matrix, labels)
    return matrix


def _numbers(values: Any) -> Floats:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"costs are not a matrix of numbers: {error}") from error


def _entry(costs: Mapping[Any, Any], y: Any, r: Any) -> Any:
    if y not in costs:
        raise LabelError(f"costs have no entry for class {y!r}, which y has")
    if not isinstance(costs[y], Mapping):
        raise DataError(f"costs of class {y!r} are {costs[y]!r}; expected a mapping from predicted classes")
    if r not in costs[y] and r != y:
        raise LabelError(f"costs do not tell what it costs to predict class {r!r} where {y!r} is right")
    return costs[y].get(r, 0.0)


def _of_frame(frame: Any, labels: list[Any]) -> Floats:
    if not hasattr(frame, "index"):
        raise DataError("costs are a data frame without an index, which has to name the right classes")
    places = []
    for axis, names in (("row", list(frame.index)), ("column", list(frame.columns))):
        place = {name: k for k, name in enumerate(names)}
        if len(place) < len(names):
            raise LabelError(f"costs have two {axis}s of one name")
        missing = [label for label in labels if label not in place]
        if missing:
            raise LabelError(f"costs have no {axis} for class {missing[0]!r}, which y has")
        places.append([place[label] for label in labels])
    return _numbers(np.asarray(frame)[np.ix_(*places)])


def _check(costs: Floats, labels: list[Any]) -> None:
    diagonal = np.eye(len(costs), dtype=bool)
    for wrong, asked in (
        (~np.isfinite(costs), "costs are finite"),
        (diagonal & (costs != 0), "being right costs nothing"),
        (costs < 0, "no mistake costs less than nothing"),
    ):
        for y, r in np.argwhere(wrong)[:1]:
            raise DataError(
                f"the cost of predicting class {labels[r]!r} where {labels[y]!r} is right is "
                f"{costs[y, r]:g}; {asked}"
            )
    if len(labels) > 1 and not costs.any():
        raise DataError("all costs are zero; then there is nothing to learn")
