"""Paths of modules that earlier versions documented are those of today's modules."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from importlib import import_module

import pytest

from perceptron_lab.core.former_paths import FORMER, present_path

NAMED = (
    "perceptron_lab.errors",
    "perceptron_lab.results",
    "perceptron_lab.system",
    "perceptron_lab.online",
    "perceptron_lab.operators.kernels",
    "perceptron_lab.maxcut.program",
    "perceptron_lab.theory.exhibit",
    "perceptron_lab.resisting.forced",
    *(f"perceptron_lab.{former}" for former in FORMER),
)


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """Leave no former path behind."""
    before = dict(sys.modules)
    yield
    for name in sys.modules.keys() - before.keys():
        if present_path(name):
            del sys.modules[name]


@pytest.mark.parametrize("former", dict.fromkeys(NAMED))
def test_a_former_path_is_the_present_module(former: str) -> None:
    present = present_path(former)
    assert present is not None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module = import_module(former)
    assert {warning.category for warning in caught} == {DeprecationWarning}
    assert str(caught[-1].message) == f"{former} is now {present}; import that"
    assert module is import_module(present)
    assert module.__name__ == present
    assert module.__spec__ is not None
    assert module.__spec__.name == present


def test_names_that_never_existed_are_not_importable() -> None:
    with pytest.raises(ModuleNotFoundError):
        import_module("perceptron_lab.no_such_module")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ModuleNotFoundError):
            import_module("perceptron_lab.online.no_such_module")
