"""The checker of exact certificates, a file that stands for itself, as a module."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).parents[1]


def checker_path() -> Path:
    """Return the file: in the folder ``checker`` of a checkout, or in that of the package."""
    found = [folder / "checker" / "plab_check.py" for folder in (_PACKAGE.parent, _PACKAGE)]
    return next((path for path in found if path.is_file()), found[-1])


@cache
def checker() -> Any:
    """Return the checker as a module: its functions are what its command line calls."""
    return loaded()


def loaded() -> Any:
    """Return the checker as a module of its own, whatever is done to it."""
    spec = importlib.util.spec_from_file_location("plab_check", checker_path())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
