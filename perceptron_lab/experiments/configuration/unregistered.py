"""Names that only plugins know: a configuration states the plugins, and loads none of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from perceptron_lab import registry
from perceptron_lab.experiments.configuration.faults import Fault


def taken_from_report(tree: Any) -> Iterator[Fault]:
    """Take tables and figures that plugins may know out of a tree that states plugins."""
    asked = tree.get("report") if isinstance(tree, dict) and tree.get("plugins") else None
    for kind in ("table", "figure"):
        names: Any = asked.get(f"{kind}s") if isinstance(asked, dict) else None
        for name in list(names) if isinstance(names, list) else []:
            if isinstance(name, str) and name not in registry.names(kind):
                names.remove(name)
                yield Fault(("report", f"{kind}s"), "", unregistered=f"{kind} {name!r}")


def explained(faults: Sequence[Fault], plugins: str, *, left_out: bool) -> list[Fault]:
    """Return the faults, those of names that plugins may know left out, or with the plugins' own.

    Parameters
    ----------
    plugins
        As the configuration states them; without any, names that resemble no other one are said to
        need them.
    left_out
        Whether nothing is to be run, so that the names need not be known.
    """
    found = []
    for fault in faults:
        if plugins and fault.unregistered:
            if left_out:
                continue
            file = plugins if plugins.endswith(".py") and "," not in plugins else "FILE.py"
            mend = f"plugins: {plugins} is not loaded: add --plugin {file}, or install it"
            fault = replace(fault, message=f"unknown {fault.unregistered}; {mend}")
        elif fault.unregistered and "did you mean" not in fault.message:
            mend = "if it is your own, state plugins: [FILE.py], and run with --plugin FILE.py"
            fault = replace(fault, message=f"{fault.message}; {mend}")
        found.append(fault)
    return found
