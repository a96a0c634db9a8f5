"""Findings: set by real runs, told by messages as ever, and read from messages of former rows."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import perceptron_lab
from perceptron_lab import ConicSystem, Result, solve
from perceptron_lab.algorithms.perceptrons.relaxed_perceptron import RelaxedPerceptron
from perceptron_lab.algorithms.projection.projection_rescaling import ProjectionRescaling
from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.findings import NOTHING, Finding, SeparationAnswer
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.problem import Task
from perceptron_lab.estimators.learners.learning import learn
from perceptron_lab.estimators.learners.registered.likelihood import KonisProgram
from perceptron_lab.experiments.cells.cell_run import failure
from perceptron_lab.experiments.configuration.rows import finding_in, finding_text
from perceptron_lab.experiments.storage.reader import former_finding
from perceptron_lab.problems.separation import verdict_record as verdict

PACKAGE = Path(perceptron_lab.__file__).parent


def gaussian(rows: int, dimension: int) -> FloatArray:
    return np.random.default_rng(0).standard_normal((rows, dimension))


def relaxed() -> Result:
    return solve(gaussian(60, 10), RelaxedPerceptron(sigma=0.9))


def called_feasible() -> Result:
    thin = [Fraction(1, 3), Fraction(1, 10**20) - Fraction(1, 3)]
    return solve(ConicSystem.from_linear([[1, 1], [-1, -1]], thin), "highs")


def rescaled() -> Result:
    return solve(gaussian(20, 10), ProjectionRescaling(procedure="perceptron"))


def separated() -> Result:
    examples = np.array([[1.0], [2.0], [3.0]])
    task = Task("1", examples, np.array([-1.0, 1.0, 1.0]), examples[:0], np.ones(0))
    return learn(KonisProgram(), [task], 0)


RUNS: dict[str, tuple[Callable[[], Result], str]] = {
    "relaxed_margin": (relaxed, r"relaxed answer: a margin of at least -0\.\d+ is proved"),
    "claimed_feasible": (called_feasible, "HiGHS calls it feasible; its point violates a cond.*"),
    "rescalings": (rescaled, r"the point is proved strictly feasible; rescaled \d+ and \d+ times"),
    "separation": (separated, "separated: optimum 3 in doubles"),
}


@pytest.fixture(scope="module", params=RUNS)
def run(request: pytest.FixtureRequest) -> tuple[str, Result, str]:
    """The name of a fact, a run that finds it, and its message."""
    make, message = RUNS[request.param]
    return request.param, make(), message


def test_a_run_has_its_finding_and_the_message_of_it(run: tuple[str, Result, str]) -> None:
    name, result, message = run
    assert list(result.finding.values()) == [name]
    assert re.match(f"{message}(;|$)", result.message), result.message
    assert result.finding.sentence in result.message


def test_messages_of_former_rows_give_the_same_findings(run: tuple[str, Result, str]) -> None:
    name, result, _ = run
    former = former_finding(str(result.status), result.message)
    value = getattr(former, name)
    if isinstance(value, float):  # messages have ten digits of it
        value, former = pytest.approx(value, rel=1e-9), NOTHING
    assert getattr(result.finding, name) == value
    assert former in (NOTHING, result.finding)


def test_files_and_rows_keep_it(run: tuple[str, Result, str], tmp_path: Path) -> None:
    _, result, _ = run
    result.save(tmp_path / "saved.npz")
    assert Result.load(tmp_path / "saved.npz").finding == result.finding
    assert finding_in(finding_text(result.finding)) == result.finding


def test_json_has_the_facts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savetxt(tmp_path / "rows.csv", gaussian(60, 10), delimiter=",")
    words = ["solve", str(tmp_path / "rows.csv"), "--algorithm", "relaxed-perceptron", "--json"]
    assert main([*words, "-s", "sigma=0.9"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert set(answer["finding"]) == {"relaxed_margin"}
    assert list(answer)[list(answer).index("message") + 1] == "finding"
    assert main(["solve", str(tmp_path / "rows.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["finding"] is None


def test_a_lack_of_memory_is_a_finding() -> None:
    outcome = failure(MemoryError("Unable to allocate 7 GiB"))
    assert outcome.finding == Finding(out_of_memory="Unable to allocate 7 GiB")
    expected = "Unable to allocate 7 GiB; run it on a machine with more memory"
    assert outcome.message == expected
    for message in (expected, "Unable to allocate 7 GiB; its memory is limited to 1 MiB: raise it"):
        assert former_finding(Status.OUT_OF_MEMORY, message) == outcome.finding


def test_other_messages_of_former_rows_give_no_findings() -> None:
    for status, message in (
        (Status.TIME_LIMIT, "HiGHS calls it feasible; the rest"),
        (Status.KILLED, "killed after 3 s: separated"),
        (Status.FEASIBLE, "the point is proved strictly feasible"),
        (Status.ERROR, "None"),
    ):
        assert former_finding(status, message) == NOTHING
    shifted = "boundary answer, proved strictly feasible after an interior shift of 9.1e-13; more"
    assert former_finding(Status.FEASIBLE, shifted) == Finding(interior_shift=9.1e-13)


def test_findings_can_be_combined_and_empty_ones_are_refused() -> None:
    both = Finding(interior_shift=0.5) | Finding(rescalings=(1, 0))
    assert both.values() == {"interior_shift": 0.5, "rescalings": [1, 0]}
    assert Finding.of_values(both.values()) == both
    assert bool(both)
    assert not NOTHING
    assert finding_text(NOTHING) is None
    assert finding_in("") == finding_in(float("nan")) == NOTHING
    for text in ("1", "[", '{"unknown": 1}', '{"separation": "?"}'):
        with pytest.raises(DataError, match="column finding"):
            finding_in(text)


def test_answers_about_separation_are_the_verdicts_and_more() -> None:
    verdicts = {verdict.COMPLETE: True, verdict.QUASI: True, verdict.OVERLAP: False}
    for word, answer in (verdicts | {verdict.UNDECIDED: None}).items():
        assert SeparationAnswer(word).separated is answer
    assert {answer.separated for answer in SeparationAnswer} == {True, False, None}


READING = {
    *("match", "fullmatch", "search", "findall", "finditer", "sub", "split", "rsplit"),
    *("partition", "rpartition", "startswith", "endswith", "removeprefix", "removesuffix"),
    *("find", "rfind", "index", "count", "extract", "contains"),
}
"""Methods of texts, patterns and columns of texts that take a text apart."""
WRITTEN_BY_OTHERS = {
    "core/refusals.py": "a validator of a plugin says what is allowed by its words alone",
    "experiments/configuration/components.py": "the same",
}


def of_message(node: ast.AST) -> bool:
    """Return whether an expression is made of a message."""
    parts = list(ast.walk(node))
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    names += [part.attr for part in parts if isinstance(part, ast.Attribute)]
    return "message" in names or any(
        isinstance(part, ast.Constant) and part.value == "message" for part in parts
    )


def parsed(source: str) -> Iterator[int]:
    """Yield the lines of a module that parse a message."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in READING and of_message(node):
                yield node.lineno
        elif (
            isinstance(node, ast.Compare)
            and isinstance(node.ops[0], ast.In | ast.NotIn)
            and of_message(node.comparators[0])
        ):
            yield node.lineno


@pytest.mark.slow
def test_messages_are_parsed_only_for_former_rows() -> None:
    sources = {
        path.relative_to(PACKAGE).as_posix(): lines
        for path in sorted(PACKAGE.rglob("*.py"))
        if "message" in (text := path.read_text(encoding="utf-8")) and (lines := list(parsed(text)))
    }
    source, begin = inspect.getsourcelines(former_finding)
    lines = sources.pop("experiments/storage/reader.py")
    assert lines
    assert set(lines) <= set(range(begin, begin + len(source)))
    assert sources.keys() == WRITTEN_BY_OTHERS.keys(), sources


@pytest.mark.parametrize(
    "source",
    [
        'row["message"].startswith("relaxed")',
        'runs["message"].astype(str).str.extract(r"(\\d)")',
        "_TOLD.search(str(message))",
        'outcome.message.partition(";")[0]',
        '"did you mean" not in fault.message',
    ],
)
def test_parsing_of_a_message_is_detected(source: str) -> None:
    assert list(parsed(source)) == [1]


@pytest.mark.parametrize(
    "source", ['f"{result.message}; more"', "row['message'] == other", "said.startswith('a')"]
)
def test_other_uses_are_allowed(source: str) -> None:
    assert not list(parsed(source))
