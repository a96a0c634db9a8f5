"""Every mutant of the checker is killed by some certificate, but for those that change nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.exact.checker_mutants import SOURCE, Mutant, mutants, number_of_mutants
from tests.exact.killing import killed_by, memory_limited, suite
from tests.exact.targeted import meant
from tests.repetitions import repeated

LINES = SOURCE.splitlines()
SHARES = 50
FORGERIES = 800  # of one change each, beside certificates that are meant

# Parts of the line, the changes there (all, if none is listed), and why they change no answer
TEXT = "the words of a refusal"
LENGTHS = "both have the same length"
NO_ROWS = "a block without rows is refused where its least score or weight is taken"
UNUSED = "a value that no claim without this key uses"
LIMIT = "the limit of work itself, not what is proved"
JUSTIFIED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("is no decimal", (), TEXT),
    ("of a residual is not dominated", ("i + 1 -> i - 1", "1 -> 2", "1 -> 0"), TEXT),
    ("ascii(str(error))[1:-1]", (), TEXT),
    ("strict=True)", ("True -> False",), LENGTHS),
    ('fault = "changed"', (), TEXT),
    ("is {fault if name in expected", (), TEXT),
    ("{len(table)} x {len(table[0])}", ("0 -> -1",), LENGTHS),
    ('blocks, width = [("rows", len(table))]', ("0 -> -1",), LENGTHS),
    ("content[at : at + 8]", ("8 -> 9",), "the next byte is twice a power of -1"),
    ("zeros = (m & -m)", ("m & -m -> m | -m",), "as many bits, of a negative number"),
    ("whole(order, 1)", ("1 -> 0",), NO_ROWS),
    ('whole(data["inside"], 1, len(table) - 1)', (), NO_ROWS),
    ("(order > 0 or low == high)", (), "no place is below order 1, and one at order 1"),
    ("len(table) * width**2 <= FORMED", ("<= FORMED -> len", "2 -> 3"), LIMIT),
    ("longest <= 256 or", (), LIMIT),
    ("MOST, SHORT, FORMED", ("25 -> 26", "25 -> 24"), LIMIT),
    ("longest = max(", ("0 -> 1",), "more bytes for each number"),
    ("size = (2 * longest", ("* 8", "8 -> 7", "8 -> 9", "2 -> 3"), "more bytes for each number"),
    ('claim.get("bound", [0, 1])', ("0 -> 1", "0 -> -1", "1 -> 2"), UNUSED),
    ('claim.get("column", 0)', ("0 -> 1",), UNUSED),
    ('claim.get("point", [0] * system.width)', ("0 -> 1", "0 -> -1"), UNUSED),
    ("if elements else 0", ("0 -> 1", "0 -> -1"), UNUSED),
    ("if weight else ()", ("else ()",), "weights of 0 add nothing"),
    ("if margin else 0", ("0 -> 1", "0 -> -1", "if margin else 0"), UNUSED),
    ("+ (p > 0) if margin", ("p > 0 -> p >= 0",), "the length is multiplied by p = 0"),
    ("lines[0][3]", ("0 -> -1",), "all rows have the same"),
    ("sys.exit(main(sys.argv[1:]))", (), "run by the tests of the command line"),
)


def justified(mutant: Mutant) -> bool:
    line, change = LINES[mutant.line - 1], str(mutant)
    return any(
        part in line and (not changes or any(change_ in change for change_ in changes))
        for part, changes, _ in JUSTIFIED
    )


@pytest.mark.parametrize("share", repeated(range(SHARES), kept=1))
def test_mutants_are_killed(share: int, tmp_path: Path) -> None:
    cases = suite(tmp_path, FORGERIES if share else FORGERIES // 4)
    candidates = [mutant for mutant in mutants(share, SHARES) if not justified(mutant)]
    assert len(candidates) > 10
    with memory_limited():
        survivors = [mutant for mutant in candidates if not killed_by(mutant, cases)]
    assert not [f"line {survivor.line}: {survivor}" for survivor in survivors]


def test_each_listed_case_is_accepted_or_refused_as_named(tmp_path: Path) -> None:
    names = [name for name, *_ in meant()]
    assert len(set(names)) == len(names) > 400
    for case in suite(tmp_path, 0):
        assert (case.answer[0] == 0) is ("PROVED" in case.name), case


def test_the_page_states_the_number_of_mutants() -> None:
    page = Path("docs/notes/how-to-distrust-us.md").read_text(encoding="utf-8")
    match = re.search(r"tested the checker with ([0-9 ]+) mutants", page)
    assert match is not None
    assert int(match[1].replace(" ", "")) == number_of_mutants()


def test_each_survivor_has_a_reason_of_one_line() -> None:
    for part, _, reason in JUSTIFIED:
        assert any(part in line for line in LINES), part
        assert reason
