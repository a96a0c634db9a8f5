"""The command line as a whole: help, exit codes, errors."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import warnings
from pathlib import Path

import click
import pytest

from perceptron_lab import __version__
from perceptron_lab.cli import main as module
from perceptron_lab.cli.main import COMMANDS, main
from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError

ROOT = Path(__file__).parents[2]
HEAVY = ("numpy", "scipy", "pandas", "matplotlib", "numba", "sklearn", "cvxpy")
CONFIG = """\
experiment: small
problems:
  - dataset: maxcut
    instances: [random-8-12]
algorithms:
  - name: ellipsoid
"""


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")
    }
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment | {"PYTHONPATH": str(ROOT)} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_loads_nothing_heavy() -> None:
    code = f"""
import sys
from perceptron_lab.cli.main import main
status = main(["--help"])
loaded = [name for name in {HEAVY!r} if name in sys.modules]
commands = [name for name in sys.modules if name.startswith("perceptron_lab.cli.")]
assert not loaded, loaded
assert commands == ["perceptron_lab.cli.echo", "perceptron_lab.cli.main"], commands
sys.exit(status)
"""
    completed = python("-c", code)
    assert completed.returncode == 0, completed.stderr
    for name, (_, summary) in COMMANDS.items():
        assert f"  {name} " in completed.stdout
        assert summary in completed.stdout
    assert "Linear algebra uses one thread" in completed.stdout


def test_the_module_is_a_program_that_uses_one_thread_of_blas() -> None:
    completed = python("-m", "perceptron_lab.cli.main", "--version")
    assert (completed.returncode, completed.stdout) == (0, f"plab {__version__}\n")
    code = "import os, perceptron_lab.cli.main; print(os.environ['OPENBLAS_NUM_THREADS'])"
    assert python("-c", code).stdout == "1\n"
    assert python("-c", code, OPENBLAS_NUM_THREADS="3").stdout == "3\n"


def test_commands_are_completed() -> None:
    completion = {"_PLAB_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
    code = "from perceptron_lab.cli.main import main; main()"
    assert python("-c", code, COMP_WORDS="plab re", **completion).stdout == "plain,report\n"
    completed = python("-c", code, COMP_WORDS="plab ", **completion).stdout.split()
    assert {f"plain,{name}" for name in COMMANDS} <= set(completed)


def test_configurations_are_completed() -> None:
    completion = {
        "_PLAB_COMPLETE": "bash_complete",
        "COMP_CWORD": "2",
        "COMP_WORDS": "plab run qui",
    }
    completed = python("-c", "from perceptron_lab.cli.main import main; main()", **completion)
    assert "plain,quickstart" in completed.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected", "absent"),
    [
        ("plab show per", {"perceptron"}, {"auto"}),
        ("plab show quick", {"quickstart"}, {"auto"}),
        ("plab show certificates", {"certificates"}, set()),
        ("plab list al", {"algorithms"}, {"oracles"}),
        ("plab data fetch sd", {"sdplib"}, {"reuters21578"}),
        ("plab data fetch sdplib mcp1", {"mcp100", "mcp124-1"}, {"arch0", "mcp250-1"}),
        ("plab data fetch sdplib mcp100 mcp10", set(), {"mcp100"}),
        ("plab data verify re", {"reuters21578"}, {"sdplib"}),
        ("plab solve rows.csv --algorithm von", {"von-neumann"}, {"auto", "soft-ellipsoid"}),
        ("plab solve rows.csv --oracle cyc", {"cyclic"}, {"random"}),
        ("plab solve rows.csv --goal margin", {"margin_upper=", "margin_ratio="}, {"decide"}),
        ("plab help da", {"data"}, {"run"}),
    ],
)
def test_names_are_completed(
    words: str,
    expected: set[str],
    absent: set[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    index = str(len(words.split()) - 1)
    completion = {"_PLAB_COMPLETE": "bash_complete", "COMP_CWORD": index, "COMP_WORDS": words}
    for name, value in completion.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match="0"):
        main([])
    completions = [line.removeprefix("plain,") for line in capsys.readouterr().out.split()]
    assert expected <= set(completions)
    assert not absent & set(completions)
    assert len(completions) == len(set(completions))


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_agrees_with_the_documented_table(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target, _, attribute = COMMANDS[name][0].partition(":")
    command = getattr(importlib.import_module(target), attribute)
    assert command.name == name
    assert main([name, "--help"]) == 0
    assert f"Usage: plab {name} " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek"], "Error: no command 'chek' (did you mean 'check'?); commands: run, status"),
        (["run"], "Missing argument 'CONFIG...'"),
        (["run", "quickstart", "--job", "2"], "No such option"),
        (["run", "quickstart", "--jobs", "0"], "0 is not in the range x>=1"),
        (["run", "quickstart", "-s", "goal=x"], "Error: -s goal=x: goal: received the text 'x'"),
        (["list", "algorithm"], "'algorithm' is not one of 'algorithms', 'learners', 'optimisers'"),
        (["check", "quikstart"], "Error: quikstart: no such file or shipped configuration (d"),
        (
            ["check", "configs/quikstart.yaml"],
            "(did you mean 'quickstart'?); `plab list experiments`",
        ),
        (["show", "elipsoid"], "Error: unknown name 'elipsoid' (did you mean 'ellipsoid'?)"),
        (["report", "quickstart", "--output", "none"], "quickstart: no results there; `plab run`"),
    ],
)
def test_a_wrong_command_line_is_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert not printed.out


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Usage: plab" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("experiment", "experimant", "small.yaml:1:1: experimant: unknown key 'experimant'; allow"),
        ("ellipsoid", "elipsoid", "small.yaml:6:11: algorithms.0.name: unknown algorithm 'elips"),
        ("maxcut", "maxkut", "small.yaml:3:14: problems.0.dataset: unknown dataset 'maxkut' (did"),
        (CONFIG, "", "small.yaml:1:1: the file is empty; a configuration needs experiment, prob"),
        (CONFIG, "a: &x 1", "small.yaml:1:4: a: the anchor &x is not allowed; delete it"),
        ("[random-8-12]", "*x", "small.yaml:4:16: problems.0.instances: the alias *x is not allo"),
        ("[random-8-12]", "random-8-12", "instances: received the text 'random-8-12'; allowed: a"),
        ("random-8-12", "random-8-99", "problems.0.instances.0: random-8-99: 99 edges; 8 vertices"),
        ("experiment: small", "experiment: small\nbudget: {seconds: .nan}", "received nan; allo"),
        (": [", ": [\t{", "small.yaml:"),
    ],
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_wrong_configuration_is_exit_code_2(
    command: str,
    old: str,
    new: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(CONFIG.replace(old, new))
    assert main([command, "small.yaml"]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("Error: ")
    assert message in errors
    assert "Traceback" not in errors
    assert not Path("results").exists()


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        "2\n1\n2\n1.0\n0 1 1 1 1.0\n",
        "1\n1\n2\n1.0\n0 1 1 1 nan\n",
        "1\n1\n2\n1.0\n0 1 1 1 1.0\n0 1 1 1 2.0\n",
        "1\n1\n2\n1.0\n0 1 1",
    ],
    ids=["missing", "empty", "truncated head", "NaN", "conflicting duplicate", "truncated entry"],
)
def test_wrong_data_are_exit_code_2_before_the_first_cell(
    content: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("own.dat-s").write_text(content)
    config = CONFIG + "  - name: perceptron\n"
    Path("small.yaml").write_text(
        config.replace("maxcut", "sdpa").replace("instances: [random-8-12]", "files: [own.dat-s]")
    )
    assert main(["check", "small.yaml"]) == 2
    assert "own.dat-s" in capsys.readouterr().err
    assert main(["run", "small.yaml"]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("Error: problem own: ")
    assert "own.dat-s" in errors
    assert len(errors.splitlines()) <= 2
    assert not Path("results").exists()


def test_data_of_another_hash_are_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mirror" / "sdplib").mkdir(parents=True)
    (tmp_path / "mirror" / "sdplib" / "mcp100.dat-s").write_text("1\n1\n1\n1.0\n1 1 1 1 1.0\n")
    monkeypatch.setenv("PLAB_DATA_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("PLAB_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PLAB_OFFLINE", "1")
    assert main(["run", "maxcut"]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("Error: problem mcp100: ")
    assert "sha256" in errors
    assert len(errors.splitlines()) <= 2


def test_a_bug_is_exit_code_3_with_a_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def broken(kind: str) -> list[str]:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(registry, "names", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["list", "oracles"]) == 3
    errors = capsys.readouterr().err
    assert "a bug of plab: ZeroDivisionError: by nothing" in errors
    (log,) = tmp_path.glob("plab-*.log")
    assert str(log) in errors
    text = log.read_text()
    assert "Traceback" in text
    assert "numpy" in text
    assert __version__ in text


def test_a_bug_without_room_for_a_log_shows_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def broken(kind: str) -> list[str]:
        raise ZeroDivisionError

    monkeypatch.setattr(registry, "names", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    assert main(["list", "oracles"]) == 3
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.filterwarnings("default")
def test_a_warning_of_python_is_one_line_of_plab(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def warned(kind: str) -> list[str]:
        warnings.warn("the table 'mine' is left out", stacklevel=1)
        return []

    before = warnings.showwarning
    monkeypatch.setattr(registry, "names", warned)
    assert main(["list", "oracles"]) == 0
    assert capsys.readouterr().err == "warning: the table 'mine' is left out\n"
    assert warnings.showwarning is before


def test_an_error_of_several_lines_is_marked_on_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def false_option(kind: str) -> list[str]:
        raise ConfigError("one\ntwo")

    monkeypatch.setattr(registry, "names", false_option)
    assert main(["list", "oracles"]) == 2
    assert capsys.readouterr().err == "Error: one\nError: two\n"


def test_an_interrupt_is_exit_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(kind: str) -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(registry, "names", interrupted)
    assert main(["list", "oracles"]) == 130


def test_an_exit_of_a_command_keeps_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command("leave")
    @click.pass_context
    def leave(context: click.Context) -> None:
        context.exit(1)

    monkeypatch.setattr(module, "leave", leave, raising=False)
    monkeypatch.setitem(COMMANDS, "leave", ("perceptron_lab.cli.main:leave", "Leave."))
    assert main(["leave"]) == 1


def test_a_shipped_file_is_known_by_its_name_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["check", "configs/quickstart.yaml"]) == 0
    assert "ok, 6 cells" in capsys.readouterr().out
    for name in ("quickstart.yaml", "configs/quickstart", "other/quickstart.yaml"):
        assert main(["check", name]) == 2, name
    folder = tmp_path / "configs"
    folder.mkdir()
    (folder / "quickstart.yaml").write_text("experiment: 3\n")
    assert main(["check", "configs/quickstart.yaml"]) == 2  # one's own file comes first
