"""The machines and the software of the rows, without names of hosts, owners and folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from perceptron_lab.reporting.pages.markup import Head, table_markup
from perceptron_lab.reporting.pages.places import placeless

_PLAIN = ("time", "system", "cpu", "cores", "python")


def environments_table(environments: Mapping[str, Any]) -> str:
    """Return one column per environment, one line per fact that is known of any."""
    known = {name: dict(_facts(placeless(one))) for name, one in environments.items()}
    facts = list(dict.fromkeys(fact for one in known.values() for fact in one))
    heads = [Head("fact"), *(Head(name) for name in known)]
    lines = (
        [escape(fact), *(escape(one.get(fact, "")) for one in known.values())] for fact in facts
    )
    return table_markup("Environments", heads, lines, kind="facts")


def _facts(described: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in _PLAIN:
        if name in described:
            yield name, str(described[name])
    if described.get("memory_bytes"):
        yield "memory", f"{described['memory_bytes'] / 2**30:.1f} GiB"
    for place, one in enumerate(described.get("blas") or [], 1):
        named = [str(one[key]) for key in ("internal_api", "version", "architecture") if key in one]
        threads = one.get("num_threads")
        yield f"BLAS {place}", " ".join(named) + (f", threads: {threads}" if threads else "")
    git = described.get("git") or {}
    if git.get("revision"):
        changed = " with changes" if git.get("dirty") else ""
        yield "revision", f"{git['revision']}{changed}"
    for package, version in (described.get("packages") or {}).items():
        yield package, str(version)
