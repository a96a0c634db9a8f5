"""How tight each theorem is: measured updates over its bound, from stored runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from perceptron_lab.errors import DataError
from perceptron_lab.experiments.storage import schema
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.yu.rates import rates

SAMPLES: Final = ("rates", "maxcut_oracles", "tiny_margin", "conic_rescaling")
"""The experiments that are read: their runs end with the answers that the theorems speak of."""
_SAMPLE = Path(__file__).resolve().parents[2] / "results" / "sample"


@dataclass(frozen=True)
class Tightness:
    """The ratios of one algorithm and theorem, least and largest over problems.

    ``kind`` says of which numbers: the largest updates over the bound where that holds in the worst
    case, mean updates over the mean bound where it is one of the expectation.
    """

    algorithm: str
    theorem: str
    side: str
    kind: str
    ratios: tuple[float, ...]

    @property
    def least(self) -> float:
        """The least ratio: how loose the theorem can be."""
        return min(self.ratios)

    @property
    def largest(self) -> float:
        """The largest ratio, 1 at most if the theorem is right: how tight it has been seen."""
        return max(self.ratios)


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
    for feasible systems and the one for epsilon-certificates are apart.
    """
    groups: dict[tuple[str, str, str, str], list[float]] = {}
    for experiment in experiments:
        evidence = Evidence.of_folder(stored(experiment))
        known = evidence.algorithms()
        frame = rates(evidence).frame
        for line in frame.to_dict("records"):
            given = [line["largest ratio"], line["mean ratio"]]
            ratio = next((float(one) for one in given if not pd.isna(one)), 0.0)
            if ratio > 0.0 and line["side"]:
                key = (known[line["label"]], line["theorem"], line["side"], line["kind"])
                groups.setdefault(key, []).append(ratio)
    return [Tightness(*key, tuple(ratios)) for key, ratios in groups.items()]
