"""The numbered items of the papers: where each is in the package, its test and its sample."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from perceptron_lab.core import registry
from perceptron_lab.reporting.printing.columns import texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.reporting.theory.refutations.statement import PaperStatement
from perceptron_lab.reporting.theory.refutations.statements import ALL

OPEN = "open"
"""The location of an item that the package does not have."""


@dataclass(frozen=True)
class Item:
    """An algorithm, theorem, table, figure or open problem of a paper.

    Parameters
    ----------
    paper, item, content
        The paper's key, the item as the paper numbers it, and its content in a few words.
    location
        Kind and name in the registry, a module of the package, or :data:`OPEN`.
    test
        A file of tests, or ``none:`` and the reason.
    sample
        A folder of results/sample, ``theory`` and the name of an exhibit, or ``none:`` and the
        reason.
    """

    paper: str
    item: str
    content: str
    location: str
    test: str
    sample: str

    @property
    def module(self) -> str:
        """The module that has it, or :data:`OPEN`.

        Raises
        ------
        UnknownNameError
            If the registry does not have the name.
        """
        if self.location == OPEN:
            return OPEN
        kind, _, name = self.location.partition(" ")
        # Some items are modules of their own and have no name in the registry
        if not name:
            return f"perceptron_lab.{kind}"
        return registry.module_of(registry.target(kind, name))

    @property
    def refuted(self) -> list[PaperStatement]:
        """The claims of `plab theory claims` at this item."""
        # Theorem 2.1 must not be found in a claim at Theorem 2.10
        numbered = re.compile(re.escape(self.item) + r"(?![\d.]*\d)")
        return [c for c in ALL if c.paper == self.paper and numbered.search(c.place)]


@cache
def items() -> tuple[Item, ...]:
    """Return the items of all papers, in their order."""
    text = (files(__package__) / "contents.csv").read_text("utf-8")
    return tuple(Item(**row) for row in csv.DictReader(text.splitlines()))


def contents() -> Exhibit:
    """Every numbered item of the papers, with its place in the package, its test and its sample.

    Columns: ``paper``, ``item``, ``content``; ``location``, the name in the registry, a module, or
    ``open``; ``module``; ``test`` and ``sample``, or ``none`` and the reason; ``claims``, how many
    claims at this item do not survive exact computation (``plab theory claims``).
    """
    every = items()
    columns = [
        texts("paper", [item.paper for item in every]),
        texts("item", [item.item for item in every]),
        texts("content", [item.content for item in every]),
        texts("location", [item.location for item in every]),
        texts("module", [item.module for item in every]),
        texts("test", [item.test for item in every]),
        texts("sample", [item.sample for item in every]),
        texts("claims", [f"{len(item.refuted)} refuted" for item in every]),
    ]
    note = (
        "Open: the package does not have it. Sample: a folder of results/sample, or an exhibit of "
        "plab theory. Claims: those of plab theory claims at this item."
    )
    table = Table("contents", columns, keys=2, notes=[note], long=True)
    return Exhibit("The numbered items of the papers", table)
