"""Options that several commands share.

An option that was not given is None and is not passed on, so every default is that of the estimator.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated, Any

import typer


class OnError(StrEnum):
    """What to do about rows that cannot be used."""

    stop = "stop"
    skip = "skip"


class Format(StrEnum):
    """Formats of tables."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"


class Slack(StrEnum):
    """What a slack variable belongs to."""

    example = "example"
    pair = "pair"


def _positive(value: float | None) -> float | None:
    if value is not None and not (0 < value < math.inf):
        raise typer.BadParameter(f"it is {value:g}; expected a finite number above 0")
    return value


Data = Annotated[
    str, typer.Argument(metavar="DATA", help="CSV, TSV, JSON lines or Parquet; - is standard input.")
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model file, as `margrove train` writes.")]

Labels = Annotated[
    list[str],
    typer.Option(
        "--label", metavar="COLUMN", help="Column of the labels; several are the levels of a path, top first."
    ),
]
OptionalLabels = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="COLUMN", help="Column of the true labels.  [default: as in training]"),
]
Separator = Annotated[
    str | None,
    typer.Option("--label-separator", metavar="TEXT", help="What stands between several labels in one cell."),
]
TaxonomyFile = Annotated[
    str | None,
    typer.Option(
        "--taxonomy",
        metavar="FILE",
        help="Edge list, levels, paths, prefix codes or JSON; `none` for no taxonomy.  "
        "[default: that of labels which are paths, else none]",
    ),
]
TaxonomyFormat = Annotated[
    str | None,
    typer.Option("--taxonomy-format", metavar="NAME", help="Format of the taxonomy.  [default: detected]"),
]
TaxonomyRoot = Annotated[
    str | None,
    typer.Option("--taxonomy-root", metavar="NAME", help="A new root above the tops of the taxonomy."),
]

InputFormat = Annotated[
    Format | None, typer.Option("--format", help="Format of the data.  [default: from name or content]")
]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", metavar="CHAR", help="What separates the cells of CSV.  [default: detected]"),
]
Encoding = Annotated[str, typer.Option("--encoding", metavar="NAME", help="Encoding of the data.")]
RowsInError = Annotated[
    OnError, typer.Option("--on-error", help="What to do about rows that cannot be used.")
]
Rejects = Annotated[
    str | None, typer.Option("--rejects", metavar="FILE", help="CSV file for the rows that cannot be used.")
]

C = Annotated[
    float | None,
    typer.Option(
        "-C", "--C", metavar="NUMBER", help="Weight of the losses against the penalty.", callback=_positive
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="NAME",
        help="Cost of taking one class for another; or a CSV file with a row for each right class and a "
        "column for each predicted one.",
    ),
]
Attributes = Annotated[
    str | None, typer.Option("--attributes", metavar="NAME", help="What classes share with those above them.")
]
Descriptions = Annotated[
    str | None,
    typer.Option(
        "--descriptions",
        metavar="FILE",
        help="A table of classes and texts that describe them, as attributes; `--set classes=taxonomy` lets "
        "those without examples be predicted.",
    ),
]
SlackOf = Annotated[
    Slack | None, typer.Option("--slack", help="One slack an example, or one a pair of classes.")
]
Kernel = Annotated[
    str | None,
    typer.Option("--kernel", metavar="NAME", help="Similarity of rows: linear, polynomial, gaussian."),
]
More = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other option of the method; may be repeated."),
]
Tol = Annotated[
    float | None,
    typer.Option(
        "--tol", metavar="NUMBER", help="Relative duality gap at which to stop.", callback=_positive
    ),
]
MaxIter = Annotated[
    int | None, typer.Option("--max-iter", metavar="N", min=0, help="Most rounds of training.")
]
Threads = Annotated[int | None, typer.Option("--threads", metavar="N", help="Threads for training.")]

Words = Annotated[
    int | None,
    typer.Option("--words", metavar="N", min=1, help="Longest run of words that is a term of text."),
]
MinRows = Annotated[
    int | None,
    typer.Option("--min-rows", metavar="N", min=1, help="Rows that a term of text has to occur in."),
]


def _probability(value: float | None) -> float | None:
    if value is not None and not (0 < value <= 1):
        raise typer.BadParameter(f"it is {value:g}; expected a probability above 0, at most 1")
    return value


Confidence = Annotated[
    float | None,
    typer.Option(
        "--confidence",
        metavar="P",
        help="Predict the deepest node whose probability is at least P; for models with --probabilities.",
        callback=_probability,
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def feature_options(words: int | None, min_rows: int | None) -> dict[str, Any]:
    """Return the options of `TableFeatures` that were given."""
    return given(ngram_range=None if words is None else (1, words), min_df=min_rows)
