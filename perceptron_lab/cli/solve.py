"""``plab solve``: solve the problem in one file and verify the answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from perceptron_lab.cli.answers import MOST_NUMBERS, answer
from perceptron_lab.cli.echo import coloured, deprecated, echo, is_quiet, is_verbose, print_json
from perceptron_lab.cli.file_answers import FileAnswer
from perceptron_lab.cli.live import interruptible, live_line
from perceptron_lab.cli.options import (
    answer_options,
    bytes_of,
    complete_registered,
    completing,
    plugin_option,
)
from perceptron_lab.cones.operators.row_source import LEAST_MEMORY, MEMORY
from perceptron_lab.core import registry
from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.core.goals import Budget, Goal, Width, goal_of
from perceptron_lab.core.run_options import RunOptions, Stop, Watch
from perceptron_lab.datasets.formats.columns import LAST, Columns, listed_columns
from perceptron_lab.datasets.formats.file_contents import FORMATS
from perceptron_lab.experiments.configuration.yaml_source import Source

if TYPE_CHECKING:
    from perceptron_lab.datasets.formats.linear_programs import NegativeUpper
    from perceptron_lab.systems.constructors import Margin

_GOALS = "decide, budget, margin_upper=NUMBER, margin_ratio=NUMBER or (--optimum) width=NUMBER"
WIDTH = 1e-8
"""The default relative width of the interval around an optimum."""
_LINEAR: Final = ("--negative-upper", "--conflict", "--relax")
_UNUSED: Final = {
    "--verdict": (
        *("--memory", "--oracle", "-s", "--margin", "--plot", "--ellipsoid", "--optimum"),
        *_LINEAR,
    ),
    "--ellipsoid": ("--memory", "--oracle", "-s", "--margin", "--save", "--optimum", *_LINEAR),
    "--optimum": (
        *("--memory", "--oracle", "--margin", "--labels", "--rows", "--drop-missing"),
        *(
            "--one-hot",
            "--drop",
            "--columns",
            "--positive",
            "--reference",
            "--plot",
            "--negative-upper",
        ),
    ),
}
"""Question -> the options that do not apply to it."""
_GOAL_WORDS = ("decide", "budget", "margin_upper=", "margin_ratio=", "width=")
_UPDATES, _SECONDS = Budget().updates, Budget().seconds


def _goal(text: str) -> Goal:
    """Return the goal of a text: ``decide``, ``budget``, or for example ``margin_upper=1e-6``."""
    try:
        return goal_of(text)
    except InputError:
        raise click.BadParameter(
            f"received {text!r}; allowed: {_GOALS}, above 0 (a ratio: below 1)"
        ) from None


def _bytes(text: str) -> int:
    """Return the bytes of memory for a pass, from a size such as ``512MB``."""
    size = bytes_of(text)
    if size < LEAST_MEMORY:
        raise click.BadParameter(f"received {text!r}; allowed: {LEAST_MEMORY // 10**6}MB or more")
    return size


@click.command(
    "solve",
    # The mark keeps each format on a line of its own
    epilog="\b\nFormats of FILE, by the end of its name:\n"
    + "\n".join(f"  {end:<9} {content}" for end, content in FORMATS.items()),
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--labels",
    metavar=f"COLUMN|{LAST}",
    help="Column with two class labels (.csv, .tsv, .txt, .npy, .parquet), by name or number "
    "(counted from 1). The answer is an affine separator (w, b).",
)
@click.option(
    "--rows", is_flag=True, help="Treat all columns as data, even if one looks like labels."
)
@click.option(
    "--drop-missing", is_flag=True, help="Drop the rows of a text file with missing entries."
)
@click.option(
    "--one-hot",
    is_flag=True,
    help="Encode each text column as 0/1 indicators of its levels but one, the reference level.",
)
@click.option(
    "--reference",
    "reference",
    metavar="COLUMN=LEVEL",
    multiple=True,
    help="Reference level of a column with --one-hot; by default the first in sorted order. "
    "May be repeated.",
)
@click.option(
    "--positive",
    metavar="VALUE",
    help="Label of the positive class; all other labels are negative. By default the larger of "
    "two labels, or the later in sorted order.",
)
@click.option(
    "--drop",
    metavar="COLUMN",
    multiple=True,
    help="Column of a table to leave out, by name or number. May be repeated.",
)
@click.option(
    "--columns",
    "listed",
    metavar="A,B",
    default="",
    help="Columns of a table to use as coordinates, by name or number; all others except "
    "--labels are left out.",
)
@click.option(
    "--negative-upper",
    type=click.Choice(["zero", "free"]),
    help="Lower bound of a column with a negative upper bound and no lower bound (.mps, .lp): zero "
    "or free (none). By default free in .mps files, zero in .lp files.",
)
@click.option(
    "--conflict",
    type=click.Choice(["one", "all"]),
    default="one",
    show_default=True,
    help="Conflicts of a linear program without a point (.mps, .lp): one, or a maximal family of "
    "conflicts without common conditions.",
)
@click.option(
    "--relax",
    is_flag=True,
    help="Compute also the smallest total change of right-hand sides that leaves a linear program "
    "(.mps, .lp) a point: rows have weight 1, bounds stay if possible. Equations may change both "
    "ways.",
)
@click.option(
    "--memory",
    type=_bytes,
    metavar="SIZE",
    help="Read a .npy or .parquet file block by block with this much memory per pass, e.g. 512MB. "
    "A few numbers per row and the rows that the algorithm keeps come on top. By default a .npy "
    f"file is memory-mapped and a .parquet file is read with {MEMORY // 10**6}MB.",
)
@click.option(
    "--margin",
    type=click.Choice(["unit", "directional", "geometric"]),
    default="unit",
    show_default=True,
    help="Definition of the margin. unit: rows are divided by their norms; directional: rows as "
    "they are; geometric (two classes only): half the distance of the convex hulls, as in support "
    "vector machines.",
)
@click.option(
    "--algorithm",
    metavar="NAME",
    default="auto",
    show_default=True,
    shell_complete=complete_registered("algorithm"),
    help="Algorithm to run (`plab list algorithms`).",
)
@click.option(
    "-s",
    "--set",
    "assignments",
    metavar="PATH=VALUE",
    multiple=True,
    help="Set one parameter of the algorithm, e.g. -s parameters.epsilon=1e-6 "
    "(`plab show NAME` lists them). May be repeated.",
)
@click.option(
    "--ellipsoid",
    is_flag=True,
    help="Decide instead whether an ellipsoid separates the classes. The answer is a proved "
    "interval for the separation ratio, for either class inside.",
)
@click.option(
    "--verdict",
    is_flag=True,
    help="Decide instead, in exact arithmetic, whether the classes are completely or "
    "quasi-completely separated or overlap, and which coefficients of logistic regression diverge.",
)
@click.option(
    "--optimum",
    is_flag=True,
    help="Compute instead the exact optimum of a linear program (.mps, .lp), or a proved interval "
    "for that of a semidefinite program (.dat-s) or of the MAXCUT relaxation of a graph (.rud, "
    f".mtx) with a cut. Its relative width is {WIDTH:g}, or --goal width=NUMBER. "
    "--algorithm may name an optimiser.",
)
@click.option(
    "--oracle",
    "oracles",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_registered("oracle"),
    help="Separation oracle (`plab list oracles`), at most one per kind of cone. Repeat the option "
    "for several oracles.",
)
@click.option(
    "--goal",
    type=_goal,
    metavar="GOAL",
    default="decide",
    show_default=True,
    shell_complete=completing(lambda context: _GOAL_WORDS),
    help=f"When the run stops: {_GOALS}. decide: at the first proof; budget: when the budget is "
    "used up; margin_upper: also when the margin is proved to be at most NUMBER; margin_ratio: "
    "when the lower bound of the margin is at least NUMBER times its upper bound; width: when the "
    "interval of the optimum has this relative width.",
)
@click.option(
    "--budget-updates",
    type=click.IntRange(min=0),
    default=_UPDATES,
    show_default=True,
    help="Largest number of updates.",
)
@click.option(
    "--budget-seconds",
    type=click.FloatRange(min=0),
    default=_SECONDS,
    show_default=True,
    help="Time limit of the algorithm in seconds.",
)
@plugin_option
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the random numbers.",
)
@answer_options(
    f": the columns of runs.csv, point and weights (null above {MOST_NUMBERS} entries), labels, "
    "features and certificate; infinities and NaN are null",
    "the progress of the algorithm, the method of the proof and the log",
)
@click.option(
    "--save",
    metavar="RESULT.npz",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Save point, weights and trace (with --verdict the exact proof) to a file that "
    "`plab verify` can verify again.",
)
@click.option(
    "--plot",
    metavar="FIGURE.png",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Plot margins and bounds over the updates (.png, .pdf or .svg). With --ellipsoid and "
    "two features, plot the classes and their ellipse.",
)
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
    conflict: Literal["one", "all"],
    relax: bool,
    memory: int | None,
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
) -> int:
    """Solve the feasibility problem in FILE and verify the answer.

    For rows of numbers, find y with rows @ y > 0 or prove that (nearly) no such y exists. With
    --labels, find an affine function that separates two classes. With --optimum, bound the optimum
    of a semidefinite program. FILE is - for standard input.

    The answer is verified on the exact numbers in the file: text is read as decimals, and a decimal
    that is not a double is enclosed in an interval. Ctrl-C stops the run and prints the results
    proved so far.
    """
    budget = _budget(budget_updates, budget_seconds)
    _refuse_misplaced(save, plot, "auto" if optimum else algorithm)
    features = listed_columns(listed, divided=True)
    asked_of = (labels, rows, drop_missing, one_hot, drop, features, reference, positive)
    columns = Columns(*asked_of, negative_upper)
    _refuse_unused(click.get_current_context())

    def found_in(watch: Watch | None, stop: Stop) -> FileAnswer:
        if verdict or ellipsoid:
            ask = _asking("verdict" if verdict else "ellipsoid")
            return ask(file, columns, seconds=budget_seconds, stop=stop)
        choices: Any = {"algorithm": algorithm, "parameters": _parameters(assignments)}
        options = RunOptions(
            oracles=[registry.load("oracle", name)() for name in oracles],
            goal=_width(goal) if optimum else goal,
            budget=budget,
            seed=seed,
            watch=watch,
            stop=stop,
        )
        if optimum:
            return _asking("optimum")(file, options, **choices)
        choices |= {"all_conflicts": conflict == "all", "relax": relax}
        return answer(file, columns, options, memory=memory, margin=margin, **choices)

    quiet = as_json or verdict or ellipsoid or is_quiet()
    with interruptible() as interrupt, live_line(str(file), quiet=quiet) as watch:
        answer_of_file = found_in(watch, interrupt.asked)
    if as_json:
        print_json(answer_of_file.as_json())
    else:
        echo(*_printed(answer_of_file))
    for note in answer_of_file.left_out if as_json else ():
        echo(f"note: {note}", err=True)
    if save is not None:
        answer_of_file.save(save)
    if plot is not None:
        answer_of_file.draw(plot)
    failed = answer_of_file.status is not None and answer_of_file.status.failed
    return 130 if interrupt.asked() else int(failed)


def _asking(question: str) -> Callable[..., FileAnswer]:
    """Import and return the function that answers a question."""
    name = f"{question}_answer"
    answering: Callable[..., FileAnswer] = registry.loaded(f"perceptron_lab.cli.{name}s:{name}")
    return answering


def _budget(updates: int, seconds: float) -> Budget:
    """Return the budget; raise an error if the seconds are not finite."""
    try:
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
    options = {option.opts[0]: option for option in context.command.params}
    for name in _UNUSED.get(question, ()):
        value = context.params[options[name].name or ""]
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
            deprecated(f"-s {assignment}", f"-s parameters.{assignment}")
            assignment = f"parameters.{assignment}"
        override(entry, [assignment])
    return parameters
