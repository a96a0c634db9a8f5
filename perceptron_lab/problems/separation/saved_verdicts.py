"""Verdicts as files: one ``.npz`` with the exact proof, put into the data again when it is read.

The arrays ``proof.NAME`` are those of :mod:`.kept_proofs`; the text ``json`` is::

    {"format": 2, "verdict", "proved", "names", "classes", "coefficients": name -> class,
     "intercept": its name or null, "constant_columns": columns of the data that it stands for,
     "reference_levels": column of texts -> level without a coefficient,
     "source": what says which data it is of (null in files of Python)}

Files of format 1 lack ``intercept`` and the two names after it. They are proved on data that keep
their constant columns; of columns of texts every level had a coefficient, so those are refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import BROKEN, DataError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.saved_answers.fields import Contents
from perceptron_lab.core.saved_answers.files import PROOF, packed, prefixed, read_answer
from perceptron_lab.core.saved_answers.kinds import VERDICT, VERDICT_1, VERDICT_FORMAT
from perceptron_lab.numerics.input_checks import ArrayOrSparse, column_names, labels_of, plain_label
from perceptron_lab.problems.separation.kept_proofs import ProofError, kept, proved_anew
from perceptron_lab.problems.separation.labelled import Labelled, labelled
from perceptron_lab.problems.separation.verdict import SeparationVerdict, json_label

_CLAIMS: Final = ("verdict", "names", "classes", "coefficients")
_ADDED: Final = ("intercept", "constant_columns", "reference_levels")
_FIELDS: Final = {1: VERDICT_1, VERDICT_FORMAT: VERDICT}


@dataclass(frozen=True)
class SavedVerdict:
    """The claims of a file and their proof, neither of them checked.

    Parameters
    ----------
    record
        Its text.
    proof
        Arrays by name.
    contents
        All fields of the file.
    recorded
        Whether it records its data; other data give its coefficients x_1, x_2, ... their names.
    """

    record: dict[str, Any]
    proof: Mapping[str, FloatArray]
    contents: Contents
    recorded: bool = True

    @property
    def leaves_out(self) -> bool:
        """Whether constant columns of the data are left out beside the intercept."""
        return bool(self.record["format"] > 1)

    def proved_on(self, given: Labelled) -> SeparationVerdict:
        """Return the verdict if all that is claimed is proved on labelled rows.

        Raises
        ------
        DataError
            If the file is damaged; a ``ProofError`` if it claims what its proof does not prove.
        """
        names = tuple(self.record["names"])
        numbered = tuple(f"x_{j + 1}" for j in range(len(names) - 1))
        unnamed = not self.recorded and names == (*numbered, "intercept")
        if unnamed and len(given.names) == len(names):
            given = replace(given, names=names)
        found = proved_anew(given, self.proof)
        claims = _claims(found) | {"proved": found.proved}
        for name, value in claims.items():
            if name in _ADDED and not self.leaves_out:
                continue
            if _text_of(self.record[name]) != _text_of(value):
                shown = f"{_text(self.record[name])} is claimed, {_text(value)} is proved"
                raise ProofError(f"{name}: {shown}")
        return found


def save_verdict(
    path: Path, found: SeparationVerdict, *, source: Mapping[str, Any] | None = None
) -> None:
    """Write a verdict with its proof.

    Parameters
    ----------
    path
        Of the file, which gets exactly this name.
    found
        The verdict.
    source
        JSON values that say which data it is of, for ``plab verify``.
    """
    record = _claims(found) | {"format": VERDICT_FORMAT, "proved": found.proved, "source": source}
    path.write_bytes(packed({"json": json.dumps(record)} | prefixed(PROOF, kept(found))))


def read_verdict(path: Path) -> SavedVerdict:
    """Read a file of :func:`save_verdict`; a DataError tells of any other."""
    try:
        file = read_answer(path)
        record = file.record
        fields = _FIELDS.get(record["format"])
        if fields is None or not all(name in record for name in _CLAIMS):
            raise ValueError("its text is not that of a verdict")
        contents = Contents.of("verdict", fields, file.tree())
        return SavedVerdict(record, file.named(PROOF), contents)
    except BROKEN as error:
        raise DataError(
            f"{path}: not a verdict that can be read ({error}); SeparationVerdict.save writes them"
        ) from None


def load_verdict(path: Path, X: ArrayOrSparse, y: npt.ArrayLike) -> SeparationVerdict:
    """Return a saved verdict, proved anew on the examples that it is of."""
    saved = read_verdict(path)
    names = tuple(saved.record["names"])
    try:
        given = _of_examples(saved, X, y)
        unnamed = column_names(X) is None
        if unnamed:
            given = replace(given, names=names, intercept=saved.record.get("intercept"))
        levels = saved.record.get("reference_levels", {})
        found = saved.proved_on(replace(given, reference_levels=levels))
        taken = ["method", *["names"] * unnamed, *["reference_levels"] * bool(levels)]
        object.__setattr__(found, "_taken", tuple(taken))
        return found
    except DataError as error:
        raise type(error)(f"{path}: {error}; give the examples that it was decided on") from None


def _of_examples(saved: SavedVerdict, X: ArrayOrSparse, y: npt.ArrayLike) -> Labelled:
    """Return examples with labels as the verdict was made of them, if they have as many columns."""
    names, positive = saved.record["names"], _positive(saved, y)
    if saved.leaves_out:
        affine = saved.record["intercept"] is not None
        given = labelled(X, y, affine=affine, positive=positive)
    else:
        given = labelled(X, y, affine=False, leave_out=False)
        if len(names) == given.rows.width + 1:
            given = labelled(X, y, leave_out=False)
    if len(names) != given.rows.width:
        width = given.rows.width - (given.intercept is not None)
        raise ProofError(f"it is of {len(names)} coefficients, the examples of {width} features")
    return given


def _positive(saved: SavedVerdict, y: npt.ArrayLike) -> Any:
    """Return the label that a file calls the positive class; None where no label is it."""
    labels = np.unique(labels_of(y, len(np.asarray(y)))).tolist()
    claimed = [_text_of(one) for one in saved.record["classes"][1:]]
    return next((one for one in labels if _text_of(json_label(plain_label(one))) in claimed), None)


def _claims(found: SeparationVerdict) -> dict[str, Any]:
    """Return what is stated, as JSON values."""
    return {
        "verdict": found.verdict,
        "names": list(found.names),
        "classes": found.class_labels,
        "coefficients": found.coefficients,
        "intercept": found.intercept,
        "constant_columns": list(found.constant_columns),
        "reference_levels": dict(found.reference_levels),
    }


def _text_of(value: Any) -> str:
    """Return a value as a text that tells 1 from true and from 1.0."""
    return json.dumps(value, sort_keys=True)


def _text(value: Any) -> str:
    return json.dumps(value) if len(json.dumps(value)) < 80 else f"{json.dumps(value)[:80]}..."
