"""What commands read: tables, taxonomies and models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from margrove.cli.console import note
from margrove.cli.options import Format, OnError
from margrove.cli.outputs import check_writable
from margrove.cli.status import CommandError, Status, options_in_doubt
from margrove.errors import ModelFileError

if TYPE_CHECKING:
    from margrove.tables.model import TableModel
    from margrove.tables.table import Table
    from margrove.taxonomy import Taxonomy

NO_TAXONOMY = "none"


def read_data(
    source: str,
    *,
    labels: Sequence[str] = (),
    numeric: Sequence[str] = (),
    format: Format | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    on_error: OnError = OnError.stop,
    rejects: str | None = None,
) -> Table:
    """Read a table and say how many rows there were and what became of them."""
    from margrove.tables import read_table

    if rejects is not None:
        check_writable(rejects, [source])
    with options_in_doubt():
        table = read_table(
            source,
            labels=labels,
            numeric=numeric,
            format=format,
            delimiter=delimiter,
            encoding=encoding,
            on_error=on_error.value,
            rejects=rejects,
        )
    note(
        f"{table.source}: {table.layout}; {table.n_read:,} rows read = {len(table):,} used + "
        f"{len(table.rejected):,} rejected"
    )
    return table


def read_taxonomy(path: str | None, format: str | None = None) -> Taxonomy | None:
    """Read a taxonomy and say which format was detected."""
    if path is None or path == NO_TAXONOMY:
        return None
    from margrove.taxonomy import Taxonomy

    taxonomy = Taxonomy.from_file(path, format)
    note(f"{path}: {taxonomy.source}, {len(taxonomy.classes):,} classes")
    return taxonomy


def check_confidence(model: TableModel, confidence: float | None) -> None:
    """Refuse a confidence for a model that has no probabilities."""
    if confidence is not None and not hasattr(model.classifier, "predict_proba"):
        raise CommandError(
            Status.WRONG_CALL,
            "--confidence: the model has no probabilities; train it with `margrove train --probabilities`",
        )


def load_model(path: str) -> TableModel:
    """Load a model that takes tables."""
    from margrove.loading import load
    from margrove.tables.model import TableModel

    model: Any = load(path)
    if not isinstance(model, TableModel):
        raise ModelFileError(
            f"{path} holds a bare {type(model).__name__}, which takes matrices; use it from Python, or train "
            "a model of tables with `margrove train`"
        )
    return model
