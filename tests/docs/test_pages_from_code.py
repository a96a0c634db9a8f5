"""Every registered algorithm has its page, with all that the code says of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from from_code import algorithm_pages, component_pages, errata, paper_contents, reference
from from_code.algorithm_families import by_family
from from_code.docstrings import as_restructured_text, escaped, running_text, sections
from from_code.parameters import parameters_text

from perceptron_lab import list_names
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.algorithms.rescaling.ellipsoid import Ellipsoid
from perceptron_lab.core import registry
from perceptron_lab.reporting.theory.contents import OPEN, items

NAMES = registry.names("algorithm")


def test_the_list_has_every_algorithm() -> None:
    text = algorithm_pages.index(list_names("algorithms"))
    tree = re.findall(r"^   ([a-z][a-z0-9-]+)$", text, re.MULTILINE)
    assert sorted(tree) == sorted(NAMES)
    assert all(f":doc:`{name}`" in text for name in NAMES)


def test_a_page_has_the_step_the_guarantee_the_parameters_and_a_run(tmp_path: Path) -> None:
    systems = {entry["name"]: entry.get("systems") for entry in list_names("algorithms")}
    text = algorithm_pages.page("perceptron", systems["perceptron"], tmp_path / "pictures")
    assert ":pyobject: Perceptron.step" in text
    assert r"while a cut a with :math:`a^{\prime} x \le 0` exists, add it to x." in text
    assert ".. math::\n\n    \\frac{1}{\\rho^{2}}\n\nSource: Theorem 2.7 (Novikoff)" in text
    assert re.search(r"with the margin that it proved: [\d.]+ updates \(Theorem 2.7", text)
    assert re.search(r"FEASIBLE \(proved\)\n +unit margin in \[[\d.]+, [\d.]+\]", text)
    assert "``initial``" in text
    assert r"*zero \| barycentre*; default ``zero``" in text
    assert "`Kharechko2009`, Algorithm 1, Theorem 2.7." in text
    for ending in ("", "-dark"):
        picture = (tmp_path / "pictures" / f"perceptron{ending}.svg").read_text(encoding="utf-8")
        assert picture.rstrip().endswith("</svg>")


@pytest.mark.parametrize("kind", component_pages.KINDS)
def test_every_component_has_a_section(kind: str) -> None:
    text = component_pages.page(kind, component_pages.KINDS[kind])
    headings = re.findall(r"^(\S+)\n-{2,}$", text, re.MULTILINE)
    assert headings == registry.names(kind.removesuffix("s"))


def test_errata_are_those_of_places_that_the_code_cites() -> None:
    indices = {claim.place for claim in errata.of(Ellipsoid)}
    assert {"Theorem 2.9", "footnote 9"} <= indices
    assert "Theorem 2.10" not in indices
    assert errata.of(Perceptron) == []
    assert errata.table(Perceptron) == ""
    assert "false near rho = 1" in errata.table(Ellipsoid)


def test_every_item_of_the_papers_has_a_row_and_what_is_open_is_marked() -> None:
    lines = paper_contents.page().splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| ---")]
    rows = [row for row in rows if not row.startswith("| item |")]
    for row, item in zip(rows, items(), strict=True):
        assert row.startswith(f"| {item.item} | {item.content} | ")
        assert ("**open**" in row) == (item.location == OPEN)
        assert item.module in row
    assert paper_contents.PAGE.read_text(encoding="utf-8") == paper_contents.page()


def test_mathematics_in_docstrings_is_no_markup() -> None:
    assert escaped("A*y, |a| and x_ of ``a*b``") == r"A\*y, \|a\| and x\_ of ``a*b``"
    assert escaped("2 ``k``^2 and p``q``") == "2 ``k``\\ ^2 and p\\ ``q``"
    assert escaped("a of :class:`.State` and `Kharechko2009`*") == (
        "a of :class:`.State` and `Kharechko2009`\\*"
    )
    text = "First.\n\n    x <- x + b\n\nlast."
    assert running_text(text) == "First.\n\n.. math::\n\n    x \\leftarrow x + b\n\nlast."
    text = "First.\n\n    plab list\n\nlast."
    assert running_text(text) == "First.\n\n.. code-block:: text\n\n    plab list\n\nlast."


def test_every_algorithm_is_in_a_family_and_solvers_are_apart() -> None:
    families = by_family()
    assert sorted(name for names in families.values() for name in names) == sorted(NAMES)
    assert all(families.values())
    assert {"highs", "csdp", "svc"} <= set(families["Wrapped solvers"])
    assert families["Perceptrons"][0] == "perceptron"
    assert "postprocessed" in families["Combinations"]


def test_the_reference_has_a_page_per_module_and_lists_every_name(tmp_path: Path) -> None:
    reference.write(tmp_path)
    listed = reference.index()
    for module, names in reference.public_names().items():
        assert all(f"<{module}.{name}>`" in listed for name in names)
    for module in reference.BEYOND:
        assert f".. currentmodule:: {module}" in (tmp_path / f"{module}.rst").read_text()


def test_sections_of_a_docstring_are_kept_in_order() -> None:
    parameters = "Parameters\n----------\na, b\n    Of *this*."
    doc = f"Sum.\n\nMore.\n\n{parameters}\n\nExamples\n--------\n>>> 2*3"
    assert list(sections(doc)) == ["", "Parameters", "Examples"]
    text = as_restructured_text(doc)
    assert "Of \\*this\\*." in text
    assert ">>> 2*3" in text
    assert text.index("Parameters") < text.index("Examples")


def test_parameters_have_meaning_range_and_default() -> None:
    parameters = [
        {"parameter": "a", "allowed": "number > 0", "default": "1.0", "meaning": ""},
        {"parameter": "c", "allowed": "x | y", "default": "x", "meaning": ""},
    ]
    text = parameters_text("a\n    The length, > 0.\n    Of a step.", parameters)
    assert text.startswith("``a``\n    The length, > 0.\n    Of a step.\n")
    assert "*number > 0*; default ``1.0``" in text
    assert "``c``\n    *x \\| y*; default ``x``" in text
