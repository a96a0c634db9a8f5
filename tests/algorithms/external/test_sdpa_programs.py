"""CSDP, SDPA and DSDP: their answers parsed, and the programs themselves where they are on PATH."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import ConicSystem, solve
from perceptron_lab.algorithms.external.direct import ClarabelDirect
from perceptron_lab.algorithms.external.largest_margin import ERRORS, LargestMargin
from perceptron_lab.algorithms.external.sdpa_format import (
    BlockAnswer,
    answer_of,
    parse_entries,
    parse_sections,
    sdpa_data,
)
from perceptron_lab.algorithms.external.sdpa_programs import Csdp, Dsdp, Sdpa
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.generated.maxcut import Maxcut
from tests.families import feasible_of, infeasible_of

BLOCKS = [2, -3]
PROGRAMS = [Csdp(), Sdpa(), Dsdp()]

# min x_1 + 2 x_2, a 2 x 2 block and three rows; written as the programs write it, digits cut
ENTRIES = """1.707107e+00 3.535529e-01\x20
1 1 1 1 7.071077e-01\x20
1 1 1 2 -0.50\x20
1 1 2 2 3.535529e-01\x20
1 2 1 1 1.707107e+00\x20
1 2 3 3 51.0\x20
2 1 1 1 9.999999e-01\x20
2 1 1 2 1.414213e+00\x20
2 1 2 2 1.999999e+00\x20
2 2 1 1 7.98e-10\x20
"""
SECTIONS = """SDPA start at [Mon Nov 23 00:50:56 2026]
phase.value  = pdOPT
objValPrimal = +2.4142136004147754e+00
XPrint       = %+8.3e

xVec =
{+1.707107e+00,+3.535529e-01}
xMat =
{
{ {+7.071077e-01,-5.0e-01 },
  {-5.0e-01,+3.535529e-01 }   }
{+1.707107e+00,+0.0e+00,+5.1e+01}
}
yMat =
{
{ {+9.999999e-01,+1.414213e+00 },
  {+1.414213e+00,+1.999999e+00 }   }
{+7.98e-10,+0.0e+00,+0.0e+00}
}
    main loop time = 0.001038
"""


def assert_read(answer: BlockAnswer) -> None:
    assert answer.variables.tolist() == [1.707107, 0.3535529]
    assert answer.slack[0].tolist() == [[0.7071077, -0.5], [-0.5, 0.3535529]]
    assert answer.slack[1].tolist() == [1.707107, 0.0, 51.0]
    assert answer.multipliers[0].tolist() == [[0.9999999, 1.414213], [1.414213, 1.999999]]
    assert answer.multipliers[1].tolist() == [7.98e-10, 0.0, 0.0]


def test_answers_of_csdp_and_dsdp_are_read() -> None:
    assert_read(parse_entries(ENTRIES, 2, BLOCKS))


def test_answers_of_sdpa_are_read() -> None:
    assert_read(parse_sections(SECTIONS, 2, BLOCKS))


@pytest.mark.parametrize(
    ("was", "becomes", "message"),
    [
        ("1.707107e+00 3", "3", "first line holds 1 numbers; expected: 2"),
        ("2 2 1 1 7.98e-10", "2 2 1 1", "no multiple of 5: it is truncated"),
        (
            "2 2 1 1 7.98e-10",
            "2 3 1 1 7.98e-10",
            "an entry at 2 3 1 1, which the program does not have",
        ),
        (
            "2 2 1 1 7.98e-10",
            "2 2 1 2 7.98e-10",
            "an entry at 2 2 1 2, which the program does not have",
        ),
        (
            "2 2 1 1 7.98e-10",
            "3 2 1 1 7.98e-10",
            "an entry at 3 2 1 1, which the program does not have",
        ),
        ("51.0", "nan", "NaN or infinity in the entries"),
        ("51.0", "5..1", "holds no number in the entries"),
    ],
)
def test_a_damaged_file_of_entries_is_no_answer(was: str, becomes: str, message: str) -> None:
    with pytest.raises(NumericalError, match=message):
        parse_entries(ENTRIES.replace(was, becomes), 2, BLOCKS)


@pytest.mark.parametrize(
    ("was", "becomes", "message"),
    [
        ("yMat", "zMat", "no yMat: it is truncated"),
        (",+5.1e+01", "", "xMat holds 6 numbers; expected: 7"),
        ("+5.1e+01", "+inf", "NaN or infinity in xMat"),
        ("+5.1e+01", "*****", "holds no number in xMat"),
    ],
)
def test_a_damaged_file_of_sections_is_no_answer(was: str, becomes: str, message: str) -> None:
    with pytest.raises(NumericalError, match=message):
        parse_sections(SECTIONS.replace(was, becomes), 2, BLOCKS)


def test_the_program_in_sdpas_format_is_the_same_program() -> None:
    """F(x) in its blocks is the slack of (y, t) in the program's own terms."""
    system = _mixed()
    program = LargestMargin(system)
    data = sdpa_data(program)
    assert data.blocks[-1] < 0
    assert data.objective.tolist() == [0.0] * system.dimension + [-1.0]
    result = solve(system, ClarabelDirect())
    variables = np.append(result.point, 0.125)
    matrices = [np.zeros((size, size)) if size > 0 else np.zeros(-size) for size in data.blocks]
    for entry in zip(data.matrix, data.block, data.row, data.column, data.value, strict=True):
        matrix, block, row, column, value = entry
        coefficient = -1.0 if matrix == 0 else variables[matrix - 1]
        part = matrices[block]
        if part.ndim == 1:
            part[row] += coefficient * value
        else:
            part[row, column] += coefficient * value
            part[column, row] = part[row, column]
    answer = answer_of(program, BlockAnswer(variables, matrices, matrices))
    np.testing.assert_allclose(answer.slack, program.slack_of(answer.point, answer.top), atol=1e-12)
    np.testing.assert_allclose(answer.ball, np.append(answer.point, 1.0))


def test_multipliers_in_its_blocks_have_the_same_products_with_every_variable() -> None:
    """<F_i, Y> is (M'(w, q))_i: the equations of a program's dual are those of the margin's."""
    rng = np.random.default_rng(4)
    for system in (_mixed(), feasible_of("product", 1).system.completed()):
        program = LargestMargin(system)
        data, (full, _) = sdpa_data(program), program.conditions()
        sizes = [(size, size) if size > 0 else (-size,) for size in data.blocks]
        drawn = [rng.standard_normal(size) for size in sizes]
        blocks = [block + block.T if block.ndim == 2 else block for block in drawn]
        answer = answer_of(program, BlockAnswer(np.zeros(full.shape[1]), blocks, blocks))
        products = np.zeros(full.shape[1] + 1)
        for entry in zip(data.matrix, data.block, data.row, data.column, data.value, strict=True):
            matrix, block, row, column, value = entry
            part = blocks[block]
            twice = 2.0 if row != column else 1.0
            products[matrix] += twice * value * (part[row] if part.ndim == 1 else part[row, column])
        expected = full.T @ np.append(answer.weights, answer.pull)
        np.testing.assert_allclose(products[1:], expected, atol=1e-10)


def _mixed() -> ConicSystem:
    problem = Maxcut(instances=["random-6-9"]).load("random-6-9", seed=0, base=Path())
    return problem.system.completed()


@pytest.mark.parametrize("peer", PROGRAMS, ids=lambda peer: peer.command)
def test_without_the_program_the_message_names_debians_package(
    peer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    message = f"{peer.command} is not on PATH; Debian: apt install {peer.package}"
    with pytest.raises(InputError, match=message):
        solve(_mixed(), peer)


def _pretend(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo CSDP 9.9; echo out of memory; exit 206", "csdp 9.9 ended with code 206"),
        ("echo CSDP 9.9; echo 1.0 > answer", "csdp 9.9: the answer's first line holds 1"),
        ("sleep 30", "no answer within 0.2 s"),
    ],
)
def test_a_program_that_gives_no_answer_is_a_numerical_error(
    script: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _pretend(tmp_path, "csdp", script, monkeypatch)
    result = solve(_mixed(), Csdp(time_limit=0.2))
    assert result.status is Status.NUMERICAL_ERROR
    assert message in result.message


@pytest.mark.parametrize("peer", PROGRAMS, ids=lambda peer: peer.command)
def test_the_programs_agree_with_clarabel(peer: Any) -> None:
    if shutil.which(peer.command) is None:
        pytest.skip(f"{peer.command} is not on PATH")
    for system in (feasible_of("product", 1).system, _mixed()):
        expected, result = solve(system, ClarabelDirect()), solve(system, peer)
        assert result.status is Status.FEASIBLE
        assert result.margin_upper == pytest.approx(expected.margin_upper, rel=1e-3)
        assert result.margin_lower == pytest.approx(expected.margin_lower, rel=1e-3)
        figures = result.certificate["figures"]
        assert max(abs(figures[name]) for name in ERRORS) < 1e-5
        assert f"{peer.command} " in result.message
    refused = solve(infeasible_of("semidefinite", 1).system, peer)
    assert refused.status in (Status.INFEASIBLE, Status.MARGIN_BOUNDED)
