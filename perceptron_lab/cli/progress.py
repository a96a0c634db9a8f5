"""One bar on a terminal, with the margins of the running cells; a line per finished cell."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Column

from perceptron_lab.errors import counted
from perceptron_lab.experiments.running.plan import Cell
from perceptron_lab.experiments.running.progress import Progress


class ProgressLines(Progress):
    """Print a line to stderr for every finished cell; on a terminal, draw a bar below.

    Parameters
    ----------
    title
        What is being run.
    quiet
        Print nothing.
    verbose
        Add the message of each cell.
    """

    def __init__(self, title: str, *, quiet: bool, verbose: bool) -> None:
        self._console = Console(stderr=True, quiet=quiet, highlight=False, soft_wrap=True)
        self._verbose = verbose
        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            # What the cells have reached is cut where there is no room for it, and nothing else.
            TextColumn(
                "{task.fields[current]}",
                markup=False,
                table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
            ),
            console=self._console,
            expand=True,
            disable=quiet or not self._console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task(title, total=None, current="loading the problems")
        self._running: dict[tuple[str, str, int], str] = {}
        self._drawn = 0.0
        self.done = 0

    def __enter__(self) -> ProgressLines:
        if not self._bar.disable:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._bar.disable:  # older releases of rich print an empty line then
            self._bar.stop()

    def planned(self, total: int, kept: int, stale: int) -> None:
        """Say how many cells there are, and how many of them need not be run."""
        self.done = kept
        self._bar.update(self._task, completed=kept, total=total, current="")
        if kept:
            to_run = counted(total - kept, "cell")
            text = f"{kept} of {total} rows are there already; {to_run} to run"
            self._console.print(text, markup=False)
        if stale:
            self._console.print(
                f"{counted(stale, 'stale row')} among these, made by another version of the "
                "numeric core; --refresh runs such cells again",
                markup=False,
            )

    def replacing(self, reasons: Sequence[str]) -> None:
        """Say how many rows will be replaced, and why the first of them."""
        if reasons:
            rows = counted(len(reasons), "row does", "rows do")
            text = f"{rows} not serve and will be replaced (the first: {reasons[0]})"
            self._console.print(text, markup=False)

    def idle(self, reason: str) -> None:
        """Show the reason why no cell can run."""
        self._console.print(reason, markup=False)

    def started(self, cell: Cell) -> None:
        """Show a cell beside the bar."""
        self._running[_key(cell)] = f"{cell.instance.title}  {cell.variant.label}"
        self._draw(at_once=True)

    def moved(self, cell: Cell, updates: int, margin: float) -> None:
        """Show the margin of a running cell beside the bar, a few times a second at most."""
        where = f"{cell.instance.title}  {cell.variant.label}"
        self._running[_key(cell)] = f"{where}  margin {margin:.3g}, {updates} updates"
        self._draw(at_once=False)

    def finished(self, done: int, total: int, row: dict[str, Any]) -> None:
        """Print the line of a cell."""
        self.done = done
        self._running.pop((row["problem"], row["label"], row["seed"]), None)
        self._bar.update(self._task, completed=done, total=total)
        self._draw(at_once=True)
        width = len(str(total))
        words = [f"[{done:>{width}}/{total}]", row["problem"], row["label"], row["status"]]
        if row.get("queries") is not None:
            words += [f"{row['queries']} queries", f"{row['seconds']:.3g} s"]
        if self._verbose or row.get("queries") is None:
            words.append(row["message"])
        self._console.print("  ".join(words), markup=False)

    def _draw(self, *, at_once: bool) -> None:
        now = time.monotonic()
        if at_once or now - self._drawn > 0.2:
            self._drawn = now
            self._bar.update(self._task, current="; ".join(self._running.values()))


def _key(cell: Cell) -> tuple[str, str, int]:
    return cell.instance.title, cell.variant.label, cell.seed
