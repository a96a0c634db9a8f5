"""The records of an experiment, with the keys of a configuration and their allowed values."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
)

from perceptron_lab.core import registry
from perceptron_lab.core.errors import did_you_mean
from perceptron_lab.core.goals import GOAL_RECORDS, Budget, Goal, NumberGoal
from perceptron_lab.core.refusals import STRICT, Positive
from perceptron_lab.core.run_options import TraceOptions, without_repeats

_GOAL_WORDS = ("decide", "budget")
_GOALS = (
    "decide, budget, {margin_upper: more than 0}, {margin_ratio: between 0 and 1} or, of "
    "optimisers, {width: more than 0}"
)


def _goal(value: object) -> object:
    match value:
        case NumberGoal() | "decide" | "budget":
            return value
        case dict() if len(value) == 1 and set(value) <= GOAL_RECORDS.keys():
            record: type = GOAL_RECORDS[next(iter(value))]
            return TypeAdapter(record).validate_json(json.dumps(value))
    remedy = did_you_mean(value, _GOAL_WORDS) if isinstance(value, str) else ""
    raise ValueError(f"allowed: {_GOALS}{remedy}")


def _registered(kind: str) -> AfterValidator:
    def check(name: str) -> str:
        names = registry.names(kind)
        if name not in names:
            raise ValueError(f"allowed: {', '.join(names)}{did_you_mean(name, names)}")
        return name

    return AfterValidator(check)


def _matching(further: str, words: str) -> AfterValidator:
    def check(text: str) -> str:
        if not re.fullmatch(f"[A-Za-z0-9][A-Za-z0-9{further}]{{0,63}}", text):
            raise ValueError(
                f"allowed: letters, digits, {words}, beginning with a letter or digit, 1 to 64 in "
                "all"
            )
        return text

    return AfterValidator(check)


FileName = Annotated[str, _matching("._-", "dots, hyphens, underscores")]
"""It becomes the name of a folder: neither ``..`` nor hidden."""
Label = Annotated[str, _matching("._ -", "dots, hyphens, underscores, spaces")]
"""As :data:`FileName`, with spaces allowed inside."""
Grid = dict[str, Annotated[list[Any], Field(min_length=1)]]
"""Parameter -> its values; the sweep is the product."""
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Seeds = Annotated[list[Seed], Field(min_length=1), without_repeats("seed")]


class _Frozen(BaseModel):
    model_config = STRICT | ConfigDict(frozen=True)


class BudgetLimits(_Frozen):
    """Limits that replace those of the experiment's budget.

    Parameters
    ----------
    updates, seconds
        As in a budget; None keeps the experiment's.
    """

    updates: Annotated[int, Field(ge=0)] | None = None
    seconds: Annotated[float, Field(ge=0)] | None = None

    def applied_to(self, budget: Budget) -> Budget:
        """Return the budget with its limits replaced by these."""
        return replace(budget, **self.model_dump(exclude_none=True))


class ProcessLimits(_Frozen):
    """The limits of the process in which a cell runs; they change no result.

    Parameters
    ----------
    grace
        Seconds that a cell may run beyond the seconds of its budget, for its proofs, until its
        process is killed; more than 0.
    memory
        Bytes of memory that a cell may have beyond what the interpreter and its libraries take; by
        default the machine's, divided by the cells that run at a time. Enforced on Linux.
    loading
        Seconds that a cell may take to load its problem, which its budget does not count.
    """

    grace: Positive = 30.0
    memory: Annotated[int, Field(gt=0)] | None = None
    loading: Positive = 600.0


class ProblemEntry(_Frozen):
    """A dataset, and by further keys its parameters.

    Parameters
    ----------
    dataset
        A registered name.
    grid
        Parameters to sweep over.
    seeds
        In the place of the experiment's, where these problems need more or fewer. An instance may
        be in several entries with different seeds, each with its limits and algorithms.
    budget
        Limits on these problems, in the place of the experiment's; an algorithm's own go before.
    algorithms
        The labels of the algorithms that run on them; by default all. A label of an entry with a
        grid stands for all of its variants.
    missing
        ``refuse`` (default) ends a run before its first cell where a file is not there and cannot
        be had; ``skip`` gives the cells of that instance the status SKIPPED, with the reason, and
        they are run as soon as the file is there.
    """

    model_config = STRICT | ConfigDict(extra="allow", frozen=True)

    dataset: str
    grid: Grid = {}
    seeds: Seeds | None = None
    budget: BudgetLimits = BudgetLimits()
    algorithms: Annotated[list[str], Field(min_length=1)] | None = None
    missing: Literal["refuse", "skip"] = "refuse"

    @property
    def parameters(self) -> dict[str, Any]:
        """The dataset's parameters, as given."""
        return dict(self.model_extra or {})


class AlgorithmEntry(_Frozen):
    """An algorithm with its parameters and its oracle.

    Parameters
    ----------
    name
        A registered name.
    label
        What rows and tables call it; by default the name.
    parameters
        Its parameters; those left out have their defaults.
    oracle
        How the cones are separated: a name; ``{name: ..., parameter: ...}``; or a list of those,
        one per kind of cone. By default as ``solve`` chooses.
    grid
        Parameters (and ``oracle``) to sweep over.
    budget
        Limits of this algorithm, in the place of the experiment's and the problem's.
    seeds
        In the place of the experiment's and the problem's, where it needs more or fewer.
    """

    name: str
    label: Label | None = None
    parameters: dict[str, Any] = {}
    oracle: Any = None
    grid: Grid = {}
    budget: BudgetLimits = BudgetLimits()
    seeds: Seeds | None = None


class Curves(_Frozen):
    """Curves of a sweep: a column of runs.csv against another, one line per value of a third.

    Parameters
    ----------
    x, y
        Columns, such as ``problem.rows`` and ``seconds``.
    by
        A column as well; by default the label.
    name
        Of the files; by default ``y_over_x``, and what they are by if it is not the label.
    """

    x: str
    y: str
    by: str = "label"
    name: FileName | None = None

    @property
    def stem(self) -> str:
        """The name of the files."""
        by = "" if self.by == "label" else f"_by_{self.by}"
        return self.name or f"{self.y}_over_{self.x}{by}"


class CurvesEntry(_Frozen):
    """A figure of curves, by the one key ``curves``.

    Parameters
    ----------
    curves
        The columns.
    """

    curves: Curves


def _kind_of_figure(value: object) -> str:
    return "columns" if isinstance(value, dict | CurvesEntry) else "registered"


def _files_apart(figures: list[object]) -> list[object]:
    names = [
        figure.curves.stem if isinstance(figure, CurvesEntry) else figure for figure in figures
    ]
    for index, entry in enumerate(figures):
        if isinstance(entry, CurvesEntry) and names.count(names[index]) > 1:
            raise ValueError(
                f"two figures would have the files {names[index]!r}; give the curves a `name:`"
            )
    return figures


FigureEntry = Annotated[
    Annotated[str, _registered("figure"), Tag("registered")]
    | Annotated[CurvesEntry, Tag("columns")],
    Discriminator(_kind_of_figure),
]
"""A registered name, or ``{curves: {x: COLUMN, y: COLUMN, by: COLUMN}}``."""


class ReportEntry(_Frozen):
    """The tables and figures to be made of the rows.

    Parameters
    ----------
    tables
        Registered names; by default there is the table ``summary``.
    figures
        Registered names, and curves of columns.
    """

    tables: list[Annotated[str, _registered("table")]] = []
    figures: Annotated[list[FigureEntry], AfterValidator(_files_apart)] = []

    @property
    def registered(self) -> list[tuple[str, int, str]]:
        """Kind, index and name of the tables and figures that have names."""
        lists = ("table", self.tables), ("figure", self.figures)
        return [
            (kind, index, name)
            for kind, names in lists
            for index, name in enumerate(names)
            if isinstance(name, str)
        ]


class _Runs(_Frozen):
    """The first keys of an :class:`ExperimentConfig`: its runs."""

    experiment: FileName
    title: str = ""
    problems: Annotated[list[ProblemEntry], Field(min_length=1)]
    algorithms: Annotated[list[AlgorithmEntry], Field(min_length=1)]
    goal: Annotated[Goal, BeforeValidator(_goal)] = "decide"
    budget: Budget = Budget()
    seeds: Seeds = [0]


class ExperimentConfig(TraceOptions, _Runs):
    """An experiment: problems x algorithms x seeds, and what their traces hold.

    The keys of :class:`~perceptron_lab.core.run_options.TraceOptions` are keys of it, too.

    Parameters
    ----------
    experiment
        Its name, and that of its folder of results.
    title
        One line for readers.
    problems, algorithms
        At least one of each.
    goal
        When a run ends: ``decide``, ``budget``, a ``MarginUpper``, a ``MarginRatio`` or,
        of optimisers, a ``Width``.
    budget
        The limits of one run.
    seeds
        Each problem and algorithm is run once per seed.
    process
        The limits of the process in which each cell runs.
    report
        Tables and figures to be written at the end.
    plugins
        Files or distributions that register what is named here, for readers: nothing is loaded for
        it, which is done by ``--plugin`` on the command line or an entry point.

    Examples
    --------
    >>> from perceptron_lab import check
    >>> config = ExperimentConfig(
    ...     experiment="mine",
    ...     problems=[{"dataset": "maxcut", "instances": ["random-50-120"]}],
    ...     algorithms=[{"name": "perceptron"}, {"name": "ellipsoid"}],
    ... )
    >>> config.goal, config.budget.updates
    ('decide', 1000000)
    """

    process: ProcessLimits = ProcessLimits()
    report: ReportEntry = ReportEntry()
    plugins: list[str] = []


KNOWN_KEYS: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    (): tuple(ExperimentConfig.model_fields),
    ("problems",): tuple(ProblemEntry.model_fields),
    ("algorithms",): tuple(AlgorithmEntry.model_fields),
    ("problems", "budget"): tuple(BudgetLimits.model_fields),
    ("algorithms", "budget"): tuple(BudgetLimits.model_fields),
    ("budget",): tuple(Budget.__dataclass_fields__),
    ("process",): tuple(ProcessLimits.model_fields),
    ("report",): tuple(ReportEntry.model_fields),
    ("report", "figures"): tuple(CurvesEntry.model_fields),
    ("report", "figures", "curves"): tuple(Curves.model_fields),
}
"""The keys of each mapping, by its crumbs without the indices of lists."""
