"""Run one cell per configuration in a process of its own, and print the modules it executed.

Standard input: a list of configurations (JSON) with one cell each. Standard output: for each the
settings of its cell, its status, and the modules of the package whose code was executed in it.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from perceptron_lab.experiments.cells.cell_run import run_cell, thread_pools
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.experiments.configuration.plan import plan
from perceptron_lab.experiments.configuration.yaml_source import Source
from perceptron_lab.experiments.provenance.code_digest import PACKAGE
from perceptron_lab.numerics.compiled.kernel import load_kernels

# Libraries of others that several cells need: imported once for all, and not in every process. The
# package's own modules are imported by each cell, so that it is seen which it executes.
LIBRARIES = (
    *("clarabel", "cvxpy", "highspy", "pandas", "scs", "scipy.linalg", "scipy.optimize"),
    *("scipy.sparse.linalg", "scipy.spatial.distance", "scipy.special", "sklearn.datasets"),
    *("sklearn.linear_model", "sklearn.model_selection", "sklearn.preprocessing", "sklearn.svm"),
)


def executed(tree: dict[str, Any]) -> dict[str, Any]:
    files: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        files.add(frame.f_code.co_filename)

    (cell,) = plan(load_experiment(Source("", tree)))
    sys.setprofile(note)
    outcome = run_cell(cell, cell.load(Path()))
    sys.setprofile(None)
    below = [Path(file).relative_to(PACKAGE.parent) for file in files if str(PACKAGE) in file]
    names = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in below]
    return {
        "settings": cell.settings,
        "status": outcome.status,
        "message": outcome.message,
        "modules": sorted(names),
    }


# What every cell needs is loaded once, as in the server that forks cells.
load_kernels()
thread_pools()
trees = json.load(sys.stdin)
if len(trees) > 1:
    for library in LIBRARIES:
        import_module(library)
gc.freeze()  # nor does each process look for garbage in them
for tree in trees:
    sys.stdout.flush()
    child = os.fork()
    if not child:
        try:
            sys.stdout.write(json.dumps(executed(tree)) + "\n")
            sys.stdout.flush()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
