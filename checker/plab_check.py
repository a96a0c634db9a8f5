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
# ``rows``: (block, row, column, columns, values), row <= column in matrices, else equal, of each
# score sum values[k] y[columns[k]] / scale; ``blocks``: [kind, order]; ``objective``: scale c;
# ``gram``: rows are inner products, scale^2 times; ``pairs``: y is a matrix E, of the places (i, j)
System = namedtuple("System", "width scale blocks rows objective gram pairs")
Refuted = AssertionError  # no proof of the claim; what cannot be read is a ValueError, or another


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
    value, power = int(sign + before + after), int(exponent or 0) - len(after) + digits
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


def table_system(content, said):
    """Return the system of a table, by labels [column, negative, positive] of s_i (x_i, 1)."""
    width, scale = said["width"], 1 << said["bits"] if "bits" in said else 10 ** said["digits"]
    table, places, form = [], [], said.get("form")
    if said["kind"] == "npy":
        start = 10 + int.from_bytes(content[8:10], "little")  # of version 1.0
        header = rb"\x93NUMPY\x01\0.*'<f([48])', 'fortran_order': False.*\(([0-9]+), ([0-9]+)\)"
        each, count, found = map(int, re.match(header, content[:start], re.DOTALL).groups())
        if len(content) != start + count * found * each:
            raise ValueError("the data are not whole")
        for first in range(start, len(content), found * each):
            entries = range(first, first + found * each, each)
            table.append([double(content[at : at + each], said["bits"]) for at in entries])
    else:
        texts, labels = content.decode("utf-8-sig").splitlines()[said["skip"] :], said["labels"]
        for line in filter(None, csv.reader(texts, delimiter=said["separator"])):
            s = {labels[1]: -1, labels[2]: 1}[line.pop(labels[0]).strip()] if labels else 1
            table.append([s * decimal(x, said["digits"]) for x in line + ["1"] * bool(labels)])
    for b, (kind, k) in enumerate(said["cone"]):
        places += [(b, i, j) for i in range(k) for j in range(i, k if kind == "matrix" else i + 1)]
    if {len(line) for line in table} != {width} or len(table) != len(places):
        raise ValueError("the table is of another shape")
    pairs = [(i, j) for i in range(width) for j in range(i, width)] if form == "squares" else []
    if form == "squares":  # rows are x'Ex inside, in block 0, and -x'Ex outside, in block 1
        signed = [((-1) ** b, x) for (b, *_), x in zip(places, table, strict=True)]
        table = [[sign * x[i] * x[j] for i, j in pairs] for sign, x in signed]
    elif form == "gram":
        if said["cone"] != [["rows", width]] or isqrt(scale) ** 2 != scale:
            raise ValueError("inner products are those of all rows with all, and D is a square")
        scale = isqrt(scale)
    columns = range(len(pairs) or width)
    rows = [(*place, columns, line) for place, line in zip(places, table, strict=True)]
    return System(len(columns), scale, said["cone"], rows, None, form == "gram", pairs)


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
    first, costs = {"feasibility": (0, objective), "recession": (1, None)}[said["question"]]
    blocks = [("rows", 1), *(("rows", abs(k)) if k < 2 else ("matrix", k) for k in orders)]
    table = {(b, i, i): {} for b, (_, order) in enumerate(blocks) for i in range(order)}
    table[0, 0, 0] = dict(enumerate(-one for one in objective)) if first else {0: 10**digits}
    for at in range(0, len(words), 5):
        matrix, block, *place = (int(one) for one in words[at : at + 4])
        value, (low, high) = decimal(words[at + 4], digits) * (1 if matrix else -1), sorted(place)
        order = orders[block - 1] if 1 <= block <= count else 0
        fits = 1 <= low <= high <= abs(order) and (order > 0 or low == high) and 0 <= matrix <= m
        used = fits and value and matrix >= first
        given = table.setdefault((block, low - 1, high - 1), {}) if used else {}
        if given.setdefault(matrix - first, value) != value or (value and not fits):
            raise ValueError(f"an entry in no place, or a second value: {words[at : at + 5]}")
    flat = [(*key, tuple(one), tuple(one.values())) for key, one in sorted(table.items())]
    return System(m + 1 - first, 10**digits, blocks, flat, costs, False, [])


def require_definite(entries, factor, strict=True):
    """Require that M = {(row, column): value}, row <= column, is definite, or semidefinite."""
    # R = 2^s M - LL', or M - 2^-s LL' for s < 0, is: R_ii > sum_j |R_ij| for all i (or >=).
    # The factor holds s and the columns of L, [rows, values].
    matrix = [{} for _ in range(1 + max(row for row, _ in entries))]
    for (row, column), value in entries.items():
        matrix[row][column] = matrix[column][row] = value
    (shift,), columns = numbers(factor[:1]), [[numbers(one) for one in two] for two in factor[1:]]
    # A column of L is packed into one number, ``size`` bytes for each entry: a row of LL' is then
    # the sum of few products. Half of the range is added to each entry, so that none is negative.
    longest = max((abs(one).bit_length() for _, values in columns for one in values), default=0)
    size = (2 * longest + len(columns).bit_length() + 8) // 8
    half, nothing, rows = 1 << 8 * size - 1, bytes(size - 1) + b"\x80", [[] for _ in matrix]
    for places, values in columns:
        if len(set(places)) < len(values) or not set(places) <= set(range(len(matrix))):
            raise ValueError("a column of L with entries in no place, or two in one")
        packed = sum(value << 8 * size * i for i, value in zip(places, values, strict=True))
        for i, value in zip(places, values, strict=True):
            rows[i].append((value, packed))
    halves, whole = int.from_bytes(nothing * len(matrix), "little"), size * len(matrix)
    for i, line in enumerate(matrix):
        product = sum((value * packed for value, packed in rows[i]), halves)
        content, left = product.to_bytes(whole, "little"), 0
        parts = [content[at : at + size] for at in range(0, whole, size)]
        for j in [j for j, part in enumerate(parts) if part != nothing or j in line]:
            entry = int.from_bytes(parts[j], "little") - half
            entry = (line.get(j, 0) << max(shift, 0)) - (entry << max(-shift, 0))
            left += entry if i == j else -abs(entry)
        require(left >= strict, f"row {i + 1} of a residual is not dominated by its diagonal")


def require_inside(kind, order, scores, strict, factor=None):
    """Require that a block's scores {(row, column): value} lie (strictly) inside its cone."""
    if kind == "matrix":
        require_definite(scores, factor)
    elif kind == "second-order":
        t, square = scores[order - 1, order - 1], sum(one * one for one in scores.values())
        require(t >= 0 and 2 * t * t >= square + strict, "norm(u) <= t does not hold in a block")
    else:
        require(kind == "rows" and min(scores.values()) >= strict, "the score of a row is too low")


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


def evaluated(system, claim, unit):
    """Return y, A'w, and block, place, score, squared norm, weight of each row; sums of weights."""
    y = numbers(claim["point"], system.width) if "point" in claim else [0] * system.width
    none = [([], [0] * k, *[[]] * k) if kind == "matrix" else ([], []) for kind, k in system.blocks]
    elements = list(map(element, system.blocks, claim.get("weights", none)))
    total, lines = [0] * system.width, []
    for b, row, column, columns, values in system.rows:
        if weight := elements[b][0](row, column):
            for at, value in zip(columns, values, strict=True):
                total[at] += weight * value
        score = sum(map(mul, values, map(y.__getitem__, columns)))
        norm = [values[row]] if system.gram else map(mul, values, values)
        lines.append((b, (row, column), score, sum(norm) if unit else system.scale**2, weight))
    return y, total, lines, [mass for _, mass in elements]


def check_claim(system, claim):
    """Check a claim by the scores A y of a point y, or by A'w = sum w_i a_i of weights w."""
    name, (p, q), blocks = claim["claim"], numbers(claim.get("bound", (0, 1)), 2), system.blocks
    require((q > 0 or q == 0 < p) and ("ratio" in name) == bool(system.pairs), "no such bound here")
    rows = all(kind == "rows" for kind, _ in blocks)
    margins = ("directional", "unit", "geometric")[: 1 + rows * (2 - system.gram)]
    margin = margins[margins.index(claim["margin"])] if "margin" in name else None
    y, total, lines, masses = evaluated(system, claim, margin == "unit")
    if name in ("feasible", "sign occurs", "objective at most", "margin at least"):
        own = y[:-1] if margin == "geometric" else [one[2] for one in lines] if system.gram else y
        square, scores = sum(map(mul, own, y)), [{} for _ in blocks]
        require(square > 0, "the point is zero")
        # norm(y) <= length / 2^ROOT_BITS, or >= where p < 0: scores are p / q times as large
        length = isqrt(square << 2 * ROOT_BITS) + (p > 0)
        for b, (i, j), score, norm, _ in lines:
            kind, order = blocks[b]
            if margin and kind == "rows":  # without roots: score >= p / q norm(a) norm(y)
                score = score * abs(score) * q * q - p * abs(p) * norm * square
            elif margin:
                apex = i == j and (kind == "matrix" or i == order - 1)
                score = (score * q << ROOT_BITS) - apex * p * system.scale * length
            scores[b][i, j] = score
        for b, (kind, order) in enumerate(blocks):  # closed: the first block alone has to be strict
            strict = not (margin or name == "sign occurs" or (b and claim.get("closed")))
            require_inside(kind, order, scores[b], strict, claim["factors"].get(str(b)))
        require(name != "sign occurs" or y[claim["column"]] * claim["sign"] > 0, "another sign")
        if name == "objective at most":
            cost = sum(map(mul, system.objective, y[1:]))
            require(cost * q <= p * y[0] * system.scale, "the objective is too large")
    elif name == "ratio at least":  # E = (y + y') / 2 is semidefinite
        most, least = (max(s for c, _, s, *_ in lines if c == b) for b in (0, 1))
        require(least < 0 <= -q * least - (p + q) * most, "the ratio may be smaller")
        double = {at: one << (at[0] == at[1]) for at, one in zip(system.pairs, y, strict=True)}
        require_definite(double, claim["factor"], False)
    elif name == "ratio at most":  # Z = sum w xx' inside - sum w xx' outside is semidefinite
        require(masses[1] > 0 and q * masses[0] <= (p + q) * masses[1], "it may be larger")
        require_definite(dict(zip(system.pairs, total, strict=True)), claim["factor"], False)
    elif name == "sign excluded":  # 0 <= w'A y = (A'w)'y, of which one entry is left
        require(total.pop(claim["column"]) * claim["sign"] < 0 == any(total), "it may occur")
    elif name in ("infeasible", "partition"):  # rows with weights are 0 where no score is negative
        require(sum(masses) > 0 and not any(total), "weights are zero, or the sum of rows is not")
        require(not claim["closed"] or (system.objective and lines[0][4] > 0), "x_0 has no weight")
        sides = rows and all(s > 0 or s == 0 < w for _, _, s, _, w in lines)
        require(sides or name == "infeasible", "a row is on no side")
    elif name == "margin at most":
        roots = sum(w * isqrt(square << 2 * ROOT_BITS) for *_, square, w in lines)
        mass = roots if rows else sum(masses) * system.scale << ROOT_BITS
        require(margin != "geometric" or total.pop() == 0, "the classes' weights differ")
        own = [one[-1] for one in lines] if system.gram else total
        square = sum(map(mul, own, total)) * q * q << 2 * ROOT_BITS
        require(p >= 0 < mass and square <= p * p * mass * mass, "the margin may be larger")
    else:  # of W = w / unit, where <F_i, W> = c_i for all i: the objective is at least <F_0, W>
        require(name == "objective at least", "no claim that is known")
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
            check_claim(system, claim)
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
