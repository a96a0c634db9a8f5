"""The dataset ``ellipsoid-separation``: MAXSEP at a fixed ratio, for any algorithm."""

from __future__ import annotations

from dataclasses import dataclass as plain_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.dataclasses import dataclass

from perceptron_lab.datasets.collections.tabular import Tabular, instances_of
from perceptron_lab.datasets.dataset import Dataset, check_distinct, chosen
from perceptron_lab.datasets.generated.ellipsoid_sets import (
    Count,
    Dimension,
    EllipsoidSets,
    Ratio,
    check_training,
)
from perceptron_lab.datasets.generated.generator import one_thread, plain
from perceptron_lab.datasets.problem import Problem, sha256_of_arrays
from perceptron_lab.ellipsoids.hard.separation_system import SeparationSystem, separation_system
from perceptron_lab.errors import did_you_mean
from perceptron_lab.goals import STRICT
from perceptron_lab.results import FloatArray

_PARAMETERS: dict[str, dict[str, Any]] = {
    "ellipsoid-sets": {"attained": 1.5, "dimension": 2, "training": 30},
    **{source: {"instances": None} for source in ("digits", "breast-cancer", "wine")},
}


def _known(name: str, info: ValidationInfo) -> str:
    source = info.data.get("source", "ellipsoid-sets")
    known = [name] if source == "ellipsoid-sets" else list(instances_of(source, "pairs"))
    if name not in known:
        raise ValueError(f"no pair of classes is called {name!r}{did_you_mean(name, known)}")
    return name


@dataclass(frozen=True, config=STRICT | ConfigDict(validate_default=True))
class EllipsoidSeparationSystems(Dataset):
    """Whether two concentric, similar ellipsoids of a given ratio separate two classes (MAXSEP).

    For x^ = (x, 1), sought are E^ and s with E^ positive definite, x^'E^x^ < s on the positives and
    x^'E^x^ > ratio^2 s on the negatives: the program (7.9) of `Kharechko2009`, max t subject to
    x^'E^x^ <= 1 and x^'E^x^ >= 1 + t, at 1 + t = ratio^2. The system has one matrix block and a row
    per example; it is feasible if the largest ratio is above the one asked for, else infeasible.
    A point is measured by ``attained``, the ratio of its ellipsoid on the examples (0 where it
    has none).

    The examples are those of the datasets ellipsoid-sets (test: 200, same seed) and tabular
    (task: pairs), in coordinates in which they are white. The instance's name is that of the
    examples followed by the ratio, as in ``ellipsoid-2x30-200-1.5-above-1.2`` or
    ``wine-0-1-above-1``; the first class of a pair is the one inside.

    Parameters
    ----------
    source
        ``ellipsoid-sets`` (default), ``digits``, ``breast-cancer`` or ``wine``.
    ratio
        The separation ratio asked for, 1 (default: whether any ellipsoid separates) to 100.
    dimension
        Of ellipsoid-sets, 1 to 50 (default 2).
    attained
        Of ellipsoid-sets, the largest ratio, 0.01 to 100, not 1 (default 1.5); below 1 no ellipsoid
        separates the classes.
    training
        Of ellipsoid-sets, examples of each class, dimension + 1 or more (default 30).
    instances
        Of the others, some of the pairs of classes, such as ``wine-0-1``; by default all.
    """

    source: Literal["ellipsoid-sets", "digits", "breast-cancer", "wine"] = "ellipsoid-sets"
    ratio: Annotated[float, Field(ge=1.0, le=100.0)] = 1.0
    dimension: Dimension | None = None
    attained: Ratio | None = None
    training: Count | None = None
    instances: (
        Annotated[list[Annotated[str, AfterValidator(_known)]], AfterValidator(check_distinct)]
        | None
    ) = None

    @field_validator("dimension", "attained", "training", "instances")
    @classmethod
    def _of_the_source(cls, value: Any, info: ValidationInfo) -> Any:
        return chosen(value, info, "source", _PARAMETERS)

    @field_validator("training")
    @classmethod
    def _spanning(cls, training: int | None, info: ValidationInfo) -> int | None:
        return None if training is None else check_training(training, info)

    def names(self) -> list[str]:
        """Return the names of the examples with the ratio asked for; no data is loaded."""
        return list(self._examples())

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Return the system of one pair of classes."""
        self.check_name(name)
        positives, negatives = self._classes(self._examples()[name], seed)
        with one_thread():
            found = separation_system(positives, negatives, self.ratio)
        sha256 = sha256_of_arrays(positives, negatives)
        return Problem(name, found.system, sha256, found.system.facts(), Attained(found))

    def _generated(self) -> EllipsoidSets:
        return EllipsoidSets(self.attained or 1.5, self.dimension or 2, self.training or 30)

    def _examples(self) -> dict[str, str]:
        """Return the instances' names -> the names of their examples."""
        if self.source == "ellipsoid-sets":
            sets = [self._generated().name]
        else:
            sets = self.instances or list(instances_of(self.source, "pairs"))
        return {f"{one}-above-{plain(self.ratio)}": one for one in sets}

    def _classes(self, examples: str, seed: int) -> tuple[FloatArray, FloatArray]:
        if self.source == "ellipsoid-sets":
            task = self._generated().sample(seed).task
            rows, positive = np.asarray(task.examples), task.labels > 0
        else:
            first, second = instances_of(self.source, "pairs")[examples]
            pair = None if second is None else (first, second)
            found = Tabular(self.source).examples(pair)
            rows, positive = found.train, found.labels == first
        return rows[positive], rows[~positive]


@plain_dataclass(frozen=True, eq=False)
class Attained:
    """The separation ratio that the ellipsoid of a point attains.

    Parameters
    ----------
    separation
        The system and its examples.
    """

    separation: SeparationSystem

    def __call__(self, point: FloatArray) -> dict[str, float | FloatArray]:
        """Return ``attained``."""
        return {"attained": self.separation.ratio(point)}
