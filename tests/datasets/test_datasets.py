"""The registered datasets, as configurations use them."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.datasets.dataset import Dataset, check_instance_name
from perceptron_lab.datasets.formats.sdpa import parse_sdpa
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.systems.pencil import format_sdpa, write_sdpa

SMALL = parse_sdpa("2\n2\n2 -2\n1 1\n0 1 1 2 1\n1 1 1 1 1\n2 1 2 2 1\n0 2 1 1 -1\n2 2 2 2 1\n")


def make(dataset: str, **parameters: Any) -> Any:
    kind = registry.load("dataset", dataset)
    return TypeAdapter(kind).validate_json(json.dumps(parameters))


def reasons(dataset: str, **parameters: Any) -> list[tuple[tuple[Any, ...], str]]:
    with pytest.raises(ValidationError) as caught:
        make(dataset, **parameters)
    return [(error["loc"], error["msg"]) for error in caught.value.errors()]


@pytest.mark.parametrize("dataset", ["sdplib", "sdpa", "maxcut"])
def test_docstrings_serve_as_help(dataset: str) -> None:
    summary, _, rest = (registry.load("dataset", dataset).__doc__ or "").partition("\n")
    assert 20 < len(summary) < 100
    assert "Parameters" in rest


@pytest.mark.parametrize("dataset", registry.names("dataset"))
def test_they_keep_the_contract(dataset: str) -> None:
    kind = registry.load("dataset", dataset)
    assert issubclass(kind, Dataset)
    assert not kind.__abstractmethods__


def test_sdplib_states_licence_and_citation() -> None:
    text = registry.load("dataset", "sdplib").__doc__
    assert "Licence:" in text
    assert "Borchers" in text


def test_names_need_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "perceptron_lab.datasets.collections.semidefinite_programs.read_registered", None
    )
    assert make("sdplib", instances=["mcp100", "maxG60"]).names() == ["mcp100", "maxG60"]
    assert make("maxcut", instances=["torus-3x4"]).names() == ["torus-3x4"]
    files = ["a.dat-s", "deep/folder/b-2.dat-s", "../other.txt"]
    assert make("sdpa", files=files).names() == ["a", "b-2", "other.txt"]


@pytest.mark.parametrize(
    ("dataset", "parameters", "location", "reason"),
    [
        ("sdplib", {"instances": ["mcp100", "maxG5"]}, ("instances", 1), "did you mean 'maxG55'?"),
        ("sdplib", {"instances": ["mcp100.dat-s"]}, ("instances", 0), "did you mean 'mcp100'?"),
        (
            "sdplib",
            {"instances": ["control9"]},
            ("instances", 0),
            "no registered SDPLIB instance is called 'control9'",
        ),
        ("sdplib", {"instances": []}, ("instances",), "name at least one"),
        ("sdplib", {"instances": ["mcp100", "mcp100"]}, ("instances",), "more than once"),
        ("sdplib", {"instances": "mcp100"}, ("instances",), "valid array"),
        ("sdplib", {"instances": [100]}, ("instances", 0), "valid string"),
        ("sdplib", {}, ("instances",), "required"),
        ("sdplib", {"instances": ["mcp100"], "files": []}, ("files",), "Unexpected"),
        ("maxcut", {"instances": ["random-5-11"]}, ("instances", 0), "have 10 pairs"),
        ("maxcut", {"instances": ["mcp100"]}, ("instances", 0), "random-VERTICES-EDGES"),
        ("sdpa", {"files": []}, ("files",), "name at least one"),
        ("sdpa", {"files": ["a/x.dat-s", "b/x.dat-s"]}, ("files",), "x occurs more than once"),
        ("sdpa", {"files": ["my file.dat-s"]}, ("files", 0), "rename the file"),
        ("sdpa", {"files": [".."]}, ("files", 0), "rename the file"),
        ("sdpa", {"files": [".dat-s"]}, ("files", 0), "rename the file"),
        ("sdpa", {"files": ["x" * 65]}, ("files", 0), "1 to 64"),
    ],
)
def test_invalid_parameters_are_named_with_their_location(
    dataset: str, parameters: dict[str, Any], location: tuple[Any, ...], reason: str
) -> None:
    faults = reasons(dataset, **parameters)
    assert [at for at, _ in faults] == [location]
    assert reason in faults[0][1]


def test_a_problem_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    write_sdpa(SMALL, tmp_path / "deep" / "mine.dat-s")
    dataset = make("sdpa", files=["deep/mine.dat-s"])
    problem: Problem = dataset.load("mine", seed=7, base=tmp_path)
    assert problem.name == "mine"
    assert problem.sha256 == hashlib.sha256(format_sdpa(SMALL).encode()).hexdigest()
    assert problem.facts.dimension == 3
    assert problem.facts.rank == 1 + 2 + 2
    assert problem.measure is None
    # x_0 = 1, x = (3, 2): [[3, -1], [-1, 2]] and (1, 2) are positive.
    assert problem.system.operator.scores(np.array([1.0, 3.0, 2.0])).tolist() == [1, 3, -1, 2, 1, 2]


def test_a_missing_or_damaged_file(tmp_path: Path) -> None:
    dataset = make("sdpa", files=["mine.dat-s"])
    with pytest.raises(DataError, match=r"mine\.dat-s: no such file; check the path"):
        dataset.load("mine", seed=0, base=tmp_path)
    (tmp_path / "mine.dat-s").write_text("1\n1\n2\n1\n0 1 1 3 1\n")
    with pytest.raises(DataError, match=r"mine\.dat-s:5: row 1, column 3 lies outside block 1"):
        dataset.load("mine", seed=0, base=tmp_path)
    with pytest.raises(ConfigError, match="did you mean 'mine'"):
        dataset.load("mime", seed=0, base=tmp_path)


def test_a_generated_problem(tmp_path: Path) -> None:
    dataset = make("maxcut", instances=["random-8-12", "torus-3x4"])
    problem: Problem = dataset.load("random-8-12", seed=1, base=tmp_path)
    same = dataset.load("random-8-12", seed=1, base=tmp_path)
    other = dataset.load("random-8-12", seed=2, base=tmp_path)
    text = format_sdpa(generate("random-8-12", 1))
    assert problem.sha256 == same.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert other.sha256 != problem.sha256
    assert problem.facts.dimension == 9
    assert problem.facts.rank == 9


def test_a_problem_of_sdplib(sdplib_mirror: Path, tmp_path: Path) -> None:
    problem: Problem = make("sdplib", instances=["mcp100"]).load("mcp100", seed=0, base=tmp_path)
    assert problem.name == "mcp100"
    content = (sdplib_mirror / "mcp100.dat-s").read_bytes()
    assert problem.sha256 == hashlib.sha256(content).hexdigest()
    assert problem.facts.dimension == 101
    assert problem.facts.rank == 101


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "ä", "x" * 65, "a\n"])
def test_names_that_cannot_name_an_instance(name: str) -> None:
    with pytest.raises(ValueError, match="cannot name an instance"):
        check_instance_name(name)
