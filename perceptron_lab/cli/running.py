"""``plab run``: run experiments, write their reports, print tables and files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from perceptron_lab.cli.echo import coloured, echo, is_quiet, is_verbose, print_json
from perceptron_lab.cli.rendering import show_frame, show_table
from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, counted
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.configuration.config import ReportEntry
from perceptron_lab.experiments.configuration.loader import Experiment, load_experiment
from perceptron_lab.experiments.configuration.plan import Cell, plan
from perceptron_lab.experiments.configuration.yaml_source import Source
from perceptron_lab.experiments.run import REPORTING, Results, run_experiment
from perceptron_lab.experiments.running.execution import Execution
from perceptron_lab.experiments.running.progress_lines import ProgressLines


def run_all(
    configs: Sequence[Source],
    overrides: Sequence[str],
    output: Path,
    execution: Execution,
    *,
    as_json: bool,
) -> int:
    """Run configurations one after the other; return the exit code."""
    failed, records = False, []
    for experiment in _loaded(configs, overrides):
        _warn(experiment, output)
        lines = _Lines(experiment, output, quiet=is_quiet(), verbose=is_verbose())
        results = run_experiment(experiment, output=output, execution=execution, progress=lines)
        failed |= bool(results.report.failed or results.failed)
        _warn_of_report(results)
        if as_json:
            # Printed at the end, so that stdout is one JSON value
            records.append(results.as_json())
        else:
            _show_report(results)
    if as_json:
        print_json(records)
    return 1 if failed else 0


def _warn(experiment: Experiment, output: Path) -> None:
    """Report the folder of the overrides, and overrides without effect on some entries."""
    if experiment.changed:
        folder = output / experiment.name
        text = f"overrides change what is run: results in {folder} (-s experiment=NAME names it)"
        echo(text, err=True)
    for warning in experiment.warnings:
        echo(f"warning: {warning}", err=True)


def show_all(configs: Sequence[Source], overrides: Sequence[str], *, as_json: bool) -> int:
    """Print the cells of configurations without loading data."""
    columns = ("problem", "label", "algorithm", "oracle", "seed")
    records = []
    for experiment in _loaded(configs, overrides):
        cells = plan(experiment)
        rows = [
            (
                cell.instance.title,
                cell.variant.label,
                str(cell.variant.algorithm),
                " + ".join(map(str, cell.variant.oracles)) or "default",
                str(cell.seed),
            )
            for cell in cells
        ]
        name = {"experiment": experiment.name}
        records += [name | dict(zip(columns, row, strict=True)) for row in rows]
        if not as_json:
            show_table(f"{experiment.name}: {counted(len(cells), 'cell')}", columns, rows)
    if as_json:
        print_json(records)
    return 0


class _Lines(ProgressLines):
    """Lines of progress; the modules of reports are imported while the first cells run."""

    def __init__(self, experiment: Experiment, output: Path, **choices: bool) -> None:
        super().__init__(experiment.config.experiment, **choices)
        self._folder, self._report = output / experiment.name, experiment.config.report
        self._importing = False

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if error[0] is KeyboardInterrupt:
            cells = counted(self.done, "finished cell is", "finished cells are")
            where = f"{cells} in {self._folder}" if self.done else "no cell ended"
            echo(f"interrupted; {where}; run the same command to resume", err=True)

    def started(self, cell: Cell) -> None:
        super().started(cell)
        if not self._importing:
            self._importing = True
            Thread(target=_import_all, args=[self._report]).start()

    def ended(self, failed: Sequence[dict[str, Any]]) -> None:
        for row in failed:
            status = coloured(Status(row["status"]))
            where = f"{row['problem']}  {row['label']}  seed {row['seed']}"
            echo(f"failed: {where}  ", status, f": {row['message']}", err=True)


def _import_all(report: ReportEntry) -> None:
    """Import the modules of a report's tables and figures."""
    with suppress(Exception):  # the report itself will say what is wrong
        import_module(REPORTING)
        for kind, _, name in report.registered:
            registry.load(kind, name)


def _loaded(configs: Sequence[Source], overrides: Sequence[str]) -> list[Experiment]:
    """Check configurations, which must not overwrite one another's results."""
    # All before the first one runs: a mistake in the last one is found at once
    loaded = [load_experiment(config, overrides) for config in configs]
    names = [experiment.name for experiment in loaded]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ConfigError(
                f"{configs[names.index(name)].name} and {configs[index].name} are both called "
                f"{name!r}; rename one, or run them into different folders with --output"
            )
    return loaded


def _warn_of_report(results: Results) -> None:
    """Print the tables and figures that could not be made, and the warnings of a report."""
    report = results.report
    for failure in report.failed:
        text = (
            f"failed: {failure}; the results are stored: correct `report:` in the configuration, "
            "then run `plab report`"
        )
        echo(text, err=True)
    for warning in report.cautions:
        echo(f"warning: {warning}", err=True)


def _show_report(results: Results) -> None:
    """Print the tables of a report, and all paths."""
    report = results.report
    for name, table in report.tables.items():
        show_frame(report.title or name, table.frame)
    for path in (results.folder / "runs.csv", results.folder / "environment.json", *report.files):
        echo(str(path))
