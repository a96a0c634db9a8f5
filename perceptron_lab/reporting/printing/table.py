"""A table of a report, for CSV, LaTeX, HTML and Markdown.

pandas's Styler writes LaTeX and HTML. Ours are what it lacks: Markdown without a further package,
rules below the names of groups, several tabulars where one is too wide, notes, and escaped text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

import pandas as pd

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.visible_text import visible
from perceptron_lab.reporting.printing.columns import Column
from perceptron_lab.reporting.printing.line_width import (
    LANDSCAPE,
    UPRIGHT,
    breakable,
    formats,
    height,
)
from perceptron_lab.reporting.printing.line_width import parts as divided
from perceptron_lab.reporting.printing.typesetting import escape, plain

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

# Of the formats in which it is not a plain character
_BACKSLASH = {"tex": escape("\\")}
# From so many columns on, LaTeX sets a table in smaller print, across both columns of a page
_MANY = 9
# From so many lines on, a table that may be long is broken across pages
_PAGE = 30
# So many lines, those of heads and notes included, fit on a page
_HIGHEST = 55
_NOTE_LINE = 85  # letters
# Smaller where it is wider than the line
_FITTED = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%%\n%s}"
# longtable is refused in two columns
_ONE_COLUMN = (
    "\\csname if@twocolumn\\endcsname\\onecolumn\\let\\asbefore\\twocolumn"
    "\\else\\let\\asbefore\\relax\\fi"
)
_AS_BEFORE = "\\asbefore"


@dataclass(frozen=True)
class Table:
    """Columns of equal length, with notes below.

    Parameters
    ----------
    name
        As in a configuration.
    columns
        The columns.
    keys
        How many of the first printed columns name the lines. LaTeX leaves them out where they
        repeat the line above, and repeats them where the other columns take several tabulars.
    notes
        Sentences below the table, in TeX.
    long
        Whether LaTeX breaks it across pages (``longtable``) where it has more than 30 lines; one
        that is higher than a page is broken anyway.
    widest
        How many columns a tabular has in addition to the keys, unless a single group has more.
    """

    name: str
    columns: Sequence[Column]
    keys: int = 1
    notes: Sequence[str] = ()
    long: bool = False
    widest: int = 12

    @property
    def frame(self) -> pd.DataFrame:
        """The columns that have values, with full precision, for CSV and the terminal."""
        names = [column.name for column in self.columns if column.values is not None]
        # pandas would keep the last of two columns of one name without a word
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise DataError(
                f"{self.name}: two columns would be called {repeated!r}; rename one of the labels"
            )
        return pd.DataFrame({c.name: c.series for c in self.columns if c.values is not None})

    def texts(self, title: str) -> dict[str, str]:
        """Return the table as the text of a file of each kind."""
        printed = {"tex": self.latex, "html": self.html, "md": self.markdown}
        texts = {"csv": self.csv()} | {kind: text(title) for kind, text in printed.items()}
        return {kind: visible(text, _BACKSLASH.get(kind, "\\")) for kind, text in texts.items()}

    def csv(self) -> str:
        """Return the frame as CSV; truth values are spelt as in ``runs.csv``."""
        frame = self.frame
        # pandas would write True and False.
        for column in frame.select_dtypes("bool").columns:
            frame[column] = frame[column].map({True: "true", False: "false"})
        return frame.to_csv(index=False, lineterminator="\n")

    @property
    def printed(self) -> list[Column]:
        """The columns that are printed."""
        return [column for column in self.columns if column.shown is not None]

    @property
    def panels(self) -> Iterator[list[Column]]:
        """The columns of each LaTeX tabular: the keys and as many groups as fit."""
        keys, values = self.printed[: self.keys], self.printed[self.keys :]
        panel: list[Column] = []
        for _, together in groupby(values, key=lambda column: column.group):
            group = list(together)
            if panel and len(panel) + len(group) > self.widest:
                yield keys + panel
                panel = []
            panel += group
        yield keys + panel

    def latex(self, title: str) -> str:
        r"""Return a ``table``, ``table*`` or ``longtable``; a comment names the packages it needs.

        Parameters
        ----------
        title
            The caption; special characters are escaped.
        """
        caption, label = escape(title), f"tab:{self.name}"
        # Of a long table _pages divides the columns, by their widths
        panels = [self.printed] if self.long else list(self.panels)
        lines = sum(map(height, panels)) + sum(1 + len(note) // _NOTE_LINE for note in self.notes)
        # A float that is higher than a page would be printed beyond its end
        if (self.long and len(self.printed[0].shown or ()) > _PAGE) or lines > _HIGHEST:
            return self._pages(panels, caption, label)
        wide = max(map(len, panels)) >= _MANY
        size = f"\\{'scriptsize' if wide else 'footnotesize'}\\setlength{{\\tabcolsep}}{{2.5pt}}"
        kind = "table*" if wide else "table"
        texts = [
            "% needs \\usepackage{booktabs,graphicx}",
            f"\\begin{{{kind}}}",
            f"\\centering{size}",
            f"\\caption{{{caption}}}",
            f"\\label{{{label}}}",
            "\n\n\\medskip\n".join(_FITTED % self._tabular(panel) for panel in panels),
            "\n\\medskip",
            "\\parbox{\\linewidth}{\\raggedright",
            *self.notes,
            "}",
            f"\\end{{{kind}}}",
        ]
        return "\n".join(texts) + "\n"

    def _pages(self, panels: Sequence[Sequence[Column]], caption: str, label: str) -> str:
        """Return the panels as longtables, upright if that is wide enough, else in landscape."""
        parts = [part for panel in panels for part in divided(panel, self.keys)]
        upright = all(formats(part, UPRIGHT) for part in parts)
        line = UPRIGHT if upright else LANDSCAPE
        head, *tail = [
            self._tabular(part, formats(part, line), "longtable", *named)
            for part, named in zip_longest(parts, [(caption, label)], fillvalue=())
        ]
        texts = [
            f"% needs \\usepackage{{array,booktabs,longtable{'' if upright else ',pdflscape'}}}",
            _ONE_COLUMN,
            *(() if upright else ["\\begin{landscape}"]),
            "{\\scriptsize\\setlength{\\tabcolsep}{2.5pt}\\raggedright",
            head,
            # Each longtable counts as a table; the parts are one
            *(f"\\addtocounter{{table}}{{-1}}\n{rest}" for rest in tail),
            *self.notes,
            "\n}",
            *(() if upright else ["\\end{landscape}"]),
            _AS_BEFORE,
        ]
        return "\n".join(texts) + "\n"

    def html(self, title: str) -> str:
        """Return a separate HTML page with the table; every text in it is escaped."""
        columns = self.printed
        styler = _styled(
            columns,
            [[html.escape(plain(cell)) for cell in column.shown or ()] for column in columns],
            [html.escape(column.plain_head) for column in columns],
            [html.escape(column.group) for column in columns],
            "font-weight: bold;",
        )
        sides = ["right" if column.align == "r" else "left" for column in columns]
        aligned = [f"text-align: {side};" for side in sides]
        styler.set_table_styles(
            [{"selector": f".col{i}", "props": props} for i, props in enumerate(aligned)]
        )
        styler.set_caption(html.escape(title))
        page: str = styler.to_html(table_uuid=self.name, doctype_html=True, encoding="utf-8")
        notes = "".join(f"<p>{html.escape(plain(note))}</p>\n" for note in self.notes)
        # pandas's page has no place for notes
        return page.replace("</body>", f"{notes}</body>")

    def markdown(self, title: str) -> str:
        """Return the title, the table and the notes; every text in them is escaped."""
        columns = self.printed
        heads = [_marked(f"{column.group} {column.plain_head}".strip()) for column in columns]
        rules = ["--:" if column.align == "r" else ":--" for column in columns]
        cells = []
        for column in columns:
            texts = [_marked(plain(cell)) for cell in column.shown or ()]
            pairs = zip(texts, column.bold or [False] * len(texts), strict=True)
            cells.append([f"**{text}**" if strong else text for text, strong in pairs])
        lines = [heads, rules, *zip(*cells, strict=True)]
        table = [f"| {' | '.join(line)} |" for line in lines]
        notes = [f"\n{_marked(plain(note))}" for note in self.notes]
        return "\n".join([f"**{_marked(title)}**\n", *table, *notes]) + "\n"

    def _tabular(
        self,
        columns: Sequence[Column],
        formats: Sequence[str] | None = None,
        environment: str | None = None,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        formats = formats or [column.align for column in columns]
        cells = [
            [breakable(cell) if "p{" in how else cell for cell in column.shown or ()]
            for column, how in zip(columns, formats, strict=True)
        ]
        keys = list(zip(*cells[: self.keys], strict=True))
        repeated = [row > 0 and key == keys[row - 1] for row, key in enumerate(keys)]
        for line, key in enumerate(keys):
            if repeated[line]:
                for column in cells[: self.keys]:
                    column[line] = ""
            # Space where another problem begins, if lines are grouped at all
            elif any(repeated) and line and key[0] != keys[line - 1][0]:
                cells[0][line] = f"\\addlinespace\n{key[0]}"
        styler = _styled(
            columns,
            cells,
            [column.tex_head for column in columns],
            [escape(column.group) for column in columns],
            "textbf:--rwrap;",
        )
        tabular = styler.to_latex(
            hrules=True,
            multicol_align="c",
            column_format="".join(formats),
            environment=environment,
            caption=caption,
            label=label,
        )
        # pandas has no rules below the names of groups, which are the first line of the head.
        return tabular.rstrip().replace(" \\\\\n", f" \\\\\n{_rules(columns)}", 1)


def _styled(
    columns: Sequence[Column],
    cells: Sequence[Sequence[str]],
    heads: Sequence[str],
    groups: Sequence[str],
    bold: str,
) -> Styler:
    """Return the styled table: cells, heads and, above them, the names of groups."""
    # Numbered, as heads may repeat and the Styler needs unique columns
    frame = pd.DataFrame(dict(enumerate(cells)), dtype=object)
    styles = pd.DataFrame("", frame.index, frame.columns)
    for number, column in enumerate(columns):
        styles[number] = [bold if strong else "" for strong in column.bold] or ""
    if any(groups):
        frame.columns = styles.columns = pd.MultiIndex.from_tuples(
            list(zip(groups, frame, strict=True))
        )
    styler = frame.style.hide(axis="index").apply(lambda _: styles, axis=None)
    level = frame.columns.nlevels - 1
    names: dict[object, str] = dict(enumerate(heads))
    return styler.format_index(names.__getitem__, axis="columns", level=level)


def _rules(columns: Sequence[Column]) -> str:
    """Return the rules below the names of groups; empty where there are none."""
    rules, first = [], 1
    for group, together in groupby(columns, key=lambda column: column.group):
        last = first + len(list(together)) - 1
        if group:
            rules.append(f"\\cmidrule(lr){{{first}-{last}}}")
        first = last + 1
    return " ".join(rules) + "\n" if rules else ""


def _marked(text: str) -> str:
    """Return text on one line, with the characters escaped that Markdown would interpret."""
    return re.sub(r"([\\`*_<>\[\]|$])", r"\\\1", " ".join(text.split()))
