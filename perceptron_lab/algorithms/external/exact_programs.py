"""QSopt_ex and SoPlex: command-line programs that solve linear programs in rational numbers.

Conditions are written in the LP format and in whole numbers, so that nothing is rounded, and the
answer is read as fractions. It is a claim like those of other solvers: it is checked exactly.
"""

from __future__ import annotations

import re
import tempfile
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np

from perceptron_lab.algorithms.base import Systems, claim_bound
from perceptron_lab.algorithms.external.base import (
    SingleAnswerSolver,
    SingleAnswerState,
    rows_of,
    stacked,
)
from perceptron_lab.core.claims import Claim, FeasiblePoint
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.external_programs import program_path, run_program
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import in_time, seconds_left
from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.linear_system import LinearSystem, linear_system

PROGRAM, ANSWER = "program.lp", "answer.sol"
_FRACTION = re.compile(r"[+-]?\d+(/\d+)?")


@dataclass(frozen=True)
class ProgramReply:
    """What a program says of a linear system.

    Parameters
    ----------
    point
        The point of its answer, or None where it claims that no point exists.
    name
        Its name and version.
    weights
        Of the conditions in whole numbers, where it states them for that claim.
    """

    point: tuple[Fraction, ...] | None
    name: str
    weights: Mapping[int, Fraction] = field(default_factory=dict)


@parameter_record
class ExactProgram(SingleAnswerSolver):
    """A command-line solver of linear programs in rational numbers.

    On rows a_i of norm 1 it is asked for y with <a_i, y> >= 1 for all i; where it claims that none
    exists, for x >= 0 with sum_i x_i a_i = 0 and sum_i x_i = 1 (Gordan).

    Attributes
    ----------
    command, remedy
        Its name on PATH, and how to install it.
    version
        A regular expression that finds its version in what it prints.
    solved, infeasible
        Those that find its claims, that it has a point and that none exists.
    """

    command: ClassVar[str]
    remedy: ClassVar[str]
    version: ClassVar[str]
    solved: ClassVar[str]
    infeasible: ClassVar[str]

    epsilon: Positive = 1e-6
    time_limit: Positive = 300.0

    def path(self) -> str:
        """Return the path of the program, or raise MissingProgramError."""
        return program_path(self.command, self.remedy)

    def start(self, system: ConicSystem, rng: np.random.Generator) -> SingleAnswerState:
        """Return the state at 0, before the solver is called."""
        state = super().start(system, rng)
        self.path()
        return state

    def ask(self, system: ConicSystem, state: SingleAnswerState) -> Claim:
        """Ask for a point of the rows, and where no point exists, for weights."""
        rows = rows_of(system)
        reply = self.reply_to(linear_system(rows, np.ones(rows.shape[0])))
        state.remark = reply.name
        if reply.point is not None:
            state.point = _direction(reply.point)
            return FeasiblePoint(state.point.copy())
        multipliers = [reply.weights.get(i, Fraction()) for i in range(rows.shape[0])]
        if not reply.weights:
            columns = stacked(rows.T, np.ones((1, rows.shape[0])))
            target, none = np.append(np.zeros(rows.shape[1]), 1.0), np.zeros((0, rows.shape[0]))
            program = linear_system(none, [], equalities=(columns, target), lower=0.0)
            multipliers = list(self.reply_to(program).point or multipliers)
        weights = np.maximum(_direction(multipliers), 0.0)
        if weights.any():
            state.weights, state.point = weights, system.combine(weights)
        return claim_bound(system, weights, self.epsilon)

    def reply_to(self, system: LinearSystem) -> ProgramReply:
        """Return the program's answer to the question whether a system has a point.

        Raises
        ------
        MissingProgramError
            If it is not on PATH.
        NumericalError
            If it gives no answer, or none in time.
        """
        path = self.path()
        with tempfile.TemporaryDirectory(prefix=f"plab-{self.command}-") as name:
            folder = Path(name)
            with (folder / PROGRAM).open("w", encoding="ascii") as file:
                file.writelines(f"{line}\n" for line in _lp_lines(system))
            seconds = min(self.time_limit, seconds_left())
            ended = run_program([path, *self.arguments()], folder, seconds)
            written = folder / ANSWER
            text = written.read_text("ascii", errors="replace") if written.exists() else ""
        printed = ended.stdout + ended.stderr
        version = re.search(self.version, printed)
        named = version.group(0) if version else self.command
        if re.search(self.solved, printed + text):
            values = _values("x", text, len(system.variables), named)
            point = (values.get(j, Fraction()) for j in range(len(system.variables)))
            return ProgramReply(tuple(point), named)
        if re.search(self.infeasible, printed + text):
            return ProgramReply(None, named, _values("c", text, system.constraints, named))
        # Its last line may be a farewell
        status = re.search(r"(?m)^.*\bstatus\b.*$", printed)
        last = (printed.strip().splitlines() or ["it said nothing"])[-1]
        last = status.group() if status else last
        raise NumericalError(
            f"{named} ended with code {ended.returncode} and no answer: {last[:200]}"
        )

    @abstractmethod
    def arguments(self) -> list[str]:
        """Return the arguments of the command; it is run in the folder of its files."""


def _direction(point: Sequence[Fraction]) -> FloatArray:
    # A cone has every positive multiple of a point; this one is in the range of doubles
    return to_doubles(point, scaled=True)


def _lp_lines(system: LinearSystem) -> Iterator[str]:
    """Yield the lines of a program without costs; each term is on a separate line.

    Bounds are rows: so both programs read their fractions, times the denominator, as all others.
    """
    yield from ("Minimize", " obj: 0 x0", "Subject To")
    for k, row in enumerate(in_time(system.conditions)):
        yield f" c{k}:"
        # A row without variables may be the contradiction
        for j, number in zip(row.columns or (0,), row.coefficients or (0,), strict=True):
            yield f" {'-' if number < 0 else '+'} {abs(number)} x{j}"
        yield f" {'=' if row.equation else '>='} {row.right}"
    yield "Bounds"
    yield from (f" x{j} free" for j in range(len(system.variables)))
    yield "End"


def _values(letter: str, text: str, count: int, name: str) -> dict[int, Fraction]:
    """Return the values in an answer, by number, of variables (x) or conditions (c), without zeros.

    Both programs write a name and its value in a line; what QSopt_ex adds on reduced costs has such
    lines as well.
    """
    values = {}
    for number, value in re.findall(
        rf"^{letter}(\d+)[ \t=]+(\S+)$", text.partition("REDUCED")[0], re.M
    ):
        if int(number) >= count or not _FRACTION.fullmatch(value):
            raise NumericalError(f"{name} writes {letter}{number} = {value[:40]}: no answer")
        values[int(number)] = Fraction(value)
    return values


@parameter_record
class QsoptEx(ExactProgram):
    """Exact linear programming by QSopt_ex, the simplex method in rising precision.

    It is used where ``esolver`` is on PATH. Its rows tell the version.

    Parameters
    ----------
    epsilon
        The bound of the margin that weights are claimed to prove, > 0 (default 1e-6).
    time_limit
        Seconds for each program at most (default 300).

    References
    ----------
    D. L. Applegate, W. Cook, S. Dash, D. G. Espinoza, Exact solutions to linear programming
    problems, Operations Research Letters 35 (2007) 693-699.
    """

    systems: ClassVar[Systems] = {"runs": "rows", "coordinates: runs": "kernel"}

    command: ClassVar[str] = "esolver"
    remedy: ClassVar[str] = "Debian: apt install qsopt-ex"
    version: ClassVar[str] = r"QSopt_ex [\d.]+"
    solved: ClassVar[str] = "(?m)^status = OPTIMAL"
    infeasible: ClassVar[str] = "(?m)^status = INFEASIBLE"

    def arguments(self) -> list[str]:
        """Return the format of its input, and its two files."""
        return ["-L", "-O", ANSWER, PROGRAM]


@parameter_record
class SoPlex(ExactProgram):
    """Exact linear programming by SoPlex, iterative refinement of the simplex method.

    It is used where ``soplex`` is on PATH, built with GMP and Boost. Its rows tell the version.

    Parameters
    ----------
    epsilon
        The bound of the margin that weights are claimed to prove, > 0 (default 1e-6).
    time_limit
        Seconds for each program at most (default 300).

    References
    ----------
    A. M. Gleixner, D. E. Steffy, K. Wolter, Iterative refinement for linear programming, INFORMS
    Journal on Computing 28 (2016) 449-464.
    """

    systems: ClassVar[Systems] = {"runs": "rows", "coordinates: runs": "kernel"}

    command: ClassVar[str] = "soplex"
    remedy: ClassVar[str] = "build SoPlex of scipopt.org with GMP and Boost"
    version: ClassVar[str] = r"SoPlex version [\d.]*\d"
    solved: ClassVar[str] = r"SoPlex status *: .*\[optimal\]"
    infeasible: ClassVar[str] = r"SoPlex status *: .*\[infeasible\]"

    def arguments(self) -> list[str]:
        """Return the settings of exact reading, solving and writing, and its two files."""
        tolerances = [f"--real:{name}=0" for name in ("feastol", "opttol")]
        modes = {"solvemode": 2, "syncmode": 1, "readmode": 1, "checkmode": 2}
        settings = [f"--int:{name}={mode}" for name, mode in modes.items()]
        # Of an infeasible program the second file has Farkas' multipliers; they share one
        return [*tolerances, *settings, f"-X={ANSWER}", f"-Y={ANSWER}", PROGRAM]
