"""LaTeX compiles the tables of the samples, in documents of one column and of two."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.reader import read_config_of
from perceptron_lab.reporting import report

SAMPLES = Path(__file__).parents[2] / "results" / "sample"
PREAMBLE = "\\usepackage{booktabs,graphicx,longtable}\\extrafloats{200}\\begin{document}"


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdflatex"), reason="there is no pdflatex here")
def test_every_table_of_the_samples_compiles(tmp_path: Path) -> None:
    for folder in schema.folders_below(SAMPLES):
        copy = tmp_path / folder.name
        copy.mkdir()
        shutil.copy(schema.path_of(folder), copy)
        report.make_report(copy, {"tables": read_config_of(folder).report.tables}, "")
    files = sorted(path.relative_to(tmp_path) for path in tmp_path.glob("*/*.tex"))
    assert len(files) > 50
    inputs = "".join(f"\\input{{{file}}}\\clearpage\n" for file in files)
    for columns in ("onecolumn", "twocolumn"):
        text = f"\\documentclass[{columns}]{{article}}{PREAMBLE}\n{inputs}\\end{{document}}\n"
        (tmp_path / "all.tex").write_text(text, encoding="utf-8")
        words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
        ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout[-2000:]
