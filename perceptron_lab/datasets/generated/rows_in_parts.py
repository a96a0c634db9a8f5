"""Generated rows in parts, none of which is ever stored: each is made where it is read."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from perceptron_lab.cones.operators.row_parts import RowParts
from perceptron_lab.cones.operators.row_source import (
    LEAST_MEMORY,
    MEMORY,
    Dense,
    RowSource,
    cached_step,
    in_order,
)
from perceptron_lab.core.claims import UNPROVED
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import FloatArray, IntArray, Result
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.datasets.generated.generator import (
    GeneratedDataset,
    one_thread,
    plain,
    seed_sequence,
)
from perceptron_lab.datasets.problem import Problem, sha256_of_arrays
from perceptron_lab.datasets.regular_files import check_generated
from perceptron_lab.systems import ConicSystem, System
from perceptron_lab.systems.parted_system import PartedSystem
from perceptron_lab.systems.system import Loop

# Rows generated from one seed; another number would change the rows
_BLOCK = 2**16


class GeneratedPart(RowSource):
    """One part of generated rows, in single precision; it is made of two numbers and a direction.

    With x_j uniform in [-c_j, c_j], c_j falling from 1 to 1/10, a direction s in {-1, 1}^n and
    t = <s, x>, a row is sign(t) x + gap s. Each block of 65536 rows has its own seed.

    Parameters
    ----------
    entropy
        Seed of all parts.
    number, count
        The number of the part, and its rows.
    direction
        s, shape ``(n,)``.
    gap
        > 0.
    memory
        See :class:`~perceptron_lab.cones.operators.row_source.RowSource`.
    """

    def __init__(
        self,
        entropy: Sequence[int],
        number: int,
        count: int,
        direction: Dense,
        gap: float,
        memory: int = MEMORY,
    ) -> None:
        super().__init__((count, len(direction)), np.float32, memory)
        self.name = f"part {number} of generated rows"
        self._entropy, self._number = list(entropy), number
        self._direction, self._gap = direction.astype(np.float32), gap

    def blocks(self) -> Iterator[tuple[slice, Dense]]:
        """Yield consecutive rows, generated again."""
        for start in range(0, self.shape[0], _BLOCK):
            rows = self._block(start // _BLOCK)
            step = cached_step(self.step, self.shape[1])
            for first in range(0, len(rows), step):
                piece = rows[first : first + step]
                yield slice(start + first, start + first + len(piece)), piece

    def __getitem__(self, indices: IntArray) -> Dense:
        """Return the rows at the indices, in this order; only their blocks are generated."""
        return in_order(indices, self._increasing)

    def _increasing(self, indices: IntArray) -> Dense:
        rows = np.empty((len(indices), self.shape[1]), np.float32)
        numbers = indices // _BLOCK
        for number in np.unique(numbers).tolist():
            inside = numbers == number
            rows[inside] = self._block(number)[indices[inside] - number * _BLOCK]
        return rows

    def _block(self, number: int) -> Dense:
        """Return the rows of a block."""
        count = min(_BLOCK, self.shape[0] - number * _BLOCK)
        source = np.random.SeedSequence(self._entropy, spawn_key=(self._number, number))
        rng = np.random.Generator(np.random.SFC64(source))
        rows = rng.random((count, self.shape[1]), dtype=np.float32)
        scales = scales_of(self.shape[1]).astype(np.float32)
        rows *= 2 * scales
        rows -= scales
        with one_thread():
            scores = rows @ self._direction
        rows *= np.copysign(np.float32(1), scores)[:, None]
        rows += np.float32(self._gap) * self._direction
        return rows


def scales_of(dimension: int) -> FloatArray:
    """Return c, by which the mean of the rows is none of the points with a large margin."""
    return np.linspace(1.0, 0.1, dimension)


@dataclass(frozen=True)
class PartsOnWorkers(PartedSystem):
    """A parted system whose passes are made by processes of a cluster on this machine.

    A result has the number of passes, the CPU seconds of all workers during the run and the largest
    memory of a worker in bytes, by the names ``claimed_passes``, ``claimed_worker_seconds`` and
    ``claimed_worker_memory`` among the figures of its certificate.

    Parameters
    ----------
    workers
        Their number; they run as long as the algorithm does.
    """

    workers: int = 1

    def driven(self, algorithm: Any, options: RunOptions, loop: Loop) -> Result:
        """Start the workers, and run the algorithm with them."""
        import distributed

        dask: Any = distributed  # whose classes have no types
        ports = {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
        with (
            dask.LocalCluster(n_workers=self.workers, threads_per_worker=1, **ports) as cluster,
            dask.Client(cluster) as client,
        ):
            client.wait_for_workers(self.workers)
            before = client.run(usage)  # which also imports this package
            result = super().driven(algorithm, options, loop)
            after = client.run(usage)
        figures = {
            **bytes_per_pass(self.rows.shape),
            f"{UNPROVED}passes": result.certificate["passes"],
            f"{UNPROVED}worker_seconds": sum(after[name][0] - before[name][0] for name in after),
            f"{UNPROVED}worker_memory": max(memory for _, memory in after.values()),
        }
        return replace(result, certificate=result.certificate | {"figures": figures})


def bytes_per_pass(shape: tuple[int, int]) -> dict[str, float]:
    """Return the bytes of all rows in single precision, by name."""
    return {"bytes_per_pass": 4.0 * shape[0] * shape[1]}


def usage() -> tuple[float, int]:
    """Return the CPU seconds of this process and its largest memory so far, in bytes."""
    import resource

    totals = resource.getrusage(resource.RUSAGE_SELF)
    unit = 1 if sys.platform == "darwin" else 1024
    return totals.ru_utime + totals.ru_stime, totals.ru_maxrss * unit


@parameter_record
class RowsInParts(GeneratedDataset):
    """Rows in parts that are generated where they are read, and never stored; one instance.

    Find y with a_i'y > 0 for all rows a_i = sign(<s, x_i>) x_i + gap s, with the entries of x_i
    uniform in [-c_j, c_j], c_j falling from 1 to 1/10, and a direction s in {-1, 1}^n. As
    <s, a_i> >= gap n and norm(a_i) <= norm(c + gap), the unit margin is gap sqrt(n) / norm(c + gap)
    or more, up to rounding to single precision. Each part is
    determined by the instance's name, the seed and its number, so that a worker needs no file, and
    can generate a part again after a failure of another one.

    Parameters
    ----------
    rows
        Number of rows, 1 to 1000000000 (default 1000000).
    dimension
        n, 2 to 1000 (default 20).
    gap
        0.001 to 1 (default 0.02).
    part_rows
        Rows of a part, 1 or more (default 1000000); the last part may have fewer.
    memory
        Bytes that a pass over a part may take, 1 MB or more (default 64 MB).
    workers
        Processes of dask that make the passes, of an algorithm on working sets of rows; 0 (default)
        for an algorithm on all rows in one process.
    """

    rows: Annotated[int, Field(ge=1, le=1_000_000_000)] = 1_000_000
    dimension: Annotated[int, Field(ge=2, le=1000)] = 20
    gap: Annotated[float, Field(ge=0.001, le=1)] = 0.02
    part_rows: Annotated[int, Field(ge=1)] = 1_000_000
    memory: Annotated[int, Field(ge=LEAST_MEMORY)] = MEMORY
    workers: Annotated[int, Field(ge=0, le=64)] = 0

    @property
    def name(self) -> str:
        """The instance's name, which contains the parameters that determine the rows."""
        return f"parts-{self.dimension}x{self.rows}-{plain(self.gap)}-{self.part_rows}"

    def parts(self, seed: int) -> list[GeneratedPart]:
        """Return the parts, nothing of which is generated yet."""
        entropy = [int(value) for value in seed_sequence(self.name, seed).generate_state(4)]
        rng = np.random.default_rng(entropy)
        direction = rng.choice(np.array([-1.0, 1.0], np.float32), self.dimension)
        counts = [
            min(self.part_rows, self.rows - start) for start in range(0, self.rows, self.part_rows)
        ]
        return [
            GeneratedPart(entropy, number, count, direction, self.gap, self.memory)
            for number, count in enumerate(counts)
        ]

    @property
    def margin(self) -> float:
        """A lower bound of the unit margin.

        Single precision changes a score by at most (1 + gap) n 2^-24 through the rounded entries,
        and by at most 2 n^2 2^-24 where the sign of <s, x> is not the computed one.
        """
        longest = float(np.linalg.norm(scales_of(self.dimension) + self.gap))
        score = self.gap - (2 * self.dimension + 8) * 2.0**-24
        return float(score * self.dimension**0.5 / longest * (1 - 2.0**-20))

    def problem(self, seed: int) -> Problem:
        """Return the instance; its sha256 is that of the first block of the first and last part."""
        check_generated(4 * self.rows * self.dimension, self.name)
        parts = self.parts(seed)
        rows = RowParts(parts, memory=self.memory)
        system: System = (
            PartsOnWorkers(rows, workers=self.workers)
            if self.workers
            else ConicSystem.from_rows(rows)
        )
        ends = (next(parts[number].blocks())[1] for number in (0, -1))
        sizes = np.array([self.rows, self.dimension, self.part_rows])
        sha256 = sha256_of_arrays(sizes, *ends)
        size = bytes_per_pass(rows.shape)
        return Problem(self.name, system, sha256, system.facts(self.margin), lambda point: size)
