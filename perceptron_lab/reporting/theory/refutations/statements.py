"""Claims of the papers that do not survive exact computation, each with the check that shows it."""

from __future__ import annotations

from perceptron_lab.reporting.printing.columns import Column, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import escape
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.reporting.theory.refutations import complexity, ellipsoids, rescaling
from perceptron_lab.reporting.theory.refutations.statement import PaperStatement

ALL: tuple[PaperStatement, ...] = (
    *rescaling.STATEMENTS,
    *complexity.STATEMENTS,
    *ellipsoids.STATEMENTS,
    *complexity.MARGIN_STATEMENTS,
)
"""Every claim, by subject, each in the order of its papers."""


def claims() -> Exhibit:
    """Claims of the papers that do not survive exact computation, each with its executed check.

    Columns: ``paper``, ``place``, ``claimed``, ``instead``; ``printed``, the number that the claim
    asserts in the example of the check, ``computed``, the number found, and ``refuted``, whether
    the two contradict. The checks are run when the table is made.
    """
    checked = [claim.check() for claim in ALL]
    wide = "p{45mm}"
    columns = [
        texts("paper", [claim.paper for claim in ALL]),
        texts("place", [claim.place for claim in ALL]),
        Column("claimed", [c.claimed for c in ALL], [escape(c.claimed) for c in ALL], align=wide),
        Column("instead", [c.instead for c in ALL], [escape(c.instead) for c in ALL], align=wide),
        numbers("printed", [result.printed for result in checked]),
        numbers("computed", [result.computed for result in checked]),
        texts("refuted", ["yes" if result.refuted else "no" for result in checked]),
    ]
    note = (
        "Printed: the number that the claim asserts in the example of its check; computed: the "
        "number found there; refuted: whether they contradict."
    )
    table = Table("claims", columns, keys=2, notes=[note], long=True)
    return Exhibit("Claims of the papers that do not survive exact computation", table)
