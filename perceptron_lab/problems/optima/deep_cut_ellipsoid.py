"""The ellipsoid method with deep cuts and a sliding objective, in the variables of a program."""

from __future__ import annotations

import math
import time
from typing import ClassVar, Literal

import numpy as np

from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.numerics.compiled.deep_cuts import CUTS, FEASIBLE, FLAT, UPDATES
from perceptron_lab.problems.optima.deep_cuts import DeepCutSearch
from perceptron_lab.problems.optima.optimiser import Optimiser
from perceptron_lab.problems.optima.search import Search, relative
from perceptron_lab.problems.optima.start_ellipsoids import start_ellipsoid

# Seconds of updates between two looks at the clock, about
_CHUNK_SECONDS = 0.02
# Lower bounds by linear programming are tried when updates have grown by this factor
_NEXT = 2.0
# The first time when the ellipsoid says that the relative width is below this
_WORTH = 0.5


@parameter_record
class DeepCutEllipsoid(Optimiser):
    """The ellipsoid method in x, by deep cuts of both kinds, from an ellipsoid of the solutions.

    A centre whose objective is not below the best is cut off by c'y <= best; one with v'F(x)v < 0
    by v'F(y)v >= 0, v the direction at which elimination of F(x) fails; a feasible one is the best
    from now on. The cut a'y <= b, of depth alpha = (a'x - b) / sqrt(a'Pa), leads to

        x - tau Pa / sqrt(a'Pa),  tau = (1 + n alpha) / (n + 1),
        n^2 (1 - alpha^2) / (n^2 - 1) (P - 2 tau / (1 + alpha) Paa'P / a'Pa):

    volumes fall the faster the deeper the cuts are, and the solutions stay inside. c'x - sqrt(c'Pc)
    is below the optimum but for rounding; what is *proved* comes from the directions of the last
    cuts, combined by a linear program and made exactly feasible on the other side.

    The start: the box of the solutions for programs of MAXCUT's form; for others the ellipsoid by
    the trace of F(x), where the least-norm point of the other side is positive definite. Programs
    without either are refused.

    Parameters
    ----------
    width
        The wanted (upper - lower) / max(1, |upper|) of the proved bounds, > 0 (default 1e-4).
    cuts
        ``deep`` (default), or ``central``: through the centre, as in Algorithm 2.

    References
    ----------
    Bland, Goldfarb and Todd (1981), The ellipsoid method: a survey. `Kharechko2009`, Algorithm 2.
    """

    uses_oracle: ClassVar[bool] = False

    width: Positive = 1e-4
    cuts: Literal["deep", "central"] = "deep"

    def minimise(self, search: Search) -> str:
        """Cut until the proved bounds are near enough."""
        if search.other is not None and search.other.diagonal is None:
            search.feasibility(Perceptron(), None)
            search.improve_lower()
            if search.upper is None:
                return search.spent() or "no feasible point was found to start from"
        count = search.system.unknowns - 1
        run = DeepCutSearch(
            search.system, start_ellipsoid(search), deep=self.cuts == "deep", kept=4 * count
        )
        if search.point is not None and search.upper is not None:
            run.begin_below(search.point[1:] / search.point[0], search.upper)
        asked = search.asked(self.width)
        before, queries, most, tried = search.updates, search.queries, 64, 0.0
        while True:
            clock = time.perf_counter()
            ended = run.advance(min(most, search.budget.updates - search.updates))
            elapsed = time.perf_counter() - clock
            search.seconds += elapsed
            search.updates = before + int(run.counts[UPDATES])
            search.queries = queries + int(run.counts[CUTS] + run.counts[FEASIBLE])
            most = 2 * most if elapsed < _CHUNK_SECONDS else most
            spent, last = search.spent(), ended == FLAT
            worth = relative(run.value, run.lower) <= _WORTH and search.updates >= _NEXT * tried
            near = search.lower is not None and relative(run.value, search.lower) <= asked
            if spent or last or worth or near:
                if math.isfinite(run.value):
                    search.improve_upper(np.concatenate([[1.0], run.best]))
                if not search.width <= asked:
                    tried = float(search.updates)
                    search.improve_lower(run.directions(count))
                search.record(f"update {search.updates}")
                if search.width <= asked:
                    return f"the relative width {asked:g} is reached"
            if spent:
                return spent
            if last:
                return "nothing is left of the ellipsoid in doubles"
