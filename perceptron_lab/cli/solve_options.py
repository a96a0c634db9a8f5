"""The argument and the options of ``plab solve``, with their help."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from perceptron_lab.cli.answers import MOST_NUMBERS
from perceptron_lab.cli.options import (
    answer_options,
    bytes_of,
    complete_registered,
    completing,
    plugin_option,
)
from perceptron_lab.cones.operators.row_source import LEAST_MEMORY, MEMORY
from perceptron_lab.core.errors import InputError, did_you_mean
from perceptron_lab.core.goals import Budget, Goal, goal_of
from perceptron_lab.datasets.formats.columns import LAST
from perceptron_lab.datasets.formats.file_contents import FORMATS
from perceptron_lab.problems.separation.families.kinds import (
    BINARY_LINKS,
    FAMILIES,
    OTHER_NAMES,
    TIES,
)

Command = TypeVar("Command", bound=Callable[..., Any])

WIDTH = 1e-8
"""The default relative width of the interval around an optimum."""
_GOALS = "decide, budget, margin_upper=NUMBER, margin_ratio=NUMBER or (--optimum) width=NUMBER"
_GOAL_WORDS = ("decide", "budget", "margin_upper=", "margin_ratio=", "width=")
_UPDATES, _SECONDS = Budget().updates, Budget().seconds

# The mark \b keeps each format on a separate line
FORMATS_OF_FILE: Final = "\b\nFormats of FILE, by the end of its name:\n" + "\n".join(
    f"  {end:<9} {content}" for end, content in FORMATS.items()
)
"""The text below the options."""


class _Seconds(click.FloatRange):
    """Seconds; click would call other texts no valid float range."""

    name = "number of seconds; give one of at least 0, as 2.5"


class _Family(click.Choice[str]):
    """A family; names that it has elsewhere are translated in the message."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        usual = OTHER_NAMES.get(str(value).lower())
        if usual is not None:
            options = usual.replace("family=", "--family ").replace(", link=", " --link ")
            self.fail(f"received {value!r}; give {options.translate({39: None})}", param, ctx)
        if value not in self.choices:
            suggestion = did_you_mean(str(value), self.choices)
            families = ", ".join(self.choices)
            self.fail(f"{value!r} is unknown{suggestion}; known: {families}", param, ctx)
        return str(super().convert(value, param, ctx))


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


_VARIABLES: Final = {
    "counts": "the numbers of trials (binomial, log-binomial), or of equal observations",
    "weights": "frequencies or weights >= 0; rows of weight 0 are left out",
    "strata": "strata (conditional, cox)",
    "offset": "an offset",
    "time": "times of events and of censoring (cox)",
    "start": "times from which on rows are at risk (cox)",
}

_OPTIONS: Final[tuple[Callable[[Any], Any], ...]] = (
    # Whether it exists is asked when it is read: - is standard input
    click.argument("file", type=click.Path(path_type=Path)),
    click.option(
        "--labels",
        metavar=f"COLUMN|{LAST}",
        help="Column with two class labels (.csv, .tsv, .txt, .npy, .parquet), by name or number "
        "(counted from 1). The answer is an affine separator (w, b).",
    ),
    click.option(
        "--rows", is_flag=True, help="Treat all columns as data, even if one looks like labels."
    ),
    click.option(
        "--drop-missing", is_flag=True, help="Drop the rows of a text file with missing entries."
    ),
    click.option(
        "--one-hot",
        is_flag=True,
        help="Encode each text column as 0/1 indicators of its levels but one, the reference "
        "level.",
    ),
    click.option(
        "--reference",
        "reference",
        metavar="COLUMN=LEVEL",
        multiple=True,
        help="Reference level of a column with --one-hot; by default the first in sorted order. "
        "May be repeated.",
    ),
    click.option(
        "--positive",
        metavar="VALUE",
        help="Label of the positive class; all other labels are negative. By default the larger of "
        "two labels, or the later in sorted order.",
    ),
    click.option(
        "--drop",
        metavar="COLUMN",
        multiple=True,
        help="Column of a table to leave out, by name or number. May be repeated.",
    ),
    click.option(
        "--columns",
        "listed",
        metavar="A,B",
        default="",
        help="Columns of a table to use as coordinates, by name or number; all others except "
        "--labels are left out.",
    ),
    click.option(
        "--negative-upper",
        type=click.Choice(["zero", "free"]),
        help="Lower bound of a column with a negative upper bound and no lower bound (.mps, "
        ".lp): zero or free (none). By default free in .mps files, zero in .lp files.",
    ),
    click.option(
        "--conflict",
        type=click.Choice(["one", "all"]),
        is_flag=False,
        flag_value="one",
        help="Constraints without a common point: one irreducible conflict, which is named unasked "
        "where few constraints have weights; or, of a linear program (.mps, .lp), a maximal family "
        "of conflicts without common conditions.",
    ),
    click.option(
        "--relax",
        is_flag=True,
        help="Compute also the smallest total change of right-hand sides that leaves a linear "
        "program (.mps, .lp) a point: rows have weight 1, bounds stay if possible. "
        "Equations may change both ways.",
    ),
    click.option(
        "--memory",
        type=_bytes,
        metavar="SIZE",
        help="Read a .npy or .parquet file, or parts, block by block with this much memory per "
        "pass, e.g. 512MB. A few numbers per row and the rows that the algorithm keeps come on "
        "top. By default a .npy file is memory-mapped, a .parquet file is read with "
        f"{MEMORY // 10**6}MB, and parts that are larger than that together as well.",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler whose workers read the parts of a table, with --memory each. The "
        "answer is that of parts that are read block by block here.",
    ),
    click.option(
        "--margin",
        type=click.Choice(["unit", "directional", "geometric"]),
        default="unit",
        show_default=True,
        help="Definition of the margin. unit: rows are divided by their norms; directional: "
        "rows as they are; geometric (two classes only): half the distance of the convex "
        "hulls, as in support vector machines.",
    ),
    click.option(
        "--algorithm",
        metavar="NAME",
        default="auto",
        show_default=True,
        shell_complete=complete_registered("algorithm"),
        help="Algorithm to run (`plab list algorithms`).",
    ),
    click.option(
        "-s",
        "--set",
        "assignments",
        metavar="PATH=VALUE",
        multiple=True,
        help="Set one parameter of the algorithm, e.g. -s parameters.epsilon=1e-6 "
        "(`plab show NAME` lists them). May be repeated.",
    ),
    click.option(
        "--ellipsoid",
        is_flag=True,
        help="Decide instead whether an ellipsoid separates the classes. The answer is a proved "
        "interval for the separation ratio, for either class inside.",
    ),
    click.option(
        "--verdict",
        is_flag=True,
        help="Decide instead, in exact arithmetic, whether the classes are completely or "
        "quasi-completely separated or overlap, and which coefficients of logistic "
        "regression diverge.",
    ),
    click.option(
        "--remedies",
        is_flag=True,
        help="With --verdict: what can be done about separation. The rows that remain if separated "
        "ones are removed, the fewest columns to leave out, and the fewest labels that it rests "
        "on. --budget-seconds limits the search as well.",
    ),
    click.option(
        "--no-intercept",
        is_flag=True,
        help="With --verdict: the model has no intercept.",
    ),
    click.option(
        "--family",
        type=_Family(tuple(FAMILIES)),
        help="With --verdict: the model, where --labels is its response. By default binomial: "
        "logistic regression of two classes.",
    ),
    click.option(
        "--link",
        type=click.Choice(BINARY_LINKS),
        help="With --family binomial or ordinal: the link, by default logit.",
    ),
    *(
        click.option(
            f"--{name}",
            metavar="COLUMN",
            help=f"With --verdict: the column of {words}, by name or number.",
        )
        for name, words in _VARIABLES.items()
    ),
    click.option(
        "--ties",
        type=click.Choice(TIES),
        help="With --family cox: the treatment of tied events, by default breslow.",
    ),
    click.option(
        "--optimum",
        is_flag=True,
        help="Compute instead the exact optimum of a linear program (.mps, .lp), or a proved "
        "interval for that of a semidefinite program (.dat-s, .dat) or of the MAXCUT "
        f"relaxation of a graph (.rud, .mc, .mtx) with a cut. Its relative width is {WIDTH:g}, or "
        "--goal "
        "width=NUMBER. --algorithm may name an optimiser.",
    ),
    click.option(
        "--oracle",
        "oracles",
        metavar="NAME",
        multiple=True,
        shell_complete=complete_registered("oracle"),
        help="Separation oracle (`plab list oracles`), at most one per kind of cone. Repeat "
        "the option for several oracles.",
    ),
    click.option(
        "--goal",
        type=_goal,
        metavar="GOAL",
        default="decide",
        show_default=True,
        shell_complete=completing(lambda context: _GOAL_WORDS),
        help=f"When the run stops: {_GOALS}. decide: at the first proof; budget: when the "
        "budget is used up; margin_upper: also when the margin is proved to be at most "
        "NUMBER; margin_ratio: when the lower bound of the margin is at least NUMBER "
        "times its upper bound; width: when the interval of the optimum has this relative "
        "width.",
    ),
    click.option(
        "--budget-updates",
        type=click.IntRange(min=0),
        default=_UPDATES,
        show_default=True,
        help="Largest number of updates.",
    ),
    click.option(
        "--budget-seconds",
        type=_Seconds(min=0),
        metavar="SECONDS",
        default=_SECONDS,
        show_default=True,
        help="Time limit of the algorithm in seconds.",
    ),
    plugin_option,
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Seed of the random numbers.",
    ),
    answer_options(
        f": the columns of runs.csv, point and weights (null above {MOST_NUMBERS} entries), "
        "labels, features and certificate; infinities and NaN are null",
        "the progress of the algorithm, the method of the proof and the log",
    ),
    click.option(
        "--save",
        metavar="RESULT.npz",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Save point, weights and trace (with --verdict the exact proof) to a file that "
        "`plab verify` can verify again.",
    ),
    click.option(
        "--plot",
        metavar="FIGURE.png",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Plot margins and bounds over the updates (.png, .pdf or .svg). With --ellipsoid and "
        "two features, plot the classes and their ellipse.",
    ),
)


def solve_options(command: Command) -> Command:
    """Return the command with the argument FILE and all options, in the order of the help."""
    # As decorators do, the last one is applied first
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)
