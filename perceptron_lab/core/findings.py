"""Facts about an answer that its status does not express; messages are made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final

from perceptron_lab.core.outward_rounding import text_below


class SeparationAnswer(StrEnum):
    """The answer of a method for logistic regression about the separation of two classes."""

    COMPLETE = "complete"
    QUASI_COMPLETE = "quasi-complete"
    OVERLAP = "overlap"
    UNDECIDED = "undecided"
    SEPARATED = "separated"
    NOT_SEPARATED = "not separated"
    NOT_SOLVED = "not solved"
    PERFECT = "perfect prediction"
    CONVERGED = "converged"
    NOT_CONVERGED = "not converged"
    SINGULAR = "singular"
    PENALISED = "penalised"

    @property
    def separated(self) -> bool | None:
        """Whether the answer states that the classes are separated; None where it is undecided.

        Whatever converged without a penalty says that estimates exist, and they do if and only if
        the classes are not separated (Albert and Anderson, Biometrika 71, 1984).
        """
        if self in _SEPARATED:
            return True
        return False if self in _OVERLAPPING else None


_SEPARATED = frozenset(
    {
        SeparationAnswer.COMPLETE,
        SeparationAnswer.QUASI_COMPLETE,
        SeparationAnswer.SEPARATED,
        SeparationAnswer.PERFECT,
    }
)
_OVERLAPPING = frozenset(
    {SeparationAnswer.OVERLAP, SeparationAnswer.NOT_SEPARATED, SeparationAnswer.CONVERGED}
)


_KINDS = {
    "weak": "weakly infeasible: no x is in the closed cones, and the distance to them is 0",
    "no point": "no x is in the closed cones",
    "boundary only": "an exact x is in the closed cones, on their boundary",
}


@dataclass(frozen=True)
class Finding:
    """Facts about an answer; None where one does not apply.

    Parameters
    ----------
    relaxed_margin
        The proved margin of a relaxed answer: a point that may violate constraints by so much.
    interior_shift
        The length by which an answer on the boundary was moved inside before it was proved.
    claimed_feasible
        An external solver's answer that is not proved: feasible (true) or infeasible.
    rescalings
        How often the two sides of a projection and rescaling algorithm were rescaled.
    separation
        The answer about the separation of two classes.
    out_of_memory
        What could not be allocated.
    missing
        The package or program without which the algorithm does not run.
    infeasibility
        The strongest fact that is proved of a conic system without a strictly feasible point.

    Examples
    --------
    >>> found = Finding(rescalings=(4, 3))
    >>> found.sentence
    'rescaled 4 and 3 times'
    >>> Finding.of_values(found.values()) == found
    True
    """

    relaxed_margin: float | None = None
    interior_shift: float | None = None
    claimed_feasible: bool | None = None
    rescalings: tuple[int, int] | None = None
    separation: SeparationAnswer | None = None
    out_of_memory: str | None = None
    missing: str | None = None
    infeasibility: str | None = None

    def __bool__(self) -> bool:
        return self != NOTHING

    def __or__(self, other: Finding) -> Finding:
        """Return the facts of both; those of the other come first."""
        return Finding(**(self._facts() | other._facts()))

    def _facts(self) -> dict[str, Any]:
        facts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in facts.items() if value is not None}

    def values(self) -> dict[str, Any]:
        """Return the facts by name as values of JSON."""
        facts = self._facts()
        # A list, as it will be read from JSON again
        return facts | ({"rescalings": list(self.rescalings)} if self.rescalings else {})

    @classmethod
    def of_values(cls, values: Mapping[str, object]) -> Finding:
        """Return the finding of values of JSON; a TypeError or ValueError refuses other values."""
        # JSON knows neither tuples nor enumerations
        kinds = {"rescalings": tuple, "separation": SeparationAnswer}
        return cls(**{name: kinds.get(name, _same)(value) for name, value in values.items()})

    @property
    def sentence(self) -> str:
        """The facts in words, for a message."""
        sentences = []
        if self.relaxed_margin is not None:
            margin = text_below(self.relaxed_margin, 10)
            sentences.append(f"relaxed answer: a margin of at least {margin} is proved")
        if self.interior_shift is not None:
            shift = f"an interior shift of {self.interior_shift:.1e}"
            sentences.append(f"boundary answer, proved strictly feasible after {shift}")
        if self.claimed_feasible is not None:
            sentences.append(
                f"HiGHS calls it {'feasible' if self.claimed_feasible else 'infeasible'}"
            )
        if self.rescalings is not None:
            sentences.append("rescaled {} and {} times".format(*self.rescalings))
        if self.separation is not None:
            sentences.append(self.separation.value)
        if self.out_of_memory is not None:
            sentences.append(self.out_of_memory)
        if self.missing is not None:
            sentences.append(f"{self.missing} is missing")
        if self.infeasibility in _KINDS:
            sentences.append(_KINDS[self.infeasibility])
        return "; ".join(sentences)


def _same(value: object) -> Any:
    return value


NOTHING: Final = Finding()
"""No facts."""
