"""A factorial experiment on chapter 6 of `Kharechko2009`: effects of factors, within instances.

Labels are METHOD LEVEL LEVEL .., one word per factor; a method has all combinations of its levels.
Two responses of a cell, a sequence of levels of the objective, are compared by their ratios:

- ``queries`` until the first feasible point. A run without one needs more than it has made;
- ``excess``: the last objective over the optimum, less 1. Without a point it is infinite.

An effect is a ratio of geometric means over the levels of the other factors, on each instance; an
interaction is a ratio of two such ratios. Tables have the median over the instances and the 95 %
interval between two order statistics, the inverted sign test (W. J. Conover, Practical
Nonparametric Statistics, 3rd edition, 1999, section 3.2). Neither needs a distribution, and both
hold for cells that were cut off: of these an effect is known to lie between two ends, of which the
interval takes the worse.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations, product
from typing import Final, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.experiments.configuration.rows import reals
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.needs import Outline, needs
from perceptron_lab.reporting.papers.thesis.figure_6_1 import optima, optimisers_among
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, texts
from perceptron_lab.reporting.printing.looks import Look, Style, distinct_looks
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.ratios import LEVEL
from perceptron_lab.reporting.summary import grouped, known_or_none

RESPONSES: Final = ("queries", "excess")
Words = tuple[str, ...]


class Span(NamedTuple):
    """Two ends that enclose the logarithm of a response, or of an effect on each instance."""

    low: FloatArray
    high: FloatArray


class Effect(NamedTuple):
    """A ratio over the instances.

    ``ratio`` is the median, None where cells that were cut off leave it open; ``lower`` and
    ``upper`` are the ends of its 95 % interval, None of fewer than six instances; ``above`` and
    ``below`` count the instances on which the ratio is known to be above 1, or below.
    """

    ratio: float | None
    lower: float | None
    upper: float | None
    above: int
    below: int


@dataclass(frozen=True)
class Factorial:
    """The labels of one method: every combination of the levels of its factors, in their order."""

    method: str
    levels: tuple[Words, ...]

    def treatments(self) -> list[Words]:
        """Return the words of all labels, the last factor changing first."""
        return [(self.method, *levels) for levels in product(*self.levels)]

    def contrasts(self) -> Iterator[tuple[str, FloatArray]]:
        """Yield main effects and two-factor interactions with the weights of the treatments.

        A level is compared with the first one of its factor; other factors are averaged over.
        """
        sizes = [len(words) for words in self.levels]
        for factors in (*combinations(range(len(sizes)), 1), *combinations(range(len(sizes)), 2)):
            for levels in product(*(range(1, sizes[factor]) for factor in factors)):
                vectors = [np.full(size, 1.0 / size) for size in sizes]
                for factor, level in zip(factors, levels, strict=True):
                    unit = np.eye(sizes[factor])
                    vectors[factor] = unit[level] - unit[0]
                pairs = zip(factors, levels, strict=True)
                names = [f"{self.levels[f][level]} / {self.levels[f][0]}" for f, level in pairs]
                yield " x ".join(names), reduce(np.multiply.outer, vectors).ravel()


def factorials(outline: Outline) -> list[Factorial]:
    """Return the methods that have factors; a DataError where combinations of levels are missing.

    A method of a single label is a reference and has none.
    """
    crossed = []
    labels = [tuple(label.split()) for label in outline.methods()]
    for method, of_method in grouped(labels, lambda words: words[0]).items():
        columns = zip(*(words[1:] for words in of_method), strict=False)
        factorial = Factorial(method, tuple(tuple(dict.fromkeys(column)) for column in columns))
        missing = [words for words in factorial.treatments() if words not in of_method]
        if missing or len(factorial.treatments()) != len(of_method):
            raise DataError(
                f"effects: the labels of {method} are not all combinations of some levels"
                + "".join(f"; {' '.join(words)} is missing" for words in missing[:1])
                + "; call them METHOD LEVEL LEVEL .., with a word for each factor"
            )
        crossed += [factorial] if len(of_method) > 1 else []
    if not crossed:
        raise DataError("effects: no method has several labels METHOD LEVEL ..; add some")
    return crossed


def responses(evidence: Evidence) -> dict[str, dict[Words, Span]]:
    """Return response -> words of a label -> its logarithm, by instance (problem and seed)."""
    frame, optimum_of = evidence.frame, optima(evidence)
    frame = frame.assign(objective=reals(frame["optimum_upper"]))
    position = {program: index for index, program in enumerate(optimum_of)}
    labels = [tuple(str(label).split()) for label in frame["label"].unique()]
    # Between minus infinity and infinity: nothing is known of cells without a result
    unknown = np.tile([[-math.inf], [math.inf]], (1, len(position)))
    spans = {name: {words: Span(*unknown.copy()) for words in labels} for name in RESPONSES}
    columns = ["problem", "seed", "label", "cell", "objective"]
    for problem, seed, label, cell, number in frame[columns].itertuples(index=False, name=None):
        trace, objective = evidence.trace(str(cell)), known_or_none(number)
        if trace is None or "level 0" not in trace.phase:
            continue
        program = (problem, seed)
        queries = math.log(trace.queries[trace.phase.index("level 0")])
        excess = math.inf if objective is None else optimum_of[program].above(objective)
        ends = {"queries": (queries, math.inf if objective is None else queries)}
        if excess is not None:
            ends["excess"] = (math.log(max(excess, np.finfo(float).tiny)),) * 2
        for name, (low, high) in ends.items():
            span = spans[name][tuple(str(label).split())]
            span.low[position[program]], span.high[position[program]] = low, high
    return spans


def combined(spans: Sequence[Span], weights: FloatArray) -> Span:
    """Return the ends of sum_i c_i x_i, by instance, for x_i between the ends of its span."""
    plus, minus = weights > 0.0, weights < 0.0
    low, high = (np.stack(ends, axis=1) for ends in zip(*spans, strict=True))
    # Of infinity less infinity nothing is known
    with np.errstate(invalid="ignore"):
        below = low[:, plus] @ weights[plus] + high[:, minus] @ weights[minus]
        above = high[:, plus] @ weights[plus] + low[:, minus] @ weights[minus]
    return Span(
        np.where(np.isnan(below), -math.inf, below), np.where(np.isnan(above), math.inf, above)
    )


def effect_of(span: Span) -> Effect:
    """Return the median ratio with its interval."""
    from scipy.stats import quantile_test  # loads slowly

    with np.errstate(invalid="ignore"):
        low, high = np.median(span.low), np.median(span.high)
    intervals = [quantile_test(end, p=0.5).confidence_interval(LEVEL) for end in span]
    (lower, _), (_, upper) = np.array(intervals)
    return Effect(
        float(np.exp(low)) if math.isclose(low, high, abs_tol=1e-12) else None,
        _end(lower),
        _end(upper),
        int((span.low > 0.0).sum()),
        int((span.high < 0.0).sum()),
    )


def _end(logarithm: float) -> float | None:
    return None if math.isnan(logarithm) else float(np.exp(logarithm))


def _spans(by_words: Mapping[Words, Span], treatments: Sequence[Words]) -> list[Span]:
    return [by_words[words] for words in treatments]


_NOTE = (
    "Ratio: the median over the instances. Lower, upper: the ends of its 95 \\% interval by the "
    "sign test. Above, below: number of instances with a ratio above 1, or below. Queries: until "
    "the first feasible point. Excess: distance of the last objective from the optimum. Cells "
    "without a point have more queries than they made, and an infinite excess; a ratio that "
    "depends on how many more is left out."
)


@needs(factorials, of_plan=[optimisers_among])
def effects_table(evidence: Evidence) -> Table:
    """Main effects and two-factor interactions of each method, as ratios with intervals.

    Columns ``method``, ``effect`` (level / first level; of interactions ``a / b x c / d``);
    ``instances``; per response R (``queries``, ``excess``): ``R ratio``, ``R lower``, ``R upper``,
    ``R above``, ``R below``.
    """
    spans = responses(evidence)
    lines: list[tuple[str, str]] = []
    effects: dict[str, list[Effect]] = {name: [] for name in RESPONSES}
    for factorial in factorials(evidence):
        for title, weights in factorial.contrasts():
            lines.append((factorial.method, title))
            for name in RESPONSES:
                of_method = _spans(spans[name], factorial.treatments())
                effects[name].append(effect_of(combined(of_method, weights)))
    keys = [texts("method", [m for m, _ in lines]), texts("effect", [title for _, title in lines])]
    return _table("effects", keys, effects, spans)


def _table(
    name: str,
    keys: list[Column],
    effects: Mapping[str, Sequence[Effect]],
    spans: Mapping[str, Mapping[Words, Span]],
) -> Table:
    instances = len(next(iter(spans[RESPONSES[0]].values())).low)
    columns = [*keys, counts("instances", [instances] * len(effects[RESPONSES[0]]))]
    for response, of_response in effects.items():
        for field in Effect._fields:
            make = counts if field in ("above", "below") else numbers
            column = make(f"{response} {field}", [getattr(e, field) for e in of_response])
            columns.append(replace(column, group=response))
    return Table(name, columns, keys=len(keys), notes=[_NOTE], widest=20)


class Rivals(NamedTuple):
    """A treatment of the first method and one of the second, with equal levels after the first."""

    first: Words
    second: Words


def rivals_of(outline: Outline) -> list[Rivals]:
    """Return the treatments of two methods that differ in method and first factor alone."""
    methods = factorials(outline)
    if len(methods) != 2 or methods[0].levels[1:] != methods[1].levels[1:]:
        raise DataError(
            "rivals: two methods are compared, whose labels have the same levels after the first; "
            f"there are {', '.join(method.method for method in methods)}"
        )
    first, second = methods
    pairs = product(first.treatments(), second.treatments())
    return [Rivals(ours, other) for ours, other in pairs if ours[2:] == other[2:]]


def _ratios_of_rivals(
    evidence: Evidence, spans: Mapping[str, Mapping[Words, Span]]
) -> dict[str, list[Effect]]:
    difference = np.array([1.0, -1.0])
    return {
        name: [effect_of(combined(_spans(spans[name], pair), difference)) for pair in pairs]
        for pairs in [rivals_of(evidence)]
        for name in RESPONSES
    }


@needs(rivals_of, of_plan=[optimisers_among])
def rivals_table(evidence: Evidence) -> Table:
    """Ratios of the first method to the second one, under all conditions.

    Columns ``first``, ``second``: method and level of the first factor; ``condition``, the levels
    of the others; the further ones are those of ``effects``.
    """
    pairs, spans = rivals_of(evidence), responses(evidence)
    keys = [
        texts("first", [" ".join(pair.first[:2]) for pair in pairs]),
        texts("second", [" ".join(pair.second[:2]) for pair in pairs]),
        texts("condition", [" ".join(pair.first[2:]) for pair in pairs]),
    ]
    return _table("rivals", keys, _ratios_of_rivals(evidence, spans), spans)


@needs(rivals_of, of_plan=[optimisers_among])
def rivals_figure(evidence: Evidence) -> Figure:
    """Ratios of the first method to the second one, with 95 % intervals, by condition.

    Queries on the left, excess on the right. A colour for each level of the first method's first
    factor; markers are full for the first level of the second method's, hollow for the others. A
    bar without a marker has no median, because of cells that were cut off; what is 0 or infinite is
    at the edge.
    """
    pairs, effects = rivals_of(evidence), _ratios_of_rivals(evidence, responses(evidence))
    conditions = list(dict.fromkeys(pair.first[2:] for pair in pairs))
    looks = distinct_looks(list(dict.fromkeys(" ".join(pair.first[:2]) for pair in pairs)))
    seconds = list(dict.fromkeys(" ".join(pair.second[:2]) for pair in pairs))
    figure = drawing.canvas(7.0, 3.6)
    for axes, name in zip(figure.subplots(1, 2), RESPONSES, strict=True):
        axes.set(yscale="log", ylim=_limits(effects[name]))
        for k, (pair, effect) in enumerate(zip(pairs, effects[name], strict=True)):
            per_condition = len(pairs) / len(conditions)
            inside = sum(earlier.first[2:] == pair.first[2:] for earlier in pairs[:k])
            position = conditions.index(pair.first[2:]) + 0.8 * (inside + 0.5) / per_condition - 0.4
            hollow = " ".join(pair.second[:2]) != seconds[0]
            _draw(axes, position, effect, looks[" ".join(pair.first[:2])], hollow)
        axes.axhline(1.0, color="0.5", linewidth=0.8)
        drawing.rule_logarithmic(axes, "y")
        # Broken at hyphens, as the names of oracles are longer than their share of the axis
        ticks = ["\n".join(words).replace("-", "-\n") for words in conditions]
        axes.set_xticks(range(len(conditions)), ticks)
        axes.tick_params(axis="x", labelsize=6)
        axes.set_ylabel(f"{name}: {pairs[0].first[0]} / {pairs[0].second[0]}")
    style: Style = {"color": "0.3", "marker": "o", "linestyle": "none", "markersize": 3.5}
    fills = [
        Line2D([], [], label=f"over {second}", fillstyle="none" if k else "full", **style)
        for k, second in enumerate(seconds)
    ]
    drawing.legend_above(figure, [*drawing.handles(looks), *fills])
    return figure


def _limits(effects: Sequence[Effect]) -> tuple[float, float]:
    """Return the ends of an axis that has room for all finite numbers, and for 1."""
    ends = [end for effect in effects for end in effect[:3] if end and math.isfinite(end)]
    return 0.5 * min([1.0, *ends]), 2.0 * max([1.0, *ends])


def _draw(axes: Axes, position: float, effect: Effect, look: Look, hollow: bool) -> None:
    edges = axes.get_ylim()
    if effect.lower is not None and effect.upper is not None:
        ends = np.clip([effect.lower, effect.upper], *edges)
        drawing.draw_bar(axes, position, [float(end) for end in ends], look["color"])
    if effect.ratio is not None:
        height = float(np.clip(effect.ratio, *edges))
        fill: Literal["full", "none"] = "none" if hollow else "full"
        drawing.points(axes, [(position, height)], "", look, 3.5, fill)
