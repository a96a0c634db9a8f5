"""Names stand for classes; unknown and taken names are refused with a hint."""

from __future__ import annotations

import inspect
import sys

import pytest

from perceptron_lab.cones.orthant import Cyclic
from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError
from perceptron_lab.core.registry import register

pytestmark = pytest.mark.usefixtures("user_registrations")
KINDS = ["algorithm", "learner", "oracle", "dataset"]


class Mine:
    """A user's own algorithm."""


@pytest.mark.parametrize("kind", KINDS)
def test_every_registered_name_can_be_loaded(kind: str) -> None:
    names = registry.names(kind)
    assert names
    assert len(set(names)) == len(names)
    for name in names:
        target = registry.load(kind, name)
        assert inspect.isclass(target)
        assert name == name.lower()
        assert "_" not in name
        assert inspect.getdoc(target)


def test_the_names_of_the_thesis_are_there() -> None:
    assert {"perceptron", "ellipsoid", "rescaled-perceptron"} <= set(registry.names("algorithm"))
    assert {"most-violated", "cyclic", "pivoted-cholesky"} <= set(registry.names("oracle"))
    assert {"sdplib", "sdpa", "maxcut"} <= set(registry.names("dataset"))


@pytest.mark.parametrize(
    "name",
    [
        "normalized-perceptron",
        "smoothed-perceptron",
        "von-neumann",
        "smoothed-von-neumann",
        "iterated-smoothed-von-neumann",
        "winnow",
        "mirror-prox",
        "adaptive-mirror-prox",
    ],
)
def test_the_names_of_the_papers_on_feasibility_are_there(name: str) -> None:
    assert registry.name_of("algorithm", registry.load("algorithm", name)()) == name


@pytest.mark.parametrize("name", registry.names("oracle"))
def test_the_name_of_a_record_is_that_of_its_class(name: str) -> None:
    assert registry.name_of("oracle", registry.load("oracle", name)()) == name


def test_a_record_that_is_not_registered_has_the_name_of_its_class() -> None:
    assert registry.name_of("algorithm", Mine()) == "Mine"
    register("algorithm", "mine", Mine)
    assert registry.name_of("algorithm", Mine()) == "mine"


@pytest.mark.parametrize(
    ("kind", "name", "hint"),
    [
        ("algorithm", "perceptrn", "did you mean 'perceptron'"),
        ("oracle", "pivoted_cholesky", "did you mean 'pivoted-cholesky'"),
        ("dataset", "maxcuts", "did you mean 'maxcut'"),
        ("algorithm", "zzz", "`plab list algorithms` lists them"),
        ("algorithm", "", "`plab list algorithms` lists them"),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_names(kind: str, name: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=f"unknown {kind} {name!r}") as caught:
        registry.load(kind, name)
    assert hint in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_no_hint_where_nothing_is_close() -> None:
    with pytest.raises(ConfigError) as caught:
        registry.load("algorithm", "zzz")
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize("target", [Mine, f"{__name__}:Mine"])
def test_a_class_of_a_user_is_loaded_by_its_name(target: str | type) -> None:
    register("algorithm", "mine", target)
    assert registry.names("algorithm")[-1] == "mine"
    loaded = registry.load("algorithm", "mine")
    assert (loaded.__name__, loaded.__doc__) == (Mine.__name__, Mine.__doc__)
    assert "mine" not in registry.names("oracle")


def test_additions_are_what_users_have_registered() -> None:
    assert registry.additions() == []
    register("dataset", "mine", Mine)
    register("algorithm", "late", "perceptron_lab_of_someone_else:Late")
    assert registry.additions() == [
        ("algorithm", "late", "perceptron_lab_of_someone_else:Late"),
        ("dataset", "mine", Mine),
    ]


def test_one_name_may_be_used_once_per_kind() -> None:
    register("algorithm", "cyclic", Mine)
    assert registry.load("oracle", "cyclic") is Cyclic
    with pytest.raises(ConfigError, match="'cyclic' is registered already; choose another"):
        register("algorithm", "cyclic", Mine)
    with pytest.raises(ConfigError, match="algorithm 'perceptron' is registered already"):
        register("algorithm", "perceptron", Mine)


def test_only_registered_additions_can_be_removed() -> None:
    register("algorithm", "mine", Mine)
    registry.unregister("algorithm", "mine")
    assert registry.additions() == []
    register("algorithm", "mine", Mine)
    with pytest.raises(ConfigError, match="unknown oracle 'mine'"):
        registry.unregister("oracle", "mine")
    with pytest.raises(ConfigError, match="'perceptron' is the package's own; only additions"):
        registry.unregister("algorithm", "perceptron")
    assert registry.names("algorithm")[-1] == "mine"


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown kind 'solver'; known: algorithm, learner"):
        register("solver", "mine", Mine)


def test_a_target_is_not_imported_before_it_is_used() -> None:
    register("algorithm", "late", "perceptron_lab_of_someone_else:Late")
    assert "late" in registry.names("algorithm")
    assert "perceptron_lab_of_someone_else" not in sys.modules


def test_a_target_without_a_class_is_refused() -> None:
    with pytest.raises(ConfigError, match="module:name"):
        registry.register("algorithm", "mine", "nomodule")
