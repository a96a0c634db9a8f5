"""SDPA files: a homogenised program, or its directions of recession."""

from __future__ import annotations

import re
from typing import Any

from flint import fmpq

from tests.exact.second_checker.numbers import choice, require_form
from tests.exact.second_checker.systems import Row, System, triangle
from tests.exact.second_checker.texts import decimal, scale_of

FIRST = re.compile(r"\+?([0-9]+)(?=[^0-9A-Za-z_.]|$)")
BLANKS = " \t\r\v\f,(){}"


class Words:
    """The words of a text, line by line; `,(){}` are blanks."""

    def __init__(self, content: bytes) -> None:
        text = content.decode("latin-1")  # letters stand in remarks alone
        lines = text.translate(str.maketrans(BLANKS, " " * len(BLANKS))).split("\n")
        while lines and (not lines[0].strip(" ") or lines[0].lstrip(" ")[0] in '"*'):
            del lines[0]
        self.lines = [[word for word in line.split(" ") if word] for line in lines]

    def line(self) -> list[str]:
        require_form(bool(self.lines), "a file that ends early")
        return self.lines.pop(0)

    def first(self) -> int:
        """Return the number that a line begins with; what follows it is a remark."""
        line = self.line()
        match = FIRST.match(line[0]) if line else None
        require_form(match is not None and len(match[1]) <= 4300, "a line without its number")
        assert match is not None
        return int(match[1])

    def next(self, count: int) -> list[str]:
        """Return some words; what stands behind the last of them on its line is left out."""
        words: list[str] = []
        while len(words) < count:
            words += self.line()
        return words[:count]

    def rest(self) -> list[str]:
        return [word for line in self.lines for word in line]


def integer_of(text: str) -> int:
    """Return a decimal without digits behind the point and without exponent, but for 0."""
    value, digits = decimal(text)
    require_form(digits == 0, f"no whole number: {text[:40]!r}")
    return int(value.p)


def sdpa(data: dict[str, Any], content: bytes) -> System:
    question = choice(data["question"], "feasibility", "recession")
    words = Words(content)
    count, blocks_count = words.first(), words.first()
    require_form(count > 0 and blocks_count > 0, "no unknown, or no block")
    orders = [integer_of(word) for word in words.next(blocks_count)]
    fits = all(orders) and sum(map(abs, orders)) <= len(content)
    require_form(fits, "an order is 0, or larger than the file")
    printed = [decimal(word) for word in words.next(count)]
    costs = [value for value, _ in printed]
    entries = _entries(words.rest(), count, orders, printed)
    blocks = [("rows", -k if k < 0 else k) if k < 2 else ("matrix", k) for k in orders]
    first = 1 if question == "feasibility" else 0  # whether the column of x_0 exists
    rows: list[Row] = [{0: fmpq(1)} if first else {k: -c for k, c in enumerate(costs) if c}]
    for b, (kind, order) in enumerate(blocks):
        for i, j in triangle(order) if kind == "matrix" else [(i, i) for i in range(order)]:
            matrices = entries.get((b, i, j), {})
            row = {k - 1 + first: v for k, v in matrices.items() if k} if matrices else {}
            if first and matrices.get(0):
                row[0] = -matrices[0]
            rows.append({k: v for k, v in row.items() if v})
    width = count + first
    scale = scale_of(printed)
    return System("sdpa", rows, width, [("rows", 1), *blocks], scale, costs if first else None)


def _entries(
    words: list[str], count: int, orders: list[int], printed: list[tuple[fmpq, int]]
) -> dict[tuple[int, int, int], dict[int, fmpq]]:
    """Return {block, row, column: {matrix: value}} of the upper triangles; add to `printed`."""
    require_form(len(words) % 5 == 0, "an entry that ends early")
    entries: dict[tuple[int, int, int], dict[int, fmpq]] = {}
    for at in range(0, len(words), 5):
        k, b, i, j = map(integer_of, words[at : at + 4])
        printed.append(decimal(words[at + 4]))
        value = printed[-1][0]
        order = orders[b - 1] if 1 <= b <= len(orders) else 0
        inside = 0 <= k <= count and min(i, j) >= 1 and max(i, j) <= abs(order)
        if not inside or (order < 2 and i != j):
            require_form(not value, "an entry in no place")
            continue
        row = entries.setdefault((b - 1, min(i, j) - 1, max(i, j) - 1), {})
        require_form(row.get(k, value) == value, "an entry with another value")
        row[k] = value
    return entries
