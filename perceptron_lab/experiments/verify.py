"""Verify certificates on the original data without running any algorithm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perceptron_lab.core.errors import DataError, refuse_flags
from perceptron_lab.core.saved_answers.fields import Check, Flat
from perceptron_lab.core.visible_text import visible
from perceptron_lab.datasets.regular_files import GENERATED
from perceptron_lab.experiments.configuration.rows import Row
from perceptron_lab.experiments.storage.certificate_files import (
    Certificate,
    identity_of,
    path_of,
    read_certificate,
)
from perceptron_lab.experiments.storage.exports import RUNS, difference
from perceptron_lab.experiments.storage.reader import shown
from perceptron_lab.experiments.storage.results_folder import absent
from perceptron_lab.experiments.storage.stored import Planned, Stored, sha256_of
from perceptron_lab.experiments.verification.certified_problem import (
    CertifiedProblems,
    ChangedDataError,
    Target,
    UnknownDataError,
)
from perceptron_lab.experiments.verification.claims import OPTIMUM, Claims, Verdict, Verified
from perceptron_lab.experiments.verification.reproof import reprove
from perceptron_lab.experiments.verification.separation_verdicts import is_verdict, on_verdict
from perceptron_lab.experiments.verification.stated_fields import (
    check_types,
    columns_first,
    differences,
    not_verified,
    size_faults,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Verification:
    """The verdicts on the cells of ``target``, a folder of results or one certificate."""

    target: Path
    cells: list[Verified]

    @property
    def failed(self) -> list[Verified]:
        """The cells with a claim that is not proved, for any reason."""
        return [cell for cell in self.cells if cell.verdict.failed]

    @property
    def counts(self) -> dict[str, int]:
        """Verdict -> number of cells."""
        counter = Counter(cell.verdict for cell in self.cells)
        return {verdict.value: counter[verdict] for verdict in Verdict if counter[verdict]}

    @property
    def not_exact(self) -> list[Verified]:
        """The cells whose status was to be proved exactly, and is not."""
        return [cell for cell in self.cells if cell.exact is False]

    def as_json(self) -> list[dict[str, Any]]:
        """Return the verdicts as JSON values; ``plab verify --json`` prints them."""
        return [asdict(cell) for cell in self.cells]

    def to_frame(self) -> pd.DataFrame:
        """Return the verdicts as a frame, a row per cell."""
        import pandas as pd

        return pd.DataFrame(self.as_json(), columns=list(Verified.__dataclass_fields__))

    def _repr_html_(self) -> str:
        return visible(self.to_frame().to_html(index=False, escape=True, na_rep=""))

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {verdict}" for verdict, number in self.counts.items())
        exact_outcomes = [cell.exact for cell in self.cells if cell.exact is not None]
        proved = (
            f"; {exact_outcomes.count(True)} of {len(exact_outcomes)} proved exactly as well"
            if exact_outcomes
            else ""
        )
        return f"{self.target}: {counts or 'no cell was run yet'}{proved}"


def verify(
    target: str | Path,
    *,
    base: str | Path | None = None,
    generate: int = GENERATED,
    exact: bool = False,
    data: str | Path | None = None,
    labels: str | None = None,
) -> Verification:
    """Verify the claims of results on the original data; no algorithm runs.

    FEASIBLE: the point is strictly feasible. INFEASIBLE: the weights prove it. The bracket of the
    margin is reached again but for a part of 1e-9 of each bound, since machines add up numbers in
    different orders. Separations by ellipsoids are proved from their ellipsoid and weights, bounds
    of mistakes from their comparison and multipliers; the mistakes on a stream are counted again.
    Bounds of a program's optimum are proved from a point and a dual point, or its weights.
    Measures of a point are measured again; other figures of learners are named as unchecked.
    Register your own datasets first, as for the run.

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
    exact
        Whether exact certificates are made as well, in the temporary folder, and given to their
        checker: ``exact`` of a cell says whether its status is proved so.
    data, labels
        The file of the data of a result that records none, and its column of labels, if any.

    Raises
    ------
    DataError
        If there is no such file, or no results are in the folder.

    Examples
    --------
    >>> from perceptron_lab import run
    >>> print(verify(run("quickstart").folder))
    results/quickstart: 6 PROVED
    """
    refuse_flags(exact=exact)
    resolved = Target.of(target, base, generate, data, labels)
    return Verification(resolved.path, list(verifying(resolved, exact=exact)))


def verifying(target: Target, *, exact: bool = False) -> Iterator[Verified]:
    """Yield the verdicts of :func:`verify` one after the other."""
    if not exact:
        return _in_doubles(target)
    # Exact proofs are made from learners' answers, too, and learners import the algorithms
    from perceptron_lab.experiments.certifying.certify import with_exact_proofs

    return with_exact_proofs(_in_doubles(target), target)


def _in_doubles(target: Target) -> Iterator[Verified]:
    """Yield the verdicts by the proofs with rounding bounds."""
    path = target.path
    with target.problems() as problems:
        if path.is_dir():
            runs = target.runs()
            for planned, stored in runs:
                yield _on_row(path, planned, stored, problems)
            fault = difference(path, (shown(*pair) for pair in runs if not pair[1].fault))
            if fault:
                yield Verified("", RUNS, "", "", Verdict.DAMAGED, fault)
        elif path.is_file():
            is_other = is_verdict(path)
            yield on_verdict(path, problems) if is_other else _on_file(path, problems)
        else:
            raise absent(path, "a folder of results or one of its certificates")


def _on_file(path: Path, problems: CertifiedProblems) -> Verified:
    """Return the verdict on a certificate alone."""
    try:
        certificate = problems.read(path)
        problem = str(certificate.problem.get("instance", ""))
        method, status = str(certificate.algorithm.get("name", "")), certificate.status.value
        verified = Verified(certificate.cell, problem, method, status, Verdict.DAMAGED)
        return _on_claims(verified, Claims.of_certificate(certificate), certificate, problems)
    except DataError as error:
        return Verified(path.stem, "", "", "", Verdict.DAMAGED).failing(error)


def _on_row(
    folder: Path, planned: Planned, stored: Stored, problems: CertifiedProblems
) -> Verified:
    """Return the verdict on a row and the certificate that belongs to it."""
    status = stored.status.value if stored.row else ""
    verified = Verified(planned.cell, planned.title, planned.label, status, Verdict.DAMAGED)
    if not stored.row:
        return replace(verified, message=stored.fault)
    try:
        check_types(stored.row)
        claims = Claims.of_row(stored)
        row = shown(planned, stored)
        if claims.nothing and not claims.bounds:
            return replace(_nothing(verified, claims), not_verified=not_verified(row, "cone"))
        path = path_of(folder, planned.cell)
        if stored.certificate is None or not path.is_file():
            return replace(verified, verdict=Verdict.MISSING, message=f"{path}: no such file")
        # Before it is read: a file that has changed is damage, whatever it contains now
        if sha256_of(path.read_bytes()) != stored.certificate:
            return replace(
                verified, message=f"{path}: not the file that was written, by its sha256"
            )
        certificate = read_certificate(path)
        certified = Claims.of_certificate(certificate)
        other = claims.difference(certified) or next(differences(stored.row, certificate), "")
        # Another cell's certificate may be correct, and proves nothing of this row
        if (certificate.cell, certificate.sha256) != (planned.cell, planned.sha256):
            other = f"its certificate is that of the cell {certificate.cell}"
        if other:
            return replace(verified, verdict=Verdict.NOT_PROVED, message=other)
        return _on_claims(verified, claims.completed(certified), certificate, problems, row)
    except (DataError, OSError) as error:
        return replace(verified, message=str(error))


def _on_claims(
    cell: Verified,
    claims: Claims,
    certificate: Certificate,
    problems: CertifiedProblems,
    row: Row | None = None,
) -> Verified:
    """Return the verdict on claims, of a row if there is one; errors are those of damage."""
    contents = certificate.contents
    if claims.nothing and not certificate.proof:
        return replace(_nothing(cell, claims), not_verified=contents.not_verified())
    cell = replace(cell, verdict=Verdict.NOT_PROVED)
    # The name is a digest of the settings: whoever edits one of them has to edit both
    if identity_of(certificate) != certificate.cell:
        return replace(cell, message=f"its settings are not those of the cell {certificate.cell}")
    try:
        problem = problems.load(certificate)
    except (ChangedDataError, UnknownDataError) as error:
        return cell.failing(error)
    except DataError as error:
        return cell.failing(error, "its data: ")
    # Before the proofs: a failure on other data would be no fault of the answer
    if problem.sha256 != certificate.sha256:
        text = f"sha256 {problem.sha256[:16]}..., the claims are of {certificate.sha256[:16]}..."
        return replace(cell, verdict=Verdict.DATA_CHANGED, message=text)
    reproved = reprove(claims, certificate, problem, problems.method(certificate))
    faults = [*reproved.faults, *optimum_faults(claims, contents.flat)]
    faults += [] if row is None else size_faults(row, problem)
    verified = reproved.verified | checks_of_all(claims)
    left = [*contents.not_verified(verified)]
    left += [f"certificate.figures.{name}" for name in reproved.unclaimed]
    if row is not None:
        left = columns_first(not_verified(row, contents.kind, verified), left)
    return replace(
        cell,
        verdict=Verdict.NOT_PROVED if faults else Verdict.PROVED,
        message="; ".join(faults),
        not_verified=() if faults else tuple(left),
        margin_lower=reproved.margin_lower,
        margin_upper=reproved.margin_upper,
        unchecked=reproved.unchecked,
        optimum_lower=reproved.optimum_lower,
        optimum_upper=reproved.optimum_upper,
    )


def checks_of_all(claims: Claims) -> frozenset[Check]:
    """Return the checks that every answer has passed whose claims are proved on its data."""
    passed = {Check.FORM, Check.PROVED, Check.IDENTITY, Check.DATA, Check.SETTINGS}
    goal = claims.goal is not None and claims.goal_reached is not None
    passed |= {Check.GOAL_REACHED} if goal and not claims.of_unknown_budget else set()
    return frozenset(passed | {Check.NO_OPTIMUM, Check.SIZE, Check.WIDTH})


def optimum_faults(claims: Claims, flat: Flat) -> Iterator[str]:
    """Yield the bounds of an optimum that differ from the numbers of a saved result."""
    for name in OPTIMUM if "source.sha256" in flat else ():
        if flat.get(name) != claims.figures.get(name):
            yield f"{name} is {flat.get(name)}, and {claims.figures.get(name)} among the figures"


def _nothing(verified: Verified, claims: Claims) -> Verified:
    return replace(
        verified, verdict=Verdict.NOTHING_CLAIMED, unchecked=tuple(sorted(claims.figures))
    )
