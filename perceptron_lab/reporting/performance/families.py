"""Problems by family: how many of each are decided, skipped, left undecided, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from perceptron_lab.core.results import Status
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.columns import counts, seconds, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import ending

_DECIDED = (Status.FEASIBLE, Status.INFEASIBLE)
_FAMILY = re.compile(r"[A-Za-z]*")


def families(evidence: Evidence) -> Table:
    """Answers by family of problems: the letters that a problem's name begins with.

    Columns: ``family``, ``problems``, how many; ``order``, the largest rank of their cones;
    ``label``; of the family's cells with that label, how many are ``skipped`` (their data are not
    there, or the algorithm does not run on them), ``feasible`` and ``infeasible`` (proved);
    ``undecided``, the endings of all others; ``seconds`` and ``proof seconds``, the largest of one
    cell; ``slowest``, the problem that took most seconds.
    """
    runs = evidence.frame.assign(family=evidence.frame["problem"].map(family))
    groups = [group for _, group in runs.groupby(["family", "label"], sort=False)]
    columns = [
        texts("family", [_first(group, "family") for group in groups]),
        counts("problems", [group["problem"].nunique() for group in groups]),
        counts("order", [_largest(group["constraints"]) for group in groups]),
        texts("label", [_first(group, "label") for group in groups]),
        counts("skipped", [_count(group, Status.SKIPPED) for group in groups]),
        *(counts(one.lower(), [_count(group, one) for group in groups]) for one in _DECIDED),
        texts("undecided", [undecided(group) for group in groups]),
        seconds("seconds", [_largest(group["seconds"]) for group in groups]),
        seconds("proof seconds", [_largest(group["proof_seconds"]) for group in groups]),
        texts("slowest", [_slowest(group) for group in groups]),
    ]
    return Table("families", columns, keys=1, notes=[*_notes(runs)], long=True)


def family(problem: str) -> str:
    """Return the letters that a name begins with: mcp of ``mcp124-1``, infd of ``infd1``.

    Questions about rays are a family of their own: ``infd recession`` of ``infd1.recession``.
    """
    found = _FAMILY.match(problem)
    letters = (found.group() if found else "") or problem
    return f"{letters} recession" if problem.endswith(".recession") else letters


def undecided(cells: pd.DataFrame) -> str:
    """Count the endings of cells that decided nothing; the skipped ones are left out."""
    open_ = cells[~((cells["status"].isin(_DECIDED) & cells["proved"]) | _skipped(cells))]
    endings = Counter(map(ending, open_["status"], open_["proved"]))
    return ", ".join(f"{count} {name}" for name, count in endings.items())


def _skipped(cells: pd.DataFrame) -> pd.Series:
    return cells["status"] == Status.SKIPPED


def _count(cells: pd.DataFrame, status: Status) -> int:
    """Count the cells of a status; claims only where they are proved."""
    counted = cells["proved"] | (status is Status.SKIPPED)
    return int(((cells["status"] == status) & counted).sum())


def _first(cells: pd.DataFrame, column: str) -> str:
    return str(cells[column].iloc[0])


def _largest(values: pd.Series) -> float | None:
    known = values.dropna()
    return None if known.empty else float(known.max())


def _slowest(cells: pd.DataFrame) -> str:
    known = cells.dropna(subset=["seconds"]).sort_values("seconds")
    return "" if known.empty else str(known["problem"].iloc[-1])


def _notes(runs: pd.DataFrame) -> Sequence[str]:
    skipped = int(_skipped(runs).sum())
    decided = int((runs["status"].isin(_DECIDED) & runs["proved"]).sum())
    ran = len(runs) - skipped
    return [
        f"Of {ran} cells that were run, {decided} are decided: a strictly feasible point, or that "
        "there is none, is proved on the original data. Skipped: the file is not on this machine "
        f"and could not be had, or the algorithm does not run on it ({skipped} cells, each with "
        "its reason in the table of runs). Seconds: the most that one cell took."
    ]
