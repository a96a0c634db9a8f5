"""Measures of the package's structure, side by side with an earlier version.

    python -m scripts.measure [BEFORE]

BEFORE is the root of another working tree of this repository.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from statistics import quantiles

from scripts.import_graph import ROOT, cycles, imported_files, modules, mutual_folders

Function = ast.FunctionDef | ast.AsyncFunctionDef
SMALL = 80
"""Modules with one importer and fewer lines are fragments."""
_BLANK = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
_BLANK |= {tokenize.ENDMARKER}


def measures(package: Path) -> dict[str, int]:
    """Return the measures of a package folder by name."""
    sources = {module.name: module.path.read_text(encoding="utf-8") for module in modules(package)}
    trees = {name: ast.parse(source) for name, source in sources.items()}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    lengths = [length(node) for node in nodes if isinstance(node, Function)]
    cuts = quantiles(lengths, n=10, method="inclusive") if len(lengths) > 1 else [0] * 9
    single = single_importers(package)
    classes = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    names = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    graph = {name: targets for name, targets in imported_files(package).items() if name != ROOT}
    return {
        "names at top level": len(list(_parts(package))),
        "files": len(sources),
        "code lines": sum(code_lines(source, trees[name]) for name, source in sources.items()),
        "functions": len(lengths),
        "lines of a function, median": int(cuts[4]),
        "lines of a function, 90 %": int(cuts[8]),
        "lines of a function, most": max(lengths, default=0),
        "private functions used once": sum(map(used_once, trees.values())),
        "modules with one importer": len(single),
        f"of these below {SMALL} lines": sum(_lines(sources[name]) < SMALL for name in single),
        "files in import cycles": len(frozenset().union(*cycles(graph))),
        "pairs of sibling folders in cycles": len(mutual_folders(package)) // 2,
        "Any": names["Any"],
        "isinstance": names["isinstance"],
        "class names that occur more than once": sum(n > 1 for n in classes.values()),
    }


def _parts(package: Path) -> Iterator[str]:
    """Yield the subpackages and modules at top level."""
    for path in package.iterdir():
        if (path.suffix == ".py" and not path.name.startswith("__")) or next(
            path.rglob("*.py"), None
        ):
            yield path.stem


def _lines(source: str) -> int:
    return len(source.splitlines())


def _docstring(node: ast.AST) -> ast.stmt | None:
    if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node, False):
        return node.body[0]
    return None


def _span(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def code_lines(source: str, tree: ast.Module) -> int:
    """Return the number of lines without blanks, comments and docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _BLANK:
            lines.update(range(token.start[0], token.end[0] + 1))
    docstrings = filter(None, map(_docstring, ast.walk(tree)))
    return len(lines.difference(*map(_span, docstrings)))


def length(function: Function) -> int:
    """Return the lines of a function's body without its docstring."""
    body = function.body[1:] if _docstring(function) else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def used_once(tree: ast.Module) -> int:
    """Return how many private functions and methods a module refers to in one place only."""
    nodes = list(ast.walk(tree))
    uses = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    uses.update(node.attr for node in nodes if isinstance(node, ast.Attribute))
    private = {node.name for node in nodes if isinstance(node, Function)}
    return sum(
        uses[name] == 1 for name in private if name.startswith("_") and not name.endswith("__")
    )


def single_importers(package: Path) -> list[str]:
    """Return the modules, packages apart, that exactly one other module imports."""
    graph = imported_files(package)
    importers = Counter(target for targets in graph.values() for target in targets)
    files = {module.name for module in modules(package) if module.path.stem != "__init__"}
    return sorted(name for name in files if importers[name] == 1)


def table(columns: dict[str, dict[str, int]]) -> str:
    """Return the columns of measures as text, one line per measure."""
    titles = ["", *columns]
    names = next(iter(columns.values()))
    rows = [titles, *([name, *(str(c[name]) for c in columns.values())] for name in names)]
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    )


def main(arguments: list[str]) -> str:
    """Return the table of this working tree, and of the one before if its root is given."""
    roots = {"before": Path(arguments[0])} if arguments else {}
    roots["after" if roots else "now"] = Path(__file__).parents[1]
    return table({title: measures(root / ROOT) for title, root in roots.items()})


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1:]) + "\n")
