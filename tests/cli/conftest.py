from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from margrove.cli import main

FRUITS = {
    "apple": ["red apple", "green apple tart", "apple, big and red", "sour green apple"],
    "banana": ["yellow banana", "ripe banana", "banana bread banana", "small yellow banana"],
    "0111": ["orange carrot", "carrot, big", "carrot soup", "raw carrot"],
}
TAXONOMY = (
    "parent,child\nfood,fruit\nfood,vegetable\nfruit,apple\nfruit,banana\nvegetable,0111\nvegetable,leek\n"
)


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Call = Callable[..., Outcome]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run the program in this process."""

    def run(*arguments: str | Path) -> Outcome:
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Outcome(status, out, err)

    return run


def rows() -> list[tuple[str, str]]:
    return [(text, label) for label, texts in FRUITS.items() for text in texts]


def csv_text(pairs: list[tuple[str, str]]) -> str:
    return "id,title,category\n" + "".join(f'{i},"{text}",{label}\n' for i, (text, label) in enumerate(pairs))


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with data, a taxonomy and a model; tests only read it."""
    directory = tmp_path_factory.mktemp("shop")
    (directory / "data.csv").write_text(csv_text(rows()))
    (directory / "taxonomy.csv").write_text(TAXONOMY)
    status = main(
        [
            *("train", str(directory / "data.csv"), "--text", "title", "--label", "category"),
            *("--taxonomy", str(directory / "taxonomy.csv"), "-o", str(directory / "model.mg")),
        ]
    )
    assert status == 0
    return directory
