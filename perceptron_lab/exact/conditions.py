"""Linear conditions a_k'x >= b_k or a_k'x = b_k: their data, and claims about them.

Claims are points, contradictions and partitions.

In the unknowns (x_0, x) the conditions are rows a_k'x - b_k x_0 >= 0 beside x_0 > 0, and an
equation is two of them, one of each sign: so weights of any sign become weights >= 0. Farkas'
weights with sum w_k a_k = 0 and sum w_k b_k > 0 give x_0 the weight sum w_k b_k: (3) and (9) of
docs/notes/how-to-distrust-us.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from perceptron_lab.algorithms.linear.proofs import LinearProof, Weights
from perceptron_lab.exact.readings import Reading
from perceptron_lab.exact.whole_numbers import Claim, by_places, whole_multiples, whole_weights
from perceptron_lab.numerics.exact_texts import exact_text
from perceptron_lab.systems.conditions import Condition, over_common


def of_conditions(conditions: Sequence[Condition], unknowns: int) -> Reading:
    """Return linear conditions as an SDPA file of diagonal matrices, to be written.

    Each condition is multiplied so that its numbers are whole: a'x - b is an entry of F(x), and of
    an equation b - a'x is the next one. The objective is 0.
    """
    rows = [(one, sign) for one in conditions for sign in ((1, -1) if one.equation else (1,))]
    lines = [str(unknowns), "1", str(-len(rows)), " ".join(["0"] * unknowns)]
    for at, (one, sign) in enumerate(rows, 1):
        entries = [
            (0, one.right),
            *zip((j + 1 for j in one.columns), one.coefficients, strict=True),
        ]
        lines += [
            f"{matrix} 1 {at} {at} {exact_text(sign * value)}" for matrix, value in entries if value
        ]
    text = "\n".join(lines) + "\n"
    return Reading({"form": "sdpa", "question": "feasibility"}, text.encode())


def condition_claims(
    conditions: Sequence[Condition], proof: LinearProof
) -> Iterator[tuple[str, Claim]]:
    """Yield the claims of a proof, each with the name of what it proves.

    A point whose tight inequalities are all proved to be tight everywhere makes a partition; a
    point that is strict everywhere is strictly feasible.
    """
    if proof.weights:
        yield "infeasible", _infeasible(conditions, proof.weights)
    if proof.point is None:
        return
    numerators, denominator = over_common(proof.point)
    point = [denominator, *numerators]
    strict = not proof.tight and not any(one.equation for one in conditions)
    name = "feasible" if strict else "closed feasible"
    yield "feasible", {"claim": name, "point": point, "factors": []}
    if proof.complete and not strict:
        weights = _of_rows(conditions, proof.always, Fraction(1))
        sides = {"point": point, "weights": [[[], []], whole_weights(weights)]}
        yield "always tight", {"claim": "partition"} | sides


def _infeasible(conditions: Sequence[Condition], given: Weights) -> Claim:
    weights = _of_rows(conditions, given, Fraction())
    right = sum(
        (w * conditions[k].right / conditions[k].scale for k, w in given.items()), Fraction()
    )
    first, *others = whole_multiples([right, *weights.values()])
    listed = [[[0], [first]], by_places(zip(weights, others, strict=True))]
    return {"claim": "closed infeasible", "weights": listed}


def _of_rows(
    conditions: Sequence[Condition], given: Weights, more: Fraction
) -> dict[int, Fraction]:
    """Return weights of the rows of conditions in whole numbers; ``more`` on both of equations."""
    found, at = dict[int, Fraction](), 0
    for k, one in enumerate(conditions):
        weight = given.get(k, Fraction()) / one.scale
        if one.equation:
            found |= {at: max(weight, Fraction()) + more, at + 1: max(-weight, Fraction()) + more}
        else:
            found[at] = weight
        at += 1 + one.equation
    return {row: weight for row, weight in found.items() if weight}
