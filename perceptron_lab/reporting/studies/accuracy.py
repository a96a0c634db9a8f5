"""The accuracy that solvers claim of their answers, beside the accuracy that is proved of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.columns import numbers, seconds, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import lower_bound, upper_bound
from perceptron_lab.reporting.summary import ending, known_or_none

_ERRORS = tuple(f"measure.{UNPROVED}dimacs_{number}" for number in range(1, 7))
_SIZE = f"measure.{UNPROVED}size"
_PROVES = {Status.FEASIBLE: "a feasible point", Status.INFEASIBLE: "no feasible point"}


def accuracy(evidence: Evidence) -> Table:
    """Accuracy of the largest margin claimed by solvers, and proved of their answers.

    Columns: ``problem``, ``label``; ``error 1`` to ``error 6``, the DIMACS errors of the answer as
    the solver gave it, in doubles: the dual's equations and cone, the slack and its cone, the
    relative gap, the product of slack and multipliers; ``claimed``, the largest of them, which
    tells how accurate the answer looks; ``proved``, the relative gap of the proved bracket of the
    margin, in the units of error 5, infinite without a proved bound; ``proves``, what is proved
    after the repair of the answer; ``margin lower`` and ``margin upper``; ``seconds``; ``status``.
    Lines without errors are of algorithms that claim none, or of cells without an answer.
    """
    missing = [name for name in (*_ERRORS, _SIZE) if name not in evidence.frame.columns]
    if missing:
        raise DataError(
            "no label is a solver that states errors of its answer, such as clarabel or csdp"
        )
    frame = evidence.frame.assign(
        **{name: reals(evidence.frame[name]) for name in (*_ERRORS, _SIZE)}
    )
    rows: list[Any] = frame.to_dict("records")
    claimed = [[known_or_none(row[name]) for name in _ERRORS] for row in rows]
    columns = [
        texts("problem", [str(row["problem"]) for row in rows]),
        texts("label", [str(row["label"]) for row in rows]),
        *(
            numbers(f"error {place + 1}", [errors[place] for errors in claimed])
            for place in range(len(_ERRORS))
        ),
        numbers("claimed", [_largest(errors) for errors in claimed]),
        numbers("proved", [proved_gap(row) for row in rows]),
        texts("proves", [proves(row) for row in rows]),
        numbers("margin lower", [known_or_none(row["margin_lower"]) for row in rows], lower_bound),
        numbers("margin upper", [known_or_none(row["margin_upper"]) for row in rows], upper_bound),
        seconds("seconds", [known_or_none(row["seconds"]) for row in rows]),
        texts("status", [ending(row["status"], row["proved"]) for row in rows]),
    ]
    note = (
        "Largest margin: maximise $t$ over $y$ and $t$ such that $A^*y - te$ lies in the cone and "
        "$\\|y\\| \\le 1$. Errors 1 to 6: DIMACS's, of the answer in doubles, on data divided by "
        "their largest entry. Claimed: the largest of them. Proved: gap of the proved bracket "
        "$[\\max(0, l), u]$ of the margin, $(u - l) / (s + u + l)$ with $s$ the largest entry, to "
        "be compared with error 5. Proves: what is proved of the answer on the original data, "
        "after its repair."
    )
    return Table("accuracy", columns, keys=2, notes=[note], long=True, widest=14)


def proved_gap(row: dict[str, Any]) -> float | None:
    """Return the gap of the proved bracket of the margin, which is 0 or more, relative as error 5.

    A point is proved to have the margin l, weights that none has more than u; y = 0 has 0.
    """
    upper, size = known_or_none(row["margin_upper"]), known_or_none(row[_SIZE])
    if size is None:
        return None
    if upper is None:
        return math.inf
    lower = max(0.0, known_or_none(row["margin_lower"]) or 0.0)
    return (upper - lower) / (size + upper + lower)


def proves(row: dict[str, Any]) -> str:
    """Say what is proved of an answer: a point, that there is none, or nothing of these."""
    if row["status"] == Status.SKIPPED:
        return ""
    return _PROVES.get(row["status"], "nothing") if row["proved"] else "nothing"


def _largest(errors: Sequence[float | None]) -> float | None:
    known = [abs(error) for error in errors if error is not None]
    return max(known) if len(known) == len(errors) else None
