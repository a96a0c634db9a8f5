"""The factors: what a run of the suite changes of the processor, one thing at a time.

OpenBLAS ignores names of kernels that it does not know, and numpy warns at most about instruction
sets that it cannot switch off. So each factor says how it is asked for, what the processor lacks
for it, and, in the process that was asked, whether it is in force.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tests.processors.processor import Processor

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
VARIABLES = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "NUMBA_CPU_NAME", *THREADS)
"""What factors are asked for by; every other factor leaves them unset."""


class Factor(Protocol):
    """One thing that is changed."""

    def environment(self, processor: Processor) -> dict[str, str]:
        """Return the variables that ask for it, given what the machine runs on unasked."""

    def lacking(self, processor: Processor) -> str:
        """Return what the machine lacks for it, or nothing."""

    def amiss(self, now: Processor) -> str:
        """Return what is in force instead of it, or nothing."""


@dataclass(frozen=True)
class Kernel:
    """OpenBLAS's kernels for a family of processors, in every copy of OpenBLAS.

    Parameters
    ----------
    name
        By which OpenBLAS is asked for them.
    reported
        The names by which OpenBLAS reports them: kernels that serve two families have two.
    needs
        The instruction sets that they use, as numpy calls them.
    """

    name: str
    reported: tuple[str, ...]
    needs: tuple[str, ...]

    def environment(self, processor: Processor) -> dict[str, str]:
        """Name the kernels."""
        return {"OPENBLAS_CORETYPE": self.name}

    def lacking(self, processor: Processor) -> str:
        """Return the instruction sets, or the OpenBLAS, that are not there."""
        if not processor.kernels:
            return "numpy and scipy come without OpenBLAS"
        missing = [feature for feature in self.needs if not processor.has(feature)]
        return f"the processor lacks {' '.join(missing)}" if missing else ""

    def amiss(self, now: Processor) -> str:
        """Return the copies of OpenBLAS with other kernels."""
        unreported = {c: kernel for c, kernel in now.kernels.items() if kernel not in self.reported}
        return ", ".join(f"{c} uses {kernel}" for c, kernel in sorted(unreported.items()))


@dataclass(frozen=True)
class Baseline:
    """numpy without the instruction sets that it chooses by the processor."""

    def environment(self, processor: Processor) -> dict[str, str]:
        """Name those that are in use: numpy warns of others."""
        return {"NPY_DISABLE_CPU_FEATURES": " ".join(filter(processor.has, processor.dispatched))}

    def lacking(self, processor: Processor) -> str:
        """Return that there is nothing to switch off."""
        return (
            ""
            if any(map(processor.has, processor.dispatched))
            else "numpy uses its baseline anyway"
        )

    def amiss(self, now: Processor) -> str:
        """Return those in use."""
        dispatched = " ".join(filter(now.has, now.dispatched))
        return f"numpy uses {dispatched}" if dispatched else ""


@dataclass(frozen=True)
class Target:
    """The CPU that numba compiles for."""

    name: str

    def environment(self, processor: Processor) -> dict[str, str]:
        """Name it."""
        return {"NUMBA_CPU_NAME": self.name}

    def lacking(self, processor: Processor) -> str:
        """Return nothing: every processor of the family runs it."""
        return ""

    def amiss(self, now: Processor) -> str:
        """Return another target."""
        return "" if now.target == self.name else f"numba compiles for {now.target}"


@dataclass(frozen=True)
class Threads:
    """The number of threads of every copy of OpenBLAS."""

    count: int

    def environment(self, processor: Processor) -> dict[str, str]:
        """Give the number."""
        return dict.fromkeys(THREADS, str(self.count))

    def lacking(self, processor: Processor) -> str:
        """Return that there are fewer cores: OpenBLAS takes no more threads than those."""
        cores = os.cpu_count() or 1
        return "" if self.count <= cores else f"the machine has {cores} core"

    def amiss(self, now: Processor) -> str:
        """Return the copies with another number."""
        different = {c: count for c, count in now.threads.items() if count != self.count}
        return ", ".join(f"{c} has {count}" for c, count in sorted(different.items()))


FACTORS: Mapping[str, Factor] = {
    "Prescott": Kernel("Prescott", ("Prescott", "Katmai"), ("SSE3",)),
    "Nehalem": Kernel("Nehalem", ("Nehalem",), ("SSE42",)),
    "Sandybridge": Kernel("Sandybridge", ("Sandybridge",), ("AVX",)),
    "Haswell": Kernel("Haswell", ("Haswell",), ("AVX2", "FMA3")),
    "SkylakeX": Kernel("SkylakeX", ("SkylakeX",), ("AVX512F", "AVX512DQ", "AVX512VL")),
    "numpy-baseline": Baseline(),
    "numba-generic": Target("generic"),
    "one-thread": Threads(1),
    "two-threads": Threads(2),
}


def another_kernel(processor: Processor) -> str | None:
    """Return the first kernel of the table that the machine has and does not use unasked."""
    kernels = (name for name, factor in FACTORS.items() if isinstance(factor, Kernel))
    usable = (name for name in kernels if not FACTORS[name].lacking(processor))
    return next((name for name in usable if FACTORS[name].amiss(processor)), None)
