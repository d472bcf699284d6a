"""`margrove train`: a table of examples in, a model file out."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from margrove.cli import options
from margrove.cli.console import busy, gap_shown, note, print_facts, print_json
from margrove.cli.inputs import NO_TAXONOMY, read_costs, read_data, read_descriptions, read_taxonomy
from margrove.cli.methods import (
    METHODS,
    make_estimator,
    parse_settings,
    with_descriptions,
    with_probabilities,
)
from margrove.cli.outputs import STDOUT, check_writable, save
from margrove.cli.status import CommandError, Status, options_in_doubt

if TYPE_CHECKING:
    from margrove.tables.model import TableModel
    from margrove.tables.table import Table


Method = StrEnum("Method", [(name, name) for name in METHODS])  # type: ignore[misc]
HIERARCHICAL = Method("hierarchical-svm")
Columns = list[str] | None


def train(
    data: options.Data,
    label: options.Labels,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The model file to write.")],
    text: Annotated[Columns, typer.Option(metavar="COLUMN", help="Column of text; may be repeated.")] = None,
    numeric: Annotated[Columns, typer.Option(metavar="COLUMN", help="Column of numbers.")] = None,
    categorical: Annotated[Columns, typer.Option(metavar="COLUMN", help="Column of categories.")] = None,
    taxonomy: options.TaxonomyFile = None,
    taxonomy_format: options.TaxonomyFormat = None,
    taxonomy_root: options.TaxonomyRoot = None,
    method: Annotated[Method, typer.Option(help="`flat` ignores the taxonomy.")] = HIERARCHICAL,
    c: options.C = None,
    cost: options.Cost = None,
    attributes: options.Attributes = None,
    descriptions: options.Descriptions = None,
    slack: options.SlackOf = None,
    kernel: options.Kernel = None,
    tol: options.Tol = None,
    max_iter: options.MaxIter = None,
    probabilities: Annotated[
        bool,
        typer.Option("--probabilities", help="Learn calibrated probabilities too, from up to 5 more fits."),
    ] = False,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of the order of examples.")] = None,
    threads: options.Threads = None,
    more: options.More = None,
    words: options.Words = None,
    min_rows: options.MinRows = None,
    label_separator: options.Separator = None,
    format: options.InputFormat = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.RowsInError = options.OnError.stop,
    rejects: options.Rejects = None,
    json: options.Json = False,
) -> None:
    """Train a classifier on a table and save it.

    Where no column is named by --text, --numeric or --categorical, all but the labels are used, each as its
    cells suggest. Options of the method that are not given have the estimator's defaults; `margrove info`
    shows those of a model.
    """
    if output == STDOUT:
        raise CommandError(Status.WRONG_CALL, "a model is written to a file, not to standard output")
    named = [*(text or []), *(numeric or []), *(categorical or [])]
    if both := [name for name in named if name in label]:
        raise CommandError(Status.WRONG_CALL, f"column {both[0]!r} cannot be a label and a feature")
    check_writable(output, [name for name in (data, taxonomy, descriptions) if name is not None])
    tree = read_taxonomy(taxonomy, taxonomy_format, taxonomy_root)
    is_flat = method.value == "flat" or taxonomy == NO_TAXONOMY
    table = read_data(
        data,
        labels=label,
        label_separator=label_separator,
        taxonomy=None if is_flat else tree,
        numeric=numeric or [],
        format=format,
        delimiter=delimiter,
        encoding=encoding,
        on_error=on_error,
        rejects=rejects,
    )
    from margrove.report import one_label_each
    from margrove.tables import TableFeatures, TableModel

    settings = options.given(
        C=c,
        cost=read_costs(cost),
        attributes=attributes,
        slack=slack and slack.value,
        kernel=kernel,
        tol=tol,
        max_iter=max_iter,
        random_state=seed,
        n_jobs=threads,
    )
    settings |= parse_settings(more or [])
    if descriptions is not None:
        settings["attributes"] = with_descriptions(
            settings.get("attributes"), read_descriptions(descriptions)
        )
    features = TableFeatures(text, numeric, categorical, **options.feature_options(words, min_rows))
    classifier = make_estimator(method.value, "flat" if is_flat else tree, **settings)
    tol = getattr(classifier, "tol", None)
    if probabilities:
        classifier = with_probabilities(classifier)
    model = TableModel(features, classifier, label, label_separator)
    y = model.labels_of(table)
    if is_flat:
        y = one_label_each(y)
    started = time.perf_counter()
    with options_in_doubt():
        X = features.fit_transform(table.without(label))
        if tol is None:  # without a certificate there is no gap to show
            with busy("training"):
                classifier.fit(X, y)
        else:
            with gap_shown("training", tol) as watch:
                classifier.fit(X, y, watch=watch)
    seconds = time.perf_counter() - started
    save(model, output)
    summary = _summary(model, table, seconds) | {"model": output}
    if json:
        print_json(summary)
    else:
        _print(summary)


def _summary(model: TableModel, table: Table, seconds: float) -> dict[str, Any]:
    from margrove.report import certificate_summary

    return {
        "read": table.n_read,
        "used": len(table),
        "rejected": len(table.rejected),
        "features": model.features.summary(),
        "classes": len(model.classifier.classes_),
        "taxonomy": model.classifier.taxonomy_.source,
        "certificate": certificate_summary(model.classifier),
        "seconds": seconds,
    }


def _print(summary: dict[str, Any]) -> None:
    from margrove.report import certificate_line

    for line in summary["features"]:
        note(f"  {line}")
    learned = f"{summary['classes']:,} classes from {summary['used']:,} rows in {summary['seconds']:.1f} s"
    facts = [("learned", learned)]
    if summary["certificate"] is not None:
        facts.append(("certificate", certificate_line(summary["certificate"])))
    print_facts([*facts, ("model", summary["model"])])
