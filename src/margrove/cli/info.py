"""`margrove info`: what a model file holds."""

from __future__ import annotations

from typing import Any

from margrove.cli import options
from margrove.cli.console import print_facts, print_json

MOST_WEIGHTS = 10  # that are shown


def info(model: options.Model, json: options.Json = False) -> None:
    """Describe a model file.

    Shows method, parameters, taxonomy, features, certificate and versions, after checking the whole file.
    """
    from margrove.report import describe_model

    described = describe_model(model)
    if json:
        print_json(described)
    else:
        _print(described)


def _print(described: dict[str, Any]) -> None:
    tree = described["taxonomy"]
    lines = [
        ("file", f"{described['path']}, {described['bytes']:,} bytes, checksum {described['checksum']}"),
        ("method", described["classifier"]),
        ("parameters", _pairs(described["parameters"])),
        (
            "taxonomy",
            f"{tree['source']}, {tree['classes']:,} classes, {described['classes']:,} of them learned",
        ),
    ]
    if described["probabilities"] is not None:
        lines.append(("probabilities", _pairs(described["probabilities"])))
    if "labels" in described:
        lines.append(("labels", ", ".join(described["labels"])))
        lines += [("features", f"{', '.join(b['columns'])}: {b['kind']}") for b in described["features"]]
    if described["attribute_weights"] is not None:
        lines.append(("weights", _weights(described["attribute_weights"])))
    if described["certificate"] is not None:
        from margrove.report import certificate_line

        lines.append(("certificate", certificate_line(described["certificate"])))
    lines.append(("versions", _pairs(described["versions"], " ")))
    print_facts(lines)


def _weights(pairs: list[Any]) -> str:
    """What the class kernel is made of, the largest parts first."""
    largest = sorted(pairs, key=lambda pair: -pair[1])
    shown = [f"{name} {weight:.1%}" for name, weight in largest[:MOST_WEIGHTS]]
    return ", ".join(shown) + (f" and {len(pairs) - MOST_WEIGHTS} more" if len(pairs) > MOST_WEIGHTS else "")


def _pairs(values: dict[str, Any], between: str = "=") -> str:
    return ", ".join(f"{name}{between}{value}" for name, value in values.items())
