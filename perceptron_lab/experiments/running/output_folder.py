"""Where the results of an experiment go: below the folder that was chosen, and nowhere else."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from perceptron_lab.core.errors import ConfigError, DataError, did_you_mean
from perceptron_lab.experiments.configuration.catalogue import gallery
from perceptron_lab.experiments.configuration.faults import shortened
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.store_lock import unwritable


def output_folder(root: Path, name: str) -> Path:
    """Return the folder of an experiment's results; it need not exist yet, and is not made.

    The chosen folder may itself be a link, as to a larger disk. A link in it that leads out of it
    is refused: whoever can write there could have results written over the files of others.
    """
    # A name of 64 characters, and the digest of overrides
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}(--[0-9a-f]{8})?", name):
        raise ConfigError(
            f"experiment: {shortened(name)!r} cannot name a folder; allowed: 1 to 64 letters, "
            "digits, dots, hyphens, underscores, beginning with a letter or digit"
        )
    folder = root / name
    try:
        clash = not _is_folder_or_absent(folder)
        inside = folder.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError) as error:  # a circle of links, NUL in the path
        raise unwritable(folder, error) from None
    if not inside:
        raise ConfigError(
            f"{folder} is a link to {folder.resolve()}, outside {root}; delete the link, or give "
            "the folder that it leads to with --output"
        )
    if clash:
        raise ConfigError(f"{folder} is not a folder; rename it, or choose another with --output")
    return folder


def _is_folder_or_absent(path: Path) -> bool:
    """Return whether a folder is there, or nothing; a circle of links is an OSError (ELOOP).

    The system is asked: ``Path.resolve`` and ``Path.exists`` refuse circles in some releases of
    Python only.
    """
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True


def results_named(target: object, root: Path) -> Path | None:
    """Return the folder that a target names; None where it means a configuration.

    Raises
    ------
    DataError
        If it can be neither: it tells which results there are.
    """
    if not isinstance(target, str | Path):
        return None
    path = Path(target)
    if path.is_dir():
        return path
    if path.exists() or str(target) in gallery() or path.suffix in (".yaml", ".yml"):
        return None
    if schema.is_store(root / path):
        raise DataError(f"{path}: no configuration; its results are in {root / path}: name that")
    if path.name != str(target):
        raise absent(path)
    return None


def absent(path: Path, wanted: str = "") -> DataError:
    """Return the error for results that are not there: it tells which ones are."""
    there = [one.name for one in schema.folders_below(path.parent)]
    mend = did_you_mean(path.name, there)
    known = f"; results in {path.parent}: {', '.join(there)}" if there else ""
    if not there:
        known = "; `plab run CONFIG` makes results, and `plab status` lists those in results/"
    said = f"no such file; {wanted}" if wanted else "no such file or folder"
    return DataError(f"{path}: {said}{mend}{known}")


def absent_of(folder: Path) -> DataError:
    """Return the error of a configuration without results; it tells of those of overrides."""
    found = schema.folders_below(folder.parent, f"{folder.name}--*")
    beside = ", ".join(map(str, found))
    others = f"; with overrides: {beside}" if beside else ""
    return DataError(f"{folder}: no results there; `plab run` makes them{others}")


def folders_with_results(root: Path) -> list[Path]:
    """Return the folders of the experiments that have results in the folder of all results."""
    folders = schema.folders_below(root)
    if not folders:
        raise DataError(f"{root}: no results there; `plab run CONFIG` makes them")
    return folders
