"""The exhibits of plab theory: tables that say what the mathematics does, and whole files."""

import json
from io import StringIO

import numpy as np
import pandas as pd
import pytest

from perceptron_lab import list_names
from perceptron_lab.algorithms.resisting.forced import forced
from perceptron_lab.cli.main import main
from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.reporting.printing.looks import curve_looks
from perceptron_lab.reporting.theory import rescaling, tightness
from perceptron_lab.reporting.theory.ellipsoid_method import winning_margins
from perceptron_lab.reporting.theory.exhibit import exhibit, written
from perceptron_lab.reporting.theory.learning_complexity import (
    ellipsoid_mistakes,
    gravity_mistakes,
    least_upper,
    printed_case,
)
from perceptron_lab.reporting.theory.refutations import complexity
from perceptron_lab.reporting.theory.refutations.statement import CheckResult, PaperStatement
from perceptron_lab.reporting.theory.refutations.statements import ALL
from tests.families import exact_margin
from tests.repetitions import repeated

NAMES = registry.names("theory")


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.place)
def test_every_claim_listed_is_refuted_by_its_check(claim):
    finding = claim.check()
    assert finding.refuted
    assert finding.printed != finding.computed
    assert np.isfinite(finding[:2]).all()


@pytest.mark.parametrize("more", [-1, 1])
def test_a_wrong_number_of_forced_mistakes_is_noticed(more, monkeypatch):
    """The claim on Theorem 5.9 is refuted, and what holds instead is asserted with it."""
    (claim,) = [claim_ for claim_ in ALL if claim_.place == "Theorem 5.9, case 1"]
    monkeypatch.setattr(complexity, "forced_mistakes", lambda n, rho: forced(n, rho) + more)
    assert not claim.check().refuted


def test_the_stated_mistakes_are_forced_where_the_check_does_not_look():
    assert all(complexity.resisted(n, rho) for n, rho in [(3, 0.3), (4, 0.05), (6, 0.4)])


def test_a_true_claim_is_listed(monkeypatch):
    true = PaperStatement(
        "Kharechko2009", "Theorem 2.7", "", "", lambda: CheckResult(1.0, 1.0, False)
    )
    monkeypatch.setattr("perceptron_lab.reporting.theory.refutations.statements.ALL", (*ALL, true))
    refuted = exhibit("claims").table.frame["refuted"]
    assert list(refuted) == ["yes"] * len(ALL) + ["no"]


def test_no_upper_bound_lies_below_the_forced_mistakes():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, margin = int(rng.integers(2, 200)), float(2.0 ** -rng.uniform(0, 25))
        assert least_upper(n, margin) >= forced(n, margin) * (1 - 1e-12)
        assert gravity_mistakes(n, margin) <= ellipsoid_mistakes(n, margin)
    assert least_upper(64, 0.125) == forced(64, 0.125) == 64  # n = 1/rho^2: the perceptron is best
    cases = [printed_case(100, margin) for margin in (0.2, 0.05, 0.001)]
    assert cases == ["1/rho^2", "n", "n ln(2 + 1/rho)"]


def test_the_planes_margin_is_that_of_the_exact_judge():
    for angle in (0.0, 0.2, 1.0, 1.5):
        x = np.array([np.cos(angle), np.sin(angle)])
        rows = rescaling.rescaled(rescaling.cone(rescaling.HALF_ANGLE), x)
        assert rescaling.plane_margin(rows)[0] == pytest.approx(exact_margin(rows)[0], abs=1e-9)
    frame = exhibit("figure_3_1").table.frame
    assert (frame["bound"] <= frame["growth"]).all()


def test_figure_3_2_has_both_branches():
    frame = exhibit("figure_3_2").table.frame
    for line in frame.to_dict("records"):
        ends = winning_margins(line["dimension"])
        assert (line["operations lower"], line["operations upper"]) == ends
        assert line["operations lower"] < line["operations proved"] < line["operations upper"]


@pytest.mark.slow
def test_ratios_of_stored_runs_hold_to_the_theorems():
    measured = tightness.measured(("rates",))
    assert {"perceptron", "mirror-prox", "winnow"} <= {study.algorithm for study in measured}
    assert all(0 < study.least <= study.largest <= 1 for study in measured)
    assert {study.side for study in measured} == {"feasible", "epsilon"}
    bounds = tightness.measured(("bounds",))
    assert {study.side for study in bounds} == {"feasible", "epsilon", "relaxed"}
    assert all(0 < study.least <= study.largest <= 1 for study in bounds)
    with pytest.raises(DataError, match="plab run nowhere"):
        tightness.stored("nowhere")


@pytest.mark.slow
def test_every_algorithm_has_a_ratio_or_a_reason(monkeypatch):
    measured = tightness.measured()
    monkeypatch.setattr(tightness, "measured", lambda: measured)  # all samples are read once
    study = tightness.unbounded(study.algorithm for study in measured)
    names = [study.algorithm for study in measured]
    assert {*names} | {study.algorithm for study in study} == {*registry.names("algorithm")}
    assert not {*names} & {study.algorithm for study in study}
    assert all(study.reason for study in study)
    # Stored runs of bundle-mirror are bisections of an objective, of which its theorem says nothing
    unmeasured = {row.algorithm for row in study if row.reason == tightness.NOT_MEASURED}
    assert unmeasured == {"bundle-mirror"}
    frame = exhibit("tightness").table.frame
    assert ((frame["reason"] == "") == (frame["problems"] > 0)).all()


def test_an_algorithm_with_a_bound_but_no_run_is_listed():
    by_name = {study.algorithm: study for study in tightness.unbounded(["highs"])}
    assert "highs" not in by_name
    assert by_name["perceptron"].reason == tightness.NOT_MEASURED
    assert by_name["perceptron"].theorem == "Theorem 2.7 (Novikoff) of Kharechko2009"
    assert by_name["auto"].reason.startswith("each part has its own bound")
    assert by_name["auto"].largest is None


def test_curves_differ_without_their_colours():
    looks = curve_looks([str(index) for index in range(8)])
    assert len({(look["linestyle"], look["linewidth"]) for look in looks.values()}) == 8


@pytest.mark.slow
def test_the_command_writes_a_table(tmp_path, capsys):
    assert main(["theory", "claims", "--into", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        f"claims.{kind}" for kind in ("csv", "tex", "html", "md")
    }
    out = capsys.readouterr().out
    assert "claims.csv" in out
    assert "footnote 9" in out
    assert main(["theory", "claims", "--quiet", "--into", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_the_command_writes_a_table_and_a_figure(tmp_path, capsys):
    assert main(["theory", "figure_3_2", "--into", str(tmp_path)]) == 0
    written_files = {path.name for path in tmp_path.iterdir()}
    kinds = ("csv", "tex", "html", "md", "png", "pdf", "svg")
    assert written_files == {f"figure_3_2.{kind}" for kind in kinds}
    assert "figure_3_2.png" in capsys.readouterr().out
    frame = pd.read_csv(tmp_path / "figure_3_2.csv")
    assert frame["operations lower"][0] == winning_margins(2)[0]


def test_an_unknown_name_is_refused_before_anything_is_written(tmp_path, capsys):
    assert main(["theory", "claims", "figure_3_3", "--into", str(tmp_path / "x")]) == 2
    assert "unknown theory 'figure_3_3' (did you mean 'figure_3_2'?)" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
    with pytest.raises(ConfigError):
        next(written(["nothing"], tmp_path))


def test_the_names_are_listed_and_explained(capsys):
    assert [entry["name"] for entry in list_names("theory")] == NAMES
    assert all(entry["summary"].endswith((".", "8")) for entry in list_names("theory"))
    assert main(["show", "parameter_sets", "--json"]) == 0
    (meaning,) = json.loads(capsys.readouterr().out)
    assert meaning["kind"] == "theory"
    assert "gain" in meaning["documentation"]


@pytest.mark.slow
@pytest.mark.parametrize("name", repeated(NAMES, kept=1))
def test_every_exhibit_is_reproducible(name):
    first, again = exhibit(name).files(), exhibit(name).files()
    assert first == again
    assert f"{name}.csv" in first
    frame = pd.read_csv(StringIO(first[f"{name}.csv"].decode()))
    assert len(frame) >= 5
    if name != "claims":
        assert first[f"{name}.png"].startswith(b"\x89PNG")
