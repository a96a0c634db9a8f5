"""Needs of tables and figures: checked on the plan by ``plab check``, on the runs by themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TypeVar

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.dataset import Dataset
from perceptron_lab.experiments.check import NEEDS
from perceptron_lab.experiments.check import Need as Need
from perceptron_lab.experiments.check import Outline as Outline
from perceptron_lab.reporting.evidence import Evidence

Made = TypeVar("Made")
Record = TypeVar("Record", bound=Dataset)


def needs(
    *checks: Need, of_plan: Sequence[Need] = ()
) -> Callable[[Callable[[Evidence], Made]], Callable[[Evidence], Made]]:
    """Declare the needs of a table or figure.

    They are checked on the evidence before it is made, and by ``plab check`` on the plan, which
    tells what is missing before anything is run.

    Parameters
    ----------
    checks
        Functions of an :class:`Outline`; see :data:`Need`.
    of_plan
        Those of the plan alone, about what the traces of finished runs show by themselves.
    """

    def declare(make: Callable[[Evidence], Made]) -> Callable[[Evidence], Made]:
        @wraps(make)
        def checked(evidence: Evidence) -> Made:
            for check in checks:
                check(evidence)
            return make(evidence)

        # `plab check` reads the needs from here, without making the table
        setattr(checked, NEEDS, (*checks, *of_plan))
        return checked

    return declare


def problems_of(outline: Outline, dataset: type[Record]) -> dict[str, Record]:
    """Return problem -> record, of the problems that belong to this kind of dataset."""
    records = {problem: outline.dataset(problem) for problem in outline.problems()}
    return {problem: record for problem, record in records.items() if isinstance(record, dataset)}


def learners_among(outline: Outline) -> list[str]:
    """Return the labels of learners; without any the evidence has no test figures."""
    labels = [label for label, method in outline.methods().items() if method.learns]
    if not labels:
        raise DataError(
            "no label is a learner, and only learners have test errors and precisions; add one "
            "(`plab list learners`), such as soft-ellipsoid"
        )
    return labels
