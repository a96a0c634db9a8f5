"""Claims decided on exact fractions, each by its definition."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any

from flint import fmpq, fmpz, fmpz_mat

from tests.exact.second_checker.numbers import (
    LARGEST_SHORT,
    choice,
    integer,
    integers,
    ratio,
    require_form,
    require_proof,
    sparse,
    with_keys,
)
from tests.exact.second_checker.systems import System, block_size, triangle

Claim = dict[str, Any]
Symmetric = dict[tuple[int, int], fmpq]
LARGEST_SHIFT = 2**16
LARGEST_DECIDED = 30  # the largest order of matrices whose characteristic polynomial is formed
PLACES = 64  # binary ones to which norms of points are known


# Points


def scores_at(system: System, y: list[int]) -> list[fmpq]:
    return [sum((entry * y[j] for j, entry in row.items()), fmpq(0)) for row in system.rows]


def by_block(system: System, scores: list[fmpq]) -> list[tuple[str, int, list[fmpq]]]:
    parts, at = [], 0
    for kind, order in system.blocks:
        size = block_size(kind, order)
        parts.append((kind, order, scores[at : at + size]))
        at += size
    return parts


def matrix_of(order: int, entries: list[fmpq]) -> Symmetric:
    return dict(zip(triangle(order), entries, strict=True))


def definite(matrix: fmpz_mat, strict: bool) -> bool:
    """Return whether a matrix is definite (or semidefinite): all roots are real, none below 0.

    By Descartes' rule just those polynomials have no negative root, or none below or at 0, whose
    coefficients alternate in sign.
    """
    order = matrix.nrows()
    signed = [
        (-1) ** (order - k) * coefficient
        for k, coefficient in enumerate(matrix.charpoly().coeffs())
    ]
    return all(coefficient > 0 if strict else coefficient >= 0 for coefficient in signed)


def dominant(matrix: Symmetric, order: int, factor: Any, strict: bool) -> bool:
    """Return whether R = 2^s M - LL' has rows with R_ii > (or >=) sum_{j != i} |R_ij|."""
    require_form(type(factor) is list and bool(factor), "no factor")
    shift = integer(factor[0], -LARGEST_SHIFT, LARGEST_SHIFT)
    columns = [sparse(column, order, LARGEST_SHORT) for column in factor[1:]]
    bits = max((int(v).bit_length() for column in columns for v in column.values()), default=0)
    require_form(bits <= 256 or bits * order**2 <= 2**33, "a factor that is too long")
    lower = fmpz_mat(order, max(len(columns), 1))
    for k, column in enumerate(columns):
        for i, value in column.items():
            lower[i, k] = value
    full = fmpz_mat(order, order)
    for (i, j), entry in matrix.items():
        assert entry.q == 1
        full[i, j] = full[j, i] = entry.p
    product = lower * lower.transpose()
    rest = (
        (fmpz(2) ** shift) * full - product
        if shift >= 0
        else (full - (fmpz(2) ** -shift) * product)
    )
    for i in range(order):
        row_sum = sum((abs(rest[i, j]) for j in range(order) if j != i), fmpz(0))
        if rest[i, i] < row_sum or (strict and rest[i, i] == row_sum):
            return False
    assert order > LARGEST_DECIDED or definite(full, strict)  # what the factor proves
    return True


def factors_of(system: System, claim: Claim) -> list[Any]:
    factors, count = claim["factors"], sum(kind == "matrix" for kind, _ in system.blocks)
    require_form(type(factors) is list and len(factors) == count, "not one factor for each matrix")
    return list(factors)


def require_inside(system: System, claim: Claim, y: list[int], closed_rows: bool) -> None:
    """Require that A y is inside of the cone; rows but that of x_0 may be on the boundary."""
    factors = factors_of(system, claim)
    scale = system.scale
    for at, (kind, order, part) in enumerate(by_block(system, scores_at(system, y))):
        if kind == "rows":
            closed = closed_rows and at > 0
            require_proof(all(s > 0 or (closed and s == 0) for s in part), "a row")
        elif kind == "second-order":
            *u, t = part
            require_proof(t > 0 and t * t > sum((s * s for s in u), fmpq(0)), "a ball")
        else:
            matrix = matrix_of(order, [scale * s for s in part])
            require_proof(dominant(matrix, order, factors.pop(0), strict=True), "a matrix")


def feasible(system: System, claim: Claim) -> None:
    with_keys(claim, "claim", "point", "factors")
    y = integers(claim["point"], system.width)
    require_inside(system, claim, y, closed_rows=False)
    require_proof(square_at(system, y, scores_at(system, y)) > 0, "a point of norm 0")


def of_program(system: System) -> list[fmpq]:
    require_form(system.costs is not None, "a claim about programs")
    assert system.costs is not None
    return system.costs


def closed_feasible(system: System, claim: Claim) -> None:
    with_keys(claim, "claim", "point", "factors")
    of_program(system)
    require_inside(system, claim, integers(claim["point"], system.width), closed_rows=True)


def objective_at_most(system: System, claim: Claim) -> None:
    with_keys(claim, "claim", "bound", "point", "factors")
    costs, (p, q) = of_program(system), ratio(claim["bound"])
    first, *x = integers(claim["point"], system.width)
    require_inside(system, claim, [first, *x], closed_rows=claim["claim"].startswith("closed"))
    value = sum((c * entry for c, entry in zip(costs, x, strict=True)), fmpq(0)) / first
    require_proof(value <= fmpq(p, q), "an objective above the bound")


def objective_unbounded(system: System, claim: Claim) -> None:
    with_keys(claim, "claim", "point", "ray")
    costs = of_program(system)
    require_rows(system)
    point, ray = integers(claim["point"], system.width), integers(claim["ray"], system.width - 1)
    require_inside(system, claim | {"factors": []}, point, closed_rows=True)
    require_proof(all(s >= 0 for s in scores_at(system, [0, *ray])), "a direction out of the set")
    fall = sum((c * entry for c, entry in zip(costs, ray, strict=True)), fmpq(0))
    require_proof(fall < 0, "a direction along which the objective does not fall")


# Weights


def weights_of(system: System, claim: Claim) -> list[fmpq]:
    """Return w in K*, place by place, entries of matrices beside the diagonal doubled."""
    weights, vector = claim["weights"], []
    require_form(type(weights) is list and len(weights) == len(system.blocks), "not one per block")
    inside = True
    for (kind, order), part in zip(system.blocks, weights, strict=True):
        if kind == "matrix":
            values, good = _matrix_weights(order, part)
        else:
            numbers = sparse(part, order)
            values = [fmpq(numbers.get(i, 0)) for i in range(order)]
            *u, t = values
            good = (
                all(w >= 0 for w in values)
                if kind == "rows"
                else t >= 0 and sum((w * w for w in u), fmpq(0)) <= t * t
            )
        inside = inside and good
        vector += values
    require_proof(inside, "weights outside of the dual cone")
    return vector


def _matrix_weights(order: int, part: Any) -> tuple[list[fmpq], bool]:
    require_form(type(part) is list and len(part) == order + 2, "no weights of a matrix")
    parts = integers(part[0])
    diagonal = integers(part[1], order)
    lines = [integers(line, len(parts)) for line in part[2:]]
    vectors = fmpz_mat(order, max(len(parts), 1))
    for i, line in enumerate(lines):
        for k, entry in enumerate(line):
            vectors[i, k] = entry
    scaled = fmpz_mat(order, max(len(parts), 1))
    for i, line in enumerate(lines):
        for k, entry in enumerate(line):
            scaled[i, k] = entry * parts[k]
    product = scaled * vectors.transpose()
    values = [
        fmpq(product[i, j] + diagonal[i]) if i == j else fmpq(2 * product[i, j])
        for i, j in triangle(order)
    ]
    return values, min([*parts, *diagonal]) >= 0


def combined(system: System, w: list[fmpq]) -> list[fmpq]:
    """Return A'w."""
    total = [fmpq(0)] * system.width
    for row, weight in zip(system.rows, w, strict=True):
        if weight:
            for j, entry in row.items():
                total[j] += weight * entry
    return total


def mass_of(system: System, w: list[fmpq]) -> fmpq:
    """Return <e, w>: the sum of weights of rows, of t, and of traces."""
    total = fmpq(0)
    for kind, order, part in by_block(system, w):
        if kind == "rows":
            total += sum(part, fmpq(0))
        elif kind == "second-order":
            total += part[-1]
        else:
            entries = zip(triangle(order), part, strict=True)
            total += sum((entry for (i, j), entry in entries if i == j), fmpq(0))
    return total


def require_nonempty(w: list[fmpq]) -> None:
    require_proof(any(w), "no weight")


def infeasible(system: System, claim: Claim) -> None:
    with_keys(claim, "claim", "weights")
    w = weights_of(system, claim)
    require_nonempty(w)
    require_proof(not any(combined(system, w)), "A'w is not 0")


def closed_infeasible(system: System, claim: Claim) -> None:
    with_keys(claim, "claim", "weights")
    of_program(system)
    w = weights_of(system, claim)
    require_proof(w[0] > 0, "no weight on x_0 > 0")
    require_proof(not any(combined(system, w)), "A'w is not 0")


def objective_at_least(system: System, claim: Claim) -> None:
    with_keys(claim, "claim", "bound", "unit", "weights")
    costs, (p, q) = of_program(system), ratio(claim["bound"])
    unit = integer(claim["unit"], 1)
    first, *products = combined(system, weights_of(system, claim))
    require_proof(
        all(product == unit * c for product, c in zip(products, costs, strict=True)), "<F_i, X>"
    )
    require_proof(-first >= fmpq(p, q) * unit, "<F_0, X> below the bound")


# Rows


def require_rows(system: System) -> None:
    require_form(system.only_rows, "a claim about systems of rows")


def partition(system: System, claim: Claim) -> None:
    with_keys(claim, "claim", "point", "weights")
    require_rows(system)
    scores = scores_at(system, integers(claim["point"], system.width))
    w = weights_of(system, claim)
    require_nonempty(w)
    require_proof(not any(combined(system, w)), "A'w is not 0")
    good = (s > 0 or (s == 0 and weight > 0) for s, weight in zip(scores, w, strict=True))
    require_proof(all(good), "a score")


def sign_of(system: System, claim: Claim) -> tuple[int, int]:
    require_form(system.has_features, "a claim about tables of rows")
    sign = integer(claim["sign"], -1, 1)
    require_form(sign != 0, "no sign")
    return integer(claim["column"], 0, system.width - 1), sign


def sign_occurs(system: System, claim: Claim) -> None:
    with_keys(claim, "claim", "column", "sign", "point")
    column, sign = sign_of(system, claim)
    y = integers(claim["point"], system.width)
    require_proof(all(s >= 0 for s in scores_at(system, y)), "a negative score")
    require_proof(y[column] * sign > 0, "another sign")


def sign_excluded(system: System, claim: Claim) -> None:
    with_keys(claim, "claim", "column", "sign", "weights")
    column, sign = sign_of(system, claim)
    total = combined(system, weights_of(system, claim))
    left = total.pop(column)
    require_proof(not any(total), "A'w has other entries")
    require_proof(left * sign < 0, "A'w has another sign")


# Margins


def kind_of_margin(system: System, claim: Claim) -> str:
    kind = choice(claim["margin"], "unit", "directional", "geometric")
    require_form(kind == "directional" or system.only_rows, "a margin of systems of rows")
    if kind == "geometric":
        require_form(system.has_features, "a geometric margin of other data")
        last = system.width - 1
        require_form(all(abs(row.get(last, 0)) == 1 for row in system.rows), "no last entry 1")
    if kind == "unit":
        require_proof(all(square_of(system, i) > 0 for i in range(len(system.rows))), "a zero row")
    return kind


def square_of(system: System, i: int) -> fmpq:
    """Return the square of the norm of a row, or of a feature."""
    row = system.rows[i]
    return (
        row.get(i, fmpq(0))
        if system.form == "gram"
        else sum((value * value for value in row.values()), fmpq(0))
    )


def square_at(system: System, y: list[int], scores: list[fmpq]) -> fmpq:
    """Return the square of the norm of a point, or of the function of its coefficients."""
    if system.form == "gram":
        return sum((entry * s for entry, s in zip(y, scores, strict=True)), fmpq(0))
    return fmpq(sum(entry * entry for entry in y))


def at_least(value: fmpq, factor: fmpq, square: fmpq) -> bool:
    """Return whether value >= factor * sqrt(square)."""
    if factor >= 0:
        return value >= 0 and value * value >= factor * factor * square
    return value >= 0 or value * value <= factor * factor * square


def margin_at_least(system: System, claim: Claim) -> None:
    with_keys(claim, "claim", "margin", "bound", "point", "factors")
    kind, (p, q) = kind_of_margin(system, claim), ratio(claim["bound"], LARGEST_SHORT)
    y = integers(claim["point"], system.width, LARGEST_SHORT)
    scores, factors = scores_at(system, y), factors_of(system, claim)
    square = square_at(system, [*y[:-1], 0] if kind == "geometric" else y, scores)
    require_proof(square > 0, "a point of norm 0")
    if system.only_rows:
        units = [square_of(system, i) if kind == "unit" else fmpq(1) for i in range(len(scores))]
        pairs = zip(scores, units, strict=True)
        require_proof(all(at_least(s, fmpq(p, q), length * square) for s, length in pairs), "a row")
        return
    require_cone(system, scores, factors, (p, q), square)


def require_cone(
    system: System, scores: list[fmpq], factors: list[Any], bound: tuple[int, int], square: fmpq
) -> None:
    """Require that A y - (p / q) norm(y) e is in K."""
    (p, q), scale = bound, system.scale
    norm = fmpq(isqrt(int(square.p) * 4**PLACES) + (p > 0), 2**PLACES)
    less = fmpq(p, q) * norm
    for kind, order, part in by_block(system, scores):
        if kind == "rows":
            require_proof(all(at_least(s, fmpq(p, q), square) for s in part), "a row")
        elif kind == "second-order":
            *u, t = part
            t -= less
            require_proof(t >= 0 and t * t >= sum((s * s for s in u), fmpq(0)), "a ball")
        else:
            entries = matrix_of(order, part)
            unit = scale * q * 2**PLACES
            matrix = {(i, j): unit * (s - less * (i == j)) for (i, j), s in entries.items()}
            require_proof(dominant(matrix, order, factors.pop(0), strict=True), "a matrix")


def margin_at_most(system: System, claim: Claim) -> None:
    with_keys(claim, "claim", "margin", "bound", "weights")
    kind, (p, q) = kind_of_margin(system, claim), ratio(claim["bound"], LARGEST_SHORT)
    w = weights_of(system, claim)
    total = combined(system, w)
    if system.form == "gram":
        square = sum((a * b for a, b in zip(w, total, strict=True)), fmpq(0))
    else:
        if kind == "geometric":
            require_proof(total.pop() == 0, "weights of the classes differ")
        square = sum((entry * entry for entry in total), fmpq(0))
    mass = mass_of(system, w)
    if kind == "unit":
        lengths = [length_below(system, i) for i in range(len(w))]
        mass = sum((a * b for a, b in zip(w, lengths, strict=True)), fmpq(0))
        square *= system.scale if system.form == "gram" else system.scale**2
    require_proof(mass > 0, "no weight")
    require_proof(p >= 0 and square <= (fmpq(p, q) * mass) ** 2, "above the bound")


def length_below(system: System, i: int) -> fmpq:
    """Return a lower bound of the norm of a row, or of a feature, all times a common number.

    The number is D for rows, and the root of D for features.
    """
    square = square_of(system, i) * (system.scale if system.form == "gram" else system.scale**2)
    return fmpq(isqrt(int(square.p) * 4**PLACES), 2**PLACES)


# Ratios


def values_on(system: System, form: Symmetric) -> list[fmpq]:
    """Return x'Ex of the rows, of a form with doubled entries beside the diagonal."""
    zero = fmpq(0)
    return [
        sum((entry * x.get(i, zero) * x.get(j, zero) for (i, j), entry in form.items()), zero)
        for x in system.rows
    ]


def of_squares(system: System) -> int:
    require_form(system.form == "squares", "a claim about squares")
    return system.blocks[0][1]


def ratio_at_least(system: System, claim: Claim) -> None:
    with_keys(claim, "claim", "bound", "point", "factor")
    inside, (p, q) = of_squares(system), ratio(claim["bound"], infinite=True)
    order = system.width
    numbers = integers(claim["point"], block_size("matrix", order))
    form = matrix_of(order, [fmpq(number) for number in numbers])
    twice = {(i, j): entry * (2 if i == j else 1) for (i, j), entry in form.items()}
    require_proof(dominant(twice, order, claim["factor"], strict=False), "E")
    values = values_on(system, form)
    most, least = max(values[:inside]), min(values[inside:])
    require_proof(least > 0, "an example outside at 0")
    require_proof(least * q >= (p + q) * most if q else most == 0, "the ratio")


def ratio_at_most(system: System, claim: Claim) -> None:
    with_keys(claim, "claim", "bound", "weights", "factor")
    inside, (p, q) = of_squares(system), ratio(claim["bound"])
    w = weights_of(system, claim)
    square = system.scale**2
    moment = dict.fromkeys(triangle(system.width), fmpq(0))
    for k, (x, weight) in enumerate(zip(system.rows, w, strict=True)):
        signed = square * weight * (1 if k < inside else -1)
        for i, j in moment:
            if i in x and j in x:
                moment[i, j] += signed * x[i] * x[j]
    require_proof(dominant(moment, system.width, claim["factor"], strict=False), "Z")
    positive, negative = sum(w[:inside], fmpq(0)), sum(w[inside:], fmpq(0))
    require_proof(negative > 0, "no weight outside")
    require_proof(q * positive <= (p + q) * negative, "the ratio")


CLAIMS: dict[str, Callable[[System, Claim], None]] = {
    "feasible": feasible,
    "closed feasible": closed_feasible,
    "infeasible": infeasible,
    "closed infeasible": closed_infeasible,
    "margin at least": margin_at_least,
    "margin at most": margin_at_most,
    "partition": partition,
    "sign occurs": sign_occurs,
    "sign excluded": sign_excluded,
    "objective at most": objective_at_most,
    "closed objective at most": objective_at_most,
    "closed objective unbounded": objective_unbounded,
    "objective at least": objective_at_least,
    "ratio at least": ratio_at_least,
    "ratio at most": ratio_at_most,
}


def check_claim(system: System, claim: Any) -> None:
    """Return if a claim is proved, else raise `Refuted` or `Unreadable`."""
    require_form(type(claim) is dict and claim.get("claim") in list(CLAIMS), "no claim")
    of_ratio = claim["claim"].startswith("ratio")
    require_form(of_ratio == (system.form == "squares"), "a claim about other data")
    CLAIMS[claim["claim"]](system, claim)
