"""``plab verify``: the certificates of results, proved again on the original data."""

from __future__ import annotations

from pathlib import Path

import click

from perceptron_lab.cli.echo import coloured, echo, print_json
from perceptron_lab.cli.options import answer_options, on_target
from perceptron_lab.core.outward_rounding import bracket_text
from perceptron_lab.core.saved_answers.fields import shortened
from perceptron_lab.experiments.verification.certified_problem import Target
from perceptron_lab.experiments.verification.claims import Verdict, Verified
from perceptron_lab.experiments.verify import Verification, verifying


@click.command("verify")
@click.argument("target", metavar="RUN|FILE", type=click.Path(path_type=Path))
@on_target
@click.option(
    "--exact",
    is_flag=True,
    help="Make exact certificates as well, and let their checker judge (see plab certify).",
)
@answer_options(": a verdict per cell")
def verify(target: Target, exact: bool, as_json: bool) -> int:
    """Prove the answers of results again, from the original data; no algorithm runs.

    RUN is the folder of an experiment's results, FILE one of its certificates. Points, weights and
    ellipsoids are taken from the certificates, the data from where the experiment had them, and
    every claim is proved anew. Nothing is written but into a temporary folder, which is removed;
    generated data are generated there. Fields that no check covers, as counts and times, are named
    after "not verified". Exit code 1 if a claim is not proved, with --exact if a
    status has no exact proof, or if runs.csv is not what is stored.
    """
    cells = []
    for cell in verifying(target, exact=exact):
        cells.append(cell)
        if not as_json:
            line = coloured(cell.verdict), _line(cell, alone=target.path.is_file())
            echo(*line, always=cell.verdict.failed)
    verification = Verification(target.path, cells)
    if as_json:
        print_json(verification.as_json())
    else:
        echo(str(verification))
    return 1 if verification.failed or verification.not_exact else 0


def _line(cell: Verified, *, alone: bool) -> str:
    """Return what follows the verdict in its line; what is not verified of a file in a second."""
    proved = "EXACTLY" if cell.exact else ""
    words = [proved, cell.problem, cell.label, cell.status]
    if cell.verdict is Verdict.PROVED:
        bracket = cell.margin_lower, cell.margin_upper
        words.append(f"margin in {bracket_text(*bracket)}" if bracket != (None, None) else "")
        optimum = cell.optimum_lower, cell.optimum_upper
        words.append(f"optimum in {bracket_text(*optimum, 12)}" if optimum != (None, None) else "")
    words.append(cell.message)
    words.append(f"not checked: {', '.join(cell.unchecked)}" if cell.unchecked else "")
    unverified = ", ".join(shortened(cell.not_verified))
    text = "".join(f"  {word}" for word in words if word)
    between = "\n  " if alone else "  "
    return f"{text}{between}not verified: {unverified}" if unverified else text
