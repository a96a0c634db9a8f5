"""Figure 2 of `YuKilincCarbonell2014`: test errors of kernel classifiers along the iterations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, Trace
from perceptron_lab.datasets.collections.tabular import Tabular, held_out_labels, instances_of
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.papers.yu.costs import stopping_rules
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.looks import Look, looks_of, nested
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.summary import status_counts

ITERATIONS = (10, 32, 100, 320, 1000)
"""The numbers of iterations at which the paper looks at the classifiers."""
# Every trace has records there
_POWERS = frozenset(2**k for k in range(max(ITERATIONS).bit_length()))
_NO_DECISIONS = (
    "the traces have no decisions on test examples; run the experiment with trace_measures: true "
    "and a test_fraction above 0"
)


@dataclass
class Errors:
    """The test errors of one label after some number of iterations per classifier.

    ``errors`` are the fractions of test examples whose class is not predicted, one per seed of
    which every classifier has a trace; ``incomplete`` seeds have none, since a classifier failed or
    was not run. Of the ``classifiers`` looked at, ``ended`` had ended with fewer iterations.
    """

    label: str
    iterations: int
    status_counts: str
    errors: list[float] = field(default_factory=list)
    incomplete: int = 0
    classifiers: int = 0
    ended: int = 0

    @property
    def median(self) -> float | None:
        """The median over the seeds, or None."""
        return float(np.median(self.errors)) if self.errors else None


class Snapshot(NamedTuple):
    """A classifier after some iterations: f of the test examples, and whether it had ended."""

    decisions: FloatArray
    ended: bool


def kernel_errors(evidence: Evidence) -> list[Errors]:
    """Return the test errors of one-versus-rest classifiers: label by label, along the iterations.

    The prediction for an example x is the class whose classifier f has the largest f(x), as in the
    paper. A run that ended earlier keeps its last point.

    Parameters
    ----------
    evidence
        Of an experiment on one-versus-rest problems of the dataset tabular, with test examples,
        ``trace_measures: true`` and ``record_at`` with the numbers :data:`ITERATIONS`. Others are
        refused.
    """
    runs = evidence.frame
    record, classes = classes_against_rest(evidence)
    # Seeds are floats in the checked table.
    truths = {seed: held_out_labels(record, int(seed)) for seed in runs["seed"].unique()}
    lines = []
    for label, label_runs in runs.groupby("label", sort=False):
        row = [Errors(str(label), n, status_counts(label_runs)) for n in ITERATIONS]
        for seed, cells in label_runs.groupby("seed", sort=False):
            traces = {
                classes[problem]: trace
                for problem, cell in zip(cells["problem"], cells["cell"], strict=True)
                if (trace := evidence.trace(cell)) is not None
            }
            for errors in row:
                # A class without a classifier could not be predicted, and the error would look
                # worse than it is
                if len(traces) < len(classes):
                    errors.incomplete += 1
                    continue
                snapshots = [snapshot(trace, errors.iterations) for trace in traces.values()]
                decisions = np.array([snapshot.decisions for snapshot in snapshots])
                # Of equal values argmax takes the first class
                predicted = np.array(list(traces))[decisions.argmax(axis=0)]
                errors.errors.append(float(np.mean(predicted != truths[seed])))
                errors.classifiers += len(snapshots)
                errors.ended += sum(snapshot.ended for snapshot in snapshots)
        lines += row
    return lines


def classes_against_rest(outline: Outline) -> tuple[Tabular, dict[str, int]]:
    """Return the one record that all problems belong to, which has them all, and their classes."""
    classes, records, problems = {}, [], outline.problems()
    for problem in problems:
        record = outline.dataset(problem)
        instances = instances_of(record.source, record.task) if isinstance(record, Tabular) else {}
        positive, negative = instances.get(outline.instance(problem), (0, 0))
        if not isinstance(record, Tabular) or negative is not None:
            raise DataError(
                f"the problem {problem!r} is not one class against the rest; use problems such as "
                "digits-3-rest (dataset tabular, task one-vs-rest)"
            )
        records.append(record)
        classes[problem] = positive
    if any(other != records[0] for other in records):
        raise DataError(
            "its problems belong to several datasets; use the classes of one dataset (dataset "
            "tabular)"
        )
    # The prediction is the largest of all classifiers: a missing class falsifies every test error
    missing = sorted(set(records[0].names()) - {outline.instance(p) for p in problems})
    if missing:
        raise DataError(f"no runs of {', '.join(missing)}; run every class")
    return records[0], classes


def decisions_along(plan: Outline) -> None:
    """Refuse a plan whose traces will lack the decisions at some of :data:`ITERATIONS`."""
    recorded = plan.recorded()
    record, _ = classes_against_rest(plan)
    if not recorded.trace_measures or not record.test_fraction:
        raise DataError(_NO_DECISIONS)
    if missing := sorted(set(ITERATIONS) - set(recorded.record_at) - _POWERS):
        raise DataError(
            f"the traces will have no record after {', '.join(map(str, missing))} "
            f"iterations; run the experiment with record_at: {list(ITERATIONS)}"
        )


def snapshot(trace: Trace, iterations: int) -> Snapshot:
    """Return the decisions of a run after some number of iterations, or after its last if fewer.

    A trace without a record there, or without decisions, is refused.
    """
    if "decisions" not in trace.measures:
        raise DataError(_NO_DECISIONS)
    last = max(i for i, updates in enumerate(trace.updates) if updates <= iterations)
    # After its end a run has no later record: its last point is its answer
    ended = trace.updates[last] < iterations
    if ended and last < len(trace) - 1:
        raise DataError(
            f"a trace has no record after {iterations} iterations; run the experiment "
            f"with record_at: {list(ITERATIONS)}"
        )
    return Snapshot(np.asarray(trace.measures["decisions"][last]), ended)


@needs(classes_against_rest, of_plan=[decisions_along])
def table_figure_2(evidence: Evidence) -> Table:
    """Multi-class test errors after 10 to 1000 iterations per classifier: Figure 2 in numbers.

    Columns: ``label``, ``iterations`` (per classifier), ``seeds`` (with every classifier there);
    ``median``, ``mean``, ``lowest`` and ``highest`` test error over the seeds, in percent;
    ``classifiers``, and of these ``ended``: with fewer iterations, so that their last point counts;
    ``incomplete``, the seeds left out since a classifier has no result; ``status``, the statuses of
    the label's cells.
    """
    lines = kernel_errors(evidence)
    statistics: dict[str, Callable[[list[float]], Any]] = {
        "median": np.median,
        "mean": np.mean,
        "lowest": np.min,
        "highest": np.max,
    }
    columns = [
        texts("label", [line.label for line in lines]),
        counts("iterations", [line.iterations for line in lines]),
        counts("seeds", [len(line.errors) for line in lines]),
    ]
    for name, of in statistics.items():
        percents = [100.0 * float(of(line.errors)) if line.errors else None for line in lines]
        columns.append(numbers(name, percents))
    columns += [
        counts("classifiers", [line.classifiers for line in lines]),
        counts("ended", [line.ended for line in lines]),
        counts("incomplete", [line.incomplete for line in lines]),
        texts("status", [line.status_counts for line in lines]),
    ]
    notes = [_NOTE, *stopping_rules(evidence)]
    return Table("table_figure_2", columns, notes=notes, long=True)


_NOTE = (
    "Test errors in percent, over the seeds. The predicted class is the one whose classifier has "
    "the largest value. Ended: number of classifiers whose run ended after fewer iterations; "
    "their last point counts. Incomplete: number of seeds that are left out because a classifier "
    "has no result."
)


# Labels stand side by side at one number of iterations, by this factor
_APART = 1.05


@needs(classes_against_rest, of_plan=[decisions_along])
def figure_2(evidence: Evidence) -> Figure:
    """Multi-class test error after 10, 32, 100, 320 and 1000 iterations per classifier.

    Markers are medians over the seeds, joined by a line per label; bars reach from the lowest to
    the highest error. A run that ended earlier keeps its last point; a label all of whose runs end
    before the first number of iterations is a horizontal line. What has no number, since a
    classifier has no result, is a cross at the lower edge; an error of 0 is a marker there.
    """
    lines = kernel_errors(evidence)
    labels = list(dict.fromkeys(line.label for line in lines))
    figure, axes = drawing.panel(3.8, 3.6)
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="iterations per classifier", ylabel="test error, percent")
    names = drawing.spelt_out(evidence.algorithms())
    entries, factors = [], nested(labels)
    for i, (label, look) in enumerate(looks_of(evidence, labels).items()):
        label_lines = [line for line in lines if line.label == label]
        # By factors, as the axis is logarithmic
        shift = _APART ** (i - (len(labels) - 1) / 2)
        entry = _draw(axes, label_lines, shift, look, factors[label])
        entry.set_label(names.get(label, label))
        entries.append(entry)
    axes.set_xticks(ITERATIONS, [str(n) for n in ITERATIONS], minor=False)
    axes.set_xticks([], minor=True)
    drawing.rule_logarithmic(axes, "y")
    drawing.rule(axes, "x", "0.95")
    drawing.legend_above(figure, entries)
    return figure


def _draw(axes: Axes, lines: Sequence[Errors], shift: float, look: Look, factor: float) -> Line2D:
    """Draw one label and return its entry of the legend."""
    label, colour = lines[0].label, look["color"]
    medians = [None if line.median is None else 100.0 * line.median for line in lines]
    # A label that ends before the first number of iterations has one error, and no course.
    at_once = all(line.errors and line.ended == line.classifiers for line in lines)
    if at_once and medians[0]:
        ends = 100.0 * min(lines[0].errors), 100.0 * max(lines[0].errors)
        axes.axhline(medians[0], color=colour, linestyle="--", linewidth=0.9, label=label)
        # The range of the seeds, as the bars of the other labels
        axes.axhspan(*ends, color=colour, alpha=0.12, linewidth=0)
        return Line2D([], [], label=label, color=colour, linestyle="--", linewidth=0.9)
    positions = [line.iterations * shift for line in lines]
    points = [(x, y) for x, y in zip(positions, medians, strict=True) if y]
    style = look["linestyle"]
    axes.plot(*zip(*points, strict=True), color=colour, linestyle=style, linewidth=factor)
    for x, line in zip(positions, lines, strict=True):
        if len(line.errors) > 1:
            ends = 100.0 * min(line.errors), 100.0 * max(line.errors)
            drawing.draw_bar(axes, x, ends, colour)
    numbers = [(x, y) for x, y in zip(positions, medians, strict=True) if y is not None]
    absent = [(x, None) for x, y in zip(positions, medians, strict=True) if y is None]
    drawing.points(axes, numbers, label, look, markersize=3.5)
    drawing.points(axes, absent, f"{label} without result", {**look, "marker": "x"}, markersize=5)
    return drawing.handles({label: look}, linewidth=0.9)[0]
