from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
import warnings

import pytest

from margrove.cli import app, console, main
from margrove.cli.status import Status, status_of
from margrove.errors import MargroveError, ScaleWarning


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--version"], ["train", "--help"]])
def test_done(call, arguments):
    result = call(*arguments)
    assert result.status == 0
    assert result.out
    assert not result.err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--no-such-option"],
        ["no-such-command"],
        ["train"],
        ["predict", "only-a-model"],
        ["train", "data.csv", "--label", "x", "-o", "-"],
        ["train", "data.csv", "--label", "x", "-o", "m.mg", "--C", "much"],
        ["train", "data.csv", "--label", "x", "-o", "m.mg", "--on-error", "ignore"],
        ["predict", "m.mg", "data.csv", "--top", "0"],
    ],
)
def test_wrong_call(call, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = call(*arguments)
    assert result.status == 2
    assert result.out == ""
    assert "Usage" in result.err or "error" in result.err


@pytest.mark.parametrize("option", [["--delimiter", "ab"], ["--encoding", "utf-99"]])
def test_an_option_that_no_reader_can_follow(call, shop, option):
    result = call("check", shop / "data.csv", "--label", "category", *option)
    assert result.status == 2
    assert option[0].strip("-") in result.err


@pytest.mark.parametrize("command", ["predict", "evaluate", "info"])
def test_no_such_input(call, tmp_path, command):
    data = [tmp_path / "data.csv"] if command != "info" else []
    result = call(command, tmp_path / "nothing.mg", *data)
    assert result.status == 66
    assert "nothing.mg" in result.err
    assert call("info", tmp_path).status == 66


def test_no_such_table_or_taxonomy(call, shop, tmp_path):
    options = ["--label", "category", "--text", "title", "-o", tmp_path / "m.mg"]
    assert call("train", tmp_path / "no.csv", *options).status == 66
    assert call("train", shop / "data.csv", *options, "--taxonomy", tmp_path / "no.csv").status == 66


def test_bad_data(call, shop, tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    assert call("check", empty, "--label", "category").status == 65
    assert call("check", shop / "data.csv", "--label", "categori").status == 65
    assert call("predict", shop / "data.csv", shop / "data.csv").status == 65


def test_cannot_write(call, shop, tmp_path):
    for output in (tmp_path, tmp_path / "no" / "out.csv"):
        result = call("predict", shop / "model.mg", shop / "data.csv", "-o", output)
        assert result.status == 73
        assert str(output) in result.err
        assert "rows read" not in result.err
    rejects = ["--rejects", tmp_path / "no" / "bad.csv"]
    assert call("check", shop / "data.csv", "--label", "category", *rejects).status == 73


def test_a_full_disk_is_no_success(shop):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    program = [sys.executable, "-m", "margrove", "predict", str(shop / "model.mg"), str(shop / "data.csv")]
    done = subprocess.run([*program, "-o", "/dev/full"], capture_output=True, check=False)
    assert done.returncode == 73
    for command in (program, [*program[:3], "info", program[4]], [*program[:3], "--help"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 73
        assert b"cannot write" in done.stderr


@pytest.mark.parametrize(
    ("command", "closed", "status"), [("predict", "<&-", 65), ("info", ">&-", 0), ("info", "2>&-", 0)]
)
def test_closed_standard_streams_are_empty_ones(shop, command, closed, status):
    arguments = [sys.executable, "-m", "margrove", command, str(shop / "model.mg")]
    arguments += ["-"] if command == "predict" else []
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *arguments]
    done = subprocess.run(shell, capture_output=True, check=False)
    assert done.returncode == status
    assert b"should not happen" not in done.stderr


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (MargroveError("x"), Status.BAD_DATA),
        (KeyboardInterrupt(), Status.INTERRUPTED),
        (MemoryError(), Status.FAILED),
        (ImportError("install it"), Status.FAILED),
        (OSError("disk"), Status.FAILED),
        (OSError(errno.ENOSPC, "disk"), Status.CANNOT_WRITE),
        (ZeroDivisionError("x"), Status.FAILED),
    ],
)
def test_every_error_has_a_status_and_no_traceback(capsys, error, status):
    assert status_of(error) == status
    err = capsys.readouterr().err
    assert err
    assert "Traceback" not in err


def test_debug_shows_the_traceback(call, tmp_path, monkeypatch):
    assert "Traceback" in call("--debug", "info", tmp_path / "no.mg").err
    monkeypatch.setenv("MARGROVE_DEBUG", "1")
    result = call("info", tmp_path / "no.mg")
    assert "Traceback" in result.err
    assert result.status == 66


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line(capsys):
    with console.warnings_as_lines():
        warnings.warn("the inputs\nare huge", ScaleWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: the inputs are huge\n"


def test_interrupted_in_process(call, monkeypatch, shop):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("margrove.loading.load", interrupt)
    result = call("predict", shop / "model.mg", shop / "data.csv")
    assert (result.status, result.err) == (130, "interrupted\n")


def test_interrupted_while_it_is_imported(monkeypatch):
    class Interrupter:
        def find_spec(self, *_: object) -> None:
            raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "margrove.cli.app")
    monkeypatch.delattr("margrove.cli.app")
    monkeypatch.setattr(sys, "meta_path", [Interrupter()])
    assert main(["--version"]) == 130


def test_control_c(shop):
    program = [sys.executable, "-m", "margrove", "predict", str(shop / "model.mg"), "-"]
    process = subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    time.sleep(2)  # it has loaded the model and waits for its input
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130
    assert out == b""
    assert err == b"interrupted\n"


def test_the_module_is_the_program():
    done = subprocess.run([sys.executable, "-m", "margrove", "--version"], capture_output=True, check=True)
    assert done.stdout.startswith(b"margrove ")
    assert app.main(["--version"]) == 0
