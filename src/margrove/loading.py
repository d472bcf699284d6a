"""Save and load models of every kind.

A kind offers `to_state()`, which gives a header of plain JSON values and a dictionary of arrays, and the
class method `from_state(header, arrays)`. The table of kinds below is all that a file can choose from.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
from collections.abc import Mapping
from typing import Any, Protocol, Self

from numpy.typing import NDArray

from margrove import modelfile
from margrove.errors import InvalidModelFileError, ModelFileError

_HOMES = {
    "HierarchicalPerceptron": "margrove.classifiers",
    "DivideAndConquerSVM": "margrove.classifiers",
    "CostSensitiveSVM": "margrove.classifiers",
    "CalibratedTaxonomyClassifier": "margrove.classifiers",
    "HierarchicalSVM": "margrove.classifiers",
    "Hieron": "margrove.classifiers",
    "PathMarginSVM": "margrove.classifiers",
    "SubtreePerceptron": "margrove.classifiers",
    "SubtreeSVM": "margrove.classifiers",
    "OrthogonalTransferSVM": "margrove.classifiers",
    "TransferSVM": "margrove.classifiers",
    "TableModel": "margrove.tables.model",
}
_LIBRARIES = ("margrove", "numpy", "scipy", "scikit-learn")


class Storable(Protocol):
    """What can be put into a model file."""

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return a header of plain JSON values, and arrays."""

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model that `to_state` described."""


def save(model: Storable, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, in one step: whatever happens, the old file or the new one is there."""
    header, arrays = describe(model)
    modelfile.write(path, header | {"versions": _versions()}, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model; no code in the file is ever run, and a broken one gives a `ModelFileError`."""
    header, arrays = modelfile.read(path)
    try:
        return restore(header, arrays)
    except ModelFileError as error:
        raise type(error)(f"{os.fspath(path)}: {error}") from error


def describe(model: Storable) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return a model's state with its kind in the header."""
    header, arrays = model.to_state()
    return {"kind": type(model).__name__} | header, arrays


def restore(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return the model of a header that names its kind; whatever is wrong with it, the error is one."""
    kind = header.get("kind")
    if not isinstance(kind, str) or kind not in _HOMES:
        raise InvalidModelFileError(f"the model is of kind {kind!r}; this Margrove knows {', '.join(_HOMES)}")
    model_class: type[Storable] = getattr(importlib.import_module(_HOMES[kind]), kind)
    try:
        return model_class.from_state(header, arrays)
    except ModelFileError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        raise InvalidModelFileError(
            f"its content is not a valid {kind}: {type(error).__name__}: {error}"
        ) from error


def _versions() -> dict[str, str]:
    versions = {name: importlib.metadata.version(name) for name in _LIBRARIES}
    return {"python": platform.python_version(), **versions}
