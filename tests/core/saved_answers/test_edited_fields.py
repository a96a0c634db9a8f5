"""Whatever field of a saved answer is edited, `plab verify` refuses it or says "not verified".

The edits are made of the files themselves, so that a new field is edited without being named here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab import Result, verify
from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.saved_answers.fields import Field
from perceptron_lab.core.saved_answers.kinds import VERDICT, cell_fields, result_fields
from tests.core.saved_answers.edits import changed, edits, leaves, read, write
from tests.experiments.certified import CELLS, certified
from tests.repetitions import repeated, thinned

FEASIBLE = """NAME b
ROWS
 N cost
 G c1
 L c2
COLUMNS
 x cost 1 c1 1
 x c2 1
 y c1 1 c2 1
RHS
 r c1 2 c2 2
BOUNDS
 UP b x 1
 UP b y 1
ENDATA
"""
GRAPH = "5 6\n1 2 1\n2 3 1\n3 4 1\n4 5 1\n1 5 1\n1 3 1\n"
OVERLAP = "a,b,kind\n0,0,x\n1,1,x\n0,1,y\n1,0,y\n2,2,y\n"
SEPARATED = "a,b,kind\n0,0,x\n1,1,x\n3,4,y\n4,3,y\n"
DATA = {
    "b.mps": FEASIBLE,
    "a.mps": FEASIBLE.replace("c1 2 c2 2", "c1 3 c2 3"),
    "g.rud": GRAPH,
    "o.csv": OVERLAP,
    "s.csv": SEPARATED,
}
SOLVED = {
    "linear, infeasible": ["a.mps"],
    "linear, feasible": ["b.mps"],
    "linear, by HiGHS": ["b.mps", "--algorithm", "highs"],
    "feasible": ["s.csv", "--labels", "kind"],
    "infeasible": ["o.csv", "--labels", "kind"],
    "bounded": ["o.csv", "--labels", "kind", "--goal", "margin_upper=0.5"],
    "relaxed": [
        *("o.csv", "--labels", "kind", "--algorithm", "relaxed-perceptron"),
        *("--budget-updates", "1000"),
    ],
    "limit": ["s.csv", "--labels", "kind", "--algorithm", "mirror-prox", "--budget-updates", "1"],
    "optimum": ["g.rud", "--optimum"],
    "verdict": ["o.csv", "--labels", "kind", "--verdict"],
    "verdict, separated": ["s.csv", "--labels", "kind", "--verdict"],
}
SHARES = 5  # every value has as many kinds of edits, or more
CELLS_OF = ("rows", "rows, none", "matrices", "ellipsoid", "no ellipsoid")


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A saved answer of every kind, each beside its data."""
    folder = tmp_path_factory.mktemp("answers")
    for name, text in DATA.items():
        (folder / name).write_text(text)
    paths = {name: folder / f"{number}.npz" for number, name in enumerate(SOLVED)}
    for name, (file, *words) in SOLVED.items():
        assert main(["solve", str(folder / file), *words, "--save", str(paths[name])]) == 0
    cells = {name: certified(folder, *CELLS[name][:2], **CELLS[name][2]) for name in CELLS_OF}
    return paths | cells


def fields_of(tree: dict[str, Any]) -> tuple[Field, ...]:
    """Return the fields of the schema that any file of this format may have."""
    if "verdict" in tree:
        return VERDICT
    kinds = ("linear", "optimum", "cone", "learner")
    saved = "source" in tree
    return tuple(
        field
        for kind in kinds
        for field in (result_fields(kind, sourced=True) if saved else cell_fields(kind))
    )


def may_be_absent(tree: dict[str, Any], path: str, value: Any) -> bool:
    """Return whether a file without a field says nothing else: it is not verified, or was null."""
    fields = [field for field in fields_of(tree) if field.covers(path)]
    return any(not field.required and (field.check is None or value is None) for field in fields)


def is_weaker(path: str, value: Any, other: Any) -> bool:
    """Return whether an edited bound follows from the one that is proved."""
    if not all(isinstance(entry, int | float) for entry in (value, other)):
        return False
    lower, upper = other <= value, other >= value
    ends_below = path.endswith(("_lower", "cut_ratio"))
    return (ends_below and lower) or (path.endswith("_upper") and upper)


def edited(tree: dict[str, Any], share: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the path, the kind of edit and the edited tree, where it says something else.

    Each share of the edits has some of every field, and every kind on some fields.
    """
    for place, (path, value) in enumerate(leaves(tree)):
        for number, (kind, other) in enumerate(edits(value)):
            if (place + number) % SHARES != share:
                continue
            absent = kind == "missing" and may_be_absent(tree, path, value)
            if not absent and not is_weaker(path, value, other):
                yield path, kind, changed(tree, path, other)


def marked(path: str, names: tuple[str, ...]) -> bool:
    """Return whether a field is among those that are not verified, or below one of them."""
    return any(path == name or path.startswith(f"{name}.") for name in names)


@pytest.mark.slow
@pytest.mark.parametrize("share", repeated(range(SHARES), kept=1))
@pytest.mark.parametrize("name", thinned([*SOLVED, *CELLS_OF], step=4))
def test_an_edited_field_is_refused_or_marked(
    name: str, share: int, answers: dict[str, Path]
) -> None:
    full = answers[name]
    (before,) = verify(full).cells
    assert not before.verdict.failed, before.message
    tree, other = read(full), full.with_name("edited.npz")
    passed, refused = [], 0
    for path, kind, edit in edited(tree, share):
        write(other, edit)
        (cell,) = verify(other).cells
        refused += cell.verdict.failed
        if not cell.verdict.failed and not marked(path, cell.not_verified):
            passed.append((path, kind, cell.verdict.value))
    assert not passed
    assert SHARES * refused > len(list(leaves(tree)))


@pytest.mark.parametrize("name", SOLVED)
def test_an_unknown_field_is_refused(name: str, answers: dict[str, Path]) -> None:
    tree = read(answers[name])
    other = answers[name].with_name("unknown.npz")
    for edit in ({"margin": 3.0}, {"certificate.data": "exact"}):
        write(other, tree | edit)
        assert verify(other).failed
        if "verdict" not in tree:
            with pytest.raises(DataError, match="is unknown here"):
                Result.load(other)
