"""Applications that chapter 9 of the thesis leaves open: requested labels, digits that rotate."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets.collections.rotated_digits import RotatedDigits
from perceptron_lab.datasets.generated.sphere_streams import SphereStreams
from perceptron_lab.estimators.learners.registered.active_perceptron import ERRORS
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs, problems_of
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.looks import looks_of
from perceptron_lab.reporting.printing.problem_titles import title_of
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.printing.typesetting import percent
from perceptron_lab.reporting.summary import Summary, grouped, summaries, with_measures

REQUESTS = "active-perceptron"
_COUNTED = ("labels", "mistakes", "presentations", "label_bound", "error")
_TO = [f"labels_to_{error:g}" for error in ERRORS]


def label_requests_made(outline: Outline) -> list[str]:
    """Return the labels of learners that count the labels they request."""
    labels = [name for name, method in outline.methods().items() if method.algorithm == REQUESTS]
    if not labels:
        raise DataError(f"no label counts the labels it requests; add {{name: {REQUESTS}}}")
    return labels


def _requests(evidence: Evidence) -> list[Summary]:
    labels = label_requests_made(evidence)
    runs = evidence.frame[evidence.frame["label"].isin(labels)]
    return summaries(with_measures(runs, [*_COUNTED, *_TO]))


def _reached(entry: Summary, name: str) -> float | None:
    """Return the median labels to an error, None where it is not reached by half of the seeds."""
    value = float(entry.runs[name].fillna(math.inf).median())
    return value if math.isfinite(value) else None


@needs(label_requests_made)
def label_requests_table(evidence: Evidence) -> Table:
    """Labels that perceptrons request until the test error is small, and their mistakes.

    Columns: ``problem``, ``label``, ``seeds``; medians over the seeds of ``labels`` and
    ``mistakes`` on the whole stream, of the ``bound`` 1 + R (M + H + 1) of the labels where they
    are requested, of the ``error`` at the end in percent, and of the labels ``to 10 %``, ``to 3 %``
    and so on: after which the error on the test examples was first at most that (empty where half
    of the seeds or more did not reach it).
    """
    entries = _requests(evidence)
    medians = {name: [entry.median(name) for entry in entries] for name in _COUNTED}
    errors = [None if error is None else 100.0 * error for error in medians["error"]]
    columns = [
        texts("problem", [entry.problem for entry in entries]),
        texts("label", [entry.label for entry in entries]),
        counts("seeds", [entry.seeds for entry in entries]),
        counts("labels", medians["labels"]),
        counts("mistakes", medians["mistakes"]),
        counts("bound", medians["label_bound"]),
        numbers("error", errors, percent),
        *(
            counts(f"to {100 * error:g} %", [_reached(entry, name) for entry in entries])
            for error, name in zip(ERRORS, _TO, strict=True)
        ),
    ]
    note = "Medians over the seeds. Error: percent of the test examples, at the end of the stream."
    return Table("label_requests", columns, 2, notes=[note], long=True)


@needs(label_requests_made)
def label_requests_figure(evidence: Evidence) -> Figure:
    """Test errors of perceptrons against the labels that they were given, a panel per problem.

    A line per seed, a colour per label, on logarithmic axes. Grey: the labels (d - 1) / (32 eps)
    that every learner needs for the error eps on some distribution of examples in dimension d, if
    it is given the labels of random examples (Ehrenfeucht, Haussler, Kearns and Valiant 1989).
    """
    entries = _requests(evidence)
    problems = list(dict.fromkeys(entry.problem for entry in entries if entry.seeds))
    looks = looks_of(evidence, dict.fromkeys(entry.label for entry in entries))
    records = problems_of(evidence, SphereStreams)
    figure, panels = drawing.panels(len(problems), 2.5, 0.8, 2.1)
    for axes, problem in zip(panels, problems, strict=True):
        drawing.entitle(axes, title_of(evidence, problem))
        axes.set(xscale="log", yscale="log", xlabel="labels")
        for entry in entries:
            if entry.problem == problem:
                _draw(axes, evidence, entry, looks[entry.label]["color"])
        if problem in records:
            eps = np.geomspace(1e-4, 0.1, 20)
            passive = (records[problem].dimension - 1) / (32.0 * eps)
            axes.plot(passive, eps, color="0.6", linewidth=1.6, zorder=1.0)
        drawing.rule_logarithmic(axes, "x", 12.0)
        drawing.rule_logarithmic(axes, "y", 12.0)
        spec = axes.get_subplotspec()
        if spec is not None and spec.is_first_col():
            axes.set_ylabel("test error")
    lines = [Line2D([], [], color=look["color"], label=name) for name, look in looks.items()]
    passive_line = Line2D([], [], color="0.6", linewidth=1.6, label="(d - 1) / (32 eps)")
    drawing.legend_above(figure, [*lines, passive_line])
    return figure


def _draw(axes: Axes, evidence: Evidence, entry: Summary, colour: str) -> None:
    """Draw the error of each seed against labels, where it is not 0."""
    for cell in entry.runs["cell"]:
        trace = evidence.trace(cell)
        if trace is None:
            continue
        labels, errors = (np.asarray(trace.measures[n][0]) for n in ("requested", "error_after"))
        positive = errors > 0.0
        axes.plot(
            labels[positive],
            errors[positive],
            color=colour,
            linewidth=0.7,
            drawstyle="steps-post",
            label=f"{entry.label} {cell}",
        )


def rotated_problems(outline: Outline) -> dict[str, RotatedDigits]:
    """Return the problems of the dataset rotated-digits; raise an error if there are none."""
    problems = problems_of(outline, RotatedDigits)
    if not problems:
        raise DataError("no problem has rotated digits; add {dataset: rotated-digits}")
    return problems


@needs(rotated_problems)
def rotated_digits_table(evidence: Evidence) -> Table:
    """Answers and test errors on rotated digits, by what the training examples demand.

    Columns: ``demand`` (interval, angles, none), ``label``; ``cells`` and how many are ``feasible``
    by a verified point; the median of ``updates``; means over pairs and seeds, in percent, of the
    errors ``rotated`` (nine angles of the interval), ``upright`` and ``worst`` (test examples with
    a wrong sign at one of the angles).
    """
    problems = rotated_problems(evidence)
    names = ["test_error", "upright_error", "worst_error"]
    frame = evidence.frame[evidence.frame["problem"].isin(list(problems))]
    groups = grouped(
        summaries(with_measures(frame, names)),
        lambda entry: (problems[entry.problem].invariance, entry.label),
    )
    runs = {key: [entry.runs for entry in entries] for key, entries in groups.items()}
    feasible = [sum(int((r["status"] == "FEASIBLE").sum()) for r in each) for each in runs.values()]
    columns = [
        texts("demand", [key[0] for key in groups]),
        texts("label", [key[1] for key in groups]),
        counts("cells", [sum(map(len, each)) for each in runs.values()]),
        counts("feasible", feasible),
        counts(
            "updates",
            [float(np.median(np.concatenate([r["updates"] for r in e]))) for e in runs.values()],
        ),
        *(
            numbers(
                title,
                [100.0 * float(np.mean(np.concatenate([r[n] for r in e]))) for e in runs.values()],
                percent,
            )
            for n, title in zip(names, ("rotated", "upright", "worst"), strict=True)
        ),
    ]
    return Table("rotated_digits", columns, 2, notes=["Errors in percent, means over all cells."])
