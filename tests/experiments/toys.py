"""A dataset and algorithms for tests of experiments: tiny, and faulty on demand."""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import signal
import stat
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import AfterValidator
from pydantic.dataclasses import dataclass

from perceptron_lab.algorithms.base import Algorithm, State
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.core.claims import Claim
from perceptron_lab.core.errors import DataError, MissingProgramError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import STRICT
from perceptron_lab.core.results import Bound, FloatArray
from perceptron_lab.datasets.dataset import Dataset
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.systems import ConicSystem

CONFIG: dict[str, Any] = {
    "experiment": "toy",
    "problems": [{"dataset": "toy", "instances": ["eye-2", "eye-3"]}],
    "algorithms": [{"name": "perceptron"}, {"name": "faulty", "parameters": {"how": "not"}}],
}


def first_entry(point: FloatArray) -> dict[str, float | FloatArray]:
    return {"first": float(point[0]), "entries": 2.0 * point}


@dataclass(frozen=True, config=STRICT)
class Toy(Dataset):
    """Orthonormal rows.

    ``eye-3`` is the unit matrix of order 3, ``random-3`` a signed one drawn from the seed,
    ``absent`` cannot be loaded, ``file`` is the order that a file holds; ``flaky-3`` cannot be
    loaded as long as there is a file of this name, which it deletes; ``endless-3`` takes for ever
    once there is a file of this name. A file ``loads`` has a line for each time that one is loaded,
    with its name and the process, if there is such a file.
    """

    instances: list[str]
    scale: float = 1.0
    measured: bool = False

    def names(self) -> list[str]:
        return self.instances

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        if (base / "loads").exists():
            with (base / "loads").open("a") as file:
                file.write(f"{name} {os.getpid()}\n")
        if name == "absent":
            raise DataError("absent: no such file; make it")
        if name.startswith("flaky") and (base / name).exists():
            (base / name).unlink()
            raise OSError("try again")
        while name.startswith("endless") and (base / name).exists():
            time.sleep(0.1)
        order = int((base / "order.txt").read_text()) if name == "file" else int(name[-1])
        signs = np.ones(order)
        if name.startswith("random"):
            signs = np.random.default_rng([seed, order]).choice([-1.0, 1.0], size=order)
        rows = self.scale * np.diag(signs)
        sha256 = hashlib.sha256(rows.tobytes()).hexdigest()
        facts = Facts(order, order, margin=order**-0.5, unit_margin=order**-0.5)
        measure = first_entry if self.measured else None
        return Problem(name, ConicSystem.from_rows(rows), sha256, facts, measure)


@dataclass(frozen=True, config=STRICT)
class Unasking(Perceptron):
    """A perceptron with a bound that says nothing, and no use for an oracle."""

    uses_oracle: ClassVar[bool] = False

    def bound(self, facts: Facts) -> Bound:
        return Bound(math.inf, "none")


def known(how: str) -> str:
    if how not in FAILURES:
        raise ValueError(f"allowed: {', '.join(FAILURES)}")
    return how


@dataclass(frozen=True, config=STRICT)
class Faulty(Algorithm[State]):
    """A perceptron that fails on demand on problems of one dimension.

    ``how`` is one of :data:`FAILURES`; ``after`` are the updates made before.
    """

    how: Annotated[str, AfterValidator(known)]
    dimension: int = 3
    after: int = 0

    def start(self, system: ConicSystem, rng: np.random.Generator) -> State:
        state = Perceptron().start(system, rng)
        self.fail(system, state)
        return state

    def step(self, system: ConicSystem, state: State, most: int) -> tuple[State, Claim | None]:
        if self.after > 0:
            self.fail(system, state)
        return Perceptron().step(system, state, most)

    def fail(self, system: ConicSystem, state: State) -> None:
        if system.dimension == self.dimension and state.updates >= self.after:
            FAILURES[self.how](state)

    def bound(self, facts: Facts) -> Bound:
        return Perceptron().bound(facts)


def not_at_all(state: State) -> None:
    pass


def error(state: State) -> None:
    raise RuntimeError("something\nbroke")


def missing_program(state: State) -> None:
    raise MissingProgramError("plab-ghost", "is not on PATH", "install it")


def memory(state: State) -> None:
    raise MemoryError


def interrupt(state: State) -> None:
    raise KeyboardInterrupt


def die(state: State) -> None:
    os._exit(7)


def leave(state: State) -> None:
    raise SystemExit(3)


def segfault(state: State, depth: int = 100) -> None:
    """Crash below so many frames, which are all that a traceback of a crash shows."""
    if depth > 0:
        segfault(state, depth - 1)
    ctypes.string_at(0)


def spin(state: State) -> None:
    """Never end; other processes need the time of the processor."""
    while True:
        time.sleep(0.01)


def spin_compiled(state: State) -> None:
    """A loop outside Python's own, which lets no other thread run and sees no signal."""
    deque(repeat(0), maxlen=0)


def spin_deaf(state: State) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    spin(state)


def hoard(state: State) -> None:
    hoarded = []
    while True:
        hoarded.append(np.ones(1_000_000))


def last_words(state: State) -> None:
    os.write(1, b"out: on my way\n")
    os.write(2, b"err: \x1b[31mno way\x1b[0m \xff\x00 back\n")
    os._exit(4)


def allocation_fails(state: State) -> None:
    os.write(2, b"memory allocation of 800 bytes failed\n")
    os.abort()


def kill_itself(state: State) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def terminate_itself(state: State) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def leave_child(state: State) -> None:
    child = subprocess.Popen(["sleep", "600"])
    os.write(2, b"%d\n" % child.pid)
    child.returncode = 0  # it is forgotten, not waited for


def spin_with_child(state: State) -> None:
    leave_child(state)
    spin(state)


def leave_daemon(state: State) -> None:
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    os.write(2, b"%d\n" % child.pid)
    child.returncode = 0


def close_files(state: State) -> None:
    os.closerange(3, 256)


def babble(state: State) -> None:
    for _ in range(1000):
        os.write(1, b"blah " * 10_000 + b"\n")
    os.write(1, b"the end\n")


def sockets() -> list[int]:
    handles = []
    for handle in range(3, 256):
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(handle).st_mode):
                handles.append(handle)
    return handles


def say(message: bytes) -> None:
    for handle in sockets():
        os.write(handle, message)


def send_rubbish(state: State) -> None:
    say(b"\xff\x00 no message\n")
    spin(state)


def send_foreign_record(state: State) -> None:
    say(b'{"kind": "record", "record": {"updates": "many"}}\n')
    spin(state)


def send_without_end(state: State) -> None:
    say(b"x" * 100_000)
    spin(state)


def send_half(state: State) -> None:
    say(b'{"kind": "do')
    os._exit(0)


def lie(state: State) -> None:
    say(b'{"kind": "done", "size": 12345}\n')
    os._exit(0)


def bulky(state: State) -> None:
    state.notes = {"bulk": np.arange(5_000_000)}  # type: ignore[assignment]


def unpicklable(state: State) -> None:
    state.notes = {"lock": threading.Lock()}  # type: ignore[assignment]


FAILURES: dict[str, Callable[[State], None]] = {
    "not": not_at_all,
    "error": error,
    "missing-program": missing_program,
    "memory": memory,
    "interrupt": interrupt,
    "die": die,
    "leave": leave,
    "segfault": segfault,
    "spin": spin,
    "spin-compiled": spin_compiled,
    "spin-deaf": spin_deaf,
    "hoard": hoard,
    "last-words": last_words,
    "allocation-fails": allocation_fails,
    "kill-itself": kill_itself,
    "terminate-itself": terminate_itself,
    "leave-child": leave_child,
    "spin-with-child": spin_with_child,
    "leave-daemon": leave_daemon,
    "close-files": close_files,
    "babble": babble,
    "send-rubbish": send_rubbish,
    "send-foreign-record": send_foreign_record,
    "send-without-end": send_without_end,
    "send-half": send_half,
    "lie": lie,
    "bulky": bulky,
    "unpicklable": unpicklable,
}
"""What an algorithm may do wrong, by name."""
