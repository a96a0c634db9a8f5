"""The examples in docstrings: each module that has some is run."""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import perceptron_lab

ROOT = Path(__file__).parents[1]
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted((ROOT / "perceptron_lab").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.fixture(scope="module", autouse=True)
def _run_once() -> Iterator[None]:
    """Examples of several modules begin with the same run, whose report takes a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(perceptron_lab, "run", cache(perceptron_lab.run))
        yield


@pytest.mark.usefixtures("user_registrations")
@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run_as_shown(
    name: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path_factory.getbasetemp() / "examples"  # an experiment is run once
    shared.mkdir(exist_ok=True)
    monkeypatch.chdir(shared)
    module = import_module(name.removesuffix(".__init__"))
    examples = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    assert examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    output: list[str] = []
    failed = sum(runner.run(test, out=output.append).failed for test in examples)
    assert failed == 0, "".join(output)


def test_every_public_object_has_examples() -> None:
    names = [name for name in perceptron_lab.__all__ if name != "__version__"]
    without = [n for n in names if ">>> " not in (getattr(perceptron_lab, n).__doc__ or "")]
    assert not without
