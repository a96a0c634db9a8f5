"""Verify saved separation verdicts on their data files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from perceptron_lab.core.errors import (
    BROKEN,
    ConfigError,
    DataError,
    InputError,
    MissingDataError,
    PlabError,
)
from perceptron_lab.core.saved_answers.fields import Check
from perceptron_lab.core.saved_answers.files import read_answer
from perceptron_lab.datasets.formats.columns import Columns, Contents
from perceptron_lab.datasets.formats.file_contents import in_lines, read_contents
from perceptron_lab.experiments.provenance.environment import resolved
from perceptron_lab.experiments.verification.certified_problem import (
    MEND,
    CertifiedProblems,
    ChangedDataError,
    OwnData,
    check_own_file,
    file_in,
    require_unrecorded,
)
from perceptron_lab.experiments.verification.claims import Verdict, Verified
from perceptron_lab.numerics.doubles import Doubles
from perceptron_lab.numerics.input_checks import refuse_not_finite
from perceptron_lab.numerics.sparse_arrays import dense
from perceptron_lab.problems.separation.families.options import of_record
from perceptron_lab.problems.separation.labelled import Labelled, labelled_of
from perceptron_lab.problems.separation.modelled import modelled_of
from perceptron_lab.problems.separation.pair_verification import ProofError
from perceptron_lab.problems.separation.verdict import SavedVerdict, SeparationVerdict, read_verdict
from perceptron_lab.problems.separation.verdict_record import UNDECIDED

LABEL = "separation"
"""In the place of a method's label."""
_UNVERIFIED: Final = ("proof.exact.method", "source.base")
"""How a proof was found, in the text that one of its arrays holds, and where the data were."""


def is_verdict(path: Path) -> bool:
    """Return whether a file is one that ``plab solve --verdict --save`` writes, as far as known."""
    try:
        return read_answer(path).is_verdict
    except BROKEN:
        return False


def on_verdict(path: Path, problems: CertifiedProblems) -> Verified:
    """Return whether the verdict in a file is proved on its data."""
    verified, own_file = Verified(path.stem, "", LABEL, "", Verdict.DAMAGED), problems.own
    try:
        saved = verdict_with_data(path, own_file)
        family = saved.record.get("model", {}).get("family")
        label = f"{LABEL} ({family})" if family else LABEL
        verified = replace(verified, label=label, status=str(saved.record["verdict"]))
        # The user may have named the wrong file, so an error need not be damage
        verified = replace(verified, verdict=Verdict.NOT_PROVED) if own_file else verified
        folder = own_file.file.parent if own_file else problems.base
        file, columns = data_of_verdict(saved.record["source"], path, folder)
        return _on_data(replace(verified, problem=file.name), saved, file, columns)
    # A wrong option of the command is no verdict on the file
    except ConfigError:
        raise
    except (PlabError, OSError) as error:
        return verified.failing(error)


def verdict_with_data(path: Path, own_file: OwnData | None) -> SavedVerdict:
    """Return a saved verdict with the data that it is of; an error if none are known, or twice."""
    saved = read_verdict(path)
    require_unrecorded(path, own_file, recorded=saved.record["source"] is not None)
    if own_file is None:
        return saved
    return replace(
        saved, record=saved.record | {"source": own_file.of_verdict()}, has_data_record=False
    )


def data_of_verdict(source: Any, path: Path, base: Path | None) -> tuple[Path, Columns]:
    """Return the file that a verdict is of, and what was asked of its columns."""
    try:
        # The file may come from anybody: nothing in it is used unchecked
        if source.keys() != {"file", "sha256", "columns", "base"}:
            raise TypeError("it has other fields than file, sha256, columns, base")
        if not all(isinstance(source[name], str) for name in ("file", "sha256", "base")):
            raise TypeError("a name or a sha256 is no text")
        folder = resolved(source["base"], path.parent) if base is None else base
        columns = Columns(**source["columns"])
        return file_in(folder, source["file"], named=base is not None), columns
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: it does not say which file it is of ({error})") from None


def _on_data(cell: Verified, saved: SavedVerdict, file: Path, columns: Columns) -> Verified:
    """Prove a verdict on its file."""
    if not file.exists():
        return replace(cell, verdict=Verdict.MISSING, message=f"{file}: no such file; {MEND}")
    try:
        # Before the file is parsed: a verdict on other data is neither right nor wrong
        check_own_file(file, saved.record["source"]["sha256"])
        if not saved.proof and saved.record["proved"] is False:
            return _without_proof(cell, saved)
        proved_on_file(saved, file, columns)
    except (ChangedDataError, ProofError, MissingDataError) as error:
        return cell.failing(error)
    verified = {Check.FORM, Check.SEPARATION, Check.SOURCE}
    left = (*saved.contents.not_verified(verified), *_UNVERIFIED)
    return replace(cell, verdict=Verdict.PROVED, not_verified=left)


def proved_on_file(saved: SavedVerdict, file: Path, columns: Columns) -> SeparationVerdict:
    """Return the verdict if all that is claimed is proved on the file that it is of."""
    # Such files have a coefficient of every level
    if columns.one_hot and not saved.omits_constant_columns:
        raise DataError(
            "written before --one-hot had reference levels, with a coefficient of every level; ask "
            "again: plab solve FILE --labels COLUMN --one-hot --verdict --save FILE"
        )
    leave_out, model = saved.omits_constant_columns, saved.record.get("model")
    examples, _ = labelled_file(file, columns, model, affine=saved.affine, leave_out=leave_out)
    return saved.verify_on(examples)


def _without_proof(verified: Verified, saved: SavedVerdict) -> Verified:
    """Return the verdict on a file without a proof, which may only state that it is undecided."""
    stated = saved.record["verdict"]
    if stated != UNDECIDED or saved.record["coefficients"]:
        message = f"{stated[:40]!r} is called not proved, and there is no proof"
        return replace(verified, verdict=Verdict.NOT_PROVED, message=message)
    left = saved.contents.not_verified()
    return replace(verified, verdict=Verdict.NOTHING_CLAIMED, not_verified=left)


def labelled_file(
    file: Path,
    columns: Columns,
    model: Mapping[str, Any] | None = None,
    *,
    affine: bool = True,
    leave_out: bool = True,
) -> tuple[Labelled, Contents]:
    """Return the labelled rows of a file, exactly, and its contents.

    ``affine`` and ``leave_out`` are as for
    :func:`~perceptron_lab.problems.separation.labelled.labelled_of`, and ``model`` states
    ``family``, ``link`` and ``ties`` of a model, whose variables are in the file.
    """
    contents = read_contents(file, columns, exact=True)
    if contents.classes is None:
        raise InputError(
            "a verdict needs two classes; name the column of labels with --labels COLUMN"
        )
    names, numbers, positive = contents.features, contents.decimals, contents.positive
    options = of_record(model or {}, contents.variables)
    doubles, labels = _exact(contents), contents.classes
    with in_lines(contents.lines):
        choices: dict[str, Any] = {"positive": positive, "affine": affine}
        if options.plain:
            choices["leave_out"] = leave_out
            examples = labelled_of(doubles, labels, names, numbers, **choices)
        else:
            examples = modelled_of(doubles, labels, options, names, numbers, **choices)
    return replace(examples, reference_levels=contents.reference_levels), contents


def _exact(contents: Contents) -> Doubles:
    """Return the rows as a dense matrix of doubles, exact or with their decimals."""
    doubles = contents.in_memory()
    values, integers = dense(doubles.values), dense(doubles.integers)
    # A proof on rounded numbers would be one for other data
    if doubles.roundings and integers is None and contents.decimals is None:
        raise InputError(
            "it holds numbers that no double is equal to; give them as text (.csv), which is read "
            "as decimals"
        )
    refuse_not_finite(values)
    return Doubles(values, doubles.roundings, integers, doubles.multiple)
