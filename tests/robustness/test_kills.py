"""A sweep that is killed again and again ends with the table of one that was left alone."""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import DataError
from perceptron_lab.experiments.configuration.rows import Row
from perceptron_lab.experiments.storage.reader import Reader
from tests.repetitions import repeated
from tests.robustness.commands import Command, kill, without_clocks

KILLS = int(os.environ.get("PLAB_KILLS", "12"))
"""How many kills the long run has in all; PLAB_KILLS=200 takes about a quarter of an hour."""

CONFIG = """\
experiment: sweep
budget: {updates: 1500}
problems:
  - {dataset: margin-sets, family: gaussian, dimension: 10, rows: 500}
  - {dataset: labelled-sets, family: sparse, dimension: 6, rows: 60, density: 0.3}
algorithms:
  - {name: perceptron}
  - {name: perceptron, label: random, oracle: random}
  - {name: von-neumann}
  - {name: auto}
"""
CELLS = 8
KINDS = ("parent", "server", "cell", "cell")
"""Who is killed; a cell twice as often as the others."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(0),  # there may be many kills
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
]


@dataclass
class Sweep:
    """A sweep in a folder, and what its killing has shown."""

    folder: Path
    jobs: int
    chance: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    in_the_middle: int = 0
    rows_killed: int = 0
    orphans: list[int] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)

    @property
    def results(self) -> Path:
        return self.folder / "sweep"

    def command(self) -> Command:
        config = self.folder.parent / "sweep.yaml"
        arguments = ("run", config, "--output", self.folder, "--jobs", str(self.jobs), "-v")
        return Command(*arguments)

    def saved(self) -> dict[str, Row]:
        """Return the rows that are safe: those of cells that were not killed."""
        try:
            with Reader.open(self.results) as reader:
                stored = reader.stored_of(cell.cell for cell in reader.plan()).values()
        except DataError:
            return {}  # it was killed before there was a store
        assert not [row.fault for row in stored if row.fault]
        return {row.cell: row.row for row in stored if not row.status.failed}

    def kill_during_one_run(self, most: int) -> int:
        """Start the command or go on, kill so often at most, and return its exit code."""
        before = self.saved()
        with self.command() as command:
            for _ in range(most):
                if not self.kill_once(command):
                    break
            code = command.finish()
            self.orphans += command.orphans()
            self.rows_killed += command.output.count("the fork server died")
            self.rows_killed += command.output.count("killed by")
        after = self.saved()
        self.changed += [cell for cell, row in before.items() if after.get(cell) != row]
        self.in_the_middle += code == -9 and len(after) < CELLS
        return code

    def kill_once(self, command: Command) -> bool:
        """Kill somebody at a random time; False if nobody is left to be killed."""
        kind = self.chance.choice(KINDS)
        if kind == "parent" and self.chance.random() < 0.2:
            command.wait_for_end(self.chance.uniform(0.0, 3.0))  # perhaps it is only loading
        elif command.wait_for(command.servers):
            command.wait_for_end(self.chance.uniform(0.0, 0.8))
        victims = {
            "parent": lambda: [command.process_id] if command.runs else [],
            "server": command.servers,
            "cell": command.cells,
        }[kind]
        if not command.wait_for(victims):
            return False
        if not any(kill(process) for process in victims()[-1:]):
            return True  # it has ended by itself meanwhile: another one
        self.kills[kind] += 1
        return kind != "parent"


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the configuration and the results of a run that is left alone."""
    folder = tmp_path_factory.mktemp("kills")
    (folder / "sweep.yaml").write_text(CONFIG)
    config, output = str(folder / "sweep.yaml"), str(folder / "alone")
    assert main(["run", config, "--output", output, "-q"]) == 0
    return folder


@pytest.mark.parametrize(
    ("jobs", "most"), repeated([(2, 2), (1, KILLS // 2), (2, KILLS // 2)], kept=1)
)
def test_a_sweep_survives_kills(alone: Path, jobs: int, most: int) -> None:
    """So many kills with so many jobs, of sweeps one after the other until it is enough."""
    expected = without_clocks(alone / "alone" / "sweep")
    chance = random.Random(jobs)
    sweeps: list[Sweep] = []
    while sum(sweep.kills.total() for sweep in sweeps) < most:
        sweep = Sweep(alone / f"{most}-kills-of-{jobs}-jobs-{len(sweeps)}", jobs, chance)
        sweeps.append(sweep)
        left = most - sum(sweep.kills.total() for sweep in sweeps)
        while sweep.kill_during_one_run(min(left, 6)) != 0:
            assert left > 0, "a run in which nothing is killed fails"
            left = most - sum(sweep.kills.total() for sweep in sweeps)
        rows = without_clocks(sweep.results)
        assert rows == expected
        assert len({row[0] for row in rows}) == CELLS + 1
    kills = sum((sweep.kills for sweep in sweeps), Counter[str]())
    ended = sum(sweep.in_the_middle for sweep in sweeps)
    felt = sum(sweep.rows_killed for sweep in sweeps)
    report = f"{dict(kills)}, {ended} runs ended in the middle, {felt} rows of killed cells"
    sys.stderr.write(f"\n{jobs} jobs, {len(sweeps)} sweeps: {report}\n")
    assert [orphan for sweep in sweeps for orphan in sweep.orphans] == []
    assert [change for sweep in sweeps for change in sweep.changed] == []
    assert kills.total() >= most
    assert ended + felt > 0
