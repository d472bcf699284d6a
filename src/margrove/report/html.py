"""A comparison as one HTML page that needs nothing else: no network, no script."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from margrove.report.figures import certificate_rows, figures

_HEADLINES = 4


def render_html(report: Mapping[str, Any]) -> str:
    """Return the page of a comparison; every text in it is escaped."""
    import jinja2

    source = resources.files("margrove.report").joinpath("report.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["shown"] = _shown
    rows = figures(report)
    return environment.from_string(source).render(
        report=report, figures=rows, headlines=rows[:_HEADLINES], certificates=certificate_rows(report)
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
