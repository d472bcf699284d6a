"""Parts of a fitted model as plain JSON values and arrays, and back; what does not fit is refused."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove import similarity
from margrove.classifiers.label_forms import Form
from margrove.classifiers.targets import Classes
from margrove.classifiers.thresholds import Threshold, n_coefficients
from margrove.errors import InvalidModelFileError
from margrove.modelfile import pack_csr, unpack_csr, unpack_part
from margrove.objective.certificate import Certificate, Status
from margrove.outputs.labels import Label
from margrove.taxonomy import Taxonomy
from margrove.taxonomy.spec import decode_label, encode_label

Arrays = Mapping[str, NDArray[Any]]

_OWN = {"is": "the model's own taxonomy"}


def params_to_state(params: Mapping[str, Any]) -> dict[str, Any]:
    """Constructor parameters that JSON can hold; a taxonomy is stored with the classes.

    Others, as objects given as cost or attributes, have done their work in training; a loaded model shows the
    default there.
    """
    given = {name: value for name, value in params.items() if not isinstance(value, Mapping)}
    plain = {name: similarity.spec_to_state(_plain(value)) for name, value in given.items()}
    kept = {name: value for name, value in plain.items() if _is_plain(value)}
    return kept | {name: _OWN for name, value in params.items() if isinstance(value, Taxonomy)}


def params_from_state(state: Mapping[str, Any], names: Collection[str], taxonomy: Taxonomy) -> dict[str, Any]:
    """Constructor parameters, those among `names` that are known here."""
    known = {name: value for name, value in state.items() if name in names}
    params = {
        name: taxonomy if value == _OWN else similarity.spec_from_state(value)
        for name, value in known.items()
    }
    for name, value in params.items():
        if isinstance(value, dict) or not (_is_plain(value) or value is taxonomy or hasattr(value, "bind")):
            raise InvalidModelFileError(f"the parameter {name!r} has the value {value!r}")
    return params


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):  # a similarity with its options
        return all(_is_plain(part) for part in value.values())
    return value is None or type(value) in (str, bool, int) or (type(value) is float and np.isfinite(value))


def classes_to_state(
    labels: NDArray[Any], nodes: Sequence[Label], taxonomy: Taxonomy, form: Form
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
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    if state["dtype"] != "object":
        dtype = np.dtype(state["dtype"])
        if dtype.kind not in "biufU" or dtype.itemsize > 1 << 20:
            raise InvalidModelFileError(f"labels of type {dtype} are not to be stored")
        array = array.astype(dtype)
        if array.tolist() != labels:
            raise InvalidModelFileError(f"the labels are not of their type, {dtype}")
    numbers = state["nodes"]
    if len(numbers) != len(labels) or not all(type(v) is int and 0 <= v < taxonomy.n_nodes for v in numbers):
        raise InvalidModelFileError("the classes do not fit the taxonomy")
    if len(set(labels)) != len(labels) or len(set(numbers)) != len(numbers) or not labels:
        raise InvalidModelFileError("there is no class, or one stands there twice")
    if state["form"] not in get_args(Form):
        raise InvalidModelFileError(f"targets of the form {state['form']!r} are unknown")
    return Classes(array, tuple(taxonomy.name(v) for v in numbers), taxonomy, state["form"])


def features_to_state(model: Any) -> dict[str, Any]:
    """How many features the model saw in training, and their names if they had any."""
    names = getattr(model, "feature_names_in_", None)
    return {"number": int(model.n_features_in_), "names": None if names is None else names.tolist()}


def features_from_state(state: Mapping[str, Any]) -> tuple[int, NDArray[Any] | None]:
    """The number of features, and their names."""
    number, names = state["number"], state["names"]
    if type(number) is not int or number < 1:
        raise InvalidModelFileError(f"the number of features is {number!r}")
    if names is None:
        return number, None
    if len(names) != number or not all(type(name) is str for name in names):
        raise InvalidModelFileError("the names of the features do not fit their number")
    return number, np.array(names, dtype=object)


def weights_to_state(W: NDArray[Any], Lambda: sp.csr_array, nodes: Any) -> dict[str, NDArray[Any]]:
    """Weights, attributes and the nodes of their columns; mostly empty weights by their nonzeros."""
    arrays = pack_csr("attributes", Lambda)
    if nodes is not None:
        arrays["column_nodes"] = nodes
    return arrays | matrix_to_state("weights", W)


def matrix_to_state(name: str, W: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """A matrix as it is, or, if it is mostly empty, by its nonzeros."""
    if np.count_nonzero(W) * (4 + W.itemsize) < W.nbytes:
        return pack_csr(name, W)
    return {name: W}


def matrix_from_state(name: str, arrays: Arrays, shape: tuple[int, int], dtype: Any) -> NDArray[Any]:
    """What `matrix_to_state` stored: finite numbers, in a matrix of this shape and type."""
    W: Any = arrays[name] if name in arrays else unpack_csr(name, arrays)
    if W.shape != shape or W.dtype != dtype:
        raise InvalidModelFileError(f"the matrix {name!r} does not fit the others")
    if name not in arrays:
        W = W.toarray()  # of the size of one that is there already
    if not np.isfinite(W).all():
        raise InvalidModelFileError(f"the matrix {name!r} is not finite")
    return np.array(W)


def weights_from_state(arrays: Arrays, n_outputs: int, n_nodes: int) -> tuple[Any, Any, Any]:
    """Weights, attributes, and the nodes of their columns."""
    Lambda = unpack_csr("attributes", arrays)
    is_sparse = "weights" not in arrays
    W: Any = unpack_csr("weights", arrays) if is_sparse else arrays["weights"]
    nodes = arrays.get("column_nodes")
    n_columns = Lambda.shape[1]
    if not (
        W.shape[1:] == (n_columns,)
        and W.dtype in (np.float32, np.float64)
        and Lambda.shape[0] == n_outputs
        and (nodes is None or (nodes.dtype.kind == "i" and nodes.shape == (n_columns,)))
        and (nodes is None or bool(((nodes >= -1) & (nodes < n_nodes)).all()))
    ):
        raise InvalidModelFileError("weights, attributes and outputs do not fit together")
    if is_sparse:
        if W.shape[0] * n_columns * W.dtype.itemsize > sys.maxsize:
            raise InvalidModelFileError(f"{W.shape[0]:,} x {n_columns:,} weights are too many")
        W = W.toarray()
    if not (np.isfinite(W).all() and np.isfinite(Lambda.data).all()):
        raise InvalidModelFileError("weights or attributes are not finite")
    return W, Lambda.astype(W.dtype), nodes


def similarity_from_state(state: Mapping[str, Any] | None, arrays: Arrays) -> Any:
    """The similarity to the rows that matter; None where weights are those of features."""
    return None if state is None else similarity.from_state(state, unpack_part("similarity", arrays))


def intercept_from_state(arrays: Arrays, W: NDArray[Any]) -> NDArray[Any] | None:
    """What is added to the scores of the columns."""
    intercept = arrays.get("intercept")
    if intercept is None:
        return None
    if intercept.shape != W.shape[1:] or intercept.dtype.kind != "f" or not np.isfinite(intercept).all():
        raise InvalidModelFileError("the intercept does not fit the weights")
    return intercept.astype(W.dtype)


def attribute_weights_to_state(weights: Mapping[Label, float] | None) -> list[Any] | None:
    """What each group of attributes has learned to weigh, as pairs."""
    return None if weights is None else [[encode_label(name), weight] for name, weight in weights.items()]


def attribute_weights_from_state(state: Sequence[Any] | None) -> dict[Label, float] | None:
    """The weights of groups of attributes, by their names."""
    if state is None:
        return None
    weights = {decode_label(name): weight for name, weight in state}
    if not all(type(weight) is float and 0 <= weight < np.inf for weight in weights.values()):
        raise InvalidModelFileError("the weights of attributes are no weights")
    return weights


def certificate_from_state(state: Mapping[str, Any]) -> Certificate:
    """The certificate of the fit."""
    certificate = Certificate(**{name: state[name] for name in Certificate.__dataclass_fields__})
    counts = (certificate.n_iter, certificate.n_active)
    reals = (certificate.primal, certificate.dual, certificate.seconds, certificate.max_violation)
    if (
        certificate.status not in get_args(Status)
        or not all(type(value) is int and value >= 0 for value in counts)
        or not all(type(value) in (int, float) for value in reals)
    ):
        raise InvalidModelFileError(f"{dict(state)!r} is no certificate")
    return certificate


def threshold_from_state(state: Mapping[str, Any], coefficients: NDArray[Any], n_classes: int) -> Threshold:
    """The threshold of multilabel targets."""
    if (
        coefficients.shape != (n_coefficients(n_classes),)
        or coefficients.dtype.kind != "f"
        or not np.isfinite(coefficients).all()
        or type(state["at_least_one"]) is not bool
    ):
        raise InvalidModelFileError("the threshold does not fit the classes")
    return Threshold(coefficients.astype(np.float64), state["at_least_one"])
