"""A page per registered algorithm: its docstring, its step, its guarantee, a run, errata."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import perceptron_lab
from from_code import errata
from from_code.docstrings import escaped, running_text, sections, summary_and_rest
from from_code.parameters import parameters_text
from from_code.small_run import ABOUT, DIMENSION, ROWS, small_run
from from_code.themed_pictures import image, save_both
from from_code.written import keep_only, write_text
from perceptron_lab import Result, list_names, show
from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError

_ROOT = Path(perceptron_lab.__file__).resolve().parents[1]
_CURVE = 4  # Records from which on a trace is worth a picture
_HOLDS = {
    "theorem": "runs, and a theorem bounds its updates",
    "runs": "runs, without such a bound",
    "coordinates: theorem": "runs with the theorem, on coordinates of the kernel matrix",
    "coordinates: runs": "runs, on coordinates of the kernel matrix",
    "-": "does not run",
}


def write(folder: Path) -> None:
    """Write the pages, their pictures and their list."""
    known = {one["name"]: one for one in list_names("algorithms")}
    for name, one in known.items():
        write_text(folder / f"{name}.rst", page(name, one.get("systems"), folder))
    write_text(folder / "index.rst", index(list(known.values())))
    keep_only(folder, {"index.rst", *(f"{name}.rst" for name in known)})


def index(known: list[dict[str, Any]]) -> str:
    """Return the page that lists all algorithms, those of this package before other solvers."""
    own = [one for one in known if not _is_peer(one["name"])]
    others = [one for one in known if _is_peer(one["name"])]
    text = (
        "Algorithms\n==========\n\n"
        "One page each, made from the code: the docstring, the step as it runs, its parameters, "
        "its guarantee and a run.\n\n"
        f"All runs are on the same system: {ABOUT}\n\n"
    )
    for heading, some in (("Of this package", own), ("Other solvers, proved like all", others)):
        rows = "".join(
            f"   * - :doc:`{one['name']}`\n     - {escaped(one['summary'])}\n" for one in some
        )
        pages = "".join(f"   {one['name']}\n" for one in some)
        text += (
            f"{heading}\n{'-' * len(heading)}\n\n"
            f".. list-table::\n   :widths: 30 70\n\n{rows}\n"
            f".. toctree::\n   :hidden:\n\n{pages}\n"
        )
    return text


def page(name: str, systems: dict[str, str] | None, folder: Path) -> str:
    """Return the page of an algorithm, after its pictures have been written to the folder."""
    (meaning,) = [one for one in show(name) if one["kind"] == "algorithm"]
    found = sections(meaning["documentation"])
    record = registry.load("algorithm", name)
    result, refusal = _run(name)
    parts = {
        "": _opening(found.pop("")),
        "The step, as it runs": _step(record),
        "Parameters": parameters_text(found.pop("Parameters", ""), meaning["parameters"]),
        "Guarantee": _guarantee(record, result),
        "A run": _shown(name, result, folder) if result else escaped(refusal),
        "Where it runs": _where(systems),
        "Printed otherwise": errata.table(record),
        "References": running_text(found.pop("References", "")),
    }
    parts |= {heading: running_text(text) for heading, text in found.items()}
    title = f".. _algorithm-{name}:\n\n{name}\n{'=' * len(name)}\n\n"
    return title + "\n\n".join(
        f"{heading}\n{'-' * len(heading)}\n\n{text}" if heading else text
        for heading, text in parts.items()
        if text
    )


def _is_peer(name: str) -> bool:
    """Whether a name is that of another solver, by where it is registered."""
    return str(registry.target("algorithm", name)).startswith("perceptron_lab.algorithms.external.")


def _opening(text: str) -> str:
    summary, rest = summary_and_rest(text)
    return f"**{escaped(summary)}**\n\n{running_text(rest)}"


def _step(record: type) -> str:
    """Return the inclusion of ``step`` from the class that defines it."""
    owner = next(kind for kind in record.__mro__ if "step" in vars(kind))
    path = Path(inspect.getfile(owner)).resolve().relative_to(_ROOT).as_posix()
    inherited = "" if owner is record else f", which ``{record.__name__}`` inherits"
    return (
        f"``{owner.__name__}.step`` of ``{path}``{inherited}:\n\n"
        f".. literalinclude:: /../{path}\n   :pyobject: {owner.__qualname__}.step\n   :dedent: 4\n"
    )


def _run(name: str) -> tuple[Result | None, str]:
    """Return the run, or None and why there is none: a program that is not on this machine."""
    try:
        return small_run(name), ""
    except InputError as refusal:
        return None, f"None when these pages were made: {refusal}."


def _guarantee(record: type, result: Result | None) -> str:
    """Return what ``bound`` says of itself, and its value beside what the run needed."""
    said = running_text(inspect.getdoc(record.bound) or "")  # type: ignore[attr-defined]
    if result is None:
        return said
    if result.bound.value is None:
        return f"{said}\n\nFor the run below there is none: {escaped(result.bound.reason)}."
    bound = escaped(str(result.bound))
    return f"{said}\n\nFor the run below, with the margin that it proved: {bound}."


def _shown(name: str, result: Result, folder: Path) -> str:
    status = f"{result.status}{' (proved)' if result.proved else ''}"
    lines = [status, *(line for line in str(result).splitlines() if line.startswith("  "))]
    printed = "\n".join(f"   {line}" for line in lines)
    text = (
        f"On the :doc:`{ROWS} rows in dimension {DIMENSION} <index>` of all these pages:\n\n"
        f".. code-block:: text\n\n{printed}\n\n"
    )
    if len(result.trace) < _CURVE:
        return text + "It has no course to draw: it ends after a call or a step."
    save_both(result.plot, folder / "pictures", name)
    words = f"Margin and bound over the updates of {name} on the small system"
    return text + image(f"pictures/{name}", words)


def _where(systems: dict[str, str] | None) -> str:
    """Return a table of the kinds of systems."""
    if systems is None:
        return ""
    rows = "".join(f"   * - {kind}\n     - {_HOLDS[what]}\n" for kind, what in systems.items())
    return f".. list-table::\n   :widths: 25 75\n\n{rows}"
