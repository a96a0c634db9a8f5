"""``plab certify``: the proved answers of a run as files that an independent checker accepts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from perceptron_lab.algorithms.linear.proofs import PROOF, LinearProof
from perceptron_lab.core.atomic_files import replace_file
from perceptron_lab.core.errors import DataError, PlabError
from perceptron_lab.datasets.confinement import GENERATED
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.estimators.learners.learning import Learner
from perceptron_lab.exact.conditions import condition_claims
from perceptron_lab.exact.readings import Reading, of_conditions
from perceptron_lab.exact.vipr import vipr_text
from perceptron_lab.exact.whole_numbers import written
from perceptron_lab.experiments.certifying.claims import (
    Answer,
    Exact,
    accepted,
    exact_claims,
    exact_optimum,
)
from perceptron_lab.experiments.certifying.learnt import on_learner
from perceptron_lab.experiments.certifying.readings import reading_of
from perceptron_lab.experiments.certifying.verdicts import on_saved
from perceptron_lab.experiments.running.output_folder import absent
from perceptron_lab.experiments.storage.certificate_files import (
    Certificate,
    path_of,
)
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.verification.certified_problem import CertifiedProblems
from perceptron_lab.experiments.verification.claims import Claims
from perceptron_lab.experiments.verification.own_data import OwnData, own_data
from perceptron_lab.experiments.verification.reproof import numbers_in
from perceptron_lab.experiments.verification.separation_verdicts import (
    LABEL,
    data_of_verdict,
    is_verdict,
    verdict_with_data,
)
from perceptron_lab.solving.failures import kept, log, sentence
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.linear_system import LinearSystem

FORMAT, VERSION = "plab-certificate", 2
# Claims that prove a status
_STATUSES = {
    "FEASIBLE": {"feasible", "closed feasible", "objective at most", "ratio at least"},
    "INFEASIBLE": {"infeasible", "closed infeasible", "partition", "ratio at most"},
}
SUFFIX, DATA, PROGRAM = ".certificate.json", ".data", ".vipr"

Form = Literal["json", "vipr"]
"""For the exact checker, or for VIPR's: linear programs, and no data beside them."""


class Outcome(StrEnum):
    """The fate of a cell."""

    CERTIFIED = "CERTIFIED"
    """Its certificate is written and accepted by the checker; the message tells missing bounds."""
    NOT_CERTIFIED = "NOT CERTIFIED"
    """Something is claimed, and its status is not proved exactly; the message says why."""
    NOTHING_CLAIMED = "NOTHING CLAIMED"
    """The cell claims nothing."""


@dataclass(frozen=True)
class CertifiedCell:
    """The outcome of one cell.

    Parameters
    ----------
    cell, problem, label, status
        Its columns in runs.csv.
    outcome
        Whether it is certified.
    claims
        The claims that the checker accepts, by name.
    message
        What is not proved exactly, and why.
    path, data
        The certificate and the file of its data; None if none is written.
    """

    cell: str
    problem: str
    label: str
    status: str
    outcome: Outcome
    claims: tuple[str, ...] = ()
    message: str = ""
    path: str | None = None
    data: str | None = None


@dataclass(frozen=True)
class Certification:
    """The outcomes of the cells of ``target``, a folder of results or one certificate."""

    target: Path
    cells: list[CertifiedCell]

    @property
    def failed(self) -> list[CertifiedCell]:
        """The cells that claim something, and are not certified."""
        return [cell for cell in self.cells if cell.outcome is Outcome.NOT_CERTIFIED]

    @property
    def counts(self) -> dict[str, int]:
        """Outcome -> number of cells."""
        found = Counter(cell.outcome for cell in self.cells)
        return {outcome.value: found[outcome] for outcome in Outcome if found[outcome]}

    def as_json(self) -> list[dict[str, Any]]:
        """Return the outcomes as JSON values; ``plab certify --json`` prints them."""
        return [asdict(cell) for cell in self.cells]

    def __str__(self) -> str:
        said = ", ".join(f"{number} {outcome}" for outcome, number in self.counts.items())
        return f"{self.target}: {said or 'no cell was run yet'}"


def certify(
    target: str | Path,
    output: str | Path,
    *,
    base: str | Path | None = None,
    generate: int = GENERATED,
    form: Form = "json",
    data: str | Path | None = None,
    labels: str | None = None,
) -> Certification:
    """Write the exact certificates of proved answers, each accepted by the checker.

    Parameters
    ----------
    target
        The folder of an experiment's results, one file of its ``certificates``, or a result that
        ``plab solve --save`` has written.
    output
        The folder for ``CELL.certificate.json`` and, of generated data, ``CELL.data``.
    base
        The folder that relative paths of data start from; by default the one stored.
    generate
        Bytes that may be generated for one problem, 500 MB by default.
    form
        ``json`` (default), or ``vipr``: ``CELL.vipr`` for viprchk, of claims that weights prove and
        that are linear: no strictly feasible point, and lower bounds of an optimum.
    data, labels
        The file of the data of a result that records none, and its column of labels, if any.

    Raises
    ------
    DataError
        If there is no such file, or no results are in the folder.
    """
    start = None if base is None else Path(base)
    file = None if data is None else Path(data)
    cells = certifying(Path(target), Path(output), start, generate, form, data=file, labels=labels)
    return Certification(Path(target), list(cells))


def certifying(
    target: Path,
    output: Path,
    base: Path | None = None,
    generate: int = GENERATED,
    form: Form = "json",
    *,
    data: Path | None = None,
    labels: str | None = None,
) -> Iterator[CertifiedCell]:
    """Yield the outcomes of :func:`certify` one after the other."""
    if not target.exists():
        raise absent(target, "give a folder of results or one of its certificates")
    own = own_data(target, data, labels)
    output.mkdir(parents=True, exist_ok=True)
    to = _Destination(output, form)
    with TemporaryDirectory(prefix="plab-certify-") as folder:
        problems = CertifiedProblems(Path(folder), base, generate, own)
        if target.is_file() and is_verdict(target):
            yield _on_verdict(target, to, base, own)
            return
        if target.is_file():
            seen = CertifiedCell(target.stem, "", "", "", Outcome.NOT_CERTIFIED)
            yield _on_certificate(seen, target, problems, to, base)
            return
        with Reader.open(target) as reader:
            runs = reader.runs()
        for planned, stored in runs:
            path = path_of(target, planned.cell)
            seen = CertifiedCell(
                planned.cell, planned.title, planned.label, "", Outcome.NOT_CERTIFIED
            )
            if not stored.row or (stored.certificate is not None and not path.is_file()):
                yield replace(seen, message=stored.fault or f"{path}: no such file")
            elif stored.certificate is None:
                status = stored.status.value
                yield replace(seen, status=status, outcome=Outcome.NOTHING_CLAIMED)
            else:
                yield _on_certificate(seen, path, problems, to, base)


@dataclass(frozen=True)
class _Destination:
    """Where certificates are written, and for which checker."""

    folder: Path
    form: Form


def _on_verdict(
    path: Path, to: _Destination, base: Path | None, own: OwnData | None
) -> CertifiedCell:
    """Certify a verdict that ``plab solve --verdict --save`` has written."""
    seen = CertifiedCell(path.stem, "", LABEL, "", Outcome.NOT_CERTIFIED)
    try:
        saved = verdict_with_data(path, own)
        seen = replace(seen, status=str(saved.record["verdict"]))
        file, columns = data_of_verdict(saved.record["source"], path, base)
        seen = replace(seen, problem=file.name)
        if sha256(file.read_bytes()).hexdigest() != saved.record["source"]["sha256"]:
            raise DataError("the data have changed since the answer was found")
        reading, found = on_saved(saved, file, columns)
    except (PlabError, OSError) as error:
        return replace(seen, message=str(error))
    if to.form == "vipr":
        return _linear(seen, found, reading.system(), to.folder)
    return _written(seen, found, reading, to.folder)


def _on_certificate(
    seen: CertifiedCell,
    path: Path,
    problems: CertifiedProblems,
    to: _Destination,
    base: Path | None,
) -> CertifiedCell:
    """Certify one answer, if it claims something; what fails is told, and the others go on."""
    try:
        certificate = problems.read(path)
        claims = Claims.of_certificate(certificate)
        label = seen.label or str(certificate.algorithm.get("name", ""))
        named = str(certificate.problem.get("instance", ""))
        seen = replace(seen, problem=named, label=label, status=claims.status.value)
        if claims.nothing:
            return replace(seen, outcome=Outcome.NOTHING_CLAIMED)
        problem = problems.load(certificate)
        if problem.sha256 != certificate.sha256:
            raise DataError("the data have changed since the answer was found")
        reading, found = _proved(claims, certificate, problem, problems, base)
    except (PlabError, OSError) as error:
        return replace(seen, message=str(error))
    except Exception as error:
        if not kept(error):
            raise
        log(error, "an exact proof failed")
        return replace(seen, message=f"no exact proof: {sentence(error)}")
    if to.form == "vipr":
        return _linear(seen, found, reading.system(), to.folder)
    return _written(seen, found, reading, to.folder)


def _proved(
    claims: Claims,
    certificate: Certificate,
    problem: Problem,
    problems: CertifiedProblems,
    base: Path | None,
) -> tuple[Reading, Exact]:
    """Return how the data are read, and what is proved exactly."""
    method = problems.method(certificate)
    proof = {name: numbers_in(array) for name, array in certificate.proof.items()}
    if isinstance(method, Learner):
        return on_learner(method, problem, claims, int(certificate.problem["seed"]), proof)
    if isinstance(problem.system, LinearSystem):
        linear = problem.system
        reading = of_conditions(linear.conditions, linear.unknowns)
        kept_proof = LinearProof.of_json(certificate.certificate.get(PROOF))
        return reading, accepted(condition_claims(linear.conditions, kept_proof), reading.system())
    system = ConicSystem.of(problem.system).fixed(certificate.certificate)
    problem = replace(problem, system=system)
    reading = reading_of(certificate, problem, base)
    answer = _answer(certificate, problem, reading)
    if method is None:
        return reading, exact_claims(claims, answer)
    return reading, exact_optimum(claims, answer, proof)


def _answer(certificate: Certificate, problem: Problem, reading: Reading) -> Answer:
    weights = None if certificate.weights is None else numbers_in(certificate.weights)
    system = reading.system()
    original = ConicSystem.of(problem.system)
    return Answer(original, reading, system, numbers_in(certificate.point), weights)


def _written(seen: CertifiedCell, found: Exact, reading: Reading, output: Path) -> CertifiedCell:
    """Write what was proved, and return the outcome."""
    named = tuple(claim["claim"] for claim in found.claims)
    message = "; ".join(f"{name}: {reason}" for name, reason in found.missing.items())
    wanted = _STATUSES.get(seen.status, set(named))
    done = not wanted.isdisjoint(named)
    if not named:
        return replace(seen, message=message)
    path = output / f"{seen.cell}{SUFFIX}"
    file = f"{seen.cell}{DATA}" if reading.path is None else reading.path.name
    if reading.path is None:
        replace_file(output / file, reading.content)
    data = {"file": file, "sha256": sha256(reading.content).hexdigest()} | reading.fields
    record = {"format": FORMAT, "version": VERSION, "data": data, "claims": found.claims}
    replace_file(path, json.dumps(written(record), separators=(",", ":")).encode())
    outcome = Outcome.CERTIFIED if done else Outcome.NOT_CERTIFIED
    where = str(output / file if reading.path is None else reading.path)
    told: dict[str, Any] = {"claims": named, "message": message, "path": str(path), "data": where}
    return replace(seen, outcome=outcome, **told)


def _linear(seen: CertifiedCell, found: Exact, system: Any, output: Path) -> CertifiedCell:
    """Write the claim that is proved by weights as a linear program, and return the outcome."""
    for claim in found.claims:
        text = vipr_text(system, claim)
        if text is not None:
            path = output / f"{seen.cell}{PROGRAM}"
            replace_file(path, text.encode())
            named = (claim["claim"],)
            return replace(seen, outcome=Outcome.CERTIFIED, claims=named, path=str(path))
    missing = [f"{name}: {reason}" for name, reason in found.missing.items()]
    said = "VIPR's format is for claims that there is no point, and for lower bounds of an optimum"
    return replace(seen, message="; ".join([*missing, f"{said}; --format json has more"]))
