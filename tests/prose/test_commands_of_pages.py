"""Every command in README and docs exists with its options, and README leads where it says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import click
import pytest

from perceptron_lab.cli.main import main, plab
from perceptron_lab.core.registry import names
from perceptron_lab.experiments.configuration.catalogue import gallery
from tests.prose.pages import PAGES, ROOT, blocks, section

PLACEHOLDER = re.compile(r"[A-Z]+(?:\.\.\.)?|ADDRESS.*|\S+\.ya?ml|\.\.\.")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def commands(page: str) -> list[list[str]]:
    """Return the words of every command ``plab ...`` or ``make ...``, without comments."""
    quoted = re.findall(r"(?<!`)`((?:plab|make)[ \n][^`]*)`(?!`)", PAGES[page])
    shell = [line for block in blocks(page) for line in re.sub(r"\\\n", "", block).splitlines()]
    parts = []
    for line in [*(" ".join(text.split()) for text in quoted), *shell]:
        if line.startswith(("plab ", "make ")):
            words = shlex.split(line.replace("...", " "), comments=True)
            parts += _split(words)
    return parts


def _split(words: list[str]) -> list[list[str]]:
    """Cut a line at ``&&`` and ``&``."""
    if "&&" not in words:
        return [[word for word in words if word != "&"]]
    first = list(takewhile(lambda word: word != "&&", words))
    return [first, *_split(words[len(first) + 1 :])]


def fault(words: list[str]) -> str | None:
    """Return what is wrong with a command, or None."""
    program, name, *rest = words
    if program == "make":
        return None if name in TARGETS else f"no target {name}"
    context = click.Context(plab, info_name="plab")
    if name.startswith("-") or PLACEHOLDER.fullmatch(name):
        return None
    command = plab.get_command(context, name)
    if command is None:
        return f"no command {name}"
    if isinstance(command, click.Group):
        command = command.get_command(context, rest[0]) or command
    options = {
        option
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    options |= {"--help", "-h"}
    for word in rest:
        option = word.partition("=")[0].strip("[]")
        if option.startswith("-") and option not in options:
            return f"plab {name} has no option {option}"
    return _unknown(name, rest)


def _unknown(name: str, rest: list[str]) -> str | None:
    """Return the first argument that names nothing, of commands that take names."""
    kinds = {"run": set(gallery()), "theory": {*names("theory"), "[NAME]"}}
    arguments = takewhile(lambda word: not word.startswith("-"), rest)
    for word in arguments:
        if name in kinds and word not in kinds[name] and not PLACEHOLDER.fullmatch(word):
            return f"plab {name}: {word} names nothing"
    return None


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)])
def test_every_command_is_there_with_its_options(page: str) -> None:
    faults = [(words, fault(words)) for words in commands(page)]
    assert [fault for fault in faults if fault[1]] == []


def test_faults_of_commands_are_detected() -> None:
    assert fault(["make", "nothing"]) == "no target nothing"
    assert fault(["plab", "ran", "maxcut"]) == "no command ran"
    assert fault(["plab", "run", "maxcutt"]) == "plab run: maxcutt names nothing"
    assert fault(["plab", "report", "--htm"]) == "plab report has no option --htm"


def test_the_gallery_of_readme_is_there() -> None:
    names = re.findall(r"`([a-z_0-9/]+)`", _gallery())
    assert len(names) > 20
    assert set(names) <= set(gallery())
    for name in names:
        assert (ROOT / "results" / "sample" / Path(name).name).is_dir(), name


def _gallery() -> str:
    """The lines of the table as written, code included."""
    text = PAGES["README.md"]
    start = text.index("## The gallery")
    table = text[start : text.index("## Read on")]
    assert section("README.md", "## The gallery")
    return "\n".join(line.rpartition("| `")[2] for line in table.splitlines() if "| `" in line)


def printed_output(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Do what a line of README says, and return what it prints."""
    if command[0] == "plab":
        assert main(command[1:]) == 0
        return "\n".join(capsys.readouterr())  # what is told by the way goes to stderr
    assert command[0] == "python"
    completed = subprocess.run([sys.executable, *command[1:]], capture_output=True, text=True)
    assert completed.returncode == 0
    return completed.stdout


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def agree(expected: str, printed: str) -> bool:
    """Whether two lines have the same words, and the same numbers but for seconds and rounding."""
    expected, printed = (re.sub(r"[\d.e-]+ s$", "s", first) for first in (expected, printed))
    pairs = zip(NUMBER.findall(expected), NUMBER.findall(printed), strict=False)
    return NUMBER.sub("#", expected) == NUMBER.sub("#", printed) and all(
        float(first) == pytest.approx(float(second), rel=1e-3) for first, second in pairs
    )


@pytest.mark.slow  # a run of three cells, its page and its proofs
def test_readme_leads_from_a_csv_to_a_proof_and_from_a_yaml_to_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("checker", "configs"):
        (tmp_path / name).symlink_to(ROOT / name)
    shell = "".join(blocks("README.md"))
    ((name, table),) = re.findall(r"^cat > (\S+) <<'end'\n((?s:.*?))^end$", shell, re.MULTILINE)
    Path(name).write_text(table)
    Path("my.yaml").write_text(blocks("README.md", "yaml")[0])
    printed = []
    for line in shell.splitlines():
        if line.startswith(("plab ", "python ")):
            printed += printed_output(shlex.split(line, comments=True), capsys).splitlines()
    lines = [line for block in blocks("README.md", "text") for line in block.splitlines()]
    assert len(lines) == 11
    for line in lines:
        assert any(agree(line, output_line) for output_line in printed), line
    assert sum(line.startswith("PROVED: ") for line in printed) == 3  # the checker's sentences
    page = (tmp_path / "results" / "my" / "index.html").read_text()
    assert "Three algorithms on my patients" in page


@pytest.mark.parametrize("page", ["docs/command-line.md", "docs/experiments.md"])
def test_examples_of_pages_equal_those_of_readme(page: str) -> None:
    for language in ("text", "yaml"):
        expected = {line for block in blocks("README.md", language) for line in block.splitlines()}
        assert {line for block in blocks(page, language) for line in block.splitlines()} <= expected
