"""The suite under each factor, one at a time: `python -m tests.processors.run --help`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

from tests.processors.factors import FACTORS, VARIABLES, another_kernel
from tests.processors.processor import Processor, in_force_under

OTHER = "other"
NUMERICAL = (
    *("tests/theorems", "tests/conformance", "tests/certificates", "tests/numerics", "tests/cones"),
    *("tests/algorithms/external", "tests/problems/ellipsoids", "tests/estimators"),
    *("tests/reporting", "tests/datasets"),
)
"""The folders whose tests compute."""

_EPILOG = f"""factors: {", ".join(FACTORS)}; "{OTHER}" is the first kernel of OpenBLAS that the
machine does not use of itself. A kernel that the processor lacks is left out, and said to be."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run pytest under each factor; return 1 if it failed under one of them, else 0."""
    factors, tests = _parsed(arguments)
    unasked = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    processor = in_force_under(unasked)
    _print(f"unasked: {processor}")
    selected = [(another_kernel(processor) or OTHER) if name == OTHER else name for name in factors]
    outcomes = {name: _outcome(name, processor, unasked, tests) for name in selected}
    for name, outcome in outcomes.items():
        _print(f"{name}: {outcome}")
    return int(any(outcome.startswith("FAILED") for outcome in outcomes.values()))


def _parsed(arguments: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Return the names of factors, and the arguments for pytest."""
    parser = argparse.ArgumentParser(prog="python -m tests.processors.run", epilog=_EPILOG)
    parser.add_argument("--factors", default=" ".join(FACTORS), help="names (default: all)")
    parser.add_argument("--numerical", action="store_true", help="only the folders that compute")
    parser.add_argument("tests", nargs="*", help="arguments for pytest, after --")
    options = parser.parse_args(arguments)
    names = options.factors.split()
    unknown = [name for name in names if name not in (*FACTORS, OTHER)]
    if unknown or not names:
        received = " ".join(unknown) or "nothing"
        parser.error(f"--factors received {received}; allowed: {', '.join(FACTORS)}, {OTHER}")
    return names, [*options.tests, *(NUMERICAL if options.numerical else ())]


def _outcome(
    name: str, processor: Processor, unasked: Mapping[str, str], tests: Sequence[str]
) -> str:
    """Run pytest under a factor, which must be in force; say how it ended."""
    if name == OTHER:
        return "skipped, no other kernel of OpenBLAS runs on this machine"
    factor = FACTORS[name]
    lacking = factor.lacking(processor)
    if lacking:
        return f"skipped, {lacking}"
    _print(f"{name} ...")
    command = [sys.executable, "-m", "pytest", "-p", "tests.processors.plugin"]
    environment = {**unasked, **factor.environment(processor)}
    code = subprocess.run([*command, "--processor", name, *tests], env=environment).returncode
    return "passed" if code == 0 else f"FAILED, pytest ended with {code}"


def _print(line: str) -> None:
    sys.stdout.write(f"processors: {line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
