"""What docs/notes/table-6-1.md says is in its samples, or is computed here."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from perceptron_lab import solve
from perceptron_lab.algorithms.nearest_point.most_violated import VonNeumann
from perceptron_lab.cones.oracles.semidefinite import PivotedCholesky
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.datasets.collections.problem_files import read_system
from perceptron_lab.datasets.generated.maxcut import enclosed, generate
from perceptron_lab.reporting.papers.thesis.table_6_1.table import thesis_table
from perceptron_lab.systems import ConicSystem, Cut
from perceptron_lab.systems.pencil import homogenised
from tests.prose.pages import ROOT, numbers, page, rounded, spelt

SAMPLES = ROOT / "results" / "sample"
PAGE = "table-6-1.md"


def by_oracle() -> dict[str, str]:
    """Return the sentences on the sample of every oracle."""
    table = pd.read_csv(SAMPLES / "maxcut_oracles" / "table_6_1_oracles.csv").set_index("problem")
    runs = pd.read_csv(SAMPLES / "maxcut_oracles" / "runs.csv")
    assert runs["proved"].all()
    assert (runs["status"] == "FEASIBLE").all()
    assert (table["rescalings"] == 0).all()
    assert (table["first phase"] == 256 * (table["m"] + 1)).all()
    queries = runs.pivot_table(index="problem", columns="label", values="queries")
    oracles = [
        f"{label} {oracle}" for label in ("PRA", "EA") for oracle in ("cholesky", "eigenvector")
    ]
    fewest = queries[["PRA", "EA", *oracles]]
    best = {label: fewest.filter(regex=f"^{label}").idxmin(axis=1) for label in ("PRA", "EA")}
    assert set(best["EA"]) == {"EA eigenvector"}
    assert set(best["PRA"].drop("maxG11")) == {"PRA"}
    assert best["PRA"]["maxG11"] == "PRA eigenvector"
    pra = runs[runs["label"] == "PRA"].set_index("problem")["updates"]
    share = 100.0 * (pra / table["first phase"]).max()
    every = 100.0 * (table["most updates"] / table["first phase"]).max()
    spans = {
        oracle: (rounded(table[column].min(), 3), rounded(table[column].max(), 3))
        for oracle, column in {
            "thesis": "queries",
            "LAPACK": "queries cholesky",
            "eigenvector": "queries eigenvector",
        }.items()
    }
    families = {
        f"family {k}": f"| -{k} | "
        + " | ".join(f"{table.loc[f'mcp{n}-{k}', 'queries']:.2f}" for n in (124, 250, 500))
        + " |"
        for k in (1, 2, 3, 4)
    }
    return families | {
        "phase": f"{pra.min()} to {pra.max()} updates on the {len(table)} instances, at most "
        f"{rounded(share)} % of its first phase of 256 (n + 1) updates",
        "any": f"with any of the oracles at most {rounded(every)} %",
        "spans": "PRA needs {} to {} times the queries of EA with Algorithm 7, {} to {} times with "
        "LAPACK's Cholesky, {} to {} times with the eigenvector".format(
            *spans["thesis"], *spans["LAPACK"], *spans["eigenvector"]
        ),
    }


def by_clock() -> dict[str, str]:
    """Return the sentences on seconds: the thesis's, and those of both samples."""
    thesis = thesis_table()
    names = list(dict.fromkeys(problem for problem, _ in thesis))
    ahead = [thesis[name, "PRA"].seconds < thesis[name, "EA"].seconds for name in names]
    equal = [thesis[name, "PRA"].seconds == thesis[name, "EA"].seconds for name in names]
    faster = {}
    for sample in ("maxcut", "maxcut_oracles"):
        runs = pd.read_csv(SAMPLES / sample / "runs.csv")
        seconds = runs.pivot_table(index="problem", columns="label", values="seconds")
        queries = runs.pivot_table(index="problem", columns="label", values="queries")
        ours, ratios = seconds["EA"] < seconds["PRA"], queries["PRA"] / queries["EA"]
        assert ratios[ours].median() > ratios[~ours].max()
        faster[sample] = int(ours.sum())
    return {
        "thesis clock": f"PRA was faster on {sum(ahead)} of {len(names)} instances and as fast on "
        f"{spelt(sum(equal))}",
        "our clock": f"EA is faster on {faster['maxcut']} of them in the one sample, on "
        f"{faster['maxcut_oracles']} in the other",
    }


def by_density() -> dict[str, str]:
    """Return the sentences on generated graphs."""
    table = pd.read_csv(SAMPLES / "maxcut_density" / "maxcut_density.csv")
    runs = pd.read_csv(SAMPLES / "maxcut_density" / "runs.csv")
    assert runs["proved"].all()
    fixed = table["problem"].str.endswith("-0.03")
    assert (table.loc[fixed, "rho lower"] > 0.0299).all()
    assert (table.loc[fixed, "rho upper"] < 0.0301).all()
    lines = {}
    for degree, rows_of_degree in table[~fixed].groupby("mean degree"):
        lines[f"degree {degree:g}"] = (
            f"| {degree:g} | {rows_of_degree['ratio'].min():.2f} to "
            f"{rows_of_degree['ratio'].max():.2f} "
            f"| {rows_of_degree['n rho squared'].min():.3f} to "
            f"{rows_of_degree['n rho squared'].max():.3f} |"
        )
    for degree, rows_of_degree in table[fixed].groupby("mean degree"):
        ratios = rows_of_degree.sort_values("vertices")["ratio"]
        assert all(before > after for before, after in pairwise(ratios))
        cells = " | ".join(f"{ratio:.2f}" for ratio in ratios)
        lines[f"fixed {degree:g}"] = f"| {degree:g} | {cells} |"
    ends = [
        table.loc[fixed & (table["vertices"] == n), "PRA queries"].sort_values() for n in (50, 400)
    ]
    (few, more), (many, most) = ends
    return lines | {
        "bound": f"from {few:.0f} and {more:.0f} at n = 50 to {many:.0f} and {most:.0f} at "
        f"n = 400, where 1 / rho^2 is {1 / 0.03**2:.0f}"
    }


def by_start() -> dict[str, str]:
    """Return the sentences on the cuts, and on von Neumann's start."""
    table = pd.read_csv(SAMPLES / "maxcut_cuts" / "cuts.csv")
    assert set(table["ended"]) == {"FEASIBLE"}
    queries = table.pivot_table(index="label", columns="problem", values="queries").astype(int)
    assert (queries.loc["VN"] == 3).all()
    depths = table.pivot_table(index="label", columns="problem", values="depth")
    norms = table.pivot_table(index="label", columns="problem", values="norm")
    oracles = ("pivoted-cholesky", "cholesky", "eigenvector")
    lines = {
        f"cuts {oracle}": "| {} | {} | {} | {} | {} |".format(
            oracle,
            *(rounded(norms.loc[f"PRA {oracle}", name], 3) for name in ("mcp100", "mcp124-4")),
            *(rounded(depths.loc[f"PRA {oracle}", name]) for name in ("mcp100", "mcp124-4")),
        )
        for oracle in oracles
    }

    def span(label: str) -> str:
        return f"{queries.loc[label].min()} to {queries.loc[label].max()}"

    return lines | {
        "VN": f"{spelt(3)} queries on each of the {spelt(queries.shape[1])} instances",
        "VN start": f"the perceptron with eigenvectors needs "
        f"{span('perceptron from the barycentre')} from the same start",
        "VN atom": f"von Neumann's steps from an atom {span('VN from an atom')}",
        "neither": f"the perceptron from 0 {span('PRA eigenvector')}",
    }


def by_margin() -> dict[str, str]:
    """Return the sentences on systems where the perceptron rescales."""
    table = pd.read_csv(SAMPLES / "sdp_rescaling" / "rescalings.csv")
    entries = table.set_index(["margin", "label"])
    lines = {}
    for margin in sorted(set(table["margin"]), reverse=True):
        at_margin = entries.loc[margin]
        cells = [
            f"{at_margin.loc['perceptron', 'updates']:.0f}{_cut_off(at_margin.loc['perceptron'])}"
        ]
        practical = at_margin.loc["PRA practical"]
        cells += [f"{practical['updates']:.0f}", f"{practical['rescalings']:.0f}"]
        cells += [f"{at_margin.loc['EA', 'updates']:.0f}"]
        lines[f"margin {margin:g}"] = f"| {margin:g} | {' | '.join(cells)} |"
        for label in ("PRA practical", "EA"):
            assert at_margin.loc[label, "ended"] == "FEASIBLE"
    products = (table["updates"] * table["margin"] ** 2)[table["label"] == "perceptron"]
    assert products[table["ended"] == "FEASIBLE"].between(0.15, 0.4).all()  # so like 1 / rho^2
    gain = entries.loc[0.01, "seconds"]
    grown = entries.loc[0.0001, "updates"] / entries.loc[0.01, "updates"]
    return lines | {
        "growth": f"PRA's grow {grown['PRA practical']:.1f} times, EA's {grown['EA']:.1f} times",
        "gain": f"at rho = 0.01 PRA takes {gain['PRA practical']:.2f} s where the perceptron takes "
        f"{gain['perceptron']:.2f} s",
    }


def _cut_off(line: pd.Series) -> str:
    return "" if line["ended"] == "FEASIBLE" else " (cut off)"


def claims() -> dict[str, str]:
    """Return all sentences and lines of tables that hold numbers of samples."""
    return by_oracle() | by_clock() | by_density() | by_start() | by_margin()


COMPUTED = {
    "pivoted-cholesky": (312, 0.316, 989, 1.0, 0.0609),
    "cholesky": (929, 0.658, 1412, 4.5, 0.0481),
    "eigenvector": (921, 0.402, 2291, 38.0, 0.0301),
}
"""On mcp100, oracle -> T, 1 - s, (cos / p)^2, vertices per cut, mean score at the centre."""


def computed_lines() -> dict[str, str]:
    """Return the lines of the table that is computed here, and rho of mcp100."""
    lines = {
        oracle: "| {} | {} | {} | {} | {} | {} |".format(oracle, *map(str, values))
        for oracle, values in COMPUTED.items()
    }
    return lines | {"rho": "with rho = 0.0297"}


FORMULAS = (
    r"\b[A-Za-z]_\d\b",
    r"\^-?\d",
    r"- L / 4\b",
    r"\b1 / ",
    r"/ \(1 \+ d / 4\)",
    r"\(n \+ 1\)",
)
"""Digits that belong to formulae."""
NOT_MEASURED = (
    "0",  # rescalings, as asserted above
    *("4", "0", "1", "2", "1", "1", "4", "0", "0"),  # formulae, and the perceptron's point
    *("124", "250", "500"),  # the orders of the families
    *("50", "400", "0.03", "50", "100", "200", "400"),  # the design of maxcut_density
    *("1", "1", "1", "1", "0", "0", "1", "4"),  # limits and formulae
    *("5", "5", "4", "0.01", "0.0001", "256", "32"),  # the design of sdp_rescaling, and a preset
)
"""Digits of formulae and of configurations."""


def test_its_numbers() -> None:
    text = page(PAGE)
    for claim in [*claims().values(), *computed_lines().values()]:
        assert claim in text, claim
        text = text.replace(claim, "", 1)
    for formula in FORMULAS:
        text = re.sub(formula, "", text)
    assert numbers(text) == list(NOT_MEASURED)


@pytest.mark.parametrize("name", ["random-40-100", "random-60-400"])
def test_where_von_neumann_is_after_one_step(name: str) -> None:
    """x is constant, x_0 / x_i is about 1 / (1 + d / 4): the first point is the barycentre's."""
    data = generate(name, 0)
    order, edges = (int(part) for part in name.split("-")[1:])
    algorithm = VonNeumann()
    system = algorithm.view(homogenised(data)).started({}, np.random.default_rng(0))
    state = algorithm.start(system, np.random.default_rng(0))
    assert state.point[1:] == pytest.approx(1.0 / (order + 1))
    assert state.point[0] == pytest.approx((1.0 - edges / 2.0) / (order + 1))
    algorithm.step(system, state, 1)
    assert np.ptp(state.point[1:]) < 1e-12
    ratio = state.point[0] / state.point[1]
    assert ratio == pytest.approx(1.0 / (1.0 + 2.0 * edges / order / 4.0), rel=0.02)


def system_and_laplacian(path: Path) -> tuple[ConicSystem, sparse.csr_array]:
    system = read_system(path)
    first = np.zeros(system.dimension)
    first[0] = 1.0
    (_, _), (block, span) = system.cone.blocks
    assert isinstance(block, Semidefinite)
    return system, sparse.csr_array(-4.0 * block.matrix(system.scores(first)[span]))


@pytest.mark.slow
def test_the_updates_of_mcp100_are_the_product_of_two_factors(
    sdplib_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T = (1 - s) (cos / p)^2 holds exactly; the factors are those of the page within 5 %."""
    recorded: list[np.ndarray] = []
    original_cut = ConicSystem.cut

    def watched(self: ConicSystem, point: np.ndarray, slack: float = 0.0) -> Cut | None:
        cut = original_cut(self, point, slack)
        if cut is not None:
            recorded.append(cut.normal.copy())
        return cut

    monkeypatch.setattr(ConicSystem, "cut", watched)
    system, laplacian = system_and_laplacian(sdplib_folder / "mcp100.dat-s")
    enclosure = enclosed(laplacian)
    assert enclosure.ends == pytest.approx((0.0297, 0.0297), rel=2e-3)
    centre = np.concatenate([[1.0], enclosure.point])
    centre /= np.linalg.norm(centre)
    for oracle, (updates, depths, progress, vertices, score) in COMPUTED.items():
        recorded.clear()
        named = PivotedCholesky(mode="thesis") if oracle == "pivoted-cholesky" else oracle
        result = solve(system, "perceptron", oracle=named)
        normals = np.array(recorded)
        units = normals / np.linalg.norm(normals, axis=1)[:, None]
        point, count = units.sum(axis=0), len(units)
        assert count == result.updates == pytest.approx(updates, rel=0.05)
        rest = point @ point / count
        mean = float((units @ centre).mean())
        cosine = point @ centre / np.linalg.norm(point)
        assert rest * (cosine / mean) ** 2 == pytest.approx(count)
        assert rest == pytest.approx(depths, rel=0.05)
        assert (cosine / mean) ** 2 == pytest.approx(progress, rel=0.05)
        matrix = normals[normals[:, 1:].any(axis=1)]
        assert matrix[:, 1:].sum(axis=1) == pytest.approx(1.0)
        assert (1.0 / (matrix[:, 1:] ** 2).sum(axis=1)).mean() == pytest.approx(vertices, rel=0.05)
        assert (matrix @ centre).mean() == pytest.approx(score, rel=0.05)
