"""``make test-lowest`` runs what it says: the oldest release of each dependency allowed."""

from __future__ import annotations

import os
from importlib.metadata import requires, version

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

DEPENDENCIES = [Requirement(line) for line in requires("perceptron-lab") or []]
"""What the package asks for, with that of its extras."""


def lowest(requirement: Requirement) -> Version:
    """Return the version in ``name>=version``."""
    (bound,) = requirement.specifier
    assert bound.operator == ">=", f"{requirement} has no lower bound alone"
    return Version(bound.version)


@pytest.mark.parametrize(
    "requirement", [r for r in DEPENDENCIES if r.marker is None], ids=lambda r: r.name
)
def test_a_dependency_is_not_older_than_allowed(requirement: Requirement) -> None:
    installed = Version(version(requirement.name))
    assert installed >= lowest(requirement)
    if os.environ.get("PLAB_TEST_LOWEST"):
        assert installed == lowest(requirement)


def test_no_dependency_asks_for_a_release_of_this_year() -> None:
    """An environment that exists can take the package in."""
    newest = {"numpy": "2.0", "pandas": "2.2.2", "scikit-learn": "1.6", "scipy": "1.14"}
    bounds = {r.name: lowest(r) for r in DEPENDENCIES if r.name in newest}
    assert bounds == {name: Version(bound) for name, bound in newest.items()}
