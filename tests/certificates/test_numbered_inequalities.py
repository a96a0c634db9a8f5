"""Every inequality of the note on distrust is proved there and cited where it is used."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "perceptron_lab"
NAME = "docs/notes/how-to-distrust-us.md"
NOTE = (ROOT / NAME).read_text()
STATED = re.compile(r"^\*\*\((C?\d+)\) ", re.MULTILINE)
CITED = re.compile(r"\((C?\d+)\)")
CITATION = re.compile(rf"((?:\(C?\d+\)(?:,|\s|and)*)+)\s*of\s+{re.escape(NAME)}")
# Of certificates/: what these modules do is asked of others
WITHOUT = {"__init__.py", "by_cone.py", "contract.py"}


def citations(folder: Path) -> dict[str, set[Path]]:
    """Return number -> the modules that cite it, from docstrings alone: comments have no names."""
    citations_: dict[str, set[Path]] = {}
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if NAME in text else ():
            if not isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
                continue
            for several in CITATION.findall(ast.get_docstring(node) or ""):
                for number in CITED.findall(several):
                    citations_.setdefault(number, set()).add(path)
    return citations_


def statements() -> dict[str, str]:
    """Return number -> what the note says under it."""
    *pieces, last = STATED.split(NOTE)[1:]
    return dict(zip(pieces[::2], [*pieces[1::2], last.split("\n## ")[0]], strict=True))


@pytest.mark.parametrize("letter", ["", "C"])
def test_inequalities_are_numbered_without_a_gap(letter: str) -> None:
    of_kind = [name for name in STATED.findall(NOTE) if name.startswith("C") is bool(letter)]
    assert of_kind == [f"{letter}{i + 1}" for i in range(len(of_kind))]
    assert len(of_kind) >= 5


def test_each_inequality_has_a_proof_or_a_reference() -> None:
    for number, statement in statements().items():
        if number.startswith("C"):
            assert re.search(r"\*Proof\.\*|\*Proof\*:\s+docs/notes/[a-z-]+\.md", statement), number
    for name in set(re.findall(r"docs/notes/[a-z-]+\.md", NOTE)):
        assert (ROOT / name).is_file(), name


def test_each_inequality_is_cited_and_each_citation_exists() -> None:
    stated, cited = set(STATED.findall(NOTE)), citations(PACKAGE)
    assert not set(cited) - stated
    assert not stated - set(cited)


def test_every_module_of_proofs_cites_the_inequalities_it_uses() -> None:
    folder = PACKAGE / "certificates"
    citing = set().union(*citations(folder).values())
    silent = {path for path in folder.rglob("*.py") if path.name not in WITHOUT} - citing
    assert not silent


def test_references_inside_the_note_exist() -> None:
    assert set(re.findall(r"\((C\d+)\)", NOTE)) <= set(STATED.findall(NOTE))
