"""A user's own semidefinite programs, from files in the SDPA sparse format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo
from pydantic.dataclasses import dataclass

from perceptron_lab.datasets.download.fetching import sha256_of
from perceptron_lab.datasets.formats.sdpa import read_sdpa
from perceptron_lab.datasets.problem import (
    Problem,
    Question,
    asked,
    check_distinct,
    check_instance_name,
    semidefinite_problem,
)
from perceptron_lab.errors import ConfigError, did_you_mean
from perceptron_lab.goals import STRICT


def _instance_name(file: str) -> str:
    return Path(file).name.removesuffix(".dat-s")


def _nameable(file: str) -> str:
    try:
        check_instance_name(_instance_name(file))
    except ValueError as error:
        raise ValueError(f"file {file!r}: {error}; rename the file") from error
    return file


def _distinct(files: list[str]) -> list[str]:
    check_distinct([_instance_name(file) for file in files])
    return files


def _askable(question: Question, info: ValidationInfo) -> Question:
    """Refuse a file whose name is too long only with the end that the question adds."""
    for file in info.data.get("files", []):
        check_instance_name(asked(_instance_name(file), question))
    return question


@dataclass(frozen=True, config=STRICT)
class SdpaFiles:
    """Your own semidefinite programs, read from SDPA sparse files (``.dat-s``).

    Each instance is the homogenised feasibility problem of a program: find x_0 > 0 and x with
    x_1 F_1 + ... + x_m F_m - x_0 F_0 positive definite. It is named after its file, without
    ``.dat-s``.

    Parameters
    ----------
    files
        Paths of files, relative to the folder of the configuration; at least one.
    question
        ``feasibility`` (default), or ``recession``: find a ray x with x_1 F_1 + ... + x_m F_m
        positive definite and c'x < 0, which proves that no positive semidefinite Y has
        <F_i, Y> = c_i for all i.
    """

    files: Annotated[list[Annotated[str, AfterValidator(_nameable)]], AfterValidator(_distinct)]
    question: Annotated[Question, AfterValidator(_askable)] = "feasibility"

    def names(self) -> list[str]:
        """Return the names of the instances; no file is opened."""
        return [asked(_instance_name(file), self.question) for file in self.files]

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Return an instance.

        Parameters
        ----------
        name
            One of :meth:`names`.
        seed
            Without meaning for files.
        base
            The folder of the configuration.

        Raises
        ------
        ConfigError
            If the name is not one of :meth:`names`.
        DataError
            If the file is missing, or not a program in this format.
        """
        paths = dict(zip(self.names(), (base / file for file in self.files), strict=True))
        if name not in paths:
            raise ConfigError(
                f"no file is named {name!r}{did_you_mean(name, paths)}; known: {', '.join(paths)}"
            )
        data = read_sdpa(paths[name])
        return semidefinite_problem(
            _instance_name(str(paths[name])), data, sha256_of(paths[name]), self.question
        )
