"""The documents are true: their code runs, links lead somewhere, commands and equations exist."""

from __future__ import annotations

import contextlib
import io
import pkgutil
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
WITH_CODE = [ROOT / "README.md", ROOT / "docs" / "guide.md"]
MATHS = ROOT / "docs" / "maths.md"


class Block(NamedTuple):
    """A fenced block, and the line of its first line of code."""

    language: str
    line: int
    code: str


def blocks(document: Path) -> Iterator[Block]:
    language, start, code = None, 0, list[str]()
    for number, line in enumerate(document.read_text().splitlines(), 1):
        if line.startswith("```") and language is None:
            language, start, code = line[3:].strip(), number + 1, []
        elif line.startswith("```"):
            assert language is not None
            yield Block(language, start, "\n".join(code) + "\n")
            language = None
        elif language is not None:
            code.append(line)
    assert language is None, f"{document.name}: the block of line {start} has no end"


def without_blocks(document: Path) -> str:
    return re.sub(r"^```.*?^```", "", document.read_text(), flags=re.M | re.S)


def prose(document: Path) -> str:
    """The text without blocks and code."""
    return re.sub(r"`[^`\n]*`", "", without_blocks(document))


def relative(document: Path) -> str:
    return str(document.relative_to(ROOT))


# --- code ---


@pytest.mark.parametrize("document", WITH_CODE, ids=relative)
def test_python_runs_and_prints_what_its_comments_say(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "document"}
    found = [block for block in blocks(document) if block.language == "python"]
    assert found
    for block in found:
        printed = io.StringIO()
        source = "\n" * (block.line - 1) + block.code  # so that errors name the document's own lines
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(document), "exec"), names)
        said = [comment_of(line) for line in block.code.splitlines() if line.startswith("print(")]
        shown = printed.getvalue().splitlines()
        assert len(shown) == len(said), f"{document.name}: line {block.line}: a print is one line here"
        assert [line for line, comment in zip(shown, said, strict=True) if comment is not None] == [
            comment for comment in said if comment is not None
        ]


def comment_of(line: str) -> str | None:
    _, mark, comment = line.partition(")  # ")
    return comment if mark else None


def test_the_example_of_the_readme_is_short():
    (example,) = (block for block in blocks(ROOT / "README.md") if block.language == "python")
    assert len([line for line in example.code.splitlines() if line.strip()]) <= 15


# --- commands ---


@cache
def help_of(*command: str) -> str:
    from margrove.cli import main

    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        assert main([*command, "--help"]) == 0
    return shown.getvalue()


def options_in(help_text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", help_text))


def commands() -> list[tuple[str, list[str]]]:
    """Every call of margrove in a block of shell, with its place."""
    calls = []
    for document in DOCUMENTS:
        for block in blocks(document):
            if block.language != "sh":
                continue
            for offset, line in enumerate(block.code.splitlines()):
                for call in re.split(r"[|>]|&&", line):
                    words = shlex.split(call, comments=True)
                    if words[:1] == ["margrove"]:
                        calls.append((f"{relative(document)}:{block.line + offset}", words[1:]))
    return calls


@pytest.mark.parametrize(("place", "words"), commands())
def test_commands_and_their_options_exist(place, words):
    command, *arguments = words
    assert re.search(rf"^ +{re.escape(command)} ", help_of(), flags=re.M), f"{place}: no such command"
    known = options_in(help_of(command))
    used = {word.partition("=")[0] for word in arguments if re.match(r"--?[A-Za-z]", word)}
    assert used <= known, f"{place}: `margrove {command}` has no {used - known}"


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for document in DOCUMENTS:
        for target in re.findall(r"(?:^|`)make ([a-z][\w-]*)", document.read_text(), flags=re.M):
            assert re.search(rf"^{target}:", makefile, flags=re.M), f"{relative(document)}: make {target}"


# --- links and names ---


def anchors(document: Path) -> set[str]:
    """The anchors that the headings of a document get."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(document), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(document)):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        assert file.is_file(), f"{target} leads nowhere"
        assert not anchor or anchor in anchors(file), f"{target}: there is no such heading"


def test_names_of_the_architecture_exist():
    rooms = {path.name for path in (ROOT / "src" / "margrove").iterdir() if path.is_dir()}
    named = re.findall(r"`(\w+)\.([\w.]+)`", (ROOT / "ARCHITECTURE.md").read_text())
    found = [(room, rest) for room, rest in named if room in rooms and rest != "py"]
    assert found
    for room, rest in found:
        pkgutil.resolve_name(f"margrove.{room}.{rest}")


def test_rooms_of_the_architecture_are_those_of_the_package():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rooms = {path.parent.name for path in (ROOT / "src" / "margrove").glob("*/__init__.py")}
    first_cells = re.findall(r"^\| (`[\w`, ]+`) \|", text[: text.index("## From")], flags=re.M)
    assert {name for cell in first_cells for name in re.findall(r"\w+", cell)} == rooms | {"errors"}


def test_messages_of_the_guide_are_those_of_the_package():
    """In the table of troubleshooting, names are of errors and warnings, all else is found in the code."""
    from sklearn import exceptions

    from margrove import errors

    guide = (ROOT / "docs" / "guide.md").read_text()
    first_cells = re.findall(r"^\| ([^|]+) \|", guide[guide.index("## Troubleshooting") :], flags=re.M)
    quoted = [code for cell in first_cells for code in re.findall(r"`([^`]+)`", cell)]
    assert len(quoted) > 10
    sources = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    messages = re.sub(r'"\s*\n\s*f?"', "", sources)  # parts of a string on several lines
    for code in quoted:
        if re.fullmatch(r"\w+(Error|Warning)", code):
            assert hasattr(errors, code) or hasattr(exceptions, code), code
        else:
            for piece in re.split(r" *'?…'? *", code):
                assert piece in messages, f"no message says {piece!r}"


# --- equations ---

SECTIONS = "".join(re.findall(r"^## ([A-Z])\. ", MATHS.read_text(), flags=re.M))
CITATION = re.compile(rf"(?<![\w.])([{SECTIONS}])\.(\d+)(?:(?:-| to )\1\.(\d+))?(?![\w.]*\()")


def defined() -> list[tuple[str, int]]:
    """The numbers at the ends of equations, in order."""
    ends = re.findall(rf"^ {{4}}.*\(([{SECTIONS}])\.(\d+)\)$", MATHS.read_text(), flags=re.M)
    return [(section, int(number)) for section, number in ends]


def cited(text: str) -> set[tuple[str, int]]:
    found = set()
    for section, first, last in CITATION.findall(text):
        found |= {(section, number) for number in range(int(first), int(last or first) + 1)}
    return found


def test_equations_are_numbered_in_order():
    numbers = defined()
    for section in SECTIONS:
        mine = [number for letter, number in numbers if letter == section]
        assert mine == list(range(1, len(mine) + 1)), section
        assert mine, section


def test_citations_are_found():
    assert cited("see (C.2), E.1 to E.3 and (P.1-P.2; A.5)") == {
        *(("C", 2), ("E", 1), ("E", 2), ("E", 3)),
        *(("P", 1), ("P", 2), ("A", 5)),
    }
    assert not cited("W.T.astype, 0.5, x.A.1, np.D.2")


def test_cited_equations_exist():
    known = set(defined())
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    everywhere = {path: cited(path.read_text()) for path in sources}
    assert sum(map(len, everywhere.values())) > 30
    for document in DOCUMENTS:
        everywhere[document] = cited(prose(document)) - appendix_of_cai(document)
    wrong = {
        str(path.relative_to(ROOT)): missing
        for path, found in everywhere.items()
        if (missing := found - known)
    }
    assert not wrong


def appendix_of_cai(document: Path) -> set[tuple[str, int]]:
    """Sections "Cai A.1" are that document's own."""
    return {
        (letter, int(number)) for letter, number in re.findall(r"Cai ([A-Z])\.(\d+)", document.read_text())
    }


def test_every_mention_of_the_page_of_equations_is_by_its_name():
    for path in (ROOT / "src").rglob("*.py"):
        for name in re.findall(r"[\w/-]*maths[\w-]*\.md", path.read_text()):
            assert name in ("maths.md", "docs/maths.md"), f"{path}: {name}"
