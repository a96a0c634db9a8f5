"""Parameters as the docstring explains them, with the ranges and defaults of the record."""

from __future__ import annotations

import re
from textwrap import dedent, indent
from typing import Any

from from_code.docstrings import escaped, prose

_ENTRY = re.compile(r"^(?P<names>[A-Za-z_][\w, ]*?)(?: : .*)?$", re.MULTILINE)


def parameters_text(section: str, known: list[dict[str, Any]]) -> str:
    """Return a definition list of the parameters; empty where there are none."""
    ranges = {one["parameter"]: one for one in known}
    shown = []
    for names, meaning in entries(section):
        told = [ranges.pop(name) for name in names if name in ranges]
        lines = [prose(dedent(meaning).strip()), *(_range(one, len(names) > 1) for one in told)]
        shown.append(_entry(names, lines))
    shown += [_entry([name], [_range(one, False)]) for name, one in ranges.items()]
    return "\n\n".join(shown)


def entries(section: str) -> list[tuple[list[str], str]]:
    """Return names and meaning of each entry of a numpydoc section."""
    parts = _ENTRY.split(section)
    return [
        ([name.strip() for name in names.split(",")], meaning)
        for names, meaning in zip(parts[1::2], parts[2::2], strict=True)
    ]


def _entry(names: list[str], lines: list[str]) -> str:
    head = ", ".join(f"``{name}``" for name in names)
    return f"{head}\n{indent(chr(10).join(f'{line}{chr(10)}' for line in lines if line), '    ')}"


def _range(one: dict[str, Any], named: bool) -> str:
    which = f"``{one['parameter']}``: " if named else ""
    meaning = f"{escaped(one['meaning'])} " if one["meaning"] else ""
    return f"{meaning}{which}*{escaped(str(one['allowed']))}*; default ``{one['default']}``"
