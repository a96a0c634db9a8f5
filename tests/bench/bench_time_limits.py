"""Not collected by default: ``python -m tests.bench.bench_time_limits [SECONDS [WORDS ...]]``.

Every registered algorithm on large systems of every kind, with a limit that is far too short for
them: limit, wall and processor seconds, status and bracket, and a mark where the run took longer
than its limit + 1 s + 20 %. Words choose systems and algorithms: ``kernel auto ellipsoid``.

The clock of the runs is that of the processor (``--wall``: the usual one), so that others who use
the machine change nothing; BLAS should have one thread then. A run has a process of its own. One
that is overdue prints where it is, and one that takes eight times as long as it may is killed.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.kernels import Rbf
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core import registry, time_limit
from perceptron_lab.core.errors import PlabError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.numerics.compiled.kernel import load_kernels
from perceptron_lab.solving import driver, recording
from perceptron_lab.solving.driver import drive
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import homogenised

EXTERNAL = (
    "clarabel",
    "scs",
    "ecos",
    "csdp",
    "sdpa",
    "dsdp5",
    "svc",
    "sgd",
    "nnls",
    "highs",
    "qsopt-ex",
    "soplex",
)


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def _ill_scaled(density: float) -> FloatArray:
    """Return 1500 x 300 numbers in columns scaled by 2^-40 to 2^40."""
    rng = _rng()
    rows = rng.standard_normal((1500, 300)) * (rng.random((1500, 300)) < density)
    rows[np.arange(1500), np.arange(1500) % 300] = rng.standard_normal(1500)
    return np.asarray(rows * 2.0 ** rng.integers(-40, 41, 300))


def _thin(count: int, dimension: int, margin: float) -> FloatArray:
    """Return unit rows that one direction separates by a margin."""
    rng = _rng()
    rows = rng.standard_normal((count, dimension))
    rows[:, 0] = 0.0
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    rows[:, 0] = margin * (1.0 + rng.random(count))
    rotation = np.linalg.qr(rng.standard_normal((dimension, dimension)))[0]
    return np.asarray(rows @ rotation)


def _overlapping(count: int, dimension: int, density: float) -> tuple[Any, FloatArray]:
    rng = _rng()
    examples = sp.random_array((count, dimension), density=density, rng=rng, format="csr")
    return examples, np.where(rng.random(count) < 0.5, 1.0, -1.0)


def _signed_noise() -> Any:
    """Return 30000 x 10000 numbers of both signs, of density 0.2 %."""
    rows = _overlapping(30_000, 10_000, 0.002)[0]
    rows.data -= 0.5
    return rows


def _circle(count: int) -> tuple[FloatArray, FloatArray]:
    examples = _rng().standard_normal((count, 5))
    return examples, np.where(np.sin(3.0 * examples.sum(axis=1)) > 0.0, 1.0, -1.0)


def _matrices(order: int) -> Semidefinite:
    """Return the cone of whole matrices."""
    return Semidefinite(order, *np.triu_indices(order))


def _conic(cone: Cone, unknowns: int, slope: float) -> ConicSystem:
    """Return a system that the first unknown satisfies by a slope, up to symmetric noise."""
    rng = _rng()
    columns = rng.standard_normal((cone.size, unknowns))
    columns[:, 0] = slope * cone.identity
    return ConicSystem(Matrix(columns), cone)


SYSTEMS: dict[str, Callable[[], ConicSystem]] = {
    "rows": lambda: ConicSystem.from_rows(_rng().standard_normal((4000, 1500))),
    "thin": lambda: ConicSystem.from_rows(_thin(40_000, 300, 1e-9)),
    "many": lambda: ConicSystem.from_rows(_thin(1_000_000, 30, 1e-9)),
    "ill-sparse": lambda: ConicSystem.from_rows(sp.csr_array(_ill_scaled(0.02))),
    "ill-dense": lambda: ConicSystem.from_rows(_ill_scaled(1.0)),
    "sparse": lambda: ConicSystem.from_rows(_signed_noise()),
    "unit": lambda: ConicSystem.from_labelled(*_overlapping(5000, 1000, 0.05)),
    "directional": lambda: ConicSystem.from_labelled(
        *_overlapping(5000, 1000, 0.05), margin="directional"
    ),
    "geometric": lambda: ConicSystem.from_labelled(
        *_overlapping(2000, 2000, 0.02), margin="geometric"
    ),
    "geometric-dense": lambda: ConicSystem.from_labelled(
        _thin(6000, 1000, 1e-9), _overlapping(6000, 2, 0.5)[1], margin="geometric"
    ),
    "kernel": lambda: ConicSystem.from_kernel(Rbf(), *_circle(3000)),
    "second-order": lambda: _conic(Product([SecondOrder(40)] * 100), 800, 1e-7),
    "second-order-large": lambda: _conic(Product([SecondOrder(20_000)] * 2), 400, 1e-7),
    "semidefinite": lambda: _conic(_matrices(100), 400, 1e-7),
    "semidefinite-large": lambda: _conic(_matrices(250), 60, 1e-7),
    "maxcut": lambda: homogenised(generate("random-1500-10000", seed=5)),
    "product": lambda: _conic(
        Product([Orthant(2000), SecondOrder(500), _matrices(60), _matrices(30)]), 300, 1e-7
    ),
}


def of_processor() -> None:
    """Let limits and budgets be seconds of the processor."""
    clock = SimpleNamespace(monotonic=time.process_time, perf_counter=time.process_time)
    for module in (driver, recording, time_limit):
        module.time = clock  # type: ignore[attr-defined]


def run(system: ConicSystem, name: str, limit: float, answers: Connection) -> None:
    """Send wall and processor seconds, status, margin bounds and message of a run."""
    algorithm = registry.load("algorithm", name)()
    load_kernels()
    allowed = 1.0 + 1.2 * limit
    began = time.process_time()
    faulthandler.register(signal.SIGPROF)
    signal.setitimer(signal.ITIMER_PROF, allowed, allowed)
    killed = int(began + 8.0 * allowed) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (killed, killed))
    budget = Budget(updates=10**15, seconds=limit)
    wall, processor = time.perf_counter(), time.process_time()
    try:
        result = drive(system, algorithm, RunOptions(budget=budget))
    except PlabError as error:
        answers.send((0.0, 0.0, "REFUSED", None, None, str(error)))
        return
    elapsed = time.perf_counter() - wall, time.process_time() - processor
    bounds = result.margin_lower, result.margin_upper
    answers.send((*elapsed, str(result.status), *bounds, result.message))


def measure(system: ConicSystem, name: str, limit: float) -> tuple[object, ...]:
    """Return what :func:`run` sends, from a process of its own."""
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=run, args=(system, name, limit, sending))
    process.start()
    sending.close()
    try:
        return tuple(receiving.recv())
    except EOFError:
        return (np.inf, np.inf, "KILLED", None, None, "")
    finally:
        process.join()


def main(seconds: float, words: list[str]) -> None:
    """Print one line per run."""
    names = [name for name in registry.names("algorithm") if not name.startswith(EXTERNAL)]
    systems = [word for word in words if word in SYSTEMS] or list(SYSTEMS)
    algorithms = [word for word in words if word not in SYSTEMS] or names
    for name in algorithms:
        registry.load("algorithm", name)
    load_kernels()
    for kind in systems:
        system = SYSTEMS[kind]()
        for name in algorithms:
            wall, processor, status, lower, upper, message = measure(system, name, seconds)
            late = (
                "LATE" if min(float(str(wall)), float(str(processor))) > 1.0 + 1.2 * seconds else ""
            )
            print(
                f"{late:4s} {kind:18s} {name:34s} {seconds:g} {wall:7.2f} {processor:7.2f} "
                f"{status} [{lower}, {upper}] {str(message)[:60]}",
                flush=True,
            )


if __name__ == "__main__":
    arguments = [word for word in sys.argv[1:] if word != "--wall"]
    if arguments == sys.argv[1:]:
        of_processor()
    main(float(arguments[0]) if arguments else 1.0, arguments[1:])
