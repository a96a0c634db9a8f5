"""Numbers of any size: every exact answer is printed, written, read back equal, and proved again.

Python converts 640 decimal digits here, the fewest that it can be told to: what relies on its own
conversion fails.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from perceptron_lab import ConicSystem, maximum_support, separation, solve
from perceptron_lab.algorithms.linear.linear_result import LinearResult
from perceptron_lab.algorithms.linear.proofs import PROOF, LinearProof, at_most, faults
from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Result, Status
from perceptron_lab.datasets.formats.columns import Columns
from perceptron_lab.exact.readings import of_conditions
from perceptron_lab.numerics.exact_texts import exact_text, read_exact
from perceptron_lab.problems.separation.pair_verification import faults as pair_faults
from perceptron_lab.problems.separation.verdict import SeparationVerdict
from perceptron_lab.systems.elimination import EliminatedResult
from perceptron_lab.systems.linear_system import LinearSystem
from tests.repetitions import parts, repeated, thinned

LONG = 7**9000  # Of 7606 digits
DOUBLES = {
    "both ends": (3e-323, 2e300, 5e-324, 1.7e308, -1.7e308, -3e-323, 1.0, -2.0, 1e160, 0.0),
    "subnormal": (5e-324, 1e-323, -5e-324, -1e-310, 0.0),
    "largest": (1.7e308, -1.7e308, sys.float_info.max, 1e307),
}
EXACT: dict[str, tuple[Any, ...]] = {
    **DOUBLES,
    "long": (LONG, -LONG, LONG + 1, 1, -1, 0),
    "rational": (
        Fraction(1, LONG),
        Fraction(-LONG, 3),
        Fraction(5, 7),
        Fraction(2e300),
        3e-323,
        -1,
    ),
}
LONGEST_LINE = 800


@pytest.fixture(autouse=True)
def _fewest_digits() -> Iterator[None]:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(before)


def strict(text: str) -> Any:
    """Read JSON that has no NaN and no infinity."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def assert_readable(answer: object) -> None:
    """Assert that an answer is printed, in lines of some words."""
    for text in (str(answer), repr(answer)):
        assert max(map(len, text.splitlines())) <= LONGEST_LINE


# --- linear systems ------------------------------------------------------------------------------


def linear(kind: str, seed: int) -> LinearSystem:
    """Return a system whose coefficients, limits and bounds are of a kind."""
    rng = np.random.default_rng(seed)
    numbers = EXACT[kind]

    def few(*shape: int) -> Any:
        selected = np.empty(shape, dtype=object)
        selected.ravel()[:] = [numbers[k] for k in rng.integers(0, len(numbers), math.prod(shape))]
        return selected

    rows, width = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    equalities = (few(1, width), few(1)) if seed % 3 == 0 else None
    lower = few(width) if seed % 2 else None
    return ConicSystem.from_linear(few(rows, width), few(rows), equalities, lower=lower)


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize("algorithm", ["auto", "highs"])
@pytest.mark.parametrize("seeds", parts(12, kept=4))
def test_exact_answers_to_linear_systems_come_back(
    kind: str, algorithm: str, tmp_path: Path, seeds: range
) -> None:
    statuses = set()
    for seed in seeds:
        system = linear(kind, seed)
        result = solve(system, algorithm)
        assert isinstance(result, LinearResult)
        statuses.add(result.status)
        assert_readable(result)
        assert_readable(result.exact)
        assert_readable(system)
        assert np.isfinite(result.point).all()
        assert result.weights is None or np.isfinite(result.weights).all()
        assert result.violation[0] < math.inf
        assert not faults(system, result.status, result.exact)
        result.save(tmp_path / "answer.npz")
        assert LinearResult.load(tmp_path / "answer.npz").exact == result.exact
        record = strict(json.dumps(result.certificate))
        assert LinearProof.of_json(record[PROOF]) == result.exact
        named = [read_exact(text) for text in record["contradiction"].values()]
        assert sorted(named) == sorted(result.exact.weights.values())
        if algorithm == "auto":
            assert result.proved
    assert algorithm == "highs" or statuses == {Status.FEASIBLE, Status.INFEASIBLE}


def test_weights_in_doubles_are_a_positive_multiple() -> None:
    result = solve(ConicSystem.from_linear([[11**7303], [-LONG]], [1, 0]))
    assert isinstance(result, LinearResult)
    assert result.exact.weights == {0: LONG, 1: 11**7303}
    assert result.weights is not None
    ratio = Fraction(float(result.weights[0])) / Fraction(float(result.weights[1]))
    assert abs(ratio / Fraction(LONG, 11**7303) - 1) < Fraction(1, 2**50)


def test_a_violation_beyond_doubles_has_no_upper_end() -> None:
    assert at_most(Fraction(LONG)) == (0.0, None)
    assert at_most(Fraction(1, LONG)) == (0.0, 5e-324)


def test_conditions_are_written_for_the_checker_in_all_their_digits() -> None:
    system = ConicSystem.from_linear([[LONG]], [0])
    assert f"1 1 1 1 {exact_text(LONG)}" in of_conditions(system.conditions, 1).content.decode()


def test_numbers_beyond_doubles_are_refused_only_where_doubles_are_needed() -> None:
    for number in (LONG, Fraction(1, LONG), Fraction(5e-324) / 3):
        system = ConicSystem.from_linear([[number]], [1])
        assert solve(system).status is Status.FEASIBLE
        with pytest.raises(ValueError, match="row 1 has a number beyond"):
            system.strict()
    assert solve(ConicSystem.from_linear([[5e-324]], [0]).strict(), "perceptron").proved


def test_answers_with_equations_survive_a_round_trip(tmp_path: Path) -> None:
    """The x of so many equations in doubles has about a thousand digits."""
    rng = np.random.default_rng(0)
    x = cp.Variable(61)
    rows = rng.standard_normal((50, 60))
    equations = rows @ x[:60] == rows @ rng.standard_normal(60)
    system = ConicSystem.from_cvxpy(
        cp.Problem(cp.Minimize(0), [equations, cp.norm(x[:60]) <= x[60], x[60] <= 1e100])
    )
    result = solve(system)
    assert_readable(system)
    assert isinstance(result, EliminatedResult)
    assert result.status is Status.FEASIBLE
    assert result.x is not None
    assert max(entry.denominator for entry in result.x) > 10**640
    result.save(tmp_path / "answer.npz")
    again = EliminatedResult.load(tmp_path / "answer.npz")
    assert isinstance(again, EliminatedResult)
    assert again.x == result.x
    assert tuple(map(read_exact, strict(json.dumps(result.certificate))["x"])) == result.x


# --- two classes ---------------------------------------------------------------------------------


def classes(kind: str, seed: int) -> tuple[Any, Any]:
    """Return examples of extreme doubles, and labels."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    return rng.choice(DOUBLES[kind], shape), np.arange(shape[0]) % 2


def texts(value: Any) -> Iterator[str]:
    """Yield the exact numbers of a verdict's certificate, but for names of classes."""
    if isinstance(value, dict):
        for name, child in value.items():
            yield from () if name == "class" else texts(child)
    elif isinstance(value, list):
        for child in value:
            yield from texts(child)
    elif isinstance(value, str):
        yield value


def is_multiple(doubles: list[float], exact: tuple[Fraction, ...]) -> bool:
    """Return whether doubles are near a positive multiple, but for those below all others."""
    largest = max(range(len(exact)), key=lambda j: abs(exact[j]))
    if not exact[largest]:
        return not any(doubles)
    unit = Fraction(doubles[largest]) / exact[largest]
    return unit > 0 and all(
        abs(Fraction(rounded) - unit * entry) <= abs(unit * entry) / 2**51 + Fraction(5e-324)
        for rounded, entry in zip(doubles, exact, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", DOUBLES)
@pytest.mark.parametrize("seeds", parts(25, kept=6))
def test_verdicts_come_back(kind: str, seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        examples, labels = classes(kind, seed)
        verdict = separation(examples, labels)
        assert verdict.proved
        assert_readable(verdict)
        assert verdict.pair is not None
        assert not pair_faults(verdict.rows, verdict.pair, verdict.proofs)
        record = strict(json.dumps(verdict.as_json()))
        assert is_multiple(record["direction"], verdict.direction)
        assert tuple(map(read_exact, record["certificate"]["direction"])) == verdict.direction
        assert all(isinstance(read_exact(text), Fraction) for text in texts(record["certificate"]))
        verdict.save(tmp_path / "verdict.npz")
        again = SeparationVerdict.load(tmp_path / "verdict.npz", examples, labels)
        assert again.as_json() == verdict.as_json()
        assert again.direction == verdict.direction


@pytest.mark.slow
@pytest.mark.parametrize("kind", DOUBLES)
@pytest.mark.parametrize("seeds", parts(8, kept=2))
def test_maximum_supports_are_proved(kind: str, seeds: range) -> None:
    for seed in seeds:
        examples, _ = classes(kind, seed)
        support = maximum_support(examples)
        assert support.proved
        assert_readable(support)
        sums = np.array([Fraction(value) for value in examples.ravel()]).reshape(examples.shape)
        total = sum(
            (w * sums[i] for i, w in support.weights.items()), np.full(examples.shape[1], 0)
        )
        assert not any(total)
        scores = sums @ np.array(support.point)
        assert all(scores[i] > 0 for i in support.support)


# --- the command line ----------------------------------------------------------------------------

Said = tuple[int, str]


@pytest.fixture
def plab(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Return the command line: exit code and output; no bug of plab is one of its answers."""

    def run(*words: str | Path) -> Said:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        assert code in (0, 1, 2), captured.err
        assert "RuntimeWarning" not in captured.err
        return code, captured.out

    return run


def went_through(plab: Callable[..., Said], path: Path, *words: str) -> Any:
    """Solve, print as JSON, save, verify and certify; return the JSON, None for refused data."""
    saved, words = path.with_suffix(".npz"), (*words, "--budget-seconds", "1")
    code, output = plab("solve", path, *words, "--save", saved)
    if code == 2:
        assert not saved.exists()
        return None
    assert max(map(len, output.splitlines())) <= LONGEST_LINE
    record = strict(plab("solve", path, *words, "--json")[1])
    again = plab("verify", saved)
    assert again[0] == 0, again[1]
    plab("certify", saved, "--into", path.parent / "certificates")
    return record


def mps(rows: Any, right: Any, relations: str) -> str:
    """Return conditions on x >= 0 as an MPS file."""
    lines = [
        "NAME T",
        "ROWS",
        " N cost",
        *(f" {relation} r{i}" for i, relation in enumerate(relations)),
    ]
    lines.append("COLUMNS")
    for j, column in enumerate(zip(*rows, strict=True)):
        lines += [f" x{j} r{i} {number}" for i, number in enumerate(column) if number != "0"]
    lines += ["RHS", *(f" RHS r{i} {number}" for i, number in enumerate(right)), "ENDATA"]
    return "\n".join(lines) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize(("equations", "indices"), repeated(product([20, 60], [3, 0]), kept=1))
def test_infeasible_programs_of_ordinary_size(
    equations: int, indices: int, tmp_path: Path, plab: Callable[..., Said]
) -> None:
    """Their weights have hundreds of digits."""
    rng = np.random.default_rng(equations)
    unknowns = equations * 3 // 2
    rows = rng.integers(-9999, 10000, (equations, unknowns)) / 10**indices
    right = rng.integers(-9999, 10000, equations) / 10**indices
    texts_of_rows = [[f"{entry:.{indices}f}" for entry in row] for row in rows.tolist()]
    path = tmp_path / "program.mps"
    path.write_text(
        mps(texts_of_rows, [f"{entry:.{indices}f}" for entry in right], "E" * equations)
    )
    record = went_through(plab, path)
    assert record["status"] == "INFEASIBLE"
    proof = LinearProof.of_json(record["certificate"][PROOF])
    saved = Result.load(path.with_suffix(".npz"))
    assert proof == LinearProof.of_json(saved.certificate[PROOF])
    assert max(weight.numerator for weight in proof.weights.values()) > 10 ** (3 * equations)
    assert plab("certify", path.with_suffix(".npz"), "--into", tmp_path / "other")[0] == 0


def test_points_of_thousands_of_digits(tmp_path: Path, plab: Callable[..., Said]) -> None:
    long = "3" * 5000
    path = tmp_path / "program.mps"
    path.write_text(mps([[long, "1"], ["1", f"0.{long}"]], ["1", "0.1"], "EG"))
    record = went_through(plab, path)
    point = LinearProof.of_json(record["certificate"][PROOF]).point
    assert point is not None
    number = read_exact(long)
    assert number * point[0] + point[1] == 1
    assert point[0] + number / 10**5000 * point[1] >= Fraction(1, 10)
    assert plab("solve", path)[1].count("3") < 100


@pytest.mark.parametrize("kind", DOUBLES)
@pytest.mark.parametrize(
    "question", [(), ("--labels", "last"), ("--labels", "last", "--verdict")], ids=len
)
@pytest.mark.parametrize("seeds", parts(4, kept=2))
def test_arrays_of_extreme_doubles(
    kind: str, question: tuple[str, ...], tmp_path: Path, plab: Callable[..., Said], seeds: range
) -> None:
    for seed in seeds:
        examples, labels = classes(kind, seed)
        path = tmp_path / f"examples_{seed}.npy"
        np.save(path, np.column_stack([examples, labels]))
        record = went_through(plab, path, *question)
        assert record is not None or "--verdict" not in question


PROGRAMS = {
    "c and F are apart": "-7e-200 3 1e-300|0 1 1 1 1e300|0 2 2 2 -7e-200|2 2 1 1 1e-300|"
    "2 2 2 2 1e-150|3 1 1 1 1e-150|3 2 1 1 2.3e-308|3 2 2 2 -2",
    "infinite errors": "-1e300 -1.7e308|0 1 1 1 2.3e-308|1 1 1 1 -7e-200|1 2 1 1 2.3e-308|"
    "1 2 2 2 1e-300|2 1 1 1 1.7e308|2 2 1 1 -7e-200|2 2 2 2 1e-150",
    "infinite cuts": "2.3e-308 -7e-200 0|0 1 1 1 1e150|0 2 2 2 1.7e308|1 2 1 1 -1.7e308|1 2 2 2 3|"
    "2 1 1 1 -2|2 2 1 1 0.3333333333|3 1 1 1 -1.7e308|3 2 1 1 1e-300",
    "infinite corrections": "1e300 0.3333333333|0 1 1 1 1e300|0 2 1 1 -7e-200|1 1 1 1 2.3e-308|"
    "1 2 1 1 0.1|1 2 2 2 1|2 2 1 1 1|2 2 2 2 0.1",
    "an infinite objective": "-2 1.7e308 -2|0 2 1 1 1|0 2 2 2 1|1 1 1 1 2.3e-308|"
    "1 2 1 1 0.3333333333|2 1 1 1 1e-300|2 2 1 1 0.3333333333|2 2 2 2 1|3 1 1 1 3|"
    "3 2 1 1 1.7e308|3 2 2 2 0.1",
    "an infinite slack": "0.3333333333|0 1 1 1 -1.7e308|0 2 1 1 -1.7e308|1 1 1 1 1|"
    "1 2 1 1 0.3333333333|1 2 2 2 -7e-200",
    "a margin of 0": "0 -1.7e308 1.7e308|0 2 1 1 -1e300|0 2 2 2 -7e-200|1 2 2 2 -2|"
    "2 1 1 1 2.3e-308|2 2 2 2 0.3333333333|3 2 1 1 -7e-200|3 2 2 2 1",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(PROGRAMS, step=4))
def test_programs_of_extreme_numbers(name: str, tmp_path: Path, plab: Callable[..., Said]) -> None:
    objective, *entries = PROGRAMS[name].split("|")
    path = tmp_path / "program.dat-s"
    lines = [str(len(objective.split())), "2", "1 -2", objective, *entries]
    path.write_text("\n".join(lines) + "\n")
    with np.errstate(all="ignore"):  # numpy's warnings are not the answers
        assert went_through(plab, path) is not None
        assert went_through(plab, path, "--optimum") is not None


def test_the_number_of_a_column_has_few_digits() -> None:
    with pytest.raises(InputError, match=r"there is no column 2{18}\.\.\.; give 1 to 3, or last"):
        Columns("2" * 5000).label_index(["a", "b", "c"])


def test_integers_of_thousands_of_digits_in_tables_and_words(
    tmp_path: Path, plab: Callable[..., Said]
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"{'1' * 5000},1,0\n2,1,1\n3,2,0\n")
    for words in (("--rows",), ("--labels", "last", "--verdict"), ("--labels", "2" * 5000)):
        assert plab("solve", path, *words)[0] == 2
    path.write_text(f"a,b,y\n0.{'3' * 5000},1,0\n2,1,1\n1.{'3' * 5000},2,0\n")
    assert went_through(plab, path, "--labels", "y", "--verdict")["proved"]
