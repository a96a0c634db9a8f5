"""Claims by weights as linear programs and their proofs, in the format of VIPR.

Weights are sums of cuts, sum_k m_k g_k with m_k > 0 and g_k in the dual cone: a row; (u, t) with
norm(u) <= t; vv'. Every y with A*y strictly inside K satisfies <g_k, A*y> > 0 for all k. These are
finitely many linear inequalities, and y may be made longer, so that infeasibility is a proof about
a linear program of a few rows:

    <g_k, A*y> >= 1 for all k,    0 = sum_k m_k <g_k, A*y> >= sum_k m_k >= 1.

It is written as the bound 1 of an objective that is 0, for a checker that asserts that there is one
(viprchk, compiled without NDEBUG) breaks off at the relation ``infeas``.

Of an SDPA program whose unknown x_0 has a weight, the closed program has no solution either: the
rows then are <g_k, F(x)> >= 0 in the unknowns x, x_0 = 1. A lower bound of its objective c'x is
proved by the same rows, as sum_k m_k <g_k, F(x)> = u (c'x) - sum_k m_k <g_k, F_0>.

That the g_k are in the dual cone is not in the file: a row is one by itself, vv' by its square root
v, which the certificate for the exact checker lists.

References
----------
K. K. H. Cheung, A. Gleixner, D. E. Steffy, Verifying integer programming results, Integer
Programming and Combinatorial Optimization 2017, 148-160.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from perceptron_lab.exact.weights import DualCut, images
from perceptron_lab.exact.whole_numbers import Blocks, CheckedSystem, Claim, whole
from perceptron_lab.numerics.exact_texts import exact_text

BY_CUTS = ("infeasible", "closed infeasible", "objective at least")
"""The claims that are proved by weights, and linear."""

Inequality = tuple[Sequence[int], int]
"""a and b of a'y >= b."""

_EMPTY = "% The objective is 0, and is proved to be 1 at least: no y satisfies the rows."


def vipr_text(system: CheckedSystem, claim: Claim) -> str | None:
    """Return the proof of a claim as a VIPR file, or None where the claim is not linear.

    Parameters
    ----------
    system
        The checker's.
    claim
        One that the checker accepts.
    """
    if claim["claim"] not in BY_CUTS:
        return None
    multiples, cuts = cuts_of(system.blocks, claim["weights"])
    rows = images(cuts, system)
    bounded = claim["claim"] == "objective at least"
    if not bounded and claim["claim"] == "infeasible":
        return _infeasible([(row, 1) for row in rows], multiples)
    # x_0 = 1: what it multiplies is a constant, and its own row, block 0, says nothing
    own = [m for m, cut in zip(multiples, cuts, strict=True) if cut.block]
    given = [(row[1:], -row[0]) for row, cut in zip(rows, cuts, strict=True) if cut.block]
    if not bounded:
        return _infeasible(given, own)
    scale = whole(claim["unit"]) * system.scale
    parts = [Fraction(m, scale) for m in own]
    p, q = (whole(one) for one in claim["bound"])
    objective = [Fraction(one, system.scale) for one in system.objective]
    return _file(given, objective, Fraction(p, q), parts)


def cuts_of(blocks: Blocks, weights: Sequence[Any]) -> tuple[list[int], list[DualCut]]:
    """Return m_k > 0 and g_k of the weights of a certificate, block by block."""
    found: list[tuple[int, DualCut]] = []
    for number, ((kind, order), given) in enumerate(zip(blocks, weights, strict=True)):
        first, second, *vectors = ([whole(one) for one in part] for part in given)
        if kind == "rows":
            found += [(m, DualCut(number, (i,))) for i, m in zip(first, second, strict=True)]
        elif kind == "second-order":
            placed = dict(zip(first, second, strict=True))
            found.append((1, DualCut(number, tuple(placed.get(i, 0) for i in range(order)))))
        else:
            found += [
                (m, DualCut(number, tuple(row[k] for row in vectors))) for k, m in enumerate(first)
            ]
            units = (tuple(int(i == j) for j in range(order)) for i in range(order))
            found += [(m, DualCut(number, unit)) for m, unit in zip(second, units, strict=True)]
    used = [(m, cut) for m, cut in found if m]
    return [m for m, _ in used], [cut for _, cut in used]


def _infeasible(rows: Sequence[Inequality], multiples: Sequence[int]) -> str:
    width = len(rows[0][0])
    return _file(rows, [Fraction(0)] * width, Fraction(1), [Fraction(m) for m in multiples])


def _file(
    rows: Sequence[Inequality],
    objective: Sequence[Fraction],
    bound: Fraction,
    multiples: Sequence[Fraction],
) -> str:
    """Return the file: rows a'y >= b, and one derivation, of the objective's lower bound."""
    width = len(objective)
    lines = [] if any(objective) else [_EMPTY]
    lines += ["VER 1.0", f"VAR {width}", " ".join(f"y{i + 1}" for i in range(width)), "INT 0"]
    lines += ["OBJ min", _sparse(objective), f"CON {len(rows)} 0"]
    lines += [f"C{k} G {exact_text(b)} {_sparse(row)}" for k, (row, b) in enumerate(rows)]
    lines += [f"RTP range {exact_text(bound)} inf", "SOL 0", "DER 1"]
    lines.append(f"D0 G {exact_text(bound)} OBJ {{ lin {_sparse(multiples)} }} -1")
    return "\n".join(lines) + "\n"


def _sparse(values: Iterable[int | Fraction]) -> str:
    pairs = [f"{i} {exact_text(value)}" for i, value in enumerate(values) if value]
    return " ".join([str(len(pairs)), *pairs])
