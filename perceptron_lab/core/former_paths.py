"""Former module paths that the documentation named: they stay importable, with a warning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

_ROOT: Final = __name__.partition(".")[0]

FORMER: Final = {
    "claims": "core.claims",
    "errors": "core.errors",
    "facts": "core.facts",
    "goals": "core.goals",
    "maxcut": "problems.optima.maxcut",
    "online": "problems.streams",
    "operators": "cones.operators",
    "oracles": "cones.oracles",
    "peers": "algorithms.external",
    "programs": "problems.optima",
    "registration": "experiments.registration",
    "resisting": "algorithms.resisting",
    "results": "core.results",
    "saved_answers": "core.saved_answers",
    "system": "systems",
    "theory": "reporting.theory",
    "verdicts": "problems.separation",
}
"""Former path -> present path, both below the package; modules inside move with their folder."""


def present_path(former: str) -> str | None:
    """Return the present full name of a former module path, or None.

    Examples
    --------
    >>> present_path("perceptron_lab.online.perceptron"), present_path("perceptron_lab.solving")
    ('perceptron_lab.problems.streams.perceptron', None)
    """
    root, _, path = former.partition(".")
    top, dot, rest = path.partition(".")
    if root != _ROOT or top not in FORMER:
        return None
    return f"{_ROOT}.{FORMER[top]}{dot}{rest}"


class FormerPaths:
    """Imports a former path as the module that is there today."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a specification of former paths; none of any other."""
        return ModuleSpec(fullname, self) if present_path(fullname) else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import the present module, with a warning that names it."""
        present = present_path(spec.name)
        assert present is not None
        warnings.warn(
            f"{spec.name} is now {present}; import that", DeprecationWarning, stacklevel=2
        )
        module = import_module(present)
        # The import system overwrites __spec__ of the module that it receives
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own specification back; it has been executed already."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def install() -> None:
    """Let former paths be imported; a second call changes nothing."""
    if not any(isinstance(finder, FormerPaths) for finder in sys.meta_path):
        # before the usual finders, which would load a second copy of a module in a moved folder
        sys.meta_path.insert(0, FormerPaths())
