"""Numbers that no double is equal to: proofs are about them, not about the doubles nearest to them.

What was rounded stands for all numbers that round to it: nothing that is false of some of them may
be proved. Judged in fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from perceptron_lab import ConicSystem, solve
from perceptron_lab.certificates import infeasibility
from perceptron_lab.certificates.infeasibility import prove_infeasible
from perceptron_lab.certificates.margin import prove_point, prove_weights
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.collections.problem_files import read_system
from perceptron_lab.datasets.formats.row_files import NumpyRows
from perceptron_lab.datasets.formats.sdpa import parse_sdpa
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation
from perceptron_lab.solving.entry import as_system
from perceptron_lab.systems.pencil import homogenised, recession
from tests.conformance.rational_judge import has_solution, product, rationals, rows_reach
from tests.repetitions import parts

RNG = np.random.default_rng
ABOVE = 2**53 + 1
"""The least whole number that is no double."""
FEASIBLE_ROWS = [[ABOVE, 1], [-(2**53), -1]]
"""y = (1, -2^53 - 1/2) is inside; with 2^53 in place of the first entry nothing is."""
WHERE = "rounded once, enclosed"


def as_longdouble(rows: Any) -> Any:
    return np.array([[np.longdouble(int(entry)) for entry in row] for row in rows])


HOLDERS: dict[str, Callable[[Any], Any]] = {
    "lists": lambda rows: rows,
    "int64": lambda rows: np.array(rows),
    "unsigned and signed": lambda rows: [
        [np.uint64(entry) if entry > 0 else np.int64(entry) for entry in row] for row in rows
    ],
    "object": lambda rows: np.array(rows, dtype=object),
    "pandas": lambda rows: pd.DataFrame(rows),
    "pandas, mixed": lambda rows: pd.DataFrame(rows).astype({1: float}),
    "lists, mixed": lambda rows: [[row[0], float(row[1])] for row in rows],
    "fractions": lambda rows: [[Fraction(entry) for entry in row] for row in rows],
    "decimals": lambda rows: [[Decimal(entry) for entry in row] for row in rows],
    "csr": lambda rows: sp.csr_array(np.array(rows)),
    "coo": lambda rows: sp.coo_matrix(np.array(rows)),
    "longdouble": as_longdouble,
}
SOLVABLE = ["auto", "perceptron", "von-neumann", "minimum-norm-point", "mirror-prox"]


@pytest.mark.parametrize(
    ("holder", "algorithm"),
    [*((holder, "perceptron") for holder in HOLDERS), *(("lists", name) for name in SOLVABLE)],
)
def test_integers_that_are_no_doubles_are_not_called_infeasible(
    holder: str, algorithm: str
) -> None:
    result = solve(HOLDERS[holder](FEASIBLE_ROWS), algorithm, budget=Budget(updates=500))
    assert result.status not in (Status.INFEASIBLE, Status.FEASIBLE)
    assert result.margin_upper is None or 0.0 < result.margin_upper < 1e-14
    assert result.certificate["data"] == WHERE
    assert "the data: rounded once, enclosed" in result.message


@pytest.mark.parametrize("kind", [".npy", ".npz", ".csv", ".parquet", ".svm"])
def test_nor_are_they_in_files(kind: str, tmp_path: Path) -> None:
    path, rows = tmp_path / f"rows{kind}", np.array(FEASIBLE_ROWS)
    if kind == ".npy":
        np.save(path, rows)
    elif kind == ".npz":
        sp.save_npz(path, sp.csr_array(rows))
    elif kind == ".csv":
        path.write_text("\n".join(",".join(map(str, row)) for row in FEASIBLE_ROWS))
    elif kind == ".svm":  # labels 1 and -1, an affine separator: the constant is the second entry
        path.write_text(f"1 1:{ABOVE}\n-1 1:{2**53}\n")
    else:
        pytest.importorskip("pyarrow")
        pd.DataFrame(rows, columns=["a", "b"]).to_parquet(path)
    result = solve(path, "perceptron", budget=Budget(updates=500))
    assert result.status not in (Status.INFEASIBLE, Status.FEASIBLE)
    assert result.certificate["data"] == WHERE


@pytest.mark.parametrize("memory", [None, 1_000_000])
def test_nor_block_by_block(memory: int | None, tmp_path: Path) -> None:
    rows = np.array(FEASIBLE_ROWS)
    np.save(tmp_path / "rows.npy", rows)
    sources: list[Any] = [NumpyRows(tmp_path / "rows.npy")] if memory is None else [rows]
    for source in sources:
        system = ConicSystem.from_rows(source, memory=memory)
        assert system.provenance == WHERE
        result = solve(system, "perceptron", budget=Budget(updates=500))
        assert result.status is not Status.INFEASIBLE
    labelled = ConicSystem.from_labelled(rows, [1, 0], memory=memory)
    assert labelled.provenance == WHERE


def test_nor_in_second_order_blocks() -> None:
    """norm(2^53 y) < (2^53 + 1) y for y = 1; the doubles of both are equal."""
    system = ConicSystem.second_order([[2**53], [ABOVE]], [2])
    for algorithm in ("auto", "perceptron", "mirror-prox"):
        result = solve(system, algorithm, budget=Budget(updates=200))
        assert result.status is not Status.INFEASIBLE
        assert result.margin_upper is None or result.margin_upper >= 1.0
    even = ConicSystem.second_order([[2**53], [2**53 + 4]], [2])
    assert even.provenance == "exact"
    assert solve(even).status is Status.FEASIBLE


def test_nor_is_a_point_called_feasible_that_is_not() -> None:
    """(2^53 + 1) - (2^53 + 2) is -1, (2^53 + 3) - (2^53 + 4) as well; of the doubles -2 and 0."""
    below = ConicSystem.from_rows([[ABOVE, -(2**53 + 2)], [1, 0]])
    above = ConicSystem.from_rows([[2**53 + 3, -(2**53 + 4)], [1, 0]])
    for system in (below, above):
        assert not system.prove_point(np.array([1.0, 1.0])).feasible
    assert ConicSystem.from_rows([[ABOVE, -(2**53) + 64], [1, 0]]).prove_point(np.ones(2)).feasible


EXACT: dict[str, Any] = {
    "small integers": [[1, 2], [-1, 3]],
    "even integers above 2^53": [[2**54, 2], [-(2**54), 4]],
    "powers of two beyond 64 bits": [[2**100, 2**99], [-(2**100), 2**101]],
    "halves": [[Fraction(1, 2), 1], [Fraction(-1, 4), 3]],
    "decimals that are doubles": [[Decimal("0.5"), Decimal(1)], [Decimal("-0.25"), Decimal(3)]],
    "extended precision of doubles": np.array([[0.1, 1.0], [-0.1, 2.0]], dtype=np.longdouble),
    "decimals with a common denominator": [
        [Decimal("0.1"), Decimal("0.2")],
        [Decimal("-0.1"), Decimal("0.3")],
    ],
    "fractions with a common denominator": [
        [Fraction(1, 3), Fraction(1, 7)],
        [Fraction(-1, 3), Fraction(2, 7)],
    ],
}


@pytest.mark.parametrize("case", EXACT)
def test_numbers_equal_to_doubles_or_to_multiples_of_them_are_exact(case: str) -> None:
    system = ConicSystem.from_rows(EXACT[case])
    assert system.provenance == "exact"
    result = solve(system)
    assert (result.status, result.certificate["data"]) == (Status.FEASIBLE, "exact")


@pytest.mark.parametrize("number", [10**400, Fraction(1, 10**400), Decimal("1e400"), 2**1024])
@pytest.mark.parametrize("holder", [lambda rows: rows, lambda rows: np.array(rows, dtype=object)])
def test_numbers_far_from_every_double_are_refused(number: Any, holder: Any) -> None:
    with pytest.raises(InputError, match="outside the range of doubles; rescale the rows"):
        solve(holder([[number, 1], [1, 2]]))


@pytest.mark.parametrize("entry", ["a", None, 1j, [1]])
def test_entries_that_are_no_numbers_are_refused(entry: Any) -> None:
    rows = np.empty((2, 2), dtype=object)
    rows[:] = [[1, 2], [3, 4]]
    rows[0, 1] = entry
    with pytest.raises(InputError, match=r"rows hold .* give a matrix of real numbers"):
        solve(rows)


def text(path: Path, rows: Any) -> Path:
    path.write_text("\n".join(",".join(row) for row in rows) + "\n")
    return path


def test_decimals_of_a_text_are_the_decimals_printed(tmp_path: Path) -> None:
    """As doubles 0.1 + 0.2 > 0.3: y = (1, 1, -1) would be inside. As decimals it is not."""
    path = text(tmp_path / "rows.csv", [("0.1", "0.2", "0.3"), ("1", "0", "0")])
    system = as_system(path)
    assert system.provenance == "exact"
    assert not system.prove_point(np.array([1.0, 1.0, -1.0])).feasible
    assert (
        ConicSystem.from_rows(np.array([[0.1, 0.2, 0.3], [1, 0, 0]]))
        .prove_point(np.array([1.0, 1.0, -1.0]))
        .feasible
    )


@pytest.mark.parametrize("algorithm", ["auto", "perceptron", "minimum-norm-point"])
def test_equal_rows_of_decimals_with_both_labels_have_no_separator(
    algorithm: str, tmp_path: Path
) -> None:
    examples = [("0.1", "0.2", "1"), ("0.10", "2e-1", "-1"), ("0.7", "0", "1")]
    labelled = read_system(text(tmp_path / "x.csv", examples), "last")
    rows = as_system(text(tmp_path / "r.csv", [("0.1", "0.2"), ("-0.1", "-0.2")]))
    for system in (labelled, rows):
        result = solve(system, algorithm)
        assert result.status is Status.INFEASIBLE
        assert result.certificate["data"] == "exact"


def test_scaling_decimals_to_integers_changes_no_margin_and_no_bound(tmp_path: Path) -> None:
    rows = np.array([[0.1, 0.2], [-0.3, 0.9], [0.7, 0.1]])
    path = text(tmp_path / "rows.csv", [map(str, row) for row in rows.tolist()])
    stored_system, two = as_system(path), ConicSystem.from_rows(rows)
    assert stored_system.origin is not None
    assert stored_system.origin.multiple == 10.0
    first, second = solve(stored_system, "perceptron"), solve(two, "perceptron")
    assert (first.status, first.updates) == (second.status, second.updates)
    assert np.array_equal(first.point, second.point)
    assert first.margin_lower == pytest.approx(second.margin_lower)
    assert first.bound.value == pytest.approx(second.bound.value)
    ours, expected = stored_system.facts(0.5), two.facts(0.5)
    assert (ours.raw_margin, ours.norm) == pytest.approx((expected.raw_margin, expected.norm))


MANY = ["0.12345678901234567", "1.00000000000000000001", "9007199254740993", "1e-30"]
LIKE_DOUBLES = [
    "0.500000000000000000000",
    "1.000000000000000000e+00",
    "9007199254740992",
    "-0.0625",
]


@pytest.mark.parametrize("word", [*MANY, *LIKE_DOUBLES])
def test_long_decimals_of_a_text_are_enclosed_unless_they_are_doubles(
    word: str, tmp_path: Path
) -> None:
    path = text(tmp_path / "rows.csv", [(word, "1"), ("1", "2")])
    assert as_system(path).provenance == ("exact" if word in LIKE_DOUBLES else WHERE)
    assert solve(path).status is Status.FEASIBLE
    svm = tmp_path / "rows.svm"
    svm.write_text(f"1 1:{word} 2:1\n-1 1:1 2:2\n")
    assert as_system(svm).provenance == ("exact" if word == "-0.0625" else WHERE)


@pytest.mark.parametrize("word", ["1e-400", "-2.5e-320", "0." + 400 * "0" + "1"])
def test_decimals_too_small_for_doubles_are_refused(word: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="outside the range of doubles"):
        solve(text(tmp_path / "rows.csv", [(word, "1"), ("1", "2")]))
    program = f"1\n1\n2\n1\n1 1 1 1 1.0\n1 1 2 2 {word}\n"
    with pytest.raises(DataError, match="outside the range of doubles"):
        parse_sdpa(program)


def test_zeros_with_exponents_are_zeros(tmp_path: Path) -> None:
    path = text(tmp_path / "rows.csv", [("0e-400", "1"), ("1", "0.0E+5")])
    assert as_system(path).provenance == "exact"


PROGRAM = "1\n1\n2\n{0}\n0 1 1 1 {1}\n1 1 1 1 1.0\n1 1 2 2 2.5\n"


@pytest.mark.parametrize(
    ("objective", "entry", "expected"),
    [("1.0", "0.5", (0, 0)), ("0.1", "0.5", (1, 0)), ("1", "0.1", (0, 1)), ("1", "1.0D-1", (0, 1))],
)
def test_programs_are_the_decimals_printed(
    objective: str, entry: str, expected: tuple[int, int]
) -> None:
    data = parse_sdpa(PROGRAM.format(objective, entry))
    assert (data.objective_roundings, data.roundings) == expected
    assert homogenised(data).provenance == ("exact" if expected[1] == 0 else WHERE)
    assert homogenised(data).completed().provenance == homogenised(data).provenance
    assert recession(data).provenance == ("exact" if expected == (0, 0) else WHERE)
    assert solve(homogenised(data)).status is Status.FEASIBLE


def test_parquet_holds_decimals_and_large_integers(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"a": [Decimal("0.1"), Decimal("2.5")], "b": [2**60, 1]}).to_parquet(path)
    assert as_system(path).provenance == WHERE
    pd.DataFrame({"a": [Decimal("0.5"), Decimal("2.5")], "b": [2**60, 1]}).to_parquet(path)
    assert as_system(path).provenance == "exact"
    assert solve(path).status is Status.FEASIBLE


def test_where_no_enclosure_is_carried_such_numbers_are_refused() -> None:
    """Two examples that are one as doubles: "identical rows" would be no proof."""
    with pytest.raises(InputError, match="convert them to float64 if the rounded ones are meant"):
        maximal_separation(np.array([[2**53], [1]]), np.array([[ABOVE], [2]]))


# --- all numbers that round to what is stored ----------------------------------------------------


def neighbours(stored: FloatArray, rng: np.random.Generator) -> list[list[Fraction]]:
    """Numbers that round to these doubles, mostly at the ends of what does."""
    side = rng.choice([-1, 0, 1], stored.shape, p=[0.45, 0.1, 0.45])
    ulps = np.spacing(np.abs(stored) * (1.0 - 2.0**-53))  # the smaller one at powers of two
    half = Fraction(2**20 - 1, 2**21)
    return [
        [
            Fraction(float(entry)) + half * int(way) * Fraction(float(ulp))
            for entry, way, ulp in zip(*three, strict=True)
        ]
        for three in zip(stored, side, ulps, strict=True)
    ]


def scores_of(rows: list[list[Fraction]], point: FloatArray) -> list[Fraction]:
    return [product(row, rationals(point)) for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", parts(200, kept=40))
def test_points_are_inside_for_all_data_that_round_to_these(seeds: range) -> None:
    """The least score is near the enclosure's width: one rounding decides."""
    answers: Counter[bool] = Counter()
    for seed in seeds:
        rng = RNG(seed)
        stored = rng.standard_normal((3, 3))
        point = rng.standard_normal(3)
        expected = rng.uniform(-1.0, 12.0, 3) * 2.0**-53
        for _ in range(3):  # scores of the size of rounding errors
            scores = np.array(
                [float(s) for s in scores_of([rationals(row) for row in stored], point)]
            )
            stored[:, 0] -= (scores - expected) / point[0]
        proof = prove_point(Matrix(stored, roundings=1), Orthant(3), point, unit_rows=True)
        for _ in range(5):
            meant = neighbours(stored, rng)
            assert not proof.feasible or min(scores_of(meant, point)) > 0
            assert rows_reach(meant, rationals(point), proof.margin_lower)
        answers[proof.feasible] += 1
    assert min(answers.values()) > len(seeds) / 10


@pytest.mark.parametrize("seeds", parts(300, kept=60))
def test_second_order_points_are_inside_for_all_data_that_round_to_these(seeds: range) -> None:
    answers: Counter[bool] = Counter()
    for seed in seeds:
        rng = RNG(seed)
        stored = rng.standard_normal((3, 1))
        stored[-1] = np.linalg.norm(stored[:-1]) * (1.0 + rng.integers(0, 12) * 2.0**-53)
        unit = np.ones(1)
        proof = prove_point(Matrix(stored, roundings=1), SecondOrder(3), unit)
        for _ in range(5):
            *parts, last = scores_of(neighbours(stored, rng), unit)
            inside = last > 0 and last * last > sum(part * part for part in parts)
            assert inside or not proof.feasible
        answers[proof.feasible] += 1
    assert min(answers.values()) > len(seeds) / 15


def test_weights_bound_the_margin_of_all_data_that_round_to_these() -> None:
    for seed in range(200):
        rng = RNG(seed)
        stored = np.array([[1.0, 2.0], [-1.0, -2.0]]) * rng.uniform(0.5, 1.0)
        upper = prove_weights(Matrix(stored, roundings=1), Orthant(2), np.ones(2))
        assert upper is not None
        assert 0.0 < upper < 2e-15
        for _ in range(5):
            first, second = neighbours(stored, rng)
            square = sum(((a + b) / 2) ** 2 for a, b in zip(first, second, strict=True))
            assert square <= Fraction(upper) ** 2


def infeasible_stored(rng: np.random.Generator) -> FloatArray:
    """n + 1 rows with 0 inside their hull, by a lot or by hardly more than rounding."""
    dimension = int(rng.integers(1, 4))
    rows = rng.standard_normal((dimension + 1, dimension))
    size = 10.0 ** -rng.uniform(0, 17)
    weights = np.append(rng.uniform(0.5, 1.0, dimension), 1.0)
    weights[: max(1, dimension - 1)] *= size
    rows[-1] = -(weights[:-1] @ rows[:-1])
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("dikin", [False, True])
@pytest.mark.parametrize("seeds", parts(150, kept=15))
def test_infeasible_means_infeasible_for_all_data_that_round_to_these(
    dikin: bool, monkeypatch: pytest.MonkeyPatch, seeds: range
) -> None:
    if dikin:
        monkeypatch.setattr(infeasibility, "positive_vertex", lambda *_: None)
    answers: Counter[bool] = Counter()
    for seed in seeds:
        rng = RNG(seed)
        stored = infeasible_stored(rng)
        weights = np.abs(np.linalg.svd(stored.T)[2][-1])
        proof = prove_infeasible(Matrix(stored, roundings=1), Orthant(len(stored)), weights)
        answers[proof is not None] += 1
        if proof is None:
            continue
        for _ in range(6):
            meant = neighbours(stored, rng)
            assert not has_solution(meant)
    assert min(answers.values()) > len(seeds) / 15
