"""How tight each theorem is: measured updates over its bound, from stored runs; or why not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perceptron_lab.core import registry
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.facts import Facts
from perceptron_lab.experiments.storage import schema
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.papers.yu.ratios import ratios

SAMPLES: Final = ("rates", "bounds", "maxcut_oracles", "tiny_margin", "conic_rescaling")
"""The experiments that are read: their runs end with the answers that the theorems speak of."""
NOT_MEASURED: Final = "no stored run of it ended as its theorem says"
ALL_KNOWN: Final = Facts(
    dimension=4,
    rank=100,
    margin=0.01,
    unit_margin=0.01,
    raw_margin=0.01,
    norm=1.0,
    shortest=1.0,
    unit_rows=True,
    spectral=10.0,
    l1_margin=0.01,
)
"""Unit rows of which a bound may ask everything: one that has none here has none on any system."""
_SAMPLE = Path(__file__).resolve().parents[3] / "results" / "sample"


@dataclass(frozen=True)
class Tightness:
    """The ratios of one algorithm and theorem, least and largest over problems.

    ``kind`` says of which numbers: the largest updates over the bound where that holds in the worst
    case, mean updates over the mean bound where it is one of the expectation. Without ratios
    ``reason`` says why there are none.
    """

    algorithm: str
    theorem: str
    side: str = ""
    kind: str = ""
    ratios: tuple[float, ...] = ()
    reason: str = ""

    @property
    def least(self) -> float | None:
        """The least ratio: how loose the theorem can be."""
        return min(self.ratios, default=None)

    @property
    def largest(self) -> float | None:
        """The largest ratio, 1 at most if the theorem is right: how tight it has been seen."""
        return max(self.ratios, default=None)


def unbounded(known: Iterable[str]) -> list[Tightness]:
    """Return the package's algorithms but those named, each with the reason that it gives itself.

    Asked is the algorithm with its default parameters, on :data:`ALL_KNOWN`. Where a bound exists
    all the same the reason is :data:`NOT_MEASURED`.
    """
    added = {name for kind, name, _ in registry.additions() if kind == "algorithm"}
    without = {*known, *added}
    found = []
    for name in [name for name in registry.names("algorithm") if name not in without]:
        bound = registry.load("algorithm", name)().bound(ALL_KNOWN)
        reason = bound.reason if bound.value is None else NOT_MEASURED
        found.append(Tightness(name, bound.theorem, reason=reason))
    return found


def stored(experiment: str) -> Path:
    """Return the folder of an experiment's runs: the committed sample's, or ``results`` here.

    Raises
    ------
    DataError
        If there is neither.
    """
    folders = (_SAMPLE / experiment, Path("results") / experiment)
    found = next((folder for folder in folders if (folder / schema.NAME).is_file()), None)
    if found is None:
        raise DataError(
            f"neither {folders[0].name} of the repository's samples nor {folders[1]} is there; "
            f"make it by `plab run {experiment}`"
        )
    return found


def measured(experiments: tuple[str, ...] = SAMPLES) -> list[Tightness]:
    """Return the ratios of all algorithms in stored runs, in the order of their appearance.

    Only those problems count on which every cell ended with a proved answer. An algorithm's theorem
    for feasible systems, the one for epsilon-certificates and that for relaxed answers are apart.
    """
    groups: dict[tuple[str, str, str, str], list[float]] = {}
    for experiment in experiments:
        evidence = Evidence.of_folder(stored(experiment))
        known = evidence.algorithms()
        for one in ratios(evidence):
            key = (known[one.name], one.theorem, one.side, one.kind)
            groups.setdefault(key, []).append(one.value)
    return [Tightness(*key, tuple(ratios)) for key, ratios in groups.items()]
