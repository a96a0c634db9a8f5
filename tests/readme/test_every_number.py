"""Every number of the README is tied to a sample by a test, or stands here with its reason."""

from __future__ import annotations

import importlib.util
import re

import pytest

from tests.readme.prose import README, numbers, plain

TIED = {
    "`make maxcut` (or `plab run maxcut`) repeats the experiment": "test_readme_on_table_6_1",
    'The thesis\'s "updates" are queries': "test_readme_on_table_6_1",
    "The 28 cells take": "test_readme_on_table_6_1",
    "| dimension x rows | MPLFP": "test_readme_table_2",
    "Figure 2 comes out as in the paper only in part.": "test_readme_on_kernel_and_conic",
    "`plab run conic` is a table": "test_readme_on_kernel_and_conic",
    "| | 30 features |": "test_readme_on_reuters",
    "That **no ellipsoid separates any": "test_readme_on_reuters",
    "With more features the soft-margin": "test_readme_on_reuters",
    "On the 64 categories": "test_readme_on_reuters",
    "`plab run maxcut_oracles` repeats": "test_readme_on_verdicts_and_programs",
    "`--verdict`, or `separation(X, y)`": "test_readme_on_verdicts_and_programs",
    "The error of the ellipsoid is the same": "test_readme_on_figure_7_4",
    "The largest margin is proved": "test_readme_on_margins",
    "Margins of 1e-2 to 1e-9": "test_readme_on_tiny_margins",
    "On rows without a separator": "test_readme_on_tiny_margins",
    "`plab run maxcut_optimum`: of": "test_readme_on_optima",
    "`plab run sdplib_optimum`: of": "test_readme_on_optima",
    "`plab run maxcut_scaling`: a": "test_readme_on_optima",
}
"""Beginnings of paragraphs, and the module that compares their numbers with a sample."""

UNTIED = {
    "Both need Python 3.11": "the version that is required",
    "A table with names is not taken": "values of columns",
    "| status | meaning |": "a bound by definition",
    "| name | what | guarantee": "formulas of theorems",
    "L bounds the norms": "definitions",
    "The generator is that of Table 2": "a parameter",
    "Whether an ellipsoid separates is proved": "what is proved, in formulas",
    "A claim of an algorithm is checked": "the range of whole numbers in a double",
    "- *Rows*: a'y > 0": "formulas, a citation and a constant of the code",
    "An experiment is a YAML file": "a version of YAML",
    "**Nothing is computed twice": "the name of a hash",
    "**Each cell has a process": "a default",
    "`plab verify` loads the data": "defaults and the name of a hash",
    "`runs.csv` has one row per cell": "exit codes",
    "| fault | injected": "counts of the longest run of the tests that it names",
    "A cell costs": "seconds by the benchmark that it names",
    "[CITATION.cff]": "a year",
}
"""Beginnings of the other paragraphs with digits, and why no sample can contradict them."""

EARLIER = {
    "Seconds until a separator is proved": "the paragraph on the table's two samples",
    "The paper does not state its generator.": "its iterations alone are compared",
    "Times until a proved answer": "a run of `benchmarks/auto`",
    "| separable rows, dimension x rows": "a run of `benchmarks/auto`",
    "Rows may be larger than memory": "a run of `benchmarks/out_of_core`",
}
"""Numbers of runs by an earlier version, whose stores were not kept: not tied yet."""

PARAGRAPHS = re.sub(r"```.*?```", "", README, flags=re.DOTALL).split("\n\n")


def test_every_paragraph_with_numbers_is_listed_once() -> None:
    listed = [*TIED, *UNTIED, *EARLIER]
    for part in PARAGRAPHS:
        if numbers(plain(part)):
            assert sum(part.startswith(words) for words in listed) == 1, part[:80]


@pytest.mark.parametrize("words", [*TIED, *UNTIED, *EARLIER])
def test_every_entry_has_its_paragraph(words: str) -> None:
    (found,) = [part for part in PARAGRAPHS if part.startswith(words)]
    assert numbers(plain(found))


@pytest.mark.parametrize("module", sorted(set(TIED.values())))
def test_every_module_is_there(module: str) -> None:
    assert importlib.util.find_spec(f"tests.readme.{module}") is not None
