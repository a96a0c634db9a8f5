"""Results stay inside the folder that was chosen."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments.storage.results_folder import output_folder

ESCAPES = [
    "..",
    ".",
    "",
    "../x",
    "a/b",
    "/etc",
    "a\0b",
    "a\n",
    ".hidden",
    "-x",
    "x" * 65,
    "a b",
    "ä",
    "١",
    "a\\b",
    "C:x",
    "~",
]


@pytest.mark.parametrize("name", ESCAPES)
def test_a_name_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot name a folder; allowed: 1 to 64 letters"):
        output_folder(tmp_path, name)


@given(name=st.text(max_size=70) | st.text("./~-_aZ0\\\0\n ", max_size=8))
def test_any_name_is_a_folder_directly_below_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    root = tmp_path_factory.getbasetemp()
    try:
        folder = output_folder(root, name)
    except ConfigError:
        return
    assert folder.resolve().parent == root.resolve()
    assert folder.name == name


def test_checking_creates_no_folder(tmp_path: Path) -> None:
    assert output_folder(tmp_path / "results", "one") == tmp_path / "results" / "one"
    assert list(tmp_path.iterdir()) == []


def test_a_link_that_leads_outside_is_refused(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "results", tmp_path / "elsewhere"
    root.mkdir()
    elsewhere.mkdir()
    (root / "one").symlink_to(elsewhere)
    (root / "relative").symlink_to("../elsewhere")
    (root / "dangling").symlink_to(tmp_path / "nothing")
    for name in ("one", "relative", "dangling"):
        with pytest.raises(ConfigError, match=f"{name} is a link to .*, outside .*; delete the"):
            output_folder(root, name)


def test_a_neighbour_that_begins_alike_is_outside(tmp_path: Path) -> None:
    root = tmp_path / "results"
    root.mkdir()
    (tmp_path / "results-old").mkdir()
    (root / "one").symlink_to(tmp_path / "results-old")
    with pytest.raises(ConfigError, match="outside"):
        output_folder(root, "one")


def test_the_chosen_folder_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "results").symlink_to(tmp_path / "disk")
    assert output_folder(tmp_path / "results", "one") == tmp_path / "results" / "one"


def test_a_link_inside_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").symlink_to("one")
    assert output_folder(tmp_path, "two") == tmp_path / "two"


def test_a_circle_of_links_and_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "file").write_text("kept")
    for name in ("circle", "file"):
        with pytest.raises(ConfigError, match="--output"):
            output_folder(tmp_path, name)
    assert (tmp_path / "file").read_text() == "kept"
