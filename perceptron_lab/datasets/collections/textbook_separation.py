"""Textbook examples of separation, with the numbers of their sources."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, NamedTuple

import numpy as np
from pydantic import AfterValidator

from perceptron_lab.core.errors import did_you_mean
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.datasets.dataset import Dataset, Distinct
from perceptron_lab.datasets.problem import Problem, Task, sha256_of_arrays
from perceptron_lab.systems import ConicSystem

_FOLDER: Final = Path(__file__).parent / "textbook_examples"


class Printed(NamedTuple):
    """The published answer: the verdict, and the features with divergent coefficients."""

    verdict: str
    diverging: tuple[str, ...]


ANSWERS: Final = {
    "endometrial": Printed("quasi-complete", ("NV",)),
    "agresti-complete": Printed("complete", ("x",)),
    "agresti-quasi-complete": Printed("quasi-complete", ("x",)),
}
"""Instance -> the answer of its source."""


def _check_instance(name: str) -> str:
    if name not in ANSWERS:
        raise ValueError(
            f"no example is called {name!r}{did_you_mean(name, ANSWERS)}; known: "
            f"{', '.join(ANSWERS)}"
        )
    return name


@parameter_record
class TextbookSeparation(Dataset):
    """Examples of separation from the statistical literature; nothing is downloaded.

    ``endometrial``: histology (HG, 1 for high grade) of 79 cases of endometrial cancer by
    neovasculization (NV), pulsatility index (PI) and endometrium height (EH): no case of low grade
    has NV = 1. Heinze and Schemper, A solution to the problem of separation in logistic regression,
    Statistics in Medicine 21 (2002), 2409-2419; the data were provided by E. Asseryanis.

    ``agresti-complete``, ``agresti-quasi-complete``: y = 0 at x = 10, 20, 30, 40 and y = 1 at x =
    60, 70, 80, 90; with one case of each at x = 50. Agresti, Categorical Data Analysis, 3rd edition
    (2013), section 6.5.1.

    Numbers are the doubles nearest to those printed. There are no test examples.

    Parameters
    ----------
    instances
        Some of the names; by default all.
    """

    instances: Annotated[list[Annotated[str, AfterValidator(_check_instance)]], Distinct] | None = (
        None
    )

    def names(self) -> list[str]:
        """Return the names of the examples."""
        return list(ANSWERS if self.instances is None else self.instances)

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Return an example; seed and folder have no effect."""
        self.check_name(name)
        numbers = np.loadtxt(_FOLDER / f"{name}.csv", delimiter=",", skiprows=1)
        examples = np.ascontiguousarray(numbers[:, :-1])
        labels = np.where(numbers[:, -1] > 0.0, 1.0, -1.0)
        system = ConicSystem.from_labelled(examples, labels)
        task = Task("1", examples, labels, examples[:0], labels[:0])
        sha256 = sha256_of_arrays(examples, labels)
        return Problem(name, system, sha256, system.facts(), tasks=(task,))

    @staticmethod
    def features(name: str) -> list[str]:
        """Return the names of an example's features."""
        with (_FOLDER / f"{name}.csv").open(encoding="utf-8") as file:
            return file.readline().strip().split(",")[:-1]
