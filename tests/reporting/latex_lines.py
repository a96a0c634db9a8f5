"""Reading LaTeX back: whether it is well-formed, and what its lines hold."""

from __future__ import annotations

import re


def balanced(latex: str) -> bool:
    """Whether braces, environments and dollars pair."""
    depth = 0
    bare = re.sub(r"\\[{}\\&%$#_]", "", latex)
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            return False
    stack: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", latex):
        if kind == "begin":
            stack.append(name)
        elif not stack or stack.pop() != name:
            return False
    return depth == 0 and not stack and bare.count("$") % 2 == 0


def body(latex: str) -> list[list[str]]:
    """Return the cells of the lines below the head of the one table."""
    start, end = ("\\endlastfoot", "\\end{longtable}") if "longtable}" in latex else _RULES
    lines = latex.split(f"{start}\n")[1].split(end)[0].splitlines()
    return [line.removesuffix(" \\\\").split(" & ") for line in lines if line.endswith("\\\\")]


def head(latex: str) -> list[str]:
    """Return the names of the columns of the one table."""
    line = latex.split("\\toprule\n")[1].splitlines()[0]
    return line.removesuffix(" \\\\").split(" & ")


_RULES = ("\\midrule", "\\bottomrule")
