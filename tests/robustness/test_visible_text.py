"""No control character and no direction mark of a name reaches a terminal or a file."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.dataclasses import dataclass

import perceptron_lab
from perceptron_lab.algorithms.base import State
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.cli.echo import coloured, echo
from perceptron_lab.cli.main import main
from perceptron_lab.cli.rendering import show_frame, show_table
from perceptron_lab.core.refusals import STRICT
from perceptron_lab.core.registry import register
from perceptron_lab.core.results import Status
from perceptron_lab.core.visible_text import visible
from perceptron_lab.experiments.running.console import VisibleConsole
from perceptron_lab.reporting.printing.columns import texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.systems import ConicSystem

MARKS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"
HOSTILE = f"a\x1b[31mb\x07\x00\x7f\x9b1m\r{MARKS}\udc80c"
"""Every kind of them; pandas refuses the surrogate."""
HELD = HOSTILE.replace("\udc80", "")


def obeyed(text: str) -> list[str]:
    """Return the characters of a text that no letter, tab or line feed is (by Unicode's tables)."""
    return [
        character
        for character in text
        if character not in "\t\n"
        and (
            unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
            or unicodedata.bidirectional(character) in BIDI
            or character in MARKS
        )
    ]


BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def test_every_character_that_is_obeyed_is_written_out() -> None:
    for code in range(0x11000):
        character = chr(code)
        text = visible(character)
        assert text == (f"\\u{code:04x}" if obeyed(character) else character)
    assert obeyed(HOSTILE)


@given(st.text(st.characters(codec=None)))
def test_json_means_the_same_and_nothing_is_written_out_twice(text: str) -> None:
    printed = json.dumps(text, ensure_ascii=False)
    assert json.loads(visible(printed)) == text
    assert visible(visible(text)) == visible(text)
    assert obeyed(visible(text)) == []


def test_only_a_colour_of_ours_reaches_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("click._compat._default_text_stdout", lambda: io.StringIO())
    written: list[str] = []
    monkeypatch.setattr("click.echo", lambda text, **options: written.append(text))
    echo("x\x1b[2J ", coloured(Status.FEASIBLE), f" {coloured(Status.FEASIBLE)}")
    ours = "\x1b[32mFEASIBLE\x1b[0m"
    assert written == [f"x\\u001b[2J {ours} {visible(ours)}"]


def test_tables_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(HOSTILE, (HOSTILE, "b"), [(HOSTILE, "c")])
    show_frame(HOSTILE, pd.DataFrame({"label": [HELD], HELD: [HELD]}))
    output = capsys.readouterr().out
    assert output.count("\\u202e") == 7
    assert obeyed(output) == []


def test_a_terminal_obeys_rich_alone() -> None:
    target = io.StringIO()
    console = VisibleConsole(file=target, force_terminal=True, color_system="standard", width=200)
    with console.status(HOSTILE):
        console.print(f"[green]x[/] {HOSTILE}")
    output = target.getvalue()
    assert "\x1b[32m" in output  # of rich
    assert "\\u001b" in output
    assert "\x07" not in output
    assert "\u202e" not in output


@pytest.mark.parametrize("kind", ["csv", "tex", "html", "md"])
def test_the_files_of_a_table(kind: str) -> None:
    figure_table = Table("made", [texts("label", [HELD])], notes=[f"note {HOSTILE}"])
    text = figure_table.texts(HOSTILE)[kind]
    assert obeyed(text) == []
    assert text.count("u202e") == (1 if kind == "csv" else 3)
    if kind == "tex":
        assert "\\u202e" not in text
        assert text.count("\\textbackslash{}u202e") == 3


def test_errors_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "\x1b[31m\u202e\udc80"
    for words in (["solve", name], ["solve", f"--{name}"], ["check", name], [name]):
        assert main(words) == 2
        error_output = capsys.readouterr().err
        assert obeyed(error_output) == []
        assert "u202e" in error_output


@dataclass(frozen=True, config=STRICT)
class Hostile(Perceptron):
    """A perceptron whose error message is hostile."""

    def start(self, system: ConicSystem, rng: np.random.Generator) -> State:
        raise RuntimeError(HOSTILE)


CONFIG = r"""
experiment: hostile
title: "t\e[31m\u202Eitle\u2028"
problems:
  - {dataset: maxcut, instances: [random-8-12]}
algorithms:
  - {name: perceptron, label: P}
  - {name: hostile, label: H}
report: {tables: [summary, profile], figures: [convergence]}
"""


@pytest.mark.slow
def test_a_run_and_all_that_it_writes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    user_registrations: Any,
) -> None:
    register("algorithm", "hostile", Hostile)
    monkeypatch.chdir(tmp_path)
    Path("hostile.yaml").write_text(CONFIG)
    for words in (["run", "hostile.yaml", "-v"], ["report", "--html"], ["status", "-v"]):
        main(words)
    main(["verify", "results/hostile"])
    main(["compare", "results/hostile", "results/hostile"])
    captured = "".join(capfd.readouterr())
    assert obeyed(captured) == []
    assert "t\\u001b[31m\\u202eitle" in captured
    kinds = {".csv", ".html", ".md", ".tex", ".svg", ".json"}
    written = [path for path in Path("results").rglob("*") if path.suffix in kinds]
    assert {path.suffix for path in written} == kinds
    assert Path("results/hostile/index.html") in written
    for path in written:
        assert obeyed(path.read_text("utf-8")) == [], path


def test_only_the_echo_module_prints() -> None:
    package = Path(perceptron_lab.__file__).parent
    printing = re.compile(r"click\.s?echo\(|(?<!Visible)Console\((?!Console)")
    modules = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if printing.search(path.read_text("utf-8"))
    }
    assert modules == {"cli/echo.py"}
