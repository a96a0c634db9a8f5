"""``plab solve``: solve the problem in one file and verify the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from perceptron_lab.cli.answers import answer
from perceptron_lab.cli.echo import coloured, deprecated, echo, is_quiet, is_verbose, print_json
from perceptron_lab.cli.file_answers import FileAnswer
from perceptron_lab.cli.live import interruptible, live_line
from perceptron_lab.cli.solve_options import FORMATS_OF_FILE, WIDTH, solve_options
from perceptron_lab.cones.operators.row_source import MEMORY
from perceptron_lab.core import registry
from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.core.goals import Budget, Goal, Width
from perceptron_lab.core.run_options import RunOptions, Stop, Watch
from perceptron_lab.datasets.formats.columns import Columns, listed_columns
from perceptron_lab.datasets.parts import is_parts
from perceptron_lab.experiments.configuration.yaml_source import Source
from perceptron_lab.problems.separation.families.kinds import VARIABLES

if TYPE_CHECKING:
    from perceptron_lab.datasets.formats.linear_programs import NegativeUpper
    from perceptron_lab.systems.constructors import Margin

_SPECIFIED: Final = ("family", "link", "ties")
"""The options of --verdict that specify a model; others are its variables."""
_LINEAR: Final = ("--negative-upper", "--conflict", "--relax")
_UNUSED: Final = {
    "--verdict": (
        *("--memory", "--scheduler", "--oracle", "-s", "--margin", "--plot", "--ellipsoid"),
        "--optimum",
        *_LINEAR,
    ),
    "--ellipsoid": (
        *("--memory", "--scheduler", "--oracle", "-s", "--margin", "--save", "--optimum"),
        *_LINEAR,
    ),
    "--optimum": (
        *("--memory", "--scheduler", "--oracle", "--margin", "--labels", "--rows"),
        "--drop-missing",
        *("--one-hot", "--drop", "--columns", "--positive", "--reference", "--plot"),
        *("--conflict", "--relax"),
    ),
}
"""Question -> the options that do not apply to it."""


@click.command("solve", epilog=FORMATS_OF_FILE)
@solve_options
def command(
    file: Path,
    labels: str | None,
    rows: bool,
    drop_missing: bool,
    one_hot: bool,
    reference: tuple[str, ...],
    positive: str | None,
    drop: tuple[str, ...],
    listed: str,
    negative_upper: NegativeUpper | None,
    conflict: Literal["one", "all"] | None,
    relax: bool,
    memory: int | None,
    scheduler: str | None,
    margin: Margin,
    algorithm: str,
    assignments: tuple[str, ...],
    ellipsoid: bool,
    verdict: bool,
    optimum: bool,
    oracles: tuple[str, ...],
    goal: Goal,
    budget_updates: int,
    budget_seconds: float,
    seed: int,
    as_json: bool,
    save: Path | None,
    plot: Path | None,
    **model: Any,
) -> int:
    """Solve the feasibility problem in FILE and verify the answer.

    For rows of numbers, find y with rows @ y > 0 or prove that (nearly) no such y exists. With
    --labels, find an affine function that separates two classes. With --optimum, bound the optimum
    of a semidefinite program. FILE is - for standard input; a folder, or a quoted pattern such as
    'parts/*.csv', is a table in parts.

    The answer is verified on the exact numbers in the file: text is read as decimals, and a decimal
    that is not a double is enclosed in an interval. Ctrl-C stops the run and prints the results
    proved so far.
    """
    budget = _budget(budget_updates, budget_seconds)
    # Before the run: hours of work are lost if the result cannot be written
    _refuse_misplaced(save, plot, "auto" if optimum else algorithm)
    features = listed_columns(listed, divided=True)
    asked_of = (labels, rows, drop_missing, one_hot, drop, features, reference, positive)
    columns = Columns(*asked_of, negative_upper, _stated(model, VARIABLES))
    _refuse_unused(click.get_current_context())

    def found_in(watch: Watch | None, stop: Stop) -> FileAnswer:
        if verdict or ellipsoid:
            ask = _asking("verdict" if verdict else "ellipsoid")
            choices: Any = {"seconds": budget_seconds, "stop": stop}
            return ask(file, columns, **choices | (_of_models(model) if verdict else {}))
        settings: Any = {"algorithm": algorithm, "parameters": _parameters(assignments)}
        options = RunOptions(
            oracles=[registry.load("oracle", name)() for name in oracles],
            goal=_width(goal) if optimum else goal,
            budget=budget,
            seed=seed,
            watch=watch,
            stop=stop,
        )
        if optimum:
            return _asking("optimum")(file, options, columns=columns, **settings)
        settings |= {"conflict": conflict, "relax": relax}
        with _workers(scheduler, file, margin, memory) as size:
            return answer(file, columns, options, memory=size, margin=margin, **settings)

    # Verdicts and ellipsoids report no progress; JSON and -q leave no room for a line
    quiet = as_json or verdict or ellipsoid or is_quiet()
    with interruptible() as interrupt, live_line(str(file), quiet=quiet) as watch:
        answer_of_file = found_in(watch, interrupt.asked)
    # Outside of the block: Ctrl-C ends the writing of files as it ends other commands
    _deliver(answer_of_file, save, plot, as_json=as_json)
    # An exact verdict has no status
    failed = answer_of_file.status is not None and answer_of_file.status.failed
    # What is proved is printed and saved even so: the code alone tells scripts of Ctrl-C
    return 130 if interrupt.asked() else int(failed)


@contextmanager
def _workers(
    scheduler: str | None, file: Path, margin: Margin, memory: int | None
) -> Iterator[int | None]:
    """Let the workers of a scheduler, if one is given, read a table's parts; give their memory."""
    if scheduler is None:
        yield memory
        return
    if not is_parts(file) or margin == "geometric":
        refused = f"{file}, which is one file" if not is_parts(file) else "--margin geometric"
        raise InputError(
            f"--scheduler with {refused}; workers read a folder or a quoted pattern, for margins "
            "unit and directional: leave --scheduler out, or the other one"
        )
    # By name: dask takes longer to load than most files to solve
    with registry.loaded("perceptron_lab.experiments.cells.dask_executor:client_of")(scheduler):
        yield memory or MEMORY


def _of_models(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choices of a verdict on a model."""
    choices = {"affine": not options["no_intercept"], "with_remedies": options["remedies"]}
    return choices | {"model": _stated(options, _SPECIFIED)}


def _stated(options: Mapping[str, str | None], names: Sequence[str]) -> dict[str, str]:
    """Return the values of the named options that are not None."""
    return {name: value for name in names if (value := options[name]) is not None}


def _deliver(
    answer_of_file: FileAnswer, save: Path | None, plot: Path | None, *, as_json: bool
) -> None:
    """Print an answer, and write the files of its result and figure."""
    if as_json:
        print_json(answer_of_file.as_json())
    else:
        echo(*_printed(answer_of_file))
    # On stderr: stdout is to be one JSON value
    for note in answer_of_file.left_out if as_json else ():
        echo(f"note: {note}", err=True)
    if save is not None:
        answer_of_file.save(save)
    if plot is not None:
        answer_of_file.draw(plot)


def _asking(question: str) -> Callable[..., FileAnswer]:
    """Import and return the function that answers a question."""
    name = f"{question}_answer"
    answering: Callable[..., FileAnswer] = registry.loaded(f"perceptron_lab.cli.{name}s:{name}")
    return answering


def _budget(updates: int, seconds: float) -> Budget:
    """Return the budget; raise an error if the seconds are not finite."""
    try:
        # Click's numbers include inf and nan
        return Budget(updates, seconds)
    except InputError:
        raise click.BadParameter(
            f"{seconds}; give a finite number of seconds", param_hint="'--budget-seconds'"
        ) from None


def _refuse_misplaced(save: Path | None, plot: Path | None, algorithm: str) -> None:
    """Raise an error for output files that cannot be written, learners and optimisers."""
    for path in (save, plot):
        if path is not None and not path.parent.is_dir():
            raise DataError(
                f"{path}: the folder {path.parent} does not exist; create it, or use another"
            )
    if plot is not None and plot.suffix not in (".png", ".pdf", ".svg"):
        raise DataError(f"{plot}: the name of a figure has to end with .png, .pdf or .svg")
    if algorithm in registry.names("learner"):
        raise InputError(
            f"{algorithm} is a learner, which runs in experiments only (plab run); use --verdict "
            "to decide whether two classes are separated and coefficients are finite, "
            "or --ellipsoid to decide whether an ellipsoid separates them"
        )
    if algorithm in registry.names("optimiser"):
        raise InputError(
            f"{algorithm} is an optimiser, which minimises the objective of a program; add "
            "--optimum, or run it in an experiment (plab run)"
        )


def _width(goal: Goal) -> Width:
    """Return the requested width; the goal ``decide`` stands for the default width."""
    if isinstance(goal, Width):
        return goal
    if goal == "decide":
        return Width(WIDTH)
    raise InputError(
        f"--goal {goal} does not apply to --optimum; use width=NUMBER, such as --goal width=1e-6"
    )


def _printed(file_answer: FileAnswer) -> list[str]:
    """Return the text of an answer in parts, with its status in colour."""
    status = file_answer.status  # it begins the second line
    before, line, after = file_answer.text(verbose=is_verbose()).partition(f"\n{status}")
    return [before, "\n", coloured(status), after] if status and line else [before]


def _refuse_unused(context: click.Context) -> None:
    """Raise an error for options that do not apply to the question."""
    question = next((name for name in _UNUSED if context.params[name.strip("-")]), "")
    names = (*_SPECIFIED, *VARIABLES, "remedies", "no_intercept")
    model = next((name for name in names if context.params[name]), "").replace("_", "-")
    if model and question != "--verdict":
        raise InputError(f"--{model} belongs to --verdict; add it, or leave --{model} out")
    options = {option.opts[0]: option for option in context.command.params}
    for name in _UNUSED.get(question, ()):
        value = context.params[options[name].name or ""]
        # An option given with its default value changes nothing, and is no error
        if value and value != options[name].default:
            raise InputError(f"{name} does not apply to {question}; leave one of them out")


def _parameters(assignments: tuple[str, ...]) -> dict[str, Any]:
    """Return the algorithm's parameters from assignments ``parameters.NAME=VALUE``."""
    if not assignments:
        return {}
    # It loads the models of configurations, which files do without
    from perceptron_lab.experiments.configuration.overrides import override

    parameters: dict[str, Any] = {}
    entry = Source("", {"parameters": parameters})
    for assignment in assignments:
        if not assignment.startswith("parameters."):
            # The former spelling, still read
            deprecated(f"-s {assignment}", f"-s parameters.{assignment}")
            assignment = f"parameters.{assignment}"
        override(entry, [assignment])
    return parameters
