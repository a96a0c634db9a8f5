"""``plab verify``: verify saved answers again on the original data."""

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
    help="Also write exact certificates and run the standalone checker (see plab certify).",
)
@answer_options(": a verdict per cell")
def verify(target: Target, exact: bool, as_json: bool) -> int:
    """Verify saved answers again on the original data, without running any algorithm.

    RUN is the folder of an experiment's results; FILE is a single saved answer. Points, weights and
    ellipsoids are read from the certificates, data from the files and generators of the experiment.
    Every claim is then verified from these. Generated data go to a temporary folder, which is
    removed; nothing else is written.

    Fields that cannot be checked, such as times and counts, are listed after "not verified". The
    exit code is 1 if a claim is not proved, if runs.csv differs from the stored rows, or, with
    --exact, if a status has no exact proof.
    """
    cells = []
    for cell in verifying(target, exact=exact):
        cells.append(cell)
        if not as_json:
            line = coloured(cell.verdict), _line(cell, alone=target.path.is_file())
            # Claims that are not proved are errors, which -q prints too
            echo(*line, always=cell.verdict.failed)
    verification = Verification(target.path, cells)
    if as_json:
        print_json(verification.as_json())
    else:
        echo(str(verification))
    return 1 if verification.failed or verification.not_exact else 0


def _line(cell: Verified, *, alone: bool) -> str:
    """Return the text after the verdict, with unverified fields of a file on a second line."""
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
