"""Check a certificate of perceptron_lab in whole numbers: python plab_check.py CERTIFICATE [DATA].

Exit code: 0 every claim is proved, 1 some claim is not, 2 a file cannot be read. Needed is Python
alone; no floating-point number occurs. Claimed is something of the system "A y strictly inside K",
K a product of blocks: ``rows`` (every score > 0), ``second-order`` (norm(u) < t of its scores u, t)
and ``matrix`` (the symmetric matrix of its scores is positive definite). The data give D A in whole
numbers, one D > 0 for all; so are points and weights, for the claims do not depend on their length.
"""

import csv
import hashlib
import json
import re
import sys
from collections import namedtuple
from math import isqrt
from operator import mul
from pathlib import Path

NUMBER = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)\.?([0-9]*)(?:[eEdD]([+-]?[0-9]+))?")
ROOT_BITS = 64  # binary places to which norms are known
OF_POINTS = ("feasible", "margin at least", "objective at most")
OF_WEIGHTS = ("infeasible", "partition", "margin at most", "objective at least")
# ``rows()`` yields (block, row, column, columns, values) of each score, sum values[k] y[columns[k]]
# / scale, row <= column in matrices, else equal; ``blocks``: [kind, order]; ``objective``: scale c
System = namedtuple("System", "width scale blocks rows objective")


class Refuted(Exception):
    """A proof does not prove its claim. What cannot be read is a ValueError, a TypeError, ..."""


def require(truth, reason):
    """Refuse a proof without the truth that it needs."""
    if not truth:
        raise Refuted(reason)


def numbers(values, length=None):
    """Return whole numbers: JSON integers, and texts of hexadecimal digits."""
    found = [int(one, 16) if type(one) is str else one for one in values]
    if any(type(one) is not int for one in found) or length not in (None, len(found)):
        raise ValueError(f"not a list of {length or 'some'} whole numbers")
    return found


def decimal(text, digits):
    """Return 10^digits times a decimal as printed, which has to be whole."""
    sign, before, after, exponent = NUMBER.fullmatch(text.strip()).groups()
    value = int(before + after) * (-1 if sign == "-" else 1)
    power = int(exponent or 0) - len(after) + digits
    if abs(power) > 10_000 or (power < 0 and value % 10**-power):
        raise ValueError(f"{text[:40]!r} is no multiple of 10^-{digits}")
    return value * 10**power if power >= 0 else value // 10**-power


def double(content, bits):
    """Return 2^bits times an IEEE number of 4 or 8 bytes, which has to be whole."""
    code, (places, width) = int.from_bytes(content, "little"), ((23, 8), (52, 11))[len(content) > 4]
    value, exponent = code & ((1 << places) - 1), code >> places & ((1 << width) - 1)
    power = max(exponent, 1) - (1 << width - 1) + 1 - places + bits
    value += (exponent > 0) << places
    if exponent == (1 << width) - 1 or (power < 0 and value & ((1 << -power) - 1)):
        raise ValueError(f"an entry is no multiple of 2^-{bits}")
    return (-1) ** (code >> places + width) * (value << power if power >= 0 else value >> -power)


def npy_lines(content, said):
    """Yield the rows of an array in numpy's format, 2^bits times their entries."""
    start = 10 + int.from_bytes(content[8:10], "little")  # of version 1.0
    header = rb"\x93NUMPY\x01\0.*'<f([48])', 'fortran_order': False.*\(([0-9]+), ([0-9]+)\)"
    each, count, width = map(int, re.match(header, content[:start], re.DOTALL).groups())
    if len(content) != start + count * width * each:
        raise ValueError("the data are not whole")
    for first in range(start, len(content), width * each):
        places = range(first, first + width * each, each)
        yield [double(content[at : at + each], said["bits"]) for at in places]


def csv_lines(content, said):
    """Yield 10^digits x_i of a text; by labels [column, negative, positive] s_i (x_i, 1)."""
    lines, labels = content.decode("utf-8-sig").splitlines()[said["skip"] :], said["labels"]
    for line in filter(None, csv.reader(lines, delimiter=said["separator"])):
        sign = {labels[1]: -1, labels[2]: 1}[line.pop(labels[0]).strip()] if labels else 1
        yield [sign * decimal(one, said["digits"]) for one in line + ["1"] * bool(labels)]


def table_system(content, said):
    """Return the system of a table, of the width and the blocks that the certificate names."""
    npy, width, places = said["kind"] == "npy", said["width"], []
    lines, scale = (npy_lines, 1 << said["bits"]) if npy else (csv_lines, 10 ** said["digits"])
    for b, (kind, k) in enumerate(said["cone"]):
        places += [(b, i, j) for i in range(k) for j in range(i, k if kind == "matrix" else i + 1)]

    def rows():
        for place, line in zip(places, lines(content, said), strict=True):
            if len(line) != width:
                raise ValueError("a row is shorter or longer than others")
            yield *place, range(width), line

    return System(width, scale, said["cone"], rows, None)


def sdpa_system(content, said):
    """Return the system of an SDPA file, its decimals as printed; diagonal blocks are rows."""
    lines, digits = content.decode("utf-8-sig").splitlines(), said["digits"]
    while not lines[0].strip() or lines[0].lstrip()[0] in '"*':
        lines.pop(0)
    clean = str.maketrans(",(){}", "     ")
    m, count = (int(re.match(r"\s*\+?([0-9]+)", lines.pop(0))[1]) for _ in range(2))
    orders, objective = [], []
    while len(orders) < count:  # what follows the last one on its line is a remark
        orders += map(int, lines.pop(0).translate(clean).split()[: count - len(orders)])
    while len(objective) < m:
        objective += [decimal(one, digits) for one in lines.pop(0).translate(clean).split()]
    words = " ".join(lines).translate(clean).split()
    if len(objective) != m or len(words) % 5 or not all(orders):
        raise ValueError("the SDPA file is not whole")
    # x_0 > 0 and sum x_i F_i - x_0 F_0 definite, y = (x_0, x); or -c'x > 0, sum x_i F_i, and y = x
    first = {"feasibility": 0, "recession": 1}[said["question"]]
    blocks = [("rows", 1), *(("rows", abs(k)) if k < 2 else ("matrix", k) for k in orders)]
    table = {(b, i, i): {} for b, (_, order) in enumerate(blocks) for i in range(order)}
    table[0, 0, 0] = dict(enumerate(-one for one in objective)) if first else {0: 10**digits}
    for at in range(0, len(words), 5):
        matrix, block, *place = (int(one) for one in words[at : at + 4])
        value = decimal(words[at + 4], digits) * (1 if matrix else -1)
        (low, high), order = sorted(place), orders[block - 1] if 1 <= block <= count else 0
        fits = 1 <= low <= high <= abs(order) and (order > 0 or low == high) and 0 <= matrix <= m
        used, place = fits and value and matrix >= first, (block, low - 1, high - 1)
        given = table.setdefault(place, {}) if used else {}
        if given.setdefault(matrix - first, value) != value or (value and not fits):
            raise ValueError(f"an entry in no place, or a second value: {words[at : at + 5]}")
    flat = [(*key, tuple(one), tuple(one.values())) for key, one in sorted(table.items())]
    return System(m + 1 - first, 10**digits, blocks, lambda: flat, None if first else objective)


def require_definite(entries, order, factor):
    """Require that the matrix M = {(row, column): value}, row <= column, is positive definite.

    With L, given by its columns [rows, values], and s: R = 2^s M - LL', or M - 2^-s LL' for s < 0,
    has R_ii > sum_j |R_ij| for all i. So R is positive definite, and M with it.
    """
    matrix = [{} for _ in range(order)]
    for (row, column), value in entries.items():
        matrix[row][column] = matrix[column][row] = value
    (shift,), columns = numbers(factor[:1]), [[numbers(one) for one in two] for two in factor[1:]]
    # A column of L is packed into one number, ``size`` bytes for each entry: a row of LL' is then
    # the sum of few products. Half of the range is added to each entry, so that none is negative.
    longest = max((abs(one).bit_length() for _, values in columns for one in values), default=0)
    size = (2 * longest + len(columns).bit_length() + 8) // 8
    half, nothing, rows = 1 << 8 * size - 1, bytes(size - 1) + b"\x80", [[] for _ in range(order)]
    for places, values in columns:
        if len(set(places)) < len(values) or not set(places) <= set(range(order)):
            raise ValueError("a column of L with entries in no place, or two in one")
        packed = sum(value << 8 * size * i for i, value in zip(places, values, strict=True))
        for i, value in zip(places, values, strict=True):
            rows[i].append((value, packed))
    halves = int.from_bytes(nothing * order, "little")
    for i, line in enumerate(matrix):
        product = sum((value * packed for value, packed in rows[i]), halves)
        content, left = product.to_bytes(size * order, "little"), 0
        parts = [content[at : at + size] for at in range(0, size * order, size)]
        for j in [j for j, part in enumerate(parts) if part != nothing or j in line]:
            entry = int.from_bytes(parts[j], "little") - half
            entry = (line.get(j, 0) << max(shift, 0)) - (entry << max(-shift, 0))
            left += entry if i == j else -abs(entry)
        require(left > 0, f"row {i + 1} of a residual is not dominated by its diagonal")


def require_inside(kind, order, scores, strict, factor=None):
    """Require that a block's scores {(row, column): value} lie (strictly) inside its cone."""
    if kind == "matrix":
        require_definite(scores, order, factor)
    elif kind == "second-order":
        t, square = scores[order - 1, order - 1], sum(one * one for one in scores.values())
        require(t >= 0 and 2 * t * t >= square + strict, "norm(u) <= t does not hold in a block")
    else:
        require(kind == "rows" and min(scores.values()) >= strict, "the score of a row is too low")


def margin_of(system, claim):
    """Return the margin that a claim is about, or None, and p and q of its bound p / q, q > 0."""
    p, q = numbers(claim.get("bound", (0, 1)), 2)
    require(q > 0, "the bound is no number")
    rows = all(kind == "rows" for kind, _ in system.blocks)
    allowed = ("directional", "unit", "geometric")[: 1 + 2 * rows]
    return allowed[allowed.index(claim["margin"])] if "margin" in claim["claim"] else None, p, q


def check_point(system, claim):
    """Check a point: strictly feasible, of a margin of at least p / q, or of an objective below."""
    y, (margin, p, q) = numbers(claim["point"], system.width), margin_of(system, claim)
    square = sum(one * one for one in (y[:-1] if margin == "geometric" else y))
    require(square > 0, "the point is zero")
    # norm(y) <= length / 2^ROOT_BITS, or >= where p < 0: scores have to be p / q times as large
    length, scores = isqrt(square << 2 * ROOT_BITS) + (p > 0), [{} for _ in system.blocks]
    for block, row, column, columns, values in system.rows():
        kind, order = system.blocks[block]
        score = sum(map(mul, values, map(y.__getitem__, columns)))
        if margin and kind == "rows":  # without roots; unit rows: score >= p / q norm(a) norm(y)
            norm = sum(map(mul, values, values)) if margin == "unit" else system.scale**2
            score = score * abs(score) * q * q - p * abs(p) * norm * square
        elif margin:
            score = score * q << ROOT_BITS
            if row == column and (kind == "matrix" or row == order - 1):
                score -= p * system.scale * length
        scores[block][row, column] = score
    for block, (kind, order) in enumerate(system.blocks):
        factor = claim["factors"].get(str(block))
        require_inside(kind, order, scores[block], not margin, factor)
    if claim["claim"] == "objective at most":
        require(sum(map(mul, system.objective, y[1:])) * q <= p * y[0] * system.scale, "too large")


def element(block, given):
    """Return the weights (i, j) -> number of an element w of a block's dual cone, and <e, w>."""
    kind, order = block
    if kind != "matrix":
        places, values = (numbers(one) for one in given)
        found = dict.fromkeys(range(order), 0) | dict(zip(places, values, strict=True))
        if len(set(places)) < len(places) or len(found) > order:
            raise ValueError("a weight in no place, or two in one")
        require_inside(kind, order, {(i, i): value for i, value in found.items()}, False)
        return lambda i, _: found[i], found[order - 1] if kind != "rows" else sum(values)
    parts, rest, *vectors = (numbers(one) for one in given)  # w = V diag(parts) V' + diag(rest)
    require(min(parts + rest) >= 0, "a weight is negative")
    if {len(rest), len(vectors)} != {order} or {len(one) for one in vectors} != {len(parts)}:
        raise ValueError("vectors of another block")
    scaled = [list(map(mul, parts, one)) for one in vectors]
    diagonal = [sum(map(mul, a, b)) + d for a, b, d in zip(scaled, vectors, rest, strict=True)]
    trace = sum(diagonal)
    return lambda i, j: 2 * sum(map(mul, scaled[i], vectors[j])) if i < j else diagonal[i], trace


def check_weights(system, claim):
    """Check weights: no feasible point, none of a margin above p / q, or an objective at least."""
    (margin, p, q), total, norms = margin_of(system, claim), [0] * system.width, 0
    elements = list(map(element, system.blocks, claim["weights"]))
    for block, row, column, columns, values in system.rows():
        if weight := elements[block][0](row, column):
            for at, value in zip(columns, values, strict=True):
                total[at] += weight * value
            norms += weight * isqrt(sum(map(mul, values, values)) << 2 * ROOT_BITS)
    mass = norms if margin == "unit" else sum(m for _, m in elements) * system.scale << ROOT_BITS
    require(mass > 0, "the weights are zero")
    if claim["claim"] in ("infeasible", "partition"):
        require(not any(total), "the weighted sum of the rows is not zero")
        closed = claim["closed"] and not (system.objective and elements[0][0](0, 0) > 0)
        require(not closed, "the unknown x_0 has no weight")
        # partition: rows with weights are 0 wherever no score is negative; all others are > 0 at y
        y = numbers(claim["point"], system.width) if claim["claim"] == "partition" else None
        for block, i, _, columns, values in system.rows() if y else ():
            score = sum(map(mul, values, map(y.__getitem__, columns)))
            fits = score > 0 or score == 0 < elements[block][0](i, i)
            require(fits and system.blocks[block][0] == "rows", f"row {i + 1} is on no side")
    elif margin:
        require(margin != "geometric" or total.pop() == 0, "the classes' weights differ")
        square = sum(one * one for one in total) << 2 * ROOT_BITS
        require(p >= 0 and square * q * q <= p * p * mass * mass, "the margin may be larger")
    else:  # of W = w / unit, where <F_i, W> = c_i for all i: the objective is at least <F_0, W>
        (unit,), equal = numbers([claim["unit"]]), system.objective
        require(unit > 0 and total[1:] == [unit * c for c in equal], "an equation does not hold")
        require(-total[0] * q >= p * unit * system.scale, "the objective may be smaller")


def check(certificate, data=None):
    """Return [(claim, "" or the reason why it is not proved), ...] of the files of these names."""
    # numbers that are not whole become texts in quotes, which nothing takes for a number
    said = json.loads(Path(certificate).read_bytes(), parse_float=repr, parse_constant=repr)
    if (said["format"], said["version"]) != ("plab-certificate", 1) or not said["claims"]:
        raise ValueError("not a certificate of version 1 that claims something")
    reading, answers = said["data"], []
    content = Path(data or Path(certificate).with_name(reading["file"])).read_bytes()
    if hashlib.sha256(content).hexdigest() != reading["sha256"]:
        return [(claim, "NOT PROVED: the data are others, by sha256") for claim in said["claims"]]
    system = (sdpa_system if reading["kind"] == "sdpa" else table_system)(content, reading)
    for claim in said["claims"]:
        try:
            require(claim["claim"] in OF_POINTS + OF_WEIGHTS, "no claim that is known")
            (check_point if claim["claim"] in OF_POINTS else check_weights)(system, claim)
            answers.append((claim, ""))
        except Refuted as refuted:
            answers.append((claim, f"NOT PROVED: {refuted}"))
    return answers


def main(arguments):
    """Check the files of a command line, say what is proved, and return the exit code."""
    try:
        answers = check(*arguments)
    except Exception as error:
        sys.stdout.write(f"UNREADABLE: {type(error).__name__}: {error}\n")
        return 2
    for claim, reason in answers:
        sys.stdout.write(f"{claim['claim']} {claim.get('bound', '')} {reason or 'PROVED'}\n")
    return 1 if any(reason for _, reason in answers) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
