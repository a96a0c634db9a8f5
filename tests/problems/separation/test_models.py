"""Models of other families: equal forms of one model, their sentences, files and errors."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import scipy.sparse as sp

from perceptron_lab import separation
from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.problems.separation.families.conditions import MOST_NUMBERS
from perceptron_lab.problems.separation.families.kinds import BINARY_LINKS, FAMILIES
from perceptron_lab.problems.separation.families.risk_sets import RiskSets
from perceptron_lab.problems.separation.verdict import SeparationVerdict
from tests.problems.separation.model_systems import FAMILIES as JUDGED
from tests.problems.separation.model_systems import ModelSystem, model_system
from tests.problems.separation.test_models_against_the_judge import verdict_on
from tests.repetitions import parts, thinned

Facts = tuple[str, list[str], list[int], list[int]]


def facts(verdict: SeparationVerdict) -> Facts:
    classes = list(verdict.coefficients.values())
    return verdict.verdict, classes, verdict.separated_rows.tolist(), verdict.overlap_rows.tolist()


def systems(family: str, number: int, **without: object) -> list[ModelSystem]:
    """The first systems that have a likelihood, and not the given options."""
    collected: list[ModelSystem] = []
    seed = 0
    while len(collected) < number:
        system, seed = model_system(family, 1000 + seed), seed + 1
        try:
            verdict_on(system)
        except InputError:
            continue
        collected += [system] * all(name not in system.options for name in without)
    return collected


def test_trials_are_that_many_rows_with_labels() -> None:
    for system in systems("binomial", 8):
        counts = system.options["counts"]
        rows, labels, origin = [], [], []
        for i in system.included:
            rows += [system.X[i]] * counts[i]
            labels += [1] * system.y[i] + [0] * (counts[i] - system.y[i])
            origin += [i] * counts[i]
        if len({*labels}) == 2:
            expanded = separation(np.array(rows), labels, affine=system.affine)
            grouped = verdict_on(system)
            assert grouped.verdict == expanded.verdict
            assert grouped.coefficients == expanded.coefficients
            separated = sorted({origin[k] for k in expanded.separated_rows})
            assert grouped.separated_rows.tolist() == separated


@pytest.mark.parametrize("family", ["multinomial", "ordinal", "adjacent"])
def test_two_classes_are_logistic_regression(family: str) -> None:
    """Thresholds have the opposite sign of the intercept."""
    opposite = {"+INF": "-INF", "-INF": "+INF"}
    for system in systems("binomial", 6):
        X, labels = np.asarray(system.X), (np.asarray(system.y) > 0).astype(int)
        if len({*labels.tolist()}) == 2:
            verdict, classes, *rows = facts(separation(X, labels))
            if family != "multinomial":
                classes[-1] = opposite.get(classes[-1], classes[-1])
            assert facts(separation(X, labels, family=family)) == (verdict, classes, *rows)


def test_poisson_fixed_effects_are_dummies() -> None:
    """A group without any count is separated as a whole: its effect is -infinite."""
    groups = np.repeat(np.arange(4), 3)
    dummies = (groups[:, None] == np.arange(4)).astype(float)
    y = [0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 0, 1]
    x = np.array([[1.0, -1, 2, 0, 1, 3, 1, 2, 2, 5, 1, 0]]).T
    found = separation(sp.csr_array(np.hstack([x, dummies])), y, family="poisson", affine=False)
    assert found.verdict == "quasi-complete"
    assert list(found.coefficients.values()) == ["FINITE", "-INF", *["FINITE"] * 3]
    assert found.separated_rows.tolist() == [0, 1, 2]
    rest = separation(x[3:], y[3:], family="poisson")
    assert rest.verdict == "overlap"


def test_cox_without_ties_is_a_conditional_model_of_each_risk_set() -> None:
    for system in systems("cox", 8, start=1, strata=1):
        time = np.arange(len(system.y)) + 1.0
        weights = np.asarray(system.options.get("weights", [1] * len(time)))
        events = [i for i in range(len(time)) if system.y[i] and weights[i]]
        sets = [np.flatnonzero((time >= time[i]) & (weights > 0)) for i in events]
        if not any(len(members) > 1 for members in sets):
            continue
        members = np.concatenate(sets)
        cases = np.concatenate([s == i for s, i in zip(sets, events, strict=True)])
        strata = np.repeat(events, [len(s) for s in sets])
        X = np.asarray(system.X)
        expected = separation(X[members], cases, family="conditional", strata=strata)
        found = separation(X, system.y, family="cox", time=time, weights=weights)
        assert facts(found)[:2] == facts(expected)[:2]
        assert set(found.separated_rows) == {*members[expected.separated_rows]}


@pytest.mark.parametrize("family", JUDGED)
def test_rows_of_weight_0_are_no_rows(family: str) -> None:
    for system in systems(family, 3):
        rows = np.array(system.included)
        options = {
            name: values if isinstance(values, str) else np.asarray(values)[rows]
            for name, values in system.options.items()
            if name != "weights"
        }
        y = np.asarray(system.y)[rows]
        part = ModelSystem(family, np.asarray(system.X)[rows], y.tolist(), system.affine, options)
        verdict, classes, separated, overlap = facts(verdict_on(part))
        expected = (verdict, classes, rows[separated].tolist(), rows[overlap].tolist())
        assert facts(verdict_on(system)) == expected


@pytest.mark.parametrize("family", thinned(JUDGED, step=3))
def test_equal_data_have_equal_verdicts(
    family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Dense, sparse, a frame, exact numbers; a file on the command line, saved and verified."""
    system = next(s for s in systems(family, 9) if s.affine)
    X = np.rint(10 * np.asarray(system.X, dtype=float))
    options: dict[str, Any] = {"family": family, **system.options}
    expected = facts(separation(X, system.y, **options))
    series = {
        name: values if isinstance(values, str) else pd.Series(values)
        for name, values in options.items()
    }
    exact = np.array([[Fraction(entry) for entry in row] for row in X.tolist()], dtype=object)
    frame = pd.DataFrame(X, columns=[f"x_{j + 1}" for j in range(X.shape[1])])
    for data in (sp.csr_array(X), sp.coo_array(X), exact, frame):
        assert facts(separation(data, pd.Series(system.y), **series)) == expected
    columns = {name: v for name, v in system.options.items() if not isinstance(v, str)}
    frame.assign(y=system.y, **columns).to_csv(tmp_path / "d.csv", index=False)
    saved = tmp_path / "v.npz"
    words = [word for name in columns for word in (f"--{name}", name)]
    words += ["--ties", options["ties"]] if "ties" in options else []
    call = ["solve", str(tmp_path / "d.csv"), "--labels", "y", "--verdict", "--family", family]
    assert main([*call, *words, "--save", str(saved), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    of_file = found["verdict"], [*found["coefficients"].values()]
    assert (*of_file, found["separated_rows"], found["overlap_rows"]) == expected
    assert (found["family"], found["condition"]) == (family, FAMILIES[family].condition)
    assert main(["verify", str(saved)]) == 0
    assert f"separation ({family})" in capsys.readouterr().out


@pytest.mark.parametrize("family", JUDGED)
def test_saved_verdicts_are_verified_on_their_data_alone(family: str, tmp_path: Path) -> None:
    system = systems(family, 1)[0]
    verdict, path = verdict_on(system), tmp_path / "verdict.npz"
    verdict.save(path)
    variables = {n: v for n, v in system.options.items() if n != "ties"}
    again = SeparationVerdict.load(path, system.X, system.y, **variables)
    assert facts(again) == facts(verdict)
    assert again.as_json()["family"] == family
    changed = np.asarray(system.X) + np.arange(len(system.y))[:, None] ** 3
    with pytest.raises(DataError):
        SeparationVerdict.load(path, changed, system.y, **variables)


@pytest.mark.parametrize("family", ["binomial", "ordinal"])
def test_links_have_one_answer(family: str) -> None:
    X, y = [[0], [1], [1], [2]], [0, 0, 1, 1]
    for link in BINARY_LINKS:
        found = separation(X, y, family=family, link=link)
        assert found.verdict == "quasi-complete"
        assert (link in str(found)) or link == "logit"
        overlapping = str(separation(X, [1, 1, 0, 1], family=family, link=link))
        assert ("need not be unique" in overlapping) == (link == "cauchit")


def test_categories_have_their_order_and_may_be_empty() -> None:
    """x orders low < high, and not high < low; nothing is in the category between them."""
    categories = ["low", "medium", "high"]
    y = pd.Categorical(["low", "low", "high", "high"], categories=categories, ordered=True)
    for family in ("ordinal", "adjacent"):
        found = separation([[0], [1], [1], [2]], pd.Series(y), family=family)
        assert found.coefficients == {"x_1": "+INF", "low|high": "+INF"}


def test_families_with_the_likelihood_of_others() -> None:
    X, y = [[0], [0], [1], [1]], [0, 0, 2.5, 0]
    expected = facts(separation(X, y, family="poisson"))
    assert expected[0] == "quasi-complete"
    for family, words in (("quasi-poisson", "quasi-P"), ("negative-binomial", "negative b")):
        assert facts(separation(X, y, family=family)) == expected
        assert str(separation(X, y, family=family)).startswith(words)


def test_events_may_have_a_label() -> None:
    X, y, options = [[0], [1], [2]], ["died", "left", "died"], {"family": "cox", "time": [3, 2, 1]}
    found = separation(X, y, positive="died", **options)
    assert facts(found) == facts(separation(X, [1, 0, 1], **options))
    assert found.coefficients == {"x_1": "+INF"}


def test_variables_of_parquet_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"x": [0.0, 0.0, 1.0, 1.0], "y": [0, 1, 2, 1], "n": [2, 2, 2, 2]})
    frame.to_parquet(tmp_path / "d.parquet")
    call = ["solve", str(tmp_path / "d.parquet"), "--labels", "y", "--verdict", "--counts", "n"]
    assert main([*call, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["coefficients"] == {"x": "FINITE", "intercept": "FINITE"}
    assert found["verdict"] == "overlap"


def test_sentences_state_model_and_condition() -> None:
    found = str(separation([[0], [0], [1], [1]], [0, 0, 3, 1], family="poisson"))
    assert "no maximum likelihood estimate exists (quasi-complete separation) (proved)" in found
    assert "x'd = 0 in rows with y > 0" in found
    assert "on the rows that overlap alone all estimates exist" in found
    boundary = str(separation([[0], [1], [1]], [0, 1, 0], family="log-binomial", counts=[1] * 3))
    assert "standard errors do not" not in boundary
    boundary = str(separation([[0], [0], [1]], [1, 0, 1], family="log-binomial"))
    assert "standard errors do not" in boundary


def test_a_domain_may_need_an_offset() -> None:
    """x'b + o <= 0 in all rows: without an intercept -b <= 0 and b <= 0 leave b = 0."""
    X, y = [[1.0], [-1.0]], [0, 1]
    options: dict[str, Any] = {"family": "log-binomial", "affine": False}
    with pytest.raises(InputError, match="probability of at most 1"):
        separation(X, y, **options)
    assert separation(X, y, **options, offset=[-1.0, -1.0]).verdict == "overlap"
    with pytest.raises(InputError, match="probability of at most 1"):
        separation(X, [1, 1], **options, counts=[1, 1], offset=[1.0, 1.0])
    # Where all trials succeed, probabilities of 1 are allowed
    assert separation(X, [1, 1], **options, counts=[1, 1]).verdict == "overlap"
    assert separation(X, y, family="log-binomial", offset=[5.0, 5.0]).verdict == "quasi-complete"


def test_late_entries_break_the_chain_of_events() -> None:
    """The event at 2 is not at risk at 1: so the first one is compared with row 1 itself."""
    options = {"time": [1, 3, 2], "start": [0, 0, 1]}
    found = separation([[1], [0], [0]], [1, 0, 1], family="cox", **options)
    assert found.coefficients == {"x_1": "+INF"}
    assert found.separated_rows.tolist() == [0, 1]
    assert found.overlap_rows.tolist() == [2]


def closure(pairs: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which observations are above which, by any chain of comparisons."""
    above = pairs | np.eye(len(pairs), dtype=bool)
    for k in range(len(above)):
        above |= above[:, [k]] & above[[k], :]
    return above


@pytest.mark.parametrize("seeds", parts(400, kept=20))
def test_few_conditions_imply_all_comparisons(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        count = int(rng.integers(2, 25))
        time = rng.integers(1, 9, count).astype(float)
        start = time - rng.integers(1, 9, count)
        event, strata = rng.random(count) < rng.choice([0.2, 0.9]), rng.integers(0, 2, count)
        ties = str(rng.choice(["efron", "exact"]))
        there = (start < time[:, None]) & (time[:, None] <= time) & (strata == strata[:, None])
        tied = event & (time[:, None] == time) & (ties == "exact")
        conditions = RiskSets.of(event, strata, time, start, ties).conditions(1)
        compact = np.zeros((count, count), dtype=bool)
        compact[conditions.first, conditions.second] = True
        equal = conditions.equalities
        compact[conditions.second[equal], conditions.first[equal]] = True
        assert (closure(compact) == closure(event[:, None] & there & ~tied)).all()


def test_strata_without_a_comparison_are_listed() -> None:
    X, y = [[0], [1], [2], [5], [7]], [0, 1, 1, 1, 1]
    found = separation(X, y, family="conditional", strata=["a", "a", "b", "b", "a"])
    assert found.zero_rows.tolist() == [2, 3]
    assert "2 rows compared with no other" in str(found)


def test_differences_that_are_no_doubles_are_exact() -> None:
    """(1 - 2^-60, 1) rounded is opposite to (-1, -1), which would be overlap."""
    X = [[1.0, 1.0], [2.0**-60, 0.0], [-1.0, -1.0], [0.0, 0.0]]
    found = separation(X, [1, 0, 1, 0], family="conditional", strata=[0, 0, 1, 1])
    assert found.verdict == "complete"
    assert found.coefficients == {"x_1": "-INF", "x_2": "+INF"}


COX = {"family": "cox", "time": [1, 2, 3, 4]}
ERRORS: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "negative count": ([0, 1, -2, 1], {"family": "poisson"}, "row 2 has y -2; .*>= 0"),
    "text": (["a", "b", "a", "b"], {"family": "poisson"}, "'a' is no double; give numbers$"),
    "dates": ([0, 1, 0, 1], COX | {"time": pd.to_datetime(["2024-01-01"] * 4)}, "is no double"),
    "text of an event": (["a", "b", "a", "b"], COX, r"name the label of events \(positive=\)"),
    "two columns": ([[0, 1]] * 4, {"counts": [1] * 4}, "y has two columns; .*counts="),
    "proportions": ([0, 0.5, 0, 1], {"counts": [2] * 4}, "row 1 has 0.5 successes in 2 trials"),
    "ties of others": ([0, 1, 0, 1], {"ties": "efron"}, "ties= belongs to family='cox'"),
    "parts of trials": ([0, 1, 0, 1], {"counts": [1, 1.5, 1, 1]}, "row 1 has 1 successes in 1.5"),
    "too large": ([0, 1, 10**400, 1], {"family": "poisson"}, "row 2 has y: '1000.* is no double"),
    "too many successes": ([0, 3, 1, 1], {"counts": [1] * 4}, "row 1 has 3 successes in 1 trials"),
    "NaN weight": ([0, 1, 0, 1], {"weights": [1, 1, np.nan, 1]}, "row 2 has weights nan"),
    "negative weight": ([0, 1, 0, 1], {"weights": [1, -1, 1, 1]}, "row 1 has weights -1"),
    "no weight": ([0, 1, 0, 1], {"weights": [0] * 4}, "every row has weight 0"),
    "short": ([0, 1, 0, 1], {"weights": [1] * 3}, "4 rows, but weights of shape"),
    "infinite offset": ([0, 1, 0, 1], {"offset": [0, 0, 0, np.inf]}, "row 3 has offset inf"),
    "family": ([0, 1, 0, 1], {"family": "poison"}, "did you mean 'poisson'"),
    "link": ([0, 1, 0, 1], {"link": "log"}, "family='log-binomial' has it"),
    "ties": ([0, 1, 0, 1], COX | {"ties": "efrom"}, "did you mean 'efron'"),
    "no time": ([0, 1, 0, 1], {"family": "cox"}, "needs time="),
    "stray time": ([0, 1, 0, 1], {"time": [1] * 4}, "time= does not belong .*'cox'"),
    "event": ([0, 1, 2, 1], COX, "row 2 has y = 2; give 1 for an event"),
    "start": ([0, 1, 0, 1], COX | {"start": [0, 2, 0, 0]}, "row 1 .* from start 2 to time 2"),
    "no event": ([0, 0, 0, 0], COX, "no event has anybody else at risk"),
    "no strata": ([0, 1, 0, 1], {"family": "conditional"}, "needs strata="),
    "constant strata": (
        [0, 1, 0, 1],
        {"family": "conditional", "strata": [0, 1, 0, 1]},
        "no stratum has a case and a control",
    ),
    "one class": ([1, 1, 1, 1], {"family": "ordinal"}, "every row is of class 1"),
    "positive": ([0, 1, 2, 1], {"family": "ordinal", "positive": 1}, "no positive class"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_where_and_what_to_do(name: str) -> None:
    y, options, message = ERRORS[name]
    with pytest.raises(InputError, match=message):
        separation([[0.0], [1.0], [2.0], [5.0]], y, **options)


@pytest.mark.parametrize(
    ("family", "name", "y"), [("ordinal", "0|1", [0, 1, 0, 2]), ("multinomial", "b:x", "cdaa")]
)
def test_names_of_coefficients_are_distinct(family: str, name: str, y: Any) -> None:
    """Threshold 0|1 beside a column 0|1; class d:b of column x beside class d of column b:x."""
    labels = ["d:b" if label == "c" else label for label in y]
    frame = pd.DataFrame({"x": [0.0, 1, 2, 5], name: [0.0, 3, 2, 5]})
    with pytest.raises(InputError, match=r"columns have the name .*rename them"):
        separation(frame, labels, family=family)


def test_too_many_pairs_are_refused_at_once() -> None:
    count = int(np.sqrt(MOST_NUMBERS)) * 2
    y = np.arange(count) % 2
    with pytest.raises(InputError, match=r"pairs of 2 numbers.*strata"):
        separation(np.zeros((count, 2)), y, family="conditional", strata=np.zeros(count))


def test_cli_names_line_and_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "d.csv"
    file.write_text("x,y,n\n0,0,1\n1,2,1\n")
    call = ["solve", str(file), "--labels", "y"]
    assert main([*call, "--verdict", "--counts", "n"]) == 2
    assert "line 3 has 2 successes in 1 trials" in capsys.readouterr().err
    assert main([*call, "--counts", "n"]) == 2
    assert "--counts belongs to --verdict" in capsys.readouterr().err
    assert main([*call, "--verdict", "--counts", "m"]) == 2
    assert "no column is called 'm'" in capsys.readouterr().err


def test_products_with_all_rows_in_another_order() -> None:
    """The order of rows counts if they are as many as there are."""
    X, y = [-3.0, 0, 1, 2, -1, -3, -2, 0, -2], [2, 0, -1, -1, 1, 2, 2, 0, 2]
    found = separation(np.array(X)[:, None], y, family="adjacent")
    assert list(found.coefficients.values()) == ["-INF", "-INF", "+INF", "+INF"]
    assert found.pair is not None
    order = np.arange(found.rows.count)[::-1]
    scores = found.rows.scores(order[::-1], found.pair.direction)
    assert found.rows.scores(order, found.pair.direction) == scores[::-1]
    forward, backward = (
        found.rows.scores_with_errors(rows, found.pair.direction)[0]
        for rows in (order[::-1], order)
    )
    assert backward.tolist() == forward[::-1].tolist()
