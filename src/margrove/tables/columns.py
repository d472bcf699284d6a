"""PyArrow columns of a few plain types: text, integers, floats, booleans and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from margrove.tables.cells import as_text

if TYPE_CHECKING:
    import pyarrow as pa


def column_of(cells: list[Any]) -> pa.Array:
    """Return a column of Python values, as text if their types do not agree."""
    import pyarrow as pa

    try:
        return plain(pa.array(cells))
    except (pa.ArrowException, OverflowError):
        return text_column(cells)


def plain(column: Any) -> Any:
    """Return a PyArrow column with exotic types (dates, decimals, categories, ...) turned into text."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    is_plain = (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
    )
    return column if is_plain else text_column(column.to_pylist())


def text_column(cells: list[Any]) -> pa.Array:
    """Return cells as a column of text."""
    import pyarrow as pa

    return pa.array([as_text(cell) for cell in cells], type=pa.string())


def label_column(cells: list[Any]) -> pa.Array:
    """Return labels as a column of text, or of lists of text where cells are lists."""
    import pyarrow as pa

    if not any(isinstance(cell, list) for cell in cells):
        return text_column(cells)
    lists = [cell if isinstance(cell, list) else [cell] for cell in cells]
    return pa.array([[as_text(label) for label in labels] for labels in lists], type=pa.list_(pa.string()))
