"""JSON schemas of the ``--json`` output of every command (draft 2020-12).

Commands may add keys; the keys that are here stay, with their types.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final, get_type_hints

from pydantic import BaseModel, TypeAdapter, create_model

from perceptron_lab.datasets.collections.problem_files import Labels
from perceptron_lab.datasets.download.fetching import FileState
from perceptron_lab.experiments.certifying.certify import CertifiedCell
from perceptron_lab.experiments.configuration.rows import COLUMNS, ColumnKind
from perceptron_lab.experiments.running.status import CellState, ExperimentStatus
from perceptron_lab.experiments.verification.claims import Verified
from perceptron_lab.reporting.compare import Difference, MeanRatio, RunPair

_TYPES: Final[dict[ColumnKind, Any]] = {
    ColumnKind.TEXT: str,
    ColumnKind.COUNT: int,
    ColumnKind.REAL: float,
    ColumnKind.CLOCK: float,
    ColumnKind.TRUTH: bool,
}
_OF_EXPERIMENTS: Final = ("cell", "environment", "core")


class Row(BaseModel):
    """A row of runs.csv.

    Further columns are parameters (problem.NAME, algorithm.NAME), counts of oracles' answers
    (oracle.NAME), bounds of an optimum (optimum_lower, optimum_upper, optimum_width) and measures
    (measure.NAME).
    """

    __pydantic_extra__: dict[str, str | int | float | bool | list[Any] | None]
    model_config = {"extra": "allow"}


def _extended(name: str, kind: type, **more: Any) -> Any:
    """Return the type of a record's JSON values with further keys."""
    hints = get_type_hints(kind)
    keys: dict[str, Any] = {field.name: hints[field.name] for field in fields(kind)} | more
    typed: dict[str, Any] = {key: (value, ...) for key, value in keys.items()}
    return create_model(name, **typed)


_columns: Final[dict[str, Any]] = {
    name: (_TYPES[column.kind] | None, ...) for name, column in COLUMNS.items()
}
RunRow: Any = create_model("RunRow", __base__=Row, **_columns)
Answer: Any = create_model(
    "Answer",
    __base__=Row,
    **{name: kind for name, kind in _columns.items() if name not in _OF_EXPERIMENTS}
    | {
        "parameters": (dict[str, Any], ...),
        "finding": (dict[str, Any] | None, ...),
        "infeasibility": (str | None, ...),
        "conflict": (list[str], ...),
        "point": (list[float] | None, ...),
        "weights": (list[float] | None, ...),
        "labels": (Labels | None, ...),
        "features": (list[str] | None, ...),
        "reading": (str, ...),
        "lines": (list[int] | None, ...),
        "certificate": (dict[str, Any], ...),
    },
)


class SeparationOutput(BaseModel):
    """The separation with one class inside."""

    inside: str | int | float | bool
    status: str
    proved: bool
    ratio: float | None
    ratio_lower: float | None
    ratio_upper: float | None
    centre: list[float] | None
    message: str


class Ellipsoids(BaseModel):
    """The answer with --ellipsoid."""

    file: str
    features: list[str] | None
    reading: str
    notes: list[str]
    separations: list[SeparationOutput]


class SmallestOutput(BaseModel):
    """The smallest set of columns or rows, with --remedies."""

    members: list[str] | list[int] | None
    at_least: int
    smallest: bool


class ChangedResponsesOutput(SmallestOutput):
    """The smallest set of rows, and their new classes for models of several classes."""

    classes: list[str | int | float | bool] | None = None


class RemediesOutput(BaseModel):
    """What can be done about separation, with --remedies."""

    estimates: dict[str, str]
    remaining_rows: list[int]
    remaining_verdict: str | None
    determined: list[str]
    columns: SmallestOutput
    labels: ChangedResponsesOutput | None


class VerdictOutput(BaseModel):
    """The answer with --verdict."""

    file: str
    verdict: str
    proved: bool
    classes: list[str | int | float | bool]
    positive: str | int | float | bool | None
    modelled: str
    condition: str
    family: str
    link: str
    ties: str | None
    observations: list[list[int]] | None
    equalities: list[int] | None
    intercept: str | None
    constant_columns: list[str]
    reference_levels: dict[str, str]
    coefficients: dict[str, str]
    direction: list[float]
    separated_rows: list[int]
    overlap_rows: list[int]
    zero_rows: list[int]
    lines: list[int] | None
    unidentified: list[str]
    method: str
    certificate: dict[str, Any]
    notes: list[str]
    reading: str
    remedies: RemediesOutput | None


class ResultsOutput(BaseModel):
    """The results of an experiment."""

    folder: str
    rows: list[RunRow]
    cautions: list[str]


class PlannedOutput(BaseModel):
    """A cell, with --dry-run."""

    experiment: str
    problem: str
    label: str
    algorithm: str
    oracle: str
    seed: str


class CheckedOutput(BaseModel):
    """A configuration."""

    config: str
    cells: int | None
    faults: list[str]
    warnings: list[str]
    plugins: list[str] = []
    unchecked: list[str] = []


class Written(BaseModel):
    """A table, with its figure."""

    title: str
    files: list[str]


class ReportOutput(Written):
    """The files of an experiment, and what could not be made."""

    failed: list[str]
    cautions: list[str]


class Name(BaseModel):
    """A registered name; an algorithm also has the kinds of systems that it runs on."""

    name: str
    summary: str
    systems: dict[str, str] = {}


class Parameter(BaseModel):
    """A parameter."""

    parameter: str
    allowed: str
    default: str
    meaning: str


class StatedGuarantee(BaseModel):
    """The update bound of an algorithm as its theorem states it."""

    formula: str
    theorem: str
    paper: str
    note: str


class Meaning(BaseModel):
    """One meaning of a name; a configuration has its text."""

    kind: str
    name: str
    documentation: str = ""
    parameters: list[Parameter] = []
    guarantee: StatedGuarantee | None = None
    text: str = ""


Pair: Any = _extended("Pair", RunPair, ratio=float | None)


class ComparisonOutput(BaseModel):
    """Two runs, row by row."""

    a: str
    b: str
    metric: str
    ratios: list[MeanRatio]
    pairs: list[Pair]
    status_changes: list[RunPair]
    unproved: int
    left_out: int
    only_a: list[tuple[str, str, int]]
    only_b: list[tuple[str, str, int]]
    config: list[Difference]
    environment: list[Difference]
    times_compare: bool


Experiment: Any = _extended("Experiment", ExperimentStatus, counts=dict[CellState, int])
Verdicts: Any = _extended("Verified", Verified)
Certificates: Any = _extended("Certified", CertifiedCell)
OUTPUTS: Final[dict[str, Any]] = {
    "run": list[ResultsOutput] | list[PlannedOutput],
    "status": list[Experiment],
    "report": list[ReportOutput],
    "solve": Answer | VerdictOutput | Ellipsoids,
    "check": list[CheckedOutput],
    "list": list[Name],
    "show": list[Meaning],
    "verify": list[Verdicts],
    "certify": list[Certificates],
    "theory": list[Written],
    "compare": ComparisonOutput,
    "data fetch": dict[str, str],
    "data verify": dict[str, dict[str, FileState]],
}
"""Command -> the type of the values that it prints."""


def schema_of(command: str) -> dict[str, Any]:
    """Return the JSON schema of what a command prints with ``--json``."""
    schema = TypeAdapter(OUTPUTS[command]).json_schema(mode="validation")
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft} | schema | {"title": f"plab {command} --json"}
