"""Certificates proved again, from the original data, without running any algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptron_lab.datasets.confinement import GENERATED
from perceptron_lab.errors import DataError, InputError
from perceptron_lab.experiments.storage.certificate_files import (
    Certificate,
    path_of,
    read_certificate,
)
from perceptron_lab.experiments.storage.exports import RUNS, difference
from perceptron_lab.experiments.storage.reader import Reader, shown
from perceptron_lab.experiments.storage.rows import Row, as_json
from perceptron_lab.experiments.storage.stored import sha256_of
from perceptron_lab.experiments.verification.certified_problem import CertifiedProblems, identity_of
from perceptron_lab.experiments.verification.reproof import (
    Claims,
    Finding,
    measured_again,
    prove_claims,
    prove_learnt,
)
from perceptron_lab.experiments.verification.verification import Verdict, Verification, Verified
from perceptron_lab.goals import Budget, Goal, goal_of
from perceptron_lab.results import FloatArray, Status

if TYPE_CHECKING:
    from perceptron_lab.experiments.storage.stored import Planned, Stored


def verify(
    target: str | Path, *, base: str | Path | None = None, generate: int = GENERATED
) -> Verification:
    """Prove again what results claim, on the original data; no algorithm runs.

    FEASIBLE: the point is strictly feasible. INFEASIBLE: the weights prove it. The bracket of the
    margin is reached again but for a part of 1e-9 of each bound, since machines add up numbers in
    different orders. Separations by ellipsoids are proved from their ellipsoid and weights.
    Measures of a point are measured again; the figures of learners are not, and named as unchecked.
    A dataset of your own has to be registered before, as it was for the run.

    Nothing is written but into a temporary folder, which is removed: the package's generated data
    are generated there again, and downloads go there. A runs.csv that differs from the store is
    reported as damaged.

    Parameters
    ----------
    target
        The folder of an experiment's results, or one file of its ``certificates``.
    base
        The folder that relative paths of data start from; by default the one stored.
    generate
        Bytes that may be generated for one problem, 500 MB by default.

    Raises
    ------
    DataError
        If there is no such file, or no results are in the folder.
    """
    start = None if base is None else Path(base)
    return Verification(Path(target), list(verifying(Path(target), start, generate)))


def verifying(
    target: Path, base: Path | None = None, generate: int = GENERATED
) -> Iterator[Verified]:
    """Yield the verdicts of :func:`verify` one after the other."""
    with CertifiedProblems(base, generate) as problems:
        if target.is_dir():
            yield from _folder_verdicts(target, problems)
        elif target.is_file():
            yield _file_verdict(target, problems)
        else:
            raise DataError(
                f"{target}: no such file; give a folder of results or one of its certificates"
            )


def _folder_verdicts(folder: Path, problems: CertifiedProblems) -> Iterator[Verified]:
    with Reader.open(folder) as reader:
        runs = list(reader.runs())
    for planned, stored in runs:
        yield _stored_verdict(folder, planned, stored, problems)
    said = difference(folder, (shown(*pair) for pair in runs if not pair[1].fault))
    if said:
        yield Verified("", RUNS, "", "", Verdict.DAMAGED, said)


def _file_verdict(path: Path, problems: CertifiedProblems) -> Verified:
    try:
        certificate = read_certificate(path)
        seen = _shown(certificate)
        return _verdict(seen, certificate, _claims(certificate), problems)
    except DataError as error:
        return Verified(path.stem, "", "", "", Verdict.DAMAGED, str(error))


def _stored_verdict(
    folder: Path, planned: Planned, stored: Stored, problems: CertifiedProblems
) -> Verified:
    """Return the verdict on a row and the certificate that belongs to it."""
    status = stored.status.value if stored.row else ""
    seen = Verified(planned.cell, planned.title, planned.label, status, Verdict.DAMAGED)
    if not stored.row:
        return replace(seen, message=stored.fault)
    try:
        claims = _claims_of_row(stored)
    except DataError as error:
        return replace(seen, message=str(error))
    if claims.nothing:
        return _nothing(seen, claims)
    path = path_of(folder, planned.cell)
    if stored.certificate is None or not path.is_file():
        return replace(seen, verdict=Verdict.MISSING, message=f"{path}: no such file")
    try:
        if sha256_of(path.read_bytes()) != stored.certificate:
            return replace(seen, message=f"{path}: not the file that was written, by its sha256")
        certificate = read_certificate(path)
        other = _disagreement(planned, claims, certificate)
        if other:
            return replace(seen, verdict=Verdict.NOT_PROVED, message=other)
        return _verdict(seen, certificate, _completed(claims, certificate), problems)
    except (DataError, OSError) as error:
        return replace(seen, message=str(error))


def _verdict(
    seen: Verified, certificate: Certificate, claims: Claims, problems: CertifiedProblems
) -> Verified:
    """Prove the claims; errors are those of a damaged certificate."""
    if claims.nothing:
        return _nothing(seen, claims)
    if identity_of(certificate) != certificate.cell:
        text = f"its settings are not those of the cell {certificate.cell}"
        return replace(seen, verdict=Verdict.NOT_PROVED, message=text)
    try:
        problem = problems.load(certificate)
    except DataError as error:
        return replace(seen, verdict=Verdict.NOT_PROVED, message=f"its data: {error}")
    if problem.sha256 != certificate.sha256:
        text = f"sha256 {problem.sha256[:16]}..., the claims are of {certificate.sha256[:16]}..."
        return replace(seen, verdict=Verdict.DATA_CHANGED, message=text)
    learner = problems.learner(certificate)
    if learner is None:
        point = _numbers(certificate.point)
        weights = None if certificate.weights is None else _numbers(certificate.weights)
        found = prove_claims(claims, problem.system, point, weights)
        if point.shape == (problem.system.operator.unknowns,):
            other = measured_again(claims, problem, point)
            found = replace(found, faults=(*found.faults, *other))
    else:
        arrays = {name: _numbers(array) for name, array in certificate.proof.items()}
        seed = int(certificate.problem["seed"])
        found = prove_learnt(claims, problem, learner, seed, arrays)
    return _judged(seen, found)


def _nothing(seen: Verified, claims: Claims) -> Verified:
    return replace(seen, verdict=Verdict.NOTHING_CLAIMED, unchecked=tuple(sorted(claims.figures)))


def _judged(seen: Verified, found: Finding) -> Verified:
    return replace(
        seen,
        verdict=Verdict.NOT_PROVED if found.faults else Verdict.PROVED,
        message="; ".join(found.faults),
        margin_lower=found.margin_lower,
        margin_upper=found.margin_upper,
        unchecked=found.unchecked,
    )


def _shown(certificate: Certificate) -> Verified:
    instance = str(certificate.problem.get("instance", ""))
    name = str(certificate.algorithm.get("name", ""))
    return Verified(certificate.cell, instance, name, certificate.status.value, Verdict.DAMAGED)


def _claims(certificate: Certificate) -> Claims:
    """Return what a certificate claims.

    Raises
    ------
    DataError
        If that cannot be a claim.
    """
    figures = certificate.certificate.get("figures", {})
    if not isinstance(figures, dict) or not isinstance(certificate.proved, bool):
        raise DataError("the certificate's figures are no mapping, or `proved` no truth value")
    numbers = {name: _number(value) for name, value in figures.items()}
    return Claims(
        certificate.status,
        certificate.proved,
        _number(certificate.margin_lower),
        _number(certificate.margin_upper),
        {name: number for name, number in numbers.items() if number is not None},
        _goal(certificate.algorithm.get("goal")),
        _truth(certificate.goal_reached),
        *_asked_of(certificate),
    )


def _asked_of(certificate: Certificate) -> tuple[float | None, float | None]:
    """Return the bounds, from below and from above, that the algorithm itself was asked for."""
    claim = certificate.certificate.get("claim", {})
    if not isinstance(claim, dict):
        raise DataError(f"the certificate's claim is {claim!r}; allowed: a mapping")
    return _number(claim.get("margin_above")), _number(claim.get("margin_below"))


def _goal(value: Any) -> Goal | None:
    if value is None or value == "":
        return None
    try:
        return goal_of(value)
    except InputError as error:
        raise DataError(str(error)) from None


def _truth(value: Any) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise DataError(f"goal_reached is {value!r}; allowed: a truth value or nothing")
    return value


def _claims_of_row(stored: Stored) -> Claims:
    """Return what a row claims; its certificate knows what the algorithm was asked for."""
    prefix, row = "measure.", stored.row
    figures = {
        name.removeprefix(prefix): float(value)
        for name, value in row.items()
        if name.startswith(prefix) and value is not None
    }
    return Claims(
        Status(row["status"]),
        bool(row["proved"]),
        row.get("margin_lower"),
        row.get("margin_upper"),
        figures,
        _goal(row.get("goal")),
        _truth(row.get("goal_reached")),
        spent=_spent(row, stored.budget),
    )


def _completed(claims: Claims, certificate: Certificate) -> Claims:
    """Return the claims of a row, with what only its certificate says."""
    said = _claims(certificate)
    goal = said.goal if claims.goal is None else claims.goal
    return replace(
        claims, goal=goal, margin_above=said.margin_above, margin_below=said.margin_below
    )


def _spent(row: Row, budget: Budget) -> bool:
    """Return whether the budget under which a row was written is spent."""
    updates, seconds = row.get("updates"), row.get("seconds")
    spent = updates is not None and updates >= budget.updates
    return spent or (seconds is not None and seconds >= budget.seconds)


def _number(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"a figure is {value!r}; allowed: a number or nothing")
    return float(value)


def _numbers(array: Any) -> FloatArray:
    """Return an array of a certificate as numbers; what is no array of numbers is damage."""
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
        raise DataError("an array of the certificate does not hold numbers")
    return np.ascontiguousarray(array, dtype=np.float64)


def _disagreement(planned: Planned, claims: Claims, certificate: Certificate) -> str:
    """Say where the row and its certificate differ; empty if they agree."""
    if certificate.cell != planned.cell or certificate.sha256 != planned.sha256:
        return f"its certificate is that of the cell {certificate.cell}"
    said = _claims(certificate)
    if claims.goal is not None and claims.goal != said.goal:
        return f"its row has the goal {claims.goal}, its certificate {said.goal}"
    for name in ("status", "proved", "margin_lower", "margin_upper", "goal_reached"):
        mine, other = getattr(claims, name), getattr(said, name)
        if mine != other:
            return f"its row has {name} {mine}, its certificate {other}"
    if said.figures and as_json(said.figures) != as_json(claims.figures):
        return "its row has other figures than its certificate"
    return ""
