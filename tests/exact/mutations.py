"""Changes of certificates: those that may make them false or no certificates, and harmless ones.

A change is a function of an example and a generator; it returns another example, or the texts of
one whose JSON no dictionary can express.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from tests.exact.small_certificates import Example, Record, saved, small_certificate

Path = tuple[Any, ...]
Change = Callable[[Example, random.Random], Example]
TextChange = Callable[[str, random.Random], str]
LONG = "9" * 5000  # more digits than Python reads
LONG_TEXT = "a number of five thousand digits"

VALUES: tuple[Any, ...] = (
    *(True, False, None, 0, 1, -1, 2, 10**9, 10**11, -(10**11), 2**17 + 1, 2**22 + 1, 10**400),
    *(0.0, 1.0, 1.5, -1.0, 1e3, 1e300, "", "1", "-1", "0x1", "-0x1", "0x0", "-0x0", "0x00", "0X1"),
    *("0x", "0xg", "0xA", "0x1_0", " 0x1", "0x1 ", "+0x1", "0x-1", "--0x1", "٣", "0x٣", "１", "x"),
    *("0x" + "f" * 5000, "0x1" + "0" * 400_000, [], {}, [1], [[]], [[], []], {"claim": 1}, [0, 1]),
    *(LONG_TEXT, "rows", "matrix", "second-order", "unit", "directional", "geometric", "sdpa"),
    *("table", "labelled", "cone", "gram", "squares", "feasibility", "recession", ",", "\t", "; "),
    *("../data", "/etc/passwd", ".", "data\0", "\ud800", "\u202e", "{inside}", "{0}", "%s", "\n"),
)
KEYS = (
    *("digits", "bits", "width", "skip", "kind", "closed", "order", "cone", "labels", "unit"),
    *("margin", "bound", "weights", "point", "factors", "factor", "column", "sign", "blocks"),
    *("inside", "separator", "question", "negative", "positive", "form", "", "claim", "__class__"),
    "ray",
)
CLAIMS = (
    *("feasible", "closed feasible", "infeasible", "closed infeasible", "margin at least"),
    *("margin at most", "partition", "sign occurs", "sign excluded", "objective at most"),
    *("closed objective at most", "closed objective unbounded", "Closed objective unbounded"),
    *("objective at least", "ratio at least", "ratio at most", "Feasible", "feasible ", "true"),
)
NAMES: tuple[str, ...] = (
    "a",
    "1",
    '"1"',
    "'2",
    "−1",
    "(1)",
    "nan",
    "-inf",
    "NULL",
    "?",
    "x1",
    "1e5",
    "٣",
    "é",
    "",
)
NAMES += ("a\rb", "\x0bc", "a\x00", "_1", "$5", "½", "N/A", "none", "name", "# 1", "true", "²")


def paths(value: Any, at: Path = ()) -> Iterator[Path]:
    """Yield the places of all values in a record."""
    if isinstance(value, dict | list):
        for name, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*at, name)
            yield from paths(child, (*at, name))


def at_path(record: Any, path: Path) -> Any:
    for step in path:
        record = record[step]
    return record


def with_value(record: Any, path: Path, value: Any) -> Any:
    """Return a copy with another value at a place."""
    copy = deepcopy(record)
    at_path(copy, path[:-1])[path[-1]] = value
    return copy


def of_kind(example: Example, kind: type, rng: random.Random) -> Path | None:
    candidates = [
        path for path in paths(example.record) if type(at_path(example.record, path)) is kind
    ]
    return rng.choice(candidates) if candidates else None


# Changes of the record


def replaced(example: Example, rng: random.Random, path: Path | None, value: Any) -> Example:
    if path is None:
        return example
    return Example(with_value(example.record, path, value), example.content)


def other_value(example: Example, rng: random.Random) -> Example:
    path = rng.choice(list(paths(example.record)))
    return replaced(example, rng, path, rng.choice(VALUES))


def other_number(example: Example, rng: random.Random) -> Example:
    path = of_kind(example, int, rng)
    if path is None:
        return example
    old = at_path(example.record, path)
    approximate = (
        old + rng.choice((-1, 1)),
        -old,
        2 * old,
        old * 10 ** rng.randrange(30),
        0,
        hex(old),
    )
    if abs(old) < 10**300:
        approximate += (old**3, float(old), str(old), bool(old))
    return replaced(example, rng, path, as_json(rng.choice(approximate)))


def as_json(value: Any) -> Any:
    """Return a value, in hexadecimal digits if it is a number that JSON cannot write."""
    return hex(value) if type(value) is int and abs(value) > 10**4000 else value


def from_elsewhere(example: Example, rng: random.Random) -> Example:
    """Put a value of the record, or of another certificate, at the place of another one."""
    other = rng.choice((example, small_certificate(rng))).record
    value = at_path(other, rng.choice(list(paths(other))))
    return replaced(example, rng, rng.choice(list(paths(example.record))), value)


def other_length(example: Example, rng: random.Random) -> Example:
    """Repeat, leave out, insert or move members of a list."""
    path = of_kind(example, list, rng)
    if path is None:
        return example
    members = list(at_path(example.record, path))
    at = rng.randrange(len(members) + 1)
    kind = rng.randrange(5)
    if kind == 0:
        members[at : at + 1] = []
    elif kind == 1:
        members[at:at] = members[at : at + 1] or [0]
    elif kind == 2:
        members.insert(at, rng.choice(VALUES))
    elif kind == 3:
        rng.shuffle(members)
    else:
        members = members[::-1]
    return replaced(example, rng, path, members)


def without_key(example: Example, rng: random.Random) -> Example:
    path = of_kind(example, dict, rng)
    if path is None or not at_path(example.record, path):
        return example
    fields = dict(at_path(example.record, path))
    del fields[rng.choice(list(fields))]
    return replaced(example, rng, path, fields)


def further_key(example: Example, rng: random.Random) -> Example:
    path = of_kind(example, dict, rng)
    if path is None:
        return example
    fields = dict(at_path(example.record, path))
    return replaced(example, rng, path, fields | {rng.choice(KEYS): rng.choice(VALUES)})


def other_key(example: Example, rng: random.Random) -> Example:
    path = of_kind(example, dict, rng)
    if path is None or not at_path(example.record, path):
        return example
    fields = dict(at_path(example.record, path))
    old = rng.choice(list(fields))
    fields[rng.choice((*KEYS, old.upper(), old + " "))] = fields.pop(old)
    return replaced(example, rng, path, fields)


def claim_of(example: Example, rng: random.Random) -> int | None:
    claims = example.record.get("claims")
    if not isinstance(claims, list) or not claims:
        return None
    number = rng.randrange(len(claims))
    return number if isinstance(claims[number], dict) else None


def other_claim(example: Example, rng: random.Random) -> Example:
    number = claim_of(example, rng)
    if number is None:
        return example
    return replaced(example, rng, ("claims", number, "claim"), rng.choice(CLAIMS))


def other_margin(example: Example, rng: random.Random) -> Example:
    number = claim_of(example, rng)
    if number is None or "margin" not in example.record["claims"][number]:
        return other_claim(example, rng)
    kinds = "unit", "directional", "geometric", None, "None", "", 0
    return replaced(example, rng, ("claims", number, "margin"), rng.choice(kinds))


def other_bound(example: Example, rng: random.Random) -> Example:
    number = claim_of(example, rng)
    if number is None or "bound" not in example.record["claims"][number]:
        return other_number(example, rng)
    pairs = [1, 0], [0, 0], [-1, 0], [1, -1], [5, 1], [10**6, 1], [-1, 1], [-999, 1000], [0, 1]
    large = [10**5000, 1], [1, 10**4200], [2**9000, 1], [0, 2**8193], ["0x1", "0x2"], [2, 0]
    bound = rng.choice((*pairs, *large))
    return replaced(example, rng, ("claims", number, "bound"), [as_json(part) for part in bound])


def other_blocks(example: Example, rng: random.Random) -> Example:
    """Change the blocks of the data, and perhaps the weights with them."""
    data = example.record.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("blocks"), list) or not data["blocks"]:
        return other_form(example, rng)
    blocks = deepcopy(data["blocks"])
    number = rng.randrange(len(blocks))
    orders = 0, -1, 1, 2, 3, 2**17, 10**9, True, "0x2", 1.0
    kinds = "rows", "second-order", "matrix", "row", "Rows", None
    further = [rng.choice(kinds), rng.choice(orders)]
    changed = rng.choice(
        (
            [*blocks, further],
            blocks[:number] + blocks[number + 1 :],
            [*blocks[:number], further, *blocks[number + 1 :]],
            [*blocks, blocks[number]],
            [[["rows", 1], *blocks], {"rows": 1}, "rows"][rng.randrange(3)],
            [{str(kind): 1, "0x1": 2} for kind, *_ in [further]],
        )
    )
    return replaced(example, rng, ("data", "blocks"), changed)


def other_form(example: Example, rng: random.Random) -> Example:
    """Call the data by another form, with the keys of that."""
    data = example.record.get("data")
    if not isinstance(data, dict):
        return example
    data_ = {name: data[name] for name in ("file", "sha256") if name in data}
    rows = rng.randrange(1, 6)
    forms: tuple[Record, ...] = (
        {"form": "sdpa", "question": rng.choice(("feasibility", "recession", "closed"))},
        {"form": "table", "separator": rng.choice((",", ";", "\t", " ", "", "1", ".", "ab"))},
        {"form": "labelled", "separator": ",", "column": rng.randrange(-1, 3)}
        | {"negative": rng.choice(("-1", "0", "no")), "positive": rng.choice(("1", "yes", "no"))},
        {"form": "cone", "blocks": [["rows", rows]]},
        {"form": "cone", "blocks": [["matrix", rng.randrange(1, 4)]]},
        {"form": "cone", "blocks": [["second-order", rows]]},
        {"form": "gram"},
        {"form": "squares", "inside": rng.randrange(0, 4)},
    )
    return replaced(example, rng, ("data",), data_ | rng.choice(forms))


def version_one(example: Example, rng: random.Random) -> Example:
    return Example(
        example.record | {"version": rng.choice((1, 3, 2.0, "2", True))}, example.content
    )


def other_sha256(example: Example, rng: random.Random) -> Example:
    if not isinstance(example.record.get("data"), dict):
        return example
    old = str(example.record["data"].get("sha256"))
    sums = old.upper(), old[:-1], "0" * 64, "", None, old + " ", {"a": 1}
    return replaced(example, rng, ("data", "sha256"), rng.choice(sums))


# Changes of the data, whose sha256 is that of the changed ones


def other_byte(example: Example, rng: random.Random) -> Example:
    content = bytearray(example.content)
    if not content:
        return example
    at = rng.randrange(len(content))
    kind = rng.randrange(4)
    if kind == 0:
        content[at] = rng.randrange(256)
    elif kind == 1:
        del content[at]
    elif kind == 2:
        content[at:at] = rng.choice((b"\r", b"\n", b" ", b"0", b"-", b".", b"\0", b"\x0b", b"\xff"))
    else:
        content[at] ^= 1 << rng.randrange(8)
    return example.with_content(bytes(content))


def other_line(example: Example, rng: random.Random) -> Example:
    """Repeat, leave out, move or change a line of a text."""
    lines = example.content.split(b"\n")
    at = rng.randrange(len(lines))
    further = (b"0,0", b"", b" ", b"0 1 1 1 1", b"1 1 1 1 0", b"9 9 9 9 0", b'"note"', b"* note")
    kind = rng.randrange(5)
    if kind == 0:
        lines[at : at + 1] = []
    elif kind == 1:
        lines.insert(at, lines[at])
    elif kind == 2:
        lines.insert(at, rng.choice(further))
    elif kind == 3:
        lines[at] = b"-" + lines[at]
    else:
        lines[at : at + 1] = [re.sub(rb"[1-9]", b"0", lines[at])]
    return example.with_content(b"\n".join(lines))


NUMBERS = (
    *(
        b"1e999999999",
        b"1e-999999999",
        b"1e1000",
        b"1e999",
        b"1e-999",
        b"9" * 4301,
        b"0." + b"1" * 4300,
    ),
    *(b"nan", b"inf", b"-inf", b"1_0", b"0x10", b"1..2", b"1e", b"+-1", b"1d2", b"1.", b".5", b"."),
    *(
        "٣".encode(),
        "１".encode(),
        "−1".encode(),
        b"1 2",
        b'"1"',
        b"True",
        b"0",
        b"-0",
        b"1e0",
        b"00",
    ),
)


def other_field(example: Example, rng: random.Random) -> Example:
    """Put another text at the place of a number of a text."""
    numbers = list(re.finditer(rb"[-+.0-9eEdD]+", example.content))
    if not numbers:
        return other_byte(example, rng)
    match = rng.choice(numbers)
    content = (
        example.content[: match.start()] + rng.choice(NUMBERS) + example.content[match.end() :]
    )
    return example.with_content(content)


def other_ends(example: Example, rng: random.Random) -> Example:
    """Change the ends of lines, or what stands before the first one."""
    end = rng.choice((b"\r", b"\r\n", b"\n\n", b"\n\r", b"\x0b", b"\x85", "\u2028".encode(), b"\n"))
    before = rng.choice((b"", b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\n", b" ", b"# x\n"))
    body = example.content.replace(b"\r\n", b"\n")
    count = rng.choice((-1, 1))
    return example.with_content(before + body.replace(b"\n", end, count))


def further_header(example: Example, rng: random.Random) -> Example:
    """Put a line of names, or of what is none, before a text."""
    data = example.record.get("data")
    separator = data.get("separator") if isinstance(data, dict) else None
    if not isinstance(separator, str) or len(separator) != 1:
        return other_line(example, rng)
    first = example.content.split(b"\n")[0]
    count = first.count(separator.encode()) + rng.choice((1, 1, 1, 0, 2))
    line = separator.join(rng.choice(NAMES) for _ in range(count))
    return example.with_content(line.encode() + b"\n" + example.content)


def other_header(example: Example, rng: random.Random) -> Example:
    """Change the header of a matrix in numpy's format."""
    if not example.content.startswith(b"\x93NUMPY"):
        return other_ends(example, rng)
    length = int.from_bytes(example.content[8:10], "little")
    header, body = example.content[10 : 10 + length], example.content[10 + length :]
    changes = (
        (rb"False", rng.choice((b"True", b"0", b"None", b"'False'"))),
        (rb"'<f8'", rng.choice((b"'>f8'", b"'<f4'", b"'<i8'", b"'|V8'", b"'f8'", b'"<f8"'))),
        (
            rb"\((\d+), (\d+)\)",
            rng.choice((rb"(\2, \1)", rb"[\1, \2]", rb"(\1, \2, 1)", rb"(\1,)")),
        ),
        (rb"\((\d+), (\d+)\)", rng.choice((rb"('0x\1', \2)", rb"(\1.0, \2)", rb"(True, \2)"))),
        (rb"\{", b"{'shape': (1, 1), "),
        (rb"\}", rng.choice((b"'fortran_order': True, }", b"'x': 1, }", b"} # 'shape': (1, 1)"))),
        (rb"'shape'", rng.choice((b"'Shape'", b"b'shape'", b"'sha' 'pe'", b'"shape"'))),
        (rb", \}", rng.choice((b"}", b"} ", b",} ", b", }\n\n"))),
    )
    pattern, text = rng.choice(changes)
    header = re.sub(pattern, text, header.rstrip(), count=1)
    header += b" " * (-(len(header) + 11) % 64) + rng.choice((b"\n", b"\n", b" ", b""))
    magic = rng.choice((b"\x93NUMPY\x01\x00",) * 8 + (b"\x93NUMPY\x02\x00", b"\x93NUMPX\x01\x00"))
    body += rng.choice((b"",) * 8 + (b"\0" * 8, b"\0"))
    return example.with_content(magic + len(header).to_bytes(2, "little") + header + body)


def other_rows(example: Example, rng: random.Random) -> Example:
    """Save other entries: a row of zeros, NaN, one that is repeated, or no row."""
    if not example.content.startswith(b"\x93NUMPY"):
        return other_field(example, rng)
    special = 0.0, -0.0, float("nan"), float("inf"), 5e-324, 1e308, 0.5, -1.0, 1.0
    shape = rng.randrange(0, 5), rng.randrange(0, 4)
    rows = [[rng.choice(special) for _ in range(shape[1])] for _ in range(shape[0])]
    return example.with_content(saved(rows))


RECORD: tuple[Change, ...] = (
    *(other_value, other_number, from_elsewhere, other_length, without_key, further_key, other_key),
    *(other_claim, other_margin, other_bound, other_blocks, other_form, version_one, other_sha256),
)
DATA: tuple[Change, ...] = (
    *(other_byte, other_line, other_field, other_ends, further_header, other_header, other_rows),
)


# Changes of the text of the certificate


def twice_a_key(text: str, rng: random.Random) -> str:
    """Write a key of some object twice, with the same value or another one."""
    keys = list(re.finditer(r'"([a-z0-9]*)": ("[^"]*"|-?\d+|\[[^\[\]]*\])', text))
    if not keys:
        return text
    match = rng.choice(keys)
    value = rng.choice((match[2], "0", "null", '"x"'))
    return text[: match.start()] + f'"{match[1]}": {value}, ' + text[match.start() :]


def object_for_list(text: str, rng: random.Random) -> str:
    """Write a list as an object with a key twice."""
    pairs = list(re.finditer(r"\[([^\[\]]*|\[[^\[\]]*\])\]", text))
    if not pairs:
        return text
    match = rng.choice(pairs)
    value = rng.choice(('{"rows": 1, "rows": 2}', '{"0x0": [[], []], "0x0": [[], []]}', "{}", '""'))
    return text[: match.start()] + value + text[match.end() :]


def other_digits(text: str, rng: random.Random) -> str:
    """Write a number in a way that JSON does not know, or as no whole one."""
    numbers = list(re.finditer(r"(?<=[\[ ])-?\d+(?=[,\]}])", text))
    if not numbers:
        return text
    match = rng.choice(numbers)
    old = match[0]
    ways: tuple[str, ...] = (
        f"{old}.0",
        f"{old}e0",
        f"+{old}",
        f"0{old}",
        f"{old}E+0",
        f"{old}.",
        "NaN",
        "Infinity",
    )
    ways += ("-0", "1e999999999", LONG, f'"{hex(int(old))}"', "٣", f"0x{old}", f"{old}L", "1_0")
    return text[: match.start()] + rng.choice(ways) + text[match.end() :]


def other_frame(text: str, rng: random.Random) -> str:
    """Put something around the text, or leave out its end."""
    ways = "\ufeff" + text, text + " {}", text + "\0", "[" + text + "]", text[:-1], text + "x"
    return rng.choice((*ways, "[" * 100_000, "// x\n" + text, text.replace('"', "'"), ""))


TEXT: tuple[TextChange, ...] = (twice_a_key, object_for_list, other_digits, other_frame)


def written(example: Example) -> str:
    text = json.dumps(example.record)
    return text.replace(f'"{LONG_TEXT}"', LONG)


def forgery(rng: random.Random) -> tuple[bytes, bytes]:
    """Return the bytes of a certificate after one to three changes, and of its data."""
    example = small_certificate(rng)
    text_change = None
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kind = rng.random()
        if kind < 0.15:
            text_change = rng.choice(TEXT)
        else:
            example = rng.choice(RECORD if kind < 0.65 else DATA)(example, rng)
    text = written(example)
    if text_change is not None:
        text = text_change(text, rng)
    return text.encode("utf-8", "surrogatepass"), example.content


def single_change(rng: random.Random) -> tuple[bytes, bytes]:
    """Return the bytes of a certificate after one change of its record or data."""
    example = rng.choice(RECORD + DATA)(small_certificate(rng), rng)
    return written(example).encode("utf-8", "surrogatepass"), example.content


# Harmless changes


def longer(example: Example, rng: random.Random) -> Example:
    """Multiply a point, or weights of rows, by a positive number."""
    copy = deepcopy(example)
    for claim in copy.record["claims"]:
        factor = rng.choice((1, 2, 3, 10**6, 2**100))
        if "point" in claim and not claim.get("factors") and "factor" not in claim:
            claim["point"] = [factor * entry for entry in claim["point"]]
        of_rows = all(len(part) == 2 for part in claim.get("weights", [[]]))
        if of_rows and "factor" not in claim and "unit" not in claim:
            claim["weights"] = [[p, [factor * w for w in v]] for p, v in claim["weights"]]
    return copy


def with_zeros(example: Example, rng: random.Random) -> Example:
    """List a row of weight 0, at its place."""
    copy = deepcopy(example)
    for claim in copy.record["claims"]:
        for part in claim.get("weights", []):
            if len(part) == 2 and part[0] and part[0][0] > 0:
                part[0].insert(0, 0)
                part[1].insert(0, 0)
    return copy


def in_hexadecimal(example: Example, rng: random.Random) -> Example:
    path = of_kind(example, int, rng)
    assert path is not None
    return replaced(example, rng, path, hex(at_path(example.record, path)))


def other_claims(example: Example, rng: random.Random) -> Example:
    """Leave out, repeat and move claims."""
    claims = example.record["claims"]
    return Example(
        example.record | {"claims": rng.choices(claims, k=rng.randint(1, 3))}, example.content
    )


def other_order(example: Example, rng: random.Random) -> Example:
    """Write keys in another order."""
    claims = [
        dict(rng.sample(list(claim.items()), len(claim))) for claim in example.record["claims"]
    ]
    record = example.record | {"claims": claims}
    return Example(dict(rng.sample(list(record.items()), len(record))), example.content)


def weaker(example: Example, rng: random.Random) -> Example:
    """Claim less: a smaller lower bound, or a larger upper one."""
    copy = deepcopy(example)
    for claim in copy.record["claims"]:
        p, q = claim.get("bound", (0, 0))
        matrices = claim.get("factors") and "margin" in claim  # their factor is one of the bound
        if q and not matrices:
            step = rng.choice((1, 5, 10**9)) * (1 if "most" in claim["claim"] else -1)
            claim["bound"] = [p + step, q]
    return copy


def further_blank(example: Example, rng: random.Random) -> Example:
    if example.content.startswith(b"\x93NUMPY"):
        return other_order(example, rng)
    return example.with_content(example.content + rng.choice((b"\n", b"\r\n", b"\n\n")))


HARMLESS: tuple[Change, ...] = (
    *(longer, with_zeros, other_claims, other_order, weaker, further_blank, in_hexadecimal),
)


def mutated(rng: random.Random) -> tuple[bytes, bytes, bool]:
    """Return a certificate after changes, its data, and whether all changes are harmless."""
    example = small_certificate(rng)
    harmless = rng.random() < 0.5
    for number in sorted(rng.sample(range(len(HARMLESS)), rng.randint(1, 3))):
        example = HARMLESS[number](example, rng)
    if not harmless:
        for _ in range(rng.randint(1, 2)):
            example = rng.choice((other_number, other_byte, other_line, other_length))(example, rng)
    text = json.dumps(example.record, indent=rng.choice((None, None, 1)))
    return text.encode(), example.content, harmless
