"""`margrove check`: whether a table and a taxonomy can be trained on."""

from __future__ import annotations

from typing import Any

from margrove.cli import options
from margrove.cli.console import print_json, print_result, print_table
from margrove.cli.inputs import read_data, read_taxonomy
from margrove.cli.status import CommandError, Status

_SHOWN = 10


def check(
    data: options.Data,
    label: options.Labels,
    taxonomy: options.TaxonomyFile = None,
    taxonomy_format: options.TaxonomyFormat = None,
    taxonomy_root: options.TaxonomyRoot = None,
    label_separator: options.Separator = None,
    format: options.InputFormat = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = "utf-8",
    rejects: options.Rejects = None,
    json: options.Json = False,
) -> None:
    """Check a table and a taxonomy before training.

    Counts rows and labels, and lists rows that cannot be used, labels that the taxonomy lacks and classes
    without examples. The exit status is 65 if there are such rows or labels.
    """
    tree = read_taxonomy(taxonomy, taxonomy_format, taxonomy_root)
    table = read_data(
        data,
        labels=label,
        label_separator=label_separator,
        format=format,
        delimiter=delimiter,
        encoding=encoding,
        on_error=options.OnError.skip,
        rejects=rejects,
    )
    from margrove.report import check_labels
    from margrove.tables import table_labels

    summary: dict[str, Any] = {
        "read": table.n_read,
        "used": len(table),
        "rejected": [{"line": row.line, "reason": row.reason} for row in table.rejected],
        "taxonomy": None if tree is None else tree.source,
        "labels": check_labels(table_labels(table, label, label_separator), tree),
    }
    for entry in summary["labels"].get("unknown", []):
        entry["line"] = int(table.line_numbers[entry.pop("first_row")])
    if json:
        print_json(summary)
    else:
        _print(summary, table.unit)
    unknown = summary["labels"].get("unknown", [])
    if table.rejected or unknown:
        raise CommandError(
            Status.BAD_DATA,
            f"rows that cannot be used: {len(table.rejected):,}; "
            f"labels that the taxonomy lacks: {len(unknown):,}",
        )


def _print(summary: dict[str, Any], unit: str) -> None:
    labels = summary["labels"]
    print_result(
        f"{summary['read']:,} rows: {summary['used']:,} can be used, {len(summary['rejected']):,} cannot\n"
        f"{labels['labels']:,} labels, {labels['distinct']:,} distinct, {labels['seen_once']:,} of them once"
    )
    if "classes" in labels:
        covered = labels["classes"] - len(labels["without_examples"])
        print_result(
            f"taxonomy: {summary['taxonomy']}; {covered:,} of {labels['classes']:,} classes have examples"
        )
    _list("Rows that cannot be used", [unit, "reason"], summary["rejected"], ["line", "reason"])
    for entry in labels.get("unknown", []):
        entry["did you mean"] = ", ".join(entry["similar"])
    keys = ["label", "rows", "line", "did you mean"]
    headers = ["label", "rows", f"first {unit}", "did you mean"]
    _list("Labels that are not in the taxonomy", headers, labels.get("unknown", []), keys)
    _list(
        "Labels that have classes below them", ["label", "rows"], labels.get("inner", []), ["label", "rows"]
    )
    empty = [{"class": name} for name in labels.get("without_examples", [])]
    _list("Classes without examples", ["class"], empty, ["class"])
    _list("Most common labels", ["label", "rows"], labels["most_common"], ["label", "rows"])


def _list(title: str, headers: list[str], entries: list[dict[str, Any]], keys: list[str]) -> None:
    """Print the first of some entries as a table, and how many more there are."""
    if not entries:
        return
    rows = [[_cell(entry[key]) for key in keys] for entry in entries[:_SHOWN]]
    numbers = [place for place, key in enumerate(keys) if key in ("rows", "line")]
    print_table(headers, rows, f"{title} ({len(entries):,})" if len(entries) > _SHOWN else title, numbers)
    if len(entries) > _SHOWN:
        print_result(f"and {len(entries) - _SHOWN:,} more; --json lists all")


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
