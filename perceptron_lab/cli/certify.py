"""``plab certify``: exact certificates of results, for a checker that stands for itself."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import get_args

import click

from perceptron_lab.cli.echo import echo, print_json
from perceptron_lab.cli.options import Into, answer_options, into_option, on_target
from perceptron_lab.exact.checker import checker_path
from perceptron_lab.experiments.certifying.certify import (
    Certification,
    CertifiedCell,
    Form,
    certifying,
)
from perceptron_lab.experiments.verification.certified_problem import Target


@click.command("certify", cls=Into)
@click.argument("target", metavar="RUN|FILE", type=click.Path(path_type=Path))
@into_option()
@on_target
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(Form)),
    default="json",
    show_default=True,
    help="json for the checker; vipr: linear proofs for VIPR's, CELL.vipr.",
)
@answer_options(": an outcome per cell")
def certify(target: Target, output: Path, form: Form, as_json: bool) -> int:
    """Write exact certificates of proved answers, for a checker without any of this code.

    RUN is the folder of an experiment's results, FILE one of its certificates, or a result that
    `plab solve --save` has written. CELL.certificate.json holds whole numbers that prove the
    status, and the bounds of the margin; CELL.data the data, where these were generated: others
    stay where they are, and the certificate tells their sha256. Each has been accepted by the
    checker, one file of plain Python, by the command that is printed:

      python plab_check.py CELL.certificate.json [DATA]

    With --format vipr, CELL.vipr is a linear program with a proof that it has no point, or of a
    lower bound, for VIPR's checker: viprchk CELL.vipr.

    Exit code 1 if some answer has no exact proof.
    """
    cells = []
    for cell in certifying(target, output, form):
        cells.append(cell)
        if not as_json:
            echo(_line(cell))
            if cell.path is not None and form == "json":
                echo(f"  {_command(cell)}")
    certification = Certification(target.path, cells)
    if as_json:
        print_json(certification.as_json())
    else:
        echo(f"{certification}; checker: {checker_path() if form == 'json' else 'viprchk'}")
    return 1 if certification.failed else 0


def _command(cell: CertifiedCell) -> str:
    """Return the command that checks a certificate on the file of its data."""
    words = ["python", str(checker_path()), str(cell.path), str(cell.data)]
    return " ".join(map(shlex.quote, words))


def _line(cell: CertifiedCell) -> str:
    counts = Counter(cell.claims).items()
    claims = ", ".join(name if number == 1 else f"{number} {name}" for name, number in counts)
    words = [cell.outcome.value, cell.problem, cell.label, cell.status, claims]
    words.append(f"not in it: {cell.message}" if cell.message else "")
    return "  ".join(word for word in words if word)
