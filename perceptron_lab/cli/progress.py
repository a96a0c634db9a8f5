"""One line per finished cell; on a terminal also a bar."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar


class ProgressLines:
    """Print a line to stderr for every finished cell.

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
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self._console,
            disable=quiet or not self._console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task(title, total=None)
        self.done = 0

    def __enter__(self) -> ProgressLines:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def __call__(self, done: int, total: int, row: dict[str, Any]) -> None:
        """Note that a cell is finished."""
        self.done = done
        self._bar.update(self._task, completed=done, total=total)
        width = len(str(total))
        words = [f"[{done:>{width}}/{total}]", row["problem"], row["label"], row["status"]]
        if row.get("queries") is not None:
            words += [f"{row['queries']} queries", f"{row['seconds']:.3g} s"]
        if self._verbose or row.get("queries") is None:
            words.append(row["message"])
        self._console.print("  ".join(words), markup=False)
