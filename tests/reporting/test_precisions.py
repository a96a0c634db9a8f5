"""Tables and figures of learners, on made-up runs: means, spreads, statements, intervals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import Result
from perceptron_lab.datasets.collections.reuters import Reuters
from perceptron_lab.estimators.learners.precision import average_precision
from perceptron_lab.reporting import report
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.papers.thesis.table_8_1.comparisons import differences
from perceptron_lab.reporting.papers.thesis.table_8_1.precisions import entries, thesis_precisions
from perceptron_lab.reporting.papers.thesis.table_8_1.tables import preprocessing
from perceptron_lab.reporting.summary import by_label
from tests.reporting.artificial_runs import make_result, make_row, make_trace, write_folder

Rows = list[dict[str, Any]]


def learnt(problem: str, label: str, precision: float | None, **changes: Any) -> dict[str, Any]:
    """Return the row of a learner; labels begin with ``hard``, ``soft``, ``svm`` or ``linear``."""
    algorithm = {
        "hard": "ellipsoid-separation",
        "soft": "soft-ellipsoid",
        "svm": "polynomial-svm",
        "linear": "linear-scorer",
    }[label.split()[0]]
    columns = {
        "algorithm": algorithm,
        "parameters": "{}",
        "status": "FITTED",
        "proved": False,
        "measure.average_precision": precision,
        "measure.error": 0.25,
        "measure.cpu_seconds": 0.5,
        "measure.components": 30.0,
    }
    return make_row(problem, label, **(columns | changes))


def table(name: str, rows: Rows) -> Any:
    return report.table(name, _evidence(rows))


def _evidence(rows: Rows) -> Evidence:
    return Evidence.of_runs(pd.DataFrame(rows))


TWO_BY_TWO = [
    learnt("earn", "soft", 0.75, seed=0),
    learnt("earn", "soft", 0.85, seed=1),
    learnt("corn", "soft", 0.5, seed=0),
    learnt("corn", "soft", 0.7, seed=1),
]


def test_the_reference_is_that_of_the_thesis() -> None:
    precisions = thesis_precisions()
    assert len(precisions) == 10
    assert precisions["trade"] == {"ellipsoid_k30": 46.7, "svm_k30": 80.3, "svm_n20494": 84.3}
    assert set(precisions) == set(Reuters().names())


def test_table_8_1_has_means_over_seeds_and_categories_and_the_thesis() -> None:
    frame = table("table_8_1", TWO_BY_TWO).frame.set_index("category")
    assert list(frame.index) == ["earn", "corn", "mean"]
    assert frame["soft"].tolist() == pytest.approx([80.0, 60.0, 70.0])
    # The mean's range is that of the seeds' means.
    assert frame["soft lowest"].tolist() == pytest.approx([75.0, 50.0, 62.5])
    assert frame["soft highest"].tolist() == pytest.approx([85.0, 70.0, 77.5])
    assert frame["thesis SVM k30"].tolist() == pytest.approx([97.6, 90.9, 94.25])


def test_the_spread_is_printed_with_the_mean() -> None:
    printed = table("table_8_1", TWO_BY_TWO).latex("Title")
    assert "80.0 (75.0--85.0)" in printed
    assert "80.0 (75.0–85.0)" in table("table_8_1", TWO_BY_TWO).markdown("Title")
    assert "97.6" in printed


def test_a_missing_cell_leaves_no_mean_and_states_why() -> None:
    rows = [*TWO_BY_TWO[:3], learnt("corn", "soft", None, seed=1, status="ERROR")]
    frame = table("table_8_1", rows).frame.set_index("category")
    assert frame["soft"].isna().tolist() == [False, True, True]
    assert frame.loc["corn", "soft status"] == "ERROR"


def test_verified_results_of_hard_ellipsoids_are_stated() -> None:
    rows = [
        learnt("earn", "hard", 0.9, status="INFEASIBLE", proved=True),
        learnt(
            "acq",
            "hard",
            0.8,
            status="MARGIN_BOUNDED",
            proved=True,
            **{"measure.ratio_upper": 1.2e-9},
        ),
        learnt("corn", "hard", 0.7, status="FEASIBLE", proved=True, **{"measure.ratio_lower": 2.5}),
        learnt("rye", "hard", 0.6, status="UNBOUNDED", proved=True),
        learnt("trade", "hard", 0.6),
    ]
    report_table = table("table_8_1", rows)
    expected = ["t = 0", "t <= 1.2e-09", "t >= 2.5", "UNBOUNDED", "FITTED", ""]
    assert report_table.frame["hard proves"].fillna("").tolist() == expected
    assert "$t \\leq 1.2e-09$" in report_table.latex("Title")
    # rye is none of the thesis's.
    assert report_table.frame["thesis SVM k30"].isna().tolist() == [
        False,
        False,
        False,
        True,
        False,
        True,
    ]


def test_results_common_to_all_hard_ellipsoids_are_printed_once() -> None:
    proved = {"status": "INFEASIBLE", "proved": True}
    rows = [learnt("earn", "hard a", 0.5, **proved), learnt("earn", "hard b", 0.5, **proved)]
    same = table("table_8_1", rows)
    assert same.frame["hard a proves"].tolist() == same.frame["hard b proves"].tolist()
    assert [column.name for column in same.printed][-1] == "all prove"
    assert same.latex("Title").count("t = 0$ &") + same.latex("Title").count("t = 0$ \\\\") == 1
    rows[1] = learnt("earn", "hard b", 0.5)
    printed = [column.name for column in table("table_8_1", rows).printed]
    assert printed[-4:] == ["hard a", "hard a proves", "hard b", "hard b proves"]


def test_table_8_1_is_printed_in_blocks_that_fit_a_page() -> None:
    labels = {
        "hard a": 30, "hard b": 30, "soft k30": 30, "svm k30": 30, "linear k30": 30,
        "soft k200": 200, "svm k200": 200, "linear k200": 200, "soft full": None,
    }  # fmt: skip
    rows = [
        learnt("earn", label, 0.5, parameters=json.dumps({"components": components}))
        for label, components in labels.items()
    ]
    report_table = table("table_8_1", rows)
    printed = report_table.latex("A & B")
    parts = printed.split("\\begin{tabular}")[1:]
    widths = [part.partition("}")[0].removeprefix("{") for part in parts]
    # The thesis and the hard ellipsoids with what they prove; all others.
    assert widths == ["lrrrrrl", "lrrrrrrr"]
    assert printed.count("\\caption{A \\& B}") == 1
    assert "\\multicolumn{3}{c}{hard, k = 30}" in parts[0]
    assert "\\multicolumn{1}{c}{all features}" in parts[1] or "& all features" in parts[1]
    for part, width in zip(parts, widths, strict=True):
        body = part.partition("\\midrule")[2].partition("\\bottomrule")[0]
        lines = [line for line in body.splitlines() if line.endswith("\\\\")]
        assert [line.split(" & ")[0] for line in lines] == ["earn", "mean"]
        assert {line.count(" & ") + 1 for line in lines} == {len(width)}
    assert "\\shortstack[r]{linear\\\\k200}" in parts[1]
    # The CSV is one table.
    assert set(labels) < set(report_table.frame.columns)


def test_fits_that_did_not_converge_are_named_below_the_table() -> None:
    converged = {"measure.converged": 1.0}
    rows = [
        learnt("earn", "soft", 0.5, **converged),
        learnt("earn", "svm", 0.5, **converged),
        learnt("corn", "soft", 0.5, **converged),
        learnt("corn", "svm", 0.5, **{"measure.converged": 0.0}),
    ]
    for name in ("table_8_1", "rare_categories"):
        assert "before convergence: svm 50\\,\\%." in table(name, rows).latex("Title")
        assert "before convergence" not in table(name, rows[:3]).latex("Title")
    frame = table("learners", rows).frame
    assert frame["proved"].fillna("").tolist() == ["", "", "", "not converged (1 of 1)"]


def test_the_note_names_every_choice_of_the_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    record = Reuters(stem=False, weighting="tf-idf", min_documents=3, normalise=False)
    evidence = Evidence(_evidence(TWO_BY_TWO).frame, Path())
    monkeypatch.setattr(Evidence, "dataset", lambda self, problem: record)
    note = preprocessing(evidence, ["earn", "corn"])
    for words in ("Mod-Apte", "stop words left out", "not stemmed", "at least 3", "not normalised"):
        assert words in note
    assert "$tf \\log(m / df)$" in note
    assert note in report.table("table_8_1", evidence).latex("Title")
    taken_from_test = "chosen by comparing test precision with the columns of the thesis"
    assert taken_from_test not in note
    monkeypatch.setattr(Evidence, "dataset", lambda self, problem: Reuters())
    assert taken_from_test in preprocessing(evidence, ["earn", "corn"])


def test_rare_categories_state_their_numbers_of_documents() -> None:
    rows = [
        learnt("copper", "hard", 0.9, status="INFEASIBLE", proved=True),
        learnt("rye", "hard", 0.1, **{"measure.components": 1.0}),
        learnt("wine-0-rest", "hard", 0.2),
    ]
    frame = table("rare_categories", rows).frame.set_index("category")
    assert frame["training"].fillna(-1).tolist() == [47, 1, -1, -1]
    assert frame["hard components"].fillna(-1).tolist() == [30, 1, 30, -1]
    assert frame["hard"].tolist() == pytest.approx([90.0, 10.0, 20.0, 40.0])


def test_learners_are_listed_with_their_parameters() -> None:
    selected = {"measure.regularisation": 1e-4, "measure.on_edge": 1.0}
    rows = [
        learnt("earn", "soft", 0.75, seed=0, **selected),
        learnt("earn", "soft", 0.85, seed=1, **(selected | {"measure.cpu_seconds": 2.0})),
        learnt("earn", "svm", None, status="ERROR"),
    ]
    frame = table("learners", rows).frame.set_index("label")
    assert frame.loc["soft", "average precision"] == pytest.approx(80.0)
    assert frame.loc["soft", "error"] == pytest.approx(25.0)
    assert frame.loc["soft", "chosen"] == 1e-4
    assert frame.loc["soft", "on edge"] == 2
    assert frame.loc["soft", "seconds"] == 2.0
    assert frame.loc["svm", "proved"] == "ERROR"


def test_runs_without_learners_are_refused() -> None:
    with pytest.raises(DataError, match="no column algorithm, parameters"):
        table("learners", [make_row("mcp100", "PRA")])


def test_parameters_that_are_no_json_are_refused() -> None:
    with pytest.raises(DataError, match="not JSON"):
        table("learners", [learnt("earn", "soft", 0.5, parameters="{")])


def test_the_number_of_components_is_read_from_the_parameters() -> None:
    rows = [
        learnt("earn", "soft", 0.5),
        learnt("earn", "soft full", 0.5, parameters='{"components": null}'),
        learnt("earn", "soft 7", 0.5, parameters='{"components": 7}'),
    ]
    components = {
        label: group[0].components for label, group in by_label(entries(_evidence(rows))).items()
    }
    assert components == {"soft": 30, "soft full": None, "soft 7": 7}


def scored(folder: Path, quality: dict[str, float], seeds: int = 2) -> Evidence:
    """Write runs of two problems: scores are labels times a label's quality, and noise."""
    rows: Rows = []
    results: dict[str, Result] = {}
    for index, problem in enumerate(("earn", "corn")):
        labels = np.where(np.arange(80) % 4 == index, 1.0, -1.0)
        for label, strength in quality.items():
            for seed in range(seeds):
                rng = np.random.default_rng([seed, index])
                scores = strength * labels + rng.standard_normal(80)
                row = learnt(problem, label, average_precision(labels, scores), seed=seed)
                rows.append(row)
                trace = make_trace([1], [0.1], ranks=[scores], labels=[labels])
                results[row["cell"]] = make_result(trace)
    return write_folder(folder, rows, results)


def test_differences_are_those_of_the_precisions_with_their_signs(tmp_path: Path) -> None:
    evidence = scored(tmp_path, {"soft": 3.0, "svm": 0.5, "linear": 3.0})
    intervals = {
        (difference.second, difference.problem): difference for difference in differences(evidence)
    }
    assert set(intervals) == {(a, b) for a in ("svm", "linear") for b in ("earn", "corn", "mean")}
    precisions = {
        label: {entry.problem: entry.precisions for entry in group}
        for label, group in by_label(entries(evidence)).items()
    }
    for problem in ("earn", "corn"):
        expected = np.mean(
            [
                precisions["soft"][problem][seed] - precisions["svm"][problem][seed]
                for seed in (0, 1)
            ]
        )
        interval = intervals["svm", problem].interval
        assert interval is not None
        assert 100.0 * interval.difference == pytest.approx(expected)
        assert 0.0 < interval.lower < interval.difference < interval.upper
        same = intervals["linear", problem].interval
        assert same is not None
        assert same.difference == same.lower == same.upper == 0.0
    assert intervals["svm", "mean"].seeds == 2


def test_differences_of_several_seeds_have_a_range(tmp_path: Path) -> None:
    evidence = scored(tmp_path, {"soft": 1.0, "svm": 0.5}, seeds=3)
    of_label = by_label(entries(evidence))
    gaps = np.array(
        [
            [first.precisions[seed] - second.precisions[seed] for seed in range(3)]
            for first, second in zip(of_label["soft"], of_label["svm"], strict=True)
        ]
    )
    frame = report.table("precision_differences", evidence).frame.set_index("problem")
    for problem, group in zip(("earn", "corn", "mean"), [*gaps, gaps.mean(axis=0)], strict=True):
        line = frame.loc[problem, ["difference", "lowest", "highest"]].tolist()
        assert line == pytest.approx([group.mean(), group.min(), group.max()])
        assert line[1] < line[0] < line[2]


def test_hard_ellipsoids_are_compared_with_those_after_them(tmp_path: Path) -> None:
    evidence = scored(tmp_path, {"hard a": 2.0, "hard b": 1.0, "soft": 1.0, "hard c": 0.5}, seeds=2)
    # one first pivot only
    lost = (evidence.frame["label"] == "hard c") & (evidence.frame["seed"] == 1)
    evidence.frame.loc[lost, "measure.average_precision"] = None
    by_pair = {
        (difference.first, difference.second, difference.problem): difference
        for difference in differences(evidence)
    }
    pairs = [("hard a", "hard b"), ("hard a", "hard c"), ("hard b", "hard c")]
    assert {key[:2] for key in by_pair} == set(pairs)
    assert [by_pair[*pair, "mean"].seeds for pair in pairs] == [2, 1, 1]
    paired = by_pair["hard a", "hard c", "corn"]
    precisions = {
        label: group[1].precisions for label, group in by_label(entries(evidence)).items()
    }
    assert paired.interval is not None
    assert 100.0 * paired.interval.difference == pytest.approx(
        precisions["hard a"][0] - precisions["hard c"][0]
    )


def test_the_table_of_differences_is_in_points(tmp_path: Path) -> None:
    evidence = scored(tmp_path, {"soft": 3.0, "svm": 0.5}, seeds=1)
    frame = report.table("precision_differences", evidence).frame
    assert frame["problem"].tolist() == ["earn", "corn", "mean"]
    assert (frame["lower"] > 1.0).all()
    assert (frame["above"] == 1.0).all()
    assert "$+" in report.table("precision_differences", evidence).latex("Title")


def test_learners_with_other_components_are_not_compared(tmp_path: Path) -> None:
    evidence = scored(tmp_path, {"soft": 1.0, "svm": 1.0}, seeds=1)
    svm = evidence.frame["label"] == "svm"
    evidence.frame.loc[svm, "parameters"] = '{"components": 200}'
    assert differences(evidence) == []


@pytest.mark.parametrize(
    ("first", "second", "compared"),
    [
        ({"feature_kernel": "rbf"}, {"feature_kernel": "linear"}, False),
        ({"feature_kernel": "rbf", "gamma": 0.5}, {"feature_kernel": "rbf"}, False),
        ({"feature_kernel": "rbf", "gamma": 0.5}, {"feature_kernel": "rbf", "gamma": 0.5}, True),
        ({"feature_kernel": "linear"}, {}, True),
    ],
)
def test_learners_with_features_of_other_kernels_are_not_compared(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], compared: bool
) -> None:
    evidence = scored(tmp_path, {"soft": 1.0, "svm": 1.0}, seeds=1)
    for label, parameters in (("soft", first), ("svm", second)):
        mask = evidence.frame["label"] == label
        evidence.frame.loc[mask, "parameters"] = json.dumps(parameters)
    assert bool(differences(evidence)) is compared


def test_the_mean_difference_needs_the_same_seeds_of_every_problem(tmp_path: Path) -> None:
    evidence = scored(tmp_path, {"soft": 3.0, "svm": 0.5})
    lost = (evidence.frame["problem"] == "corn") & (evidence.frame["seed"] == 1)
    evidence.frame.loc[lost & (evidence.frame["label"] == "svm"), "measure.average_precision"] = (
        None
    )
    by_problem = {difference.problem: difference for difference in differences(evidence)}
    assert [by_problem[name].seeds for name in ("earn", "corn", "mean")] == [2, 1, 1]
    assert by_problem["mean"].lowest is None
    assert by_problem["corn"].interval is not None
    assert by_problem["mean"].interval is None
    printed = report.table("precision_differences", evidence)
    assert printed.frame.set_index("problem")["difference"].isna().tolist() == [False, False, True]


def test_the_figure_has_a_panel_per_learner_and_a_line_per_category() -> None:
    rows = [
        learnt(
            problem,
            f"{name} components={k}",
            value / 100,
            # other candidates with more features make no other panel
            parameters=f'{{"components": {k}, "regularisations": [0.{k}]}}',
        )
        for problem in ("earn", "corn")
        for name in ("hard", "soft")
        for k, value in ((30, 81), (5, 41))
    ]
    figure = report.figure("figure_8_1", _evidence(rows))
    assert [axes.get_title() for axes in figure.axes] == ["hard", "soft"]
    for axes in figure.axes:
        drawn = [line for line in axes.lines if line.get_marker() != "None"]
        # problems stand side by side
        indices = np.array([np.asarray(line.get_xdata()) for line in drawn])
        assert indices.prod(axis=0).tolist() == pytest.approx([25.0, 900.0])
        assert (indices[0] < indices[1]).all()
        assert axes.get_xlabel() == "features k"
        assert np.asarray(drawn[0].get_ydata()).tolist() == pytest.approx([41.0, 81.0])


def test_points_of_one_seed_are_hollow_where_others_have_more() -> None:
    rows = [
        learnt("earn", f"soft components={k}", 0.5, seed=s, parameters=f'{{"components": {k}}}')
        for k, seeds in ((5, 2), (30, 1))
        for s in range(seeds)
    ]
    (axes,) = report.figure("figure_8_1", _evidence(rows)).axes
    assert axes.get_xlabel() == "features k (hollow: one seed)"
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert [np.asarray(line.get_xdata()).tolist() for line in hollow] == [[30.0]]


def test_a_figure_without_numbers_of_features_is_refused() -> None:
    rows = [learnt("earn", "soft", 0.5, parameters='{"components": null}')]
    with pytest.raises(DataError, match="number of features"):
        report.figure("figure_8_1", _evidence(rows))


def test_the_figure_of_table_8_1_has_means_spreads_and_the_thesis() -> None:
    full = '{"components": null}'
    rows = [
        *TWO_BY_TWO,
        learnt("earn", "hard", 0.9),
        learnt("corn", "hard", 0.8),
        learnt("earn", "svm full", 0.95, parameters=full),
        learnt("corn", "svm full", None, parameters=full),
    ]
    figure = report.figure("table_8_1", _evidence(rows))
    panels = {axes.get_title(loc="left"): axes for axes in figure.axes}
    assert list(panels) == ["30 features", "30 features, hard ellipsoids", "all features"]
    lines = panels["30 features"].lines
    means = [line for line in lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in means] == pytest.approx([80.0, 60.0, 70.0])
    bars = [x for line in lines if line.get_marker() == "None" for x in line.get_xdata()]
    assert bars[:6] == pytest.approx([75.0, 85.0, 50.0, 70.0, 62.5, 77.5])
    printed = [line for line in lines if line.get_marker() == "+"]
    assert list(printed[0].get_xdata()) == pytest.approx([97.6, 90.9, 94.25])
    assert [text.get_text() for text in panels["30 features"].get_yticklabels()][-1] == "mean"
    # one category without a result: it has no marker, and the mean none either
    assert [line.get_marker() for line in panels["all features"].lines].count("o") == 1
    names = [
        text.get_text() for text in panels["30 features, hard ellipsoids"].get_legend().get_texts()
    ]
    assert names == ["hard", "thesis, ellipsoid k30"]
