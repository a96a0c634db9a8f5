"""Formulas of docstrings and notes are typeset, as they are meant."""

from __future__ import annotations

import importlib.util
import inspect
import re

import pytest
from from_code.formulas import NoFormulaError, block, latex, typeset

from perceptron_lab.core import registry
from tests.prose.pages import PAGES

needs_mathml = pytest.mark.skipif(
    importlib.util.find_spec("latex2mathml") is None, reason="latex2mathml is not installed"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 / rho^2 + 2 N / rho", r"\frac{1}{\rho^{2}} + \frac{2 N}{\rho}"),
        ("norm(A w) / <e, w>", r"\frac{\lVert A w \rVert}{\langle e , w \rangle}"),
        ("a'v_i / a'v_0", r"\frac{a^{\prime} v_{i}}{a^{\prime} v_{0}}"),
        ("x <- x + a", r"x \leftarrow x + a"),
        ("max_p <-p, A*y>", r"\max_{p} \langle - p , A^{*} y \rangle"),
        ("ln(1/r0(rho))", r"\ln \left( \frac{1}{r_{0} \left( \rho \right)} \right)"),
        ("f_max R^2", r"f_{\mathrm{max}} R^{2}"),
        ("sum_i w_i / 2", r"\sum_{i} \frac{w_{i}}{2}"),
        ("mu ln sum_i w_i / m", r"\mu \ln \sum_{i} \frac{w_{i}}{m}"),
        ("Omega / sum gamma", r"\frac{\Omega}{\sum \gamma}"),
        ("omega^(-1/2)", r"\omega^{- \frac{1}{2}}"),
        ("x'^2", r"{x^{\prime}}^{2}"),
        ("s o z <= 2e-9 + o", r"s \circ z \le 2 \cdot 10^{-9} + o"),
    ],
)
def test_a_formula_keeps_its_meaning(text: str, expected: str) -> None:
    assert latex(text) == expected


@pytest.mark.parametrize("text", ["/", "(x", "x)", "x # y", "x ^"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(NoFormulaError):
        latex(text)


@pytest.mark.parametrize(
    "text",
    [
        "A sum of squares and/or a norm, see (2.11).",
        "Between 0.35 and 0.94, (default 1e-9).",
        "The learner's I/O, section 3.6 - or nothing.",
    ],
)
def test_prose_stays_as_it_is(text: str) -> None:
    assert typeset(text) == text


def test_only_the_formula_of_a_sentence_is_marked() -> None:
    shown = typeset("It makes (at most a / b) steps while a cut a with a'x <= 0 exists, T <= 2.")
    assert re.findall(":math:`([^`]*)`", shown) == [
        r"\frac{a}{b}",
        r"a^{\prime} x \le 0",
        r"T \le 2",
    ]
    assert shown.startswith("It makes (at most :math:")
    assert shown.endswith("`.")


def test_products_in_angles_and_greek_letters_are_formulas() -> None:
    assert typeset("where norm(A w) / <e, w> is at least rho.") == (
        r"where :math:`\frac{\lVert A w \rVert}{\langle e , w \rangle}` is at least :math:`\rho`."
    )


def test_a_block_with_words_of_the_text_is_one_formula() -> None:
    assert r"\text{ argmin }" not in block("    x = argmin over t in [0, 1] of norm(t)")
    assert block("    plab run small.yaml --dry-run") == ""


@needs_mathml
@pytest.mark.parametrize("name", registry.names("algorithm"))
def test_every_formula_of_an_algorithm_becomes_mathml(name: str) -> None:
    from from_code.docstrings import as_restructured_text
    from from_code.mathml import element

    record = registry.load("algorithm", name)
    if record.guarantee.formula:
        assert element(latex(record.guarantee.formula), "block").endswith("</math>")
    shown = as_restructured_text(inspect.getdoc(record) or "")
    for formula in re.findall(":math:`([^`]*)`|math::\n\n    (.*)", shown):
        assert element("".join(formula), "inline").startswith("<math")


@needs_mathml
def test_every_formula_of_a_note_becomes_mathml() -> None:
    from from_code.markdown_formulas import translated
    from from_code.mathml import element

    for page, text in PAGES.items():
        if page.startswith("docs/notes/"):
            for formula in re.findall(r"\$\$\n(.*)\n\$\$|\$([^$\n]+)\$", translated(text)):
                assert element("".join(formula), "inline").startswith("<math"), formula


def test_cells_of_tables_and_code_of_notes_are_kept_apart() -> None:
    from from_code.markdown_formulas import translated

    text = "| a | `x / y` | |\n|---|---|---|\n| b | norm(x) <= \\| 1 | c / d |\n"
    lines = translated(text).splitlines()
    assert lines[:2] == text.splitlines()[:2]
    assert lines[2].endswith(r"| $\frac{c}{d}$ |")
    assert translated("```\nx <= y\n```\n") == "```\nx <= y\n```\n"
    assert translated("A\n\n    x <= y\n\nB\n") == "A\n\n$$\nx \\le y\n$$\n\nB\n"
