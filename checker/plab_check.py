"""Check a certificate of perceptron_lab in whole numbers: python plab_check.py CERTIFICATE [DATA].

Exit code: 0 every claim is proved, 1 some claim is not, 2 a file cannot be read. Each claim is
printed as a sentence derived from what was checked. A claim is about a system "A y strictly inside
K", K a product of blocks: ``rows`` (every score > 0), ``second-order`` (norm(u) < t of its scores
u, t) and ``matrix`` (the symmetric matrix of its scores is positive definite). The data give D A in
whole numbers, one D > 0 for all; so are points and weights, whose length does not matter.
"""

import ast
import hashlib
import json
import re
import sys
from collections import namedtuple
from functools import partial
from math import isqrt
from operator import lt, mul
from pathlib import Path

NUMBER = rb"[ \t]*([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eEdD]([+-]?[0-9]{1,9}))?[ \t]*"
# No column is named by a number in any notation, nor by a word for a missing one
NO_NAME = re.compile(r"[\s+.,-]*(\d.*|inf(inity)?|nan?|n/a|null|none|\?)?\s*", re.I | re.S)
POSITIVE = "a'y > 0 for all rows a"
MATRIX = "F(x) = sum x_i F_i - F_0 positive"
ROOT_BITS, MOST = 64, 1 << 22  # binary digits of norms; the largest order, and bits of a number
# ``rows``: (block, row, column, columns, values), row <= column in matrices, else equal, of each
# score sum values[k] y[columns[k]] / scale; ``blocks``: (kind, order); ``objective``: scale c;
# ``words``: the data, y, and that A y is strictly inside K
System = namedtuple("System", "form width scale blocks rows objective words")
Refuted = AssertionError  # no proof of the claim; what cannot be read is a ValueError, or another
# The forms of data, with the keys beside form, file and sha256
FORMS = {"sdpa": "question", "table": "separator", "labelled": "separator column negative positive"}
FORMS |= {"cone": "blocks", "gram": "", "squares": "inside"}
# The claims: their keys, and their sentences
CLAIMS = {
    "feasible": "point factors|some {y} has {inside}",
    "closed feasible": f"point factors|some x has {MATRIX} semidefinite",
    "infeasible": "weights|no {y} has {inside}",
    "closed infeasible": f"weights|no x has {MATRIX} semidefinite",
    "margin at least": "margin bound point factors|the {margin} margin of {inside} is >= {bound}",
    "margin at most": "margin bound weights|the {margin} margin of {inside} is <= {bound}",
    "partition": "point weights|if no score is < 0, those of {zero} are 0, at some {y} no others",
    "sign occurs": "column sign point|some {y}, no score < 0, has sign {sign} in entry {column}",
    "sign excluded": "column sign weights|no {y}, no score < 0, has sign {sign} in entry {column}",
    "objective at most": "bound point factors|some x has {inside} and c'x <= {bound}",
    "objective at least": f"bound unit weights|c'x >= {{bound}} if {MATRIX} semidefinite",
    "ratio at least": "bound point factor|the separation ratio is >= {bound}",
    "ratio at most": "bound weights factor|the separation ratio is <= {bound}",
}


def require(truth, reason, error=Refuted):
    """Refuse a proof without the truth that it needs; or, as ``readable``, a file."""
    if not truth:
        raise error(reason)


readable = partial(require, error=ValueError)


def whole(value, least=-(1 << MOST), most=1 << MOST):
    """Return a whole number of a certificate: a JSON integer, or a text of hexadecimal digits."""
    if type(value) is str and re.fullmatch("-?0x[0-9a-f]+", value):
        value = int(value, 16)
    readable(type(value) is int and least <= value <= most, f"a number is {ascii(value)[:40]}")
    return value


def numbers(values, length=None):
    """Return a list of whole numbers of a certificate, of a length if one is needed."""
    readable(type(values) is list and length in (None, len(values)), f"no list of {length}")
    return list(map(whole, values))


def entries(places, values, order):
    """Return {place: number}, the places increasing and below an order."""
    places, values = numbers(places), numbers(values, len(places))
    readable(all(map(lt, [-1, *places], [*places, order])), "places that do not increase")
    return dict(zip(places, values, strict=True))


def fields(record, names):
    """Return the values of an object that has just the keys of these names."""
    readable(type(record) is dict and {*record} == {*names.split()}, f"other keys than {names}")
    return [record[name] for name in names.split()]


def decimal(text):
    """Return (m, e) with m 10^e a decimal as printed."""
    match = re.fullmatch(NUMBER, text)
    readable(match, f"{ascii(text)[:40]} is no decimal")
    sign, before, after, exponent = (part or b"" for part in match.groups())
    power = int(exponent or 0) - len(after)
    readable(abs(power) <= 10_000, f"{ascii(text)[:40]} has too large an exponent")
    return int(sign + before + after), power


def double(content):
    """Return (m, e) with m 2^e an IEEE number of 8 bytes, m odd or 0."""
    code = int.from_bytes(content, "little")
    m, exponent = code % (1 << 52), code >> 52 & 2047
    readable(exponent < 2047, "an entry is infinite, or no number")
    m += (exponent > 0) << 52
    zeros = (m & -m).bit_length() - (m > 0)
    return (-1) ** (code >> 63) * (m >> zeros), max(exponent, 1) - 1075 + zeros


def scaled(table, base, even=False):
    """Return D times the numbers (m, e), m base^e; and D = base^k, the least that is enough."""
    k = max([0, *(-e for line in table for m, e in line if m)])
    k += even and k % 2
    return [[m and m * base ** (e + k) for m, e in line] for line in table], base**k


def text_table(content, data):
    """Return the rows of a text, with labels those of s (x, 1); and words of data, y and A y."""
    readable(data["separator"] in (",", ";", "\t", " "), "no separator")
    lines = content.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    table = [line.split(data["separator"]) for line in lines if line]
    names = [] if any(map(NO_NAME.fullmatch, table[0])) else table.pop(0)
    words = [f"{len(table)} rows of text after {len(names)} names {names!a}", "y", POSITIVE]
    more, signs = [], [1] * len(table)
    if data["form"] == "labelled":
        column, more = whole(data["column"], 0), [b"1"]
        low, high = data["negative"], data["positive"]
        signs = [[low, high].index(line.pop(column).strip(" \t")) * 2 - 1 for line in table]
        readable({*signs} == {-1, 1} and low != high, "labels of one class")
        words[1:] = "(w, b)", f"w'x + b > 0 for {high!a}, < 0 for {low!a} in column {column + 1}"
    table = [[decimal(x) for x in [*map(str.encode, line), *more]] for line in table]
    return [[(s * m, e) for m, e in x] for s, x in zip(signs, table, strict=True)], words


def table_system(content, data):
    """Return the system of a table of numbers: rows, blocks of a cone, or products of rows."""
    form, text = data["form"], data["form"] in ("table", "labelled")
    if text:
        table, words = text_table(content, data)
    else:  # version 1.0 of numpy's format
        start = 10 + int.from_bytes(content[8:10], "little")
        header = ast.literal_eval(content[10:start].decode("latin-1").strip())
        kind, by_columns, (count, width) = fields(header, "descr fortran_order shape")
        fits = content[:8] == b"\x93NUMPY\x01\0" and kind == "<f8" and by_columns is False
        fits = fits and len(content) == start + 8 * whole(count, 1) * whole(width, 1)
        readable(fits, "no matrix of doubles, row by row")
        flat = [double(content[at : at + 8]) for at in range(start, len(content), 8)]
        table = [flat[at : at + width] for at in range(0, len(flat), width)]
        words = [f"{count} x {width} doubles of numpy", "y", POSITIVE]
    readable(len(set(map(len, table))) == 1, "rows of several lengths, or none")
    table, scale = scaled(table, 10 if text else 2, form == "gram")
    blocks, width = [("rows", len(table))], len(table[0])
    if form == "cone":
        blocks = [(kind, whole(order, 1, MOST)) for kind, order in data["blocks"]]
        words[2] = f"A y strictly inside the cone of {', '.join(f'{k} {n}' for k, n in blocks)}"
    elif form == "squares":  # rows are x'Ex inside, in block 0, and -x'Ex outside, in block 1
        inside, places = whole(data["inside"], 1, len(table) - 1), pairs(width)
        blocks = [("rows", inside), ("rows", len(table) - inside)]
        signed = [(1 if k < inside else -1, x) for k, x in enumerate(table)]
        table, width = [[s * x[i] * x[j] for i, j in places] for s, x in signed], len(places)
        words[0] += f", of which the first {inside} are inside"
    elif form == "gram":
        fits = all(x[i] >= 0 and x == [a[i] for a in table] for i, x in enumerate(table))
        readable(fits and len(table) == width, "inner products are symmetric, of all with all")
        scale, words[2] = isqrt(scale), f"<a, y> > 0 for all {width} features a"
    places = []
    for b, (kind, k) in enumerate(blocks):
        readable(kind in ("rows", "second-order", "matrix") and k <= len(table), "no such block")
        diagonal = zip(range(k), range(k), strict=True)
        places += [(b, i, j) for i, j in (pairs(k) if kind == "matrix" else diagonal)]
    rows = [(*at, range(width), line) for at, line in zip(places, table, strict=True)]
    return System(form, width, scale, blocks, rows, None, words)


def pairs(order):
    """Return the places (i, j), i <= j, of a matrix."""
    return [(i, j) for i in range(order) for j in range(i, order)]


def sdpa_system(content, data):
    """Return the system of an SDPA file, its decimals as printed; diagonal blocks are rows."""
    lines = content.translate(bytes.maketrans(b",(){}", b"     ")).split(b"\n")
    while not lines[0].strip() or lines[0].lstrip()[:1] in (b'"', b"*"):
        lines.pop(0)
    m, count = (int(re.match(rb"\s*\+?([0-9]+)(?![\w.])", lines.pop(0))[1]) for _ in range(2))
    for numbers_of, length in ((orders := [], count), (costs := [], m)):
        while len(numbers_of) < length:  # what follows the last one on its line is a remark
            numbers_of += map(decimal, lines.pop(0).split()[: length - len(numbers_of)])
    table = list(map(decimal, b" ".join(lines).split()))
    places = [table[at : at + 4] for at in range(0, len(table), 5)]
    fits = costs and len(table) % 5 == 0 == any(e for line in [orders, *places] for _, e in line)
    orders = [k for k, _ in orders]
    readable(fits and all(orders) and sum(map(abs, orders)) < MOST, "the file is not complete")
    (costs, values), scale = scaled([costs, table[4::5]], 10)
    # x_0 > 0 and sum x_i F_i - x_0 F_0 definite, y = (x_0, x); or -c'x > 0, sum x_i F_i, and y = x
    first = ("feasibility", "recession").index(data["question"])
    blocks = [("rows", 1), *(("rows", abs(k)) if k < 2 else ("matrix", k) for k in orders)]
    table = {(b, i, i): {} for b, (_, order) in enumerate(blocks) for i in range(order)}
    table[0, 0, 0] = dict(enumerate(-c for c in costs)) if first else {0: scale}
    for line, value in zip(places, values, strict=True):
        matrix, block, *place = (k for k, _ in line)
        (low, high), value = sorted(place), value if matrix else -value
        order = orders[block - 1] if 1 <= block <= count else 0
        fits = 1 <= low <= high <= abs(order) and (order > 0 or low == high) and 0 <= matrix <= m
        if fits and value and matrix >= first:
            row = table.setdefault((block, low - 1, high - 1), {})
            fits = row.setdefault(matrix - first, value) == value
        readable(fits or not value, f"the entry {[k for k, _ in line]} has no place, or two values")
    rows = [(*key, tuple(line), tuple(line.values())) for key, line in sorted(table.items())]
    inside = "sum x_i F_i positive definite and c'x < 0" if first else f"{MATRIX} definite"
    words = [f"SDPA's format, {m} matrices of order {sum(map(abs, orders))}", "x", inside]
    return System("sdpa", m + 1 - first, scale, blocks, rows, None if first else costs, words)


def require_definite(entries_of, factor, strict=True):
    """Require that M = {(row, column): value}, row <= column, is definite, or semidefinite."""
    # R_ii > sum_j |R_ij| for all i (or >=), R = 2^s M - LL', or M - 2^-s LL' for s < 0; the factor
    # holds s and the columns [rows, values] of L
    matrix = [{} for _ in range(1 + max(row for row, _ in entries_of))]
    for (row, column), value in entries_of.items():
        matrix[row][column] = matrix[column][row] = value
    shift, columns = whole(factor[0], -MOST, MOST), [entries(*x, len(matrix)) for x in factor[1:]]
    # A column of L is packed into one number, ``size`` bytes for each entry: a row of LL' is then
    # the sum of few products. Half of the range is added to each entry, so that none is negative.
    longest = max((abs(x).bit_length() for column in columns for x in column.values()), default=0)
    size = (2 * longest + len(columns).bit_length() + 8) // 8
    half, nothing, rows = 1 << 8 * size - 1, bytes(size - 1) + b"\x80", [[] for _ in matrix]
    for column in columns:
        packed = sum(value << 8 * size * i for i, value in column.items())
        for i, value in column.items():
            rows[i].append((value, packed))
    halves, length = int.from_bytes(nothing * len(matrix), "little"), size * len(matrix)
    for i, line in enumerate(matrix):
        product = sum((value * packed for value, packed in rows[i]), halves)
        content, left = product.to_bytes(length, "little"), 0
        parts = [content[at : at + size] for at in range(0, length, size)]
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
        t, square = scores[order - 1, order - 1], sum(x * x for x in scores.values())
        require(t >= 0 and 2 * t * t >= square + strict, "norm(u) <= t does not hold in a block")
    else:
        require(min(scores.values()) >= strict, "the score of a row is too low")


def element(block, weights):
    """Return the weights (i, j) -> number of an element w of a block's dual cone, and <e, w>."""
    kind, order = block
    if kind != "matrix":
        values = dict.fromkeys(range(order), 0) | entries(*weights, order)
        require_inside(kind, order, {(i, i): value for i, value in values.items()}, False)
        return lambda i, _: values[i], sum(values.values()) if kind == "rows" else values[order - 1]
    parts, rest, right = numbers(weights[0]), numbers(weights[1], order), weights[2:]
    right = [numbers(v, len(parts)) for v in right]  # w = V diag(parts) V' + diag(rest)
    require(min(parts + rest) >= 0, "a weight is negative")
    left = [list(map(mul, parts, v)) for v in right]
    own = [sum(map(mul, a, b)) + d for a, b, d in zip(left, right, rest, strict=True)]
    return lambda i, j: own[i] if i == j else 2 * sum(map(mul, left[i], right[j])), sum(own)


def check_claim(system, claim):
    """Check a claim that has just the keys that it needs, and return its sentence."""
    name, margin, (_, y, inside) = claim["claim"], claim.get("margin"), system.words
    names, sentence = CLAIMS[name].split("|")
    fields(claim, f"claim {names}")
    (p, q), sign = numbers(claim.get("bound", [0, 1]), 2), whole(claim.get("sign", 1), -1, 1)
    whole(claim.get("column", 0), 0, system.width - 1)
    rows = all(kind == "rows" for kind, _ in system.blocks)
    affine = system.form != "gram" and {abs(x[-1][-1]) for x in system.rows} == {system.scale}
    margins = [None, "directional", *["unit"] * rows, *["geometric"] * (rows and affine)]
    fits = sign and margin in margins and (system.form == "squares") == ("ratio" in name)
    fits = fits and (q > 0 or (q == 0 < p and name == "ratio at least"))  # 1 / 0: unbounded
    fits = fits and (rows or not ("column" in claim or name == "partition"))
    fits = fits and (system.objective or not ("closed" in name or "objective" in name))
    readable(fits, "no such claim of these data")
    zero = check_scores(system, claim, p, q, rows)
    rounded = (p * 10**20 + (q - 1) * ("most" in name)) // max(q, 1)  # down, or up
    bound = f"{p}/{q}" if max(abs(p), q) < 10**9 else f"{rounded}e-20"
    return sentence.format(**claim | {"y": y, "inside": inside, "bound": bound, "zero": zero})


def check_scores(system, claim, p, q, rows):
    """Check a claim by the scores A y of a point y, or by A'w = sum w_i a_i of weights w."""
    name, margin, gram, lines = claim["claim"], claim.get("margin"), system.form == "gram", []
    y = numbers(claim["point"], system.width) if "point" in claim else [0] * system.width
    weighted = zip(system.blocks, claim["weights"], strict=True) if "weights" in claim else ()
    elements, total = [element(*block) for block in weighted], [0] * system.width
    for b, row, column, columns, values in system.rows:
        weight = elements[b][0](row, column) if elements else 0
        for at, value in zip(columns, values, strict=True) if weight else ():
            total[at] += weight * value
        norm = system.scale**2
        if margin == "unit":
            norm = values[row] if gram else sum(map(mul, values, values))
        require(norm > 0, "a row is zero: there is no unit margin")
        score = sum(map(mul, values, map(y.__getitem__, columns)))
        lines.append((b, (row, column), score, norm, weight))
    mass, places = sum(e for _, e in elements), pairs(isqrt(2 * system.width))
    if "point" in claim and name not in ("partition", "ratio at least"):
        own = y[:-1] if margin == "geometric" else [line[2] for line in lines] if gram else y
        square, scores = sum(map(mul, own, y)), [{} for _ in system.blocks]
        require(square > 0, "the point is zero")
        # norm(y) <= length / 2^ROOT_BITS, or >= where p < 0: scores are p / q times as large
        length = isqrt(square << 2 * ROOT_BITS) + (p > 0)
        for b, (i, j), score, norm, _ in lines:
            kind, order = system.blocks[b]
            if margin and kind == "rows":  # without roots: score >= p / q norm(a) norm(y)
                score = score * abs(score) * q * q - p * abs(p) * norm * square
            elif margin:
                apex = i == j and (kind == "matrix" or i == order - 1)
                score = (score * q << ROOT_BITS) - apex * p * system.scale * length
            scores[b][i, j] = score
        matrices = [b for b, (kind, _) in enumerate(system.blocks) if kind == "matrix"]
        factors = dict(zip(matrices, claim.get("factors", []), strict=True))
        for b, (kind, order) in enumerate(system.blocks):  # closed: the first block alone is strict
            strict = not (margin or name == "sign occurs" or (b and "closed" in name))
            require_inside(kind, order, scores[b], strict, factors.get(b))
        require(name != "sign occurs" or y[claim["column"]] * claim["sign"] > 0, "another sign")
        if name == "objective at most":
            cost = sum(map(mul, system.objective, y[1:]))
            require(cost * q <= p * y[0] * system.scale, "the objective is too large")
    elif name == "ratio at least":  # E = (y + y') / 2 is semidefinite
        most, least = (max(s for c, _, s, *_ in lines if c == b) for b in (0, 1))
        require(least < 0 <= -q * least - (p + q) * most, "the ratio may be smaller")
        twice = {at: x << (at[0] == at[1]) for at, x in zip(places, y, strict=True)}
        require_definite(twice, claim["factor"], False)
    elif name == "ratio at most":  # Z = sum w xx' inside - sum w xx' outside is semidefinite
        (_, inside), (_, outside) = elements
        require(outside > 0 and q * inside <= (p + q) * outside, "the ratio may be larger")
        require_definite(dict(zip(places, total, strict=True)), claim["factor"], False)
    elif name == "sign excluded":  # 0 <= w'A y = (A'w)'y, of which one entry is left
        require(total.pop(claim["column"]) * claim["sign"] < 0 == any(total), "it may occur")
    elif "bound" not in claim:  # rows with weights are 0 where no score is negative
        require(mass > 0 and not any(total), "weights are zero, or the sum of rows is not")
        require("closed" not in name or lines[0][4] > 0, "x_0 has no weight")
        sides = all(s > 0 or s == 0 < w for _, _, s, _, w in lines)
        require(sides or "point" not in claim, "a row is on no side")
    elif name == "margin at most":
        roots = sum(w * isqrt(square << 2 * ROOT_BITS) for *_, square, w in lines)
        mass = roots if rows else mass * system.scale << ROOT_BITS
        require(margin != "geometric" or total.pop() == 0, "the classes' weights differ")
        own = [line[-1] for line in lines] if gram else total
        square = sum(map(mul, own, total)) * q * q << 2 * ROOT_BITS
        require(p >= 0 < mass and square <= p * p * mass * mass, "the margin may be larger")
    else:  # of W = w / unit, where <F_i, W> = c_i for all i: the objective is at least <F_0, W>
        unit = whole(claim["unit"], 1)
        require(total[1:] == [unit * c for c in system.objective], "an equation does not hold")
        require(-total[0] * q >= p * unit * system.scale, "the objective may be smaller")
    return [k for k, (_, _, s, *_) in enumerate(lines, system.form != "sdpa") if s == 0]


def check(certificate, path=None):
    """Return [(sentence, "" or why it is not proved), ...] of the files of these names."""
    # an object with a key twice becomes a list, which nothing takes for an object
    once = {"object_pairs_hook": lambda x: dict(x) if len(dict(x)) == len(x) else x}
    record = json.loads(Path(certificate).read_bytes().decode(), **once)
    form, version, data, claims = fields(record, "format version data claims")
    old = "no certificate of version 2; `plab certify ANSWER --output DIR` writes it"
    readable((form, version) == ("plab-certificate", 2) and claims, old)
    file, expected, *_ = fields(data, f"file sha256 form {FORMS[data['form']]}")
    path = Path(path or Path(certificate).with_name(file))
    readable(path.is_file(), f"no file {str(path)!a}; name the file of the data, {file!a}")
    content = path.read_bytes()
    digest, answers = hashlib.sha256(content).hexdigest(), []
    words = f"{path.name!a}, sha256 {digest}"
    require(digest == expected, f"it is about {file!a}, sha256 {expected!a}, and not {words}")
    system = (sdpa_system if data["form"] == "sdpa" else table_system)(content, data)
    words = f"{words}, {system.words[0]}"
    for claim in claims:
        try:
            answers.append((f"{check_claim(system, claim)}; {words}", ""))
        except Refuted as refuted:
            answers.append((f"{claim['claim']}; {words}", str(refuted)))
    return answers


def main(arguments):
    """Check the files of a command line, print what is proved, and return the exit code."""
    try:
        answers = check(*arguments)
    except Exception as error:
        word = "NOT PROVED" if type(error) is Refuted else f"UNREADABLE: {type(error).__name__}"
        sys.stdout.write(f"{word}: {ascii(str(error))[1:-1]}\n")
        return 1 if type(error) is Refuted else 2
    for words, reason in answers:
        sys.stdout.write(f"{f'NOT PROVED ({reason})' if reason else 'PROVED'}: {words}\n")
    return 1 if any(reason for _, reason in answers) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
