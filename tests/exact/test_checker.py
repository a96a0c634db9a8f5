"""The checker stands for itself: no floating-point number, nothing but Python, one short file."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import subprocess
import sys
import tokenize
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.exact.checker import checker, checker_path, kinds_path

FILES = [checker_path(), kinds_path()]


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES)
def test_it_is_short_and_needs_the_standard_library_alone(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 430
    tree = tree_of(path)
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [name.name for name in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    # The second program has the readers of the first
    readers = {"plab_check"} if path != checker_path() else set()
    assert imported <= sys.stdlib_module_names | readers
    from_math = [
        name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "math"
        for name in node.names
    ]
    assert set(from_math) <= {"isqrt", "gcd"}


@pytest.mark.parametrize("path", FILES)
def test_there_is_no_floating_point_number_in_it(path: Path) -> None:
    tree = tree_of(path)
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert not [constant for constant in constants if isinstance(constant, float | complex)]
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"float", "round", "pow", "Decimal", "struct"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Div)]
    with path.open("rb") as file:
        numbers = [token.string for token in tokenize.tokenize(file.readline) if token.type == 2]
    assert not [number for number in numbers if "." in number or "e" in number.lower()]


def test_doubles_are_read_from_their_bits() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal(300) * 2.0 ** rng.integers(-40, 40, 300)
    tiny = [0.0, -0.0, 1.0, -1.5, 2.0**-130, sys.float_info.min, 5e-324, sys.float_info.max]
    for value in np.array([*numbers, *tiny]):
        m, e = checker().double(value.astype("<f8").tobytes())
        assert m * Fraction(2) ** e == Fraction(float(value))
        assert m % 2 or not m
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="infinite"):
            checker().double(np.array(bad).tobytes())


@pytest.mark.parametrize(
    "text", ["1", "-2.50", "+.5", "3.", "1e3", "-1.25E-02", "7D+01", " 0.1 ", "-0", "{", "1..2", ""]
)
def test_decimals_are_read_as_printed(text: str) -> None:
    try:
        meant = Fraction(text.strip().replace("D", "e"))
    except ValueError:
        with pytest.raises(ValueError, match="no decimal"):
            checker().decimal(text.encode())
    else:
        m, e = checker().decimal(text.encode())
        assert m * Fraction(10) ** e == meant


@pytest.mark.parametrize(
    "text", ["1e10001", "1e-10001", "1e999999999", "1" * 5000, "0." + "1" * 5000]
)
def test_a_decimal_of_too_many_digits_is_refused_at_once(text: str) -> None:
    with pytest.raises(ValueError, match=r"no decimal|digits"):
        checker().decimal(text.encode())


def definite(matrix: list[list[int]], factor: list[Any]) -> bool:
    order = len(matrix)
    entries = {(i, j): matrix[i][j] for i in range(order) for j in range(i, order)}
    try:
        checker().require_definite(entries, factor)
    except checker().Refuted:
        return False
    return True


def test_a_factor_proves_definiteness_only() -> None:
    # L = (1 0; 1 1), R = M - LL' = (1 0; 0 a)
    factor = [0, [[0, 1], [1, 1]], [[1], [1]]]
    assert definite([[2, 1], [1, 3]], factor)
    assert not definite([[2, 1], [1, 2]], factor)  # R_22 = 0
    assert not definite([[2, 1], [1, 1]], factor)
    assert definite([[2, 1], [1, 3]], [4, [[0, 1], [4, 4]], [[1], [4]]])  # 2^4 M
    assert definite([[8, 4], [4, 12]], [-2, [[0, 1], [1, 1]], [[1], [1]]])  # 2^-(-2) LL'
    assert not definite([[1, 2], [2, 1]], [0, [[0, 1], [1, 2]]])
    assert not definite([[1, 2], [2, 1]], [0])


@pytest.mark.parametrize("seed", range(5))
def test_packed_products_are_products(seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = 7
    factor = rng.integers(-(2**40), 2**40, (order, order)).astype(object)
    columns = [[list(range(order)), column.tolist()] for column in factor.T]
    product = factor.dot(factor.T)
    for extra, accepted in ((1, True), (0, False), (-1, False)):
        matrix = (product + extra * np.eye(order, dtype=int).astype(object)).tolist()
        assert definite(matrix, [0, *columns]) is accepted


def on_files(tmp_path: Path, content: bytes, data_fields: dict[str, Any], *claims: Any) -> int:
    """Run the checker's command line on data and claims."""
    (tmp_path / "data").write_bytes(content)
    data = {"file": "data", "sha256": hashlib.sha256(content).hexdigest()} | data_fields
    record = {"format": "plab-certificate", "version": 2, "data": data, "claims": list(claims)}
    path = tmp_path / "x.certificate.json"
    path.write_text(json.dumps(record))
    return int(checker().main([str(path)]))


TEXT = b"a,b,label\n0.5,1,yes\n-0.25,1,no\n"
READ = {"form": "labelled", "separator": ",", "column": 2, "negative": "no", "positive": "yes"}
PLAIN = {"form": "table", "separator": ","}
SPLIT = {"claim": "feasible", "point": [8, 0, -1], "factors": []}


def test_a_text_with_labels_is_read_as_printed(tmp_path: Path) -> None:
    assert on_files(tmp_path, TEXT, READ, SPLIT) == 0
    turned = READ | {"negative": "yes", "positive": "no"}
    assert on_files(tmp_path, TEXT, turned, SPLIT) == 1
    assert on_files(tmp_path, TEXT, turned, SPLIT | {"point": [-8, 0, 1]}) == 0
    for other in ({"positive": "maybe"}, {"positive": "no"}, {"column": 1}, {"column": 3}):
        assert on_files(tmp_path, TEXT, READ | other, SPLIT) == 2
    assert on_files(tmp_path, TEXT, READ, SPLIT | {"point": [4, 0, -2]}) == 1  # on the boundary


def test_the_geometric_margin_is_half_the_distance(tmp_path: Path) -> None:
    most = {"claim": "margin at most", "margin": "geometric", "weights": [[[0, 1], [1, 1]]]}
    least = SPLIT | {"claim": "margin at least", "margin": "geometric"}
    bounds = (([3, 8], 0, 0), ([375001, 10**6], 0, 1), ([374999, 10**6], 1, 0))
    for bound, above, below in bounds:
        assert on_files(tmp_path, TEXT, READ, most | {"bound": bound}) == above
        assert on_files(tmp_path, TEXT, READ, least | {"bound": bound}) == below
    uneven = most | {"bound": [10, 1], "weights": [[[0, 1], [2, 1]]]}
    assert on_files(tmp_path, TEXT, READ, uneven) == 1


PROGRAM = b'"a program"\n1 = m\n1 = blocks\n(2)\n{1.0}\n0 1 1 1 -1.0\n1 1 1 1 1.0D+0\n1 1 2 2 0.5\n'
SDPA = {"form": "sdpa", "question": "feasibility"}
IDENTITY = [[2, [[0], [1]], [[1], [1]]]]


def test_a_program_is_read_as_printed(tmp_path: Path) -> None:
    inside: dict[str, Any] = {"claim": "feasible", "point": [1, 2], "factors": IDENTITY}
    assert on_files(tmp_path, PROGRAM, SDPA, inside) == 0
    assert on_files(tmp_path, PROGRAM, SDPA, inside | {"point": [1, 0]}) == 1
    assert on_files(tmp_path, PROGRAM, SDPA, inside | {"point": [-1, 2]}) == 1
    closed = inside | {"claim": "closed feasible"}
    assert on_files(tmp_path, PROGRAM, SDPA, closed) == 0
    upper = inside | {"claim": "objective at most", "bound": [2, 1]}
    assert on_files(tmp_path, PROGRAM, SDPA, upper) == 0
    assert on_files(tmp_path, PROGRAM, SDPA, upper | {"bound": [199, 100]}) == 1
    # <F_1, X> = 1 by X = diag(1, 0) or diag(0, 2); <F_0, X> = -1 or 0
    lower = {"claim": "objective at least", "unit": 1}
    for diagonal, bound, answer in (
        ([1, 0], -1, 0),
        ([0, 2], 0, 0),
        ([1, 0], 0, 1),
        ([0, 1], 0, 1),
    ):
        weights = [[[], []], [[], diagonal, [], []]]
        claim = lower | {"bound": [bound, 1], "weights": weights}
        assert on_files(tmp_path, PROGRAM, SDPA, claim) == answer


def test_unknown_claims_are_refused(tmp_path: Path) -> None:
    no_bound = SPLIT | {"claim": "margin at least", "margin": "unit", "bound": [1, 0]}
    assert on_files(tmp_path, TEXT, READ, no_bound) == 2
    assert on_files(tmp_path, TEXT, READ, no_bound | {"bound": [1, -1]}) == 2
    assert on_files(tmp_path, TEXT, READ, no_bound | {"margin": "other", "bound": [1, 9]}) == 2
    assert on_files(tmp_path, TEXT, READ, SPLIT | {"claim": "margin at most"}) == 2
    assert on_files(tmp_path, TEXT, READ, SPLIT | {"claim": "true"}) == 2
    assert on_files(tmp_path, TEXT, READ, SPLIT | {"point": [0, 0, 0]}) == 1
    assert on_files(tmp_path, TEXT, READ, SPLIT | {"point": [8.0, 0, -1]}) == 2
    assert on_files(tmp_path, TEXT, READ, SPLIT | {"point": [True, 0, -1]}) == 2
    assert on_files(tmp_path, TEXT, READ) == 2
    below = {"claim": "margin at most", "margin": "unit", "weights": [[[0], [1]]]}
    assert on_files(tmp_path, TEXT, READ, below | {"bound": [-1, 1]}) == 1
    closed = {"claim": "infeasible", "weights": [[[], []]]}
    assert on_files(tmp_path, TEXT, READ, closed) == 1
    assert on_files(tmp_path, TEXT, READ, closed | {"claim": "closed infeasible"}) == 2
    for indices in ([-1], [2], [0, 0]):
        weights = [[indices, [1] * len(indices)]]
        assert on_files(tmp_path, TEXT, READ, closed | {"weights": weights}) == 2


def test_x_0_needs_a_weight_for_the_closed_claim(tmp_path: Path) -> None:
    # F(x) = diag(x, -x): none inside; x = 0 on the boundary
    program = b"1\n1\n2\n1\n1 1 1 1 1\n1 1 2 2 -1\n"
    weights = [[[], []], [[], [1, 1], [], []]]
    open_claim = {"claim": "infeasible", "weights": weights}
    closed = {"claim": "closed infeasible"}
    assert on_files(tmp_path, program, SDPA, open_claim) == 0
    assert on_files(tmp_path, program, SDPA, open_claim | closed) == 1
    # F(x) = diag(x, -x - 1)
    other = program + b"0 1 2 2 1\n"
    weights = [[[0], [1]], [[], [1, 1], [], []]]
    assert on_files(tmp_path, other, SDPA, open_claim | closed | {"weights": weights}) == 0


def test_weights_of_matrices_are_not_negative(tmp_path: Path) -> None:
    program = b"1\n1\n2\n1\n1 1 1 1 1\n1 1 2 2 2\n"  # F(x) = diag(x, 2 x)
    claim = {"claim": "infeasible", "weights": [[[], []], [[], [2, -1], [], []]]}
    assert on_files(tmp_path, program, SDPA, claim) == 1


def test_norms_that_are_no_fractions_are_rounded_to_the_safe_side(tmp_path: Path) -> None:
    # (u, t) = (0, y_1 + y_2): at y = (1, 1) the margin is sqrt 2
    target = io.BytesIO()
    np.save(target, np.array([[0.0, 0.0], [1.0, 1.0]]))
    read = {"form": "cone", "blocks": [["second-order", 2]]}
    claim = {"claim": "margin at least", "margin": "directional", "point": [1, 1], "factors": []}
    q = 2**80
    root = isqrt(2 * q * q)
    for p, accepted in ((root + 1, False), (root - 2**25, True)):
        code = on_files(tmp_path, target.getvalue(), read, claim | {"bound": [p, q]})
        assert code == 1 - accepted


def test_a_partition_needs_both_sides(tmp_path: Path) -> None:
    text = b"1,0\n-1,0\n0,1\n"
    read = PLAIN
    claim = {"claim": "partition", "point": [0, 1], "weights": [[[0, 1], [1, 1]]]}
    assert on_files(tmp_path, text, read, claim) == 0
    assert on_files(tmp_path, text, read, claim | {"point": [0, 0]}) == 1
    assert on_files(tmp_path, text, read, claim | {"point": [1, 1]}) == 1
    assert on_files(tmp_path, text, read, claim | {"weights": [[[0, 1], [1, 2]]]}) == 1
    assert on_files(tmp_path, text, read, claim | {"weights": [[[0, 1, 2], [1, 1, 1]]]}) == 1
    assert on_files(tmp_path, text, read, claim | {"weights": [[[0, 1], [0, 0]]]}) == 1
    assert on_files(tmp_path, text, read, {k: v for k, v in claim.items() if k != "point"}) == 2
    target = io.BytesIO()
    np.save(target, np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]))
    balls = {"form": "cone", "blocks": [["second-order", 3]]}
    assert on_files(tmp_path, target.getvalue(), balls, claim | {"weights": [[[2], [1]]]}) == 2


def test_the_command_line_prints_the_verified_claim(tmp_path: Path) -> None:
    assert on_files(tmp_path, TEXT, READ, SPLIT) == 0
    path = tmp_path / "x.certificate.json"
    command = [sys.executable, "-I", str(checker_path()), str(path), str(tmp_path / "data")]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    digest = hashlib.sha256(TEXT).hexdigest()
    assert completed.returncode == 0
    assert completed.stdout == (
        "PROVED: some (w, b) has w'x + b > 0 for 'yes', < 0 for 'no'; 'data', sha256"
        f" {digest}, 2 x 3 fields of text after names ['a', 'b', 'label'], rows s (x, 1),"
        " s = 1 for 'yes', -1 for 'no' in column 3\n"
    )
    (tmp_path / "data").write_bytes(TEXT.replace(b"0.25", b"0.26"))
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 1
    assert completed.stdout.startswith("NOT PROVED: it is about 'data', sha256")
    path.write_text("{")
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 2
    assert "UNREADABLE" in completed.stdout
