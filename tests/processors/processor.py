"""What numerical code runs on in this process: BLAS kernels and threads, numpy's and numba's CPU.

`python -m tests.processors.processor` prints it as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Processor:
    """What is in force.

    Parameters
    ----------
    kernels
        Each copy of OpenBLAS (numpy's and scipy's) -> the kernels that it uses.
    threads
        Each copy of OpenBLAS -> the number of its threads.
    features
        Every instruction set that numpy knows -> whether numpy may use it.
    dispatched
        Those of them for which numpy has code of its own.
    target
        The CPU that numba compiles for.
    """

    kernels: Mapping[str, str]
    threads: Mapping[str, int]
    features: Mapping[str, bool]
    dispatched: tuple[str, ...]
    target: str

    def has(self, feature: str) -> bool:
        """Return whether numpy may use an instruction set."""
        return self.features.get(feature, False)

    def __str__(self) -> str:
        kernels = ", ".join(f"{copy} {kernel}" for copy, kernel in sorted(self.kernels.items()))
        threads = "/".join(str(count) for count in self.threads.values())
        numpy = " ".join(filter(self.has, self.dispatched)) or "its baseline only"
        return f"OpenBLAS: {kernels}; threads {threads}; numpy: {numpy}; numba: {self.target}"


def in_force() -> Processor:
    """Return what this process runs on."""
    import scipy.linalg  # noqa: F401  scipy's OpenBLAS is looked for below, and loaded here
    from numba.core.registry import cpu_target
    from threadpoolctl import threadpool_info

    numpy: Any = import_module("numpy._core._multiarray_umath")
    copies = {
        Path(library["filepath"]).parent.name: library
        for library in threadpool_info()
        if library["internal_api"] == "openblas"
    }
    return Processor(
        kernels={name: library["architecture"] for name, library in copies.items()},
        threads={name: library["num_threads"] for name, library in copies.items()},
        features=dict(numpy.__cpu_features__),
        dispatched=tuple(numpy.__cpu_dispatch__),
        target=cpu_target.target_context.codegen().magic_tuple()[1],
    )


def in_force_under(environment: Mapping[str, str]) -> Processor:
    """Return what a new process with this environment runs on."""
    command = [sys.executable, "-m", "tests.processors.processor"]
    completed = subprocess.run(command, env=dict(environment), stdout=subprocess.PIPE, check=True)
    return Processor(**json.loads(completed.stdout))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(in_force())))
