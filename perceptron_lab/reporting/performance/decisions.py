"""Linear systems decided: how many answers are proved, and how many are wrong."""

from __future__ import annotations

from perceptron_lab.algorithms.linear.words import FEASIBLE, INFEASIBLE
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.generated.linear_systems import LinearSystems
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing.columns import cells, counts, medians
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import Summary, summaries

_DECIDED = (Status.FEASIBLE, Status.INFEASIBLE)


def linear_problems(outline: Outline) -> dict[str, bool]:
    """Return problem -> whether it has a point, of the generated linear systems."""
    found = {}
    for problem in outline.problems():
        record = outline.dataset(problem)
        if isinstance(record, LinearSystems):
            found[problem] = record.feasible
    if not found:
        raise DataError(
            "no problem is of the dataset linear-systems, of which the right answers are known"
        )
    return found


@needs(linear_problems)
def lp_feasibility(evidence: Evidence) -> Table:
    """Linear systems: answers proved, not proved, missing and wrong, and seconds.

    Columns: ``problem``, ``dimension``, ``conditions``, ``label``, ``seeds``; how many seeds are
    ``decided`` (a point or its absence proved), ``unproved`` (answered without an exact proof) and
    ``undecided`` (not answered within the budget); ``false``, how many answers, proved or not, are
    wrong, where the right ones are known by construction; ``seconds``, the median.
    """
    truths = linear_problems(evidence)
    entries = summaries(evidence.frame)
    rivals = [entry.answered for entry in entries]
    decided = [_count(entry, _DECIDED) for entry in entries]
    unproved = [_count(entry, (Status.UNVERIFIED,)) for entry in entries]
    columns = [
        *cells(evidence.frame, entries, "conditions"),
        counts("decided", decided),
        counts("unproved", unproved),
        counts(
            "undecided",
            [one.seeds - a - b for one, a, b in zip(entries, decided, unproved, strict=True)],
        ),
        counts("false", [_wrong(entry, truths.get(entry.problem)) for entry in entries]),
        *medians(entries, ["seconds"], rivals),
    ]
    note = (
        "Decided: a point, or that there is none, is proved in exact arithmetic. Unproved: an "
        "answer in doubles that is not exact. Undecided: no answer within the budget. False: "
        "answers, proved or not, that are wrong. Seconds: median over the seeds; bold: the least "
        "where every seed is decided."
    )
    return Table("lp_feasibility", columns, keys=3, notes=[note], long=True)


def _count(entry: Summary, statuses: tuple[Status, ...]) -> int:
    return int(entry.runs["status"].isin(statuses).sum())


def _wrong(entry: Summary, truth: bool | None) -> int | None:
    """Return how many answers are wrong; None where nobody knows."""
    if truth is None:
        return None
    pairs = zip(entry.runs["status"], entry.runs["message"].astype(str), strict=True)
    answers = [answered(status, message) for status, message in pairs]
    return sum(one is not None and one != truth for one in answers)


def answered(status: str, message: str) -> bool | None:
    """Return whether an answer is that there is a point, or that there is none; None without one.

    An answer that is not proved is told by how its message begins.
    """
    if status in _DECIDED:
        return status == Status.FEASIBLE
    words = {FEASIBLE: True, INFEASIBLE: False}
    said = [word for word in words if message.startswith(word)]
    return words[said[0]] if status == Status.UNVERIFIED and said else None
