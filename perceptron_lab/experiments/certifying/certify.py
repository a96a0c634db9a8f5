"""``plab certify``: write proved answers as certificates for an independent checker."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from perceptron_lab.algorithms.linear.proofs import PROOF, LinearProof
from perceptron_lab.core.atomic_files import replace_file
from perceptron_lab.core.errors import DataError, PlabError
from perceptron_lab.core.results import OPTIMUM_EXACT
from perceptron_lab.datasets.parts import files_of, sha256_of_data
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.datasets.regular_files import GENERATED
from perceptron_lab.estimators.learners.learning import Learner
from perceptron_lab.exact.checker import compiled_checker, kinds_checker
from perceptron_lab.exact.readings import Reading, condition_claims, of_conditions
from perceptron_lab.exact.weights import vipr_text
from perceptron_lab.exact.whole_numbers import Claim
from perceptron_lab.experiments.certifying.exact_claims import (
    CertifiedAnswer,
    Exact,
    accepted,
    exact_claims,
    exact_optimum,
    reading_of,
)
from perceptron_lab.experiments.certifying.learnt import on_learner, on_saved
from perceptron_lab.experiments.storage.certificate_files import Certificate, path_of
from perceptron_lab.experiments.storage.results_folder import absent
from perceptron_lab.experiments.storage.stored import Planned, Stored, sha256_of
from perceptron_lab.experiments.verification.certified_problem import CertifiedProblems, Target
from perceptron_lab.experiments.verification.claims import Claims, Verdict, Verified
from perceptron_lab.experiments.verification.reproof import numbers_in, system_of_claims
from perceptron_lab.experiments.verification.separation_verdicts import (
    LABEL,
    data_of_verdict,
    is_verdict,
    verdict_with_data,
)
from perceptron_lab.numerics.exact_texts import written
from perceptron_lab.solving.failures import ends_run, log, sentence
from perceptron_lab.systems.linear_system import LinearSystem

FORMAT, VERSION = "plab-certificate", 2
# Claims that prove a status
_STATUSES = {
    "FEASIBLE": {"feasible", "closed feasible", "objective at most", "ratio at least"},
    "INFEASIBLE": {"infeasible", "closed infeasible", "partition", "ratio at most"},
    "UNBOUNDED": {"ratio at least", "closed objective unbounded"},
}
SUFFIX, DATA, PROGRAM, KIND = ".certificate.json", ".data", ".vipr", ".kind.json"

Form = Literal["json", "vipr"]
"""The format: for the exact checker, or linear programs for VIPR's, without data files."""


class CertificationStatus(StrEnum):
    """Certification status of a cell."""

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
    kind
        The certificate of the kind of infeasibility, for plab_check_kinds.py; or None.
    """

    cell: str
    problem: str
    label: str
    status: str
    outcome: CertificationStatus
    claims: tuple[str, ...] = ()
    message: str = ""
    path: str | None = None
    data: str | None = None
    kind: str | None = None


@dataclass(frozen=True)
class Certification:
    """The outcomes of the cells of ``target``, a folder of results or one certificate."""

    target: Path
    cells: list[CertifiedCell]

    @property
    def failed(self) -> list[CertifiedCell]:
        """The cells that claim something, and are not certified."""
        return [cell for cell in self.cells if cell.outcome is CertificationStatus.NOT_CERTIFIED]

    @property
    def counts(self) -> dict[str, int]:
        """Outcome -> number of cells."""
        counter = Counter(cell.outcome for cell in self.cells)
        return {
            outcome.value: counter[outcome] for outcome in CertificationStatus if counter[outcome]
        }

    def as_json(self) -> list[dict[str, Any]]:
        """Return the outcomes as JSON values; ``plab certify --json`` prints them."""
        return [asdict(cell) for cell in self.cells]

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {outcome}" for outcome, number in self.counts.items())
        return f"{self.target}: {counts or 'no cell was run yet'}"


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

    Examples
    --------
    >>> from perceptron_lab import run
    >>> print(certify(run("quickstart").folder, "exact"))
    results/quickstart: 6 CERTIFIED
    """
    resolved = Target.of(target, base, generate, data, labels)
    return Certification(resolved.path, list(certifying(resolved, Path(output), form)))


def certifying(target: Target, output: Path, form: Form = "json") -> Iterator[CertifiedCell]:
    """Yield the outcomes of :func:`certify` one after the other."""
    if not target.path.exists():
        raise absent(target.path, "a folder of results or one of its certificates")
    with target.problems() as problems:
        output.mkdir(parents=True, exist_ok=True)
        work = _Certifier(problems, output, form)
        if target.path.is_file() and is_verdict(target.path):
            yield work.of_verdict(target.path)
        elif target.path.is_file():
            yield work.of_certificate(_without_work(target.path.stem), target.path)
        else:
            for planned, stored in target.runs():
                yield work.of_row(planned, stored, path_of(target.path, planned.cell))


def _without_work(cell: str, problem: str = "", label: str = "") -> CertifiedCell:
    return CertifiedCell(cell, problem, label, "", CertificationStatus.NOT_CERTIFIED)


@dataclass(frozen=True)
class _Certifier:
    """Certifies answers one by one; a failure is reported and does not stop the others.

    Parameters
    ----------
    problems
        Loads their data.
    output, form
        Where certificates are written, and for which checker.
    """

    problems: CertifiedProblems
    output: Path
    form: Form

    def of_row(self, planned: Planned, stored: Stored, path: Path) -> CertifiedCell:
        """Certify the answer of a stored row, whose certificate has its place at a path."""
        cell = _without_work(planned.cell, planned.title, planned.label)
        if not stored.row or (stored.certificate is not None and not path.is_file()):
            return replace(cell, message=stored.fault or f"{path}: no such file")
        if stored.certificate is None:
            return replace(
                cell, status=stored.status.value, outcome=CertificationStatus.NOTHING_CLAIMED
            )
        return self.of_certificate(cell, path)

    def of_verdict(self, path: Path) -> CertifiedCell:
        """Certify a verdict that ``plab solve --verdict --save`` has written."""
        cell = _without_work(path.stem, label=LABEL)
        try:
            saved = verdict_with_data(path, self.problems.own)
            cell = replace(cell, status=str(saved.record["verdict"]))
            source = saved.record["source"]
            file, columns = data_of_verdict(source, path, self.problems.base)
            cell = replace(cell, problem=file.name)
            # A certificate of other data would be correct and say nothing of the answer
            _require_same(sha256_of_data(file), source["sha256"])
            reading, claims = on_saved(saved, file, columns)
        except (PlabError, OSError) as error:
            return replace(cell, message=str(error))
        return self._written(cell, reading, claims)

    def of_certificate(self, cell: CertifiedCell, path: Path) -> CertifiedCell:
        """Certify one answer, if it claims something."""
        try:
            certificate = self.problems.read(path)
            claims = Claims.of_certificate(certificate)
            label = cell.label or str(certificate.algorithm.get("name", ""))
            named = str(certificate.problem.get("instance", ""))
            cell = replace(cell, problem=named, label=label, status=claims.status.value)
            if claims.nothing:
                return replace(cell, outcome=CertificationStatus.NOTHING_CLAIMED)
            problem = self.problems.load(certificate)
            _require_same(problem.sha256, certificate.sha256)
            reading, exact = self._proved(claims, certificate, problem)
        except (PlabError, OSError) as error:
            return replace(cell, message=str(error))
        except Exception as error:
            # What is left is a lack of memory, in which nothing can be proved
            if not ends_run(error):
                raise
            log(error, "an exact proof failed")
            return replace(cell, message=f"no exact proof: {sentence(error)}")
        return self._written(cell, reading, exact)

    def _proved(
        self, claims: Claims, certificate: Certificate, problem: Problem
    ) -> tuple[Reading, Exact]:
        """Return how the data are read, and the claims with exact proofs."""
        method = self.problems.method(certificate)
        proof = {name: numbers_in(array) for name, array in certificate.proof.items()}
        if isinstance(method, Learner):
            return on_learner(method, problem, claims, int(certificate.problem["seed"]), proof)
        if isinstance(problem.system, LinearSystem):
            linear = problem.system
            objective = linear.exact_objective if OPTIMUM_EXACT in certificate.certificate else None
            costs = None if objective is None else objective.costs()
            reading = of_conditions(linear.conditions, linear.unknowns, costs)
            exact = LinearProof.of_json(certificate.certificate.get(PROOF))
            return reading, accepted(
                condition_claims(linear.conditions, exact, costs), reading.system()
            )
        view = system_of_claims(claims, certificate, problem)
        reading = reading_of(certificate, replace(problem, system=view), self.problems.base)
        weights = None if certificate.weights is None else numbers_in(certificate.weights)
        point, system = numbers_in(certificate.point), reading.system()
        answer = CertifiedAnswer(view, reading, system, point, weights)
        if method is None:
            proved = exact_claims(claims, answer)
            proved.add_kind(answer, certificate.certificate)
            return reading, proved
        return reading, exact_optimum(claims, answer, proof)

    def _written(self, cell: CertifiedCell, reading: Reading, exact: Exact) -> CertifiedCell:
        """Write what was proved, and return the outcome."""
        missing = [f"{name}: {reason}" for name, reason in exact.missing.items()]
        if self.form == "vipr":
            return self._linear(cell, reading, exact.claims, missing)
        named = tuple(claim["claim"] for claim in exact.claims)
        cell = replace(cell, message="; ".join(missing))
        if not named:
            return cell
        file = self.output / f"{cell.cell}{DATA}" if reading.path is None else reading.path
        # Generated data have no file of their own, and a checker needs one
        if reading.path is None:
            replace_file(file, reading.content)
        data = {"file": file.name, "sha256": sha256_of(reading.content)} | reading.fields
        if reading.parts:
            digests = map(sha256_of, (reading.content, *reading.more))
            data["sha256"] = dict(zip(reading.parts, digests, strict=True))
        path = self._record(f"{cell.cell}{SUFFIX}", data, exact.claims)
        if exact.kind is not None:
            cell = replace(cell, kind=self._record(f"{cell.cell}{KIND}", data, [exact.kind]))
        # A bound alone does not prove a status
        if not _STATUSES.get(cell.status, set(named)).isdisjoint(named):
            cell = replace(cell, outcome=CertificationStatus.CERTIFIED)
        elif not missing:
            cell = replace(cell, message=f"none of these claims proves {cell.status}")
        return replace(cell, claims=named, path=path, data=str(file))

    def _record(self, name: str, data: dict[str, Any], claims: list[Claim]) -> str:
        """Write a certificate, after its data, and return its path."""
        record = {"format": FORMAT, "version": VERSION, "data": data, "claims": claims}
        path = self.output / name
        replace_file(path, json.dumps(written(record), separators=(",", ":")).encode())
        return str(path)

    def _linear(
        self, cell: CertifiedCell, reading: Reading, claims: list[Claim], missing: list[str]
    ) -> CertifiedCell:
        """Write the first claim that weights prove as a linear program, and return the outcome."""
        for claim in claims:
            text = vipr_text(reading.system(), claim)
            if text is not None:
                path = self.output / f"{cell.cell}{PROGRAM}"
                replace_file(path, text.encode())
                named = (claim["claim"],)
                return replace(
                    cell, outcome=CertificationStatus.CERTIFIED, claims=named, path=str(path)
                )
        reason = (
            "VIPR's format is for claims that there is no point, and for lower bounds of an "
            "optimum; --format json has more"
        )
        return replace(cell, message="; ".join([*missing, reason]))


def _require_same(sha256: str, recorded: str) -> None:
    if sha256 != recorded:
        raise DataError("the data have changed since the answer was found")


def with_exact_proofs(verdicts: Iterable[Verified], target: Target) -> Iterator[Verified]:
    """Yield the verdicts of cells with ``exact``: what the checker says of new exact proofs."""
    with TemporaryDirectory(prefix="plab-exact-") as folder:
        certified = certifying(target, Path(folder))
        outcomes = {cell.cell if target.path.is_dir() else "": cell for cell in certified}
        for verdict in verdicts:
            outcome = outcomes.get(verdict.cell if target.path.is_dir() else "")
            if outcome is None or verdict.verdict is Verdict.NOTHING_CLAIMED:
                yield verdict
                continue
            refusal = _refused(outcome)
            message = "; ".join(filter(None, [verdict.message, refusal]))
            yield replace(verdict, exact=not refusal, message=message)


def _refused(outcome: CertifiedCell) -> str:
    """Return why an outcome is no exact proof; empty where the checker accepts its file."""
    if outcome.outcome is not CertificationStatus.CERTIFIED or outcome.path is None:
        return f"no exact proof: {outcome.message}"
    files = files_of(Path(outcome.data or ""))
    answers = compiled_checker().check(outcome.path, *files)
    if outcome.kind is not None:
        kind = kinds_checker().check_kind
        answers += compiled_checker().check(outcome.kind, *files, prove=kind)
    reasons = [f"{sentence}: {reason}" for sentence, reason in answers if reason]
    return f"the checker refuses {'; '.join(reasons)}" if reasons else ""
