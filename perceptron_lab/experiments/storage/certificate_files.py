"""Certificate files ``certificates/CELL.npz``, which can be verified without the store.

The arrays are ``point``, ``weights`` where there are any, and ``proof.NAME`` for those that prove
what a learner claims. The text ``json`` is::

    {"format": 1, "cell", "status", "proved", "margin_lower", "margin_upper", "goal_reached" (not in
     files of earlier versions; null for learners), "message",
     "certificate": {...}, "bound": {"value", "theorem", "reason", "kind"},
     "counts": {"updates", "queries", "iterations", "products"},
     "sha256": of the problem's data,
     "problem": {"dataset", "parameters" (all of them), "instance", "seed"},
     "algorithm": {"name", "parameters", "oracle", "goal"},
     "base": the folder that relative paths of the problem start from, relative to the file's own}

Equal results are equal bytes; no clock is in it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy.typing as npt

from perceptron_lab.core.atomic_files import replace_file
from perceptron_lab.core.errors import BROKEN, NOT_RECORDED, DataError, MissingDataError
from perceptron_lab.core.results import Bound, FloatArray, Result, Status
from perceptron_lab.core.saved_answers.fields import AnswerContents
from perceptron_lab.core.saved_answers.files import PROOF, AnswerFile, packed, prefixed, read_answer
from perceptron_lab.core.saved_answers.kinds import CELL_FORMAT, cell_fields, kind_of, result_fields
from perceptron_lab.experiments.configuration.plan import digest
from perceptron_lab.experiments.configuration.rows import as_json
from perceptron_lab.experiments.configuration.variants import SELECTORS
from perceptron_lab.experiments.provenance.environment import portable, resolved
from perceptron_lab.experiments.storage.stored import Planned, sha256_of

FOLDER: Final = "certificates"
# Settings of a cell that its certificate has under the same names.
_OF_PROBLEM: Final = ("dataset", "instance", "seed")
_OF_ALGORITHM: Final = ("parameters", "oracle", "goal")

_OF_RESULT: Final = (
    *("status", "proved", "margin_lower", "margin_upper", "message", "certificate", "bound"),
    *("point", "weights", "goal_reached", "proof"),
)
_COUNTS: Final = ("updates", "queries", "iterations", "products")
_TEXTS: Final = ("cell", "message", "sha256", "base")
_MAPPINGS: Final = ("certificate", "counts", "problem", "algorithm")


@dataclass(frozen=True)
class Certificate:
    """The claims of a cell, with all that is needed to prove them again.

    Parameters
    ----------
    cell
        Its name.
    status, proved, margin_lower, margin_upper, message, certificate, bound, point, weights
        As in :class:`~perceptron_lab.core.results.Result`.
    counts
        Updates, queries, iterations, products.
    sha256
        Of the problem's data.
    problem
        ``dataset``, ``parameters``, ``instance``, ``seed``.
    algorithm
        ``name``, ``parameters``, ``oracle``, ``goal``.
    base
        The folder that relative paths of the problem start from.
    goal_reached
        As in a result; also None in files that were written before it was kept.
    proof
        Arrays by name that prove what a learner claims.
    parts
        Name -> sha256 of each part of data that are a folder or a pattern; of saved results.
    tree
        Text and arrays of the file that it was read from; empty if it comes from no file.
    recorded
        Whether that file records the data that it is of.
    """

    cell: str
    status: Status
    proved: bool
    margin_lower: float | None
    margin_upper: float | None
    message: str
    certificate: Mapping[str, Any]
    bound: Bound
    counts: Mapping[str, float]
    sha256: str
    problem: Mapping[str, Any]
    algorithm: Mapping[str, Any]
    base: str
    point: FloatArray
    weights: FloatArray | None = None
    goal_reached: bool | None = None
    proof: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    tree: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    recorded: bool = field(default=True, compare=False)

    @property
    def saved(self) -> bool:
        """Whether it was read from a result that `plab solve --save` has written."""
        return "source" in self.tree

    @cached_property
    def contents(self) -> AnswerContents:
        """The fields of its file, by their schema.

        Raises
        ------
        DataError
            If one is unknown, missing, or has a value that is not allowed.
        """
        kind = kind_of(self.certificate, self.point.size, str(self.algorithm.get("name")))
        fields = result_fields(kind, sourced=True) if self.saved else cell_fields(kind)
        try:
            return AnswerContents.of(kind, fields, self.tree)
        except ValueError as error:
            raise DataError(f"not a certificate that can be read ({error})") from None


def path_of(folder: Path, cell: str) -> Path:
    """Return where the certificate of a cell is in an experiment's folder."""
    return folder / FOLDER / f"{cell}.npz"


def certificate_of(planned: Planned, result: Result, base: Path) -> Certificate:
    """Return the certificate of a cell that ended with a result."""
    settings = planned.settings
    return Certificate(
        cell=planned.cell,
        counts={name: getattr(result, name) for name in _COUNTS},
        sha256=planned.sha256,
        problem={"parameters": settings["dataset_parameters"]}
        | {name: settings[name] for name in _OF_PROBLEM},
        algorithm={"name": settings["algorithm"]}
        | {name: settings[name] for name in _OF_ALGORITHM},
        base=str(base),
        **{name: getattr(result, name) for name in _OF_RESULT},
    )


def identity_of(certificate: Certificate) -> str:
    """Return the name of the cell that a certificate's settings make."""
    problem, algorithm = certificate.problem, certificate.algorithm
    try:
        if type(problem["seed"]) is not int or type(problem["instance"]) is not str:
            raise TypeError("the seed is no whole number, or the instance no text")
        parameters = problem["parameters"].items()
        content = {name: problem[name] for name in _OF_PROBLEM}
        content |= {name: algorithm[name] for name in _OF_ALGORITHM}
        content |= {
            "dataset_parameters": {name: v for name, v in parameters if name not in SELECTORS},
            "algorithm": algorithm["name"],
            "sha256": certificate.sha256,
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"the certificate does not say what was run ({error})") from None
    return digest(content)


def write_certificate(path: Path, certificate: Certificate) -> str:
    """Write a certificate, whole or not at all, and return the sha256 of its bytes."""
    record = {
        name: getattr(certificate, name)
        for name in Certificate.__dataclass_fields__
        if name not in ("point", "weights", "proof", "parts", "tree", "recorded")
    }
    base = portable(Path(certificate.base), path.parent)
    record |= {"format": CELL_FORMAT, "bound": asdict(certificate.bound), "base": base}
    arrays = {"json": as_json(record), "point": certificate.point}
    arrays |= {} if certificate.weights is None else {"weights": certificate.weights}
    content = packed(arrays | prefixed(PROOF, certificate.proof))
    replace_file(path, content)
    return sha256_of(content)


@contextlib.contextmanager
def exchanged(
    path: Path, certificate: Certificate | None, *, keep: bool, forget: bool
) -> Iterator[str | None]:
    """Write a certificate whose row is stored within; if that fails, put the earlier one back.

    Parameters
    ----------
    path
        Its place.
    certificate
        The new one, of whose bytes the sha256 is yielded; None leaves the file as it is.
    keep, forget
        Whether the earlier one is kept as ``CELL.earlier.npz``, and whether one that was kept so is
        removed in the end.
    """
    earlier = path.with_suffix(".earlier.npz")
    before = path.read_bytes() if path.is_file() else None
    if keep and before is not None:
        # Before the new one replaces it: a crash in between leaves both
        replace_file(earlier, before)
    try:
        yield None if certificate is None else write_certificate(path, certificate)
    # KeyboardInterrupt too: row and certificate must belong together
    except BaseException:
        # The disk may be full: what cannot be put back is detected by its sha256.
        with contextlib.suppress(OSError):
            if before is None:
                path.unlink(missing_ok=True)
            elif not path.is_file() or path.read_bytes() != before:
                replace_file(path, before)
        raise
    if forget:
        # The row is stored: a file too many is no failure.
        with contextlib.suppress(OSError):
            earlier.unlink(missing_ok=True)


def read_certificate(
    path: Path, source: Callable[[str | None], Mapping[str, object]] | None = None
) -> Certificate:
    """Read a certificate.

    Parameters
    ----------
    path
        Of the file.
    source
        Returns what a result records of its data, given its margin, for one that records nothing.

    Raises
    ------
    MissingDataError
        If it is a result that records no data, and there is no ``source``.
    DataError
        If it cannot be read.
    """
    try:
        file = read_answer(path)
        record = file.record
        recorded = record.get("source") is not None or "format" in record
        if not recorded and "status" in record:  # Result.save has written it
            if source is None:
                raise MissingDataError(NOT_RECORDED)
            record = record | {"source": source(record["certificate"].get("margin"))}
        saved = "source" in record  # by `plab solve --save`
        file = AnswerFile(record, file.arrays)
        tree = file.tree()
        record = _of_result(record) if saved else dict(record)
        _check(path, record)
        del record["format"]
        record |= {"status": Status(record["status"]), "bound": Bound(**record["bound"])}
        record["base"] = str(resolved(record["base"], path.parent))
        certificate = Certificate(
            **record,
            point=file.arrays["point"],
            weights=file.arrays.get("weights"),
            proof=file.named(PROOF),
            tree=tree,
            recorded=recorded,
        )
        # A saved result has no cell name of its own: its settings give one
        return replace(certificate, cell=identity_of(certificate)) if saved else certificate
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; `plab run CONFIG` writes certificates") from None
    except (*BROKEN, AttributeError) as error:
        raise DataError(
            f"{path}: not a certificate that can be read ({error}); give one of `certificates/` in "
            "a folder of results: if it is one, `plab run` computes its cell again"
        ) from None


def _of_result(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the certificate record of a result that was saved with its source."""
    source = dict(record["source"])
    source["algorithm"] = {**source["algorithm"], "goal": record["goal"]}
    copied = {name: record[name] for name in _OF_RESULT if name in record}
    counts = {name: record[name] for name in _COUNTS}
    return copied | source | {"format": CELL_FORMAT, "cell": "", "counts": counts}


def _check(path: Path, record: Mapping[str, object]) -> None:
    """Refuse other files, formats and values; the claims are for the proofs to judge."""
    # Before all other checks, since fields of a newer format may mean something else
    if record["format"] != CELL_FORMAT:
        raise DataError(
            f"{path}: a certificate of format {record['format']}, this plab reads format "
            f"{CELL_FORMAT}; use the plab that wrote it"
        )
    for names, kind in ((_TEXTS, str), (_MAPPINGS, dict)):
        for name in names:
            if not isinstance(record[name], kind):
                raise TypeError(f"{name} is not what it should be")
