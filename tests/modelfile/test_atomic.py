"""Whatever happens during a save, the old model or the new one is there, whole."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from margrove import modelfile
from margrove.modelfile import atomic

# Saves over and over; the array makes a save long enough to be hit.
SAVER = """
import itertools, sys
import numpy as np
from margrove import modelfile

path, start = sys.argv[1], int(sys.argv[2])
for generation in itertools.count(start):
    modelfile.write(path, {"generation": generation}, {"a": np.full(500_000, generation, dtype=np.int64)})
    print(generation, flush=True)
"""


def kill_savers(path: Path, kills: int) -> None:
    rng = random.Random(kills)
    modelfile.write(path, {"generation": 0}, {"a": np.zeros(1, dtype=np.int64)})
    newest = 0
    for _ in range(kills):
        with subprocess.Popen(
            [sys.executable, "-c", SAVER, str(path), str(newest + 1)], stdout=subprocess.PIPE, text=True
        ) as saver:
            assert saver.stdout is not None
            saved = int(saver.stdout.readline())
            time.sleep(rng.random() * 0.05)
            saver.kill()
            for line in saver.stdout:
                saved = int(line)
        header, arrays = modelfile.read(path)
        newest = header["generation"]
        assert newest in (saved, saved + 1)  # the last save that ended, or one that ended without saying so
        assert (arrays["a"] == newest).all()
        assert len(list(path.parent.iterdir())) <= 2  # the model, and at most the file that was being written
    modelfile.write(path, {"generation": -1}, {})
    assert list(path.parent.iterdir()) == [path]


def test_killed_while_saving(tmp_path):
    kill_savers(tmp_path / "model.mg", kills=10)


@pytest.mark.slow
def test_killed_while_saving_a_hundred_times(tmp_path):
    kill_savers(tmp_path / "model.mg", kills=100)


def save(path: Path, generation: int = 1) -> None:
    modelfile.write(path, {"generation": generation}, {})


def test_a_failed_save_leaves_the_old_model_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "model.mg"
    save(path, 1)

    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space left"):
        save(path, 2)
    assert modelfile.read_header(path) == {"generation": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_save_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), atomic.replacing(tmp_path / "model.mg"):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


def test_permissions(tmp_path):
    path = tmp_path / "model.mg"
    mask = os.umask(0o027)
    try:
        save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(mask)


def test_a_symbolic_link_stays_one(tmp_path):
    (tmp_path / "models").mkdir()
    link = tmp_path / "current.mg"
    link.symlink_to("models/one.mg")
    save(link)
    assert link.is_symlink()
    assert modelfile.read_header(tmp_path / "models" / "one.mg") == {"generation": 1}


def test_what_cannot_be_replaced(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere/model\.mg'"):  # and not the temporary file
        save(tmp_path / "nowhere" / "model.mg")
    with pytest.raises(IsADirectoryError):
        save(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="only a regular file"):
        save(tmp_path / "pipe")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_permission(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        save(tmp_path / "model.mg")


def test_only_abandoned_files_of_the_same_model_are_swept(tmp_path):
    path = tmp_path / "model[1].mg"
    abandoned = tmp_path / ".model[1].mg.0123456789abcdef.tmp"
    others = [
        tmp_path / name
        for name in (".other.mg.0123456789abcdef.tmp", ".model[1].mg.mine.tmp", "model[1].mg.tmp")
    ]
    for file in (abandoned, *others):
        file.touch()
    with atomic.replacing(path) as file:
        file.write(b"being written")
        save(path, 2)  # by another process, say
        assert modelfile.read_header(path) == {"generation": 2}
    assert path.read_bytes() == b"being written"
    assert not abandoned.exists()
    assert all(other.exists() for other in others)
    assert len(list(tmp_path.iterdir())) == 4
