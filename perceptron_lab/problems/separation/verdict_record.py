"""The verdict on two classes as a record: as sentences, as JSON and as an HTML table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from html import escape
from typing import Any, Final

import numpy as np

from perceptron_lab.core.errors import InputError, counted
from perceptron_lab.core.results import IntArray
from perceptron_lab.core.visible_text import visible
from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.numerics.exact_texts import exact_text
from perceptron_lab.problems.separation.class_responses import ClassResponses
from perceptron_lab.problems.separation.coefficients import (
    FINITE,
    MINUS,
    PLUS,
    UNDETERMINED,
    Coefficient,
)
from perceptron_lab.problems.separation.coefficients import UNDECIDED as NO_CLASS
from perceptron_lab.problems.separation.domain import Domain
from perceptron_lab.problems.separation.families.kinds import FAMILIES, LINK_NOTES, REST, Family
from perceptron_lab.problems.separation.families.model import Model
from perceptron_lab.problems.separation.integer_rows import IntegerRows
from perceptron_lab.problems.separation.null_spaces import null_vectors
from perceptron_lab.problems.separation.pairs import ComplementaryPair

COMPLETE: Final = "complete"
QUASI: Final = "quasi-complete"
OVERLAP: Final = "overlap"
UNDECIDED: Final = "undecided"

MOST_LISTED: Final = 10_000
"""Largest number of overlapping rows whose weights a certificate in JSON includes."""
_MOST_NAMES: Final = 8  # In a sentence
_MOST_ROWS: Final = 12
_MOST_TABLED: Final = 50

_ESTIMATES: Final = {
    FINITE: "finite",
    PLUS: "+infinite",
    MINUS: "-infinite",
    UNDETERMINED: "not determined",
}

_ALONE: Final = "compared with no other: the likelihood does not depend on them"
_ALTERNATIVES: Final = {
    COMPLETE: "maximum likelihood has no estimates, for the likelihood grows without end; a "
    "penalised one has: Firth's (Heinze and Schemper 2002), or a ridge penalty; so has exact "
    "logistic regression (Mehta and Patel 1995)",
    QUASI: "maximum likelihood has no estimates of the coefficients that are not finite; a "
    "penalised likelihood has: Firth's (Heinze and Schemper 2002), or a ridge penalty; so has "
    "exact logistic regression (Mehta and Patel 1995)",
}


@dataclass(frozen=True, repr=False)
class VerdictRecord:
    """A verdict as a record; it is public as :class:`.SeparationVerdict`, which documents it."""

    verdict: str
    proved: bool
    names: tuple[str, ...]
    classes: tuple[object, ...]
    method: str
    rows: IntegerRows
    pair: ComplementaryPair | None
    proofs: tuple[Coefficient, ...]
    intercept: str | None = None
    constant_columns: tuple[str, ...] = ()
    reference_levels: Mapping[str, str] = field(default_factory=dict)
    model: Model | None = None
    predictors: IntegerRows | None = None
    lines: IntArray | None = None
    note: str = ""
    domain: Domain | None = None
    responses: ClassResponses | None = None

    @property
    def not_verified(self) -> tuple[str, ...]:
        """The attributes that were read from a file and not verified.

        These are the method, and the names of coefficients if the examples have no names.
        """
        return tuple(self.__dict__.get("_unverified_fields", ()))

    @property
    def class_labels(self) -> list[str | int | float | bool]:
        """The two labels as JSON values."""
        return [json_label(label) for label in self.classes]

    @property
    def coefficients(self) -> dict[str, str]:
        """Name -> FINITE, +INF, -INF or UNDETERMINED for each decided coefficient."""
        return {name: proof.name for _, name, proof in self._classified_coefficients}

    @property
    def classified(self) -> bool:
        """Whether every coefficient has a class."""
        return len(self._classified_coefficients) == len(self.names)

    @property
    def finite(self) -> bool:
        """Whether all estimates are proved to exist: True only with a proof of overlap."""
        return self.proved and self.verdict == OVERLAP

    def require_decided(self) -> None:
        """Raise an InputError unless the verdict is decided and proved."""
        if not self.proved or self.verdict == UNDECIDED:
            raise InputError(f"{self.sentence}: {self.method}; give more time (max_seconds)")

    def require_finite(self) -> None:
        """Raise an InputError, with the sentence of the verdict, unless all estimates exist.

        An undecided verdict raises it too. Aliased coefficients do not: the likelihood has a
        maximum, where these are not unique (``unidentified``).
        """
        self.require_decided()
        if not self.finite:
            raise InputError(f"{self.sentence}: maximum likelihood estimates do not exist")

    @property
    def _classified_coefficients(self) -> list[tuple[int, str, Coefficient]]:
        """Column, name and proof of each coefficient with a class."""
        named = zip(range(len(self.names)), self.names, self.proofs, strict=False)
        return [(j, name, proof) for j, name, proof in named if proof.name != NO_CLASS]

    @property
    def direction(self) -> tuple[Fraction, ...]:
        """A member b of R, positive on the separated rows; 0 where there are none."""
        return tuple(self.rows.in_original_units(self.pair.direction)) if self.pair else ()

    @cached_property
    def separated_rows(self) -> IntArray:
        """Indices, from 0 on, of the rows that are positive somewhere on R.

        Rows of other models are observations: of these some condition is positive somewhere on R.
        """
        if self.pair is None:
            return np.zeros(0, dtype=np.int64)
        if self.model is None:
            return self.pair.separated
        return self.model.separated(self.pair.separated, self._score_ranks)

    @cached_property
    def overlap_rows(self) -> IntArray:
        """Indices, from 0 on, of the rows that are 0 on all of R; rows of weight 0 are not."""
        if self.pair is None:
            return np.zeros(0, dtype=np.int64)
        if self.model is None:
            return self.pair.overlap
        overlapping = np.setdiff1d(self.model.included, self.separated_rows)
        return self.model.with_copies(overlapping)

    def _score_ranks(self) -> IntArray:
        """Return the ranks of x_i'd for the direction d, which is inside R."""
        assert self.predictors is not None
        direction = () if self.pair is None else self.pair.direction
        scores = self.predictors.scores(np.arange(self.predictors.count), direction)
        return np.unique(np.array(scores, dtype=object), return_inverse=True)[1]

    @property
    def zero_rows(self) -> IntArray:
        """Indices of the rows of zeros, which always overlap."""
        there = np.asarray((self.rows.doubles != 0).sum(axis=1)) > 0
        if self.model is None:
            return np.flatnonzero(~there)
        return self.model.without_effect(there)

    @property
    def _kind(self) -> Family:
        return FAMILIES["binomial"] if self.model is None else self.model.kind

    @property
    def _of_labels(self) -> bool:
        """Whether the verdict is on two classes of labels, and not on a model of other data."""
        return self.model is None or (self.model.family == "binomial" and bool(self.classes))

    @cached_property
    def unidentified(self) -> tuple[str, ...]:
        """Coefficients that are not identified, because their columns are linearly dependent.

        Some b with A b = 0 has a nonzero entry there; the classes hold modulo such b.
        """
        if self.pair is None:
            return ()
        nulls = null_vectors(self.rows)
        return tuple(
            name for j, name in enumerate(self.names) if any(vector[j] for vector in nulls)
        )

    @property
    def certificate(self) -> dict[str, Any]:
        """The proof of the answer in original units, exact numbers as text (:func:`.exact_text`).

        ``weights``: row -> w > 0 with sum_i w_i a_i = 0 over the rows that overlap; null above
        :data:`MOST_LISTED` of them. ``coefficients``: multipliers of the rows whose sum is the unit
        vector (minus it for -INF), and directions with entries > 0 and < 0.
        """
        if self.pair is None:
            return {}
        few = len(self.overlap_rows) <= MOST_LISTED
        weights = self.pair.exact_weights.items() if few else ()
        return {
            "direction": _texts(self.direction),
            "weights": {str(row): exact_text(weight) for row, weight in weights} if few else None,
            "coefficients": {
                name: self._proof(j, proof) for j, name, proof in self._classified_coefficients
            },
        }

    def _proof(self, j: int, proof: Coefficient) -> dict[str, Any]:
        scale = self.rows.scales[j]
        sides = {"positive": proof.positive, "negative": proof.negative}
        members = {
            name: _texts(self.rows.in_original_units(b))
            for name, b in sides.items()
            if b is not None
        }
        multipliers = {str(row): exact_text(m * scale) for row, m in proof.combination.items()}
        return {"class": proof.name, "multipliers": multipliers} | members

    def as_json(self) -> dict[str, Any]:
        """Return the answer as JSON values.

        ``direction`` is in doubles. Where the exact one, which the certificate contains, is beyond
        the range of doubles, it is a positive multiple of it (see :func:`.to_doubles`).
        """
        return {
            "verdict": self.verdict,
            "proved": self.proved,
            "classes": self.class_labels,
            "positive": self.class_labels[1] if len(self.classes) == 2 else None,
            "modelled": self.modelled,
            "condition": self._kind.condition,
            **self._model_json(),
            "intercept": self.intercept,
            "constant_columns": list(self.constant_columns),
            "reference_levels": dict(self.reference_levels),
            "coefficients": self.coefficients,
            "direction": to_doubles(self.direction, scaled=True).tolist(),
            "separated_rows": self.separated_rows.tolist(),
            "overlap_rows": self.overlap_rows.tolist(),
            "zero_rows": self.zero_rows.tolist(),
            "lines": None if self.lines is None else self.lines.tolist(),
            "unidentified": list(self.unidentified),
            "method": self.method,
            "certificate": self.certificate,
        }

    def _model_json(self) -> dict[str, Any]:
        """Return the model as JSON values, and the observations of its conditions, if few."""
        if self.model is None:
            record: dict[str, Any] = {"family": "binomial", "link": "logit", "ties": None}
            return record | {"observations": None, "equalities": None}
        few = len(self.model.first) <= MOST_LISTED
        pairs = np.stack([self.model.first, self.model.second], axis=1).tolist() if few else None
        ties = self.model.ties if self.model.family == "cox" else None
        record = {"family": self.model.family, "link": self.model.link, "ties": ties}
        equalities = self.model.equalities.tolist() if few else None
        return record | {"observations": pairs, "equalities": equalities}

    def __str__(self) -> str:
        lines = [f"{self.sentence} ({'proved' if self.proved else f'not proved; {self.method}'})"]
        lines.append(f"  {self._model_sentence()}")
        lines += [f"  {self.note}"] if self.note else []
        lines += [f"  {line}" for line in self._details()] if self.pair else []
        return "\n".join(lines)

    __repr__ = __str__  # short: exact numbers, which may have thousands of digits, are attributes

    def _repr_html_(self) -> str:
        """Return the sentences and a table of the coefficients as HTML for notebooks."""
        classes = list(self.coefficients.items())
        rows = [
            f"<tr><td style='text-align:left'>{escape(name)}</td><td>{_ESTIMATES[kind]}</td></tr>"
            for name, kind in classes[:_MOST_TABLED]
        ]
        if len(classes) > _MOST_TABLED:
            rows.append(f"<tr><td colspan='2'>and {len(classes) - _MOST_TABLED} more</td></tr>")
        head = "<tr><th>coefficient</th><th>maximum likelihood estimate</th></tr>"
        table = f"<table>{head}{''.join(rows)}</table>" if rows else ""
        text = "<br>".join(escape(line.strip()) for line in str(self).splitlines())
        return visible(f"<div><p>{text}</p>{table}</div>")

    @property
    def modelled(self) -> str:
        """A phrase for the modelled quantity, such as the log-odds of the positive class."""
        if self._of_labels:
            link = "logit" if self.model is None else self.model.link
            of = "log-odds" if link == "logit" else f"{link} of the probability"
            return f"{of} of {self.classes[1]!r}"
        assert self.model is not None
        first = repr(self.classes[0]) if self.classes else ""
        return self._kind.modelled.format(link=self.model.link, first=first)

    def _model_sentence(self) -> str:
        """Return a sentence on the modelled quantity and the replaced constant columns."""
        text = f"modelled: {self.modelled}"
        if self._of_labels:
            text += f" against {self.classes[0]!r}"
        elif self.classes:
            text += f"; classes in the order {enumeration([repr(c) for c in self.classes])}"
        if self.constant_columns:
            constants = "intercept stands" if self.intercept else "constants of the model stand"
            text += f"; the {constants} for {enumeration(self.constant_columns)} (constant)"
        return text

    @property
    def sentence(self) -> str:
        """The verdict as a sentence."""
        if not self._of_labels:
            return self._sentence_on_estimates()
        negative, positive = self.classes
        if self.verdict == UNDECIDED:
            return f"not decided whether {negative!r} and {positive!r} are separated"
        if self.verdict == OVERLAP:
            return f"{negative!r} and {positive!r} overlap: no coefficient diverges"
        features = self._divergent_features()
        subject = enumeration(features) if features else "they"
        verb = "separates" if len(features) == 1 else "separate"
        return f"{subject} {verb} {negative!r} from {positive!r} {self.verdict}ly"

    def _divergent_features(self) -> list[str]:
        """Return the coefficients that are not finite, without intercepts unless all are such."""
        running = [
            name
            for name, kind in self.coefficients.items()
            if kind != FINITE and name not in self.unidentified
        ]
        constants = {self.intercept} if self.model is None else {*self.model.constants}
        return [name for name in running if name not in constants] or running

    def _sentence_on_estimates(self) -> str:
        """Return whether the estimates of a model exist, as a sentence."""
        words = self._kind.words
        if self.verdict == UNDECIDED:
            return f"{words}: not decided whether maximum likelihood estimates exist"
        if self.verdict == OVERLAP:
            return f"{words}: maximum likelihood estimates exist, no coefficient diverges"
        return f"{words}: no maximum likelihood estimate exists ({self.verdict} separation)"

    def _notes_on_model(self) -> list[str]:
        """Return the condition of the family, what its estimates may lack, and alternatives."""
        lines = [f"condition on directions d of divergence: {self._kind.condition}"]
        if self.verdict == OVERLAP:
            notes = (self._kind.note, LINK_NOTES.get(self.model.link if self.model else "", ""))
            lines += filter(None, notes)
        if self.verdict == QUASI and self._kind.row_by_row:
            lines.append(REST)
        if self.verdict in _ALTERNATIVES and not self._of_labels:
            lines.append(self._kind.remedy)
        return lines

    def _details(self) -> list[str]:
        """Return sentences on the coefficients, the rows, and the alternatives."""
        lines = []
        words = {
            PLUS: "the estimate{s} of {names} {is_} +infinite",
            MINUS: "the estimate{s} of {names} {is_} -infinite",
            UNDETERMINED: "{names}: not determined, directions of both signs separate",
            FINITE: "the estimate{s} of {names} {is_} finite",
        }
        aliased = self.unidentified
        for kind, text in words.items():
            names = [
                n
                for n, kind_of_name in self.coefficients.items()
                if kind_of_name == kind and n not in aliased
            ]
            if names:
                single = len(names) == 1
                forms = {"s": "" if single else "s", "is_": "is" if single else "are"}
                lines.append(text.format(names=enumeration(names), **forms))
        unknown = len(self.names) - len(self._classified_coefficients)
        if unknown:
            lines.append(f"{counted(unknown, 'coefficient')} not decided: give more time")
        if aliased:
            lines.append(
                f"{enumeration(aliased)}: not identified, for columns are linearly dependent (a "
                "constant column is so with the intercept); leave one out"
            )
        lines.append(self._rows_sentence())
        if len(self.zero_rows):
            kind = "of zeros: they overlap always" if self.predictors is None else _ALONE
            lines.append(f"{counted(len(self.zero_rows), 'row')} {kind}")
        if self.verdict in _ALTERNATIVES and self._of_labels:
            lines.append(_ALTERNATIVES[self.verdict])
        return lines if self.model is None else lines + self._notes_on_model()

    def _rows_sentence(self) -> str:
        overlap, separated = self.overlap_rows, self.separated_rows
        text = f"{counted(len(overlap), 'row')} overlap{'s' if len(overlap) == 1 else ''}"
        if 0 < len(overlap) <= _MOST_ROWS:
            text += f" ({self.rows_in_words(overlap)})"
        return f"{text}, {len(separated)} {'is' if len(separated) == 1 else 'are'} separated"

    def rows_in_words(self, rows: IntArray) -> str:
        """Return the numbers of rows, from 1 on, or their lines of the file; of many the count."""
        if len(rows) > _MOST_ROWS:
            return counted(len(rows), "row")
        positions = rows + 1 if self.lines is None else self.lines[rows]
        kind = "row" if self.lines is None else "line"
        return f"{kind} {', '.join(map(str, positions.tolist()))}"

    @property
    def has_limits(self) -> bool:
        """Whether finite coefficients have limits: the estimates from the rows that overlap."""
        return self._kind.row_by_row and (self.model is None or self.model.link != "cauchit")


def enumeration(names: Sequence[str]) -> str:
    """Return names as an enumeration in a sentence; many are abbreviated."""
    if len(names) > _MOST_NAMES:
        more = len(names) - _MOST_NAMES + 1
        return f"{', '.join(names[: _MOST_NAMES - 1])} and {more} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _texts(numbers: Sequence[Fraction]) -> list[str]:
    return [exact_text(number) for number in numbers]


def json_label(label: object) -> str | int | float | bool:
    """Return a label as a JSON value; labels that are neither numbers nor texts become texts."""
    return label if isinstance(label, str | int | float) else str(label)


def verdict_of(pair: ComplementaryPair) -> str:
    """Return the verdict that follows from a partition."""
    if not len(pair.overlap):
        return COMPLETE
    return QUASI if len(pair.separated) else OVERLAP
