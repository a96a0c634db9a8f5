"""Lists are made from sources: nothing heavy is imported, and nothing is left out."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from perceptron_lab.algorithms.base import Algorithm, State
from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError
from perceptron_lab.core.registry import register
from perceptron_lab.experiments.configuration.catalogue import declared, list_names

pytestmark = pytest.mark.usefixtures("user_registrations")
KINDS = ("algorithm", "learner", "oracle", "dataset", "table", "figure")
HEAVY = ("numpy", "scipy", "pandas", "matplotlib", "numba", "pydantic", "perceptron_lab.systems")

OWN = '''
raise RuntimeError("it was imported")

class Own:
    """Mine. Really.

    Of my own.
    """
    systems = {"runs": "rows"}
'''
FUNCTION = '''
def Own(evidence):
    """Count my rows.

    All."""
    systems = evidence.systems
    return systems
'''
COMPUTED = '''
from perceptron_lab.algorithms.base import Algorithm
KINDS = ["rows", "product"]

class Own(Algorithm):
    """Mine."""
    systems = {"runs": " ".join(KINDS)}
'''
INHERITED = '''
from perceptron_lab.algorithms.base import Algorithm
class Base(Algorithm):
    """The base's."""
    systems = {"theorem": "kernel"}

class Own(Base):
    pass
'''


class Plain:
    """A class from a notebook, which declares nothing."""


class Wrong(Algorithm[State]):
    """It declares what is none."""

    systems: ClassVar[Any] = {"perhaps": "rows"}


class Words(Algorithm[State]):
    """It declares words."""

    systems: ClassVar[Any] = "rows"


@pytest.mark.parametrize("kind", KINDS)
def test_declarations_in_the_source_equal_those_of_the_class(kind: str) -> None:
    for name in registry.names(kind):
        assert declared(kind, name).documentation == inspect.getdoc(registry.load(kind, name))


def test_listing_loads_nothing_that_is_heavy() -> None:
    code = f"""
import sys
from perceptron_lab.cli.main import main
for kind in {KINDS}:
    main(["list", kind + "s"])
    print(kind, [name for name in {HEAVY} if name in sys.modules])
"""
    root = Path(registry.__file__).parents[1]
    completed = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True
    )
    loaded = [line for line in completed.stdout.splitlines() if line.endswith("]")]
    assert loaded == [f"{kind} []" for kind in KINDS], completed.stderr


def module(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> str:
    """Write a module of a user's own and return the target that is registered."""
    name = f"own_{folder.name.replace('-', '_')}"
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    return f"{name}:Own"


def test_a_module_of_a_user_is_parsed_and_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register("algorithm", "own", module(tmp_path, monkeypatch, OWN))
    assert list_names("algorithms")[-1] == {
        "name": "own",
        "summary": "Mine. Really.",
        "systems": {"rows": "runs"}
        | dict.fromkeys(["kernel", "second-order", "semidefinite", "product"], "-"),
    }
    assert declared("algorithm", "own").documentation.endswith("\n\nOf my own.")


@pytest.mark.parametrize(
    ("text", "summary", "where"),
    [(COMPUTED, "Mine.", ["rows", "product"]), (INHERITED, "The base's.", ["kernel"])],
)
def test_declarations_that_are_no_literals_are_loaded(
    text: str, summary: str, where: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register("algorithm", "own", module(tmp_path, monkeypatch, text))
    declared_packages = declared("algorithm", "own")
    assert declared_packages.systems is not None
    assert declared_packages.summary == summary
    assert [kind for kind, holds in declared_packages.systems.items() if holds != "-"] == where


def test_a_function_of_a_user_is_parsed_and_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = OWN.partition("class")[0] + FUNCTION
    register("table", "own", module(tmp_path, monkeypatch, text))
    assert list_names("tables")[-1] == {"name": "own", "summary": "Count my rows."}


def test_a_class_that_declares_nothing_is_listed() -> None:
    register("algorithm", "own", Plain)
    assert list_names("algorithms")[-1] == {
        "name": "own",
        "summary": "A class from a notebook, which declares nothing.",
    }


@pytest.mark.parametrize("kind", [Wrong, Words])
def test_invalid_declarations_are_refused(kind: type) -> None:
    register("algorithm", "own", kind)
    with pytest.raises(ConfigError, match=r"'own' declares systems = .*give a mapping of theorem"):
        declared("algorithm", "own")
