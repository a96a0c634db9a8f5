"""Progress of a run: a bar with the running cells, and a line per finished cell."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from typing import Any, Self

from rich.console import RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Column
from rich.text import Text

from perceptron_lab.core.errors import counted
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.cells.progress import Progress, remaining
from perceptron_lab.experiments.configuration.plan import Cell
from perceptron_lab.experiments.running.console import VisibleConsole


class ProgressLines(Progress):
    """Print a line to stderr for every finished cell; on a terminal, a bar and the running cells.

    In a notebook that has ``ipywidgets`` there is the bar, and lines of failed cells alone.

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
        self._console = VisibleConsole(
            stderr=True, quiet=quiet, highlight=False, markup=False, soft_wrap=True
        )
        self._verbose = verbose
        self._widgets = self._console.is_jupyter and find_spec("ipywidgets") is not None
        self._bar = _BarAndCells(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None, table_column=Column(ratio=1)),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            console=self._console,
            expand=True,
            disable=quiet or not (self._console.is_terminal or self._widgets),
            transient=True,
        )
        self._task = self._bar.add_task(title, total=None, left="", current="loading the problems")
        self._running: dict[tuple[str, str, int], str] = {}
        self._began: dict[tuple[str, str, int], float] = {}
        self._waiting: Counter[str] = Counter()
        self._ended: list[tuple[str, float]] = []
        self._most = 1
        self._drawn = 0.0
        self.done = 0

    def __enter__(self) -> Self:
        if not self._bar.disable:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if not self._bar.disable:  # older releases of rich print an empty line then
            self._bar.stop()

    def planned(self, total: int, kept: int, stale: int) -> None:
        """Print the number of cells, and how many of them are already done."""
        self.done = kept
        self._bar.update(self._task, completed=kept, total=total, current="")
        if kept:
            to_run = counted(total - kept, "cell")
            text = f"{kept} of {total} rows are there already; {to_run} to run"
            self._console.print(text)
        if stale:
            self._console.print(
                f"{counted(stale, 'stale row')} among these, made by another version of the "
                "numeric core; --refresh runs such cells again"
            )

    def queued(self, cells: Sequence[Cell]) -> None:
        """Store the labels of the cells to run, for the estimate of the remaining time."""
        self._waiting = Counter(cell.variant.label for cell in cells)

    def replacing(self, reasons: Sequence[str]) -> None:
        """Print how many rows will be replaced, with the reason for the first."""
        if reasons:
            rows = counted(len(reasons), "row does", "rows do")
            text = f"{rows} not serve and will be replaced (the first: {reasons[0]})"
            self._console.print(text)

    def idle(self, reason: str) -> None:
        """Show the reason why no cell can run."""
        self._console.print(reason)

    def compiling(self, count: int) -> None:
        """Show next to the bar that kernels are compiled."""
        super().compiling(count)
        self._bar.update(self._task, current=f"compiling {counted(count, 'kernel')}")

    def started(self, cell: Cell) -> None:
        """Show a running cell next to the bar."""
        self._running[_key(cell)] = f"{cell.instance.title}  {cell.variant.label}"
        self._began[_key(cell)] = time.monotonic()
        # The number of cells at a time is not known here but from what runs
        self._most = max(self._most, len(self._running))
        self._draw(at_once=True)

    def advanced(self, cell: Cell, updates: int, margin: float) -> None:
        """Show the margin of a running cell next to the bar, at most a few times a second."""
        where = f"{cell.instance.title}  {cell.variant.label}"
        self._running[_key(cell)] = f"{where}  margin {margin:.3g}, {updates} updates"
        self._draw(at_once=False)

    def finished(self, done: int, total: int, row: dict[str, Any]) -> None:
        """Print the line of a cell."""
        self.done = done
        key = row["problem"], row["label"], row["seed"]
        self._running.pop(key, None)
        self._waiting[row["label"]] -= 1
        # Cells that were skipped have never begun
        if key in self._began:
            self._ended.append((row["label"], time.monotonic() - self._began.pop(key)))
        self._bar.update(self._task, completed=done, total=total)
        self._draw(at_once=True)
        width = len(str(total))
        begin = f"[{done:>{width}}/{total}]  {row['problem']}  {row['label']}  "
        begin += f"seed {row['seed']}  "
        status, words = Status(row["status"]), [""]
        if self._widgets and not (status.failed or self._verbose):
            return
        if row.get("queries") is not None:
            words += [f"{row['queries']} queries", f"{row['seconds']:.3g} s"]
        if self._verbose or row.get("queries") is None:
            words.append(row["message"])
        self._console.print(Text.assemble(begin, (status, status.colour), "  ".join(words)))

    def _left(self, now: float) -> str:
        """Return the estimate of the time that the cells to come take, in words."""
        due = [(label, now - began) for (_, label, _), began in self._began.items()]
        waiting = self._waiting - Counter(label for _, label, _ in self._began)
        still = ((label, 0.0) for label in waiting.elements())
        left = remaining(self._ended, chain(due, still), self._most)
        return str(left) if left else ""

    def _draw(self, *, at_once: bool) -> None:
        now = time.monotonic()
        # Records may come faster than anybody can read them
        if at_once or now - self._drawn > 0.2:
            self._drawn = now
            current = "; ".join(self._running.values())
            self._bar.update(self._task, left=self._left(now), current=current)


class _BarAndCells(Bar):
    """A progress bar as wide as the terminal, and the running cells on a second line.

    What these have reached is cut where the line ends, and nothing else.
    """

    def get_renderables(self) -> Iterator[RenderableType]:
        """Yield both lines."""
        yield self.make_tasks_table(self.tasks)
        for task in self.tasks:
            yield Text(task.fields["current"], no_wrap=True, overflow="ellipsis")


def _key(cell: Cell) -> tuple[str, str, int]:
    return cell.instance.title, cell.variant.label, cell.seed


def notebook_progress(title: str) -> ProgressLines | None:
    """Return the progress of a run in a notebook's kernel; None elsewhere."""
    notebook = VisibleConsole().is_jupyter
    return ProgressLines(title, quiet=False, verbose=False) if notebook else None
