"""CSV, Parquet, JSON lines and text in; features out; built-in data sets."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "RejectedRow": "margrove.tables.table",
    "Table": "margrove.tables.table",
    "TableFeatures": "margrove.tables.features",
    "TableModel": "margrove.tables.model",
    "as_table": "margrove.tables.table",
    "read_table": "margrove.tables.read",
    "table_labels": "margrove.tables.labels",
}

__all__ = [
    "RejectedRow",
    "Table",
    "TableFeatures",
    "TableModel",
    "as_table",
    "read_table",
    "table_labels",
]

if TYPE_CHECKING:
    from margrove.tables.features import TableFeatures as TableFeatures
    from margrove.tables.labels import table_labels as table_labels
    from margrove.tables.model import TableModel as TableModel
    from margrove.tables.read import read_table as read_table
    from margrove.tables.table import RejectedRow as RejectedRow
    from margrove.tables.table import Table as Table
    from margrove.tables.table import as_table as as_table


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'margrove.tables' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
