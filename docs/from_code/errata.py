"""What the papers say of an algorithm that does not survive exact computation."""

from __future__ import annotations

import inspect
import re
import sys

from from_code.docstrings import escaped
from perceptron_lab.reporting.theory.refutations.statement import PaperStatement
from perceptron_lab.reporting.theory.refutations.statements import ALL

_PLACE = re.compile(r"(?:Theorem|Lemma|section|footnote|Figure|Proposition) [\d.]*\d|\(\d+\.\d+\)")


def of(record: type) -> list[PaperStatement]:
    """Return the claims at places that the modules of an algorithm's classes name."""
    texts = "\n".join(
        inspect.getsource(sys.modules[kind.__module__])
        for kind in record.__mro__
        if ".algorithms." in kind.__module__ and not kind.__module__.endswith(".base")
    )
    return [claim for claim in ALL if claim.paper in texts and _named(claim.place, texts)]


def table(record: type) -> str:
    """Return the claims as a table with their checks computed anew; empty without any."""
    claims = of(record)
    if not claims:
        return ""
    rows = ""
    for claim in claims:
        found = claim.check()
        rows += (
            f"   * - `{claim.paper}`, {escaped(claim.place)}\n"
            f"     - {escaped(claim.claimed)}\n     - {escaped(claim.instead)}\n"
            f"     - {found.printed:.6g}\n     - {found.computed:.6g}\n"
        )
    return (
        "Claims at the places that this code cites, which do not survive exact computation. Each "
        "has a check that was run for this page: the number that the claim asserts in its example, "
        "and the one found there.\n\n"
        ".. list-table::\n   :header-rows: 1\n   :widths: 16 30 30 12 12\n\n"
        "   * - place\n     - claimed\n     - instead\n     - printed\n     - computed\n" + rows
    )


def _named(place: str, texts: str) -> bool:
    return any(re.search(re.escape(one) + r"(?![\d.]*\d)", texts) for one in _PLACE.findall(place))
