"""What a model file says about itself, without loading the model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any


def describe_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return kind, parameters, taxonomy, features, certificate and versions of a model file.

    The whole file is checked against its checksum, so a damaged one is an error and never described.
    """
    from margrove import modelfile

    header, arrays = modelfile.read(path)
    classifier = header.get("classifier", header)
    calibration = classifier if "estimator" in classifier else None
    classifier = classifier.get("estimator", classifier)
    described = {
        "path": os.fspath(path),
        "bytes": os.path.getsize(path),
        "checksum": "ok",
        "kind": header["kind"],
        "classifier": classifier["kind"],
        "parameters": classifier["params"],
        "classes": len(classifier["classes"]["labels"]),
        "taxonomy": _taxonomy(classifier["classes"]["taxonomy"]),
        "attribute_weights": classifier.get("attribute_weights"),
        "certificate": classifier.get("certificate"),
        "probabilities": calibration and {name: calibration[name] for name in ("folds", "decode")},
        "arrays": {name: list(array.shape) for name, array in arrays.items()},
        "versions": header.get("versions", {}),
    }
    if "features" in header:
        described["labels"] = header["labels"]
        described["separator"] = header["separator"]
        described["features"] = [_block(block) for block in header["features"]["blocks"]]
    return described


def _taxonomy(spec: Mapping[str, Any]) -> dict[str, Any]:
    inner = set(spec["parents"])
    for parents in spec["several"].values():
        inner |= set(parents)
    nodes = len(spec["labels"])
    return {"source": spec["source"], "nodes": nodes, "classes": nodes - len(inner)}


def _block(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": block["kind"], "columns": block.get("columns") or [block["column"]]}
