"""Names and sentences use the terms of the glossary and plain English."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.syntax_nodes import Nodes

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "perceptron_lab"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *(path for folder in ("", "notes", "papers") for path in (ROOT / "docs" / folder).glob("*.md")),
]

VAGUE_NAMES = """
asked chosen course done found given gone got had held here kept known made mend mends mine moved
near one others own place places put said seen shown some spoken taken theirs them those told tried
used wanted what whole wrong
"""
VAGUE = frozenset(VAGUE_NAMES.split())
"""Names that say how a value arose, or nothing, and not what it is."""

IDIOMS = re.compile(
    r"\b(?:is|are|was|were|be) told\b|\btold apart\b|\b(?:is|are) held (?:to|against)\b|"
    r"\bgo(?:es)? on\b|\bwent on\b|\btaken? for\b|\bmend(?:s|ed)?\b|\banew\b|\bat hand\b|"
    r"\bof (?:its|their|your|our|one's) own\b|\blast word\b|\bbeside\b|\bthere is none\b|"
    r"\bwhat there is\b|\bproved again\b|\bvouch\w*|\bother side\b|\bas (?:it is|they are) given\b|"
    r"\bsays? so\b|\bsays? nothing\b|\bnumeric core\b|\bsolvers? of others\b|\bof others\b|"
    r"\bsomebody\b|\bnobody\b|\bto be sure\b|\ball the same\b|\blikewise\b"
)
"""Translated idiom and words that the glossary replaces."""

ALLOWED = {"bindings": 18, "names": 24, "docstrings": 4, "messages": 5, "pages": 0}
"""How many may be left; lower these numbers with each that goes."""


def bindings(nodes: Nodes) -> Iterator[str]:
    """Yield the names that are assigned, and those of arguments and captured patterns."""
    yield from (name.id for name in nodes.of(ast.Name) if isinstance(name.ctx, ast.Store))
    yield from (argument.arg for argument in nodes.of(ast.arg))
    yield from (pattern.name for pattern in nodes.of(ast.MatchAs, ast.MatchStar) if pattern.name)


def declared(nodes: Nodes) -> Iterator[str]:
    """Yield the names of functions and methods, and of the fields of classes and objects."""
    yield from (function.name for function in nodes.of(ast.FunctionDef))
    fields = nodes.of(ast.Attribute)
    yield from (field.attr for field in fields if isinstance(field.ctx, ast.Store))
    for scope in nodes.of(ast.ClassDef):
        targets = (part.target for part in scope.body if isinstance(part, ast.AnnAssign))
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def texts(nodes: Nodes, *, documentation: bool) -> Iterator[str]:
    """Yield the docstrings of a module, or all its other texts."""
    documented = {id(statement.value) for statement in nodes.of(ast.Expr)}
    for node in nodes.of(ast.Constant):
        if isinstance(node.value, str) and (id(node) in documented) == documentation:
            yield node.value


def modules() -> Iterator[Nodes]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield Nodes(ast.parse(path.read_text(encoding="utf-8")))


def idioms(parts: Iterator[str]) -> list[str]:
    return [match[0] for part in parts for match in IDIOMS.finditer(part)]


def counts() -> Counter[str]:
    pages = (path.read_text(encoding="utf-8") for path in PAGES if path.name != "glossary.md")
    numbers = Counter(pages=len(idioms(pages)))
    for nodes in modules():
        numbers += counts_in(nodes)
    return numbers


def counts_in(nodes: Nodes) -> Counter[str]:
    return Counter(
        bindings=sum(name.strip("_") in VAGUE for name in bindings(nodes)),
        names=sum(name.strip("_") in VAGUE for name in declared(nodes)),
        docstrings=len(idioms(texts(nodes, documentation=True))),
        messages=len(idioms(texts(nodes, documentation=False))),
    )


@pytest.mark.slow
def test_vague_names_and_idioms_stay_few() -> None:
    found = counts()
    assert all(number <= ALLOWED[kind] for kind, number in found.items()), found


def test_the_counts_see_what_they_look_for() -> None:
    source = '"""It goes on."""\ndef f(given):\n    for one in given:\n        print("is told")\n'
    source += "class Run:\n    kept: int\n    def _said(self):\n        self.told = 1\n"
    nodes = Nodes(ast.parse(source))
    assert {name for name in bindings(nodes) if name in VAGUE} == {"given", "one", "kept"}
    assert {name for name in declared(nodes) if name.strip("_") in VAGUE} == {
        "kept",
        "_said",
        "told",
    }
    assert idioms(texts(nodes, documentation=True)) == ["goes on"]
    assert idioms(texts(nodes, documentation=False)) == ["is told"]
    assert counts_in(nodes) == {"bindings": 3, "names": 3, "docstrings": 1, "messages": 1}
