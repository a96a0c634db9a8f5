"""Every command has a function of the same meaning: both are called, and give the same data."""

from __future__ import annotations

import csv
import hashlib
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

import perceptron_lab as lab
from perceptron_lab.cli.main import COMMANDS, main
from perceptron_lab.core.errors import ConfigError
from perceptron_lab.datasets.download.registered_files import COLLECTIONS, Collection, DataFile
from perceptron_lab.experiments.configuration.catalogue import KINDS
from perceptron_lab.experiments.configuration.rows import CLOCKS, typed
from perceptron_lab.experiments.run import Results
from perceptron_lab.reporting.theory.exhibit import written

pytestmark = pytest.mark.slow

CONFIG = """\
experiment: small
title: A <small> experiment
problems:
  - dataset: maxcut
    instances: [random-8-12, torus-3x4]
algorithms:
  - {name: ellipsoid, label: EA}
  - {name: perceptron, label: P}
report: {tables: [table_6_1]}
"""
DRAWN = CONFIG.replace("tables: [table_6_1]", "tables: [table_6_1], figures: [table_6_1]")
"""With a figure, which takes longer than all else."""
ROWS = "1.0,2.0\n-0.5,1.0\n2.0,0.25\n"


@dataclass
class Command:
    """Runs command lines, returns what each prints, and keeps their names."""

    capsys: pytest.CaptureFixture[str]
    names: list[str] = field(default_factory=list)

    def __call__(self, *arguments: str, code: int = 0) -> str:
        self.names.append(arguments[0])
        self.capsys.readouterr()
        assert main(list(arguments)) == code
        return self.capsys.readouterr().out


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Results]:
    """A folder with a configuration and its results by both ways, and those of the function."""
    folder = tmp_path_factory.mktemp("parity")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (folder / "small.yaml").write_text(CONFIG)
        (folder / "drawn.yaml").write_text(DRAWN)
        (folder / "rows.csv").write_text(ROWS)
        assert main(["run", "small.yaml", "-q", "--output", "command"]) == 0
        return folder, lab.run("small.yaml", output="function")


@pytest.fixture(scope="module")
def ran(small_run: tuple[Path, Results]) -> Path:
    return small_run[0]


@pytest.fixture(scope="module")
def results(small_run: tuple[Path, Results]) -> Results:
    return small_run[1]


@pytest.fixture(autouse=True)
def _there(ran: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ran)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


def rows_of(folder: str) -> list[dict[str, str]]:
    with Path(folder, "small", "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [{key: value for key, value in row.items() if key not in CLOCKS} for row in rows]


def both_run(command: Command) -> None:
    assert "EA" in command("run", "drawn.yaml", "--output", "command")
    assert rows_of("command") == rows_of("function")
    results = lab.run("drawn.yaml", output="function")
    file = Path("function", "small", "runs.csv")
    read = typed(pd.read_csv(file, dtype=object, keep_default_na=False))
    pd.testing.assert_frame_equal(results.to_frame(), read)
    names = [path.name for path in Path("command", "small").iterdir() if path.is_file()]
    assert "table_6_1.png" in names
    assert {path.name for path in Path("function", "small").iterdir()} >= set(names)


def both_report(command: Command) -> None:
    printed = command("report", "command/small").splitlines()
    written = lab.report("command/small")
    assert [str(path) for path in written] == printed[-len(written) :]
    assert lab.report(output="command") == written
    printed = command("report", "drawn.yaml", "--output", "function").splitlines()
    drawn = [str(path) for path in lab.report("drawn.yaml", output="function")]
    assert drawn == printed[-len(drawn) :]
    assert {Path(name).suffix for name in drawn} > {path.suffix for path in written}
    (page,) = command("report", "--html", "command/small").splitlines()
    assert [str(path) for path in lab.pages("command/small")] == [page]
    Path(page).unlink()


def both_solve(command: Command) -> None:
    printed = json.loads(command("solve", "rows.csv", "--algorithm", "perceptron", "--json"))
    result = lab.solve("rows.csv", "perceptron")
    same = [name for name in printed if hasattr(result, name) and name not in CLOCKS]
    assert len(same) > 8
    vectors = ("point", "weights")
    alike = [name for name in same if name not in ("bound", "finding", "conflict", *vectors)]
    assert [getattr(result, name) for name in alike] == [printed[name] for name in alike]
    assert [getattr(result, name).tolist() for name in vectors] == [printed[n] for n in vectors]
    assert list(result.conflict) == printed["conflict"]
    assert result.bound.value == printed["bound"]
    assert (result.finding.values() or None) == printed["finding"]


def both_check(command: Command) -> None:
    cells = lab.check("small.yaml")
    assert command("check", "small.yaml") == f"small.yaml: ok, {len(cells)} cells\n"
    assert len(lab.check("small.yaml", ["seeds=[0, 1]"])) == 2 * len(cells)
    Path("wrong.yaml").write_text(CONFIG.replace("ellipsoid", "elipsoid"))
    with pytest.raises(ConfigError, match=r"wrong\.yaml:7:12: algorithms\.0\.name: unknown"):
        lab.check("wrong.yaml")
    assert command("check", "wrong.yaml", code=2) == ""


def both_list(command: Command) -> None:
    for kind in KINDS:
        assert json.loads(command("list", kind, "--json")) == lab.list_names(kind)
    with pytest.raises(ConfigError, match="did you mean 'oracles'"):
        lab.list_names("oracle")


def both_show(command: Command) -> None:
    for name in ("rescaled-perceptron", "quickstart", "maxcut", "profile", "conic"):
        assert json.loads(command("show", name, "--json")) == lab.show(name)
    assert {entry["kind"] for entry in lab.show("maxcut")} == {"dataset", "experiment"}
    assert [entry["kind"] for entry in lab.show("profile")] == ["table", "figure"]
    with pytest.raises(ConfigError, match="did you mean 'ellipsoid'"):
        lab.show("elipsoid")


def both_status(command: Command) -> None:
    printed = json.loads(command("status", "command/small", "--json"))
    statuses = plain(lab.status("command/small").as_json())
    assert printed in (statuses, [statuses])
    assert statuses["counts"]["done"] == len(rows_of("command"))


def both_verify(command: Command) -> None:
    printed = json.loads(command("verify", "command/small", "--json"))
    verification = lab.verify("command/small")
    assert plain(verification.as_json()) == printed
    assert verification.counts == {"PROVED": len(rows_of("command"))}


def both_certify(command: Command) -> None:
    printed = json.loads(command("certify", "command/small", "--into", "one", "--json"))
    certification = lab.certify("command/small", "one")
    assert plain(certification.as_json()) == printed
    assert certification.counts == {"CERTIFIED": len(rows_of("command"))}
    files = {path.name: path.read_bytes() for path in Path("one").iterdir()}
    assert command("certify", "command/small", "--into", "other").startswith("CERTIFIED")
    assert {path.name: path.read_bytes() for path in Path("other").iterdir()} == files


def both_theory(command: Command) -> None:
    command("theory", "claims", "--into", "one")
    (report,) = written(["claims"], Path("other"))
    assert {path.name for path in report.files} <= {path.name for path in Path("one").iterdir()}
    csv = "claims.csv"
    assert Path("one", csv).read_bytes() == Path("other", csv).read_bytes()


def both_compare(command: Command) -> None:
    printed = json.loads(command("compare", "command/small", "function/small", "--json"))
    assert plain(lab.compare("command/small", "function/small").as_json()) == printed
    assert len(printed["pairs"]) == len(rows_of("command"))


def both_data(command: Command) -> None:
    content = b"1\n1\n2\n1.0\n0 1 1 1 1.0\n"
    file = DataFile("here.dat-s", hashlib.sha256(content).hexdigest(), ())
    small = Collection("small", "a test", "nowhere", "none", "nobody", {"here": file})
    Path("mirror", "small").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(COLLECTIONS, "small", lambda: small)
        patch.setenv("PLAB_DATA_MIRROR", "mirror")
        patch.setenv("PLAB_DATA_DIR", "cache")
        patch.setenv("PLAB_OFFLINE", "1")
        assert lab.verify_data("small") == {"small": {"here": "missing"}}
        Path("mirror", "small", "here.dat-s").write_bytes(content)
        (pair,) = lab.fetch_data("small", ["here"]).items()
        assert command("data", "fetch", "small") == f"{pair[0]}: {pair[1]}\n"
        states = lab.verify_data()
        lines = command("data", "verify").splitlines()
        expected = [
            f"{name}/{file}: {state}"
            for name, each in states.items()
            for file, state in each.items()
        ]
        assert set(expected) <= set(lines)
        assert states["small"] == {"here": "present"}
        with pytest.raises(ConfigError, match="small has no 'hera'"):
            lab.fetch_data("small", ["hera"])
        assert command("data", "fetch", "small", "hera", code=2) == ""


BOTH: dict[str, Callable[[Command], None]] = {
    "report": both_report,  # before there is a figure
    "run": both_run,
    "solve": both_solve,
    "check": both_check,
    "list": both_list,
    "show": both_show,
    "status": both_status,
    "verify": both_verify,
    "certify": both_certify,
    "compare": both_compare,
    "theory": both_theory,
    "data": both_data,
}


def plain(tree: Any) -> Any:
    """Return a tree as JSON brings it back."""
    return json.loads(json.dumps(tree))


def test_every_command_has_a_case() -> None:
    assert set(BOTH) == set(COMMANDS) - {"help"}


@pytest.mark.parametrize("name", BOTH)
def test_a_command_and_its_function_give_the_same(name: str, command: Command) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BOTH[name](command)
    assert name in command.names


def test_results_hold_tables_and_figures(results: Results) -> None:
    assert isinstance(results, Results)
    table = results.table("table_6_1")
    written = pd.read_csv(results.folder / "table_6_1.csv")
    assert list(table.columns) == list(written.columns)
    assert len(table) == len(written) == 2
    assert isinstance(results.figure("table_6_1"), Figure)
    with pytest.raises(ConfigError, match="did you mean 'table_6_1'"):
        results.table("table_61")
    with pytest.raises(ConfigError, match="did you mean 'table_6_1'"):
        results.figure("table_61")
    assert results.failed == []


def test_results_in_a_notebook_are_escaped(results: Results) -> None:
    html = results._repr_html_()
    assert "A &lt;small&gt; experiment" in html
    assert "<small>" not in html
    assert "random-8-12" in html
