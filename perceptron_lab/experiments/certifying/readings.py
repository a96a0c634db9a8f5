"""The data that a certificate is about: the file of its problem, or data written beside it."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from pathlib import Path
from typing import Any

from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.download.fetching import fetch
from perceptron_lab.datasets.download.registered_files import collection
from perceptron_lab.datasets.formats.columns import Columns, Contents
from perceptron_lab.datasets.formats.file_contents import read_contents
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.exact.readings import Reading, of_contents, of_sdpa, of_system, of_table
from perceptron_lab.experiments.storage.certificate_files import Certificate
from perceptron_lab.systems import ConicSystem


def reading_of(certificate: Certificate, problem: Problem, base: Path | None) -> Reading:
    """Return how a checker reads the data of a problem.

    A user's file that holds what no checker reads by itself, as row names, texts or missing
    entries, is written anew, like generated data: then the certificate is about the numbers
    written, which are the decimals of a text.

    Parameters
    ----------
    base
        The folder that relative paths start from; None for that of the certificate.
    """
    described = certificate.problem
    parameters = dict(described["parameters"])
    folder = Path(certificate.base) if base is None else base
    question: Any = parameters.get("question", "feasibility")
    if described["dataset"] == "sdplib":
        return _of_registered(described["instance"].removesuffix(".recession"), question)
    path = _file_of(described, parameters, folder)
    if path is not None and path.name.endswith(".dat-s"):
        return of_sdpa(path, question)
    system = ConicSystem.of(problem.system)
    found = None if path is None else of_table(path, system)
    if found is None and path is not None and not isinstance(system.operator, Gram):
        found = of_contents(_contents_of(path, parameters), system)
    return of_system(system) if found is None else found


def _contents_of(path: Path, parameters: dict[str, Any]) -> Contents:
    """Return the numbers of a user's own file, with the decimals of a text."""
    asked = {field.name: parameters.get(field.name) for field in fields(Columns)}
    columns = Columns(**{name: value for name, value in asked.items() if value})
    return read_contents(path, columns, exact=True)


def _of_registered(name: str, question: Any) -> Reading:
    """Return the reading of an instance of SDPLIB, whose own bytes are the registered ones."""
    path = fetch("sdplib", name)
    reading = of_sdpa(path, question)
    if hashlib.sha256(reading.content).hexdigest() != collection("sdplib").file(name).sha256:
        raise DataError(f"{path} was changed while it was read; try again")
    return reading


def _file_of(described: Any, parameters: dict[str, Any], folder: Path) -> Path | None:
    """Return the file of a user's own problem; None of other datasets."""
    from perceptron_lab.datasets.collections.files import stem_of

    if described["dataset"] not in ("files", "sdpa") or parameters.get("test_fraction"):
        return None
    instance = described["instance"].removesuffix(".recession")
    return next((folder / name for name in parameters["files"] if stem_of(name) == instance), None)
