"""What ``plab run`` does: run experiments, write their reports, print what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

import click

from perceptron_lab.cli.progress import ProgressLines
from perceptron_lab.cli.rendering import show_frame, show_table
from perceptron_lab.errors import ConfigError
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.running.execution import Execution
from perceptron_lab.experiments.running.plan import Cell, plan
from perceptron_lab.experiments.running.runner import Rows, load_config, run_loaded
from perceptron_lab.experiments.running.wording import counted


def run_all(
    configs: Sequence[str],
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
    for one, base in loaded:
        modules = ["perceptron_lab.reporting"]
        if one.report.figures:
            modules.append("perceptron_lab.reporting.printing.drawing")
        with _Lines(one.experiment, modules, quiet=quiet, verbose=verbose) as progress:
            try:
                results = run_loaded(
                    one, base, output=output, execution=execution, progress=progress
                )
            except KeyboardInterrupt:
                _show_saved(progress.done, output / one.experiment)
                raise
        _conclude(one, results, quiet)
        failed |= bool(results.failed)
    return 1 if failed else 0


def show_all(configs: Sequence[str], overrides: Sequence[str]) -> int:
    """Print the cells of configurations; nothing is loaded."""
    for one, _ in _loaded(configs, overrides):
        _show_cells(one)
    return 0


class _Lines(ProgressLines):
    """Lines of progress; what reports need is imported while the first cells run."""

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


def _loaded(
    configs: Sequence[str], overrides: Sequence[str]
) -> list[tuple[ExperimentConfig, Path]]:
    """Return the configurations, and the folders that their relative paths start from."""
    loaded = [load_config(config, overrides) for config in configs]
    _refuse_same_names(configs, [one for one, _ in loaded])
    return loaded


def _refuse_same_names(configs: Sequence[str], loaded: Sequence[ExperimentConfig]) -> None:
    """Refuse configurations that would overwrite one another's results."""
    names = [one.experiment for one in loaded]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ConfigError(
                f"{configs[names.index(name)]} and {configs[index]} are both called {name!r}; "
                "rename one, or run them into different folders with --output"
            )


def _show_cells(config: ExperimentConfig) -> None:
    cells = plan(config)
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
    columns = ("problem", "label", "algorithm", "oracle", "seed")
    show_table(f"{config.experiment}: {counted(len(cells), 'cell')}", columns, rows)


def _show_saved(done: int, folder: Path) -> None:
    cells = counted(done, "finished cell is", "finished cells are")
    where = f"{cells} in {folder}" if done else "no cell ended"
    click.echo(f"interrupted; {where}; the same command goes on from there", err=True)


def _conclude(config: ExperimentConfig, results: Rows, quiet: bool) -> None:
    """Write the report; print its tables and the paths of everything written."""
    for row in results.failed:
        text = f"{row['problem']}  {row['label']}  {row['status']}: {row['message']}"
        click.echo(f"failed: {text}", err=True)
    # Imported here: the first cells run while it loads.
    from perceptron_lab.reporting import make_report, table_frame

    made = make_report(results.folder, config.report.model_dump(), config.title, results)
    for caution in made.cautions:
        click.echo(f"warning: {caution}", err=True)
    if quiet:
        return
    for name in config.report.tables:
        show_frame(config.title or name, table_frame(name, made.evidence))
    for path in (results.folder / "runs.csv", results.folder / "environment.json", *made.files):
        click.echo(str(path))
