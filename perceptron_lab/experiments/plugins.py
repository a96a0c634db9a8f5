"""Algorithms, datasets, ... of a user's own that are named on the command line, or installed.

A plugin is a Python file that calls :func:`perceptron_lab.register`; or an installed distribution
with an entry point of the group ``perceptron_lab.plugins``, whose module does. Its code runs in
this process and in those of the cells, so that nothing but the user names it: no configuration,
certificate or store ever loads one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, PlabError
from perceptron_lab.datasets.regular_files import no_such_file

GROUP: Final = "perceptron_lab.plugins"
"""The group of entry points of installed plugins."""


def load_plugins(files: Iterable[str | Path] = ()) -> None:
    """Run the installed plugins, and files of a user's own.

    Parameters
    ----------
    files
        Python files. The folder of each is searched for what it imports, as if it were run.

    Raises
    ------
    ConfigError
        If there is no such file, its name is that of another module, it fails, or it registers
        nothing.
    """
    for name, module in _installed(tuple(sys.path)):
        _import(module, f"the installed plugin {name!r}")
    for file in map(Path, files):
        _load(file)


@lru_cache(maxsize=8)
def _installed(_folders: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return name and module of the installed plugins: each distribution in the folders is read."""
    return tuple((point.name, point.module) for point in entry_points(group=GROUP))


def _load(file: Path) -> None:
    """Import a file by its own name, as the processes of cells do again."""
    if file.suffix != ".py" or not file.stem.isidentifier():
        raise ConfigError(f"plugin {file}: give a Python file that can be imported, as mine.py")
    if not file.is_file():
        raise ConfigError(f"plugin {no_such_file(file, lambda path: path.suffix == '.py')}")
    location, folder = file.resolve(), str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    module = sys.modules.get(file.stem)
    spec = module.__spec__ if module else find_spec(file.stem)
    origin = None if spec is None or spec.origin is None else Path(spec.origin).resolve()
    if origin != location:
        raise ConfigError(f"plugin {file}: another module is called {file.stem!r}; rename the file")
    if module is None:
        before = len(registry.additions())
        _import(file.stem, f"plugin {file}")
        if len(registry.additions()) == before:
            raise ConfigError(
                f"plugin {file}: it registers nothing; let it call "
                'perceptron_lab.register("algorithm", "my-name", MyClass)'
            )


def _import(module: str, name: str) -> None:
    try:
        import_module(module)
    except PlabError as error:
        raise ConfigError(f"{name}: {error}") from error
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        where = f"line {trace.tb_lineno}: " if trace is not None else ""
        where = f"line {error.lineno}: " if isinstance(error, SyntaxError) else where
        raise ConfigError(f"{name}: {where}{type(error).__name__}: {error}") from error
