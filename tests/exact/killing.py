"""A suite of certificates that mutants of the checker are tried on, in one process.

A mutant is killed by a certificate that it accepts or refuses unlike the checker, with another exit
code, or with another sentence; or that it takes SECONDS for.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import resource
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perceptron_lab.exact.checker import loaded
from tests.exact.agreement import valid
from tests.exact.checker_mutants import Mutant
from tests.exact.mutations import single_change
from tests.exact.part_certificates import written
from tests.exact.targeted import meant

SECONDS = 5.0  # of CPU
MEMORY = 2 << 30  # beside what the process has


class Endless(BaseException):
    """A mutant takes too long; no exception that the checker takes for its own."""


@dataclass
class Case:
    """A certificate and its data on disk, and what the checker says of them."""

    name: str
    paths: list[str]
    answer: tuple[int, str] = (2, "")


def answered(module: Any, case: Case) -> tuple[int, str]:
    """Return the exit code, and the sentences of what is proved."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = module.main(case.paths)
    lines = printed.getvalue().splitlines()
    return code, "\n".join(line if line.startswith("PROVED") else line[:10] for line in lines)


def suite(folder: Path, count: int) -> list[Case]:
    """Write the certificates that are meant, some valid ones and forgeries of one change each."""
    drawn = [(f"valid {k}", *valid(random.Random(k))[:2]) for k in range(count // 10)]
    forged = [(f"forgery {k}", *single_change(random.Random(k))) for k in range(count)]
    cases = []
    for number, (name, certificate, content) in enumerate([*meant(), *drawn, *forged]):
        subfolder = folder / str(number)
        subfolder.mkdir()
        (subfolder / "x.json").write_bytes(certificate)
        (subfolder / "data").write_bytes(content)
        # else they lie beside the certificate, under the name that it says
        data = [str(subfolder / "data")] if number % 2 or "given" in name else []
        cases.append(Case(name, [str(subfolder / "x.json"), *data]))
    cases += part_cases(folder)
    cases.append(Case("no file", [cases[0].paths[0], os.devnull]))
    cases.append(Case("two files", [*cases[1].paths[:1], *cases[1].paths[-1:] * 2]))
    module = loaded()
    for case in cases:
        case.answer = answered(module, case)
    return cases


def part_cases(folder: Path) -> list[Case]:
    """Write the certificates of parts: their folder is named, or all files in it, or none."""
    cases = []
    for number, (name, certificate, parts) in enumerate(written()):
        data = folder / f"parts-{number}" / "folder"
        data.mkdir(parents=True)
        path = data.with_name("x.json")
        path.write_bytes(certificate)
        for part, content in parts.items():
            (data / part).write_bytes(content)
        cases.append(Case(name, [str(path), str(data)]))
        cases.append(Case(name, [str(path)]))
        files = sorted(str(data / part) for part in parts if part[0] not in "._")
        cases.append(Case(name, [str(path), *files]))
    return cases


def killed_by(mutant: Mutant, cases: list[Case]) -> str:
    """Return the first certificate that kills a mutant, which becomes the first of all; or ''."""
    try:
        module = mutant.module()
    except (Exception, SystemExit) as error:
        return f"no module: {error}"
    for at, case in enumerate(cases):
        try:
            with at_most(SECONDS):
                same = answered(module, case) == case.answer
        except Endless:
            same = False
        if not same:
            cases.insert(0, cases.pop(at))
            return case.name
    return ""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End what takes more CPU time by `Endless`."""

    def end(*_: Any) -> None:
        raise Endless

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def memory_limited() -> Iterator[None]:
    """Let a mutant that asks for too much memory fail, and not the machine."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
