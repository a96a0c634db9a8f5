"""What commands load and take: `python -m tests.docs.start_up [PYTHON...]` prints a table.

Each runs in a fresh interpreter, by default this one; further ones are those of other working trees
with their environments, to compare with.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = re.search(r"cat > patients.csv <<'end'\n(.*?)end\n", (ROOT / "README.md").read_text(), re.S)
CONFIG = """\
experiment: small
problems:
  - {dataset: maxcut, instances: [random-8-12]}
algorithms:
  - name: ellipsoid
report: {tables: [table_6_1], figures: [table_6_1]}
"""
PACKAGES = (
    *("numba", "pandas", "matplotlib", "sklearn", "cvxpy", "scs", "clarabel", "highspy", "flint"),
    *("scipy.optimize", "scipy.spatial", "scipy", "numpy", "requests", "pooch", "jinja2"),
    *("pydantic", "rich", "yaml", "click"),
)
COMMANDS = (
    *("plab --help", "plab list", "plab show perceptron", "plab check small.yaml"),
    *("plab solve patients.csv --labels outcome", "plab run small.yaml --dry-run"),
    *("plab status", "plab report", "plab verify results/small", "plab theory figure_3_1"),
    *("import perceptron_lab", "perceptron_lab.solve([[1, 2], [2, 1]])"),
)
"""Lines of a terminal, and of Python."""
RESULTS = "plab run small.yaml"
"""Makes the results that `plab status`, `report` and `verify` read."""
_PLAB = "import sys; from perceptron_lab.cli.main import main; status = main(sys.argv[1:])"
_END = f"""
import json, os, sys
took = os.times()
loaded = [name for name in {PACKAGES} if name in sys.modules]
sys.stderr.write("\\n" + json.dumps([loaded, took.user + took.system]))
"""


def prepared(folder: Path) -> None:
    """Write the files that the commands read."""
    assert TABLE is not None
    (folder / "patients.csv").write_text(TABLE[1])
    (folder / "small.yaml").write_text(CONFIG)


def run(command: str, folder: Path, python: str = sys.executable) -> tuple[list[str], float]:
    """Run a command in a folder; return the packages that it has loaded, and its CPU seconds."""
    words = command.split()
    if words[0] == "plab":
        arguments = [python, "-c", _PLAB + _END, *words[1:]]
    else:
        arguments = [python, "-c", f"import perceptron_lab; {command}{_END}"]
    variables = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    completed = subprocess.run(arguments, cwd=folder, env=variables, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    loaded, seconds = json.loads(completed.stderr.splitlines()[-1])
    return loaded, seconds


def line(command: str, folder: Path, pythons: Iterable[str]) -> str:
    """Return the table's line of a command: the lesser of two times with each interpreter."""
    runs = [[run(command, folder, python) for _ in range(2)] for python in pythons]
    seconds = " | ".join(f"{min(took for _, took in run):.2f}" for run in runs)
    return f"| `{command}` | {seconds} | {', '.join(runs[-1][-1][0]) or 'none'} |\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        prepared(Path(name))
        run(RESULTS, Path(name))
        for command in COMMANDS:
            sys.stdout.write(line(command, Path(name), [*sys.argv[1:], sys.executable]))
            sys.stdout.flush()
