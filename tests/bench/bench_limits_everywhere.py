"""How well time limits hold: problems of all kinds that need far longer than 1, 2 or 5 seconds.

``python -m tests.bench.bench_limits_everywhere [NAME ...]``. Each run has a process of its own, in
which modules, kernels and data are loaded and a small problem of the same kind is solved before the
clock starts. A run must end after its limit + 1 s + 20 % at the latest. Processor time is that of
the run and of the processes it started: on a busy machine it tells whose seconds were used. The
longest step is the most processor time of the run between two looks at the clock.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, maximum_support, optimum, separation, solve
from perceptron_lab.core.time_limit import time_limit
from perceptron_lab.numerics.compiled.kernel import load_kernels

LIMITS = (1.0, 2.0, 5.0)
HANGS = 120.0  # Seconds after which a run is ended from outside
MODULES = (
    "perceptron_lab.algorithms.linear.linear_result",
    "perceptron_lab.problems.optima.optimum",
    "perceptron_lab.problems.separation.separation",
    "perceptron_lab.problems.separation.maximum_support",
    "perceptron_lab.problems.ellipsoids.hard.interior_point",
    "perceptron_lab.estimators",
    "perceptron_lab.algorithms.external.direct",
)

Run = Callable[[float], Any]


@dataclass(frozen=True)
class Case:
    """A problem: its data by a size, so that a small one warms up, and how it is solved."""

    build: Callable[[np.random.Generator, float], Any]
    run: Callable[[Any, float], Any]


def gaussian(rows: int, width: int, *, sparse: float = 0.0, labels: str = "random") -> Any:
    """Return a function that draws examples and labels."""

    def build(rng: np.random.Generator, share: float) -> Any:
        m, n = max(12, int(rows * share)), max(3, int(width * share))
        X: Any = rng.standard_normal((m, n))
        if sparse:
            X = sp.csr_array(sp.random_array((m, n), density=sparse, rng=rng))
        plane = np.asarray(X @ rng.standard_normal(n))
        noise = {"random": np.inf, "separable": 0.0, "thin": 1e-9}[labels]
        y = rng.choice([-1, 1], m) if noise == np.inf else np.where(plane > noise, 1, -1)
        y[:2] = 1, -1
        return X, y

    return build


def equations(rows: int, width: int, *, feasible: bool) -> Any:
    def build(rng: np.random.Generator, share: float) -> ConicSystem:
        m, n = max(3, int(rows * share)), max(5, int(width * share))
        A = rng.standard_normal((m, n)).round(3)
        right = A @ rng.random(n).round(3) if feasible else rng.standard_normal(m)
        return ConicSystem.from_linear(np.zeros((0, n)), [], (A, right.round(6)), lower=0)

    return build


def inequalities(rows: int, width: int) -> Any:
    def build(rng: np.random.Generator, share: float) -> ConicSystem:
        m, n = max(3, int(rows * share)), max(5, int(width * share))
        A = rng.standard_normal((m, n)).round(3)
        return ConicSystem.from_linear(A, (A @ rng.random(n)).round(3), lower=0, upper=1)

    return build


def quasi_separated(rows: int, width: int) -> Any:
    draw = gaussian(rows, width)

    def build(rng: np.random.Generator, share: float) -> Any:
        X, y = draw(rng, share)
        X[:, 0] = (y > 0) & (rng.random(len(y)) < 0.2)
        return X, y

    return build


def symmetric(order: int, density: float = 1.0) -> Any:
    def build(rng: np.random.Generator, share: float) -> Any:
        n = max(10, int(order * share))
        if density < 1.0:
            half = sp.csr_array(sp.random_array((n, n), density=density, rng=rng))
            return sp.csr_array(half + half.T)
        half = rng.standard_normal((n, n))
        return half + half.T

    return build


def semidefinite(order: int, variables: int) -> Any:
    """A program with an objective, not of MAXCUT's form."""

    def build(rng: np.random.Generator, share: float) -> ConicSystem:
        from perceptron_lab.systems.pencil import SdpaData, homogenised

        n, count = max(4, int(order * share)), max(3, int(variables * share))
        upper = np.column_stack(np.triu_indices(n))
        table, values = [], []
        for k in range(count + 1):
            entries = rng.standard_normal(len(upper))
            entries[upper[:, 0] == upper[:, 1]] -= 5.0 * n * (k == 0)
            table.append(np.column_stack([np.full((len(upper), 2), [k, 0]), upper]))
            values.append(entries)
        weights = np.array([v[upper[:, 0] == upper[:, 1]].sum() for v in values[1:]])
        data = SdpaData.from_entries(weights, [n], np.vstack(table), np.concatenate(values))
        return homogenised(data)

    return build


def shells(rows: int, width: int, outside: float) -> Any:
    def build(rng: np.random.Generator, share: float) -> Any:
        m, n = max(12, int(rows * share)), max(2, int(width * share))
        y = np.arange(m) % 2
        return rng.standard_normal((m, n)) * np.where(y == 0, 1.0, outside)[:, None], y

    return build


def solved(algorithm: str, **options: Any) -> Callable[[Any, float], Any]:
    def run(data: Any, limit: float) -> Any:
        arguments = data if isinstance(data, tuple) else (data,)
        budget = Budget(updates=10**9, seconds=limit)
        return solve(*arguments, algorithm=algorithm, budget=budget, **options)

    return run


def fitted(name: str, **options: Any) -> Callable[[Any, float], Any]:
    def run(data: Any, limit: float) -> Any:
        kind = getattr(importlib.import_module("perceptron_lab.estimators"), name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = kind(max_seconds=limit, max_iter=10**9, **options).fit(*data)
        fields = [f"{k} {v}" for k, v in vars(model).items() if k in ("status_", "margin_bounds_")]
        return "; ".join(fields) or f"objective {getattr(model, 'objective_', '?')}"

    return run


def verdict(data: Any, limit: float) -> Any:
    verdict = separation(*data, max_seconds=limit)
    return f"{verdict.verdict}, {len(verdict.coefficients)} of {len(verdict.names)} classes"


def enclosed(data: Any, limit: float) -> Any:
    result = optimum(data, budget=Budget(updates=10**9, seconds=limit))
    return f"{result.status} [{result.optimum_lower}, {result.optimum_upper}]"


def separated(data: Any, limit: float) -> Any:
    from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation

    X, y = data
    return maximal_separation(X[y == 0], X[y == 1], max_seconds=limit, max_iterations=10**6)


def supported(data: Any, limit: float) -> Any:
    return maximum_support(data[0], max_seconds=limit)


WIDE, TALL = gaussian(300, 569), gaussian(2000, 200)
CASES: dict[str, Case] = {
    "verdict 2000 x 200": Case(TALL, verdict),
    "verdict 300 x 569": Case(WIDE, verdict),
    "verdict 8000 x 600": Case(gaussian(8000, 600), verdict),
    "verdict quasi 1500 x 120": Case(quasi_separated(1500, 120), verdict),
    "verdict separable 2000 x 300": Case(gaussian(2000, 300, labels="separable"), verdict),
    "support 1500 x 200": Case(gaussian(1500, 200), supported),
    "support 400 x 300": Case(gaussian(400, 300), supported),
    "linear equations 400 x 600": Case(equations(400, 600, feasible=True), solved("auto")),
    "linear contradiction 300 x 450": Case(equations(300, 450, feasible=False), solved("auto")),
    "linear inequalities 500 x 400": Case(inequalities(500, 400), solved("auto")),
    "linear highs 300 x 450": Case(equations(300, 450, feasible=True), solved("highs")),
    "optimum dense 2000": Case(symmetric(2000), enclosed),
    "optimum sparse 20000": Case(symmetric(20000, 5e-4), enclosed),
    "optimum sdp 80 x 60": Case(semidefinite(80, 60), enclosed),
    "optimum sdp 200 x 100": Case(semidefinite(200, 100), enclosed),
    "ellipsoid 3000 x 40": Case(shells(3000, 40, 1.3), separated),
    "ellipsoid 2000 x 80": Case(shells(2000, 80, 2.0), separated),
    "auto rows 3000 x 1000": Case(gaussian(3000, 1000), solved("auto")),
    "auto sparse 1500 x 300": Case(gaussian(1500, 300, sparse=0.02), solved("auto")),
    "auto thin 20000 x 200": Case(gaussian(20000, 200, labels="thin"), solved("auto")),
    "geometric 2000 x 2000": Case(
        gaussian(2000, 2000, sparse=0.01), solved("auto", margin="geometric")
    ),
    "perceptron 20000 x 100": Case(gaussian(20000, 100), solved("perceptron")),
    "ellipsoid method 2000 x 300": Case(gaussian(2000, 300), solved("ellipsoid")),
    "minimum norm 5000 x 500": Case(gaussian(5000, 500), solved("minimum-norm-point")),
    **{
        f"{name} 3000 x 300": Case(gaussian(3000, 300), solved(name))
        for name in (
            "highs",
            "nnls",
            "clarabel",
            "scs",
            "clarabel-direct",
            "scs-direct",
            "svc",
            "linear-svc",
            "sgd",
            "sklearn-perceptron",
        )
    },
    "MaxMarginClassifier 3000 x 3000": Case(
        gaussian(3000, 3000, labels="separable"), fitted("MaxMarginClassifier", tol=1e-9)
    ),
    "MaxMarginClassifier overlap": Case(gaussian(4000, 400), fitted("MaxMarginClassifier")),
    "RescaledPerceptronClassifier": Case(
        gaussian(4000, 400), fitted("RescaledPerceptronClassifier")
    ),
    "EllipsoidMethodClassifier": Case(gaussian(2000, 200), fitted("EllipsoidMethodClassifier")),
    "EllipsoidSeparationClassifier": Case(
        shells(3000, 40, 1.3), fitted("EllipsoidSeparationClassifier")
    ),
    "SoftEllipsoidClassifier": Case(
        shells(20000, 200, 1.1), fitted("SoftEllipsoidClassifier", rank=20, tol=1e-300)
    ),
    "MaxMarginClassifier kernel": Case(
        gaussian(3000, 20), fitted("MaxMarginClassifier", kernel="rbf")
    ),
}


def run(name: str, limit: float) -> None:
    """Run a case here and print what it took."""
    case = CASES[name]
    for module in MODULES:
        importlib.import_module(module)
    load_kernels()
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case.run(case.build(rng, 0.01), 30.0)
        data = case.build(rng, 1.0)
        before, clock, steps = _processor_seconds(), time.perf_counter(), Steps()
        with time_limit(math.inf, steps):
            outcome = case.run(data, limit)
        wall = time.perf_counter() - clock
        steps()
    text = " ".join(str(outcome).split())[:150]
    record = {"wall": wall, "cpu": _processor_seconds() - before, "found": text}
    record |= {"step": steps.longest, "where": steps.where}
    print(json.dumps(record))


@dataclass
class Steps:
    """A flag that is never set, and sees the most processor time between two looks at it."""

    last: float = field(default_factory=time.process_time)
    longest: float = 0.0
    where: str = ""

    def __call__(self) -> None:
        """Look."""
        now = time.process_time()
        if now - self.last > self.longest:
            frame = next(f for f in inspect.stack()[1:] if "time_limit" not in f.filename)
            self.longest = now - self.last
            self.where = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
        self.last = time.process_time()


def _processor_seconds() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


def main(names: list[str]) -> None:
    """Run all cases, each with one of the limits in turn, and print a line each."""
    late = 0
    for k, name in enumerate(names or CASES):
        limit = LIMITS[k % len(LIMITS)]
        command = [sys.executable, "-m", __spec__.name, "--run", name, str(limit)]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=HANGS)
        except subprocess.TimeoutExpired:
            print(f"LATE  {name}: limit {limit:g} s, not ended after {HANGS:g} s", flush=True)
            late += 1
            continue
        if ended.returncode:
            print(f"ERROR {name}: {ended.stderr.strip().splitlines()[-1:]}", flush=True)
            continue
        record = json.loads(ended.stdout.splitlines()[-1])
        over = record["wall"] > 1.2 * limit + 1.0
        late += over
        print(
            f"{'LATE ' if over else 'ok   '} {name}: limit {limit:g} s, wall {record['wall']:.2f} "
            f"s, cpu {record['cpu']:.2f} s, longest step {record['step']:.2f} s before "
            f"{record['where']}; {record['found']}",
            flush=True,
        )
    print(f"{late} of {len(names or CASES)} later than their limit + 1 s + 20 %")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(sys.argv[2], float(sys.argv[3]))
    else:
        main(sys.argv[1:])
