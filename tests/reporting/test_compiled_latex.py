"""LaTeX compiles the tables of the samples, in documents of one column and of two.

Nothing is wider than the line, and no float is higher than the page.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.reader import read_config_of
from perceptron_lab.reporting import report
from tests.repetitions import repeated

SAMPLES = Path(__file__).parents[2] / "results" / "sample"
PACKAGES = "array,booktabs,graphicx,longtable,pdflscape"
PREAMBLE = f"\\usepackage{{{PACKAGES}}}\\extrafloats{{200}}\\begin{{document}}"
TOO_WIDE = 3.0  # points, which nobody sees
SHARES = 16  # of the samples
RUNS = 4  # until the widths of longtables do not change any more


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdflatex"), reason="there is no pdflatex here")
@pytest.mark.parametrize("share", repeated(range(SHARES), kept=1))
def test_every_table_of_the_samples_compiles(tmp_path: Path, share: int) -> None:
    with_tables = set()
    for folder in list(schema.folders_below(SAMPLES))[share::SHARES]:
        copy = tmp_path / folder.name
        copy.mkdir()
        shutil.copy(schema.path_of(folder), copy)
        tables = read_config_of(folder).report.tables
        report.make_report(copy, {"tables": tables}, "")
        with_tables |= {folder.name} if tables else set()
    files = sorted(path.relative_to(tmp_path) for path in tmp_path.glob("*/*.tex"))
    assert {file.parts[0] for file in files} == with_tables
    assert files
    inputs = "".join(f"\\typeout{{{file}}}\\input{{{file}}}\\clearpage\n" for file in files)
    for columns in ("onecolumn", "twocolumn"):
        text = f"\\documentclass[{columns}]{{article}}{PREAMBLE}\n{inputs}\\end{{document}}\n"
        (tmp_path / "all.tex").write_text(text, encoding="utf-8")
        logs = [compiled(tmp_path)]
        while "have changed. Rerun LaTeX" in logs[-1] and len(logs) < RUNS:
            logs.append(compiled(tmp_path))
        assert not misfits(logs[-1]), columns


def compiled(folder: Path) -> str:
    """Return what LaTeX says of the document."""
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "all.tex"]
    ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace")
    assert ended.returncode == 0, ended.stdout[-2000:]
    return ended.stdout


def misfits(log: str) -> list[str]:
    """Return the lines of a log that name boxes too wide for the line, or floats too high."""
    wide = re.findall(r"Overfull \\hbox \((.*?)pt too wide\).*", log)
    return [
        *(value for value in wide if float(value) > TOO_WIDE),
        *re.findall("Float too large.*", log),
    ]


def test_misfits_are_those_of_the_log() -> None:
    log = """Overfull \\hbox (4.5pt too wide) in alignment at lines 1--2
Overfull \\hbox (0.1pt too wide) in paragraph at lines 3--4
LaTeX Warning: Float too large for page by 13.4pt on input line 84."""
    assert misfits(log) == ["4.5", "Float too large for page by 13.4pt on input line 84."]
