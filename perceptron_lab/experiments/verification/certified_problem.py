"""The problem and the learner that a certificate describes, built anew from its description."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from perceptron_lab.core import registry
from perceptron_lab.core.errors import DataError, MissingDataError, PlabError
from perceptron_lab.datasets.regular_files import GENERATED, confined
from perceptron_lab.experiments.configuration.plan import canonical
from perceptron_lab.experiments.configuration.validation import validated
from perceptron_lab.experiments.storage.certificate_files import Certificate, read_certificate
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.stored import Planned, Stored
from perceptron_lab.experiments.verification.own_data import (
    ChangedDataError,
    OwnData,
    UnknownDataError,
    check_own_file,
    file_in,
    own_data,
    require_unrecorded,
)
from perceptron_lab.solving.failures import own_error

if TYPE_CHECKING:
    from perceptron_lab.datasets.problem import Problem


@dataclass(frozen=True)
class Target:
    """The answers that are verified or certified, and where their data are.

    Parameters
    ----------
    path
        The folder of an experiment's results, or a file with one answer.
    base
        The folder that relative paths of data start from; None for the one stored.
    generate
        Bytes that may be generated for one problem.
    data, labels
        The file of the data of an answer that records none, and its column of labels.
    """

    path: Path
    base: Path | None = None
    generate: int = GENERATED
    data: Path | None = None
    labels: str | None = None

    @classmethod
    def of(
        cls,
        path: str | Path,
        base: str | Path | None,
        generate: int,
        data: str | Path | None,
        labels: str | None,
    ) -> Target:
        """Return a target whose paths may be texts."""
        folder, file = (None if one is None else Path(one) for one in (base, data))
        return cls(Path(path), folder, generate, file, labels)

    @contextmanager
    def problems(self) -> Iterator[CertifiedProblems]:
        """Yield the loader of its problems, which writes into a temporary folder alone."""
        own = own_data(self.path, self.data, self.labels)
        with TemporaryDirectory(prefix="plab-verify-") as folder:
            yield CertifiedProblems(Path(folder), self, own)

    def runs(self) -> list[tuple[Planned, Stored]]:
        """Return the cells of a folder of results, with their stored rows."""
        with Reader.open(self.path) as reader:
            return reader.runs()


class CertifiedProblems:
    """Loads the problems of certificates, whose settings nobody has vouched for.

    Whatever a certificate says, nothing is written but into one folder: generated rows are
    generated there, and what was kept by earlier runs is not used. The last problem is kept, for
    its neighbours share it.

    Parameters
    ----------
    folder
        The folder that is written to.
    target
        Says where data are, and how many bytes may be generated for one problem.
    own
        The data of a result that records none.
    """

    def __init__(self, folder: Path, target: Target, own: OwnData | None) -> None:
        self._folder, self.base, self._generate = folder, target.base, target.generate
        self.own = own
        self._last: tuple[str, Problem] | None = None

    def read(self, path: Path) -> Certificate:
        """Return the certificate in a file, or the result, with the data that it is of.

        A ``MissingDataError`` says that it records none, and the user has named none.
        """
        certificate = read_certificate(path, self.own.of_result if self.own else None)
        require_unrecorded(path, self.own, recorded=certificate.recorded)
        return certificate

    def load(self, certificate: Certificate) -> Problem:
        """Return the problem of a certificate."""
        described = certificate.problem
        key = canonical(dict(described) | {"base": certificate.base})
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        self._last = None  # it may be large: not two at a time
        if (name := described["dataset"]) not in registry.names("dataset"):
            raise UnknownDataError(
                f"the dataset {name!r} is not registered here; name the file that registers it: "
                "--plugin FILE.py"
            )
        base = Path(certificate.base) if self.base is None else self.base
        try:
            dataset = registry.load("dataset", described["dataset"])
            record = validated(dataset, dict(described["parameters"]))
            own = self._own_file(certificate, record, base)
            if own is not None:
                check_own_file(own, certificate.sha256)
            with confined(self._folder, self._generate):
                new: Problem = record.load(described["instance"], seed=described["seed"], base=base)
        except ValidationError as error:
            raise DataError(f"parameters of {described['dataset']}: {error}") from None
        except MissingDataError as error:
            if self.base is not None or "files" not in described["parameters"]:
                raise
            mend = "if the data have moved, name the folder that they are in: --base DIR"
            raise MissingDataError(error.reason, mend) from None
        except ChangedDataError:
            raise
        except PlabError as error:
            raise DataError(str(error)) from None
        except Exception as error:
            if not (said := own_error(error)):
                raise
            raise DataError(said) from error
        self._last = key, new
        return new

    def _own_file(self, certificate: Certificate, record: Any, base: Path) -> Path | None:
        """Return the user's own file that a problem is read from; None if it is no such problem.

        A saved result names the file alone: nothing outside of its folder is opened.
        """
        instance = certificate.problem["instance"]
        record.check_name(instance)
        own: Path | None = record.own_file(instance, base)
        if (
            own is not None
            and certificate.contents
            and "source.sha256" in certificate.contents.flat
        ):
            names = certificate.problem["parameters"]["files"]
            return file_in(
                base, names[0] if len(names) == 1 else "", named=bool(self.base or self.own)
            )
        return own

    def method(self, certificate: Certificate) -> Any:
        """Return the record of a learner or an optimiser; None for an algorithm."""
        name = certificate.algorithm["name"]
        kind = registry.kind_of_method(name)
        if kind == "algorithm":
            return None
        try:
            parameters = dict(certificate.algorithm["parameters"])
            return validated(registry.load(kind, name), parameters)
        except (ValidationError, PlabError) as error:
            raise DataError(f"parameters of the {kind} {name}: {error}") from None
