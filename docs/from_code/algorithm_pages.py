"""A page per registered algorithm: its docstring, its step, its guarantee, a run, errata."""

from __future__ import annotations

import inspect
from collections.abc import Container
from pathlib import Path
from typing import Any

import perceptron_lab
from from_code import errata
from from_code.algorithm_families import ABOUT as FAMILY_TEXTS
from from_code.algorithm_families import by_family
from from_code.docstrings import escaped, prose, running_text, sections, summary_and_rest
from from_code.formulas import latex
from from_code.parameters import parameters_text
from from_code.small_run import ABOUT, DIMENSION, ROWS, small_run
from from_code.themed_pictures import image, save_both
from from_code.written import keep_only, write_text
from perceptron_lab import Result, list_names, show
from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Guarantee

_ROOT = Path(perceptron_lab.__file__).resolve().parents[1]
_CURVE = 4  # Records from which on a trace is worth a picture
_HOLDS = {
    "theorem": "runs, and a theorem bounds its updates",
    "runs": "runs, without such a bound",
    "coordinates: theorem": "runs with the theorem, on coordinates of the kernel matrix",
    "coordinates: runs": "runs, on coordinates of the kernel matrix",
    "-": "does not run",
}


def write(folder: Path, *, pictured: Container[str] = ()) -> None:
    """Write the pages, their pictures and their list.

    Parameters
    ----------
    folder
        Where the pages are written.
    pictured
        The algorithms whose runs are drawn, for a build that takes less time; empty: all.
    """
    known = {one["name"]: one for one in list_names("algorithms")}
    for name, one in known.items():
        pictures = folder / "pictures" if not pictured or name in pictured else None
        write_text(folder / f"{name}.rst", page(name, one.get("systems"), pictures))
    write_text(folder / "index.rst", index(list(known.values())))
    keep_only(folder, {"index.rst", *(f"{name}.rst" for name in known)})


def index(known: list[dict[str, Any]]) -> str:
    """Return the page that lists all algorithms by their families, wrapped solvers last."""
    summaries = {one["name"]: one["summary"] for one in known}
    text = (
        "Algorithms\n==========\n\n"
        "One page each, made from the code: the docstring, the step as it runs, its parameters, "
        "its guarantee and a run. The page :doc:`/concepts` defines the symbols.\n\n"
        f"All runs are on the same system: {ABOUT}\n\n"
    )
    for family, names in by_family().items():
        rows = "".join(_line(name, summaries[name]) for name in names)
        pages = "".join(f"   {name}\n" for name in names)
        text += (
            f"{family}\n{'-' * len(family)}\n\n{FAMILY_TEXTS[family]}\n\n"
            ".. list-table::\n   :header-rows: 1\n   :widths: 25 45 30\n\n"
            f"   * - name\n     - summary\n     - updates at most\n{rows}\n"
            f".. toctree::\n   :hidden:\n   :caption: {family}\n\n{pages}\n"
        )
    return text


def _line(name: str, summary: str) -> str:
    formula = registry.load("algorithm", name).guarantee.formula
    shown = f":math:`{latex(formula)}`" if formula else "no bound"
    return f"   * - :doc:`{name}`\n     - {prose(summary)}\n     - {shown}\n"


def page(name: str, systems: dict[str, str] | None, pictures: Path | None) -> str:
    """Return the page of an algorithm, after its pictures have been written to a folder, if any."""
    (meaning,) = [one for one in show(name) if one["kind"] == "algorithm"]
    found = sections(meaning["documentation"])
    record = registry.load("algorithm", name)
    result, refusal = _run(name)
    parts = {
        "": _opening(found.pop("")),
        "Guarantee": _guarantee(record, result),
        "The step, as it runs": _step(record),
        "Parameters": parameters_text(found.pop("Parameters", ""), meaning["parameters"]),
        "A run": _shown(name, result, pictures) if result else escaped(refusal),
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


def _opening(text: str) -> str:
    summary, rest = summary_and_rest(text)
    return f"{prose(summary)}\n\n{running_text(rest)}"


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


def _guarantee(record: Any, result: Result | None) -> str:
    """Return the statement of the algorithm, and its value for the run where there is one."""
    text = stated(record.guarantee)
    if result is None:
        return text
    if result.bound.value is None:
        return f"{text}\n\nFor the run below there is none: {escaped(result.bound.reason)}."
    bound = escaped(str(result.bound))
    return f"{text}\n\nFor the run below, with the margin that it proved: {bound}."


def stated(guarantee: Guarantee) -> str:
    """Return a guarantee as a formula with its source and its conditions."""
    note = prose(guarantee.note)
    if not guarantee.formula:
        return f"No bound on the number of updates: {note}."
    of = f" of `{guarantee.paper}`" if guarantee.paper else ""
    opening = "at most" if "<=" not in guarantee.formula else "t with"
    return (
        f"The number of updates is {opening}\n\n.. math::\n\n    {latex(guarantee.formula)}\n\n"
        f"Source: {escaped(guarantee.theorem)}{of}{f'; {note}' if note else ''}."
    )


def _shown(name: str, result: Result, pictures: Path | None) -> str:
    status = f"{result.status}{' (proved)' if result.proved else ''}"
    lines = [status, *(line for line in str(result).splitlines() if line.startswith("  "))]
    printed = "\n".join(f"   {line}" for line in lines)
    text = (
        f"On the :doc:`{ROWS} rows in dimension {DIMENSION} <index>` of all these pages:\n\n"
        f".. code-block:: text\n\n{printed}\n\n"
    )
    if len(result.trace) < _CURVE:
        return text + "It has no course to draw: it ends after a call or a step."
    if pictures is None:
        return text
    save_both(result.plot, pictures, name)
    words = f"Margin and bound over the updates of {name} on the small system"
    return text + image(f"pictures/{name}", words)


def _where(systems: dict[str, str] | None) -> str:
    """Return a table of the kinds of systems."""
    if systems is None:
        return ""
    rows = "".join(f"   * - {kind}\n     - {_HOLDS[what]}\n" for kind, what in systems.items())
    return f".. list-table::\n   :widths: 25 75\n\n{rows}"
