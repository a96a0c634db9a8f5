"""Semidefinite programs in SDPA files as feasibility problems: SDPLIB's and users' programs."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, ValidationInfo, field_validator

from perceptron_lab.core.errors import did_you_mean
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.datasets.dataset import Dataset, Distinct, check_distinct, check_instance_name
from perceptron_lab.datasets.download.fetching import read_registered
from perceptron_lab.datasets.download.registered_files import collection
from perceptron_lab.datasets.formats.sdpa import decode_sdpa, read_content
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.systems.pencil import SdpaData

# Of a program or of its rays
Question = Literal["feasibility", "recession"]


def instance_name(name: str, question: Question) -> str:
    """Return the name of an instance under a question."""
    return name + (".recession" if question == "recession" else "")


def semidefinite_problem(name: str, data: SdpaData, sha256: str, question: Question) -> Problem:
    """Return the homogenised feasibility problem of a semidefinite program, or that of its rays."""
    # Imported here, so that checking a configuration's names loads no numerical code.
    from perceptron_lab.systems.pencil import homogenised, recession

    system = homogenised(data) if question == "feasibility" else recession(data)
    return Problem(instance_name(name, question), system, sha256, system.facts())


def _registered(name: str) -> str:
    files = collection("sdplib").files
    if name not in files:
        raise ValueError(
            f"no registered SDPLIB instance is called {name!r}"
            f"{did_you_mean(name, files)}; known are {len(files)}, such as mcp100 and theta1 "
            "(`plab data verify sdplib` lists them)"
        )
    return name


@parameter_record
class Sdplib(Dataset):
    """SDPLIB 1.2: semidefinite programs from MAXCUT, control, truss design, theta functions.

    Each instance is the homogenised feasibility problem of a program: find x_0 > 0 and x with
    x_1 F_1 + ... + x_m F_m - x_0 F_0 positive definite (Proposition 6.2 of `Kharechko2009`,
    without the row of the objective). Files are identified by their sha256; 87 of the
    collection's 92 are registered.

    Licence: published for research without a licence; cite it.

    Citation: B. Borchers, SDPLIB 1.2, a library of semidefinite programming test problems,
    Optimization Methods and Software 11(1):683-690, 1999.

    Parameters
    ----------
    instances
        Names of instances, such as ``mcp100``; at least one, each once.
    question
        ``feasibility`` (default), or ``recession``: find a ray x with x_1 F_1 + ... + x_m F_m
        positive definite and c'x < 0, which proves that no positive semidefinite Y has
        <F_i, Y> = c_i for all i. The instance is then called ``infd1.recession``.
    """

    instances: Annotated[list[Annotated[str, AfterValidator(_registered)]], Distinct]
    question: Question = "feasibility"

    def names(self) -> list[str]:
        """Return the names of the instances; nothing is downloaded."""
        return [instance_name(name, self.question) for name in self.instances]

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Return an instance, from this machine or from its public home."""
        file = dict(zip(self.names(), self.instances, strict=True)).get(name, name)
        path, content = read_registered("sdplib", file)
        data = decode_sdpa(content, str(path))
        return semidefinite_problem(
            file, data, collection("sdplib").file(file).sha256, self.question
        )


def _stem(file: str) -> str:
    return Path(file).name.removesuffix(".gz").removesuffix(".dat-s").removesuffix(".dat")


def _nameable(file: str) -> str:
    try:
        check_instance_name(_stem(file))
    except ValueError as error:
        raise ValueError(f"file {file!r}: {error}; rename the file") from error
    return file


@parameter_record
class SdpaFiles(Dataset):
    """Your own semidefinite programs in SDPA files, sparse (``.dat-s``) or dense (``.dat``).

    Each instance is the homogenised feasibility problem of a program: find x_0 > 0 and x with
    x_1 F_1 + ... + x_m F_m - x_0 F_0 positive definite. It is named after its file, without
    the end of the name.

    Parameters
    ----------
    files
        Paths of files, relative to the folder of the configuration; at least one.
    question
        ``feasibility`` (default), or ``recession``: find a ray x with x_1 F_1 + ... + x_m F_m
        positive definite and c'x < 0, which proves that no positive semidefinite Y has
        <F_i, Y> = c_i for all i.
    """

    files: list[Annotated[str, AfterValidator(_nameable)]]
    question: Question = "feasibility"

    @field_validator("files")
    @classmethod
    def _distinct(cls, files: list[str]) -> list[str]:
        check_distinct([_stem(file) for file in files])
        return files

    @field_validator("question")
    @classmethod
    def _short_enough(cls, question: Question, info: ValidationInfo) -> Question:
        # A file's name may be too long only with the end that the question adds
        for file in info.data.get("files", []):
            check_instance_name(instance_name(_stem(file), question))
        return question

    def names(self) -> list[str]:
        """Return the names of the instances; no file is opened."""
        return [instance_name(_stem(file), self.question) for file in self.files]

    def own_file(self, name: str, base: Path) -> Path:
        """Return the file of an instance."""
        return base / dict(zip(self.names(), self.files, strict=True))[name]

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Read an instance."""
        self.check_name(name)
        path = self.own_file(name, base)
        content = read_content(path)
        data, sha256 = decode_sdpa(content, str(path)), hashlib.sha256(content).hexdigest()
        return semidefinite_problem(_stem(path.name), data, sha256, self.question)
