"""Packages that are not installed: the error is the line that installs them."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Final

from perceptron_lab.core.errors import MissingPackageError

_ROOT: Final = __name__.partition(".")[0]
DISTRIBUTIONS: Final = {"flint": "python-flint", "sklearn": "scikit-learn", "yaml": "pyyaml"}
"""Imported name -> name of the distribution, where they differ."""


def requirement(module: str) -> str:
    """Return the requirement of this package that installs a module, such as ``cvxpy>=1.6``.

    Examples
    --------
    >>> requirement("sklearn").partition(">=")[0], requirement("unheard_of")
    ('scikit-learn', 'unheard_of')
    """
    from importlib import metadata  # 10 ms, which no working import needs

    name = DISTRIBUTIONS.get(module, module)
    try:
        declared = metadata.requires("perceptron-lab") or []
    except metadata.PackageNotFoundError:  # run from a folder that is not installed
        declared = []
    requirements = (line.partition(";")[0].strip() for line in declared)
    return next((line for line in requirements if re.match(rf"{name}\b(?!-)", line, re.I)), name)


def is_installed(name: str) -> bool:
    """Return whether there is a program on PATH or a package of this name.

    Examples
    --------
    >>> is_installed("numpy")
    True
    """
    from shutil import which

    return which(name) is not None or find_spec(name) is not None


class MissingPackages:
    """The last finder: it reports packages that this package imports and are not installed.

    Imports by other packages, which may be optional there, fail as they always do.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise for top-level modules imported by this package; return None for all others."""
        # With a path it is a submodule, whose package is installed
        if path is None and fullname not in sys.stdlib_module_names and _imported_here():
            raise MissingPackageError(fullname, requirement(fullname))
        return None


def _imported_here() -> bool:
    """Return whether the import statement is in this package."""
    # Frame 2 is the caller of find_spec; the import system adds frames in between
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("importlib._bootstrap"):
        frame = frame.f_back
    importer: str = frame.f_globals.get("__name__", "")
    return importer.partition(".")[0] == _ROOT


def install() -> None:
    """Append the finder to ``sys.meta_path``; a second call changes nothing."""
    if not any(isinstance(finder, MissingPackages) for finder in sys.meta_path):
        # Last, so that it is asked only when no other finder has the package
        sys.meta_path.append(MissingPackages())
