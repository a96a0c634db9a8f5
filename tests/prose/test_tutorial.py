"""The code of the tutorial and of the extending pages runs, and prints what the pages show."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
from from_code import notebooks, tutorial

from tests.prose.pages import ROOT, blocks
from tests.repetitions import repeated

EXPERIMENT = tutorial.DOCS / "tutorial" / "experiment.md"
CHEAP = [path for path in tutorial.PAGES if path != EXPERIMENT]


def agrees(path: Path) -> tutorial.Page:
    """Run a page and compare its output."""
    page = tutorial.run(path)
    assert page.text == path.read_text(encoding="utf-8"), "run python docs/from_code/tutorial.py"
    assert page.missing == []
    return page


@pytest.mark.parametrize("path", CHEAP, ids=lambda path: path.stem)
def test_a_page_prints_what_it_shows(path: Path) -> None:
    page = agrees(path)
    if path.parent.name == "tutorial":
        assert page.variables["draw"]().axes


@pytest.mark.slow  # a run of six cells
def test_the_experiment_prints_what_its_page_shows() -> None:
    assert agrees(EXPERIMENT).variables["draw"]().axes


def test_the_tutorial_has_five_pages_with_exercise_and_solution() -> None:
    pages = [path for path in tutorial.PAGES if path.parent.name == "tutorial"]
    index = (tutorial.DOCS / "tutorial.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\(tutorial/(\S+)\.md\)", index)) == [path.stem for path in pages]
    assert len(pages) == 5
    for path in pages:
        solution = path.read_text(encoding="utf-8").partition("## Exercise\n")[2]
        assert "<summary>Solution</summary>" in solution
        assert "```" in solution.partition("<summary>")[2]


@pytest.mark.parametrize(
    "path", [p for p in tutorial.PAGES if p.parent.name == "extending"], ids=lambda path: path.stem
)
def test_an_extending_page_has_a_complete_file_that_registers(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    file = blocks(name, "python")[0]
    assert re.match(r"# \w+\.py\n", file)
    assert 20 <= len(file.splitlines()) <= 40
    assert f'register("{path.stem}", ' in file


def test_wrong_output_is_detected() -> None:
    page = tutorial.run_blocks("```python\nprint(2)\n```\n\n```text\n3\n```\n", {})
    assert page.text.endswith("```text\n2\n```\n")
    shell = "```\nplab list oracles\n```\n\n```text\nno-oracle\n```\n"
    assert tutorial.run_blocks(shell, {}).missing == ["no-oracle"]


def test_names_that_a_page_registers_are_forgotten() -> None:
    from perceptron_lab.core.registry import names

    tutorial.run(tutorial.DOCS / "extending" / "oracle.md")
    assert "diagonal-first" not in names("oracle")


@pytest.mark.parametrize("name", notebooks.PAGES)
def test_a_notebook_is_current(name: str) -> None:
    written = (notebooks.FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    assert written == notebooks.notebook(name), "run python docs/from_code/notebooks.py"


@pytest.mark.parametrize("name", notebooks.PAGES)
def test_a_notebook_has_the_code_of_its_page(name: str) -> None:
    """Its code is that which is run above, so that it runs without a kernel, too."""
    cells = json.loads(notebooks.notebook(name))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    python = [block.strip() for block in blocks(f"docs/tutorial/{name}.md", "python")]
    assert [cell for cell in code if not cell.startswith(("!", "%"))] == python


@pytest.mark.slow  # starts a kernel
@pytest.mark.parametrize(
    "names", repeated([pytest.param(notebooks.PAGES[:1]), pytest.param(notebooks.PAGES)], kept=1)
)
def test_the_notebooks_run_in_a_kernel(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat
    from nbclient import NotebookClient

    # As if it had been started in docs/notebooks
    (tmp_path / "checker").symlink_to(ROOT / "checker")
    folder = tmp_path / "docs" / "notebooks"
    folder.mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    # One after the other, each without the variables of those before it
    joined = nbformat.v4.new_notebook()
    for name in names:
        book = nbformat.reads(notebooks.notebook(name), as_version=4)
        nbformat.validate(book)
        joined.cells += [nbformat.v4.new_code_cell("%reset -f"), *book.cells]
    # pytest's own limit holds; nbclient's would count the seconds that other processes take
    client = NotebookClient(
        joined, timeout=None, startup_timeout=280, resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    figures = [
        sum("image/png" in output.get("data", {}) for output in cell.outputs)
        for cell in joined.cells
        if cell.cell_type == "code" and "def draw()" in cell.source
    ]
    assert figures == [1] * len(names)
