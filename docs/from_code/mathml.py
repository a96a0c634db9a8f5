"""Formulas as MathML, which browsers typeset by themselves: no script, no font, no network."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

# Browsers leave no space between a name such as ln and its argument.
_FUNCTION = re.compile("<mi>(?:ln|log|exp|det|max|min|tr)</mi>(?!<mo stretchy|<mrow><mo stretchy)")
_TAG = re.compile(r"\\tag\{(\w+)\}")
_LONG = 55  # Characters of LaTeX from which on a formula of a sentence may need to scroll
_SPACED = r'<mspace width="0.17em"/>\g<0><mspace width="0.17em"/>'


def setup(app: Any) -> None:
    """Make MathML the renderer of formulas in HTML."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))


def element(latex: str, display: str) -> str:
    r"""Return the MathML of a formula, with its LaTeX as the alternative text.

    Examples
    --------
    >>> element(r"\rho", "inline")[-50:]
    'alttext="\\rho"><mrow><mi>&#x003C1;</mi></mrow></math>'
    """
    math = _FUNCTION.sub(_SPACED, convert(latex, display=display))
    return math.replace(f'display="{display}"', f'display="{display}" alttext="{escape(latex)}"', 1)


def _inline(writer: Any, node: nodes.Element) -> None:
    latex = node.astext()
    math = element(latex, "inline")
    long = len(latex) > _LONG
    writer.body.append(f'<span class="long-formula">{math}</span>' if long else math)
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.Element) -> None:
    latex = _TAG.sub(r"\\qquad (\1)", node.astext())  # without it the number touches the formula
    writer.body.append(f'<div class="formula">{element(latex, "block")}</div>')
    raise nodes.SkipNode
