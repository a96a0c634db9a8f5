"""The result of a run: its status, its proved bracket of the margin, its trace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import BROKEN, DataError
from perceptron_lab.core.findings import NOTHING, Finding
from perceptron_lab.core.goals import Goal, goal_of
from perceptron_lab.core.outward_rounding import bracket_text, text_above
from perceptron_lab.core.saved_answers.fields import flattened
from perceptron_lab.core.saved_answers.files import MEASURE, PROOF, packed, prefixed, read_answer
from perceptron_lab.core.saved_answers.kinds import kind_of, result_fields
from perceptron_lab.core.visible_text import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
AnyArray = npt.NDArray[Any]


class StatusWord(StrEnum):
    """A status in one word, as rows and the command line show it."""

    @property
    def failed(self) -> bool:
        """Whether commands report this status by exit code 1."""
        return False

    @property
    def colour(self) -> str:
        """Colour on a terminal: green if proved or done, red if failed, yellow otherwise."""
        return _COLOURS.get(self, "red" if self.failed else "yellow")


_COLOURS = {"running": "cyan"} | dict.fromkeys(
    ("FEASIBLE", "INFEASIBLE", "MARGIN_BOUNDED", "UNBOUNDED", "FITTED", "PROVED", "done"), "green"
)


class Status(StatusWord):
    """The status of a run. Only the driver (and the experiment runner) sets it.

    Examples
    --------
    >>> from perceptron_lab import solve
    >>> solve([[1.0], [-2.0]]).status is Status.INFEASIBLE
    True
    >>> Status.INFEASIBLE == "INFEASIBLE"
    True
    """

    FEASIBLE = "FEASIBLE"
    """The point is proved to be strictly feasible on the original data."""
    INFEASIBLE = "INFEASIBLE"
    """The weights prove that no strictly feasible point exists."""
    MARGIN_BOUNDED = "MARGIN_BOUNDED"
    """The bound that the algorithm or the goal asked for is proved, and no feasible point."""
    UNBOUNDED = "UNBOUNDED"
    """The optimisation problem has a proved direction of recession."""
    FITTED = "FITTED"
    """A learner was fitted; nothing was to be proved."""
    UPDATE_LIMIT = "UPDATE_LIMIT"
    """The budget of updates is spent; the margin bounds are still proved."""
    TIME_LIMIT = "TIME_LIMIT"
    """The budget of seconds is spent; the margin bounds are still proved."""
    NUMERICAL_ERROR = "NUMERICAL_ERROR"
    """The algorithm's own quantities left the range in which its step is defined."""
    UNVERIFIED = "UNVERIFIED"
    """The algorithm ended on a claim that could not be proved."""
    SKIPPED = "SKIPPED"
    """Runner: not run, for the reason given."""
    CRASHED = "CRASHED"
    """Runner: the process died."""
    KILLED = "KILLED"
    """Runner: the process was killed at its hard limit."""
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    """Runner: the memory limit was reached."""
    ERROR = "ERROR"
    """Runner: an exception; its text is in ``message``."""

    @property
    def failed(self) -> bool:
        """Whether ``plab run`` reports this status by exit code 1."""
        return self in _FAILED


OPTIMUM_EXACT = "optimum_exact"
"""The name of an exact optimum in certificates and JSON: a text p/q, or None."""
PROVED = frozenset({Status.FEASIBLE, Status.INFEASIBLE, Status.MARGIN_BOUNDED, Status.UNBOUNDED})
"""The statuses that state a theorem about the data; UNBOUNDED is of learners alone."""

# Arrays and records are saved in forms of their own; values and conflict are not saved
_SAVED_APART = {"point", "weights", "trace", "bound", "proof", "finding", "values", "conflict"}

_LOADED = "  read from a file, not verified: `plab verify FILE` does that"
"""The last line of a loaded result's summary."""

_FAILED = {
    Status.NUMERICAL_ERROR,
    Status.UNVERIFIED,
    Status.CRASHED,
    Status.KILLED,
    Status.OUT_OF_MEMORY,
    Status.ERROR,
}


@dataclass(frozen=True)
class Bound:
    """An algorithm's guarantee on its updates for given facts.

    Parameters
    ----------
    value
        The bound, or None where no theorem applies.
    theorem
        Where the bound is stated, with the paper's key.
    reason
        Why there is no bound; empty otherwise.
    kind
        ``worst case``: no run makes more updates. ``expectation``: their mean over the algorithm's
        own randomness is at most this; a single run may make more.

    Examples
    --------
    >>> print(Bound(100.0, "Theorem 1"), Bound(None, "", "the margin is not known"), sep="; ")
    100 updates (Theorem 1); none (the margin is not known)
    """

    value: float | None
    theorem: str
    reason: str = ""
    kind: Literal["worst case", "expectation"] = "worst case"

    def __str__(self) -> str:
        if self.value is None:
            return f"none ({self.reason})"
        updates = "updates" if self.kind == "worst case" else "updates in expectation"
        return f"{self.value:.6g} {updates} ({self.theorem})"


@dataclass(frozen=True)
class Guarantee:
    """The update bound of an algorithm as its theorem states it; :class:`Bound` is its value.

    Parameters
    ----------
    formula
        The largest number of updates, in the notation of docstrings; empty without a bound.
    theorem
        The theorem, or the derivation in words.
    paper
        The key of the paper; empty if ``theorem`` names the source.
    note
        The conditions and further symbols; without a formula, the reason for its absence.
    """

    formula: str
    theorem: str = ""
    paper: str = ""
    note: str = ""

    @property
    def source(self) -> str:
        """The theorem with its paper, as bounds cite it."""
        return f"{self.theorem} of {self.paper}" if self.paper else self.theorem


@dataclass
class Trace:
    """The trace of a run: records at the first and last update, powers of two and new phases.

    Each attribute is a list with one entry per record. ``margin`` is the computed (not proved)
    margin of the point: the lowest score, or eigenvalue of the scores, over norm(point). ``upper``
    is norm(A w) / <e, w> of the weights w, computed, or NaN without weights. Both are NaN where the
    numbers of the run do not allow to compute them.

    Records are left out, but for the first and the last one, where they would take more than a
    second in all, more than the steps, or more than an eighth of the budget's seconds.
    ``measures`` holds what the problem measures of the point: numbers or arrays, by name; and where
    cuts are traced, ``cuts``, ``cut_norm`` and ``cut_depth``, one number per block of the cone.

    Examples
    --------
    >>> from perceptron_lab import solve
    >>> trace = solve([[1.0, 0.0], [-0.5, 1.0]], "perceptron").trace
    >>> trace.updates
    [0, 1, 2]
    """

    updates: list[int] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)
    queries: list[int] = field(default_factory=list)
    products: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    phase: list[str] = field(default_factory=list)
    margin: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    measures: dict[str, list[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.updates)


@dataclass(frozen=True, repr=False)
class Result:
    """The result of a run.

    Parameters
    ----------
    status
        How the run ended.
    proved
        Whether the status is proved on the original data.
    point
        The last (for FEASIBLE: the proved) point, shape ``(dimension,)``.
    weights
        Flat weights in the dual cone, shape ``(size,)``, or None: those that prove
        ``margin_upper``, where there are any.
    margin_lower
        The proved lower bound of the margin; None where nothing is proved.
    margin_upper
        The proved upper bound of the margin; None where nothing is proved.
    updates
        Changes of the point.
    queries
        Calls of the oracle.
    iterations
        Iterations of a method that is not mistake-driven.
    products
        Full applications of the data.
    seconds
        Seconds of the algorithm alone.
    proof_seconds
        Seconds of the proofs.
    total_seconds
        Seconds of the whole call, which records the trace as well.
    trace
        The convergence history.
    certificate
        The facts proved, and the methods of their proofs.
    bound
        The algorithm's guarantee, on the facts known (the proved margin among them).
    message
        One sentence for the reader.
    finding
        The facts in it that the other attributes do not have, as data.
    values
        The variables of a cvxpy problem by name, in doubles, where a point is proved; not saved.
    conflict
        The constraints in conflict of an infeasible cvxpy problem or conic system; not saved.
    goal
        The goal of the run; None as for ``goal_reached``.
    goal_reached
        Whether the goal is reached: see
        :meth:`~perceptron_lab.core.proved_outcome.ProvedOutcome.reaches`. None for learners, which
        have no goal of this kind, and in files of versions without goals.
    proof
        Arrays by name that prove a learner's status, or the lower bound of an optimum; empty for
        algorithms, whose point and weights do.
    optimum_lower
        The proved lower bound of the optimum of a program; None where nothing is proved.
    optimum_upper
        The proved upper bound of the same.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from perceptron_lab import Result, solve
    >>> result = solve([[3.0, 4.0]], "perceptron")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(Path(folder, "answer.npz"))
    ...     Result.load(Path(folder, "answer.npz")).status.value
    'FEASIBLE'
    """

    status: Status
    proved: bool
    point: FloatArray
    weights: FloatArray | None
    margin_lower: float | None
    margin_upper: float | None
    updates: int
    queries: int
    iterations: int
    products: float
    seconds: float
    proof_seconds: float
    total_seconds: float
    trace: Trace
    certificate: dict[str, Any]
    bound: Bound
    message: str
    goal: Goal | None = None
    goal_reached: bool | None = None
    proof: dict[str, FloatArray] = field(default_factory=dict)
    optimum_lower: float | None = None
    optimum_upper: float | None = None
    finding: Finding = NOTHING
    values: dict[str, FloatArray] = field(default_factory=dict)
    conflict: tuple[str, ...] = ()

    @property
    def not_verified(self) -> tuple[str, ...]:
        """The attributes that are not verified: all of a loaded result, none of a new run's."""
        return tuple(self.__dataclass_fields__) if self.__dict__.get("_loaded") else ()

    @property
    def infeasibility(self) -> str | None:
        """The strongest fact that is proved where no point is strictly feasible; else None.

        "no strict point"; "boundary only" (an exact point on the boundary of the cones is known);
        "no point" (of the closed cones); "weak" (no point, and points as near to the cones as is
        wished) or "strong" (no such points).
        """
        if self.status is not Status.INFEASIBLE:
            return None
        weakest = "strong" if "linear" in self.certificate else "no strict point"
        return str(self.certificate.get("infeasibility", weakest))

    @property
    def optimum_width(self) -> float | None:
        """(upper - lower) / max(1, |upper|) of the proved bounds of the optimum, or None."""
        return relative_width(self.optimum_lower, self.optimum_upper)

    @property
    def margin_name(self) -> str:
        """``unit margin``, ``directional margin`` or ``geometric margin``; else ``margin``."""
        return f"{self.certificate.get('margin', '')} margin".strip()

    def __str__(self) -> str:
        goal = f", goal {self.goal} {'reached' if self.goal_reached else 'missed'}"
        if self.goal is None or (self.goal == "decide" and self.goal_reached):
            goal = ""  # the status says it
        lines = [
            f"{self.status}{' (proved)' if self.proved else ''}{goal}: {self.message}",
            f"  {self._bracket(12)}",
            f"  {self.updates} updates, {self.queries} queries, {self.iterations} iterations, "
            f"{self.products:g} products, {self.seconds:.3g} s",
        ]
        if self.bound.value is not None:
            lines.append(f"  bound: {self.bound}")
        lines += self._conflict() + ([_LOADED] if self.not_verified else [])
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Return the outcome in a line; the arrays and the trace are attributes."""
        proved = " proved" if self.proved else ""
        text = f"<Result {self.status}{proved}, {self._bracket(10)}, {self.updates} updates"
        return f"{text}, read from a file and not verified>" if self.not_verified else f"{text}>"

    def _conflict(self) -> list[str]:
        """Return a line that names the constraints in conflict, if they are known."""
        if not self.conflict:
            return []
        entries = self.certificate.get("conflict")
        open_names = entries and "; ".join(entries["not proved necessary"])
        extent = f" (not proved necessary: {open_names})" if open_names else " (irreducible)"
        return [f"  in conflict: {'; '.join(self.conflict)}{extent if entries else ''}"]

    def _bracket(self, digits: int) -> str:
        """Return a line with the margin's bracket, or that of the optimum."""
        if self.optimum_lower is None and self.optimum_upper is None:
            return f"{self.margin_name} in {bracket_text(self.margin_lower, self.margin_upper)}"
        text = f"optimum in {bracket_text(self.optimum_lower, self.optimum_upper, digits)}"
        width = self.optimum_width
        return text if width is None else f"{text}, relative width {text_above(width, 2)}"

    def _repr_html_(self) -> str:
        """Return a table for notebooks; every text in it is escaped."""
        rows = {
            "status": f"{self.status}{' (proved)' if self.proved else ''}",
            "message": self.message,
            "proved": self._bracket(12),
            "point": _entries(self.point),
            "weights": "none" if self.weights is None else _entries(self.weights),
            "updates": f"{self.updates} (bound: {self.bound})",
            "seconds": f"{self.seconds:.3g}, and {self.proof_seconds:.3g} for the proofs",
        } | ({"not verified": "all of it, read from a file"} if self.not_verified else {})
        lines = [
            f"<tr><th style='text-align:left'>{name}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for name, text in rows.items()
        ]
        # A message may hold characters that a browser obeys, as in names of files
        return visible(f"<table>{''.join(lines)}</table>")

    def plot(self) -> Figure:
        """Return a matplotlib figure of the trace: margins and bounds over updates, the bracket.

        Computed are the margin of the point and the bound norm(A w) / <e, w> of the weights at
        each record; proved is the bracket, which the figure shows as a band.
        """
        from perceptron_lab.core.trace_figure import trace_figure  # matplotlib takes half a second

        trace, bracket = self.trace, (self.margin_lower, self.margin_upper)
        title = f"{self.status}{' (proved)' if self.proved else ''}"
        return trace_figure(trace.updates, trace.margin, trace.upper, bracket, title)

    def save(self, path: str | Path, *, source: Mapping[str, object] | None = None) -> None:
        """Write the result as one ``.npz`` file (arrays, and the rest as JSON; no pickle).

        Parameters
        ----------
        path
            Path of the file, which gets exactly this name.
        source
            JSON values that say which data and algorithm the result is of, for ``plab verify``;
            :meth:`load` leaves them out.
        """
        record = {
            name: getattr(self, name)
            for name in self.__dataclass_fields__
            if name not in _SAVED_APART
        }
        trace = asdict(self.trace)
        measures = trace.pop("measures")
        goal = None if self.goal is None else str(self.goal)
        record |= {"bound": asdict(self.bound), "trace": trace, "goal": goal}
        # Left out and not null, which the schema of these files does not allow
        record |= {} if source is None else {"source": dict(source)}
        record |= {"finding": self.finding.values()} if self.finding else {}
        arrays = {"point": self.point, "json": json.dumps(record)}
        arrays |= prefixed(MEASURE, measures) | prefixed(PROOF, self.proof)
        arrays |= {} if self.weights is None else {"weights": self.weights}
        Path(path).write_bytes(packed(arrays))

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Read a result written by :meth:`save`; types, ranges and names of fields are checked.

        Nothing is verified, since no data are read: :attr:`not_verified` and the printed summary
        list the attributes; :func:`perceptron_lab.verify` verifies a file that `plab solve --save`
        has written, and names the fields that even it does not verify.

        Raises
        ------
        DataError
            If there is no such file, or it is not a whole result.
        """
        try:
            file = read_answer(path)
            record = file.record
            point, weights = file.arrays["point"], file.arrays.get("weights")
            kind = kind_of(record["certificate"], point.size)
            # Checked as a whole before any part is used, since the file may come from anybody
            flattened(result_fields(kind, sourced=False), file.tree())
            measures = {name: list(array) for name, array in file.named(MEASURE).items()}
            record["status"] = Status(record["status"])
            record["bound"] = Bound(**record["bound"])
            record["trace"] = Trace(**record["trace"], measures=measures)
            record.pop("source", None)
            # Results without facts, and files of earlier versions, have no finding
            record["finding"] = Finding.of_values(record.pop("finding", {}))
            # Files of earlier versions have no goal
            goal = record.pop("goal", None)
            record["goal"] = None if goal is None else goal_of(goal)
            loaded = cls(point=point, weights=weights, proof=file.named(PROOF), **record)
            # No field, since fields are saved
            object.__setattr__(loaded, "_loaded", True)
            return loaded
        except BROKEN as error:
            raise DataError(
                f"{path}: not a result that can be read ({error}); Result.save writes them"
            ) from None


def relative_width(lower: float | None, upper: float | None) -> float | None:
    """Return (upper - lower) / max(1, |upper|) of the bounds of an optimum; None without both."""
    return None if lower is None or upper is None else (upper - lower) / max(1.0, abs(upper))


def _entries(values: FloatArray) -> str:
    """Return the first entries of an array as text, and the number of entries."""
    first = ", ".join(f"{value:.6g}" for value in values[:8].tolist())
    return f"[{first}{', ...' if len(values) > 8 else ''}], {len(values)} in all"
