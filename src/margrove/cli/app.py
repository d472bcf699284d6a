"""The program `margrove`: its commands, and how each call ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import margrove
from margrove.cli import check, demo, evaluate, info, predict, train
from margrove.cli.console import (
    open_standard_streams,
    print_result,
    silence_stdout,
    warnings_as_lines,
)
from margrove.cli.status import Status, status_of

app = typer.Typer(
    help="Large-margin classification over class taxonomies.",
    epilog=(
        "Exit status: 0 done, 1 failed or below a gate, 2 wrong call, 65 bad data, 66 no such input, "
        "73 cannot write, 130 interrupted. Results go to standard output or the named file, all else to "
        "standard error."
    ),
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (check.check, train.train, predict.predict, evaluate.evaluate, info.info, demo.demo):
    app.command()(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        print_result(f"margrove {margrove.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", envvar="MARGROVE_DEBUG", help="Show where an error came from.")
    ] = False,
) -> None:
    context.obj["debug"] = debug


def main(argv: Sequence[str] | None = None) -> int:
    """Run one call of the program and return its exit status; errors become one message each."""
    open_standard_streams()
    arguments = sys.argv[1:] if argv is None else list(argv)
    options = {"debug": False}
    command = typer.main.get_command(app)
    try:
        with warnings_as_lines():
            with command.make_context("margrove", arguments, obj=options) as context:
                command.invoke(context)
            sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
    except BaseException as error:  # noqa: BLE001 - the outermost place; every error has a status
        return status_of(error, debug=options["debug"])
    return Status.DONE
