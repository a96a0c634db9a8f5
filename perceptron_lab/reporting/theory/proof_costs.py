"""What a proof costs: time for proving over time for solving, in all stored runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, seconds, texts
from perceptron_lab.reporting.printing.looks import distinct_looks
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.reporting.theory.tightness import stored

SAMPLES: Final = (
    *("margin_sets", "margin_effect", "rates", "bounds", "infeasible", "labelled", "tiny_margin"),
    *("maxcut", "maxcut_oracles", "maxcut_density", "maxcut_large", "maxcut_optimum"),
    *("maxcut_scaling", "sdplib", "sdplib_optimum", "infeasible_sdp", "cones", "rescaling"),
    *("conic_rescaling", "margin_dependence", "certificates"),
)
"""The experiments that are read: their algorithms claim answers that are proved afterwards."""
CONES: Final = ("rows", "second-order", "semidefinite", "mixed")
ANSWERS: Final = {
    Status.FEASIBLE: "point",
    Status.INFEASIBLE: "infeasibility",
    Status.MARGIN_BOUNDED: "margin bound",
}
"""Status of a proved answer -> what was proved."""
KINDS: Final = (*ANSWERS.values(), "optimum")
FEWEST: Final = 5
"""Groups of fewer answers are left out."""
_MATRICES = frozenset({"sdplib", "sdpa", "maxcut", "infeasible-sdp"})
_SEVERAL = frozenset({"conic-sets", "conditioned-cones"})
_SHORTEST = 1e-4
"""Seconds of an algorithm below which the clock, not the work, determines the ratio."""


@dataclass(frozen=True)
class ProofCost:
    """The proved answers of one cone, kind of answer and decade of sizes.

    ``proving`` and ``solving`` are the seconds of each answer, ``decade`` the integer part of
    log10 of constraints times dimension.
    """

    cone: str
    answer: str
    decade: int
    proving: FloatArray
    solving: FloatArray

    def quartile(self, part: float) -> float:
        """Return a quantile of the ratios of proving to solving."""
        return float(np.quantile(self.proving / self.solving, part))

    @property
    def share(self) -> float:
        """The share of proving in the seconds of all these answers together."""
        return float(self.proving.sum() / (self.proving.sum() + self.solving.sum()))


def cones(evidence: Evidence, frame: pd.DataFrame) -> list[str]:
    """Return the cone of each row: its family where the dataset has several cones."""
    names = {problem: evidence.dataset_name(problem) for problem in frame["problem"].unique()}
    datasets = frame["problem"].map(names)
    families = frame.get("problem.family", pd.Series("", frame.index)).astype(str)
    matrices = datasets.isin(_MATRICES).map({True: "semidefinite", False: "rows"})
    several = families.str.replace("orthant", "rows").where(datasets.isin(_SEVERAL), matrices)
    return list(several)


def answers(folder: Path) -> pd.DataFrame:
    """Return ``cone``, ``answer``, ``decade``, ``proving`` and ``solving`` of a store's answers.

    Answers without a separate proof (of learners and of exact engines) do not count.
    """
    evidence = Evidence.of_folder(folder)
    frame = evidence.frame
    proved = frame["proved"] & frame["status"].isin(ANSWERS) & (frame["proof_seconds"] > 0)
    frame = frame[proved & (frame["seconds"] >= _SHORTEST)]
    optimum = frame.get("optimum_lower", pd.Series(np.nan, frame.index)).notna()
    size = (frame["constraints"] * frame["dimension"]).to_numpy(float)
    return pd.DataFrame(
        {
            "cone": cones(evidence, frame),
            "answer": frame["status"].map(ANSWERS).mask(optimum, "optimum"),
            "decade": np.floor(np.log10(size)).astype(int),
            "proving": frame["proof_seconds"].astype(float),
            "solving": frame["seconds"].astype(float),
        }
    )


def measured() -> list[ProofCost]:
    """Return the costs in the stored runs, by cone, kind of answer and size."""
    frame = pd.concat([answers(stored(name)) for name in SAMPLES], ignore_index=True)
    costs = [
        _cost(rows)
        for _, rows in frame.groupby(["cone", "answer", "decade"])
        if len(rows) >= FEWEST
    ]
    order = {name: index for index, name in enumerate((*CONES, *KINDS))}
    return sorted(costs, key=lambda cost: (order[cost.cone], order[cost.answer], cost.decade))


def _cost(rows: pd.DataFrame) -> ProofCost:
    """Return the costs of answers of one group."""
    cone, answer, decade = rows[["cone", "answer", "decade"]].iloc[0]
    return ProofCost(cone, answer, int(decade), *rows[["proving", "solving"]].to_numpy().T)


def proof_costs() -> Exhibit:
    """Time for proving over time for solving in all stored runs, by cone, answer and size.

    Columns: ``cone``; ``answer``, what is proved: a point, infeasibility, a bound on the margin,
    or bounds on an optimum; ``decade``, the integer part of log10 of constraints times dimension;
    ``answers``, their number; ``lower quartile``, ``median`` and ``upper quartile`` of the ratio of
    the seconds of the proof to those of the algorithm; ``proving``, the median seconds of the
    proof; ``share`` of proving in the seconds of all these answers together. It reads the samples
    :data:`SAMPLES`.
    """
    lines = measured()
    columns = [
        texts("cone", [line.cone for line in lines]),
        texts("answer", [line.answer for line in lines]),
        counts("decade", [line.decade for line in lines]),
        counts("answers", [len(line.proving) for line in lines]),
        numbers("lower quartile", [line.quartile(0.25) for line in lines]),
        numbers("median", [line.quartile(0.5) for line in lines]),
        numbers("upper quartile", [line.quartile(0.75) for line in lines]),
        seconds("proving", [float(np.median(line.proving)) for line in lines]),
        numbers("share", [line.share for line in lines]),
    ]
    note = (
        "Seconds of the proof over seconds of the algorithm, of runs that ended with a proved "
        "answer after 0.1 ms or more. Decade: log10 of constraints times dimension, rounded down; "
        "groups of fewer than five answers are left out. Proving: median seconds. Share: of "
        "proving in the seconds of all these answers together. The runs differ in algorithm; "
        "bounds on optima include the search for a dual point. Samples: " + ", ".join(SAMPLES) + "."
    )
    table = Table("proof_costs", columns, notes=[note], long=True)
    return Exhibit("What a proof costs", table, partial(_draw, lines))


def _draw(lines: Sequence[ProofCost]) -> Figure:
    """Draw the ratio against the size, a panel per cone: medians with bars between quartiles."""
    cones = [cone for cone in CONES if any(line.cone == cone for line in lines)]
    looks = distinct_looks(KINDS)
    figure, panels = drawing.panels(len(cones), 2.4, 0.7, 2.2, sharey=True)
    for axes, cone in zip(panels, cones, strict=True):
        for answer, look in looks.items():
            of_kind = [line for line in lines if (line.cone, line.answer) == (cone, answer)]
            for line in of_kind:
                ends = [line.quartile(0.25), line.quartile(0.75)]
                drawing.draw_bar(axes, 10.0**line.decade, ends, look["color"])
            points = [10.0**line.decade for line in of_kind]
            axes.plot(points, [line.quartile(0.5) for line in of_kind], label=answer, **look)
        axes.axhline(1.0, color="0.6", linewidth=0.8)
        axes.set(xscale="log", yscale="log", xlabel="constraints x dimension")
        axes.set_title(cone, loc="left")
        drawing.rule_logarithmic(axes, "both")
    panels[0].set_ylabel("seconds of proof / of algorithm")
    handles = [Line2D([], [], label=kind, **look) for kind, look in looks.items()]
    drawing.legend_above(figure, handles)
    return figure
