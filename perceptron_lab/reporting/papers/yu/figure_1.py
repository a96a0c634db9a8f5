"""Figure 1 of `YuKilincCarbonell2014`: the cost of each algorithm against the difficulty."""

from __future__ import annotations

from matplotlib.figure import Figure

from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.summary import summaries


def difficulties(outline: Outline) -> dict[str, float]:
    """Return problem -> kappa; problems without one are refused, and those of several shapes."""
    kappas = {problem: difficulty(outline, problem) for problem in outline.problems()}
    shapes = set(outline.shapes().values())
    if len(shapes) > 1:
        raise DataError(
            f"problems of {len(shapes)} shapes {sorted(shapes)}; it draws one shape, "
            "put the others into an experiment of their own"
        )
    return kappas


@needs(difficulties)
def figure_1(evidence: Evidence) -> Figure:
    """Seconds and iterations against the difficulty kappa, on logarithmic axes.

    Reflected rows of difficulty kappa have margins in proportion to it: the smaller, the harder.
    Markers are medians over the seeds, joined by a line per label; bars reach from the lower to the
    upper quartile. A cross is a median over cells of which some are not proved feasible, at the
    lower edge where there is no number at all: at a limit, the number is where the run was cut off.
    Mirror-Prox ends here when norm(A x) <= epsilon, in the paper at the saddle-point gap; on these
    feasible rows both end at a separator.

    Parameters
    ----------
    evidence
        Of runs on problems of one shape with a parameter ``difficulty``, such as those of the
        dataset margin-sets, family reflected.
    """
    kappas = difficulties(evidence)
    found = [(kappas[entry.problem], entry) for entry in summaries(evidence.frame)]
    found.sort(key=lambda pair: pair[0])
    known = drawing.looks(list(evidence.frame["label"].unique()))
    figure = drawing.canvas(7.0, 3.0)
    panels = figure.subplots(1, 2, sharex=True)
    columns = {"seconds": "seconds", "updates": "iterations"}
    for axes, (column, name) in zip(panels, columns.items(), strict=True):
        axes.set(xlabel="difficulty $\\kappa$ (smaller is harder)", ylabel=name)
        drawing.draw_medians(axes, known, found, column, lambda entry: entry.feasible)
    proved = all(entry.feasible for _, entry in found)
    names = drawing.spelt_out(evidence.algorithms())
    drawing.legend_above(figure, drawing.handles(known, proved, names=names))
    return figure


def difficulty(outline: Outline, problem: str) -> float:
    """Return kappa of a problem, a parameter of its dataset."""
    kappa = outline.parameters(problem).get("difficulty")
    if not isinstance(kappa, int | float):
        raise DataError(
            f"the problem {problem!r} has no parameter difficulty; it draws problems of "
            "the dataset margin-sets, family reflected"
        )
    return float(kappa)
