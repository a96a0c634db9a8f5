"""Tables of a page as data: heads and lines, which ``macros.html.jinja`` writes.

pandas's Styler would give each cell an identifier and classes, several times its bytes, and can
hold no lines or details in cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from markupsafe import Markup

from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.reporting.pages.reading import Sparkline, without_paths
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import plain
from perceptron_lab.reporting.ratios import COSTS, GuaranteeRatio, Interval, Ratio

PAPERS = ("thesis", "paper")
"""The words in a column's name that say that its values are printed in a paper."""

Entry = str | Sparkline | Mapping[str, str]
"""A text, a small picture, or names and texts that a reader opens."""


@dataclass(frozen=True)
class Head:
    """The head of a column.

    Parameters
    ----------
    text
        Its name.
    number
        Whether its cells are numbers, which stand at the right.
    group
        The name above it and its neighbours of the same group.
    paper
        Whether its values are a paper's.
    shown
        Whether it is shown from the beginning, where columns can be chosen.
    """

    text: str
    number: bool = False
    group: str = ""
    paper: bool = False
    shown: bool = True


@dataclass(frozen=True)
class PageTable:
    """A table with a caption.

    Parameters
    ----------
    caption
        As text.
    heads
        Of the columns.
    lines
        Of entries.
    keys
        How many of the first columns name their line; the last of them is its head.
    kind
        A further class of the element.
    notes
        Sentences below the table.
    """

    caption: str
    heads: Sequence[Head]
    lines: Sequence[Sequence[Entry]]
    keys: int = 1
    kind: str = ""
    notes: Sequence[str] = ()

    @property
    def hidden(self) -> str:
        """The numbers of the columns that are hidden at first."""
        return " ".join(str(column) for column, head in enumerate(self.heads) if not head.shown)

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The names of groups with their widths; none where no column has one."""
        if not any(head.group for head in self.heads):
            return []
        runs = groupby(self.heads, key=lambda head: head.group)
        return [(group, len(list(together))) for group, together in runs]


def report_table(table: Table, caption: str) -> PageTable:
    """Return a table of a report with its notes, in the rounding of its print."""
    heads, cells = [], []
    for column in table.printed:
        name = f"{column.group} {column.name}".lower()
        # Pages set values of a paper apart, so that they are not taken for ours
        paper = any(word in name for word in PAPERS)
        heads.append(Head(column.plain_head, column.align == "r", column.group, paper))
        texts = [plain(cell) for cell in column.shown or ()]
        strong = column.bold or [False] * len(texts)
        pairs = zip(texts, strong, strict=True)
        cells.append(
            # Markup.format escapes the text, as the template does with all others
            [Markup("<b>{}</b>").format(text) if strong else text for text, strong in pairs]
        )
    notes = [plain(note) for note in table.notes]
    return PageTable(caption, heads, list(zip(*cells, strict=True)), table.keys, notes=notes)


def ratio_table(caption: str, ratios: Sequence[Ratio]) -> PageTable | None:
    """Return ratios as a table; None without any."""
    costs = [cost for cost in COSTS if any(cost in ratio.by_cost for ratio in ratios)]
    if not costs:
        return None
    names = ["algorithm", "compared with", "problem"]
    keys = names if any(ratio.problem for ratio in ratios) else names[:2]
    heads = [*map(Head, keys), *(Head(name, number=True) for name in ("pairs used", *costs))]
    lines = [
        [
            *(ratio.label, ratio.against, ratio.problem or "all")[: len(keys)],
            f"{ratio.pairs} of {ratio.possible}",
            *(interval_text(ratio.by_cost.get(cost)) for cost in costs),
        ]
        for ratio in ratios
    ]
    return PageTable(caption, heads, lines, 2)


def guarantee_table(ratios: Sequence[GuaranteeRatio]) -> PageTable | None:
    """Return ratios of updates to guarantees as a table; None without any."""
    if not ratios:
        return None
    names = ("algorithm", "problems", "cells", "updates / guarantee", "largest")
    heads = [Head(name, number=column > 0) for column, name in enumerate(names)]
    lines = [
        [r.label, str(r.problems), str(r.cells), interval_text(r.interval), f"{r.largest:.3g}"]
        for r in ratios
    ]
    return PageTable("Updates compared with the guarantee", heads, lines)


def environments_table(environments: Mapping[str, Mapping[str, object]]) -> PageTable:
    """Return one column per environment, one line per fact that is known of any.

    Names of hosts, owners and folders are left out.
    """
    # Pages are given away: whole paths would name folders and their owner
    facts_by_name = {
        name: dict(_facts(without_paths(environment))) for name, environment in environments.items()
    }
    # Machines do not tell the same facts: memory or BLAS may be unknown
    facts = dict.fromkeys(fact for environment in facts_by_name.values() for fact in environment)
    lines = [
        [fact, *(environment.get(fact, "") for environment in facts_by_name.values())]
        for fact in facts
    ]
    return PageTable("Environments", [Head("fact"), *map(Head, facts_by_name)], lines, kind="facts")


def _facts(described: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in ("time", "system", "cpu", "cores", "python"):
        if name in described:
            yield name, str(described[name])
    if described.get("memory_bytes"):
        yield "memory", f"{described['memory_bytes'] / 2**30:.1f} GiB"
    for number, library in enumerate(described.get("blas") or [], 1):
        named = [
            str(library[key])
            for key in ("internal_api", "version", "architecture")
            if key in library
        ]
        threads = library.get("num_threads")
        yield f"BLAS {number}", " ".join(named) + (f", threads: {threads}" if threads else "")
    git = described.get("git") or {}
    if git.get("revision"):
        changed = " with uncommitted changes" if git.get("dirty") else ""
        yield "revision", f"{git['revision']}{changed}"
    for package, version in (described.get("packages") or {}).items():
        yield package, str(version)


def interval_text(interval: Interval | None) -> str:
    """Return a ratio and its interval, which is rounded outwards: ``0.48 [0.359, 0.640]``."""
    if interval is None:
        return ""
    ratio = f"{interval.ratio:.3g}"
    if interval.lower is None or interval.upper is None:
        return ratio
    # Rounded inwards the interval would claim more than it covers
    return f"{ratio} [{text_below(interval.lower, 3)}, {text_above(interval.upper, 3)}]"
