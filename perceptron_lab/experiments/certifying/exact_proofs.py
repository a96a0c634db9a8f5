"""The verdicts on cells, and whether an exact proof of each is accepted by the checker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from perceptron_lab.exact.compiled_checker import compiled_checker
from perceptron_lab.experiments.certifying.certify import CertifiedCell, Outcome, certifying
from perceptron_lab.experiments.verification.verified import Verdict, Verified


def with_exact_proofs(
    verdicts: Iterable[Verified],
    target: Path,
    base: Path | None,
    generate: int,
    data: Path | None = None,
    labels: str | None = None,
) -> Iterator[Verified]:
    """Yield verdicts with ``exact``, by certificates that are made anew and given to the checker.

    Parameters
    ----------
    verdicts
        Those of the target's cells.
    target, base, generate, data, labels
        As for ``plab verify``.
    """
    with TemporaryDirectory(prefix="plab-exact-") as folder:
        found = certifying(target, Path(folder), base, generate, data=data, labels=labels)
        outcomes = {cell.cell if target.is_dir() else "": cell for cell in found}
        for verdict in verdicts:
            outcome = outcomes.get(verdict.cell if target.is_dir() else "")
            if outcome is None or verdict.verdict is Verdict.NOTHING_CLAIMED:
                yield verdict
                continue
            said = _refused(outcome)
            message = "; ".join(filter(None, [verdict.message, said]))
            yield replace(verdict, exact=not said, message=message)


def _refused(outcome: CertifiedCell) -> str:
    """Return why an outcome is no exact proof; empty where the checker accepts its file."""
    if outcome.outcome is not Outcome.CERTIFIED or outcome.path is None:
        return f"no exact proof: {outcome.message}"
    answers = compiled_checker().check(outcome.path, outcome.data)
    reasons = [f"{sentence}: {reason}" for sentence, reason in answers if reason]
    return f"the checker refuses {'; '.join(reasons)}" if reasons else ""
