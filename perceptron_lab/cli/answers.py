"""The answer to the problem of one file: as text, as JSON, and saved for verification."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from perceptron_lab.cli.file_answers import FileAnswer, replaced
from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, InputError, counted
from perceptron_lab.core.outward_rounding import bracket_text, text_above, text_below
from perceptron_lab.core.results import OPTIMUM_EXACT, FloatArray, Result, Status
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.core.time_limit import time_limit
from perceptron_lab.datasets.collections.files import stem_of
from perceptron_lab.datasets.collections.problem_files import FileProblem, read_problem
from perceptron_lab.datasets.formats.columns import Columns
from perceptron_lab.datasets.formats.text_files import STANDARD_INPUT
from perceptron_lab.datasets.parts import recorded_digests
from perceptron_lab.experiments.configuration.components import Component, build
from perceptron_lab.experiments.configuration.faults import Fault
from perceptron_lab.experiments.configuration.rows import Run, row_of
from perceptron_lab.experiments.provenance.environment import portable
from perceptron_lab.numerics.exact_texts import read_exact, shown_text
from perceptron_lab.solving.entry import drive_named
from perceptron_lab.systems.conic_system import ConicSystem
from perceptron_lab.systems.constructors import Margin
from perceptron_lab.systems.linear_system import LinearSystem
from perceptron_lab.systems.parted_system import PartedSystem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from perceptron_lab.algorithms.linear.conflicts import Conflicts
    from perceptron_lab.algorithms.linear.linear_result import LinearResult
    from perceptron_lab.algorithms.linear.relaxation import Relaxation

_OF_EXPERIMENTS: Final = ("cell", "environment", "core")
"""Columns of runs.csv that name cells and machines."""
MOST_NUMBERS: Final = 10_000
"""Entries of a vector that JSON holds at most; files have all."""
_SHOWN: Final = 12  # Entries of a vector that a terminal shows


@dataclass(frozen=True)
class ResultAnswer(FileAnswer):
    """A file, the problem that it states, and the result of an algorithm on it.

    Parameters
    ----------
    columns, problem
        What was asked of the columns, and the data.
    algorithm, options
        As they were asked for; no oracles stand for those of the cones.
    result
        The answer.
    margin
        The margin that was asked for.
    conflicts, relaxation
        Of linear conditions without a point, where they were asked for.
    """

    columns: Columns
    problem: FileProblem
    algorithm: Component
    options: RunOptions
    result: Result
    margin: Margin = "unit"
    conflicts: Conflicts | None = None
    relaxation: Relaxation | None = None

    def text(self, *, verbose: bool = False) -> str:
        """Return the answer as text: the proved statement, then the point or the rows that show it.

        Parameters
        ----------
        verbose
            Whether to state the course of the algorithm and the method of the proof as well.
        """
        system, result, labels = self.problem.system, self.result, self.problem.labels
        size = f"{counted(system.constraints, 'constraint')}, dimension {system.unknowns}"
        classes = f"; {labels.positive!r} against {labels.negative!r}" if labels else ""
        notes = [*self._linear_notes.get("notes", []), *(self._method_notes if verbose else [])]
        read = self.reading_line(self.problem.reading, self.left_out)
        lines = [f"{read}{self.file}: {self.sentence}", str(result)]
        if (exact := self._exact) is not None:
            lines += self._exact_lines(exact)
            extras = (self.conflicts, self.relaxation)
            lines += [f"  {text}" for extra in extras if extra for text in extra.sentences()]
        elif len(result.point) and result.status is not Status.INFEASIBLE:
            lines.append(f"  point: {_entries(result.point, self.coordinates.__getitem__)}")
        if result.weights is not None and exact is None:
            of = f"{np.count_nonzero(result.weights)} of {len(result.weights)} weights are not 0"
            at, kind = self.problem.lines, "row" if self.problem.lines is None else "line"
            numbers = range(1, len(result.weights) + 1) if at is None else at
            entries = _entries(result.weights, lambda i: f"{kind} {numbers[i]}")
            in_parts = isinstance(system, PartedSystem)
            listed = f": {entries}" if in_parts or ConicSystem.of(system).cone.of_rows else ""
            lines.append(f"  {of}{listed}")
        lines.append(f"  {size}{classes}; {self.algorithm}")
        return "\n".join([*lines, *(f"  {note}" for note in notes)])

    @property
    def status(self) -> Status:
        """The status of the result."""
        return self.result.status

    @property
    def _exact(self) -> LinearResult | None:
        """The result of conditions that were decided exactly."""
        if not isinstance(self.problem.system, LinearSystem):
            return None
        from perceptron_lab.algorithms.linear.linear_result import LinearResult

        return self.result if isinstance(self.result, LinearResult) else None

    @property
    def _shown_by(self) -> str:
        """The rows with weights, which no hyperplane separates already."""
        if self.result.weights is None:
            return ""
        rows = np.flatnonzero(self.result.weights)
        names = _listing(f"row {i + 1}" for i in rows.tolist())
        return f"; {counted(len(rows), 'row shows', 'rows show')} it: {names}"

    @property
    def _method_notes(self) -> list[str]:
        """Sentences on the progress of the algorithm and the method of a proof by weights."""
        certificate = self.result.certificate
        notes = list(certificate.get("notes", []))
        if "infeasibility_method" in certificate:
            method, ratio = certificate["infeasibility_method"], certificate["infeasibility_ratio"]
            notes.append(f"exact weights are near those computed: {method} <= {ratio:.2g}")
        return notes

    def _exact_lines(self, result: LinearResult) -> list[str]:
        """Return an exact point with the names of its coordinates, or weights of conditions."""
        lines = []
        if result.x is not None:
            pairs = zip(self.coordinates, result.x, strict=True)
            lines.append(f"  point: {_listing(f'{name} {shown_text(x)}' for name, x in pairs)}")
        weights = result.certificate["contradiction"].items()
        for title, texts in (
            ("weights", [f"{name}: {shown_text(read_exact(weight))}" for name, weight in weights]),
            ("tight at every point", result.certificate["always_tight"]),
        ):
            if texts:
                lines.append(f"  {title}: {_listing(texts, '; ')}")
        return lines

    @property
    def coordinates(self) -> list[str]:
        """The names of the point's coordinates: features, the last one the constant of labels."""
        count = len(self.result.point)
        labels = self.problem.labels
        features = list(self.problem.features or ())
        if not features:
            features = [f"y_{j + 1}" for j in range(count - (labels is not None))]
        return [*features, "constant"] if labels else features

    @property
    def sentence(self) -> str:
        """The answer as a sentence."""
        result, labels = self.result, self.problem.labels
        minimised = self.algorithm.kind == "optimiser" or OPTIMUM_EXACT in result.certificate
        if minimised and result.status is not Status.INFEASIBLE:
            return _on_optimum(result)
        lower, upper = result.margin_lower, result.margin_upper
        article, thing = "a", "point with all inequalities strict"
        if labels:
            article = "an"
            thing = f"affine function that separates {labels.positive!r} from {labels.negative!r}"
        elif isinstance(self.problem.system, LinearSystem):
            thing = "point that satisfies all conditions"
        elif self.problem.system.homogenised:
            thing = "strictly feasible point of the program"
        if result.status is Status.FEASIBLE:
            name = result.margin_name
            margin = f", {name} {text_below(lower, 3)} or more" if lower is not None else ""
            return f"there is {article} {thing}{margin} (proved)"
        if result.status is Status.INFEASIBLE:
            if labels:
                pair = f"{labels.positive!r} from {labels.negative!r}"
                return f"no hyperplane separates {pair} (proved){self._shown_by}"
            return f"there is no {thing} (proved)"
        if (exact := self._exact) is not None:
            least = bracket_text(*exact.violation, 3)
            return f"not decided whether there is {article} {thing}; least violation in {least}"
        if upper is not None:
            most = f"a {result.margin_name} of {text_above(upper, 3)} at most"
            bounded = labels is not None and result.status is Status.MARGIN_BOUNDED
            # A bounded margin leaves open whether the classes overlap
            further = "; --verdict says exactly whether the classes overlap" if bounded else ""
            return f"not decided; {article} {thing} has {most}{further}"
        return f"not decided whether there is {article} {thing}"

    def as_json(self) -> dict[str, Any]:
        """Return the row of runs.csv, without the columns that name cells and machines.

        ``point`` and ``weights`` follow (None above :data:`MOST_NUMBERS` entries), ``labels`` (name
        of their column, negative and positive class), ``features`` and ``certificate``.
        """
        system, result = self.problem.system, self.result
        asks = self.algorithm.asks_oracles
        asks = asks and not isinstance(system, LinearSystem)
        oracles = self.options.oracles or (system.oracles.values() if asks else ())
        run = Run(
            problem=self.file.name,
            label=self.algorithm.name,
            constraints=system.constraints,
            dimension=system.unknowns,
            algorithm=self.algorithm,
            oracles=[registry.name_of("oracle", oracle) for oracle in oracles],
            seed=self.options.seed,
            status=result.status,
            message=result.message,
            finding=result.finding,
            goal=result.goal,
            result=result,
        )
        row = row_of(run) | {"parameters": self.algorithm.parameters}
        row |= {"finding": result.finding.values() or None, "infeasibility": result.infeasibility}
        row["conflict"] = [*result.conflict] or [*result.certificate.get("contradiction", ())]
        labels, features = self.problem.labels, self.problem.features
        return {name: value for name, value in row.items() if name not in _OF_EXPERIMENTS} | {
            "point": _listed(result.point),
            "weights": None if result.weights is None else _listed(result.weights),
            "labels": None if labels is None else asdict(labels),
            "features": None if features is None else list(features),
            "reading": self.problem.reading,
            "lines": self._lines(),
            "certificate": result.certificate | self._linear_notes,
            **({"conflicts": self.conflicts.as_json()} if self.conflicts else {}),
            **({"relaxation": self.relaxation.as_json()} if self.relaxation else {}),
            **self._exact_optimum,
        }

    @property
    def _exact_optimum(self) -> dict[str, Any]:
        """The optimum of a linear program, and its bounds in doubles."""
        result = self.result
        if OPTIMUM_EXACT not in result.certificate:
            return {}
        return {
            "optimum_lower": result.optimum_lower,
            "optimum_upper": result.optimum_upper,
            "optimum_width": result.optimum_width,
            OPTIMUM_EXACT: result.certificate[OPTIMUM_EXACT],
        }

    def _lines(self) -> list[int] | None:
        """Return the line of the file of each row; None without lines, or with too many rows."""
        lines = self.problem.lines
        return None if lines is None or len(lines) > MOST_NUMBERS else lines.tolist()

    @property
    def left_out(self) -> tuple[str, ...]:
        """Notes on how a table was read, for which JSON has no key."""
        return () if isinstance(self.problem.system, LinearSystem) else self.problem.notes

    @property
    def _linear_notes(self) -> dict[str, Any]:
        """What was left out of a linear program or relaxed, for a certificate."""
        linear = isinstance(self.problem.system, LinearSystem)
        return {"notes": list(self.problem.notes)} if linear else {}

    def save(self, path: Path) -> None:
        """Save the result with the sha256 of its data, for ``plab verify``.

        An earlier file is whole until the new one is.
        """
        with replaced(path) as partial:
            self.result.save(partial, source=self._source(path))

    def plot(self) -> Figure:
        """Return the figure of the result."""
        return self.result.plot()

    def _source(self, path: Path) -> dict[str, Any] | None:
        """Return the data and algorithm as a certificate records them; empty for standard input."""
        # It cannot be read again: the result is saved without a source
        if self.file == STANDARD_INPUT:
            return None
        columns = {name: value for name, value in asdict(self.columns).items() if value}
        columns |= {} if self.margin == "unit" else {"margin": self.margin}
        oracles = [
            {"name": registry.name_of("oracle", oracle), "parameters": {}}
            for oracle in self.options.oracles
        ]
        return {
            **recorded_digests(self.file),
            "problem": {
                "dataset": "files",
                "parameters": {"files": [self.file.name], **columns},
                "instance": stem_of(self.file.name),
                "seed": self.options.seed,
            },
            "algorithm": {
                "name": self.algorithm.name,
                "parameters": self.algorithm.parameters,
                "oracle": oracles,
            },
            "base": portable(self.file.parent, path.parent),
        }


def _on_optimum(result: Result) -> str:
    """Return the proved bounds of an optimum as a sentence."""
    lower, upper, width = result.optimum_lower, result.optimum_upper, result.optimum_width
    if lower is not None and upper is not None and width is not None:
        interval = f"[{text_below(lower, 12)}, {text_above(upper, 12)}]"
        text = f"the optimum lies in {interval}, relative width {text_above(width, 2)} (proved)"
        return text + _on_cut(result.certificate.get("figures", {}))
    if result.status is Status.UNBOUNDED and OPTIMUM_EXACT in result.certificate:
        return "the objective is unbounded (proved)"
    if upper is not None:
        return f"the optimum is {text_above(upper, 12)} at most (proved)"
    if lower is not None:
        return f"the optimum is {text_below(lower, 12)} at least (proved)"
    return "nothing is proved of the optimum"


def _on_cut(figures: Mapping[str, float]) -> str:
    """Return the proved value of a cut as a sentence; empty without a cut."""
    if "cut" not in figures:
        return ""
    text = f"; a cut has {text_below(figures['cut'], 12)}"
    if "cut_ratio" in figures:
        text += f", {text_below(figures['cut_ratio'], 4)} of the largest or more"
    return f"{text} (proved)"


def _listed(values: FloatArray) -> list[float] | None:
    return values.tolist() if len(values) <= MOST_NUMBERS else None


def _listing(texts: Iterable[str], between: str = ", ") -> str:
    """Return the first of some texts in a line."""
    listed = list(texts)
    return between.join(listed[:_SHOWN]) + (f"{between}..." if len(listed) > _SHOWN else "")


def _entries(values: FloatArray, name: Callable[[int], str]) -> str:
    """Return the largest entries of a vector with their names, in their order."""
    nonzero = np.flatnonzero(values)
    # Stable: of equal entries the first ones are shown
    largest = np.sort(nonzero[np.argsort(-np.abs(values[nonzero]), kind="stable")[:_SHOWN]])
    listed = ", ".join(f"{name(j)} {values[j]:.6g}" for j in largest.tolist())
    return f"{listed}, ..." if len(nonzero) > _SHOWN else listed


def answer(
    file: Path,
    columns: Columns,
    options: RunOptions,
    *,
    memory: int | None,
    margin: Margin,
    algorithm: str,
    parameters: Mapping[str, object],
    conflict: Literal["one", "all"] | None = None,
    relax: bool = False,
) -> ResultAnswer:
    """Solve the problem in a file, as ``plab solve`` does.

    Parameters
    ----------
    file, columns, memory, margin
        As for :func:`~perceptron_lab.datasets.collections.problem_files.read_problem`.
    algorithm, parameters
        A name of ``plab list algorithms``, and the parameters that are not to have their defaults.
    options
        As for :func:`~perceptron_lab.solving.driver.drive`.
    conflict, relax
        Whether disjoint conflicts, and the smallest change of right-hand sides, are computed where
        linear conditions have no point, each within the budget; see :func:`.drive_named`.
    """
    component = component_of("algorithm", algorithm, dict(parameters))
    file = file if file.name not in ("", "..") else file.resolve()  # a folder needs a name
    problem = read_problem(file, columns, memory=memory, margin=margin)
    system = problem.system
    # Before the run; that the file is a linear program is known only once it is read
    if (conflict == "all" or relax) and not isinstance(system, LinearSystem):
        option = "--relax" if relax else "--conflict all"
        raise InputError(f"{option} on a problem that is no linear program; leave it out")
    result = drive_named(system, component.record, options, conflict=conflict is not None)
    answered = ResultAnswer(file, columns, problem, component, options, result, margin)
    if not isinstance(system, LinearSystem) or result.status is not Status.INFEASIBLE:
        return answered
    requests = {"conflicts": conflict == "all", "relaxation": relax}
    repairs = {name: _repair(name, system, options) for name, wants in requests.items() if wants}
    return replace(answered, **repairs)


def _repair(name: str, system: LinearSystem, options: RunOptions) -> Any:
    """Return the conflicts, or the relaxation, of a system without a point."""
    functions = {"conflicts": "conflicts:disjoint_conflicts", "relaxation": "relaxation:relaxation"}
    compute = registry.loaded(f"perceptron_lab.algorithms.linear.{functions[name]}")
    with time_limit(options.budget.seconds, options.stop):
        return compute(system, pivots=options.budget.updates)


def component_of(kind: str, name: str, parameters: dict[str, object]) -> Component:
    """Return a registered algorithm or optimiser with its parameters, or refuse them."""
    registry.target(kind, name)
    faults: list[Fault] = []
    crumbs = {key: (key,) for key in parameters}
    component = build(kind, name, (), parameters, crumbs, faults)
    if component is None:
        reasons = "; ".join(
            ".".join(map(str, fault.crumbs)) + f": {fault.message}" for fault in faults
        )
        raise ConfigError(f"{kind} {name}: {reasons}")
    return component
