"""What each command prints with --json is what its published schema says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

from perceptron_lab.cli import data as data_command
from perceptron_lab.cli.main import main
from perceptron_lab.cli.schemas import OUTPUTS, schema_of
from perceptron_lab.experiments.storage.reader import Reader
from tests.cli.json_schema import faults
from tests.cli.test_every_command import CALLS, commands, folder, words

__all__ = ["folder"]
SAMPLES = Path(__file__).parents[2] / "results" / "sample"
LABELLED = "a,b,kind\n1,2,in\n2,1,in\n-1,-2,out\n-2,-1,out\n-1,-1,out\n"
PROGRAM = "1\n1\n2\n1\n0 1 1 1 -1\n0 1 2 2 -1\n1 1 1 1 1\n1 1 2 2 1\n"
MODEL = "Minimize\n x\nSubject To\n c: x + y >= 1\n d: x + y <= 0\nEnd\n"
FILES = {"kinds.csv": LABELLED, "p.dat-s": PROGRAM, "m.lp": MODEL, "texts.yaml": "a: [\n"}
MORE: dict[str, list[str]] = {
    "solve labels": ["solve", "kinds.csv", "--labels", "kind"],
    "solve verdict": ["solve", "kinds.csv", "--labels", "kind", "--verdict"],
    "solve remedies": ["solve", "kinds.csv", "--labels", "kind", "--verdict", "--remedies"],
    "solve ellipsoid": ["solve", "kinds.csv", "--labels", "kind", "--ellipsoid"],
    "solve optimum": ["solve", "p.dat-s", "--optimum"],
    "solve linear": ["solve", "m.lp"],
    "solve parameters": ["solve", "p.dat-s", "--algorithm", "rescaled-perceptron"],
    "list algorithms": ["list", "algorithms"],
    "list kinds": ["list"],
    "show experiment": ["show", "margins"],
    "data fetch": ["data", "fetch", "sdplib"],
    "status learner": ["status", str(SAMPLES / "online")],
    "compare samples": ["compare", str(SAMPLES / "rates"), str(SAMPLES / "bounds")],
    "verify learner": ["verify", str(SAMPLES / "separation_2d")],
    "theory figure": ["theory", "figure_3_2", "--into", "."],
}


def printed_data(arguments: list[str], capsys: pytest.CaptureFixture[str], code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*arguments, "--json"]) == code, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def command_of(arguments: list[str]) -> str:
    return " ".join(arguments[: 2 if arguments[0] == "data" else 1])


def test_every_command_publishes_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    names = [name for name, _ in commands()]
    assert set(names) == set(OUTPUTS)
    assert {command_of(call) for call in [*CALLS.values(), *MORE.values()]} == set(OUTPUTS)
    for name in names:
        # Eager, so that no argument is missed
        assert main([*name.split(), "--json-schema"]) == 0
        schema = json.loads(capsys.readouterr().out)
        assert schema == schema_of(name)
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert schema["title"] == f"plab {name} --json"


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=lambda value: str(value))
def test_help_states_that_json_is_available(name: str, command: click.Command) -> None:
    assert "--json-schema" in {option for param in command.params for option in param.opts}, name


@pytest.mark.parametrize("name", [*CALLS, *MORE])
def test_json_output_conforms_to_its_schema(
    name: str,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(data_command, "fetching", lambda *_: [("mcp100.dat-s", Path("x"))])
    for file, text in FILES.items():
        Path(file).write_text(text)
    arguments = MORE[name] if name in MORE else words(name, folder, tmp_path)
    schema = schema_of(command_of(arguments))
    value = printed_data(arguments, capsys)
    assert value
    assert faults(value, schema, schema) == []


def test_json_of_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = printed_data(["check", str(tmp_path / "absent.yaml"), "margins"], capsys, code=2)
    schema = schema_of("check")
    assert faults(value, schema, schema) == []
    assert value[0]["faults"]


@pytest.mark.parametrize("name", ["labelled", "online", "maxcut_optimum", "soft_separation"])
def test_rows_of_every_kind(name: str) -> None:
    schema = schema_of("run")
    with Reader.open(SAMPLES / name) as reader:
        value = [{"folder": name, "rows": list(reader.rows()), "cautions": []}]
    assert faults(json.loads(json.dumps(value)), schema, schema) == []


def test_deviations_from_a_schema_are_detected(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = schema_of("status")
    for change, fault in (
        ({"extra": 1}, "$[0]: unknown extra"),
        ({"running": "no"}, "$[0].running: 'no' is no boolean"),
        ({"process": True}, "$[0].process: True is no integer"),
        ({"counts": {"lost": 1}}, "$[0].counts.lost: 'lost' of ['done', 'running', "),
        ({"cells": [{}]}, "$[0].cells[0]: no problem"),
    ):
        (value,) = printed_data(["status", str(folder)], capsys)
        assert faults([value | change], schema, schema)[0].startswith(fault)
    (value,) = printed_data(["status", str(folder)], capsys)
    del value["experiment"]
    assert faults([value], schema, schema) == ["$[0]: no experiment"]
