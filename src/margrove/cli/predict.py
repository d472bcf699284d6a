"""`margrove predict`: the classes of new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from margrove.cli import options
from margrove.cli.inputs import check_confidence, load_model, read_data
from margrove.cli.outputs import STDOUT, check_writable, format_of, write_table
from margrove.cli.status import CommandError, Status

if TYPE_CHECKING:
    from margrove.tables.model import TableModel
    from margrove.tables.table import Table

_ROWS_AT_ONCE = 4096  # bounds the scores in memory: rows x classes

Columns = dict[str, list[Any]]


def predict(
    model: options.Model,
    data: options.Data,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The table to write; - is standard output.")
    ] = STDOUT,
    top: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The N best classes, best first, not just one.")
    ] = None,
    confidence: options.Confidence = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Also the score, or the probability, of each class.")
    ] = False,
    keep: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column to copy from the data, such as an id.")
    ] = None,
    output_format: Annotated[
        options.Format | None, typer.Option(help="Format of the output.  [default: from its name, else CSV]")
    ] = None,
    format: options.InputFormat = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.RowsInError = options.OnError.stop,
    rejects: options.Rejects = None,
) -> None:
    """Predict the classes of the rows of a table.

    Each row of the output begins with the line where the row stands in the data. Several labels of one row
    are a list, written as JSON where the format has no lists.
    """
    check_writable(output, [model, data])
    if confidence is not None and top is not None:
        raise CommandError(Status.WRONG_CALL, "--confidence predicts one node; leave out --top")
    loaded = load_model(model)
    check_confidence(loaded, confidence)
    table = read_data(
        data,
        numeric=loaded.features.columns("numeric"),
        format=format,
        delimiter=delimiter,
        encoding=encoding,
        on_error=on_error,
        rejects=rejects,
    )
    columns: Columns = {table.unit: table.line_numbers.tolist()}
    for name in keep or []:
        columns[name] = table.column(name).to_pylist()
    predictions = _predictions(loaded, table, top, scores, confidence)
    for name in predictions:
        if name in columns:
            raise CommandError(
                Status.WRONG_CALL, f"--keep {name}: the predictions have a column of this name"
            )
    write_table(output, columns | predictions, format_of(output, output_format))


def _predictions(
    model: TableModel, table: Table, top: int | None, with_scores: bool, confidence: float | None
) -> Columns:
    """Return the columns of predictions, made some rows at a time."""
    import numpy as np

    places = range(1, min(top, len(model.classifier.classes_)) + 1) if top else []
    endings = [f"_{place}" for place in places] or [""]
    kinds = ["prediction", "score"] if with_scores else ["prediction"]
    columns: Columns = {kind + ending: [] for ending in endings for kind in kinds}
    for start in range(0, len(table), _ROWS_AT_ONCE):
        rows = np.arange(start, min(start + _ROWS_AT_ONCE, len(table)))
        part = table.take(rows)
        for name, cells in _predictions_at_once(model, part, top, with_scores, confidence).items():
            columns[name].extend(cells)
    return columns


def _predictions_at_once(
    model: TableModel, table: Table, top: int | None, with_scores: bool, confidence: float | None
) -> Columns:
    classifier = model.classifier
    features = model.features.transform(table)
    if confidence is not None:
        nodes, probabilities = classifier.predict(features, confidence=confidence, return_scores=True)
        columns: Columns = {"prediction": [_plain(node) for node in nodes]}
        return columns | ({"score": probabilities.tolist()} if with_scores else {})
    if top is None:
        labels = [_plain(label) for label in classifier.predict(features)]
        columns = {"prediction": labels}
        if with_scores:
            columns["score"] = _scores_of(classifier, features, labels)
        return columns
    ranking, scores = classifier.predict_ranking(features, top=top, return_scores=True)
    columns = {}
    for place in range(ranking.shape[1]):
        columns[f"prediction_{place + 1}"] = [_plain(label) for label in ranking[:, place]]
        if with_scores:
            columns[f"score_{place + 1}"] = scores[:, place].tolist()
    return columns


def _scores_of(classifier: Any, features: Any, labels: list[Any]) -> list[Any]:
    """Return the score of each row's label, or the list of those of its labels."""
    from margrove.report import class_scores

    scores = class_scores(classifier, features)
    place = {_plain(label): column for column, label in enumerate(classifier.classes_)}
    return [
        [float(row[place[name]]) for name in label] if isinstance(label, list) else float(row[place[label]])
        for row, label in zip(scores, labels, strict=True)
    ]


def _plain(label: Any) -> Any:
    """Return a label as text, a path as `a/b`, several labels as a list."""
    if isinstance(label, tuple):
        return "/".join(map(str, label))
    if isinstance(label, list | set | frozenset):
        return [_plain(one) for one in label]
    return str(label)
