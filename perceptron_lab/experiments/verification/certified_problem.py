"""Load the problem, the method and the data that a certificate describes.

An answer may come from an untrusted source and name any file to read. Messages therefore reveal
neither the hash of a file nor a line that cannot be parsed, unless it is the file of the answer: a
user's own file is found by its name, and its hash is compared before it is parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from perceptron_lab.core import registry
from perceptron_lab.core.errors import (
    NOT_RECORDED,
    ConfigError,
    DataError,
    MissingDataError,
    PlabError,
)
from perceptron_lab.datasets.collections.files import stem_of
from perceptron_lab.datasets.formats.columns import Columns
from perceptron_lab.datasets.parts import (
    difference,
    digest_of_parts,
    is_parts,
    part_digests,
    parts_of,
    sha256_of_data,
)
from perceptron_lab.datasets.regular_files import GENERATED, confined, sha256_of
from perceptron_lab.experiments.configuration.components import validated
from perceptron_lab.experiments.configuration.plan import canonical
from perceptron_lab.experiments.storage.certificate_files import Certificate, read_certificate
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.stored import Planned, Stored
from perceptron_lab.solving.failures import registered_code_error

if TYPE_CHECKING:
    from perceptron_lab.datasets.problem import Problem

MEND = "if the data have moved, name the folder that they are in: --base DIR"


@dataclass(frozen=True)
class OwnData:
    """The data that a user names for an answer that records none.

    Parameters
    ----------
    file
        Of the data.
    columns
        What is asked of its columns.
    """

    file: Path
    columns: Columns

    def of_verdict(self) -> dict[str, object]:
        """Return what a saved verdict records of its data."""
        columns = {name: value for name, value in asdict(self.columns).items() if value}
        where = {"file": self.file.name, "base": str(self.file.absolute().parent)}
        return where | {"sha256": sha256_of_data(self.file), "columns": columns}

    def of_result(self, margin: str | None) -> dict[str, object]:
        """Return what a saved result records of its data, and of its margin, if it states one."""
        parameters = {name: value for name, value in asdict(self.columns).items() if value}
        parameters |= {} if margin in (None, "unit") else {"margin": margin}
        return {
            "sha256": sha256_of_data(self.file),
            "problem": {
                "dataset": "files",
                "parameters": {"files": [self.file.name], **parameters},
                "instance": stem_of(self.file.name),
                "seed": 0,
            },
            "algorithm": {"name": "auto", "parameters": {}, "oracle": []},
            "base": str(self.file.absolute().parent),
        }


def own_data(target: Path, file: Path | None, labels: str | None) -> OwnData | None:
    """Return the data that are named for an answer in a file; None if there are none.

    Raises
    ------
    ConfigError
        If the target is a folder, whose certificates record their data, or labels are of no file.
    """
    if file is None:
        if labels is not None:
            raise ConfigError("--labels without --data; it names a column of that file")
        return None
    if target.is_dir():
        raise ConfigError(f"--data with the folder {target}; its certificates record their data")
    return OwnData(file, Columns(labels=labels))


def require_unrecorded(path: Path, own_file: OwnData | None, *, recorded: bool) -> None:
    """Refuse an answer without data, and data for an answer that records its own."""
    if recorded and own_file is not None:
        raise ConfigError(f"--data with {path}, which records its data; {MEND}")
    if not recorded and own_file is None:
        raise MissingDataError(NOT_RECORDED)


class ChangedDataError(DataError):
    """The data differ from the data for which an answer was saved."""


class UnknownDataError(DataError):
    """The dataset of an answer is not registered."""


def file_in(folder: Path, name: str, *, named: bool) -> Path:
    """Return a file of a folder, without opening it.

    Parameters
    ----------
    folder
        Of the data.
    name
        The file's, as an answer states it.
    named
        Whether the user has named the folder: then links that lead out of it are followed.

    Raises
    ------
    DataError
        If the name is none of a file in this folder, or a link that leads out of it.
    """
    # A certificate of unknown origin must not have other files of the user opened
    if not name or name != Path(name).name or name == ".." or "\0" in name:
        raise DataError(f"{name[:80]!r} is no name of a file in the folder of the data; {MEND}")
    path = folder / name
    if not named and not path.resolve().is_relative_to(folder.resolve()):
        raise DataError(f"{name[:80]!r} is a link to a file in another folder; {MEND}")
    return path


def check_own_file(path: Path, sha256: str, parts: Mapping[str, str] | None = None) -> None:
    """Raise a ``ChangedDataError`` unless a file has this sha256; an absent one is for its reader.

    A ``DataError`` refuses what is no regular file: reading it might never end. Of a folder or a
    pattern the parts are compared with those recorded, if any.
    """
    if is_parts(path):
        digests = part_digests(path)
        if parts and (fault := difference(parts, digests)):
            raise ChangedDataError(fault)
        if digest_of_parts(digests) != sha256:
            raise ChangedDataError("the parts have other names or sha256 than those of the claims")
        return
    if not path.is_file():
        if path.exists():
            raise DataError(f"{path.name[:80]!r} is no regular file; {MEND}")
        return
    if sha256_of(path) != sha256:
        raise ChangedDataError(f"the file has another sha256, the claims are of {sha256[:16]}...")


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
        folder, file = (None if path is None else Path(path) for path in (base, data))
        return cls(Path(path), folder, generate, file, labels)

    @contextmanager
    def problems(self) -> Iterator[CertifiedProblems]:
        """Yield the loader of its problems, which writes into a temporary folder alone."""
        own_file = own_data(self.path, self.data, self.labels)
        with TemporaryDirectory(prefix="plab-verify-") as folder:
            yield CertifiedProblems(Path(folder), self, own_file)

    def runs(self) -> list[tuple[Planned, Stored]]:
        """Return the cells of a folder of results, with their stored rows."""
        with Reader.open(self.path) as reader:
            return reader.runs()


class CertifiedProblems:
    """Loads the problems of certificates, whose settings are untrusted.

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

    def __init__(self, folder: Path, target: Target, own_file: OwnData | None) -> None:
        self._folder, self.base, self._generate = folder, target.base, target.generate
        self.own = own_file
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
        # With the base: equal settings may name different files in two folders
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
            own_file = self._own_file(certificate, record, base)
            if own_file is not None:
                # Before the file is parsed: a changed one is not trusted to be what it was
                check_own_file(own_file, certificate.sha256, certificate.parts)
            with confined(self._folder, self._generate):
                new: Problem = record.load(described["instance"], seed=described["seed"], base=base)
        except ValidationError as error:
            raise DataError(f"parameters of {described['dataset']}: {error}") from None
        except MissingDataError as error:
            # --base was given already, or the data are not the user's own
            if self.base is not None or "files" not in described["parameters"]:
                raise
            remedy = "if the data have moved, name the folder that they are in: --base DIR"
            raise MissingDataError(error.reason, remedy) from None
        except ChangedDataError:
            raise
        except PlabError as error:
            raise DataError(str(error)) from None
        except Exception as error:
            # Errors of this package are defects and must be seen; those of plugins are findings
            if not (fault := registered_code_error(error)):
                raise
            raise DataError(fault) from error
        self._last = key, new
        return new

    def _own_file(self, certificate: Certificate, record: Any, base: Path) -> Path | None:
        """Return the user's own file that contains the data of a problem; None for other data.

        A saved result names the file alone: nothing outside of its folder is opened.
        """
        instance = certificate.problem["instance"]
        # The name comes from the file, and may become part of a path
        record.check_name(instance)
        own_file: Path | None = record.own_file(instance, base)
        if own_file is not None and certificate.saved:
            names = certificate.problem["parameters"]["files"]
            named = bool(self.base or self.own)
            path = file_in(base, names[0] if len(names) == 1 else "", named=named)
            for part in parts_of(path) if is_parts(path) else ():
                file_in(part.parent, part.name, named=named)
            return path
        return own_file

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
