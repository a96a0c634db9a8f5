"""One table as LaTeX, HTML and Markdown: the same cells, escaped for each."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.reporting import Evidence, report
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import escape, plain
from tests.reporting.artificial_runs import make_row
from tests.reporting.latex_lines import balanced

NASTY = "<b>50% & a_b #1 {x} $y$ ^~|*`</table>"


class Cells(HTMLParser):
    """Collects the tags and the text of each cell of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] in ("td", "th") and data.strip():
            self.texts[-1] += data


@given(st.text(alphabet=st.characters(exclude_characters="`'"), max_size=30))
def test_escaped_text_is_plain_again(text: str) -> None:
    assert plain(escape(text)) == " ".join(text.split())


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        ("$1.25\\cdot10^{-7}$", "1.25·10⁻⁷"),
        ("12$^{\\dagger}$", "12†"),
        ("$\\geq$ 3.00", "≥ 3.00"),
        ("$<$0.001", "<0.001"),
        ("$t \\leq 1.2e-09$", "t ≤ 1.2e-09"),
        ("bias $\\min(10, m / m_+)$", "bias min(10, m / m₊)"),
        ("$\\infty$", "∞"),
        ("``updates'' 3\\,\\%", "“updates” 3 %"),
        ("\\unknown stays", "\\unknown stays"),
    ],
)
def test_the_tex_of_cells_and_notes_is_unicode_elsewhere(tex: str, text: str) -> None:
    assert plain(tex) == text


def test_names_are_escaped_for_each_kind_of_text() -> None:
    columns = [texts("problem", [NASTY]), counts("rows", [3])]
    table = Table("t", columns, notes=[escape(NASTY)])
    page = Cells(table.html(NASTY))
    assert page.tags.count("table") == 1
    assert "b" not in page.tags
    assert page.texts == ["problem", "rows", NASTY, "3"]
    lines = table.markdown(NASTY).splitlines()
    assert lines[2:4] == ["| problem | rows |", "| :-- | --: |"]
    assert len(re.findall(r"(?<!\\)\|", lines[4])) == 3
    assert "\\<b\\>50%" in lines[4]
    assert balanced(table.latex(NASTY))


def test_groups_have_their_name_above_their_columns() -> None:
    columns = [texts("problem", ["a"])]
    columns += [Column(f"{g} n", [1], ["1"], group=g) for g in ("A & B", "C")]
    columns += [Column("C m", [1], ["1"], group="C")]
    table = Table("t", columns)
    assert "\\cmidrule(lr){2-2} \\cmidrule(lr){3-4}" in table.latex("T")
    assert " & A \\& B & \\multicolumn{2}{c}{C} \\\\" in table.latex("T")
    assert 'colspan="2">C</th>' in table.html("T")
    assert "| problem | A & B n | C n | C m |" in table.markdown("T")


@pytest.mark.parametrize("lines", [1, 30, 31])
@pytest.mark.parametrize("long", [False, True])
def test_only_long_tables_that_ask_for_it_are_broken_across_pages(long: bool, lines: int) -> None:
    broken = long and lines > 30
    table = Table("t", [texts("problem", ["a"] * lines)], long=long)
    assert ("\\begin{longtable}" in table.latex("T")) is broken
    assert ("\\begin{table}" in table.latex("T")) is not broken
    wide = Table("t", [counts(f"n{i}", [i] * lines) for i in range(9)], long=long)
    assert ("\\begin{table*}" in wide.latex("T")) is not broken
    assert ("\\resizebox{" in wide.latex("T")) is not broken


def test_a_table_higher_than_a_page_is_broken_too() -> None:
    for lines, notes, broken in ((51, [], False), (52, [], True), (50, ["x" * 85], True)):
        latex = Table("t", [texts("problem", ["a"] * lines)], notes=notes).latex("T")
        assert ("\\begin{longtable}" in latex) is broken
    paragraphs = Column("cause", None, ["word " * 30] * 20, align="p{40mm}")
    assert "\\begin{longtable}" in Table("t", [paragraphs]).latex("T")


def longtables(*columns: Column, keys: int = 1) -> tuple[str, list[str]]:
    """Return the LaTeX of a long table, and the formats of the columns of its longtables."""
    latex = Table("t", columns, keys=keys, long=True).latex("T")
    assert balanced(latex)
    return latex, re.findall(r"begin\{longtable\}\{(.*)\}\n", latex)


def test_a_long_table_is_upright_or_in_landscape_or_divided() -> None:
    def several(count: int) -> list[Column]:
        return [numbers(f"n{i}", [1.25e-17 * i] * 31) for i in range(count)]

    named = [texts("problem", ["a"] * 31), texts("label", [f"l{i}" for i in range(31)])]
    latex, formats = longtables(*named, *several(5))
    assert formats == ["ll" + "r" * 5]
    assert "landscape" not in latex
    latex, formats = longtables(*named, *several(9))
    assert formats == ["ll" + "r" * 9]
    assert latex.count("landscape}") == 2
    assert "pdflscape" in latex
    latex, formats = longtables(*named, *several(15))
    # The label follows the keys in every part
    assert [format[:3] for format in formats] == ["llr", "llr"]
    assert sum(map(len, formats)) == 15 + 2 * 2
    assert latex.count("\\label{tab:t}") == latex.count("\\addtocounter{table}{-1}") == 1
    assert latex.count(" l30 &") == 2


def test_wide_text_is_set_as_paragraphs_that_break_at_hyphens_and_underscores() -> None:
    name = "second-order_centre 50-20x5-0.3-0.01-feasible"
    wide = [texts(column, [f"{name} {i}" for i in range(31)]) for column in "abcd"]
    latex, (formats,) = longtables(*wide, counts("n", range(31)))
    paragraph = r">\{\\raggedright\\arraybackslash\}p\{(\d+)pt\}"
    widths = re.fullmatch(f"{paragraph * 4}r", formats)
    assert widths
    assert len(set(widths.groups())) == 1
    assert "order\\_\\allowbreak{}centre" in latex
    assert "landscape" not in latex


@pytest.mark.parametrize("name", ["table_6_1", "table_2", "conic", "infeasible", "profile"])
def test_no_tex_is_left_outside_of_latex(name: str) -> None:
    rows = [
        make_row("mcp100", "PRA", seconds=1e-5, products=2.5e9),
        make_row("mcp100", "MPLFP", status="TIME_LIMIT", proved=False),
    ]
    table = report.table(name, Evidence.of_runs(pd.DataFrame(rows)))
    assert "$" in table.latex("T")
    assert not set("$\\") & set(table.html("T"))
    assert "$" not in table.markdown("T")
    assert not re.search(r"\\[a-z,]", table.markdown("T"))
