"""What docs/notes/chapter-6.md says of the factorial experiment is in its sample."""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np
import pandas as pd

from perceptron_lab.experiments.configuration.catalogue import gallery
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.papers.thesis.factors import (
    Effect,
    Span,
    combined,
    effect_of,
    responses,
)
from tests.prose.pages import ROOT, numbers, page, rounded, spelt

FOLDER = ROOT / "results" / "sample" / "maxcut_factors"
EFFECTS = pd.read_csv(FOLDER / "effects.csv").set_index(["method", "effect"])
RIVALS = pd.read_csv(FOLDER / "rivals.csv").set_index(["first", "second", "condition"])
PHASES = {"PRA perceptron": "perceptron", "PRA tau-0.1": "τ = 0.1", "PRA tau-1": "τ = 1"}
CONDITIONS = {
    f"{oracle} start={start}": f"{text} | {where}"
    for (oracle, text), (start, where) in product(
        [("pivoted-cholesky", "Algorithm 7"), ("eigenvector", "eigenvector")],
        [("own", "0"), ("barycentre", "barycentre")],
    )
}
EA_EFFECTS = {
    "deep / central": "deep / central cuts",
    "eigenvector / pivoted-cholesky": "eigenvector / Algorithm 7",
    "start=barycentre / start=own": "barycentre / 0",
}


@cache
def evidence() -> Evidence:
    return Evidence.of_folder(FOLDER)


def rows() -> pd.DataFrame:
    """Return the cells of PRA and EA."""
    frame = evidence().frame
    return frame[frame["label"] != "low-rank"].assign(
        objective=reals(frame["optimum_upper"]), method=frame["label"].str.split().str[0]
    )


def ratio(line: pd.Series, response: str) -> str:
    """Return a ratio with its interval: ``1.2 (1 to 3)``."""
    median, lower, upper = (line[f"{response} {name}"] for name in ("ratio", "lower", "upper"))
    return f"{number(median)} ({number(lower)} to {number(upper)})"


def number(value: float) -> str:
    if pd.isna(value):
        return "open"
    return "∞" if math.isinf(value) else rounded(value)


def simple(response: str, first: str, second: str, instances: int = 14) -> Effect:
    """Return the ratio of two labels on the first instances."""
    spans = responses(evidence())[response]
    ends = [spans[tuple(label.split())] for label in (first, second)]
    pair = [Span(span.low[:instances], span.high[:instances]) for span in ends]
    return effect_of(combined(pair, np.array([1.0, -1.0])))


def of_rivals() -> list[str]:
    """Return the lines of PRA over EA, and what is said of them."""
    lines = []
    for (phase, name), (condition, where) in product(PHASES.items(), CONDITIONS.items()):
        line = RIVALS.loc[(phase, "EA central", condition)]
        lines.append(
            f"| {name} | {where} | {ratio(line, 'queries')} | "
            f"{line['queries above']:.0f}, {line['queries below']:.0f} | {ratio(line, 'excess')} | "
            f"{line['excess above']:.0f}, {line['excess below']:.0f} |"
        )
    whole = RIVALS["queries above"] == RIVALS["instances"]
    assert set(RIVALS[~whole].reset_index()["first"]) == {"PRA perceptron"}
    assert RIVALS[~whole].reset_index()["condition"].str.endswith("barycentre").all()
    fewest = RIVALS[whole]["queries lower"].min()
    plain = RIVALS.loc[("PRA perceptron", "EA central", "pivoted-cholesky start=barycentre")]
    usual = RIVALS.loc[("PRA perceptron", "EA central", "pivoted-cholesky start=own")]
    fewer, larger = int(plain["queries below"]), int(usual["excess above"])
    nearer = {
        instances: [
            simple("excess", f"PRA tau-0.1 {condition}", f"EA central {condition}", instances).below
            for condition in list(CONDITIONS)[:2]
        ]
        for instances in (14, 9)
    }
    return [
        *lines,
        f"In {whole.sum()} of the {len(whole)} conditions EA needs fewer queries on all "
        f"{RIVALS['instances'].iloc[0]} instances; lower ends of the intervals are "
        f"{math.floor(10.0 * fewest) / 10.0} or more",
        f"PRA needs fewer queries on {spelt(fewer)} instances with Algorithm 7",
        f"the excess of PRA is {ratio(usual, 'excess')} times that of EA, and larger on {larger} "
        "instances",
        f"PRA is nearer to the optimum on {spelt(nearer[14][0])} instances from 0 and on "
        f"{spelt(nearer[14][1])} from the barycentre. Of the nine smaller instances these are "
        f"{spelt(nearer[9][0])} and {spelt(nearer[9][1])}",
    ]


def of_phases() -> list[str]:
    """Return what is said of phase one with margin compared with the perceptron."""
    nearer = {
        tau: [
            simple("excess", f"PRA {tau} {condition}", f"PRA perceptron {condition}")
            for condition in CONDITIONS
        ]
        for tau in ("tau-0.1", "tau-1")
    }
    text = {
        tau: ", ".join(f"{effect.below} against {effect.above}" for effect in effects)
        for tau, effects in nearer.items()
    }
    return [
        f"With τ = 0.1 the excess is smaller on {text['tau-0.1']} instances",
        f"with τ = 1 on {text['tau-1']}",
    ]


def of_oracles() -> list[str]:
    """Return what is said of the oracle."""
    ellipsoid, plain, margin = (
        simple("queries", f"{label} eigenvector start=own", f"{label} pivoted-cholesky start=own")
        for label in ("EA central", "PRA perceptron", "PRA tau-0.1")
    )
    assert ellipsoid.ratio is not None
    assert ellipsoid.lower is not None
    assert ellipsoid.upper is not None
    ends = rounded(ellipsoid.lower), rounded(ellipsoid.upper)
    return [
        f"EA needs {rounded(ellipsoid.ratio)} ({ends[0]} to {ends[1]}) times the queries with "
        f"eigenvectors, fewer on all {ellipsoid.below} instances",
        f"PRA needs more on {plain.above} instances and fewer on {spelt(plain.below)} with the "
        f"perceptron, but fewer on {margin.below} with τ = 0.1",
    ]


def of_points() -> list[str]:
    """Return what is said of cells with and without points, and of the rule that ends sequences."""
    frame = rows()
    feasible = frame["status"] == "FEASIBLE"
    counts = frame.groupby("method").size()
    points = feasible.groupby(frame["method"]).sum()
    assert points["EA"] == counts["EA"]
    assert frame.loc[feasible, "proved"].all()
    optimum = reals(evidence().frame.set_index("label").loc["low-rank", "optimum_lower"])
    least = dict(zip(evidence().frame["problem"].unique(), optimum, strict=True))
    ended = frame[frame["message"].str.contains("the last two objectives differ by less")]
    excess = ended["objective"] / ended["problem"].map(least) - 1.0
    return [
        f"EA finds a point in all {counts['EA']} cells, PRA in {points['PRA']} of {counts['PRA']}",
        f"The rule ended {len(ended)} sequences. The median of their excess is "
        f"{rounded(excess.median())}, and {spelt(int((excess < 0.05).sum()))} of them are within "
        "5 % of the optimum",
    ]


def of_ellipsoids() -> list[str]:
    """Return the lines of EA's main effects."""
    lines = [
        f"| {text} | {ratio(EFFECTS.loc[('EA', effect)], 'queries')} | "
        f"{ratio(EFFECTS.loc[('EA', effect)], 'excess')} |"
        for effect, text in EA_EFFECTS.items()
    ]
    mixed = EFFECTS.loc[("EA", "eigenvector / pivoted-cholesky x start=barycentre / start=own")]
    return [*lines, f"of queries is {ratio(mixed, 'queries')}, above 1 on all instances"]


def of_the_design() -> list[str]:
    """Return what is said of the configuration."""
    config = load_experiment(gallery()["maxcut_factors"]).config
    _, large, largest = config.problems
    assert large.budget is not None
    assert largest.budget is not None
    labels = rows()["label"].nunique()
    problems = len(evidence().problems())
    return [
        f"{labels} combinations on {problems} instances: {labels * problems} cells",
        f"{config.budget.updates} updates on the nine instances of order up to 250, "
        f"{large.budget.updates} on the four of order 500 and {largest.budget.updates} on maxG11",
    ]


NOT_MEASURED = (
    *("14", "0"),  # what the thesis has
    *("1", "2", "3", "4", "5", "6"),  # C1 to C6
    *("0.1", "1", "0"),  # the levels
    *("95", "1", "1", "0"),  # the level of intervals, ratios of 1, the start
    *("1", "2", "0", "0.1", "3", "4", "0", "5", "6"),  # C1 to C6, some with their conditions
)
"""The names of conclusions, and the design."""


def claims() -> list[str]:
    return [
        *of_the_design(),
        *of_rivals(),
        *of_phases(),
        *of_oracles(),
        *of_points(),
        *of_ellipsoids(),
    ]


def test_its_numbers() -> None:
    text = page("chapter-6.md")
    for claim in claims():
        assert claim in text, claim
        text = text.replace(claim, "", 1)
    assert numbers(text) == list(NOT_MEASURED)
