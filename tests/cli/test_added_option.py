"""An option of ``plab run`` is one annotated field of Execution, and a parameter in Python."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_origin, get_type_hints

import click
import pytest
from click.testing import CliRunner

from perceptron_lab import run
from perceptron_lab.cli import run as command_line
from perceptron_lab.experiments.running.execution import Execution, Option


@dataclass(frozen=True)
class Louder(Execution):
    """An execution with one option more."""

    loudness: Annotated[int, Option("How loud it is.", "-l", "N", least=1)] = 2


@pytest.fixture
def louder(monkeypatch: pytest.MonkeyPatch) -> click.Command:
    """A command that prints the loudness with which it would run."""
    monkeypatch.setattr(command_line, "Execution", Louder)

    def print_loudness(**options: Any) -> None:
        click.echo(Louder(**options).loudness)

    return click.command("tell")(command_line.execution_options(print_loudness))


@pytest.mark.parametrize(
    ("words", "text"), [([], "2"), (["--loudness", "3"], "3"), (["-l", "4"], "4")]
)
def test_a_field_is_an_option(louder: click.Command, words: list[str], text: str) -> None:
    completed = CliRunner().invoke(louder, words)
    assert (completed.exit_code, completed.output) == (0, f"{text}\n")


def test_its_help_and_its_least_number_are_those_declared(louder: click.Command) -> None:
    runner = CliRunner()
    text = " ".join(runner.invoke(louder, ["--help"]).output.split())
    assert "-l, --loudness N How loud it is. [default: 2; x>=1]" in text
    assert runner.invoke(louder, ["-l", "0"]).exit_code == 2


def test_every_option_is_a_parameter_in_python() -> None:
    hints = get_type_hints(Execution, include_extras=True)
    options = {
        field.name: field.default
        for field in fields(Execution)
        if get_origin(hints[field.name]) is Annotated
    }
    parameters = inspect.signature(run).parameters
    assert len(options) >= 7
    assert {name: parameters[name].default for name in options} == options
