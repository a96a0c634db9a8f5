"""A thinned sample gives the same report, takes less, and is read like any other."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from perceptron_lab import report, run, verify
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.reader import Reader
from scripts import thin_samples
from scripts.thin_samples import main, remove_large_rows, where_recorded, with_palette

CONFIG = {
    "experiment": "small",
    "problems": [{"dataset": "streams", "margin": 0.1, "rows": 20}],
    "algorithms": [{"name": "online-perceptron", "parameters": {"passes": 3}}],
    "report": {"tables": ["mistakes"], "figures": ["mistakes"]},
}


def measures(folder: Path) -> set[str]:
    with Reader.open(folder) as reader:
        traces = [reader.trace(planned.cell) for planned, _ in reader.runs()]
    return {name for trace in traces if trace is not None for name in trace.measures}


@pytest.mark.slow
@pytest.mark.long
def test_a_sample_is_thinned_to_what_its_report_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run(CONFIG, output=tmp_path).folder
    tables = {path: path.read_bytes() for path in folder.glob("mistakes.*")}
    full = measures(folder)
    main([str(folder)])
    assert capsys.readouterr().out.startswith(f"{folder}: 0.")
    assert schema.path_of(folder).name == schema.PACKED
    assert not (folder / schema.NAME).exists()
    assert set() < measures(folder) < full
    with Image.open(folder / "mistakes.png") as picture:
        assert picture.mode == "P"
    report(folder)
    assert {path: path.read_bytes() for path in folder.glob("mistakes.*")} == tables
    assert set(verify(folder).counts) == {"PROVED"}
    packed = schema.path_of(folder).read_bytes()
    main([str(folder)])
    assert schema.path_of(folder).read_bytes() == packed


def test_unrequested_records_are_nan_except_for_the_last() -> None:
    arrays = {"updates": np.array([0, 1, 2, 4]), "measure.x": np.arange(4.0)}
    values = where_recorded(arrays, "measure.x", [1])["measure.x"]
    np.testing.assert_array_equal(values, [np.nan, 1.0, np.nan, 3.0])
    counts = {"updates": arrays["updates"], "measure.x": np.arange(4)}
    assert where_recorded(counts, "measure.x", [1]) is counts


def test_only_a_large_table_of_rows_beside_a_store_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thin_samples, "MOST_BYTES", 5)
    table = tmp_path / "runs.csv"
    table.write_bytes(b"cells\n")
    remove_large_rows(tmp_path)
    assert table.exists()
    (tmp_path / schema.PACKED).touch()
    monkeypatch.setattr(thin_samples, "MOST_BYTES", 6)
    remove_large_rows(tmp_path)
    assert table.exists()
    monkeypatch.setattr(thin_samples, "MOST_BYTES", 5)
    remove_large_rows(tmp_path)
    assert not table.exists()


def test_a_picture_with_few_colours_keeps_its_pixels() -> None:
    picture = Image.new("RGBA", (20, 10), (250, 250, 250, 255))
    picture.putpixel((3, 4), (0, 114, 178, 255))
    content = io.BytesIO()
    picture.save(content, "png")
    few = with_palette(content.getvalue())
    with Image.open(io.BytesIO(few)) as image:
        assert image.mode == "P"
        assert image.convert("RGBA").tobytes() == picture.tobytes()
    assert with_palette(few) == few
