"""``plab certify``: write exact certificates for a standalone checker."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import get_args

import click

from perceptron_lab.cli.echo import echo, print_json
from perceptron_lab.cli.options import Into, answer_options, into_option, on_target
from perceptron_lab.datasets.parts import files_of
from perceptron_lab.exact.checker import checker_path, kinds_path
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
    help="json for the standalone checker, or vipr for VIPR's checker (linear problems).",
)
@answer_options(": an outcome per cell")
def certify(target: Target, output: Path, form: Form, as_json: bool) -> int:
    """Write certificates that a standalone checker can verify without this package.

    RUN is the folder of an experiment's results; FILE is one of its certificates or a result of
    `plab solve --save`. CELL.certificate.json holds integers that prove the status and the bounds
    of the margin. CELL.data holds generated data; data that came from a file stay there, and the
    certificate records their sha256. Every certificate is checked when it is written. The checker
    is one file of plain Python. Its command is printed:

      python plab_check.py CELL.certificate.json [DATA]

    If the kind of infeasibility is proved, CELL.kind.json states it, for plab_check_kinds.py in the
    same folder.

    With --format vipr, CELL.vipr holds a linear program and a proof that it is infeasible, or of a
    lower bound on its optimum. VIPR's checker verifies it: viprchk CELL.vipr.

    The exit code is 1 if an answer has no exact proof.
    """
    cells = []
    for cell in certifying(target, output, form):
        cells.append(cell)
        if not as_json:
            echo(_line(cell))
            for line in _commands(cell) if form == "json" else ():
                echo(f"  {line}")
    certification = Certification(target.path, cells)
    if as_json:
        print_json(certification.as_json())
    else:
        echo(f"{certification}; checker: {checker_path() if form == 'json' else 'viprchk'}")
    return 1 if certification.failed else 0


def _commands(cell: CertifiedCell) -> list[str]:
    """Return the commands that check certificates on the file of their data."""
    files = [(checker_path(), cell.path), (kinds_path(), cell.kind)]
    # To be pasted into a shell: paths may have spaces
    return [
        shlex.join(["python", str(program), path, *map(str, _named(cell.data))])
        for program, path in files
        if path is not None
    ]


def _named(data: str | None) -> tuple[Path, ...]:
    """Return the path of a file or folder, or the paths of the files that match a pattern."""
    path = Path(data or "")
    return (path,) if path.exists() else files_of(path)


def _line(cell: CertifiedCell) -> str:
    counts = Counter(cell.claims).items()
    claims = ", ".join(name if number == 1 else f"{number} {name}" for name, number in counts)
    words = [cell.outcome.value, cell.problem, cell.label, cell.status, claims]
    words.append(f"not in it: {cell.message}" if cell.message else "")
    return "  ".join(word for word in words if word)
