"""Separation verdicts, saved with their exact proof as ``.npz`` and verified when read.

The arrays ``proof.NAME`` are those of :func:`.proof_arrays`; the text ``json`` is::

    {"format": 2, "verdict", "proved", "names", "classes", "coefficients": name -> class,
     "intercept": its name or null, "constant_columns": columns of the data that it stands for,
     "reference_levels": column of texts -> level without a coefficient,
     "model": {"family", "link", "ties", "affine"} of models other than logistic regression,
     "source": a record that identifies the data (null in files written from Python)}

Files of format 1 lack ``intercept`` and the two names after it. They are verified on data that keep
their constant columns. In columns of texts every level had a coefficient, so such files are
refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from perceptron_lab.core import registry
from perceptron_lab.core.errors import BROKEN, DataError, InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.saved_answers.fields import AnswerContents
from perceptron_lab.core.saved_answers.files import PROOF, packed, prefixed, read_answer
from perceptron_lab.core.saved_answers.kinds import VERDICT, VERDICT_1, VERDICT_FORMAT
from perceptron_lab.numerics.class_labels import labels_of, plain_label
from perceptron_lab.numerics.input_checks import ArrayOrSparse, column_names
from perceptron_lab.problems.separation.coefficients import Coefficient
from perceptron_lab.problems.separation.families.options import of_record
from perceptron_lab.problems.separation.labelled import Labelled, labelled
from perceptron_lab.problems.separation.modelled import modelled
from perceptron_lab.problems.separation.pair_verification import (
    ProofError,
    proof_arrays,
    proved_pair,
)
from perceptron_lab.problems.separation.pairs import ComplementaryPair
from perceptron_lab.problems.separation.remedy_record import Remedies
from perceptron_lab.problems.separation.verdict_record import (
    UNDECIDED,
    VerdictRecord,
    json_label,
    verdict_of,
)

_CLAIMS: Final = ("verdict", "names", "classes", "coefficients")
_ADDED: Final = ("intercept", "constant_columns", "reference_levels")
_FIELDS: Final = {1: VERDICT_1, VERDICT_FORMAT: VERDICT}


@dataclass(frozen=True, repr=False)
class SeparationVerdict(VerdictRecord):
    """Whether two classes are separated by a linear function, and which coefficients diverge.

    R is the set of all b with y_i b'(x_i, 1) >= 0 for every row: the directions in which the
    likelihood of logistic regression never falls. Rows that are positive somewhere on R are
    separated, those that are 0 on all of R overlap.

    Parameters
    ----------
    verdict
        ``complete`` (no row overlaps), ``quasi-complete``, ``overlap`` (every row does), or
        ``undecided`` (a time limit ended the search).
    proved
        Whether the verdict and every class that is stated are proved in exact arithmetic.
    names
        Names of the coefficients, in the order of the columns; an added intercept is the last.
    classes
        The two labels; the second one is the positive class, whose log-odds are modelled.
    method
        How the proof was found, or why it is missing.
    rows
        The labelled rows.
    pair
        The partition and its proof; None where the verdict is undecided.
    proofs
        Classes of the coefficients with their proofs; ``UNDECIDED`` where a time limit ended the
        search, empty if it did so for all of them.
    intercept
        The name of the intercept's coefficient; None without an intercept.
    constant_columns
        The names of the constant columns of the data that the intercept stands for: they have no
        separate coefficients.
    reference_levels
        Column of texts -> the level that the coefficients of its other levels are compared with,
        where ``--one-hot`` encoded columns of a file.
    model
        The generalised linear model, and which observations the rows are about; None for logistic
        regression of two classes.
    predictors
        The rows x_i of the observations used, where ``rows`` compare these with each other.
    lines
        The line of the file that each row begins in, from 1 on; None where rows have no lines.
    note
        A sentence on the model, such as that it has a penalty, or an empty text.
    domain
        Where a log-binomial likelihood without intercept is defined, with a member of this set;
        None for other models.
    responses
        The rows x_i and classes of a model of several classes; None for other models.
    """

    def save(self, path: str | Path, *, source: Mapping[str, object] | None = None) -> None:
        """Write the verdict with its exact proof as one ``.npz`` file (no pickle).

        Parameters
        ----------
        path
            Of the file, which gets exactly this name.
        source
            JSON values that identify the data of the verdict, for ``plab verify``.
        """
        record = _claims(self) | {"format": VERDICT_FORMAT, "proved": self.proved, "source": source}
        arrays = {"json": json.dumps(record)} | prefixed(PROOF, proof_arrays(self))
        Path(path).write_bytes(packed(arrays))

    def remedies(self, *, max_seconds: float | None = None) -> Remedies:
        """Return what can be done about separation: rows, columns and labels to change.

        Parameters
        ----------
        max_seconds
            Time limit of the searches, or None. A search ends after 20 000 sets too, with bounds.

        Raises
        ------
        InputError
            If the verdict is undecided, or on merged rows.

        Examples
        --------
        >>> from perceptron_lab import separation
        >>> examples = [[0, 5], [0, 1], [0, 7], [1, 2], [1, 6]]
        >>> separation(examples, [0, 1, 1, 1, 1]).remedies().columns.members
        ('x_1',)
        """
        if self.model is not None and self.model.copies is not None:
            raise InputError(
                "remedies count single rows, and this verdict is on merged rows of dask; give "
                "the data in memory: separation(X.compute(), y.compute())"
            )
        search = "perceptron_lab.problems.separation.remedies:remedies"
        remedies: Remedies = registry.loaded(search)(self, max_seconds=max_seconds)
        return remedies

    @classmethod
    def load(
        cls, path: str | Path, X: ArrayOrSparse, y: npt.ArrayLike, **variables: npt.ArrayLike | None
    ) -> SeparationVerdict:
        """Read a verdict written by :meth:`save` and verify it again on its examples.

        The directions and weights of the file are substituted into the examples; no search is made.

        Parameters
        ----------
        path
            Of the file, which states the family of models.
        X, y
            The examples.
        **variables
            ``counts``, ``weights``, ``strata``, ``offset``, ``time`` and ``start`` of
            :func:`.separation`, as far as they were given.

        Raises
        ------
        DataError
            If the file is missing or damaged, or does not prove its verdict for these examples.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from perceptron_lab import separation
        >>> examples, labels = [[1.0], [2.0], [3.0]], [0, 0, 1]
        >>> found = separation(examples, labels)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.save(Path(folder, "verdict.npz"))
        ...     type(found).load(Path(folder, "verdict.npz"), examples, labels).verdict
        'complete'
        """
        saved = read_verdict(Path(path))
        names = tuple(saved.record["names"])
        try:
            examples = _of_examples(saved, X, y, variables)
            unnamed = column_names(X) is None
            if unnamed:
                examples = replace(examples, names=names, intercept=saved.record.get("intercept"))
            levels = saved.record.get("reference_levels", {})
            verdict = saved.verify_on(replace(examples, reference_levels=levels))
            unverified = ["method", *["names"] * unnamed, *["reference_levels"] * bool(levels)]
            object.__setattr__(verdict, "_unverified_fields", tuple(unverified))
            return verdict
        except DataError as error:
            raise type(error)(
                f"{path}: {error}; give the examples for which the verdict was saved"
            ) from None


def verdict_on(
    examples: Labelled,
    pair: ComplementaryPair | None = None,
    proofs: tuple[Coefficient, ...] = (),
    method: str = "the time was too short",
) -> SeparationVerdict:
    """Return the verdict of a proved partition of labelled rows; undecided without one."""
    verdict = UNDECIDED if pair is None else verdict_of(pair)
    decided = pair is not None
    return SeparationVerdict(
        verdict, decided, method=method, pair=pair, proofs=proofs, **vars(examples)
    )


def verdict_proved(examples: Labelled, arrays: Mapping[str, FloatArray]) -> SeparationVerdict:
    """Return the verdict that proof arrays prove; errors as for :func:`.proved_pair`."""
    pair, coefficients, point = proved_pair(examples, arrays)
    if examples.domain is not None:
        examples = replace(examples, domain=replace(examples.domain, point=point))
    return verdict_on(examples, pair, tuple(coefficients), pair.method)


@dataclass(frozen=True)
class SavedVerdict:
    """The claims of a file and their proof, not yet verified.

    Parameters
    ----------
    record
        The JSON text of the file.
    proof
        Arrays by name.
    contents
        All fields of the file.
    has_data_record
        Whether the file identifies its data. If not, the names of new examples replace its names
        x_1, x_2, ...
    """

    record: dict[str, Any]
    proof: Mapping[str, FloatArray]
    contents: AnswerContents
    has_data_record: bool = True

    @property
    def omits_constant_columns(self) -> bool:
        """Whether the intercept replaces constant columns of the data."""
        return bool(self.record["format"] > 1)

    @property
    def affine(self) -> bool:
        """Whether the verdict is on a model with an intercept."""
        intercept = self.record.get("intercept", "") is not None
        return bool(self.record.get("model", {}).get("affine", intercept))

    def verify_on(self, examples: Labelled) -> SeparationVerdict:
        """Return the verdict if the proof verifies all claims for labelled rows.

        Raises
        ------
        DataError
            If the file is damaged; a ``ProofError`` if it claims what its proof does not prove.
        """
        names = tuple(self.record["names"])
        numbered = tuple(f"x_{j + 1}" for j in range(len(names) - 1))
        unnamed = not self.has_data_record and names == (*numbered, "intercept")
        if unnamed and len(examples.names) == len(names):
            examples = replace(examples, names=names)
        verdict = verdict_proved(examples, self.proof)
        claims = _claims(verdict) | {"proved": verdict.proved}
        for name, value in claims.items():
            if name in _ADDED and not self.omits_constant_columns:
                continue
            claimed = self.record.get(name)
            if _text_of(claimed) != _text_of(value):
                difference = f"{_text(claimed)} is claimed, {_text(value)} is proved"
                raise ProofError(f"{name}: {difference}")
        return verdict


def read_verdict(path: Path) -> SavedVerdict:
    """Read a file of :meth:`SeparationVerdict.save`; any other file is a DataError."""
    try:
        file = read_answer(path)
        record = file.record
        fields = _FIELDS.get(record["format"])
        if fields is None or not all(name in record for name in _CLAIMS):
            raise ValueError("its text is not that of a verdict")
        contents = AnswerContents.of("verdict", fields, file.tree())
        return SavedVerdict(record, file.named(PROOF), contents)
    except BROKEN as error:
        raise DataError(
            f"{path}: not a saved verdict ({error}); give a file of SeparationVerdict.save"
        ) from None


def _of_examples(
    saved: SavedVerdict, X: ArrayOrSparse, y: npt.ArrayLike, variables: Mapping[str, Any]
) -> Labelled:
    """Return labelled rows built as for the saved verdict, if the number of columns agrees."""
    names, record = saved.record["names"], saved.record.get("model", {})
    options = of_record(record, variables)
    positive = _positive(saved, y) if len(saved.record["classes"]) == 2 else None
    if record:
        examples = modelled(
            X, y, options, affine=bool(record.get("affine", True)), positive=positive
        )
    elif saved.omits_constant_columns:
        affine = saved.record["intercept"] is not None
        examples = labelled(X, y, affine=affine, positive=positive)
    else:
        examples = labelled(X, y, affine=False, leave_out=False)
        if len(names) == examples.rows.width + 1:
            examples = labelled(X, y, leave_out=False)
    if len(names) != examples.rows.width:
        width = examples.rows.width - (examples.intercept is not None)
        raise ProofError(
            f"the verdict has {len(names)} coefficients, the examples have {width} features"
        )
    return examples


def _positive(saved: SavedVerdict, y: npt.ArrayLike) -> object:
    """Return the label that a file states as the positive class, or None if it does not occur."""
    labels = np.unique(labels_of(y, len(np.asarray(y)))).tolist()
    claimed = [_text_of(label) for label in saved.record["classes"][1:]]
    return next(
        (label for label in labels if _text_of(json_label(plain_label(label))) in claimed), None
    )


def _claims(verdict: SeparationVerdict) -> dict[str, Any]:
    """Return the claims of a verdict as JSON values."""
    return {
        "verdict": verdict.verdict,
        "names": list(verdict.names),
        "classes": verdict.class_labels,
        "coefficients": verdict.coefficients,
        "intercept": verdict.intercept,
        "constant_columns": list(verdict.constant_columns),
        "reference_levels": dict(verdict.reference_levels),
    } | ({} if verdict.model is None else {"model": verdict.model.record()})


def _text_of(value: object) -> str:
    """Return a value as JSON text, which distinguishes 1, true and 1.0."""
    return json.dumps(value, sort_keys=True)


def _text(value: object) -> str:
    return json.dumps(value) if len(json.dumps(value)) < 80 else f"{json.dumps(value)[:80]}..."
