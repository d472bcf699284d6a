"""`margrove evaluate`: how well a model does on labelled rows, and whether that is well enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from margrove.cli import options
from margrove.cli.console import busy, print_json, print_table
from margrove.cli.inputs import check_confidence, load_model, read_data
from margrove.cli.status import CommandError, Status
from margrove.errors import DataError


@dataclass(frozen=True)
class Gate:
    """A bound on a measure; not a number never passes."""

    measure: str
    bound: float
    is_least: bool

    def passes(self, value: float) -> bool:
        """Tell whether a value is good enough."""
        return value >= self.bound if self.is_least else value <= self.bound


def evaluate(
    model: options.Model,
    data: options.Data,
    label: options.OptionalLabels = None,
    ranking: Annotated[
        bool,
        typer.Option(
            "--ranking/--no-ranking", help="Also measure the ranking of all classes (rows x classes scores)."
        ),
    ] = True,
    confidence: options.Confidence = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="MEASURE=VALUE", help="Exit with 1 if a measure is less; may be repeated."),
    ] = None,
    fail_over: Annotated[
        list[str] | None,
        typer.Option(metavar="MEASURE=VALUE", help="Exit with 1 if a measure, such as a loss, is more."),
    ] = None,
    format: options.InputFormat = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.RowsInError = options.OnError.stop,
    rejects: options.Rejects = None,
    json: options.Json = False,
) -> None:
    """Measure a model on a labelled table.

    With --fail-under or --fail-over the exit status is 1 where a measure misses its bound. The measures, and
    the names that bounds take, are those that are printed, such as one_accuracy or accuracy_by_level.1.
    """
    gates = _gates(fail_under or [], is_least=True) + _gates(fail_over or [], is_least=False)
    loaded = load_model(model)
    check_confidence(loaded, confidence)
    if label:
        loaded.labels = label
    table = read_data(
        data,
        labels=loaded.labels,
        label_separator=loaded.separator,
        taxonomy=getattr(loaded.classifier, "taxonomy_", None),
        numeric=loaded.features.columns("numeric"),
        format=format,
        delimiter=delimiter,
        encoding=encoding,
        on_error=on_error,
        rejects=rejects,
    )
    if not len(table):
        raise DataError(f"{table.source} has no rows to measure on")
    from margrove.report import evaluate_model

    with busy("evaluating"):
        measures = evaluate_model(loaded, table, ranking=ranking, confidence=confidence)
    values = _flat(measures)
    unknown = [gate.measure for gate in gates if gate.measure not in values]
    if unknown:
        raise CommandError(
            Status.WRONG_CALL, f"there is no measure {unknown[0]!r} here; there are {', '.join(values)}"
        )
    if json:
        print_json(measures)
    else:
        print_table(
            ["measure", "value"], [[name, _shown(value)] for name, value in values.items()], right=[1]
        )
    missed = [gate for gate in gates if not gate.passes(values[gate.measure])]
    if missed:
        raise CommandError(Status.FAILED, "; ".join(_complaint(gate, values) for gate in missed))


def _gates(bounds: Sequence[str], is_least: bool) -> list[Gate]:
    return [_gate(bound, is_least) for bound in bounds]


def _gate(text: str, is_least: bool) -> Gate:
    name, _, value = text.partition("=")
    try:
        return Gate(name.strip(), float(value), is_least)
    except ValueError:
        raise CommandError(
            Status.WRONG_CALL, f"{text!r} is no bound; expected MEASURE=VALUE, as in one_accuracy=0.8"
        ) from None


def _flat(measures: Mapping[str, Any], above: str = "") -> dict[str, float]:
    """Return nested measures under dotted names."""
    flat: dict[str, float] = {}
    for name, value in measures.items():
        flat |= _flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {above + name: value}
    return flat


def _shown(value: float) -> str:
    return f"{value:.4f}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)


def _complaint(gate: Gate, values: Mapping[str, float]) -> str:
    least = "at least" if gate.is_least else "at most"
    return f"{gate.measure} is {values[gate.measure]:.6g}, expected {least} {gate.bound:g}"
