"""Record today's version of the code in the rows of a store, where reruns give the same results.

    python -m scripts.restamp_store [--every ALGORITHM] FOLDER...

The digest of a row contains names and sources of modules, so that a move or a new name makes rows
stale that a run would make again bit for bit. Of each algorithm (learner, optimiser) and dataset of
the store the quickest cell that a clock did not end is run again. If all columns but times,
messages and environments agree, and all lists of the traces but the seconds, every row of that
algorithm and dataset is given the digest that its code has now. Otherwise the differences are
listed, and its rows stay as they are: ``plab run`` makes them again. Where nothing differs, rows of
algorithms that a clock ended in all cells are given the digest too.

``--every`` names an algorithm that was changed. Each of its cells that a clock did not end is run
again and restamped for itself, and the others stay as they are.

Columns, measures and parameters that rows did not have when they were made are not compared. Each
store has a process of its own, under the BLAS kernel that its rows were made under. A folder
without runs.csv stays without it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from perceptron_lab.core.errors import PlabError
from perceptron_lab.core.results import Status, Trace
from perceptron_lab.experiments.cells.cell_run import run_cell
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.experiments.configuration.plan import Cell, Loaded, plan
from perceptron_lab.experiments.configuration.rows import as_json, row_of
from perceptron_lab.experiments.provenance.code_digest import CellCode
from perceptron_lab.experiments.provenance.environment import resolved
from perceptron_lab.experiments.running.runner import run_of
from perceptron_lab.experiments.storage.exports import RUNS, export
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.stored import Planned, Stored
from scripts.stores import edited, ranks_of, replace_row

_NOT_REPEATABLE: Final = {Status.TIME_LIMIT, Status.KILLED, Status.CRASHED, Status.OUT_OF_MEMORY}
_OF_THE_RUN: Final = ("environment", "core", "cell", "message")


@dataclass(frozen=True)
class Outcome:
    """What became of a store.

    Parameters
    ----------
    rows
        How many rows were given another digest.
    compared
        How many cells were run again.
    differences
        What differs, in rows that stay as they are; empty if all agree.
    untested
        Algorithms and datasets none of whose cells can be run again, with the reason.
    """

    rows: int
    compared: int
    differences: tuple[str, ...]
    untested: tuple[str, ...]


def restamp(folder: Path, most_seconds: float = sys.float_info.max, every: str = "") -> Outcome:
    """Restamp the rows of a store that are what the code gives now.

    Parameters
    ----------
    folder
        The experiment's.
    most_seconds
        Cells that took longer are not run again.
    every
        An algorithm whose cells are all run again.
    """
    code = CellCode()
    with Reader.open(folder) as reader:
        runs = reader.whole_runs()
        digests = {stored.cell: code.digest_of(stored.settings) for _, stored in runs}
        stale = [stored for _, stored in runs if stored.core != digests[stored.cell]]
        if not stale:
            return Outcome(0, 0, (), ())
        base = resolved(reader.about("base"), folder)
        cells = {(c.instance.title, c.variant.label, c.seed): c for c in plan(_experiment(reader))}
        selected, untested = _chosen(runs, most_seconds, every)
        differences: list[str] = []
        agreeing: set[str] = set()
        for group in selected:
            planned, stored = group[0]
            name = f"{planned.title}, {planned.label}, seed {planned.settings['seed']}"
            cell = cells.get((planned.title, planned.label, planned.settings["seed"]))
            trace = reader.trace(planned.cell)
            differing = [*_differences(cell, planned, stored, trace, base)]
            differences += [f"{name}: {difference}" for difference in differing]
            if not differing:
                agreeing |= {stored.cell for _, stored in group}
    # Algorithms all of whose cells a clock ended are judged by the others.
    whole = not differences and not every
    restamped = [stored for stored in stale if whole or stored.cell in agreeing]
    if restamped:
        with edited(folder) as connection:
            for stored in restamped:
                replace_row(connection, stored.cell, core=digests[stored.cell])
        without_rows = not (folder / RUNS).exists()
        with Reader.open(folder) as reader:
            export(folder, reader, reader.rows())
        if without_rows:
            (folder / RUNS).unlink()
    return Outcome(len(restamped), len(selected), tuple(differences), tuple(untested))


def _experiment(reader: Reader) -> Any:
    return load_experiment(reader.config(), without_plugins=True)


def _chosen(
    runs: Sequence[tuple[Planned, Stored]], most_seconds: float, every: str
) -> tuple[list[list[tuple[Planned, Stored]]], list[str]]:
    """Return groups of rows, the cell that is run again first, and the groups that have none."""
    groups: dict[tuple[str, ...], list[tuple[Planned, Stored]]] = {}
    for planned, stored in runs:
        algorithm = planned.settings["algorithm"]
        single = (planned.cell,) if algorithm == every else ()
        groups.setdefault((algorithm, planned.settings["dataset"], *single), []).append(
            (planned, stored)
        )
    selected: list[list[tuple[Planned, Stored]]] = []
    untested: list[str] = []
    for key, group in groups.items():
        quickest = min(group, key=lambda pair: _seconds(pair[1]))
        if _seconds(quickest[1]) <= most_seconds:
            selected.append([quickest, *(pair for pair in group if pair is not quickest)])
        else:
            untested.append(" on ".join(key[:2]))
    return selected, untested


def _seconds(stored: Stored) -> float:
    """Return how long a cell took; infinity if a clock ended it, so that a rerun may differ."""
    if stored.status in _NOT_REPEATABLE:
        return math.inf
    seconds = stored.row.get("total_seconds")
    return sys.float_info.max if seconds is None else float(seconds)


def _differences(
    cell: Cell | None, planned: Planned, stored: Stored, trace: Trace | None, base: Path
) -> Iterator[str]:
    """Yield what differs in a cell that is run again."""
    if cell is None or _contradicts(planned.settings, cell.settings):
        yield "its settings are others now"
        return
    try:
        problem = cell.load(base)
    except PlabError as error:
        yield f"its problem cannot be loaded ({error})"
        return
    if problem.sha256 != planned.sha256:
        yield "its data are others now"
        return
    outcome = run_cell(cell, problem)
    row = row_of(run_of(cell, planned.cell, Loaded.of(problem), outcome, stored.environment))
    now = json.loads(as_json(row))
    for name, value in stored.row.items():
        pair = (value, now.get(name))
        if name == "parameters":
            pair = (json.loads(value), json.loads(now[name]))
        if not name.endswith("seconds") and name not in _OF_THE_RUN and _contradicts(*pair):
            yield f"{name} was {value!r} and is {now.get(name)!r}"
    result = outcome.result
    if trace is not None and result is not None:
        lists = differing_lists(trace, result.trace)
        yield from (f"{name} of the trace differs" for name in lists)


def _contradicts(before: Any, after: Any) -> bool:
    """Return whether settings differ in more than parameters that came later."""
    if isinstance(before, dict) and isinstance(after, dict):
        return any(_contradicts(value, after.get(name)) for name, value in before.items())
    return bool(before != after)


def differing_lists(before: Trace, after: Trace) -> Iterator[str]:
    """Yield the names of lists that differ; records that a store was thinned of are NaN."""
    lists = [{**vars(trace), **trace.measures} for trace in (before, after)]
    if "ranks" in lists[1] and "scores" in lists[0]:
        lists[0]["ranks"] = [ranks_of(np.asarray(scores)) for scores in lists[0].pop("scores")]
    for name in set(lists[0]) - {"seconds", "measures"}:
        values, other_values = (trace.get(name, []) for trace in lists)
        if len(values) != len(other_values) or not all(map(_same, values, other_values)):
            yield name


def _same(before: Any, after: Any) -> bool:
    first, second = np.asarray(before), np.asarray(after)
    if first.shape != second.shape or first.dtype.kind != "f":
        return np.array_equal(first, second)
    return bool(((first == second) | np.isnan(first)).all())


def kernels(folder: Path) -> set[str]:
    """Return the BLAS kernels that the rows of a store were made under."""
    with Reader.open(folder) as reader:
        environments = reader.environments().values()
    return {
        pool["architecture"] for environment in environments for pool in environment.get("blas", ())
    }


def report(folder: Path, every: str) -> int:
    """Restamp a store and print what became of it; return 1 if some cells differ."""
    report = restamp(folder, every=every)
    counts = f"{report.rows} rows restamped, {report.compared} cells run again"
    sys.stdout.write(f"{folder}: {counts}\n")
    sys.stdout.writelines(f"  differs: {difference}\n" for difference in report.differences)
    sys.stdout.writelines(f"  not run again: {cell}\n" for cell in report.untested)
    return int(bool(report.differences))


def main(arguments: Sequence[str]) -> int:
    """Restamp stores; return 1 if some cells differ."""
    parser = argparse.ArgumentParser(prog="restamp_store")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--every", default="", metavar="ALGORITHM")
    parser.add_argument("--here", action="store_true", help="in this process, for one folder")
    options = parser.parse_args(arguments)
    if options.here:
        return report(options.folders[0], options.every)
    failed = 0
    for folder in options.folders:
        threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        variables = os.environ | dict.fromkeys(threads, "1")
        if len(kernel_names := kernels(folder)) == 1:
            variables["OPENBLAS_CORETYPE"] = kernel_names.pop()
        command = [sys.executable, "-m", "scripts.restamp_store", "--here", str(folder)]
        command += ["--every", options.every]
        failed |= subprocess.run(command, env=variables, check=False).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
