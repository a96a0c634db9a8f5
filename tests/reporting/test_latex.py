"""LaTeX of the tables: well-formed whatever the names are, and honest about what is not proved."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.reporting import report
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.papers.thesis.table_6_1 import table as module
from perceptron_lab.reporting.papers.thesis.table_6_1.table import RoundingSpread
from perceptron_lab.reporting.printing.typesetting import escape
from tests.reporting.artificial_runs import MakeRuns, make_row
from tests.reporting.latex_lines import balanced

NASTY = "50% & a_b #1 {x} $y$ ^~\\end{table}"


def table_6_1(runs: pd.DataFrame, title: str) -> str:
    return report.table("table_6_1", Evidence.of_runs(runs)).latex(title)


def rows(latex: str) -> dict[str, list[str]]:
    """Return the cells of each body line by the problem's name."""
    lines = [line.removesuffix(" \\\\").split(" & ") for line in latex.splitlines()]
    return {cells[0]: cells[1:] for cells in lines if len(cells) > 2 and cells[0].strip()}


def widths(latex: str) -> set[tuple[int, int]]:
    """Return (columns declared, columns used) over all lines of all tabulars."""
    pairs = set()
    for columns, body in re.findall(r"\\begin\{tabular\}\{([lr ]+)\}(.*?)\\end", latex, re.DOTALL):
        for line in body.splitlines():
            spans = [int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", line)]
            if line.endswith("\\\\"):
                width = len(re.findall(r"(?<!\\)&", line)) + 1 + sum(spans)
                pairs.add((len(columns.replace(" ", "")), width))
    return pairs


def test_structure(runs: pd.DataFrame, troubled: pd.DataFrame) -> None:
    for table in (runs, troubled):
        latex = table_6_1(table, "A title")
        assert balanced(latex)
        assert widths(latex) == {(15, 15)}
        assert "\\caption{A title}" in latex
        assert latex.count("\\toprule") == latex.count("\\bottomrule") == 1


def test_special_characters_of_names_and_title_are_escaped(make_runs: MakeRuns) -> None:
    latex = table_6_1(make_runs(make_row(NASTY, NASTY)), NASTY)
    assert balanced(latex)
    assert widths(latex) == {(6, 6)}
    assert latex.count("\\textbackslash{}end\\{table\\}") == 3


@given(st.text(max_size=40))
def test_escaped_text_holds_no_active_character(text: str) -> None:
    escaped = escape(text)
    assert balanced(escaped)
    bare = re.sub(r"\\text\w+\{\}|\\[&%$#_{}]", "", escaped)
    assert not set(bare) & set("&%$#_{}~^\\\n\r")


def test_the_best_proved_answer_is_bold_and_ties_are_too(make_runs: MakeRuns) -> None:
    latex = table_6_1(
        make_runs(
            make_row("a", "PRA", queries=10, seconds=1.501),
            make_row("a", "EA", queries=9, seconds=1.499),
        ),
        "t",
    )
    assert rows(latex)["a"] == [
        "100",
        "199",
        "49",
        "10",
        "\\textbf{1.50}",
        "49",
        "\\textbf{9}",
        "\\textbf{1.50}",
    ]


def test_an_unproved_answer_is_marked_and_never_bold(make_runs: MakeRuns) -> None:
    proved = make_row("a", "PRA", queries=10, seconds=2.0)
    claim = make_row("a", "EA", queries=5, seconds=1.0, proved=False)
    latex = table_6_1(make_runs(proved, claim), "t")
    cells = rows(latex)["a"]
    assert cells[3:5] == ["\\textbf{10}", "\\textbf{2.00}"]
    assert cells[5:] == ["49$^{\\dagger}$", "5$^{\\dagger}$", "1.00$^{\\dagger}$"]
    assert "Not a proved feasible point: a, EA: FEASIBLE (unproved)." in latex
    assert "Every answer" not in latex


def test_every_troubled_entry_has_a_dagger_and_a_note(troubled: pd.DataFrame) -> None:
    latex = table_6_1(troubled, "t")
    note = latex.split("Not a proved feasible point: ")[1]
    for reason in (
        "mcp100, EA: UPDATE\\_LIMIT",
        "mcp124-1, PRA: ERROR",
        "mcp124-1, EA: FEASIBLE (unproved)",
        "other\\_1, EA: not run",
    ):
        assert reason in note
    assert rows(latex)["mcp124-1"][2] == "--$^{\\dagger}$"


def test_rounding_is_mentioned_only_for_recorded_counts(
    make_runs: MakeRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [make_row("mcp100", "PRA"), make_row("mcp124-1", "PRA", queries=208)]
    latex = table_6_1(make_runs(*cells), "t")
    assert "All queries are the same under OpenBLAS's kernels for Prescott" in latex
    assert "up to 3.4\\,\\%: mcp124-1 PRA.\n" in latex
    other = table_6_1(make_runs(cells[0], make_row("mcp124-1", "PRA")), "t")
    assert "The queries of 1 of the 2 entries are the same" in other
    assert "exact zeros" not in other
    assert "kernels" not in table_6_1(make_runs(make_row("mcp100", "PRA", queries=9)), "t")
    assert "kernels" not in table_6_1(make_runs(make_row("mcp100", "PRA", proved=False)), "t")
    split = {("mcp100", "PRA"): RoundingSpread(312, 313, 312, 313)}
    monkeypatch.setattr(module, "spreads", lambda: split)
    assert "SkylakeX, but for mcp100 PRA." in table_6_1(make_runs(cells[0]), "t")


def test_a_table_without_unproved_runs_has_no_dagger(runs: pd.DataFrame) -> None:
    latex = table_6_1(runs, "t")
    assert "dagger" not in latex
    assert "Every answer is a point proved feasible" in latex


def test_thesis_numbers_and_deviation(runs: pd.DataFrame) -> None:
    runs.loc[0, "queries"] = 320
    assert rows(table_6_1(runs, "t"))["mcp100"][3:8] == [
        "320",
        "\\textbf{0.250}",
        "313",
        "0.4",
        "$+2.24$",
    ]
    assert "Table 6.1 of Kharechko2009, whose ``updates'' count oracle queries" in table_6_1(
        runs, "t"
    )


def test_seeds_are_stated(make_runs: MakeRuns) -> None:
    latex = table_6_1(make_runs(*(make_row("a", "PRA", seed=s) for s in range(5))), "t")
    assert rows(latex)["a"][2] == "5"
    assert "medians over the seeds" in latex


@pytest.mark.parametrize("labels", [1, 4, 5, 9])
def test_many_labels_are_spread_over_tabulars(make_runs: MakeRuns, labels: int) -> None:
    latex = table_6_1(make_runs(*(make_row("a", f"L{i}") for i in range(labels))), "t")
    assert balanced(latex)
    assert latex.count("\\begin{tabular}") == -(-labels // 4)
    assert all(f"{{L{i}}}" in latex for i in range(labels))
    assert all(declared == width <= 15 for declared, width in widths(latex))
    # One best answer per column of each problem; they are all equal here.
    assert latex.count("\\textbf") == (0 if labels == 1 else 2 * labels)


def test_times_too_short_to_print_are_not_printed_as_zero(make_runs: MakeRuns) -> None:
    latex = table_6_1(make_runs(make_row("a", "PRA", seconds=1e-5)), "t")
    assert rows(latex)["a"][-1] == "$<$0.001"
