"""Small certificates that are valid, at random: each claim on each form of data."""

from __future__ import annotations

import hashlib
import io
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np

Record = dict[str, Any]
Rows = list[list[int]]
MARGINS = ("unit", "directional")


@dataclass
class Example:
    """A certificate and the bytes of its data."""

    record: Record
    content: bytes

    def with_content(self, content: bytes) -> Example:
        """Return a certificate of the same claims on other data, whose sha256 it names."""
        digest = hashlib.sha256(content).hexdigest()
        data = self.record.get("data")
        if isinstance(data, dict) and "sha256" in data:
            data = data | {"sha256": digest}
        return Example(self.record | {"data": data}, content)


def example(data: Record, content: bytes, claims: Sequence[Record]) -> Example:
    data_record = {"file": "data", "sha256": ""} | data
    record = {
        "format": "plab-certificate",
        "version": 2,
        "data": data_record,
        "claims": list(claims),
    }
    return Example(record, b"").with_content(content)


def dot(left: Sequence[int], right: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(left, right, strict=True))


def combined(rows: Rows, w: Sequence[int]) -> list[int]:
    return [dot(w, column) for column in zip(*rows, strict=True)]


def small_vector(rng: random.Random, count: int, most: int = 3) -> list[int]:
    """Return numbers of which not all are 0."""
    vector = [rng.randint(-most, most) for _ in range(count)]
    return vector if any(vector) else small_vector(rng, count, most)


def below(numerator: int, square: int, rng: random.Random) -> list[int]:
    """Return [p, q], p / q <= numerator / sqrt(square), nearly equal."""
    q = 1 << rng.choice((4, 30, 60))
    root = isqrt(numerator * numerator * q * q // square)
    return [root if numerator >= 0 else -root - 1, q]


def above(square: int, mass: int, rng: random.Random) -> list[int]:
    """Return [p, q], p / q >= sqrt(square) / mass, nearly equal."""
    q = 1 << rng.choice((4, 30, 60))
    return [isqrt(square * q * q) // mass + 1, q]


# Systems of rows: whole numbers, and claims about them whose weights are not yet by blocks


@dataclass
class Solved:
    """Rows, and claims with `weights` as one list; the last column may be that of labels."""

    rows: Rows
    claims: list[Record]


def row(rng: random.Random, width: int, affine: bool) -> list[int]:
    last = [rng.choice((1, -1))] if affine else []
    return small_vector(rng, width - len(last)) + last


def margins_at(rows: Rows, y: list[int], affine: bool, rng: random.Random) -> list[Record]:
    claims = []
    for margin in (*MARGINS, *(["geometric"] if affine and any(y[:-1]) else [])):
        square = dot(y, y) - (y[-1] ** 2 if margin == "geometric" else 0)
        units = [dot(a, a) if margin == "unit" else 1 for a in rows]
        bounds = [
            below(dot(a, y), square * length, rng) for a, length in zip(rows, units, strict=True)
        ]
        p, q = min(bounds, key=lambda pair: pair[0] / pair[1])
        p -= q >> 3  # their denominators differ
        claims.append({"claim": "margin at least", "margin": margin, "bound": [p, q]})
    return [claim | {"point": y, "factors": []} for claim in claims]


def solvable(rng: random.Random, width: int, affine: bool) -> Solved:
    """Return rows on the positive side of a point y."""
    y, rows = small_vector(rng, width), []
    for _ in range(200):
        a = row(rng, width, affine)
        if dot(a, y):
            rows.append(a if dot(a, y) > 0 else [-entry for entry in a])
    rows = rows[: rng.randint(1, 4)]
    if not rows:
        return solvable(rng, width, affine)
    claims = [{"claim": "feasible", "point": y, "factors": []}]
    claims += margins_at(rows, y, affine, rng)
    column = next(j for j, entry in enumerate(y) if entry)
    sign = 1 if y[column] > 0 else -1
    claims.append({"claim": "sign occurs", "column": column, "sign": sign, "point": y})
    return Solved(rows, claims)


def unsolvable(rng: random.Random, width: int, affine: bool) -> Solved:
    """Return rows of which two are opposite, so that both are 0 at each y without a negative."""
    y = [0] * width
    pair = row(rng, width, affine)
    rows, w = [pair, [-entry for entry in pair]], [1, 1]
    for _ in range(rng.randint(0, 2)):
        rows.append(row(rng, width, affine))
        w.append(0)
    if not affine and rng.random() < 0.5:  # any rows, and what closes their sum
        rows = [row(rng, width, False) for _ in range(rng.randint(1, 3))]
        w = [rng.randint(1, 3) for _ in rows]
        rows, w = [*rows, [-entry for entry in combined(rows, w)]], [*w, 1]
    claims: list[Record] = [{"claim": "infeasible", "weights": w}]
    kinds = [margin for margin in MARGINS if margin != "unit" or all(map(any, rows))]
    for margin in kinds:
        most = {"claim": "margin at most", "margin": margin, "weights": w}
        claims.append(most | {"bound": rng.choice(([0, 1], [1, 9]))})
    if all(w):
        claims.append({"claim": "partition", "point": y, "weights": w})
    return Solved(rows, claims)


def divided(rng: random.Random, width: int, affine: bool) -> Solved:
    """Return rows of which some are 0 at each y without a negative score, the others positive."""
    y = small_vector(rng, width)
    drawn = [row(rng, width, affine) for _ in range(60)]
    flat = [a for a in drawn if not dot(a, y)][: rng.randint(1, 2)]
    steep = [a if dot(a, y) > 0 else [-entry for entry in a] for a in drawn if dot(a, y)]
    if not flat or not steep:
        return divided(rng, width, affine)
    opposite = [[-entry for entry in a] for a in flat]
    rows, w = flat + opposite, [rng.randint(1, 5) for _ in flat] * 2
    steep = steep[: rng.randint(0, 2)]
    rows, w = [*rows, *steep], [*w, *[0] * len(steep)]
    order = rng.sample(range(len(rows)), len(rows))
    rows, w = [rows[k] for k in order], [w[k] for k in order]
    column = next(j for j, entry in enumerate(y) if entry)
    sign = 1 if y[column] > 0 else -1
    occurs = {"claim": "sign occurs", "column": column, "sign": sign, "point": y}
    return Solved(rows, [{"claim": "partition", "point": y, "weights": w}, occurs])


def excluded(rng: random.Random, width: int, affine: bool) -> Solved:
    """Return rows with a sum of weights of one entry."""
    if affine and width < 2:
        return solvable(rng, width, affine)
    column, entry = rng.randrange(width - affine), rng.choice((-2, -1, 1, 2))
    rows = [row(rng, width, affine) for _ in range(1 if affine else rng.randint(1, 2))]
    w = [1 if affine else rng.randint(1, 3) for _ in rows]
    total = combined(rows, w)
    rows.append([entry * (j == column) - value for j, value in enumerate(total)])
    claim = {"claim": "sign excluded", "column": column, "sign": -1 if entry > 0 else 1}
    return Solved(rows, [claim | {"weights": [*w, 1]}])


def bounded(rng: random.Random, width: int, affine: bool) -> Solved:
    """Return rows and any weights, whose sum bounds the margins."""
    rows = [row(rng, width, affine) for _ in range(rng.randint(1, 4))]
    w = [rng.randint(0, 3) for _ in rows]
    w[0] += 1
    total, claims = combined(rows, w), []
    for margin in MARGINS:
        lengths = [isqrt(dot(a, a)) if margin == "unit" else 1 for a in rows]
        bound = above(dot(total, total), dot(w, lengths), rng)
        claims.append({"claim": "margin at most", "margin": margin, "bound": bound, "weights": w})
    if affine and not total[-1]:
        bound = above(dot(total[:-1], total[:-1]), sum(w), rng)
        geometric = {"claim": "margin at most", "margin": "geometric"}
        claims.append(geometric | {"bound": bound, "weights": w})
    return Solved(rows, claims)


ROWS = (solvable, unsolvable, divided, excluded, bounded)


def listed(w: Sequence[int]) -> list[list[int]]:
    indices = [k for k, weight in enumerate(w) if weight]
    return [indices, [w[k] for k in indices]]


def in_blocks(claims: Sequence[Record], sizes: Sequence[int]) -> list[Record]:
    """Return claims whose weights are lists of places and numbers, block by block."""
    ends = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
    claims_ = []
    for claim in claims:
        w = claim.get("weights")
        parts = {"weights": [listed(w[a:b]) for a, b in pairwise(ends)]} if w is not None else {}
        claims_.append(claim | parts)
    return claims_


def split(rng: random.Random, count: int) -> list[int]:
    cut = rng.randrange(count)
    return [cut, count - cut] if cut else [count]


# Texts


SEPARATORS = (",", ";", "\t", " ")


def printed(value: int, digits: int, rng: random.Random) -> str:
    """Return value / 10^digits as a decimal, in one of many ways."""
    sign = "-" if value < 0 else rng.choice(("", "", "+"))
    text = str(abs(value)).rjust(digits + 1, "0")
    at = len(text) - digits
    plain = text[:at] + ("." + text[at:] if digits else rng.choice(("", "", ".", ".0")))
    power = digits + rng.randint(-2, 2)
    shifted = f"{abs(value)}{rng.choice('eEdD')}{'-' if power > 0 else ''}{abs(power)}"
    if power == digits and rng.random() < 0.5:
        return sign + shifted
    return sign + plain


def text_of(lines: Sequence[Sequence[str]], separator: str, rng: random.Random) -> bytes:
    blank = rng.choice(("", "", " ")) if separator in ",;" else ""
    end = rng.choice(("\n", "\n", "\r\n"))
    text = end.join(separator.join(blank + field for field in line) for line in lines)
    return (text + rng.choice(("", end, end + end))).encode()


def names(rng: random.Random, count: int) -> list[list[str]]:
    if rng.random() < 0.6:
        return []
    return [rng.sample(("a", "b", "x1", "length", "Größe", "class", "_", "N"), count)]


def as_table(solved: Solved, rng: random.Random) -> Example:
    separator, digits = rng.choice(SEPARATORS), rng.choice((0, 0, 1, 3))
    lines = [[printed(entry, digits, rng) for entry in a] for a in solved.rows]
    content = text_of([*names(rng, len(lines[0])), *lines], separator, rng)
    claims = in_blocks(solved.claims, [len(lines)])
    # rows times 10^-digits have the same unit margins; others are those of whole numbers
    allowed = [claim for claim in claims if not digits or claim.get("margin", "unit") == "unit"]
    return example({"form": "table", "separator": separator}, content, allowed or claims[:1])


def as_labelled(solved: Solved, rng: random.Random) -> Example | None:
    classes = rng.choice((("no", "yes"), ("-1", "1"), ("0", "1"), ("a b", "ü")))
    separator = rng.choice(SEPARATORS[:3])
    if {a[-1] for a in solved.rows} != {1, -1}:
        return None
    width, column = len(solved.rows[0]), rng.randrange(len(solved.rows[0]))
    lines = []
    for *x, sign in solved.rows:
        fields = [printed(sign * entry, 0, rng) for entry in x]
        fields.insert(column, classes[sign > 0])
        lines.append(fields)
    content = text_of([*names(rng, width), *lines], separator, rng)
    data = {"form": "labelled", "separator": separator, "column": column}
    data |= {"negative": classes[0], "positive": classes[1]}
    return example(data, content, in_blocks(solved.claims, [len(lines)]))


# Matrices in numpy's format


def saved(rows: Any) -> bytes:
    target = io.BytesIO()
    np.save(target, np.array(rows, dtype=float))
    return target.getvalue()


def as_matrix(solved: Solved, rng: random.Random) -> Example:
    power = rng.choice((0, 0, 2, 50, -3))
    sizes = split(rng, len(solved.rows))
    content = saved(np.array(solved.rows, dtype=float) / 2.0**power)
    claims = in_blocks(solved.claims, sizes)
    allowed = [claim for claim in claims if not power or claim.get("margin", "unit") == "unit"]
    data = {"form": "cone", "blocks": [["rows", size] for size in sizes]}
    return example(data, content, allowed or claims[:1])


def as_gram(solved: Solved, rng: random.Random) -> Example | None:
    """Return the products of rows: weights prove the same, points have their coefficients."""
    products = [[dot(a, b) for b in solved.rows] for a in solved.rows]
    claims = [
        claim
        for claim in solved.claims
        if claim["claim"] in ("infeasible", "margin at most") and claim.get("margin") != "geometric"
    ]
    y = [rng.randint(0, 2) for _ in products]
    scores = combined(products, y)
    if min(scores) > 0:
        claims.append({"claim": "feasible", "point": y, "factors": []})
        square = dot(y, scores)
        for margin in MARGINS:
            units = [products[i][i] if margin == "unit" else 1 for i in range(len(y))]
            pairs = zip(scores, units, strict=True)
            p, q = min((below(s, square * u, rng) for s, u in pairs), key=lambda b: b[0] / b[1])
            least = {"claim": "margin at least", "margin": margin, "bound": [p - q // 8, q]}
            claims.append(least | {"point": y, "factors": []})
    if not claims:
        return None
    return example({"form": "gram"}, saved(products), in_blocks(claims, [len(y)]))


# SDPA files


def sdpa_text(
    costs: Sequence[int],
    orders: Sequence[int],
    entries: Sequence[tuple[int, ...]],
    rng: random.Random,
    points: Sequence[str] = ("", ".", ".0"),
) -> bytes:
    """Return a program of whole numbers, as one of many texts."""
    comments = rng.choice(("", '"a program"\n', "* one\n\n* two\n"))
    marks = rng.choice(("", " = m", " unknowns", " 7"))
    words = [f"{k} {b} {i} {j} {v}{rng.choice(points)}" for k, b, i, j, v in entries]
    rng.shuffle(words)
    around = rng.choice(("{}", "({})", "{{{}}}"))
    order = around.format(rng.choice((" ", ", ")).join(map(str, orders)))
    lines = [f"{len(costs)}{marks}", f"{len(orders)}", order, " ".join(map(str, costs)), *words]
    return (comments + rng.choice(("\n", "\r\n")).join(lines) + "\n").encode()


def diagonal_entries(rows: Rows, sizes: Sequence[int], first: int) -> list[tuple[int, ...]]:
    """Return the entries of diagonal blocks; column k of the rows is matrix k + first."""
    entries_, at = [], 0
    for b, size in enumerate(sizes, 1):
        for i in range(1, size + 1):
            for k, entry in enumerate(rows[at], first):
                value = entry if k else -entry
                entries_ += [(k, b, i, i, value)] if value else []
            at += 1
    return entries_


def as_recession(solved: Solved, rng: random.Random) -> Example | None:
    first, *rows = solved.rows
    if not rows:
        return None
    sizes = split(rng, len(rows))
    orders = [rng.choice((-size, size if size == 1 else -size)) for size in sizes]
    content = sdpa_text([-entry for entry in first], orders, diagonal_entries(rows, sizes, 1), rng)
    of_tables = [claim for claim in solved.claims if claim.get("margin") != "geometric"]
    of_tables = [claim for claim in of_tables if "sign" not in claim["claim"]]
    if not of_tables:
        return None
    claims = in_blocks(of_tables, [1, *sizes])
    return example({"form": "sdpa", "question": "recession"}, content, claims)


def program_of_rows(rng: random.Random) -> Example:
    """Return conditions F(x) on rows: points, contradictions and bounds of an objective."""
    width = rng.randint(1, 3)
    costs = small_vector(rng, width)
    solvable_one = rng.random() < 0.5
    rows = [small_vector(rng, width + 1) for _ in range(rng.randint(1, 3))]
    claims: list[Record] = []
    if solvable_one:
        x0, x = rng.randint(1, 2), small_vector(rng, width)
        y = [x0, *x]
        rows = [a if dot(a, y) > 0 else [-entry for entry in a] for a in rows]
        rows = [a for a in rows if dot(a, y)] or [[1, *[0] * width]]
        claims = [{"claim": "feasible", "point": y, "factors": []}]
        claims.append({"claim": "objective at most", "point": y, "factors": []})
        claims[-1]["bound"] = [dot(costs, x) + rng.choice((0, 0, 1)), x0]
        flat = [
            vector
            for vector in (small_vector(rng, width + 1) for _ in range(9))
            if dot(vector, y) >= 0
        ]
        if rng.random() < 0.5:
            claims, rows = [], [*rows, *flat[:1]]
        claims.append({"claim": "closed feasible", "point": y, "factors": []})
    else:
        w = [rng.randint(1, 3) for _ in rows]
        if rng.random() < 0.5:
            first = rng.randint(1, 2)
            total = combined([[first, *[0] * width], *rows], [1, *w])
            rows, weights = [*rows, [-entry for entry in total]], [first, *w, 1]
            claims.append({"claim": "closed infeasible", "weights": weights})
            claims.append({"claim": "infeasible", "weights": weights})
        else:
            total, unit = combined(rows, w), rng.randint(1, 3)
            costs = total[1:]
            weights = [0, *(unit * weight for weight in w)]
            least = {"claim": "objective at least", "bound": [-total[0], 1], "unit": unit}
            claims.append(least | {"weights": weights})
    sizes = split(rng, len(rows))
    content = sdpa_text(costs, [-size for size in sizes], diagonal_entries(rows, sizes, 0), rng)
    data = {"form": "sdpa", "question": "feasibility"}
    return example(data, content, in_blocks(claims, [1, *sizes]))


def unbounded_program(rng: random.Random) -> Example:
    """Return conditions F(x) on rows that hold along a ray on which the objective falls."""
    width = rng.randint(1, 3)
    y, ray, costs = ([1, *small_vector(rng, width)], *(small_vector(rng, width) for _ in range(2)))
    if not dot(costs, ray):
        costs = list(ray)
    if dot(costs, ray) > 0:
        costs = [-cost for cost in costs]
    drawn = (small_vector(rng, width + 1) for _ in range(9))
    rows = [a for a in drawn if dot(a, y) >= 0 and dot(a[1:], ray) >= 0][: rng.randint(1, 4)]
    rows = rows or [[1, *[0] * width]]
    sizes = split(rng, len(rows))
    content = sdpa_text(costs, [-size for size in sizes], diagonal_entries(rows, sizes, 0), rng)
    claim = {"claim": "closed objective unbounded", "point": y, "ray": ray}
    return example({"form": "sdpa", "question": "feasibility"}, content, [claim])


# Cones


def symmetric(rng: random.Random, order: int) -> Rows:
    matrix = [[0] * order for _ in range(order)]
    for i in range(order):
        for j in range(i, order):
            matrix[i][j] = matrix[j][i] = rng.randint(-2, 2)
    return matrix


def definite(rng: random.Random, order: int) -> tuple[Rows, list[Any]]:
    """Return M = LL' + R, R dominated by its diagonal, and [0, L]."""
    lower = [[rng.randint(-2, 2) if k <= i else 0 for k in range(order)] for i in range(order)]
    if rng.random() < 0.4:
        lower = [[0] * order for _ in range(order)]
    rest = symmetric(rng, order)
    for i in range(order):
        rest[i][i] = sum(abs(rest[i][j]) for j in range(order) if j != i) + rng.randint(1, 2)
    matrix = [[dot(lower[i], lower[j]) + rest[i][j] for j in range(order)] for i in range(order)]
    columns = [listed(column) for column in zip(*lower, strict=True)]
    return matrix, [0, *(column for column in columns if column[0])]


def upper(matrix: Rows) -> list[int]:
    return [matrix[i][j] for i in range(len(matrix)) for j in range(i, len(matrix))]


def matrix_weights(rng: random.Random, order: int) -> tuple[list[Any], Rows]:
    """Return the weights of a matrix as listed, and w."""
    parts = [rng.randint(0, 2) for _ in range(rng.randint(0, 2))]
    rest = [rng.randint(0, 2) for _ in range(order)]
    lines = [[rng.randint(-2, 2) for _ in parts] for _ in range(order)]
    w = [
        [
            sum(p * a * b for p, a, b in zip(parts, x, y, strict=True)) + rest[i] * (i == j)
            for j, y in enumerate(lines)
        ]
        for i, x in enumerate(lines)
    ]
    return [parts, rest, *lines], w


def doubled(w: Rows) -> list[int]:
    return [w[i][j] * (1 + (i != j)) for i in range(len(w)) for j in range(i, len(w))]


def cone(rng: random.Random) -> Example:
    """Return rows, a second-order block and a matrix: a point, or weights and a last row."""
    width, order, ball = rng.randint(1, 3), rng.randint(1, 3), rng.randint(2, 4)
    kinds = rng.sample(["second-order", "matrix"], rng.randint(1, 2))
    blocks = [[kind, order if kind == "matrix" else ball] for kind in kinds]
    if rng.random() < 0.5:
        return _cone_with_point(rng, width, blocks)
    return _cone_with_weights(rng, width, blocks)


def _cone_with_point(rng: random.Random, width: int, blocks: list[Any]) -> Example:
    y, rows, factors = [*small_vector(rng, width), 1], [], []
    for kind, order in blocks:
        if kind == "matrix":
            matrix, factor = definite(rng, order)
            inside = upper(matrix)
            factors.append(factor)
        else:
            u = [rng.randint(-2, 2) for _ in range(order - 1)]
            inside = [*u, isqrt(dot(u, u)) + rng.randint(1, 2)]
        for score in inside:
            a = [rng.randint(-2, 2) for _ in range(width)]
            rows.append([*a, score - dot(a, y[:-1])])
    rows.append([0] * width + [1])  # an odd number: D = 1
    claims: list[Record] = [{"claim": "feasible", "point": y, "factors": factors}]
    least = {"claim": "margin at least", "margin": "directional", "point": y}
    if [kind for kind, _ in blocks] != ["matrix"] and not factors:
        claims.append(least | {"bound": [-1, rng.randint(1, 5)], "factors": []})
    elif all(len(factor) == 1 for factor in factors):
        claims.append(least | {"bound": [-1, rng.randint(1, 5)], "factors": factors})
    data = {"form": "cone", "blocks": [*blocks, ["rows", 1]]}
    return example(data, saved(rows), claims)


def _cone_with_weights(rng: random.Random, width: int, blocks: list[Any]) -> Example:
    rows, w, weights, mass = [], [], [], 1
    for kind, order in blocks:
        if kind == "matrix":
            entries_of_block, matrix = matrix_weights(rng, order)
            part = doubled(matrix)
            mass += sum(matrix[i][i] for i in range(order))
        else:
            u = [rng.randint(-2, 2) for _ in range(order - 1)]
            part = [*u, isqrt(dot(u, u) - 1) + 1 if any(u) else rng.randint(0, 1)]
            entries_of_block, mass = listed(part), mass + part[-1]
        rows += [[rng.randint(-2, 2) for _ in range(width)] for _ in part]
        w += part
        weights.append(entries_of_block)
    weights.append([[0], [1]])
    total = combined(rows, w)
    data = {"form": "cone", "blocks": [*blocks, ["rows", 1]]}
    if rng.random() < 0.5:
        last = [-entry for entry in total]
        return example(data, saved([*rows, last]), [{"claim": "infeasible", "weights": weights}])
    last = small_vector(rng, width)
    total = [a + b for a, b in zip(total, last, strict=True)]
    most = {"claim": "margin at most", "margin": "directional", "weights": weights}
    most["bound"] = above(dot(total, total), mass, rng)
    return example(data, saved([*rows, last]), [most])


def program(rng: random.Random) -> Example:
    """Return a program of one matrix and one row, with a point or with weights."""
    count, order = rng.randint(1, 2), rng.randint(2, 3)
    matrices = [symmetric(rng, order) for _ in range(count + 1)]
    row_entries = [rng.randint(-2, 2) for _ in range(count + 1)]
    costs = small_vector(rng, count)
    data = {"form": "sdpa", "question": "feasibility"}
    if rng.random() < 0.5:
        x, (inside, factor) = small_vector(rng, count), definite(rng, order)
        for i in range(order):
            for j in range(order):
                total = sum(v * m[i][j] for v, m in zip(x, matrices[1:], strict=True))
                matrices[0][i][j] = total - inside[i][j]
        row_entries[0] = dot(x, row_entries[1:]) - 1
        point = {"point": [1, *x], "factors": [factor]}
        claims: list[Record] = [
            {"claim": "feasible"} | point,
            {"claim": "closed feasible"} | point,
            {"claim": "objective at most", "bound": [dot(costs, x), 1]} | point,
        ]
    else:
        matrix, w = matrix_weights(rng, order)
        products = [
            sum(w[i][j] * m[i][j] for i in range(order) for j in range(order)) for m in matrices
        ]
        if rng.random() < 0.5:
            first = rng.randint(0, 2)
            row_entries = [first - products[0], *(-product for product in products[1:])]
            weights = [listed([first]), matrix, [[0], [1]]]
            claims = [{"claim": "infeasible", "weights": weights}]
            claims += [{"claim": "closed infeasible", "weights": weights}] if first else []
        else:
            sums = [a + b for a, b in zip(products, row_entries, strict=True)]
            costs = sums[1:]
            least = {"claim": "objective at least", "bound": [sums[0], 1], "unit": 1}
            claims = [least | {"weights": [[[], []], matrix, [[0], [1]]]}]
    entries = [
        (k, 1, i + 1, j + 1, matrices[k][i][j])
        for k in range(count + 1)
        for i in range(order)
        for j in range(i, order)
        if matrices[k][i][j]
    ]
    entries += [(k, 2, 1, 1, entry) for k, entry in enumerate(row_entries) if entry]
    # a factor is one of D times the matrix: digits behind the point would make D larger
    content = sdpa_text(costs, [order, rng.choice((1, -1))], entries, rng, ("", ".", "e0"))
    return example(data, content, claims)


def sdpa_file(costs: Sequence[float], orders: Sequence[int], *entries: str) -> bytes:
    """Return an SDPA file of these costs, orders and entries."""
    lines = [str(len(costs)), str(len(orders)), " ".join(map(str, orders))]
    return "\n".join([*lines, " ".join(map(str, costs)), *entries, ""]).encode()


# Squares


def squares(rng: random.Random) -> Example:
    """Return vectors inside and outside of an ellipsoid, with E or with weights."""
    width = rng.randint(1, 3)
    inside = [small_vector(rng, width, 2) for _ in range(rng.randint(1, 3))]
    outside = [small_vector(rng, width, 5) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.5:
        matrix, factor = definite(rng, width)
        form = [matrix[i][j] * (1 + (i != j)) for i in range(width) for j in range(i, width)]
        most, least = (
            pick([sum(x[i] * dot(matrix[i], x) for i in range(width)) for x in part])
            for pick, part in ((max, inside), (min, outside))
        )
        # the form is known in halves, so that the matrix of the claim is 2 E = LL' + R
        factor = [0] if len(factor) == 1 else [1, *factor[1:]]
        claim: Record = {"claim": "ratio at least", "bound": [least - most, most]}
        claim |= {"point": form, "factor": [-1, *factor[1:]] if len(factor) > 1 else [0]}
        if rng.random() < 0.2:  # nothing inside of a direction
            inside, outside = [[0, 1], [0, -2]], [[1, 3], [-2, 1]]
            claim = {"claim": "ratio at least", "bound": [1, 0], "point": [1, 0, 0]}
            claim["factor"] = rng.choice(([0], [1, [[0], [2]]]))
    else:
        axes = [[4 * (i == j) for j in range(width)] for i in range(width)]
        inside = [*inside, *axes]
        w = [rng.randint(0, 1) for _ in inside[:-width]] + [9 * len(outside)] * width
        v = [rng.randint(0, 1) for _ in outside]
        v[0] = 1
        claim = {"claim": "ratio at most", "bound": [sum(w) - sum(v), sum(v)], "factor": [0]}
        claim["weights"] = [listed(w), listed(v)]
    data = {"form": "squares", "inside": len(inside)}
    return example(data, saved([*inside, *outside]), [claim])


WAYS: dict[str, Callable[[Solved, random.Random], Example | None]] = {
    "table": as_table,
    "labelled": as_labelled,
    "cone": as_matrix,
    "gram": as_gram,
    "recession": as_recession,
}
ALONE: tuple[Callable[[random.Random], Example], ...] = (
    *(program_of_rows, unbounded_program, cone, program),
    squares,
)


def small_certificate(rng: random.Random) -> Example:
    """Return a valid certificate of one or more claims."""
    if rng.random() < 0.45:
        return rng.choice(ALONE)(rng)
    way = rng.choice(list(WAYS))
    affine = way == "labelled" or rng.random() < 0.3
    certificate = WAYS[way](rng.choice(ROWS)(rng, rng.randint(2, 3), affine), rng)
    return certificate or small_certificate(rng)
