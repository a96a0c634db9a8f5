"""What the packages that are installed weigh: `python -m tests.docs.weights` prints a table."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
DEPENDENCIES = [Requirement(text).name for text in PROJECT["dependencies"]]


def megabytes(name: str) -> float:
    """Return the size of a package's files as installed, without compiled bytecode."""
    files = metadata.distribution(name).files or ()
    paths = [Path(str(file.locate())) for file in files if file.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def brought(name: str) -> Iterator[str]:
    """Yield the packages that a package requires here, and those that these require."""
    for text in metadata.requires(name) or ():
        expected = Requirement(text)
        if expected.marker is None or expected.marker.evaluate({"extra": ""}):
            yield canonicalize_name(expected.name)
            yield from brought(expected.name)


def weights() -> dict[str, float]:
    """Return the size of each dependency with all that no other dependency brings."""
    all_of = {name: {name, *brought(name)} for name in DEPENDENCIES}
    return {
        name: sum(
            megabytes(part)
            for part in parts
            if part == name or not any(part in all_of[other] for other in all_of if other != name)
        )
        for name, parts in all_of.items()
    }


if __name__ == "__main__":
    for package, size in weights().items():
        sys.stdout.write(f"| {package} | {metadata.version(package)} | {size:.1f} |\n")
