"""The pages of packages and of what is public say what pyproject.toml and the code say."""

from __future__ import annotations

import re
from importlib import metadata

import pytest

from perceptron_lab.core.errors import MissingPackageError
from perceptron_lab.core.former_paths import FORMER
from perceptron_lab.core.missing_packages import requirement
from tests.docs.weights import DEPENDENCIES, PROJECT, weights
from tests.prose.pages import PAGES

INSTALLING, PUBLIC = PAGES["docs/installing.md"], PAGES["docs/public.md"]
TOLD = dict(re.findall(r"^\| ([\w-]+) \| (?:[\d.]+) \| ([\d.]+) \|", INSTALLING, re.MULTILINE))
VERSIONS = dict(re.findall(r"^\| ([\w-]+) \| ([\d.]+) \|", INSTALLING, re.MULTILINE))


def test_every_dependency_has_its_line() -> None:
    assert list(TOLD) == DEPENDENCIES


def test_the_page_states_the_sizes_of_packages() -> None:
    if any(metadata.version(name) != version for name, version in VERSIONS.items()):
        pytest.skip("other releases are installed than those of the page")
    sizes = weights()
    expected = {name: pytest.approx(size, rel=0.1, abs=0.1) for name, size in sizes.items()}
    assert {name: float(text) for name, text in TOLD.items()} == expected


def test_every_extra_is_named() -> None:
    assert all(f"`{extra}`" in INSTALLING for extra in PROJECT["optional-dependencies"])


def test_the_documented_installation_error_is_the_real_one() -> None:
    (message,) = re.findall(r"``(scs is not .*?) ``", INSTALLING)
    assert message == str(MissingPackageError("scs", requirement("scs")))


def test_the_table_of_former_paths_is_complete() -> None:
    rows = re.findall(r"^\| `perceptron_lab\.(\S+)` \| `perceptron_lab\.(\S+)` \|$", PUBLIC, re.M)
    assert dict(rows) == FORMER
    assert len(rows) == len(FORMER)
