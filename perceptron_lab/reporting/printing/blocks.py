"""A table that is wider than a page: one CSV, and in print several blocks below one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pandas as pd

from perceptron_lab.reporting.printing.table import Column
from perceptron_lab.reporting.printing.typesetting import escape

WIDEST = 9
"""Columns of one block beside its first."""


@dataclass(frozen=True)
class Blocks:
    """Columns in groups, which stay together in print.

    Parameters
    ----------
    name
        As in a configuration.
    first
        The column that every block begins with: it names the lines.
    groups
        Groups of columns, in order; one of more than :data:`WIDEST` makes a block of its own.
    notes
        Sentences below the table, in LaTeX.
    """

    name: str
    first: Column
    groups: Sequence[Sequence[Column]]
    notes: Sequence[str] = field(default_factory=list)

    @property
    def frame(self) -> pd.DataFrame:
        """The columns that have values, with full precision."""
        columns = [self.first, *(column for group in self.groups for column in group)]
        return pd.DataFrame({c.name: c.series for c in columns if c.values is not None})

    def latex(self, title: str) -> str:
        r"""Return one ``longtable`` per block; the preamble needs ``booktabs`` and ``longtable``.

        Parameters
        ----------
        title
            The caption, above the first block; special characters are escaped.
        """
        caption = f"\\caption{{{escape(title)}}}\\label{{tab:{self.name}}}\\\\"
        lines = [
            "% needs \\usepackage{booktabs,longtable}",
            "{\\footnotesize\\setlength{\\tabcolsep}{3pt}",
        ]
        for number, block in enumerate(self.blocks()):
            # Every longtable counts as a table, with a caption or not.
            lines += _longtable([self.first, *block], "" if number else caption)
            lines += ["\\addtocounter{table}{-1}"] if number else []
        return "\n".join([*lines, *self.notes, "}"]) + "\n"

    def blocks(self) -> Iterator[list[Column]]:
        """Yield the printed columns of each block, as many groups as fit."""
        block: list[Column] = []
        for group in self.groups:
            printed = [column for column in group if column.shown is not None]
            if block and len(block) + len(printed) > WIDEST:
                yield block
                block = []
            block = block + printed
        yield block


def _longtable(columns: Sequence[Column], caption: str) -> list[str]:
    heads = " & ".join(_head(column) for column in columns) + " \\\\"
    lines = zip(*(column.shown or () for column in columns), strict=True)
    return [
        f"\\begin{{longtable}}{{{''.join(column.align for column in columns)}}}",
        *([caption] if caption else []),
        "\\toprule",
        heads,
        "\\midrule",
        "\\endhead",
        *(" & ".join(line) + " \\\\" for line in lines),
        "\\bottomrule",
        "\\end{longtable}",
    ]


def _head(column: Column) -> str:
    """Return a name with one word per line."""
    words = [escape(word) for word in column.name.split()]
    if len(words) < 2:
        return "".join(words)
    return f"\\shortstack[{column.align}]{{" + "\\\\".join(words) + "}"
