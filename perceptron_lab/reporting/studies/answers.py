"""The answers of an experiment: what is decided, and how accurately."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.findings import Finding
from perceptron_lab.core.registry import names
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.collections.netlib import INFEASIBLE, Netlib
from perceptron_lab.datasets.generated.infeasible_programs import InfeasibleSdp
from perceptron_lab.datasets.generated.linear_programs import LinearPrograms
from perceptron_lab.datasets.generated.linear_systems import LinearSystems
from perceptron_lab.experiments.configuration.rows import Row, finding_in, reals
from perceptron_lab.reporting.evidence import Evidence, findings
from perceptron_lab.reporting.needs import Outline, needs, problems_of
from perceptron_lab.reporting.printing.columns import (
    cells,
    counts,
    medians,
    numbers,
    seconds,
    texts,
)
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import lower_bound, upper_bound
from perceptron_lab.reporting.summary import (
    Summary,
    known_or_none,
    largest_known,
    status_text,
    summaries,
)

# A proved bound of the margin is missing here: it leaves open whether a point exists
_DECIDED = (Status.FEASIBLE, Status.INFEASIBLE)


def linear_problems(outline: Outline) -> dict[str, bool]:
    """Return problem -> whether it has a point, of systems of which that is known."""
    generated = problems_of(outline, LinearSystems), problems_of(outline, LinearPrograms)
    truth_of = {name: record.feasible for records in generated for name, record in records.items()}
    truth_of |= {name: name not in INFEASIBLE for name in problems_of(outline, Netlib)}
    if not truth_of:
        raise DataError(
            "no problem has a known answer; add problems of the dataset linear-systems, "
            "linear-programs or netlib"
        )
    return truth_of


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
    # A label that stops without an answer is quick, and no fastest one
    rivals = [entry.answered for entry in entries]
    decided = [_count(entry, _DECIDED) for entry in entries]
    unproved = [_count(entry, (Status.UNVERIFIED,)) for entry in entries]
    columns = [
        *cells(evidence.frame, entries, "conditions"),
        counts("decided", decided),
        counts("unproved", unproved),
        counts(
            "undecided",
            [entry.seeds - a - b for entry, a, b in zip(entries, decided, unproved, strict=True)],
        ),
        counts("false", [_wrong_answers(entry, truths.get(entry.problem)) for entry in entries]),
        *medians(entries, ["seconds"], rivals),
    ]
    note = (
        "Decided, unproved, undecided, false: numbers of seeds. Decided: exact arithmetic "
        "verifies a point, or that none exists. Unproved: exact arithmetic does not verify the "
        "answer. Undecided: no answer within the budget. False: the answer is wrong, whether "
        "verified or not. Seconds: median over the seeds. Bold: the fastest of the labels that "
        "decide every seed."
    )
    return Table("lp_feasibility", columns, keys=3, notes=[note], long=True)


_CLAIM, _WEAK = f"measure.{UNPROVED}infeasible", "measure.known_weak"


def pointless_problems(outline: Outline) -> dict[str, bool]:
    """Return problem -> whether it has no point, of the dataset infeasible-sdp."""
    problems = problems_of(outline, InfeasibleSdp)
    if not problems:
        raise DataError("no problem has a known answer; add problems of the dataset infeasible-sdp")
    return {name: record.kind != "feasible" for name, record in problems.items()}


@needs(pointless_problems)
def infeasible_programs(evidence: Evidence) -> Table:
    """Conic programs of known answers: who claims that there is no point, and what is proved.

    Columns: ``problem``, ``label``, ``seeds``; how many seeds are ``claimed`` to have no point, by
    the solver or (of algorithms) by the status; how many of these claims are ``right``; how many
    seeds have a ``proved`` answer; ``false``, how many proved answers or kinds are wrong; the
    ``kinds`` of infeasibility that are proved, with numbers of seeds; ``seconds``, the median.
    """
    truths = pointless_problems(evidence)
    entries = [x for x in summaries(evidence.frame) if x.seeds and x.problem in truths]
    flags: dict[str, list[int]] = {"claimed": [], "right": [], "proved": [], "false": []}
    proved_kinds = list[str]()
    for entry in entries:
        runs, truth = entry.runs, truths[entry.problem]
        claims, proved = _claims(runs), runs["proved"] & runs["status"].isin(_DECIDED)
        kinds = Counter(finding.infeasibility for finding in findings(runs))
        proved_kinds.append(", ".join(f"{kinds[kind]} {kind}" for kind in kinds if kind))
        wrong_answers = proved & (
            ((runs["status"] == Status.INFEASIBLE) != truth) | _wrong_kinds(runs)
        )
        for name, cells_ in zip(
            flags, (claims, claims & truth, proved, wrong_answers), strict=True
        ):
            flags[name].append(int(cells_.sum()))
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        texts("label", [entry.label for entry in entries]),
        counts("seeds", [entry.seeds for entry in entries]),
        *(counts(name, totals) for name, totals in flags.items()),
        texts("kinds", proved_kinds),
        *medians(entries, ["seconds"], [entry.answered for entry in entries]),
    ]
    note = (
        "Claimed: the solver reports that there is no point. Right: none exists, by "
        "construction. Proved: from its answer, a strictly feasible point or that none exists. "
        "False: proved answers or kinds that are wrong. Kinds: numbers of seeds by the strongest "
        "fact proved. Seconds: median over the seeds."
    )
    return Table("infeasible_programs", columns, keys=2, notes=[note], long=True)


def _claims(runs: pd.DataFrame) -> pd.Series:
    """Return whether a solver reports that there is no point; an algorithm does by its status."""
    by_status = ~runs["algorithm"].isin(names("optimiser")) & (runs["status"] == Status.INFEASIBLE)
    return by_status | (reals(runs[_CLAIM]) == 1.0) if _CLAIM in runs else by_status


def _wrong_kinds(runs: pd.DataFrame) -> pd.Series:
    """Return whether the kind that is proved of a program without a point contradicts its data."""
    kinds = runs["finding"].map(lambda text: finding_in(text).infeasibility)
    weak = reals(runs[_WEAK]) if _WEAK in runs else pd.Series(math.nan, runs.index)
    contradicted = ((kinds == "strong") & (weak == 1.0)) | ((kinds == "weak") & (weak == 0.0))
    return contradicted | (kinds == "boundary only")


def _count(entry: Summary, statuses: tuple[Status, ...]) -> int:
    return int(entry.runs["status"].isin(statuses).sum())


def _wrong_answers(entry: Summary, truth: bool | None) -> int | None:
    """Return the number of wrong answers; None where it is unknown."""
    if truth is None:
        return None
    # Answers without proof count as well: that exact arithmetic rejects one does not undo the claim
    answers = map(answered, entry.runs["status"], findings(entry.runs))
    return sum(answer is not None and answer != truth for answer in answers)


def answered(status: str, finding: Finding) -> bool | None:
    """Return whether an answer, proved or not, claims that a point exists; None without answer."""
    return status == Status.FEASIBLE if status in _DECIDED else finding.claimed_feasible


_FAMILY = re.compile(r"[A-Za-z]*")


def families(evidence: Evidence) -> Table:
    """Answers by family of problems: the letters that a problem's name begins with.

    Columns: ``family``, ``problems``, how many; ``order``, the largest rank of their cones;
    ``label``; of the family's cells with that label, how many are ``skipped`` (their data are not
    there, or the algorithm does not run on them), ``feasible`` and ``infeasible`` (proved);
    ``undecided``, the statuses of all others; ``seconds`` and ``proof seconds``, the largest of one
    cell; ``slowest``, the problem that took most seconds.
    """
    runs = evidence.frame.assign(family=evidence.frame["problem"].map(family))
    # Not sorted: families and labels keep the order of the experiment
    groups = [group for _, group in runs.groupby(["family", "label"], sort=False)]
    columns = [
        texts("family", [_first(group, "family") for group in groups]),
        counts("problems", [group["problem"].nunique() for group in groups]),
        counts("order", [_largest(group["constraints"]) for group in groups]),
        texts("label", [_first(group, "label") for group in groups]),
        counts("skipped", [_proved_of(group, Status.SKIPPED) for group in groups]),
        *(
            counts(answer.lower(), [_proved_of(group, answer) for group in groups])
            for answer in _DECIDED
        ),
        texts("undecided", [undecided(group) for group in groups]),
        seconds("seconds", [_largest(group["seconds"]) for group in groups]),
        seconds("proof seconds", [_largest(group["proof_seconds"]) for group in groups]),
        texts("slowest", [_slowest(group) for group in groups]),
    ]
    return Table("families", columns, keys=1, notes=[*_notes(runs)], long=True)


def family(problem: str) -> str:
    """Return the letters that a name begins with: mcp of ``mcp124-1``, infd of ``infd1``.

    Questions about rays are a separate family: ``infd recession`` of ``infd1.recession``.
    """
    match = _FAMILY.match(problem)
    # Names that begin with a digit are families of their own: a cell without a name says nothing
    letters = (match.group() if match else "") or problem
    return f"{letters} recession" if problem.endswith(".recession") else letters


def undecided(cells: pd.DataFrame) -> str:
    """Count the statuses of cells that decided nothing; the skipped ones are left out."""
    open_ = cells[~((cells["status"].isin(_DECIDED) & cells["proved"]) | _skipped(cells))]
    statuses = Counter(map(status_text, open_["status"], open_["proved"]))
    return ", ".join(f"{count} {name}" for name, count in statuses.items())


def _skipped(cells: pd.DataFrame) -> pd.Series:
    return cells["status"] == Status.SKIPPED


def _proved_of(cells: pd.DataFrame, status: Status) -> int:
    """Count the cells of a status; claims only where they are proved."""
    # A skipped cell claims nothing, so that nothing of it can be proved
    counted = cells["proved"] | (status is Status.SKIPPED)
    return int(((cells["status"] == status) & counted).sum())


def _first(cells: pd.DataFrame, column: str) -> str:
    return str(cells[column].iloc[0])


def _largest(values: pd.Series) -> float | None:
    present = values.dropna()
    return None if present.empty else float(present.max())


def _slowest(cells: pd.DataFrame) -> str:
    timed = cells.dropna(subset=["seconds"]).sort_values("seconds")
    return "" if timed.empty else str(timed["problem"].iloc[-1])


def _notes(runs: pd.DataFrame) -> Sequence[str]:
    skipped = int(_skipped(runs).sum())
    decided = int((runs["status"].isin(_DECIDED) & runs["proved"]).sum())
    ran = len(runs) - skipped
    return [
        f"Of {ran} cells that were run, {decided} are decided: a strictly feasible point, or that "
        f"none exists, is verified on the original data. Skipped ({skipped} cells): the file "
        "could not be found or downloaded, or the algorithm does not apply; the table of runs "
        "states the reason for each cell. Seconds, proof seconds: the largest of one cell."
    ]


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
            "no label is a solver that states the errors of its answer; add one, such as "
            "clarabel or csdp"
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
            numbers(f"error {number + 1}", [errors[number] for errors in claimed])
            for number in range(len(_ERRORS))
        ),
        numbers("claimed", [largest_known(errors) for errors in claimed]),
        numbers("proved", [proved_gap(row) for row in rows]),
        texts("proves", [proves(row) for row in rows]),
        numbers("margin lower", [known_or_none(row["margin_lower"]) for row in rows], lower_bound),
        numbers("margin upper", [known_or_none(row["margin_upper"]) for row in rows], upper_bound),
        seconds("seconds", [known_or_none(row["seconds"]) for row in rows]),
        texts("status", [status_text(row["status"], row["proved"]) for row in rows]),
    ]
    note = (
        "Problem solved: maximise $t$ over $y$ and $t$ such that $A^*y - te$ lies in the cone "
        "and $\\|y\\| \\le 1$. Errors 1 to 6: the six DIMACS errors of the solver's answer in "
        "double precision, on data divided by their largest entry. Claimed: the largest of them. "
        "Proved: the gap of the verified bounds $[\\max(0, l), u]$ of the margin, $(u - l) / (s "
        "+ u + l)$ with $s$ the largest entry, comparable with error 5. Proves: what is verified "
        "on the original data from the repaired answer."
    )
    return Table("accuracy", columns, keys=2, notes=[note], long=True, widest=14)


def proved_gap(row: Row) -> float | None:
    """Return the gap of the proved bracket of the margin, which is 0 or more, relative as error 5.

    A point is proved to have the margin l, weights that none has more than u; y = 0 has 0.
    """
    upper, size = known_or_none(row["margin_upper"]), known_or_none(row[_SIZE])
    if size is None:
        return None
    if upper is None:
        return math.inf
    # The point 0 is always there, with margin 0: a negative bound proves less than nothing
    lower = max(0.0, known_or_none(row["margin_lower"]) or 0.0)
    # DIMACS error 5 is (p - d) / (1 + |p| + |d|) on data divided by their largest entry s; here all
    # is multiplied by s again
    return (upper - lower) / (size + upper + lower)


def proves(row: Row) -> str:
    """Return which statement is proved: a point, that no point exists, or neither."""
    if row["status"] == Status.SKIPPED:
        return ""
    return _PROVES.get(row["status"], "nothing") if row["proved"] else "nothing"
