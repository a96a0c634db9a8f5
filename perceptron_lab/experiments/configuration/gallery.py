"""The configurations that are shipped with the package, by name."""

from __future__ import annotations

import os
from pathlib import Path

from perceptron_lab.errors import ConfigError, did_you_mean

_PACKAGE = Path(__file__).resolve().parents[2]


def gallery() -> dict[str, Path]:
    """Return name -> file: those of the clone, or those in the installed package.

    The name of a file in a subfolder begins with that: ``benchmarks/peers``.
    """
    folders = (_PACKAGE.parent / "configs", _PACKAGE / "configs")
    folder = next((folder for folder in folders if folder.is_dir()), None)
    if folder is None:
        return {}
    files = [*sorted(folder.glob("*.yaml")), *sorted(folder.glob("*/*.yaml"))]
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in files}


def find_config(name: str | Path) -> Path:
    """Return the file that a user means: a path, or the name of a shipped configuration."""
    if os.path.exists(name):  # unlike Path.exists it is false where there can be no such path
        return Path(name)
    shipped = gallery()
    if str(name) in shipped:
        path, here = shipped[str(name)], Path.cwd()
        return path.relative_to(here) if path.is_relative_to(here) else path
    raise ConfigError(
        f"{name}: no such file, and no shipped configuration{did_you_mean(str(name), shipped)}; "
        f"shipped: {', '.join(shipped)}"
    )
