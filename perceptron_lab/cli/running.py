"""``plab run``: run experiments, write their reports, print tables and files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from perceptron_lab.cli.colours import coloured
from perceptron_lab.cli.echo import echo
from perceptron_lab.cli.rendering import show_frame, show_table
from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, counted
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.loader import Experiment, load_experiment
from perceptron_lab.experiments.configuration.plan import Cell, plan
from perceptron_lab.experiments.configuration.yaml_source import Source
from perceptron_lab.experiments.running.execution import Execution
from perceptron_lab.experiments.running.progress_lines import ProgressLines
from perceptron_lab.experiments.running.runner import Rows, run_cells


def run_all(
    configs: Sequence[Source],
    overrides: Sequence[str],
    output: Path,
    execution: Execution,
    *,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run configurations one after the other; return the exit code."""
    loaded = _loaded(configs, overrides)
    failed = False
    for experiment in loaded:
        one = experiment.config
        _warn(experiment, output)
        asked = [("table", name) for name in one.report.tables]
        named = [name for name in one.report.figures if isinstance(name, str)]
        asked += [("figure", name) for name in named]
        targets = [registry.target(kind, name) for kind, name in asked]
        modules = [target.partition(":")[0] for target in targets if isinstance(target, str)]
        modules.insert(0, "perceptron_lab.reporting")
        with _Lines(one.experiment, modules, quiet=quiet, verbose=verbose) as progress:
            try:
                results = run_cells(
                    experiment, output=output, execution=execution, progress=progress
                )
            except KeyboardInterrupt:
                cells = counted(progress.done, "finished cell is", "finished cells are")
                where = (
                    f"{cells} in {output / experiment.name}" if progress.done else "no cell ended"
                )
                echo(f"interrupted; {where}; the same command goes on from there", err=True)
                raise
        failed |= not _conclude(one, results, quiet) or bool(results.failed)
    return 1 if failed else 0


def _warn(experiment: Experiment, output: Path) -> None:
    """Say where overrides lead, and which of them do less than they seem to."""
    if experiment.changed:
        folder = output / experiment.name
        text = f"overrides change what is run: results in {folder} (-s experiment=NAME names it)"
        echo(text, err=True)
    for warning in experiment.warnings:
        echo(f"warning: {warning}", err=True)


def show_all(configs: Sequence[Source], overrides: Sequence[str]) -> int:
    """Print the cells of configurations; nothing is loaded."""
    columns = ("problem", "label", "algorithm", "oracle", "seed")
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
        show_table(f"{experiment.name}: {counted(len(cells), 'cell')}", columns, rows)
    return 0


class _Lines(ProgressLines):
    """Lines of progress; the modules of reports are imported while the first cells run."""

    def __init__(self, title: str, modules: Sequence[str], **choices: Any) -> None:
        super().__init__(title, **choices)
        self._modules, self._importing = modules, False

    def started(self, cell: Cell) -> None:
        super().started(cell)
        if not self._importing:
            self._importing = True
            Thread(target=_import_all, args=[self._modules]).start()


def _import_all(modules: Sequence[str]) -> None:
    with suppress(Exception):  # the report itself will say what is wrong
        for module in modules:
            import_module(module)


def _loaded(configs: Sequence[Source], overrides: Sequence[str]) -> list[Experiment]:
    """Check configurations, which must not overwrite one another's results."""
    loaded = [load_experiment(config, overrides) for config in configs]
    names = [one.name for one in loaded]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ConfigError(
                f"{configs[names.index(name)].name} and {configs[index].name} are both called "
                f"{name!r}; rename one, or run them into different folders with --output"
            )
    return loaded


def _conclude(config: ExperimentConfig, results: Rows, quiet: bool) -> bool:
    """Write the report; print its tables and all paths; return whether nothing of it failed."""
    for row in results.failed:
        status = coloured(Status(row["status"]))
        where = f"{row['problem']}  {row['label']}"
        echo(f"failed: {where}  ", status, f": {row['message']}", err=True)
    # Imported here: the first cells run while it loads.
    from perceptron_lab.reporting import make_report

    made = make_report(results.folder, config.report.model_dump(), config.title, results)
    for one in made.failed:
        text = f"failed: {one}; the runs are stored: mend `report:`, and `plab report` makes it"
        echo(text, err=True)
    for caution in made.cautions:
        echo(f"warning: {caution}", err=True)
    if quiet:
        return not made.failed
    for name, table in made.tables.items():
        show_frame(made.title or name, table.frame)
    for path in (results.folder / "runs.csv", results.folder / "environment.json", *made.files):
        echo(str(path))
    return not made.failed
