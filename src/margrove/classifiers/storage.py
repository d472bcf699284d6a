"""Parts of an estimator as plain JSON values and arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margrove.classifiers.targets import Classes
from margrove.errors import InvalidModelFileError
from margrove.outputs.labels import Label
from margrove.taxonomy import Taxonomy
from margrove.taxonomy.spec import decode_label, encode_label


def params_to_state(params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Constructor parameters that JSON can hold.

    The others - the taxonomy, which is stored with the classes, and objects given as cost or attributes - have
    done their work in training; a loaded model shows the default there.
    """
    plain = {k: v for k, v in params.items() if v is None or type(v) in (str, bool, int, float)}
    return {k: v for k, v in plain.items() if not isinstance(v, float) or np.isfinite(v)}, {}


def classes_to_state(
    labels: NDArray[Any], nodes: Sequence[Label], taxonomy: Taxonomy, form: str
) -> dict[str, Any]:
    """The classes of a fit; `dtype` brings back an array of the same type."""
    return {
        "labels": [encode_label(label) for label in labels.tolist()],
        "dtype": labels.dtype.str if labels.dtype != object else "object",
        "nodes": taxonomy.indices(nodes).tolist(),
        "taxonomy": taxonomy.to_spec(),
        "form": form,
    }


def classes_from_state(state: Mapping[str, Any]) -> Classes:
    """What `classes_to_state` described."""
    taxonomy = Taxonomy.from_spec(state["taxonomy"])
    labels = [decode_label(value) for value in state["labels"]]
    if state["dtype"] == "object":
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
    else:
        dtype = np.dtype(state["dtype"])
        if dtype.kind not in "biufUS":
            raise InvalidModelFileError(f"labels of type {dtype} are not to be stored")
        array = np.array(labels, dtype=dtype)
    numbers = state["nodes"]
    if len(numbers) != len(labels) or not all(type(v) is int and 0 <= v < taxonomy.n_nodes for v in numbers):
        raise InvalidModelFileError("the classes do not fit the taxonomy")
    if state["form"] not in ("label", "sets", "indicator"):
        raise InvalidModelFileError(f"targets of the form {state['form']!r} are unknown")
    return Classes(array, tuple(taxonomy.name(v) for v in numbers), taxonomy, state["form"])
