"""Generated rows that are larger than memory: written to disk once, and read block by block.

Changes by another process during reading are not detected, nor is a changed file together with a
changed description: such rows have another sha256, and belong to other cells.
"""

from __future__ import annotations

import hashlib
import math
import shutil
import stat
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import BaseModel, Field, field_validator

from perceptron_lab.cones.operators.row_source import LEAST_MEMORY, MEMORY
from perceptron_lab.core.atomic_files import replace_file, replacing
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.refusals import STRICT, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.download.fetching import cache_folder
from perceptron_lab.datasets.formats.row_files import NumpyRows
from perceptron_lab.datasets.generated.generator import (
    GeneratedDataset,
    one_thread,
    plain,
    seed_sequence,
)
from perceptron_lab.datasets.generated.margin_sets import half_sphere, random_unit
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.datasets.regular_files import (
    check_generated,
    confined_folder,
    read_regular,
    sha256_of,
)
from perceptron_lab.systems import ConicSystem

_HASHES: dict[tuple[Path | int, ...], str] = {}
# Largest size of a description in bytes
_LONGEST = 2**16
# Entries generated from one seed; another number would change the rows
ENTRIES = 2**21


class Description(BaseModel):
    """Description of a file of rows, stored next to it when it is made."""

    model_config = STRICT
    sha256: str
    bytes: int
    margin: float | None

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Return the description of a file if it is complete and unchanged, or None."""
        try:
            content = read_regular(path.with_suffix(".json"), _LONGEST)
            description = cls.model_validate_json(content)
            status = path.stat()
        except (OSError, ValueError, DataError):
            return None
        if not stat.S_ISREG(status.st_mode) or description.bytes != status.st_size:
            return None
        # The file is hashed once per process, unless its size, times or inode change
        state = (path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        if state not in _HASHES:
            _HASHES[state] = sha256_of(path)
        return description if _HASHES[state] == description.sha256 else None


@parameter_record
class RowsOnDisk(GeneratedDataset):
    """Generated rows in single precision, written to a file on first use; one instance per entry.

    Find y with a_i'y > 0 for all rows a_i. ``reflected``: rows uniform on a half-sphere, flattened
    by the factor ``difficulty``, as in margin-sets; they are feasible, and a lower bound of the
    margin is known. The instance's name, as in ``reflected-1000x1000000-1``, and the seed determine
    the rows, which take 4 dimension x rows bytes on disk. The file is kept; delete it to have the
    room back. Before a process uses it for the first time, its sha256 is compared with the one
    stored next to it when it was made; a file that was changed is made again.

    Parameters
    ----------
    family
        reflected (default), the only one.
    dimension
        Number of unknowns, 2 to 100000 (default 1000).
    rows
        Number of rows, 1 or more (default 100000).
    difficulty
        > 0, at most 1000 (default 1); smaller is harder, 1 is the half-sphere.
    memory
        Bytes that a pass over the rows may take, 1 MB or more (default 64 MB).
    directory
        Folder of the file, relative to the configuration's; None (default): ``rows-on-disk`` in the
        cache of data files, as PLAB_DATA_DIR says.
    """

    family: Literal["reflected"] = "reflected"
    dimension: Annotated[int, Field(ge=2, le=100_000)] = 1000
    rows: Annotated[int, Field(ge=1, le=1_000_000_000)] = 100_000
    difficulty: Annotated[float, Field(gt=0, le=1000)] = 1.0
    memory: Annotated[int, Field(ge=LEAST_MEMORY)] = MEMORY
    directory: str | None = None

    @field_validator("directory")
    @classmethod
    def _without_nul(cls, folder: str | None) -> str | None:
        if folder and "\0" in folder:
            raise ValueError("a path cannot contain the character NUL; delete it")
        return folder

    @property
    def name(self) -> str:
        """The instance's name, which contains its parameters."""
        return f"{self.family}-{self.dimension}x{self.rows}-{plain(self.difficulty)}"

    def problem(self, seed: int, base: Path = Path()) -> Problem:
        """Return the instance; its file is made if it does not exist, relative to a folder."""
        file = self.path(seed, base)
        # A verification generates the rows itself, as it does not trust the folder of a
        # certificate.
        path = confined_folder(file.parent) / file.name
        description = Description.read(path)
        if description is None:
            try:
                description = self._write(seed, path)
            except OSError as error:
                raise DataError(
                    f"{path} cannot be written ({error.strerror}); set PLAB_DATA_DIR, or the "
                    "dataset's directory, to a folder that you may write to"
                ) from error
        system = ConicSystem.from_rows(NumpyRows(path, self.memory))
        return Problem(self.name, system, description.sha256, system.facts(description.margin))

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Return the instance, from its file."""
        self.check_name(name)
        return self.problem(seed, base)

    def path(self, seed: int, base: Path) -> Path:
        """Return the path of the instance's file, which need not exist yet."""
        directory = self.directory
        folder = cache_folder() / "rows-on-disk" if directory is None else base / directory
        return folder / f"{self.name}-seed{seed}.npy"

    def blocks(self, seed: int) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield blocks of rows, each from a separate seed, and the direction y*."""
        source = seed_sequence(self.name, seed)
        centre = random_unit(np.random.default_rng(source), self.dimension)
        step = max(1, ENTRIES // self.dimension)
        with one_thread():
            for start in range(0, self.rows, step):
                rng = np.random.default_rng(source.spawn(1)[0])  # one by one: there may be many
                count = min(step, self.rows - start)
                yield half_sphere(rng, centre, count, self.difficulty), centre

    def _write(self, seed: int, path: Path) -> Description:
        """Write the file atomically, with its description next to it."""
        header = BytesIO()
        described = {"descr": "<f4", "fortran_order": False, "shape": (self.rows, self.dimension)}
        np.lib.format.write_array_header_1_0(header, described)
        # Checked before anything is generated: filling a disk may take hours.
        size = len(header.getvalue()) + self.rows * self.dimension * 4
        check_generated(size, path.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(path.parent).free
        if size + 2**20 > free:
            raise DataError(
                f"{path.parent}: the rows take {size / 1e9:.1f} GB, of which the disk has "
                f"{free / 1e9:.1f} free; make room, or set PLAB_DATA_DIR or the dataset's "
                "directory to another disk"
            )
        digest, least = hashlib.sha256(header.getvalue()), math.inf
        # A crash leaves the old file or none: a partial one would be taken for complete rows.
        with replacing(path) as partial, partial.open("wb") as file:
            file.write(header.getvalue())
            for rows, centre in self.blocks(seed):
                single = rows.astype("<f4")
                double = single.astype(float)
                lengths = np.sqrt(np.einsum("ij,ij->i", double, double))
                least = min(least, float((double @ centre / lengths).min()))
                part = single.tobytes()
                file.write(part)
                digest.update(part)
        # Less the rounding error of the scores, dimension * 2^-53 for unit vectors, with a factor 4
        margin = least - 4.0 * (self.dimension + 4) * 2.0**-53
        safe = margin if margin > 0.0 else None
        description = Description(sha256=digest.hexdigest(), bytes=size, margin=safe)
        replace_file(path.with_suffix(".json"), description.model_dump_json().encode())
        return description
