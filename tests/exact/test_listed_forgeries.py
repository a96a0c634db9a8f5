"""Kinds of forgeries that version 1 of the format allowed: each refused, a valid twin accepted."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.exact.checker import checker_path
from tests.exact.small_certificates import example, saved
from tests.repetitions import thinned

Record = dict[str, Any]
SECONDS = 10.0  # far above what the checker needs, and far below what forgeries took

FEASIBILITY = {"form": "sdpa", "question": "feasibility"}
COMMAS = {"form": "table", "separator": ","}
FEASIBLE: Record = {"claim": "feasible", "factors": []}
EQUAL = b"1\n1\n-2\n0\n0 1 1 1 10\n1 1 1 1 10\n0 1 2 2 -10\n1 1 2 2 -10\n"  # x = 1
LARGE = b"1\n1\n-1\n1e330\n1 1 1 1 1e330\n"  # c'x >= 0
LOW = b"1\n1\n-1\n10\n0 1 1 1 30\n1 1 1 1 10\n"  # x >= 3: 10 x >= 30
OPPOSITE = b"1,0\n-1,0\n0,1\n"
SQUARES = saved([[1], [2], [5]])
MATRIX = saved([[1, -1, 0], [0, 2, 1]])
TALL = saved([[1, 0], [-1, 2], [0, 1]])


@dataclass(frozen=True)
class Case:
    """A forgery as far as version 2 can say it, its answer and reason, and a valid twin.

    `old` are the keys of the data in version 1.
    """

    content: bytes
    old: Record
    data: Record
    claim: Record
    code: int
    reason: str
    twin: tuple[bytes, Record, Record]


def header_with(content: bytes, old: bytes, new: bytes) -> bytes:
    """Return a matrix in numpy's format whose header has other characters, and the same length."""
    end = content.index(b"\n") + 1
    header = content[:end].replace(old, new).rstrip()
    return header + b" " * (end - 1 - len(header)) + b"\n" + content[end:]


TWICE = header_with(MATRIX, b"'shape': (2, 3), ", b"'shape': (2, 3), 'fortran_order': True, ")
COMMENT = header_with(TALL, b"}", b"}#(2, 3)")
CUT = {"claim": "closed infeasible", "weights": [[[0], [1]], [[0, 1], [2**60, 2**60]]]}
RATIO = {"claim": "ratio at most", "weights": [[[0], [4]], [[0], [1]]], "factor": [0]}
OPTIMUM = {"claim": "objective at least", "unit": 1, "weights": [[[], []], [[0], [1]]]}
UPPER = {"claim": "objective at most", "point": [10**18, 3 * 10**18 + 1], "factors": []}
MARGIN = {"claim": "margin at least", "point": [1, 0], "factors": []}
NOTHING = {"factors": [[0]]}  # L = 0
ONE: Record = {"form": "cone", "blocks": [["rows", 1]]}
CASES = {
    "digits that make numbers floats": Case(
        *(EQUAL, {"kind": "sdpa", "digits": -1, "question": "feasibility"}, FEASIBILITY, CUT),
        *(1, "the sum of rows is not"),
        (EQUAL, FEASIBILITY, {"claim": "closed feasible", "point": [1, 1], "factors": []}),
    ),
    "digits that make numbers zero": Case(
        *(LARGE, {"kind": "sdpa", "digits": -330, "question": "feasibility"}, FEASIBILITY),
        *(OPTIMUM | {"bound": [5, 1]}, 1, "the objective may be smaller"),
        (LARGE, FEASIBILITY, OPTIMUM | {"bound": [0, 1]}),
    ),
    "an objective below the optimum": Case(
        *(LOW, {"kind": "sdpa", "digits": -1, "question": "feasibility"}, FEASIBILITY),
        *(UPPER | {"bound": [3 * 10**18 - 1, 10**17]}, 1, "c'x"),
        (LOW, FEASIBILITY, UPPER | {"bound": [3 * 10**18 + 1, 10**17]}),
    ),
    "rows that are skipped": Case(
        *(OPPOSITE, {"kind": "csv", "separator": ",", "skip": 2}, COMMAS | {"skip": 2}),
        *(FEASIBLE | {"point": [0, 1]}, 2, "other keys than"),
        (OPPOSITE, COMMAS, {"claim": "infeasible", "weights": [[[0, 1], [1, 1]]]}),
    ),
    "a closed claim on a table": Case(
        *(b"0,1\n1,0\n-1,0\n", {"kind": "csv", "cone": [["rows", 1], ["rows", 2]]}, COMMAS),
        *({"claim": "closed feasible", "point": [0, 1], "factors": []}, 2, "no such claim"),
        (b"0,1\n1,1\n-1,1\n", COMMAS, FEASIBLE | {"point": [0, 1]}),
    ),
    "a third block of squares": Case(
        *(SQUARES, {"kind": "csv", "form": "squares", "cone": [["rows", 1]] * 3}),
        {"form": "squares", "inside": 1},
        RATIO | {"bound": [-999, 1000], "weights": [[[0], [0]], [[0], [1000]], [[0], [1000]]]},
        *(2, "ValueError"),
        (SQUARES, {"form": "squares", "inside": 1}, RATIO | {"bound": [3, 1]}),
    ),
    "a unit margin with a row of zeros": Case(
        *(b"1,0\n0,0\n", {"kind": "csv", "separator": ",", "skip": 0}, COMMAS),
        *(MARGIN | {"margin": "unit", "bound": [0, 1]}, 1, "a row is zero"),
        (b"1,0\n3,4\n", COMMAS, MARGIN | {"margin": "unit", "bound": [3, 5]}),
    ),
    "a header with a key twice": Case(
        *(TWICE, {"kind": "npy", "bits": 0, "width": 3, "cone": [["rows", 2]]}),
        {"form": "cone", "blocks": [["rows", 2]]},
        *(FEASIBLE | {"point": [1, 0, 0]}, 2, "no matrix"),
        (MATRIX, {"form": "cone", "blocks": [["rows", 2]]}, FEASIBLE | {"point": [2, 1, 0]}),
    ),
    "a header with a comment": Case(
        *(COMMENT, {"kind": "npy", "bits": 0, "width": 3, "cone": [["rows", 2]]}),
        {"form": "cone", "blocks": [["rows", 2]]},
        *(FEASIBLE | {"point": [1, 0, 0]}, 2, "blocks that are not"),
        (TALL, {"form": "cone", "blocks": [["rows", 3]]}, FEASIBLE | {"point": [1, 1]}),
    ),
    "endless bits": Case(
        *(saved([[1]]), {"kind": "npy", "bits": 10**11, "cone": [["rows", 1]]}),
        *(ONE | {"bits": 10**11}, FEASIBLE | {"point": [1]}, 2, "other keys than"),
        (saved([[1]]), ONE, FEASIBLE | {"point": [1]}),
    ),
    "endless digits": Case(
        *(b"0,1e999999999\n", {"kind": "csv", "digits": 10**9}, COMMAS),
        *(FEASIBLE | {"point": [1, 1]}, 2, "is no decimal"),
        (b"0,1e-999\n", COMMAS, FEASIBLE | {"point": [1, 1]}),
    ),
    "a block of endless rows": Case(
        *(saved([[1]]), {"kind": "npy", "cone": [["matrix", 10**9]]}),
        *(
            ONE | {"blocks": [["matrix", 10**9]]},
            FEASIBLE | {"point": [1]},
            2,
            "blocks that are not",
        ),
        (saved([[1]]), ONE | {"blocks": [["matrix", 1]]}, FEASIBLE | {"point": [1]} | NOTHING),
    ),
    "a margin of no kind": Case(
        *(b"1,0\n3,4\n", {"kind": "csv"}, COMMAS),
        *(MARGIN | {"margin": None, "bound": [10**6, 1]}, 2, "no such claim"),
        (b"1,0\n3,4\n", COMMAS, MARGIN | {"margin": "directional", "bound": [1, 1]}),
    ),
}


def answered(folder: Path, record: Record, content: bytes) -> tuple[int, str]:
    """Run the checker as a user does."""
    (folder / "data").write_bytes(content)
    path = folder / "x.certificate.json"
    path.write_text(json.dumps(record))
    command = [sys.executable, "-I", str(checker_path()), str(path)]
    completed = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert not completed.stderr
    return completed.returncode, completed.stdout


@pytest.mark.parametrize("name", CASES)
def test_a_forgery_is_refused_with_its_reason(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    forged = example(case.data, case.content, [case.claim])
    code, printed = answered(tmp_path, forged.record, case.content)
    assert code == case.code
    assert case.reason in printed
    assert not printed.startswith("PROVED")


@pytest.mark.parametrize("name", thinned(CASES, step=4))
def test_its_valid_twin_is_accepted(name: str, tmp_path: Path) -> None:
    content, data, claim = CASES[name].twin
    code, printed = answered(tmp_path, example(data, content, [claim]).record, content)
    assert code == 0, printed
    assert printed.startswith("PROVED: ")


@pytest.mark.parametrize("name", thinned(CASES, step=4))
def test_version_1_is_refused_with_the_command_that_writes_version_2(
    name: str, tmp_path: Path
) -> None:
    case = CASES[name]
    written = example({}, case.content, [case.claim]).record
    old = {key: value for key, value in written["data"].items() if key != "form"} | case.old
    code, printed = answered(tmp_path, written | {"version": 1, "data": old}, case.content)
    assert code == 2
    assert "`plab certify ANSWER --into DIR`" in printed
