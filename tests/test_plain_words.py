"""Names and sentences use the terms of the glossary and plain English."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

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


@cache
def nodes(tree: ast.AST) -> list[ast.AST]:
    """Return all nodes of a tree, which several checks look at."""
    return list(ast.walk(tree))


def bindings(tree: ast.AST) -> Iterator[str]:
    """Yield the names that are assigned, and those of arguments and captured patterns."""
    for node in nodes(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name


def declared(tree: ast.AST) -> Iterator[str]:
    """Yield the names of functions and methods, and of the fields of classes and objects."""
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.ClassDef):
            fields = (part.target for part in node.body if isinstance(part, ast.AnnAssign))
            yield from (field.id for field in fields if isinstance(field, ast.Name))


def texts(tree: ast.AST, *, documentation: bool) -> Iterator[str]:
    """Yield the docstrings of a module, or all its other texts."""
    statements = (node for node in nodes(tree) if isinstance(node, ast.Expr))
    documented = {id(node.value) for node in statements}
    for node in nodes(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and (id(node) in documented) == documentation:
            yield text


def trees() -> Iterator[ast.Module]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield ast.parse(path.read_text(encoding="utf-8"))


def idioms(parts: Iterator[str]) -> list[str]:
    return [match[0] for part in parts for match in IDIOMS.finditer(part)]


def counts() -> dict[str, int]:
    modules = list(trees())
    names = (name.strip("_") for tree in modules for name in bindings(tree))
    pages = (path.read_text(encoding="utf-8") for path in PAGES if path.name != "glossary.md")
    return {
        "bindings": sum(name in VAGUE for name in names),
        "names": sum(name.strip("_") in VAGUE for m in modules for name in declared(m)),
        "docstrings": len(idioms(t for m in modules for t in texts(m, documentation=True))),
        "messages": len(idioms(t for m in modules for t in texts(m, documentation=False))),
        "pages": len(idioms(pages)),
    }


@pytest.mark.slow
def test_vague_names_and_idioms_stay_few() -> None:
    found = counts()
    assert all(number <= ALLOWED[kind] for kind, number in found.items()), found


def test_the_counts_see_what_they_look_for() -> None:
    source = '"""It goes on."""\ndef f(given):\n    for one in given:\n        print("is told")\n'
    source += "class Run:\n    kept: int\n    def _said(self):\n        self.told = 1\n"
    tree = ast.parse(source)
    assert [name for name in bindings(tree) if name in VAGUE] == ["given", "one", "kept"]
    assert [name for name in declared(tree) if name.strip("_") in VAGUE] == [
        "kept",
        "_said",
        "told",
    ]
    assert idioms(texts(tree, documentation=True)) == ["goes on"]
    assert idioms(texts(tree, documentation=False)) == ["is told"]
