"""What can be done about separation, as a record: as sentences and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from perceptron_lab.core.errors import counted
from perceptron_lab.core.results import IntArray
from perceptron_lab.problems.separation.families.kinds import RISKS
from perceptron_lab.problems.separation.verdict_record import (
    VerdictRecord,
    enumeration,
    json_label,
)

ALIASED: Final = "ALIASED"
_CHANGED: Final = {
    "binomial": "another label",
    "trials": "one trial of the other outcome",
    "log-binomial": "a success",
}


@dataclass(frozen=True)
class SmallestChange:
    """The smallest set that restores overlap, or bounds of its size.

    Parameters
    ----------
    members
        Names of columns, or indices of rows; None if no set was found.
    at_least
        No smaller set restores overlap, proved; one more than there are candidates if none does.
    candidates
        The number of columns or rows that may be changed.
    classes
        The new class of each row, for models of several classes; empty for others.
    """

    members: tuple[str, ...] | tuple[int, ...] | None
    at_least: int
    candidates: int
    classes: tuple[object, ...] = ()

    @property
    def smallest(self) -> bool:
        """Whether the set is proved to be a smallest one."""
        return self.members is not None and len(self.members) == self.at_least

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        members = None if self.members is None else list(self.members)
        record = {"members": members, "at_least": self.at_least, "smallest": self.smallest}
        classes = {"classes": [json_label(label) for label in self.classes]}
        return record | (classes if self.classes else {})

    def bound(self, noun: str) -> str:
        """Return what is proved of the size as a phrase."""
        if self.smallest:
            return "no smaller set does"
        return f"at least {counted(self.at_least, noun)} must change, and no smaller set was found"


@dataclass(frozen=True, repr=False)
class Remedies:
    """What a verdict of separation leaves, and the smallest changes that restore overlap.

    Parameters
    ----------
    verdict
        The verdict.
    estimates
        Coefficient -> its class, or ``ALIASED``: R's NA, a column that depends linearly on those
        before it (constants come first). The classes are those without aliased columns;
        ``UNDECIDED`` where the time limit ended the search.
    remaining_rows
        The largest set of rows that overlaps; all others separate. For models that compare rows
        with each other (``conditional``, ``cox``), the rows that are in no separated comparison.
    remaining
        The verdict on these rows, with its own proof of overlap; None if there are no such rows,
        for models that compare rows, and where the time limit ended the proof.
    determined
        The finite coefficients: their estimates from the remaining rows are the limits of those
        from all rows. Of the others the remaining rows tell nothing.
    columns
        The columns to leave out; constants stay. A column of a multinomial model is left out with
        its coefficients of all classes.
    labels
        The rows whose responses are to be changed: labels; one trial; a count of 0 that becomes
        positive; classes, each of which keeps a row. None for models that compare rows with each
        other, which are not searched.
    """

    verdict: VerdictRecord
    estimates: dict[str, str]
    remaining_rows: IntArray
    remaining: VerdictRecord | None
    determined: tuple[str, ...]
    columns: SmallestChange
    labels: SmallestChange | None

    @property
    def aliased(self) -> tuple[str, ...]:
        """The coefficients that R reports as NA."""
        return tuple(name for name, kind in self.estimates.items() if kind == ALIASED)

    def as_json(self) -> dict[str, Any]:
        """Return the remedies as JSON values."""
        return {
            "estimates": self.estimates,
            "remaining_rows": self.remaining_rows.tolist(),
            "remaining_verdict": None if self.remaining is None else self.remaining.verdict,
            "determined": list(self.determined),
            "columns": self.columns.as_json(),
            "labels": None if self.labels is None else self.labels.as_json(),
        }

    def __str__(self) -> str:
        return "\n  ".join(["what can be done:", *self._sentences()])

    __repr__ = __str__

    def _sentences(self) -> Iterator[str]:
        if self.aliased:
            yield (
                f"leave out {enumeration(self.aliased)}: linearly dependent on other columns (NA "
                "in R)"
            )
        if self.verdict.finite:
            yield "nothing else: all estimates exist"
            return
        yield self._on_rows()
        yield self._on_columns()
        yield self._on_labels()

    def _on_rows(self) -> str:
        """Return what is left if the separated rows are removed."""
        verdict = self.verdict
        if verdict.model is not None and verdict.model.family in RISKS:
            return "no rows to remove are proposed: a removal changes the comparisons of other rows"
        if not len(self.remaining_rows):
            return "no rows to keep: every set of rows is separated"
        every = np.arange(verdict.rows.count) if verdict.model is None else verdict.model.included
        removed = verdict.rows_in_words(np.setdiff1d(every, self.remaining_rows))
        left = counted(len(self.remaining_rows), "row")
        overlap = "overlaps" if len(self.remaining_rows) == 1 else "overlap"
        text = f"without {removed} the {left} left {overlap}"
        text += " (proved)" if self.remaining is not None else " (the proof needs more time)"
        lost = [name for name in self.estimates if name not in (*self.determined, *self.aliased)]
        consequences = []
        if self.determined:
            meaning = "are the limits of those from all rows"
            if not verdict.has_limits:
                meaning = "are determined by them"
            consequences.append(f"the estimates of {enumeration(self.determined)} {meaning}")
        if lost:
            consequences.append(f"these rows tell nothing about {enumeration(lost)}")
        return f"{text}: {'; '.join(consequences)}" if consequences else text

    def _on_columns(self) -> str:
        """Return which columns have to be left out."""
        members = self.columns.members
        if members is None and self.columns.at_least > self.columns.candidates:
            return "no choice of columns to leave out restores overlap"
        if not members:
            return f"at least {counted(self.columns.at_least, 'column')} would have to be left out"
        names = enumeration(tuple(map(str, members)))
        noun = "column" if len(members) == 1 else "columns"
        return f"without the {noun} {names} the rows overlap; {self.columns.bound('column')}"

    def _on_labels(self) -> str:
        """Return how many responses the separation rests on."""
        if self.labels is None:
            return "responses: not searched for models that compare rows with each other"
        members = self.labels.members
        if members is None and self.labels.at_least > self.labels.candidates:
            return "no change of responses restores overlap"
        model = self.verdict.model
        family = "binomial" if model is None else model.family
        family = "trials" if model is not None and model.several is not None else family
        kind = _CHANGED.get(family, "a count above 0")
        if not members:
            return f"the separation rests on at least {counted(self.labels.at_least, 'response')}"
        text = f"with {self._changes(self.labels, kind)} the rows would overlap; "
        text += self.labels.bound("response")
        return f"{text} (how fragile the separation is, and no advice)"

    def _changes(self, change: SmallestChange, kind: str) -> str:
        """Return changed responses as a phrase: the new ones, and their rows."""
        rows = np.array(change.members, dtype=np.int64)
        kinds = [f"class {label}" for label in change.classes] or [kind] * len(rows)
        phrases = [
            f"{kind} in {self.verdict.rows_in_words(rows[[k == kind for k in kinds]])}"
            for kind in dict.fromkeys(kinds)
        ]
        return enumeration(phrases)
