"""Tightness of each theorem: measured updates over its bound, from stored runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from matplotlib.figure import Figure

from perceptron_lab.core import registry
from perceptron_lab.core.errors import DataError
from perceptron_lab.core.facts import Facts
from perceptron_lab.experiments.storage import schema
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.papers.yu.rates import bound_ratios as ratios
from perceptron_lab.reporting.papers.yu.rates import draw_ratios
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import escape
from perceptron_lab.reporting.theory.exhibit import Exhibit

SAMPLES: Final = (
    "rates",
    "bounds",
    "maxcut_oracles",
    "tiny_margin",
    "conic_rescaling",
    "central_cuts",
    "sublinear",
    "retraining",
    "gram_prox",
    "decision_lists",
    "deep_separation",
    "bundle_mirror",
)
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


def unbounded(names: Iterable[str]) -> list[Tightness]:
    """Return the package's other algorithms, each with its reason for having no bound.

    Asked is the algorithm with its default parameters, on :data:`ALL_KNOWN`. Where a bound exists
    nevertheless the reason is :data:`NOT_MEASURED`.
    """
    # Algorithms that a plugin has added are not the package's, and would make the file differ by
    # machine
    added = {name for kind, name, _ in registry.additions() if kind == "algorithm"}
    without = {*names, *added}
    lines = []
    for name in [name for name in registry.names("algorithm") if name not in without]:
        bound = registry.load("algorithm", name)().bound(ALL_KNOWN)
        reason = bound.reason if bound.value is None else NOT_MEASURED
        lines.append(Tightness(name, bound.theorem, reason=reason))
    return lines


def stored(experiment: str) -> Path:
    """Return the folder of an experiment's runs: the committed sample's, or ``results`` here.

    Raises
    ------
    DataError
        If there is neither.
    """
    folders = (_SAMPLE / experiment, Path("results") / experiment)
    # An installed package has no results/sample next to it
    folder = next(filter(schema.is_store, folders), None)
    if folder is None:
        raise DataError(
            f"the runs of {experiment} are neither in the repository's results/sample nor in "
            f"{folders[1]}; make them with `plab run {experiment}`"
        )
    return folder


def measured(experiments: tuple[str, ...] = SAMPLES) -> list[Tightness]:
    """Return the ratios of all algorithms in stored runs, in the order of their appearance.

    Only those problems count on which every cell ended with a proved answer. An algorithm's theorem
    for feasible systems, the one for epsilon-certificates and that for relaxed answers are apart.
    """
    groups: dict[tuple[str, str, str, str], list[float]] = {}
    for experiment in experiments:
        evidence = Evidence.of_folder(stored(experiment))
        algorithm_of = evidence.algorithms()
        for ratio in ratios(evidence):
            key = (algorithm_of[ratio.name], ratio.theorem, ratio.side, ratio.kind)
            groups.setdefault(key, []).append(ratio.value)
    return [Tightness(*key, tuple(ratios)) for key, ratios in groups.items()]


def tightness() -> Exhibit:
    """How tight each theorem is: measured updates over the bound, or the reason for none.

    Columns: ``algorithm``, ``theorem``, ``side`` (``feasible``, ``epsilon`` or ``relaxed``, by the
    proved answers), ``kind`` of the bound; ``problems``; ``least`` and ``largest`` ratio over them;
    ``reason`` why an algorithm has no bound. A ratio to a bound of the worst case
    takes the largest updates over the seeds; a ratio to a bound of the expectation takes the mean.
    It reads the samples rates, bounds, maxcut_oracles, tiny_margin, conic_rescaling, central_cuts,
    sublinear and retraining.
    """
    lines_measured = measured()
    lines = [*lines_measured, *unbounded(line.algorithm for line in lines_measured)]
    theorems = [escape(": ".join(filter(None, (line.theorem, line.reason)))) for line in lines]
    columns = [
        texts("algorithm", [line.algorithm for line in lines]),
        Column("theorem", [line.theorem for line in lines], theorems, align="p{50mm}"),
        texts("side", [line.side for line in lines]),
        texts("kind", [line.kind for line in lines]),
        counts("problems", [len(line.ratios) for line in lines]),
        numbers("least", [line.least for line in lines]),
        numbers("largest", [line.largest for line in lines]),
        # In print the reason stands in the column of the theorem, which is empty without a bound
        Column("reason", [line.reason for line in lines], None, align="l"),
    ]
    note = (
        "Updates over the bound of the theorem with its own constants, at the known or verified "
        "margin: the largest over the seeds for worst-case bounds, a ratio of means for bounds "
        "of the expectation. Least, largest: over the problems; at most 1 where the theorem "
        "holds. An algorithm without problems has no bound; the reason is in the column of the "
        "theorem."
    )
    table = Table("tightness", columns, notes=[note], long=True)
    return Exhibit(
        "How tight each theorem is: updates over bound", table, partial(_draw, lines_measured)
    )


def _draw(lines: Sequence[Tightness]) -> Figure:
    return draw_ratios((line.algorithm, line.side, line.ratios) for line in lines)
