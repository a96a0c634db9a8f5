"""The problem and the learner that a certificate describes, built anew from its description."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from perceptron_lab import registry
from perceptron_lab.datasets.confinement import GENERATED, confined
from perceptron_lab.errors import DataError, PlabError
from perceptron_lab.experiments.configuration.validation import validated
from perceptron_lab.experiments.configuration.variants import SELECTORS
from perceptron_lab.experiments.running.plan import canonical, digest
from perceptron_lab.experiments.storage.certificate_files import Certificate

if TYPE_CHECKING:
    from perceptron_lab.datasets.problem import Problem


def identity_of(certificate: Certificate) -> str:
    """Return the name of the cell that a certificate's settings make."""
    problem, algorithm = certificate.problem, certificate.algorithm
    try:
        if type(problem["seed"]) is not int or type(problem["instance"]) is not str:
            raise TypeError("the seed is no whole number, or the instance no text")
        parameters = problem["parameters"]
        content = {
            "dataset": problem["dataset"],
            "dataset_parameters": {k: v for k, v in parameters.items() if k not in SELECTORS},
            "instance": problem["instance"],
            "seed": problem["seed"],
            "algorithm": algorithm["name"],
            "parameters": algorithm["parameters"],
            "oracle": algorithm["oracle"],
            "goal": algorithm["goal"],
            "sha256": certificate.sha256,
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"the certificate does not say what was run ({error})") from None
    return digest(content)


class CertifiedProblems:
    """Loads the problems of certificates, whose settings nobody has vouched for.

    Whatever a certificate says, nothing is written but into a temporary folder, which is removed in
    the end: generated rows are generated there, and what was kept by earlier runs is not used. The
    last problem is kept, for its neighbours share it. A context manager.

    Parameters
    ----------
    base
        The folder that relative paths start from; None for that of each certificate.
    generate
        Bytes that may be generated for one problem.
    """

    def __init__(self, base: Path | None, generate: int = GENERATED) -> None:
        self._base, self._generate = base, generate
        self._last: tuple[str, Problem] | None = None
        self._folder: TemporaryDirectory[str] = TemporaryDirectory(prefix="plab-verify-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._last = None
        self._folder.cleanup()

    def load(self, certificate: Certificate) -> Problem:
        """Return the problem of a certificate."""
        key = canonical(dict(certificate.problem) | {"base": certificate.base})
        if self._last is None or self._last[0] != key:
            self._last = None  # it may be large: not two at a time
            self._last = key, self._loaded(certificate)
        return self._last[1]

    def _loaded(self, certificate: Certificate) -> Problem:
        described = certificate.problem
        base = Path(certificate.base) if self._base is None else self._base
        try:
            dataset = registry.load("dataset", described["dataset"])
            record = validated(dataset, dict(described["parameters"]))
            with confined(Path(self._folder.name), self._generate):
                problem: Problem = record.load(
                    described["instance"], seed=described["seed"], base=base
                )
        except ValidationError as error:
            raise DataError(f"parameters of {described['dataset']}: {error}") from None
        except PlabError as error:
            raise DataError(str(error)) from None
        return problem

    def learner(self, certificate: Certificate) -> Any:
        """Return the record of a learner; None for an algorithm."""
        name = certificate.algorithm["name"]
        if name not in registry.names("learner"):
            return None
        try:
            parameters = dict(certificate.algorithm["parameters"])
            return validated(registry.load("learner", name), parameters)
        except (ValidationError, PlabError) as error:
            raise DataError(f"parameters of the learner {name}: {error}") from None
