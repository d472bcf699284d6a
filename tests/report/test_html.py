from __future__ import annotations

import html.parser
from typing import Any

import pytest

from margrove.report import render_html
from margrove.report.figures import certificate_rows, figures

EVIL = "<script>alert('1')</script>\"&"


def run(name: str, accuracy: float, certificate: bool = True) -> dict[str, Any]:
    proof = {"status": "converged", "primal": 10.0, "dual": 9.9, "gap": 0.1}
    proof |= {"relative_gap": 0.01, "n_iter": 3, "seconds": 1.0}
    return {
        "name": name,
        "parameters": {"C": 1.0, "cost": name},
        "measures": {"accuracy_by_level": {"1": accuracy, "2": accuracy}, "tree_loss": 1 - accuracy},
        "certificate": proof if certificate else None,
        "seconds": {"training": 1.0, "prediction": 0.1},
    }


def report(name: str = "tree", text: str = "a text", certificate: bool = True) -> dict[str, Any]:
    step = {"label": text, "description": text}
    predicted = {name: {"path": [step, step], "right": False}, "flat": {"path": [step], "right": True}}
    return {
        "title": text,
        "about": text,
        "data": {text: 3},
        "levels": {"1": "block", "2": text},
        "runs": [run(name, 0.9, certificate), run("flat", 0.8, certificate)],
        "examples": [{"text": text, "true": [step], "predicted": predicted}],
        "facts": {"seed": 0, text: text},
    }


class Tags(html.parser.HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, attrs))
        if tag not in ("meta", "link", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_all_text_of_the_user_is_escaped():
    page = render_html(report(name=EVIL, text=EVIL))
    tags = Tags(page)
    assert "script" not in [tag for tag, _ in tags.seen]
    assert "&lt;script&gt;" in page
    assert not tags.open


def test_the_page_needs_nothing_else():
    page = render_html(report())
    for tag, attributes in Tags(page).seen:
        assert tag not in ("script", "link", "img", "iframe", "object")
        assert not {"src", "href"} & {name for name, _ in attributes}
    assert "url(" not in page
    assert "@import" not in page
    assert "prefers-color-scheme: dark" in page


def test_headline_figures_and_both_runs():
    page = render_html(report())
    for shown in ("90.0 %", "80.0 %", "0.100", "converged", "1.00 %"):
        assert shown in page, shown


def test_runs_without_certificates_have_no_such_section():
    assert "Certificate" in render_html(report())
    assert "Certificate" not in render_html(report(certificate=False))


def test_the_best_of_each_figure():
    rows = {figure.name: figure for figure in figures(report())}
    assert rows["block accuracy"].best == [True, False]
    assert rows["tree loss"].values == ["0.100", "0.200"]
    assert rows["tree loss"].best == [True, False]
    assert rows["training"].best == [False, False]  # equally good
    assert certificate_rows(report())[0].name == "status"


def test_a_measure_that_one_run_lacks():
    summary = report()
    del summary["runs"][1]["measures"]["tree_loss"]
    rows = {figure.name: figure for figure in figures(summary)}
    assert rows["tree loss"].values == ["0.100", ""]


def test_a_report_that_lacks_a_part_is_an_error():
    summary = report()
    del summary["facts"]
    with pytest.raises(Exception, match="facts"):
        render_html(summary)
