"""What holds for every command: the same options, and their meanings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from perceptron_lab.cli.main import COMMANDS, main, plab
from perceptron_lab.experiments.storage.reader import Reader


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(plab)
    for name in COMMANDS:
        command = plab.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {child}", sub) for child, sub in command.commands.items())
        elif name != "help":
            yield name, command


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=lambda value: str(value))
def test_every_command_has_quiet_verbose_and_json(name: str, command: click.Command) -> None:
    options = {option for param in command.params for option in param.opts}
    assert {"--json", "-q", "--quiet", "-v", "--verbose"} <= options, name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished experiment, for reading only."""
    output = tmp_path_factory.mktemp("every")
    config = output / "small.yaml"
    config.write_text(
        "experiment: small\n"
        "problems: [{dataset: maxcut, instances: [random-12-20]}]\n"
        "algorithms: [{name: perceptron}]\n"
        "report: {tables: [table_6_1]}\n"
    )
    assert main(["run", str(config), "--output", str(output), "-q"]) == 0
    return output / "small"


ROWS = "1,2\n3,1\n"
CALLS: dict[str, list[str]] = {
    "list": ["list", "oracles"],
    "show": ["show", "perceptron"],
    "check": ["check", "quickstart"],
    "run": ["run", "{config}", "--output", "{output}"],
    "dry run": ["run", "quickstart", "--dry-run"],
    "report": ["report", "{folder}"],
    "pages": ["report", "{folder}", "--html"],
    "status": ["status", "{folder}"],
    "verify": ["verify", "{folder}"],
    "certify": ["certify", "{folder}", "--into", "{exact}"],
    "compare": ["compare", "{folder}", "{folder}"],
    "theory": ["theory", "claims", "--into", "{exact}"],
    "data verify": ["data", "verify", "sdplib"],
    "solve": ["solve", "{rows}"],
}


def words(name: str, folder: Path, tmp_path: Path) -> list[str]:
    (tmp_path / "rows.csv").write_text(ROWS)
    indices = {
        "folder": folder,
        "config": folder.parent / "small.yaml",
        "output": folder.parent,
        "exact": tmp_path / "exact",
        "rows": tmp_path / "rows.csv",
    }
    return [word.format(**indices) for word in CALLS[name]]


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    capsys.readouterr()
    assert main(arguments) == 0
    return tuple(capsys.readouterr())  # type: ignore[return-value]


@pytest.mark.parametrize("name", list(CALLS))
def test_json_is_all_that_is_printed_also_with_quiet(
    name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = words(name, folder, tmp_path)
    plain: Any = json.loads(printed([*arguments, "--json"], capsys)[0])
    quiet = json.loads(printed([*arguments, "--json", "-q"], capsys)[0])
    assert plain
    assert type(plain) is type(quiet)


@pytest.mark.parametrize("name", list(CALLS))
def test_quiet_prints_nothing_on_success(
    name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed([*words(name, folder, tmp_path), "-q"], capsys) == ("", "")


@pytest.mark.parametrize("name", list(CALLS))
def test_verbose_prints_all_of_the_normal_output(
    name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed([*words(name, folder, tmp_path), "-v"], capsys)[0]


OUTPUT = {"run", "report", "status"}
PATHS = {"run", "check", "status", "solve"}


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=lambda value: str(value))
def test_an_option_has_one_meaning(name: str, command: click.Command) -> None:
    options = {param.opts[0]: param for param in command.params if isinstance(param, click.Option)}
    assert ("--output" in options) is (name in OUTPUT)
    if "--output" in options:
        assert (options["--output"].help or "").startswith("Folder of all results")
    assert ("-s" in options) is (name in PATHS)
    if "-s" in options:
        assert options["-s"].metavar == "PATH=VALUE"


@pytest.mark.parametrize("name", ["certify", "theory"])
def test_the_former_name_of_into_is_deprecated(
    name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    present = words(name, folder, tmp_path)
    index = present.index("--into")
    joined = [*present[:index], f"--output={present[index + 1]}"]
    assert "deprecated" not in printed(present, capsys)[1]
    former = [*present[:index], "--output", *present[index + 1 :]]
    assert printed(former, capsys)[1] == "warning: --output is deprecated; use --into\n"
    assert printed([*joined, "-q"], capsys) == ("", "")
    assert list((tmp_path / "exact").iterdir())


def test_quiet_still_prints_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "absent.yaml"), "-q"]) == 2
    assert "absent.yaml" in capsys.readouterr().err
    assert main(["check", "quickstart", str(tmp_path / "absent.yaml"), "--json"]) == 2
    good, bad = json.loads(capsys.readouterr().out)
    assert (good["cells"], good["faults"]) == (6, [])
    assert "absent.yaml" in bad["faults"][0]


@pytest.mark.parametrize("name", ["solve", "report", "status", "check", "verify", "compare"])
def test_an_impossible_file_name_is_reported_as_missing(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "x" * 300
    assert main([name, long, *([long] if name == "compare" else [])]) == 2
    assert f"{long}: no such file" in capsys.readouterr().err


def test_a_run_prints_the_bounds_that_it_has_stored(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rounded bound would not be proved."""
    config = [str(folder.parent / "small.yaml"), "--output", str(folder.parent)]
    (results,) = json.loads(printed(["run", *config, "--json"], capsys)[0])
    with Reader.open(folder) as reader:
        stored = [row["margin_lower"] for row in reader.rows()]
    assert [row["margin_lower"] for row in results["rows"]] == stored


def test_a_required_option_that_is_absent_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "results/my"]) == 2
    assert "Missing option '--into'" in capsys.readouterr().err
