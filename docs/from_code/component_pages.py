"""Pages of what stands beside the algorithms: oracles, datasets, learners, optimisers."""

from __future__ import annotations

from pathlib import Path

from from_code.docstrings import escaped, prose, running_text, sections, summary_and_rest
from from_code.parameters import parameters_text
from from_code.written import write_text
from perceptron_lab import list_names, show

KINDS = {
    "oracles": "Separation oracles: how a cone answers a point with a cut. "
    '``solve(rows, "perceptron", oracle=NAME)``, or ``oracle: NAME`` in a configuration.',
    "datasets": "Data that experiments run on: ``- dataset: NAME`` in a configuration.",
    "learners": "What an experiment trains and tests, by ``- name: NAME`` like an algorithm.",
    "optimisers": "How optima are enclosed: ``optimum(...)`` picks one of them.",
}
"""Kind -> what it is, and where it is named."""


def write(folder: Path) -> None:
    """Write one page per kind."""
    for kind, opening in KINDS.items():
        write_text(folder / f"{kind}.rst", page(kind, opening))


def page(kind: str, opening: str) -> str:
    """Return the page of a kind: a section per registered name."""
    title = kind.capitalize()
    names = [one["name"] for one in list_names(kind)]
    return "\n\n".join(
        [f"{title}\n{'=' * len(title)}", opening, *(_section(kind, name) for name in names)]
    )


def _section(kind: str, name: str) -> str:
    (meaning,) = [one for one in show(name) if f"{one['kind']}s" == kind]
    found = sections(meaning["documentation"])
    summary, rest = summary_and_rest(found[""])
    parameters = parameters_text(found.get("Parameters", ""), meaning["parameters"])
    parts = [f"{name}\n{'-' * len(name)}", prose(summary), running_text(rest)]
    parts += [parameters]
    if "References" in found:
        parts.append(f"*References:* {escaped(found['References'])}")
    return "\n\n".join(part for part in parts if part)
