"""CSDP, SDPA and DSDP: external command-line programs that compute the largest margin.

The program is written to a separate folder, in SDPA's format, and the answer is read from a file
there. Where a program is not on PATH, its cells are SKIPPED and say which package has it.
"""

from __future__ import annotations

import os
import re
import tempfile
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from perceptron_lab.algorithms.base import RUNS_ON_ALL, Systems
from perceptron_lab.algorithms.external.largest_margin import (
    LargestMargin,
    LargestMarginSolver,
    Reply,
)
from perceptron_lab.algorithms.external.sdpa_format import (
    BlockAnswer,
    answer_of,
    parse_entries,
    parse_sections,
    sdpa_data,
)
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.external_programs import program_path, run_program
from perceptron_lab.core.refusals import Positive, Proportion, parameter_record
from perceptron_lab.core.time_limit import seconds_left
from perceptron_lab.systems.pencil import SdpaData, write_sdpa

PROGRAM, ANSWER = "program.dat-s", "answer"


@parameter_record
class SdpaProgram(LargestMarginSolver):
    """A command-line solver that reads SDPA's sparse format.

    Attributes
    ----------
    command, package
        Its name on PATH, and Debian's package that has it.
    version
        A regular expression that finds its version in what it prints, or in a file's name.
    infeasible
        One that finds its report that there is no x in its output; by default it finds none.
    """

    command: ClassVar[str]
    package: ClassVar[str]
    version: ClassVar[str]
    infeasible: ClassVar[str] = "(?!)"

    time_limit: Positive = 300.0

    def find(self) -> None:
        """Raise MissingProgramError if the program is not on PATH."""
        self.path()

    def path(self) -> str:
        """Return the path of the program."""
        return program_path(self.command, f"Debian: apt install {self.package}")

    def replies(self, program: LargestMargin) -> Iterator[Reply]:
        """Run the program once."""
        solution, note = self.call_solver(sdpa_data(program))
        yield Reply(answer_of(program, solution), note)

    def call_solver(self, data: SdpaData) -> tuple[BlockAnswer, str]:
        """Write the input, run the program, and return its answer, name and version."""
        with tempfile.TemporaryDirectory(prefix=f"plab-{self.command}-") as folder:
            return self._run(data, Path(folder))

    def _run(self, data: SdpaData, folder: Path) -> tuple[BlockAnswer, str]:
        write_sdpa(data, folder / PROGRAM)
        self.prepare(folder)
        seconds = min(self.time_limit, seconds_left())
        ended = run_program([self.path(), *self.arguments()], folder, seconds)
        # The version may be in the output, or in the name of a file that the program writes
        printed = ended.stdout + ended.stderr + " ".join(sorted(os.listdir(folder)))
        version = re.search(self.version, printed)
        named = f"{self.command} {version.group(1)}" if version else self.command
        try:
            # The file of the answer decides, not the exit code
            text = (folder / ANSWER).read_text("ascii", errors="replace")
        except FileNotFoundError:
            last = (ended.stdout + ended.stderr).strip().splitlines()[-1:] or ["it said nothing"]
            raise NumericalError(
                f"{named} ended with code {ended.returncode} and no answer: {last[0][:200]}"
            ) from None
        try:
            solution = self.parse(text, len(data.objective), data.blocks)
        except NumericalError as error:
            raise NumericalError(f"{named}: {error}") from None
        claims = re.search(self.infeasible, printed + text) is not None
        return replace(solution, infeasible=claims), named

    def prepare(self, folder: Path) -> None:
        """Write further input files; by default there are none."""

    @abstractmethod
    def arguments(self) -> list[str]:
        """Return the arguments of the command; it is run in the folder of its files."""

    def parse(self, text: str, variables: int, blocks: Sequence[int]) -> BlockAnswer:
        """Parse the answer in an output file."""
        return parse_entries(text, variables, blocks)


@parameter_record
class Csdp(SdpaProgram):
    """The largest margin by CSDP, a primal-dual interior point method, where it is on PATH.

    Its rows tell the version, and the six DIMACS errors of its answer as ``measure.claimed_...``.

    Parameters
    ----------
    tolerance
        CSDP's tolerances of feasibility and of the gap, > 0 (default 1e-8, its own).
    time_limit
        Seconds at most (default 300).

    References
    ----------
    B. Borchers, CSDP, a C library for semidefinite programming, Optimization Methods and Software
    11 (1999) 613-623.
    """

    systems: ClassVar[Systems] = RUNS_ON_ALL

    command: ClassVar[str] = "csdp"
    package: ClassVar[str] = "coinor-csdp"
    version: ClassVar[str] = r"CSDP (\S+)"
    infeasible: ClassVar[str] = "SDP is dual infeasible"

    def prepare(self, folder: Path) -> None:
        """Write CSDP's parameter file: defaults except for the tolerances."""
        tolerances = dict.fromkeys(("axtol", "atytol", "objtol"), self.tolerance)
        settings = tolerances | _CSDP
        lines = [f"{name}={value:g}" for name, value in settings.items()]
        (folder / "param.csdp").write_text("\n".join(lines) + "\n", encoding="ascii")

    def arguments(self) -> list[str]:
        """Return the names of its two files."""
        return [PROGRAM, ANSWER]


_CSDP = {
    "pinftol": 1e8,
    "dinftol": 1e8,
    "maxiter": 100,
    "minstepfrac": 0.9,
    "maxstepfrac": 0.97,
    "minstepp": 1e-8,
    "minstepd": 1e-8,
    "usexzgap": 1,
    "tweakgap": 0,
    "affine": 0,
    "printlevel": 1,
    "perturbobj": 1,
    "fastmode": 0,
}


@parameter_record
class Sdpa(SdpaProgram):
    """The largest margin by SDPA, a primal-dual interior point method, where it is on PATH.

    Its rows tell the version, and the six DIMACS errors of its answer as ``measure.claimed_...``.

    Parameters
    ----------
    tolerance
        SDPA's tolerances of the gap and of feasibility, > 0 (default 1e-7, its own).
    time_limit
        Seconds at most (default 300).

    References
    ----------
    M. Yamashita, K. Fujisawa, M. Kojima, Implementation and evaluation of SDPA 6.0, Optimization
    Methods and Software 18 (2003) 491-505.
    """

    systems: ClassVar[Systems] = RUNS_ON_ALL

    command: ClassVar[str] = "sdpa"
    package: ClassVar[str] = "sdpa"
    version: ClassVar[str] = r"SDPA \(Version ([^)]+)\)"
    infeasible: ClassVar[str] = r"phase\.value *= *(pINF_dFEAS|dUNBD)"

    tolerance: Proportion = 1e-7

    def prepare(self, folder: Path) -> None:
        """Write SDPA's parameter file: defaults except for tolerances and printed digits."""
        digits = "%+.17e"
        lines = [
            "100 maxIteration",
            f"{self.tolerance:g} epsilonStar",
            "1.0E2 lambdaStar",
            "2.0 omegaStar",
            "-1.0E5 lowerBound",
            "1.0E5 upperBound",
            "0.1 betaStar",
            "0.2 betaBar",
            "0.9 gammaStar",
            f"{self.tolerance:g} epsilonDash",
            *(f"{digits} {name}" for name in ("xPrint", "XPrint", "YPrint", "infPrint")),
        ]
        (folder / "param.sdpa").write_text("\n".join(lines) + "\n", encoding="ascii")

    def arguments(self) -> list[str]:
        """Return its files by their kinds, and one thread."""
        return ["-ds", PROGRAM, "-o", ANSWER, "-p", "param.sdpa", "-numThreads", "1"]

    def parse(self, text: str, variables: int, blocks: Sequence[int]) -> BlockAnswer:
        """Return the answer that a file holds."""
        return parse_sections(text, variables, blocks)


@parameter_record
class Dsdp(SdpaProgram):
    """The largest margin by DSDP, a dual-scaling interior point method, where dsdp5 is on PATH.

    Its rows tell the version, and the six DIMACS errors of its answer as ``measure.claimed_...``.

    Parameters
    ----------
    tolerance
        The relative gap at which DSDP stops, > 0 (default 1e-6, its own).
    time_limit
        Seconds at most (default 300).

    References
    ----------
    S. J. Benson, Y. Ye, Algorithm 875: DSDP5, software for semidefinite programming, ACM
    Transactions on Mathematical Software 34 (2008).
    """

    systems: ClassVar[Systems] = RUNS_ON_ALL

    command: ClassVar[str] = "dsdp5"
    package: ClassVar[str] = "dsdp"
    version: ClassVar[str] = r"results-dsdp-([0-9.]+[0-9])"

    tolerance: Proportion = 1e-6

    def arguments(self) -> list[str]:
        """Return its files and the tolerance."""
        return [PROGRAM, "-save", ANSWER, "-gaptol", f"{self.tolerance:g}"]
