"""Running one cell, what its process says, and how an end is put in words."""

from __future__ import annotations

import json
import math
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.core.results import Status, Trace
from perceptron_lab.experiments.cells.attempt import STDERR_TAIL, outcome_of_exit, printable
from perceptron_lab.experiments.cells.cell_run import Job, failure, run_cell
from perceptron_lab.experiments.cells.messages import (
    LONGEST,
    Mailbox,
    MessageError,
    add_record,
    best_margin,
    encoded,
    record_of,
)
from perceptron_lab.experiments.cells.operating_system import in_words, kernel_kills
from perceptron_lab.solving.entry import solve
from tests.experiments.conftest import Configure
from tests.experiments.processes import faulty, jobs_of

RECORD = {
    "updates": 1,
    "iterations": 2,
    "queries": 3,
    "products": 4.5,
    "seconds": 0.5,
    "phase": "second",
    "margin": -0.25,
    "upper": 0.75,
}


def single_job(configure: Configure, how: str, **changes: Any) -> Job:
    (job,) = jobs_of(configure, algorithms=[faulty(how)], **changes)
    return job


def test_a_cell_is_run_as_solve_does(configure: Configure) -> None:
    problems = [{"dataset": "toy", "instances": ["eye-7"], "measured": True}]
    cell = single_job(configure, "not", problems=problems, trace_measures=True).cell
    problem = cell.load(single_job(configure, "not").base)
    watched: list[int] = []
    outcome = run_cell(cell, problem, watch=lambda trace: watched.append(trace.updates[-1]))
    direct = solve(problem.system, "perceptron", observe=problem.measure)
    assert outcome.result is not None
    assert outcome.status is direct.status is Status.FEASIBLE
    np.testing.assert_array_equal(outcome.result.point, direct.point)
    assert watched == outcome.result.trace.updates == direct.trace.updates
    assert outcome.measures == {"first": 1.0}
    assert outcome.result.trace.measures["first"] == direct.trace.measures["first"]


def test_a_cell_can_be_stopped(configure: Configure) -> None:
    job = single_job(configure, "not")
    outcome = run_cell(job.cell, job.cell.load(job.base), stop=lambda: "enough")
    assert (outcome.status, outcome.message) == (Status.TIME_LIMIT, "enough")
    assert outcome.result is not None
    assert outcome.result.updates == 0


def test_exceptions_are_outcomes(configure: Configure) -> None:
    for how, status, begins in [
        ("error", Status.ERROR, "RuntimeError: something broke (toys.py:"),
        ("memory", Status.OUT_OF_MEMORY, "no memory left; run it on a machine with more"),
    ]:
        job = single_job(configure, how)
        outcome = run_cell(job.cell, job.cell.load(job.base))
        assert (outcome.status, outcome.result) == (status, None)
        assert outcome.message.startswith(begins)
    assert failure(ValueError("never\n raised")).message == "ValueError: never raised"
    assert failure(KeyboardInterrupt()).message == "KeyboardInterrupt"


def test_an_exception_under_way_is_a_result(configure: Configure) -> None:
    (job,) = jobs_of(configure, algorithms=[faulty("error", after=1)])
    outcome = run_cell(job.cell, job.cell.load(job.base))
    assert outcome.status is Status.NUMERICAL_ERROR
    assert outcome.result is not None
    assert outcome.result.margin_lower is not None
    assert outcome.message.startswith("faulty failed in toys.py:")


def test_an_algorithm_that_refuses_a_system_is_skipped(configure: Configure) -> None:
    [job, *_] = jobs_of(
        configure,
        problems=[{"dataset": "maxcut", "instances": ["torus-3x4"]}],
        algorithms=[{"name": "cyclic-perceptron"}],
    )
    outcome = run_cell(job.cell, job.cell.load(job.base))
    assert (outcome.status, outcome.result) == (Status.SKIPPED, None)
    assert "rows and kernels only; choose another algorithm" in outcome.message


@pytest.mark.parametrize(
    ("status", "message", "peak", "kills", "expected", "words"),
    [
        (9, "", 0, 0, "KILLED", "killed by SIGKILL from outside"),
        (9, "", 0, 2, "KILLED", r"killed by the kernel, it seems.*\(processes killed: 2\)"),
        (15, "", 0, 2, "KILLED", "killed by SIGTERM from outside"),
        (11, "", 0, 2, "CRASHED", "died of SIGSEGV$"),
        (11, "", 2000, 0, "CRASHED", "for lack of memory: process.memory is 1000 bytes$"),
        (6, "std::bad_alloc", 0, 0, "CRASHED", "died of SIGABRT; perhaps for lack of memory"),
        (6, "allocation: no memory", 0, 0, "CRASHED", "perhaps for lack of memory"),
        (6, "a memorable allocation", 0, 0, "CRASHED", "SIGABRT$"),
        (7 << 8, "", 0, 0, "CRASHED", "ended with exit code 7 and no result$"),
        (60, "", 0, 0, "CRASHED", "died of (SIGRTMAX-4|signal 60)$"),
    ],
)
def test_ends_in_words(
    status: int, message: str, peak: int, kills: int, expected: str, words: str
) -> None:
    outcome = outcome_of_exit(status, message, peak, 1000, kills)
    assert outcome.status.value == expected
    assert outcome.limit == ""
    assert re.search(words, outcome.message), outcome.message


@given(st.binary(max_size=5000))
def test_any_output_becomes_printable(output: bytes) -> None:
    text = printable(output)
    assert len(text) <= STDERR_TAIL
    assert all(letter.isprintable() or letter in "\n\t" for letter in text)


def test_the_end_of_the_output_is_stored() -> None:
    assert printable(b"\x1b[1;31mred\x1b[0m\tand\x07 \xc3\xa9\n") == "red\tand é"
    assert printable(b"x" * 9000 + b"end") == "x" * (STDERR_TAIL - 3) + "end"
    fault = b"Fatal: here\n\nExtension modules: a, b, c (total: 3)\n"
    assert printable(fault) == "Fatal: here"


@pytest.mark.parametrize("frames", [1, 20, 100])  # faulthandler's most
def test_a_crash_keeps_its_error_and_its_outermost_frames(frames: int) -> None:
    traceback = b'  File "/a/very/long/path/of/a/clone/and/its/module.py", line 1 in f\n' * frames
    crash = b"Fatal Python error: Segmentation fault\n\n" + traceback + b"last frame\n"
    text = printable(b"said before\n" * 500 + crash)
    assert text.count("Fatal Python error: Segmentation fault\n") == 1
    assert text.endswith("last frame")


def test_a_record_comes_through_as_it_is() -> None:
    lists: Any = ([np.int64(7)], [1], [2], [np.float64(0.5)], [1], ["a"], [math.nan], [math.inf])
    trace = Trace(*lists)
    copy = Trace()
    add_record(copy, json.loads(encoded("record", record=record_of(trace)))["record"])
    assert copy.updates == [7]
    assert (copy.products, copy.phase, copy.upper) == ([0.5], ["a"], [math.inf])
    assert math.isnan(copy.margin[0])
    assert math.isnan(best_margin(copy))
    add_record(copy, RECORD)
    assert len(copy) == 2
    assert best_margin(copy) == -0.25


@pytest.mark.parametrize("name", RECORD)
@pytest.mark.parametrize("value", [None, [1.0], True, {}])
def test_malformed_records_are_refused_entirely(name: str, value: object) -> None:
    trace = Trace()
    with pytest.raises(MessageError, match=name):
        add_record(trace, RECORD | {name: value})
    with pytest.raises(MessageError):
        add_record(trace, {key: RECORD[key] for key in RECORD if key != name})
    with pytest.raises(MessageError):
        add_record(trace, value)
    assert trace == Trace()


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, Mailbox]]:
    there, receiver = socket.socketpair()
    with there, receiver:
        receiver.setblocking(False)
        yield there, Mailbox(receiver)


def test_messages_come_in_pieces_or_together(ends: tuple[socket.socket, Mailbox]) -> None:
    there, mailbox = ends
    assert mailbox.read() == []
    assert mailbox.empty
    there.sendall(encoded("ready") + encoded("done", size=3)[:5])
    assert mailbox.read() == [{"kind": "ready"}]
    assert not mailbox.empty
    there.sendall(encoded("done", size=3)[5:])
    assert mailbox.read() == [{"kind": "done", "size": 3}]
    there.close()
    assert mailbox.read() == []
    assert mailbox.closed


@pytest.mark.parametrize(
    "rubbish",
    [b"\n", b"\xff\xfe\n", b"[]\n", b'"ready"\n', b"{}\n", b'{"kind": 3}\n', b"[" * 9000 + b"\n"],
)
def test_malformed_messages_are_refused(
    ends: tuple[socket.socket, Mailbox], rubbish: bytes
) -> None:
    there, mailbox = ends
    there.sendall(rubbish)
    with pytest.raises(MessageError):
        mailbox.read()


def test_a_message_without_end_is_refused(ends: tuple[socket.socket, Mailbox]) -> None:
    there, mailbox = ends
    there.sendall(b"x" * LONGEST)
    assert mailbox.read() == []
    there.sendall(b"x")
    with pytest.raises(MessageError, match="without an end"):
        mailbox.read()


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are enforced on Linux")
def test_memory_is_limited_and_set_free_again() -> None:
    program = """
from perceptron_lab.experiments.cells.operating_system import *
import numpy as np
kept = np.ones(20_000_000)
limit_memory(100_000_000)
small = np.ones(5_000_000)
try:
    np.ones(10_000_000)
except MemoryError:
    limit_memory(None)
    large = np.ones(10_000_000)
    print("as it should be")
"""
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (completed.stdout, completed.stderr) == ("as it should be\n", "")


def test_bytes_in_words() -> None:
    words = [in_words(size) for size in (1, 1023, 1024, 300_000_000, 3 << 40, 5 << 50)]
    assert words == ["1 bytes", "1023 bytes", "1 KiB", "286.1 MiB", "3 TiB", "5120 TiB"]
    assert kernel_kills() >= 0
