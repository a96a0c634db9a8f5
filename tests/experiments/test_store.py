"""The folder of results, as text and as a frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.errors import ConfigError, DataError
from perceptron_lab.experiments.store import (
    COLUMNS,
    Store,
    parsed,
    read_config_of,
    rendered,
    replace_file,
)
from tests.experiments.conftest import Configure


def row(**changes: Any) -> dict[str, Any]:
    return {"cell": "1234567890123456", "problem": "p", "seed": 0, "proved": True} | changes


def test_rows_are_in_the_order_of_the_plan(configure: Configure, tmp_path: Path) -> None:
    store = Store(tmp_path, configure(), {"id": "e"})
    for position in (2, 0, 1):
        store.add(position, row(problem=f"p{position}"), None)
    assert [r["problem"] for r in store.rows] == ["p0", "p1", "p2"]
    frame = parsed((tmp_path / "runs.csv").read_text())
    assert list(frame["problem"]) == ["p0", "p1", "p2"]


def test_nothing_is_written_before_the_first_row(configure: Configure, tmp_path: Path) -> None:
    Store(tmp_path / "deep" / "er", configure(), {})
    assert [path.name for path in (tmp_path / "deep" / "er").iterdir()] == ["cells"]


def test_text_stays_text_and_nothing_stays_nothing() -> None:
    frame = parsed(
        rendered([row(cell="12e4567890123456", problem="NA", label="null", updates=None)])
    )
    assert list(frame.loc[0, ["cell", "problem", "label", "message"]]) == [
        "12e4567890123456",
        "NA",
        "null",
        "",
    ]
    assert frame["updates"].isna().all()


def test_truth_values_and_line_breaks(tmp_path: Path) -> None:
    text = rendered([row(message='a, "b"\nc'), row(proved=False)])
    assert text.splitlines()[0] == ",".join(COLUMNS)
    assert ",true," in text
    assert ",false," in text
    assert parsed(text)["message"].tolist() == ['a, "b"\nc', ""]


def test_measures_follow_in_their_order() -> None:
    text = rendered([row(**{"measure.b": 1.5}), row(**{"measure.a": 2})])
    assert text.splitlines()[0] == ",".join([*COLUMNS, "measure.a", "measure.b"])
    assert parsed(text)["measure.b"].tolist()[0] == 1.5


def test_numbers_are_written_in_full() -> None:
    third = 1 / 3
    assert parsed(rendered([row(seconds=third)]))["seconds"].tolist() == [third]


def test_the_configuration_comes_back(configure: Configure, tmp_path: Path) -> None:
    config = configure(goal={"margin_ratio": 0.5})
    Store(tmp_path, config, {}).add(0, row(), None)
    assert read_config_of(tmp_path) == config


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (None, DataError, "no results there; `plab run CONFIG` makes them"),
        ("{", ConfigError, "damaged"),
        ("{}", ConfigError, "experiment: missing; it must be given"),
    ],
)
def test_a_folder_without_results(
    tmp_path: Path, content: str | None, error: type[Exception], message: str
) -> None:
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(error, match=message):
        read_config_of(tmp_path)


def test_a_failing_write_leaves_the_earlier_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.csv"
    replace_file(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["runs.csv"]


def test_rows_of_an_earlier_run_stay_if_the_first_new_one_cannot_be_written(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store(tmp_path, configure(), {"id": "e"}).add(0, row(), None)
    before = (tmp_path / "runs.csv").read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        Store(tmp_path, configure(), {"id": "f"}).add(0, row(problem="q"), None)
    assert (tmp_path / "runs.csv").read_bytes() == before
