"""What the user sees: results on standard output, everything else on standard error."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH = 80  # where standard output is no terminal
_NAMES = 13  # width of the names of facts


def note(message: str) -> None:
    """Say something that is no result."""
    print(message, file=sys.stderr, flush=True)


def print_result(text: str) -> None:
    """Print a result; a reader that goes away early, as `head` does, has what it wanted."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        silence_stdout()


def print_json(value: Any) -> None:
    """Print a result for machines; numbers that JSON lacks (NaN, infinity) become null."""
    import json

    print_result(json.dumps(without_infinities(value), ensure_ascii=False, indent=2, allow_nan=False))


def print_table(
    headers: Sequence[str], rows: Iterable[Sequence[str]], title: str = "", right: Sequence[int] = ()
) -> None:
    """Print rows as a table, the columns numbered in `right` aligned to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, header in enumerate(headers):
        table.add_column(header, justify="right" if place in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = _stdout()
    with console.capture() as rendered:
        console.print(table)
    lines = [line.rstrip() for line in rendered.get().splitlines()]
    print_result("\n".join(["", *([title] if title else []), *lines]))


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print named facts, one below the other and wrapped."""
    import shutil
    import textwrap

    width = shutil.get_terminal_size((_WIDTH, 24)).columns
    lines = [
        textwrap.fill(
            f"{name:<{_NAMES}}{fact}",
            width,
            subsequent_indent=" " * _NAMES,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for name, fact in facts
    ]
    print_result("\n".join(lines))


def open_standard_streams() -> None:
    """Let standard streams that the caller has closed, as some daemons do, be empty ones."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open until the end


def silence_stdout() -> None:
    """Let whatever is still to be written go nowhere: nobody reads it."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, sys.stdout.fileno())
    os.close(sink)


@contextlib.contextmanager
def busy(what: str) -> Iterator[None]:
    """Show on a terminal that work goes on, and for how long."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(what, total=None)
        yield


@contextlib.contextmanager
def gap_shown(what: str, tol: float) -> Iterator[Callable[[Any], None] | None]:
    """Show on a terminal how the duality gap shrinks to `tol`; yields what a fit calls after each round."""
    if not sys.stderr.isatty():
        note(f"{what} ...")
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[gap]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(what, total=1.0, gap="")

        def watch(reached: Any) -> None:
            """The first search has a gap of almost 1; what is left shrinks evenly on a logarithmic scale."""
            gap = min(max(reached.relative_gap, tol), 1.0)
            done = math.log(gap) / math.log(tol) if tol < 1 else 1.0
            progress.update(task, completed=done, gap=f"gap {reached.relative_gap:.1%}")

        yield watch


@contextlib.contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show every warning as one line."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        yield


def _show_warning(message: Warning | str, *place: Any, **_: Any) -> None:
    note("warning: " + " ".join(str(message).split()))


def _stdout() -> Console:
    from rich.console import Console

    width = None if sys.stdout.isatty() else _WIDTH
    return Console(markup=False, highlight=False, emoji=False, width=width)


def without_infinities(value: Any) -> Any:
    """Return the value with None for numbers that JSON lacks."""
    if isinstance(value, dict):
        return {str(key): without_infinities(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_infinities(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
        return None
    return value
