"""Check a certificate of perceptron_lab in whole numbers: python plab_check.py CERTIFICATE [DATA].

DATA is a file, or a folder of parts, or all of its parts. Exit code: 0 all claims are proved, 1
some is not, 2 a file cannot be read. Claims, printed as they were checked, are about "A y strictly
inside K", K a product of blocks: ``rows`` (scores > 0), ``second-order`` (norm(u) < t), ``matrix``
(definite). The data give D A in whole numbers, D > 0.
"""

import ast
import hashlib
import json
import re
import sys
from collections import deque, namedtuple
from functools import partial
from itertools import chain
from math import isqrt
from operator import lt, mul
from pathlib import Path

NUMBER = rb"[ \t]*+([+-]?)(?=\.?[0-9])([0-9]*+)\.?([0-9]*+)(?:[eEdD]([+-]?[0-9]{1,3}))?[ \t]*+"
# No name of a column is a number in any notation, signs and quotes aside, nor a missing one
NO_NAME = r"\W*+(\d.*|inf(inity)?|nan?|n/a|null|none)?\W*+|.*[\0-\x08\n-\x1f].*"
POSITIVE = "a'y > 0 for all rows a"
MATRIX = "F(x) = sum x_i F_i - F_0 positive"
# Bits of norms; against endless work: the largest number, that of margins and L, most products, s
ROOT_BITS, MOST, SHORT, FORMED, SHIFT = 64, 1 << (1 << 20), 1 << (1 << 13), 1 << 25, 1 << 16
# ``rows``: (block, row, column, columns, values), row <= column, of each score sum values[k]
# y[columns[k]] / scale; ``objective``: scale c; ``words``: the data, y, and A y strictly inside K
System = namedtuple("System", "form width scale blocks rows objective words")
Refuted = AssertionError  # no proof of the claim; what cannot be read is a ValueError, or another
# The forms of data, with the keys beside form, file and sha256; the claims, keys and sentences
FORMS = {"sdpa": "question", "table": "separator", "labelled": "separator column negative positive"}
FORMS |= {"cone": "blocks", "gram": "", "squares": "inside"}
CLAIMS = {
    "feasible": "point factors|some {y} has {in}",
    "closed feasible": f"point factors|some x has {MATRIX} semidefinite, matrix blocks definite",
    "infeasible": "weights|no {y} has {in}",
    "closed infeasible": f"weights|no x has {MATRIX} semidefinite",
    "margin at least": "margin bound point factors|the {margin} margin of {in} is >= {bound}",
    "margin at most": "margin bound weights|the {margin} margin of {in} is <= {bound}",
    "partition": "point weights|if no score is < 0, those of {zero} are 0, at some {y} no others",
    "sign occurs": "column sign point|some {y}, no score < 0, has sign {sign} in entry {column}",
    "sign excluded": "column sign weights|no {y}, no score < 0, has sign {sign} in entry {column}",
    "objective at most": "bound point factors|some x has {in} and c'x <= {bound}",
    "closed objective at most": f"bound point factors|c'x <= {{bound}} at x, {MATRIX} semidefinite",
    "closed objective unbounded": f"point ray|c'x is unbounded below, {MATRIX} semidefinite",
    "objective at least": f"bound unit weights|c'x >= {{bound}} if {MATRIX} semidefinite",
    "ratio at least": "bound point factor|the separation ratio is >= {bound}",
    "ratio at most": "bound weights factor|the separation ratio is <= {bound}",
}


def require(truth, reason, error=Refuted):
    """Refuse a proof without the truth that it needs; or, as ``readable``, a file."""
    if not truth:
        raise error(reason)


readable = partial(require, error=ValueError)


def whole(value, least=-MOST, most=MOST):
    """Return a whole number of a certificate: a JSON integer, or a text of hexadecimal digits."""
    value = int(value, 16) if type(value) is str and re.fullmatch("-?0x[0-9a-f]+", value) else value
    readable(type(value) is int and least <= value <= most, "a number is not whole, or too large")
    return value


def numbers(values, length=None, most=MOST):
    """Return a list of whole numbers of a certificate, of a length if one is needed."""
    readable(type(values) is list and length in (None, len(values)), f"no list of {length}")
    return [whole(value, -most, most) for value in values]


def entries(pair, order, most=MOST):
    """Return {place: number} of [places, numbers], the places increasing and below an order."""
    places, values = numbers(pair[0]), numbers(pair[1], None, most)
    readable(len(pair) == 2 and all(map(lt, [-1, *places], [*places, order])), "places do not rise")
    return dict(zip(places, values, strict=True))


def fields(record, names):
    """Return the values of an object that has just the keys of these names."""
    readable({*record} == {*names.split()}, f"other keys than {names}")
    return [record[name] for name in names.split()]


def decimal(text):
    """Return (m, e) with m 10^e a decimal as printed."""
    readable(match := re.fullmatch(NUMBER, text), f"{ascii(text)[:40]} is no decimal")
    sign, before, after, exponent = match.groups(b"0")
    return int(sign + before + after), int(exponent) - len(after)


def double(content):
    """Return (m, e) with m 2^e an IEEE number of 8 bytes, m odd or 0."""
    m, exponent = (code := int.from_bytes(content, "little")) % (1 << 52), code >> 52 & 2047
    readable(exponent < 2047, "an entry is infinite, or no number")
    m += (exponent > 0) << 52
    zeros = (m & -m).bit_length() - (m > 0)
    return (-1) ** (code >> 63) * (m >> zeros), max(exponent, 1) - 1075 + zeros


def scaled(table, base):
    """Return D times the numbers (m, e), m base^e; and D = base^k, the least that is enough."""
    k = max([0, *(-e for line in table for m, e in line if m)])
    return [[m and m * base ** (e + k) for m, e in line] for line in table], base**k


def text_table(contents, data):
    """Return the rows of texts, with labels those of s (x, 1); and words of data, y and A y."""
    texts = [x.decode("utf-8-sig").replace("\r\n", "\n").split("\n") for x in contents]
    parts = [[line.split(data["separator"]) for line in lines if line] for lines in texts]
    table = list(chain(*parts))
    fits = data["separator"] in (",", ";", "\t", " ") and len(set(map(len, table))) == 1
    readable(fits, "rows of several lengths, or none, or no separator")
    names = [] if any(re.fullmatch(NO_NAME, x, re.I) for x in table[0]) else table[0]
    if names:  # each part begins with them
        readable(all(part[:1] == [names] for part in parts), "parts with other names of columns")
        table = list(chain(*(part[1:] for part in parts)))
    words = [f"{len(table)} x {len(table[0])} fields of text after names {names!a}", "y", POSITIVE]
    more, signs = [], [1] * len(table)
    if data["form"] == "labelled":
        column, more = whole(data["column"], 0), [b"1"]
        low, high = data["negative"], data["positive"]
        signs = [[low, high].index(line.pop(column).strip(" \t")) * 2 - 1 for line in table]
        readable({*signs} == {-1, 1}, "labels of one class")
        words[0] += f", rows s (x, 1), s = 1 for {high!a}, -1 for {low!a} in column {column + 1}"
        words[1:] = "(w, b)", f"w'x + b > 0 for {high!a}, < 0 for {low!a}"
    table = [[decimal(x) for x in [*map(str.encode, line), *more]] for line in table]
    return [[(s * m, e) for m, e in x] for s, x in zip(signs, table, strict=True)], words


def array_table(content):
    """Return the rows of version 1.0 of numpy's format."""
    start = 10 + int.from_bytes(content[8:10], "little")
    header = content[10:start].decode("latin-1")
    kind, by_columns, shape = fields(ast.literal_eval(header), "descr fortran_order shape")
    count, width = map(whole, shape)
    fits = (content[:8], kind, header.count(":")) == (b"\x93NUMPY\x01\0", "<f8", 3)
    fits = fits and by_columns is False and shape == (count, width)
    readable(fits and len(content) == start + 8 * count * width, "no matrix of doubles by rows")
    flat = [double(content[at : at + 8]) for at in range(start, len(content), 8)]
    return [flat[at : at + width] for at in range(0, len(flat), width)]


def table_system(content, data, *more):
    """Return the system of a table, or its parts: rows, blocks of a cone, or products of rows."""
    form, text = data["form"], data["form"] in ("table", "labelled")
    if text:
        table, words = text_table((content, *more), data)
    else:
        table = list(chain(*map(array_table, (content, *more))))
        readable(len(set(map(len, table))) == 1, "parts of several widths, or no rows")
        words = [f"{len(table)} x {len(table[0])} doubles of numpy", "y", POSITIVE]
    table, scale = scaled(table, 10 if text else 2)
    blocks, width = [("rows", len(table))], len(table[0])
    if form == "cone":
        readable([*map(list, data["blocks"])] == data["blocks"], "no list of blocks")
        blocks = [(kind, whole(order, 1)) for kind, order in data["blocks"]]
        words[2] = f"A y strictly inside the cone of {', '.join(f'{k} {n}' for k, n in blocks)}"
    elif form == "squares":  # rows are x'Ex inside, in block 0, and -x'Ex outside, in block 1
        readable(len(table) * width**2 <= FORMED, "too many products of entries")
        inside, places = whole(data["inside"], 1, len(table) - 1), pairs(width, width)
        blocks, width = [("rows", inside), ("rows", len(table) - inside)], len(places)
        table = [[x[i] * x[j] for i, j in places] for x in table]
        table[inside:] = [[-value for value in line] for line in table[inside:]]
        words[0] += f", of which the first {inside} are inside"
    elif form == "gram":
        fits = all(x[i] >= 0 and x == [a[i] for a in table] for i, x in enumerate(table))
        readable(fits, "inner products are symmetric, of all with all")
        words[2] = f"<a, y> > 0 for all {width} features a"
    sizes = ({"rows": k, "second-order": k, "matrix": k * (k + 1) // 2}[kind] for kind, k in blocks)
    readable(sum(sizes) == len(table), "blocks that are not those of the rows")
    places = [(b, *at) for b, (x, k) in enumerate(blocks) for at in pairs(k, k ** (x == "matrix"))]
    rows = [(*at, range(width), line) for at, line in zip(places, table, strict=True)]
    return System(form, width, scale, blocks, rows, None, words)


def pairs(order, width):
    """Return the places (i, j) of a matrix above its diagonal, i <= j < i + width."""
    return [(i, j) for i in range(order) for j in range(i, min(i + width, order))]


def sdpa_system(content, data):
    """Return the system of an SDPA file, its decimals as printed; diagonal blocks are rows."""
    lines = deque(content.translate(bytes.maketrans(b",(){}", b"     ")).split(b"\n"))
    while not lines[0].strip() or lines[0].lstrip()[:1] in (b'"', b"*"):
        lines.popleft()
    m, count = (int(re.match(rb"\s*\+?[0-9]+(?![\w.])", lines.popleft())[0]) for _ in "mn")
    for numbers_of, length in ((orders := [], count), (costs := [], m)):
        while len(numbers_of) < length:  # what follows the last one on its line is a remark
            numbers_of += map(decimal, lines.popleft().split()[: length - len(numbers_of)])
    table = list(map(decimal, b" ".join(lines).split()))
    places = [table[at : at + 4] for at in range(0, len(table), 5)]
    fits = m and len(table) % 5 == 0 == any(e for line in [orders, *places] for _, e in line)
    orders, size = [k for k, _ in orders], sum(abs(k) for k, _ in orders)
    readable(fits and 0 < size <= len(content), "the file is not complete")
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
        fits = not value
        if 1 <= low <= high <= abs(order) and (order > 0 or low == high) and 0 <= matrix <= m:
            row = table.setdefault((block, low - 1, high - 1), {})
            fits = row.setdefault(matrix - first, value) == value
        readable(fits, f"the entry {[k for k, _ in line]} has no place, or two values")
    used = [(at, [x for x in line.items() if x[0] >= 0]) for at, line in table.items()]
    rows = [(*at, *([x[k] for x in line] for k in (0, 1))) for at, line in used]
    inside = "sum x_i F_i positive definite and c'x < 0" if first else f"{MATRIX} definite"
    words = [f"SDPA's format, {data['question']}, {m} matrices of order {size}", "x", inside]
    return System("sdpa", m + 1 - first, scale, blocks, rows, costs * (1 - first), words)


def require_definite(entries_of, factor, strict=True):
    """Require that M = {(row, column): value}, row <= column, is definite, or semidefinite."""
    # R_ii > sum_j |R_ij| for all i (or >=), R = 2^s M - LL', or M - 2^-s LL' for s < 0
    matrix = [{} for _ in range(1 + max(row for row, _ in entries_of))]
    for (row, column), value in entries_of.items():
        matrix[row][column] = matrix[column][row] = value
    shift = whole(factor[0], -SHIFT, SHIFT)
    columns = [entries(column, len(matrix), SHORT) for column in factor[1:]]
    # A column of L is packed into one number, ``size`` bytes for each entry: a row of LL' is then
    # the sum of few products. Half of the range is added to each entry, so that none is negative.
    longest = max((x.bit_length() for column in columns for x in column.values()), default=0)
    readable(longest <= 256 or longest * len(matrix) ** 2 <= FORMED << 8, "a factor is too long")
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


def element(kind, order, weights):
    """Return the weights (i, j) -> number of an element w of a block's dual cone, and <e, w>."""
    if kind != "matrix":
        values = dict.fromkeys(range(order), 0) | entries(weights, order)
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
    name, margin, words = claim["claim"], claim.get("margin", "directional"), system.words
    names, sentence = CLAIMS[name].split("|")
    fields(claim, f"claim {names}")
    p, q = numbers(claim.get("bound", [0, 1]), 2, SHORT if "margin" in claim else MOST)
    sign, column = whole(claim.get("sign", 1)), whole(claim.get("column", 0), 0)
    rows = all(kind == "rows" for kind, _ in system.blocks)
    plain = rows and system.form in ("table", "labelled", "cone")
    affine = plain and {abs(x[-1][-1]) for x in system.rows} == {system.scale}
    margins = ["directional", *["unit"] * rows, *["geometric"] * affine]
    fits = type(claim.get("factors", [])) is list and (rows or name != "partition")
    fits = fits and abs(sign) == 1 and (plain or "column" not in claim)
    fits = fits and (system.form == "squares") == ("ratio" in name) and margin in margins
    fits = fits and (q > 0 or [name, p, q] == ["ratio at least", 1, 0])  # 1 / 0: unbounded
    fits = fits and (system.objective or not ("closed" in name or "objective" in name))
    readable(fits, "no such claim of these data")
    zero = check_scores(system, claim | {"sign": sign, "column": column}, p, q, rows)
    k = 20 + 3 * (q.bit_length() - p.bit_length()) // 10
    up, down = p * 10 ** max(k, 0), max(q, 1) * 10 ** max(-k, 0)
    rounded = (up + (down - 1) * ("most" in name)) // down  # down, or up
    bound = f"{p}/{q}" if max(abs(p), q) < 10**9 else f"{rounded}e{-k}"
    return sentence.format(**claim | {"bound": bound, "zero": zero, "y": words[1], "in": words[2]})


def check_scores(system, claim, p, q, rows):
    """Check a claim by the scores A y of a point y, or by A'w = sum w_i a_i of weights w."""
    name, margin, gram, lines = claim["claim"], claim.get("margin"), system.form == "gram", []
    y = numbers(claim.get("point", [0] * system.width), system.width, SHORT if margin else MOST)
    weighted = zip(system.blocks, claim["weights"], strict=True) if "weights" in claim else ()
    elements, total = [element(*block, w) for block, w in weighted], [0] * system.width
    for b, row, column, columns, values in system.rows:
        weight = elements[b][0](row, column) if elements else 0
        for at, value in zip(columns, values, strict=True) if weight else ():
            total[at] += weight * value
        norm = system.scale ** (2 - gram)
        if margin == "unit":
            norm = values[row] if gram else sum(map(mul, values, values))
        require(norm > 0, "a row is zero: there is no unit margin")
        score = sum(map(mul, values, map(y.__getitem__, columns)))
        lines.append((b, (row, column), score, norm, weight))
    mass, places = sum(e for _, e in elements), pairs(*[isqrt(2 * system.width)] * 2)
    if "point" in claim and name not in ("partition", "ratio at least"):
        own = y[:-1] if margin == "geometric" else [line[2] for line in lines] if gram else y
        square, scores = sum(map(mul, own, y)), [{} for _ in system.blocks]
        require(square > 0, "the point is zero")
        # norm(y) <= length / 2^ROOT_BITS, or >= where p < 0: scores are p / q times as large
        length = isqrt(square << 2 * ROOT_BITS) + (p > 0) if margin else 0
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
        if name in ("objective at most", "closed objective at most"):
            require(sum(map(mul, system.objective, y[1:])) * q <= p * y[0] * system.scale, "c'x")
        if "ray" in claim:  # x + t r stays in the set, c'r < 0; of rows: matrices need factors
            ray = [0, *numbers(claim["ray"], system.width - 1)]
            gains = [sum(map(mul, row[4], map(ray.__getitem__, row[3]))) for row in system.rows]
            require(min(gains) >= 0 > sum(map(mul, system.objective, ray[1:])), "c'x along the ray")
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
        first = lines[0][4] if "closed" in name else mass  # the weight of x_0, or of any
        require(first > 0 and not any(total), "weights are zero, or the sum of rows is not")
        require(name != "partition" or all(s > 0 or s == 0 < w for *_, s, _, w in lines), "a side")
    elif name == "margin at most":
        roots = sum(w * isqrt(square << 2 * ROOT_BITS) for *_, square, w in lines)
        mass, norm = (roots, 1) if margin == "unit" else (mass << ROOT_BITS, lines[0][3])
        require(margin != "geometric" or total.pop() == 0, "the classes' weights differ")
        own = [line[-1] for line in lines] if gram else total
        square = sum(map(mul, own, total)) * q * q << 2 * ROOT_BITS
        require(p >= 0 < mass and square <= (p * mass) ** 2 * norm, "the margin may be larger")
    else:  # of W = w / unit, where <F_i, W> = c_i for all i: the objective is at least <F_0, W>
        unit = whole(claim["unit"], 1)
        require(total[1:] == [unit * c for c in system.objective], "an equation does not hold")
        require(-total[0] * q >= p * unit * system.scale, "the objective may be smaller")
    return [k for k, (_, _, s, *_) in enumerate(lines, system.form != "sdpa") if s == 0]


def parts_of(file, expected, paths):
    """Return the contents of the parts of data, {name: sha256}, in this order; and words."""
    paths = chain(*(path.iterdir() if path.is_dir() else [path] for path in paths))
    content = {x.name: x.read_bytes() for x in paths if x.name[0] not in "._"}  # as ``_SUCCESS``
    digests = {name: hashlib.sha256(part).hexdigest() for name, part in content.items()}
    for name in [*expected, *digests]:
        fault = "changed" if name in digests else "missing"
        fault = f"{name!a} of {file!a} is {fault if name in expected else 'additional'}"
        require(digests.get(name) == expected.get(name), f"the part {fault}")
    listing = "".join(f"{digests[name]}  {name}\n" for name in expected).encode()
    words = f"{len(content)} parts of {file!a}, of sha256 {hashlib.sha256(listing).hexdigest()}"
    return [content[name] for name in expected], words


def check(certificate, *paths, prove=check_claim):
    """Return [(sentence, "" or why it is not proved), ...] of the files of these names."""
    once = {"object_pairs_hook": lambda x: readable(len(dict(x)) == len(x), "key twice") or dict(x)}
    record = json.loads(Path(certificate).read_bytes().decode(), **once)
    form, version, data, claims = fields(record, "format version data claims")
    fits = form == "plab-certificate" and whole(version) == 2 and claims
    readable(fits, "no claims of version 2; `plab certify ANSWER --into DIR` writes them")
    file, expected, *_ = fields(data, f"file sha256 form {FORMS[data['form']]}")
    paths, answers = list(map(Path, paths or [Path(certificate).with_name(file)])), []
    if type(expected) is dict:
        contents, words = parts_of(file, expected, paths)
    else:
        [path] = paths
        fits = type(file) is type(expected) is str and path.is_file()
        readable(fits, f"no file {str(path)!a}; name the file of the data, {file!a}")
        contents = [path.read_bytes()]
        words = f"{path.name!a}, sha256 {(digest := hashlib.sha256(*contents).hexdigest())}"
        require(digest == expected, f"it is about {file!a}, sha256 {expected!a}, and not {words}")
    read = sdpa_system if data["form"] == "sdpa" else table_system
    system = read(contents[0], data, *contents[1:])
    for claim in claims:
        try:
            answers.append((f"{prove(system, claim)}; {words}, {system.words[0]}", ""))
        except Refuted as refuted:
            answers.append((f"{claim['claim']}; {words}", str(refuted)))
    return answers


def main(arguments, prove=check_claim):
    """Check the files of a command line, print what is proved, and return the exit code."""
    try:
        answers = check(*arguments, prove=prove)
    except Exception as error:
        word = "NOT PROVED" if type(error) is Refuted else f"UNREADABLE: {type(error).__name__}"
        sys.stdout.write(f"{word}: {ascii(str(error))[1:-1]}\n")
        return 1 if type(error) is Refuted else 2
    for words, reason in answers:
        sys.stdout.write(f"{f'NOT PROVED ({reason})' if reason else 'PROVED'}: {words}\n")
    return int(any(reason for _, reason in answers))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
