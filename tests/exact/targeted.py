"""Certificates that are meant: each shows one comparison, number or requirement of the checker.

A name says what is shown; those of `PROVED` are accepted, and the others refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.exact.small_certificates import Record, example, saved, sdpa_file

Claim = dict[str, Any]
Meant = tuple[str, Record, bytes, Claim]

COMMAS = {"form": "table", "separator": ","}
FEASIBILITY = {"form": "sdpa", "question": "feasibility"}
RECESSION = {"form": "sdpa", "question": "recession"}
GRAM = {"form": "gram"}
LABELLED = {"form": "labelled", "separator": ",", "column": 2, "negative": "-", "positive": "+"}
LONGEST, LONGEST_SHORT = 2 ** (2**20), 2 ** (2**13)
TINY = 2.0**-1022  # the least double that is not subnormal


def blocks(*arguments: Any) -> Record:
    pairs = zip(arguments[::2], arguments[1::2], strict=True)
    return {"form": "cone", "blocks": [list(pair) for pair in pairs]}


def rows(count: int) -> Record:
    return blocks("rows", count)


def squares(inside: Any) -> Record:
    return {"form": "squares", "inside": inside}


def feasible(*y: Any, factors: Any = ()) -> Claim:
    listed = list(factors) if isinstance(factors, tuple) else factors
    return {"claim": "feasible", "point": list(y), "factors": listed}


def infeasible(*weights: Any) -> Claim:
    return {"claim": "infeasible", "weights": list(weights)}


def most(margin: Any, bound: Any, *weights: Any) -> Claim:
    return {"claim": "margin at most", "margin": margin, "bound": bound, "weights": list(weights)}


def least(margin: Any, bound: Any, *y: Any, factors: Any = ()) -> Claim:
    claim = feasible(*y, factors=factors) | {"claim": "margin at least", "margin": margin}
    return claim | {"bound": bound}


def closed(claim: Claim) -> Claim:
    return claim | {"claim": "closed " + claim["claim"]}


def unbounded(point: list[int], ray: list[int]) -> Claim:
    return {"claim": "closed objective unbounded", "point": point, "ray": ray}


def sign(column: Any, which: Any, **more: Any) -> Claim:
    kind = "occurs" if "point" in more else "excluded"
    return {"claim": f"sign {kind}", "column": column, "sign": which} | more


def partition(y: list[int], *weights: Any) -> Claim:
    return {"claim": "partition", "point": y, "weights": list(weights)}


def above(bound: Any, y: list[int], factor: Any = (0,)) -> Claim:
    return {"claim": "ratio at least", "bound": bound, "point": y, "factor": list(factor)}


def under(bound: Any, *weights: Any, factor: Any = (0,)) -> Claim:
    claim = {"claim": "ratio at most", "bound": bound, "weights": list(weights)}
    return claim | {"factor": list(factor)}


def objective_most(bound: Any, *y: Any) -> Claim:
    return feasible(*y) | {"claim": "objective at most", "bound": bound}


def objective_least(bound: Any, unit: Any, *weights: Any) -> Claim:
    claim = {"claim": "objective at least", "bound": bound, "unit": unit}
    return claim | {"weights": list(weights)}


BOTH = [[0, 1], [1, 1]]  # weights of two rows
ONE = [[0], [1]]
NONE: list[list[int]] = [[], []]


def of_numbers() -> Iterator[Meant]:
    """Lists, keys and sizes of numbers."""
    yield "object for a list", COMMAS, b"1,1\n", feasible() | {"point": {"0x1": 0, "0x2": 0}}
    opposite = saved([[1], [-1], [5]])
    yield "text for a list", blocks("rows", 2, "rows", 1), opposite, infeasible(BOTH, ["", ""])
    yield "object for factors", COMMAS, b"1,1\n", feasible(1, 0, factors={})
    yield "third member", COMMAS, b"1\n-1\n", infeasible([*BOTH, 9])
    yield "fewer numbers", COMMAS, b"1\n-1\n", infeasible([[0, 1], [1]])
    yield "more numbers", COMMAS, b"1\n-1\n", infeasible([[0, 1], [1, 1, 1]])
    yield "place twice", COMMAS, b"1\n-2\n", infeasible([[0, 0, 1], [1, 2, 1]])
    yield "place below 0", COMMAS, b"1\n-1\n", infeasible([[-1, 0], [1, 1]])
    yield "place beyond", COMMAS, b"1\n-1\n", infeasible([[0, 1, 2], [1, 1, 1]])
    yield "PROVED longest", COMMAS, b"1\n", feasible(hex(LONGEST))
    yield "too long", COMMAS, b"1\n", feasible(hex(LONGEST + 1))
    yield "PROVED lowest", COMMAS, b"-1\n", feasible("-" + hex(LONGEST))
    yield "too low", COMMAS, b"-1\n", feasible("-" + hex(LONGEST + 1))
    yield "PROVED longest of a margin", COMMAS, b"1\n", least("unit", [1, 1], hex(LONGEST_SHORT))
    yield "too long of a margin", COMMAS, b"1\n", least("unit", [1, 1], hex(LONGEST_SHORT + 1))
    wide = [hex(LONGEST_SHORT), hex(LONGEST_SHORT)]
    yield "PROVED longest bound", COMMAS, b"1\n", least("unit", wide, 1)
    wide = [hex(LONGEST_SHORT + 1), hex(LONGEST_SHORT + 1)]
    yield "too long bound", COMMAS, b"1\n", least("unit", wide, 1)
    yield (
        "PROVED long objective",
        FEASIBILITY,
        sdpa_file([1], [-1], "1 1 1 1 1"),
        objective_most([hex(LONGEST_SHORT + 1), 1], 1, 1),
    )


def of_doubles() -> Iterator[Meant]:
    """Doubles of all exponents."""
    yield "PROVED large double", rows(1), saved([[1.7e308]]), feasible(1)
    yield "PROVED normal double", rows(1), saved([[TINY]]), feasible(1)
    yield "PROVED subnormal", rows(1), saved([[5e-324]]), feasible(1)
    yield "exponents 1 and 2", rows(1), saved([[TINY, -2 * TINY]]), feasible(2, 1)
    yield "exponents 2 and 1", rows(1), saved([[-TINY, 2 * TINY]]), feasible(2, 1)
    yield "exponents 0 and 1", rows(1), saved([[TINY / 2, -TINY]]), feasible(2, 1)
    yield "exponents 1 and 0", rows(1), saved([[-TINY / 2, TINY]]), feasible(2, 1)
    for name, number in (("infinite", float("inf")), ("no number", float("nan"))):
        yield name, rows(1), saved([[number]]), feasible(1)
    content = saved([[1]])
    end = content.index(b"\n")
    wide = content[:8] + (end - 10 + 257).to_bytes(2, "little") + content[10:end] + b" " * 256
    yield "PROVED wide header", rows(1), wide + content[end:], feasible(1)
    yield "fewer bytes", rows(1), content[:-1], feasible(1)
    yield "no rows of numbers", rows(1), saved([[]]), feasible()
    yield "negative shape", rows(1), content.replace(b"(1, 1), }  ", b"(-1, -1), }"), feasible(1)


def of_texts() -> Iterator[Meant]:
    """Fields, names and labels."""
    yield "other separator", COMMAS | {"separator": "x"}, b"1x0\n", feasible(1, 0)
    yield "longer row", COMMAS, b"1\n1,-5\n", feasible(1)
    yield "longer row behind", COMMAS, b"1,0\n1\n", feasible(1, 0)
    yield "header of other width", COMMAS, b"a\n1,0\n", feasible(1, 0)
    yield "PROVED header", COMMAS, b"a,b\n1,0\n", feasible(1, 0)
    for name in ("NaN", '"1"', "−1", "(2)", "$3", "٣", " -inf ", "N/A", "", "?", "b\rc", "1st"):
        yield f"no name {name!r}", COMMAS, f"a,{name}\n1,0\n".encode(), feasible(1, 0)
    for name in ("b", '"b"', "_1", "Größe", "x1", "nancy", "info", "é", "#b", "of b (m)", "no.1"):
        yield f"PROVED name {name!r}", COMMAS, f"a,{name}\n1,0\n".encode(), feasible(1, 0)
    for end in ("\r\n", "\n\n", "\r\n\r\n", ""):
        yield f"PROVED end {end!r}", COMMAS, f"1,0{end}".encode(), feasible(1, 0)
    for end in ("\r", "\x0b", "\x0c", "\u2028", "\n \n", "\n,\n", "\x85"):
        yield f"end {end!r}", COMMAS, f"1,0{end}".encode(), feasible(1, 0)
    yield "PROVED byte order mark", COMMAS, b"\xef\xbb\xbf1,0\n", feasible(1, 0)
    yield "PROVED mark and names", COMMAS, b"\xef\xbb\xbfa,b\n1,0\n", feasible(1, 0)
    yield "no UTF-8", COMMAS, b"a,\xff\n1,0\n", feasible(1, 0)
    for text in ("1e999", "1E-999", "1d2", "+.5", "1.", " 1\t", "0" * 4299 + "1"):
        yield f"PROVED decimal {text[:9]!r}", COMMAS, f"{text}\n".encode(), feasible(1)
    for text in ("1e1000", "1_0", "0x1", "1..", ".", "1e", "--1", "+-1", "1e1.0", "1 1", "١", "1f"):
        yield f"decimal {text!r}", COMMAS, f"{text}\n".encode(), feasible(1)
    yield "two separators", COMMAS | {"separator": ", "}, b"1, 0\n", feasible(1, 0)
    two = b"1,1,+\n1,2,+\n"
    yield "one class", LABELLED, two, feasible(0, 0, 1)
    yield "one label", LABELLED | {"negative": "+"}, two, feasible(0, 0, -1)
    text = b"1,2,+\n0,1,-\n"
    yield "PROVED labels", LABELLED, text, feasible(2, 0, -1)
    yield "column below 0", LABELLED | {"column": -1}, text, feasible(2, 0, -1)
    yield "column beyond", LABELLED | {"column": 3}, text, feasible(2, 0, -1)
    yield "PROVED geometric", LABELLED, b"3,4,+\n-3,-4,-\n", least("geometric", [5, 1], 3, 4, 0)
    yield (
        "geometric",
        LABELLED,
        b"3,4,+\n-3,-4,-\n",
        least("geometric", [5 * 10**9 + 1, 10**9], 3, 4, 0),
    )
    pair = most("geometric", [5, 1], BOTH)
    yield "PROVED geometric bound", LABELLED, b"3,4,+\n-3,-4,-\n", pair
    yield "geometric bound", LABELLED, b"3,4,+\n-3,-4,-\n", pair | {"bound": [5 * 10**9 - 1, 10**9]}
    yield "classes differ", LABELLED, b"3,4,+\n-3,-4,-\n", most("geometric", [9, 1], [[0], [1]])
    yield "geometric of other rows", COMMAS, b"1,2\n", least("geometric", [0, 1], 1, 0)
    yield "PROVED geometric of rows", COMMAS, b"1,-1\n", least("geometric", [1, 1], 1, 0)
    yield "no direction", COMMAS, b"1,1\n", least("geometric", [0, 1], 0, 1)


def of_definite_matrices() -> Iterator[Meant]:
    """Factors and what they prove."""
    system = blocks("matrix", 2)
    for name, entries, factor in (
        ("PROVED by L", [2, 3, 10], [0, [[0, 1], [1, 3]]]),
        ("singular rest", [2, 3, 9], [0, [[0, 1], [1, 3]]]),
        ("row not dominated", [1, 2, 5], [0]),
        ("negative beside the diagonal", [1, -2, 5], [0]),
        ("PROVED negative", [3, -2, 5], [0]),
        ("indefinite", [1, 2, 1], [0]),
        ("rest of LL'", [1, 0, 1], [0, [[0], [1]]]),
        ("PROVED twice M", [1, 0, 1], [1, [[0], [1]]]),
        ("PROVED M and twice LL'", [3, 2, 3], [-1, [[0, 1], [1, 1]]]),
        ("PROVED M and 4 LL'", [5, 4, 5], [-2, [[0, 1], [1, 1]]]),
        ("M less 2 LL'", [1, 0, 1], [-1, [[0], [1]]]),
        ("PROVED columns of all sizes", [2**80 + 2**40, 0, 2], [0, [[0], [2**40]], [[1], [1]]]),
        ("s too large", [2, 0, 2], [2**16 + 1]),
        ("PROVED largest s", [2, 0, 2], [2**16]),
        ("s too small", [2, 0, 2], [-(2**16) - 1]),
        ("PROVED least s", [2, 0, 2], [-(2**16)]),
        ("row of L beyond", [2, 0, 2], [0, [[2], [0]]]),
        ("no columns", [2, 0, 2], {}),
        ("empty factor", [2, 0, 2], []),
    ):
        yield name, system, saved([[x] for x in entries]), feasible(1, factors=(factor,))
    yield "too many factors", system, saved([[2], [0], [2]]), feasible(1, factors=([0], [0]))
    yield "no factor", system, saved([[2], [0], [2]]), feasible(1)
    diagonal = sdpa_file([0], [2], "1 1 1 1 1", "1 1 2 2 1")
    yield (
        "LL' beside the pattern",
        FEASIBILITY,
        diagonal,
        feasible(1, 2, factors=([0, [[0, 1], [1, 1]]],)),
    )
    yield (
        "PROVED on the pattern",
        FEASIBILITY,
        diagonal,
        feasible(1, 3, factors=([0, [[0, 1], [1, 1]]],)),
    )
    for bits in (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 20, 300):  # LL' of many bytes
        for count in (1, 2, 3, 4, 7, 8, 15, 16):
            number = 2**bits - 1
            columns = [[[0, 1], [number, -number]]] * count
            entry = count * number**2
            program = sdpa_file(
                [0],
                [2],
                *(
                    f"1 1 {at} {v}"
                    for at, v in (("1 1", entry + 1), ("1 2", -entry), ("2 2", entry + 1))
                ),
            )
            claim = feasible(1, 1, factors=([0, *columns],))
            yield f"PROVED {count} columns of {bits} bits", FEASIBILITY, program, claim
    yield (
        "PROVED longest of L",
        blocks("matrix", 1),
        saved([[1]]),
        feasible(1, factors=([2**14 + 8, [[0], [hex(LONGEST_SHORT)]]],)),
    )
    yield (
        "too long of L",
        blocks("matrix", 1),
        saved([[1]]),
        feasible(1, factors=([2**14 + 8, [[0], [hex(LONGEST_SHORT + 1)]]],)),
    )
    large = sdpa_file([0], [1030], "1 1 1 1 1", *["* " + "0" * 1100])
    large = large.replace(b"* ", b"0 1 1 2 ")
    yield (
        "too long a factor",
        FEASIBILITY,
        large,
        feasible(1, 2, factors=([0, [[0], [hex(2**8191)]]],)),
    )


def of_cones() -> Iterator[Meant]:
    """Second-order blocks, matrices and rows: points, weights and margins."""
    ball = blocks("second-order", 3)
    for name, (u, v, t) in {
        "on the boundary": (3, 4, 5),
        "PROVED inside": (3, 4, 6),
        "below": (3, 4, -6),
        "outside": (3, 4, 4),
        "apex": (0, 0, 0),
    }.items():
        yield f"ball {name}", ball, saved([[u], [v], [t]]), feasible(1)
    for name, (u, v, t), column in (
        ("PROVED on the boundary", (3, 4, 5), (5, 0, -3)),
        ("below", (3, 4, -5), (5, 5, 7)),
        ("outside", (3, 4, 4), (0, 1, -1)),
        ("zero", (0, 0, 0), (1, 1, 1)),
    ):
        weights = [[0, 1, 2], [u, v, t]]
        yield f"weights {name}", ball, saved([[x] for x in column]), infeasible(weights)
    both = blocks("matrix", 2, "rows", 1)
    data = saved([[1], [0], [1], [-2]])
    yield "PROVED weights of a matrix", both, data, infeasible([[], [1, 1], [], []], ONE)
    unit = saved([[1], [0], [1], [0]])
    uneven = saved([[1], [0], [2], [0]])
    yield "negative diagonal", both, uneven, infeasible([[], [2, -1], [], []], NONE)
    yield "negative part", both, uneven, infeasible([[2, -1], [0, 0], [1, 0], [0, 1]], NONE)
    yield "no weights", both, unit, infeasible([[], [0, 0], [], []], NONE)
    yield "further vector", both, data, infeasible([[], [1, 1], [], [], []], ONE)
    yield "vector of another length", both, data, infeasible([[], [1, 1], [0], []], ONE)
    yield "negative row", COMMAS, b"1\n1\n", infeasible([[0, 1], [1, -1]])
    yield "no weights of rows", COMMAS, b"1\n1\n", infeasible(NONE)
    half = saved([[0], [1], [0], [-2]])  # off-diagonal entries count twice
    yield "PROVED beside the diagonal", both, half, infeasible([[1], [0, 0], [1], [1]], ONE)
    yield (
        "PROVED trace",
        both,
        saved([[1], [0], [1], [1]]),
        most("directional", [3, 3], [[], [1, 1], [], []], ONE),
    )
    yield (
        "trace",
        both,
        saved([[1], [0], [1], [1]]),
        most("directional", [3 * 10**9 - 1, 3 * 10**9], [[], [1, 1], [], []], ONE),
    )
    beside = blocks("second-order", 2, "rows", 2)
    column = saved([[1], [3], [1], [-1]])
    yield "PROVED no weights of a ball", beside, column, infeasible(NONE, BOTH)
    flat = blocks("second-order", 2)
    yield "PROVED t", flat, saved([[0], [1]]), most("directional", [1, 1], [[0, 1], [1, 1]])
    yield "t", flat, saved([[0], [1]]), most("directional", [10**9 - 1, 10**9], [[1], [1]])
    yield "t and u", flat, saved([[0], [1]]), most("directional", [3, 4], [[0, 1], [1, 1]])
    later = blocks("rows", 1, "rows", 1)
    yield "second block", later, saved([[1], [0]]), feasible(1)
    strict = sdpa_file([0], [-2], "1 1 1 1 1", "1 1 2 2 0")
    yield "row of a program", FEASIBILITY, strict, feasible(1, 1)
    yield "PROVED closed row", FEASIBILITY, strict, closed(feasible(1, 1))
    yield "closed row below", FEASIBILITY, strict, closed(feasible(1, -1))
    yield "closed x_0", FEASIBILITY, strict, closed(feasible(0, 1))
    yield (
        "dictionary of blocks",
        {"form": "cone", "blocks": [{"rows": 1, "0x1": 2}]},
        saved([[1]]),
        feasible(1),
    )
    yield "order 0", blocks("rows", 1, "rows", 0), saved([[1]]), feasible(1)
    yield "negative order", blocks("rows", 2, "rows", -1), saved([[1]]), feasible(1)
    yield "other kind", blocks("row", 1), saved([[1]]), feasible(1)
    yield "block too many", blocks("rows", 1, "rows", 1), saved([[1]]), feasible(1)
    yield "row too many", blocks("rows", 1), saved([[1], [1]]), feasible(1)


def of_margins_in_cones() -> Iterator[Meant]:
    """Norms known to 64 binary places, on both sides of the bound."""
    flat, matrix = blocks("second-order", 2), blocks("matrix", 2)
    steps = ((0, 1), (2**4, 1), (2**5, 1), (2**6, 0), (2**8, 0), (2**30, 0))
    for below, code in steps:  # (p / q) (1 + 2^-64) <= 1
        bound = [2**70 - below, 2**70]
        name = f"{'' if code else 'PROVED '}of norm 1, less {below}"
        yield f"{name}, ball", flat, saved([[0], [1]]), least("directional", bound, 1)
        yield (
            f"{name}, sum",
            blocks("second-order", 2, "rows", 1),
            saved([[0], [1], [1]]),
            least("directional", bound, 1),
        )
        content = saved([[1], [0], [1]])
        yield f"{name}, matrix", matrix, content, least("directional", bound, 1, factors=([0],))
    yield "norm 1", flat, saved([[0], [1]]), least("directional", [1, 1], 1)
    yield "PROVED -1", flat, saved([[3], [2]]), least("directional", [-1, 1], 1)
    yield "-1", flat, saved([[3], [2]]), least("directional", [1 - 2**80, 2**80], 1)
    low = 2.0**-31 - 2.0**-65
    content = saved([[0, 0], [-1, -low]])  # norm(y) = 2^30 + 2^-31 - 2^-93
    yield "norm rounded down", flat, content, least("directional", [-1, 1], 2**30, 1)
    content = saved([[0, 0], [-1, -(2.0**-31) + 2.0**-50]])
    yield "PROVED norm rounded down", flat, content, least("directional", [-1, 1], 2**30, 1)
    content = saved([[0, 0], [1, 2.0**-31 - 2.0**-50]])
    yield "norm rounded up", flat, content, least("directional", [1, 1], 2**30, 1)
    content = saved([[0, 0], [1, 2.0**-31 + 2.0**-50]])
    yield "PROVED norm rounded up", flat, content, least("directional", [1, 1], 2**30, 1)
    uneven = saved([[1], [0], [5]])
    yield "every diagonal", matrix, uneven, least("directional", [2, 1], 1, factors=([0],))
    beside = saved([[4], [1], [4]])
    yield (
        "PROVED beside the diagonal",
        matrix,
        beside,
        least("directional", [2, 1], 1, factors=([0],)),
    )
    yield "dominated by too little", matrix, beside, least("directional", [3, 1], 1, factors=([0],))
    both = blocks("second-order", 2, "rows", 1)
    yield "PROVED rows without roots", both, saved([[0], [5], [1]]), least("directional", [1, 1], 1)
    yield (
        "rows without roots",
        both,
        saved([[0], [5], [1]]),
        least("directional", [10**9 + 1, 10**9], 1),
    )
    yield "unit margin of a ball", flat, saved([[0], [1]]), least("unit", [0, 1], 1)
    yield "unit margin of a ball and a row", both, saved([[0], [5], [1]]), least("unit", [0, 1], 1)
    yield "geometric margin of a ball", flat, saved([[0], [1]]), least("geometric", [0, 1], 1)


def of_rows() -> Iterator[Meant]:
    """Margins, partitions and signs of rows."""
    yield "PROVED tight", COMMAS, b"3,4\n", least("unit", [1, 1], 3, 4)
    yield "tight", COMMAS, b"3,4\n", least("unit", [2**90 + 1, 2**90], 3, 4)
    yield "PROVED negative", COMMAS, b"3,4\n", least("unit", [-1, 1], -3, -4)
    yield "negative", COMMAS, b"3,4\n", least("unit", [1 - 2**90, 2**90], -3, -4)
    yield "PROVED directional", COMMAS, b"3,4\n", least("directional", [5, 1], 3, 4)
    yield "PROVED of decimals", COMMAS, b"0.3,.4\n", least("directional", [1, 2], 3, 4)
    yield "of decimals", COMMAS, b"0.3,.4\n", least("directional", [2**90 + 1, 2**91], 3, 4)
    yield "point 0", COMMAS, b"3,4\n", least("unit", [0, 1], 0, 0)
    yield "point 0, less", COMMAS, b"3,4\n", least("unit", [-1, 1], 0, 0)
    yield "PROVED bound", COMMAS, b"3,4\n", most("unit", [1, 1], ONE)
    yield "bound", COMMAS, b"3,4\n", most("unit", [2**60 - 1, 2**60], ONE)
    yield "PROVED directional bound", COMMAS, b"3,4\n", most("directional", [5, 1], ONE)
    yield "directional bound", COMMAS, b"3,4\n", most("directional", [5 * 2**60 - 1, 2**60], ONE)
    yield "negative bound", COMMAS, b"3,4\n", most("unit", [-1, 1], ONE)
    yield "no weights", COMMAS, b"3,4\n", most("unit", [0, 1], NONE)
    yield "row of zeros", COMMAS, b"1,0\n-1,0\n0,0\n", most("unit", [0, 1], BOTH)
    yield "PROVED row of zeros", COMMAS, b"1,0\n-1,0\n0,0\n", most("directional", [0, 1], BOTH)
    for p in range(10**9, 10**9 + 40):  # rounded up where a part of 1e-20 is left
        yield f"PROVED printed {p}", COMMAS, b"1\n-1\n", most("unit", [p, 10**9 + 7], BOTH)
        if p < 10**9 + 3:
            yield f"PROVED below {p}", COMMAS, b"1\n", least("unit", [-p, 1], 1)
            yield f"PROVED lower {p}", COMMAS, b"1\n", least("unit", [p, 10**9 + 7], 1)
    small = pow(10**20, -1, 10**9 + 7)
    yield "PROVED rest 1", COMMAS, b"1\n-1\n", most("unit", [small, 10**9 + 7], BOTH)
    for p in (0, 1, 10**9 - 1, 5 * 10**8, 5 * 10**9, 10**30, 10**9):
        yield f"PROVED long {p}", COMMAS, b"1\n-1\n", most("unit", [p, 1], BOTH)
        yield f"PROVED short {p}", COMMAS, b"1\n-1\n", most("unit", [1, p + 1], BOTH)
    for margin in (None, "None", "", "Unit", 0):
        yield f"margin {margin!r}", COMMAS, b"1,0\n", least(margin, [9, 1], 1, 0)
        yield f"margin {margin!r} above", COMMAS, b"1\n-1\n", most(margin, [9, 1], BOTH)
    for p, q in ((1, 0), (0, 0), (1, -1), (-1, -1)):
        yield f"bound {p} / {q}", COMMAS, b"1\n-1\n", most("unit", [p, q], BOTH)
    text = b"1,0\n-1,0\n0,1\n"
    yield "PROVED partition", COMMAS, text, partition([0, 1], BOTH)
    yield "PROVED partition of two", COMMAS, b"1,0\n-1,0\n0,1\n0,2\n", partition([0, 1], BOTH)
    yield "row on no side", COMMAS, text, partition([0, 0], BOTH)
    yield "negative score", COMMAS, text, partition([0, -1], BOTH)
    yield "partition without weights", COMMAS, b"1\n", partition([1], NONE)
    yield "partition of others", COMMAS, text, partition([0, 1], [[0, 1], [1, 2]])
    balls = saved([[0, 0], [0, 0], [0, 0]])
    yield "partition of balls", blocks("second-order", 3), balls, partition([0, 1], [[2], [1]])
    yield "PROVED occurs", COMMAS, b"1,0\n", sign(1, -1, point=[0, -1])
    yield "PROVED excluded", COMMAS, b"2,0\n", sign(0, -1, weights=[ONE])
    yield "other sign", COMMAS, b"1,0\n", sign(1, 1, point=[0, -1])
    yield "no sign there", COMMAS, b"1,0\n", sign(1, 1, point=[1, 0])
    yield "sign below", COMMAS, b"1,0\n", sign(0, -1, point=[-1, 0])
    yield "sign 2", COMMAS, b"1,0\n", sign(1, 2, point=[0, 1])
    yield "sign 0", COMMAS, b"1,0\n", sign(1, 0, point=[0, 1])
    yield "column below 0", COMMAS, b"1,0\n", sign(-1, 1, point=[0, 1])
    yield "column beyond", COMMAS, b"1,0\n", sign(2, 1, point=[0, 1])
    yield "excluded, other sign", COMMAS, b"2,0\n", sign(0, 1, weights=[ONE])
    yield "excluded by nothing", COMMAS, text, sign(0, 1, weights=[BOTH])
    yield "excluded, other entries", COMMAS, b"2,1,0\n", sign(0, -1, weights=[ONE])
    yield "PROVED in hexadecimal", COMMAS, b"1,0\n", sign("0x1", "-0x1", point=[0, "-0x5"])
    ball = blocks("second-order", 2)
    yield "sign of a ball", ball, saved([[0, 0], [1, 0]]), sign(1, 1, point=[1, 1])
    yield "sign of a kernel", GRAM, saved([[1, 0], [0, 1]]), sign(1, 1, point=[1, 1])
    program = sdpa_file([-1], [-1], "1 1 1 1 1")
    yield "sign of a program", RECESSION, program, sign(0, 1, point=[1])


def of_kernels() -> Iterator[Meant]:
    """Matrices of inner products."""
    yield "PROVED kernel", GRAM, saved([[1, 0], [0, 4]]), feasible(1, 1)
    yield "not symmetric", GRAM, saved([[1, 2], [0, 1]]), feasible(1, 1)
    yield "negative square", GRAM, saved([[-1, 2], [2, 1]]), feasible(1, 1)
    yield "not square", GRAM, saved([[1, 2]]), feasible(1, 1)
    yield "no square root", GRAM, saved([[1, 3], [3, 1]]), feasible(-1, 4)
    yield "no norm", GRAM, saved([[1, 3], [3, 1]]), feasible(-3, 10)
    yield "PROVED kernel margin", GRAM, saved([[4]]), least("directional", [2, 1], 1)
    yield "kernel margin", GRAM, saved([[4]]), least("directional", [2**80 + 1, 2**79], 1)
    yield "PROVED kernel unit", GRAM, saved([[4]]), least("unit", [1, 1], 1)
    yield "kernel unit", GRAM, saved([[4]]), least("unit", [2**80 + 1, 2**80], 1)
    yield "PROVED kernel bound", GRAM, saved([[0.5]]), most("directional", [708, 1000], ONE)
    yield "kernel bound", GRAM, saved([[0.5]]), most("directional", [707, 1000], ONE)
    yield "PROVED kernel unit bound", GRAM, saved([[4]]), most("unit", [1, 1], ONE)
    yield "kernel unit bound", GRAM, saved([[4]]), most("unit", [2**50 - 1, 2**50], ONE)
    yield (
        "PROVED zero feature",
        GRAM,
        saved([[0, 0], [0, 1]]),
        most("directional", [1, 1], [[1], [1]]),
    )
    yield "zero feature", GRAM, saved([[0, 0], [0, 1]]), most("unit", [1, 1], [[1], [1]])
    yield "geometric kernel", GRAM, saved([[1, 1], [1, 1]]), least("geometric", [0, 1], 1, 0)


def of_programs() -> Iterator[Meant]:
    """SDPA files, closed claims and objectives."""
    ones = "1 1 1 1 1"
    point = feasible(1, 2, factors=([0],))
    lower = "1 1 2 1 1"
    yield (
        "PROVED lower triangle",
        FEASIBILITY,
        sdpa_file([0], [2], ones, lower, "1 1 2 2 2", "0 1 1 1 -1"),
        point,
    )
    diagonal = sdpa_file([0], [-2], ones, "1 1 2 2 1", "1 1 1 2 1")
    yield "entry beside a diagonal", FEASIBILITY, diagonal, feasible(1, 2)
    nothing = sdpa_file([0], [-2], ones, "1 1 2 2 1", "1 1 1 2 0", "7 7 7 7 0")
    yield "PROVED zero in no place", FEASIBILITY, nothing, feasible(1, 2)
    for entry in ("2 1 1 1 1", "1 2 1 1 1", "1 0 1 1 1", "1 1 0 1 1", "1 1 1 3 1", "-1 1 1 1 1"):
        yield f"no place {entry}", FEASIBILITY, sdpa_file([0], [2], ones, "1 1 2 2 1", entry), point
    yield "two values", FEASIBILITY, sdpa_file([0], [-1], ones, "1 1 1 1 2"), feasible(1, 2)
    yield "value and zero", FEASIBILITY, sdpa_file([0], [-1], ones, "1 1 1 1 0"), feasible(1, 2)
    yield (
        "PROVED same value",
        FEASIBILITY,
        sdpa_file([0], [-1], ones, "1 1 1 1 1.0"),
        feasible(1, 2),
    )
    yield "entry too short", FEASIBILITY, sdpa_file([0], [-1], ones, "1 1 1"), feasible(1, 2)
    yield "no unknown", FEASIBILITY, b"0\n1\n-1\n0 1 1 1 -1\n", feasible(1)
    yield "no block", FEASIBILITY, b"1\n0\n1\n", feasible(1, 0)
    yield "no block, closed", FEASIBILITY, b"1\n0\n1\n", closed(feasible(1, 0))
    yield "order 0", FEASIBILITY, b"1\n2\n-1 0\n1\n1 1 1 1 1\n", feasible(1, 1)
    yield "PROVED as large as the file", FEASIBILITY, b"1\n1\n-10\n1\n", closed(feasible(1, 0))
    yield "larger than the file", FEASIBILITY, b"1\n1\n-11\n1\n", closed(feasible(1, 0))
    yield "order with a point", FEASIBILITY, b"1\n1\n-1.0\n1\n1 1 1 1 1\n", feasible(1, 1)
    yield "place with a point", FEASIBILITY, b"1\n1\n-1\n1\n1 1 1 1.0 1\n", feasible(1, 1)
    yield (
        "PROVED many lines",
        FEASIBILITY,
        b"2\n2\n-1\n-1 note\n1\n2 note\n1 1\n1 1 1\n1 2 1 1 1",
        feasible(1, 1, 0),
    )
    yield "PROVED order 1", FEASIBILITY, sdpa_file([0], [1, -1], ones, "1 2 1 1 1"), feasible(1, 1)
    yield (
        "PROVED fractions",
        FEASIBILITY,
        sdpa_file([0.5], [-1], "1 1 1 1 0.25"),
        objective_most([1, 2], 1, 1),
    )
    yield (
        "fractions",
        FEASIBILITY,
        sdpa_file([0.5], [-1], "1 1 1 1 0.25"),
        objective_most([10**9 - 1, 2 * 10**9], 1, 1),
    )
    yield "objective outside", FEASIBILITY, sdpa_file([1], [-1], ones), objective_most([0, 1], 1, 0)
    boundary = sdpa_file([0.5], [-1], "1 1 1 1 0.25", "0 1 1 1 0.25")
    on_it = objective_most([1, 2], 1, 1)
    yield "objective on the boundary", FEASIBILITY, boundary, on_it
    yield "PROVED closed objective", FEASIBILITY, boundary, closed(on_it)
    lower = closed(objective_most([10**9 - 1, 2 * 10**9], 1, 1))
    yield "closed objective below", FEASIBILITY, boundary, lower
    yield (
        "objective of a recession",
        RECESSION,
        sdpa_file([-1], [-1], ones),
        objective_most([0, 1], 1),
    )
    yield "closed recession", RECESSION, sdpa_file([-1], [-1], ones), closed(feasible(1))
    yield "PROVED recession", RECESSION, sdpa_file([-1], [-1], ones, "0 1 1 1 5"), feasible(1)
    yield "recession", RECESSION, sdpa_file([1], [-1], ones), feasible(1)
    bounded = sdpa_file([0.5], [-1], "1 1 1 1 0.25", "0 1 1 1 0.5")  # x >= 2: c'x >= 1
    yield "PROVED lower bound", FEASIBILITY, bounded, objective_least([1, 1], 1, NONE, [[0], [2]])
    yield (
        "lower bound",
        FEASIBILITY,
        bounded,
        objective_least([10**9 + 1, 10**9], 1, NONE, [[0], [2]]),
    )
    yield "PROVED less", FEASIBILITY, bounded, objective_least([99, 100], 1, NONE, [[0], [2]])
    yield "PROVED unit", FEASIBILITY, bounded, objective_least([1, 1], 3, NONE, [[0], [6]])
    yield "other unit", FEASIBILITY, bounded, objective_least([1, 1], 2, NONE, [[0], [6]])
    zero = sdpa_file([1], [-1], ones)
    yield "unit 0", FEASIBILITY, zero, objective_least([9, 1], 0, NONE, NONE)
    yield (
        "unit -1",
        FEASIBILITY,
        sdpa_file([-1], [-1], ones),
        objective_least([9, 1], -1, NONE, [[0], [1]]),
    )
    empty = sdpa_file([0], [-2], "0 1 1 1 1", ones, "0 1 2 2 0", "1 1 2 2 -1")  # x >= 1, -x >= 0
    contradiction = closed(infeasible([[0], [1]], BOTH))
    yield "PROVED contradiction", FEASIBILITY, empty, contradiction
    flat = sdpa_file([0], [-2], ones, "1 1 2 2 -1")
    yield "no weight of x_0", FEASIBILITY, flat, closed(infeasible(NONE, BOTH))
    yield "PROVED open contradiction", FEASIBILITY, flat, infeasible(NONE, BOTH)
    yield "closed table", COMMAS, b"1\n-1\n", closed(infeasible(BOTH))
    yield "PROVED partition of conditions", FEASIBILITY, flat, partition([1, 0], NONE, BOTH)


def of_rays() -> Iterator[Meant]:
    """Unbounded objectives: -y on x >= 2, x >= y (in two blocks), and on other sets."""
    entries = "1 1 1 1 0.5", "0 1 1 1 1", "1 2 1 1 1", "2 2 1 1 -1"
    program = sdpa_file([0, -1], [-1, -1], *entries)
    yield "PROVED unbounded", FEASIBILITY, program, unbounded([1, 2, 2], [1, 1])
    yield "PROVED along a longer ray", FEASIBILITY, program, unbounded([1, 2, 0], [3, 2])
    yield "point outside, unbounded", FEASIBILITY, program, unbounded([1, 1, 1], [1, 1])
    yield "point at infinity", FEASIBILITY, program, unbounded([0, 2, 2], [1, 1])
    yield "ray that leaves", FEASIBILITY, program, unbounded([1, 2, 2], [1, 2])
    yield "ray that leaves the first", FEASIBILITY, program, unbounded([1, 2, 2], [-1, -1])
    short = sdpa_file([-2], [-1], "1 1 1 1 -1", "0 1 1 1 -5")  # x <= 5
    yield "ray that leaves by 1", FEASIBILITY, short, unbounded([1, 2], [1])
    yield "level ray", FEASIBILITY, program, unbounded([1, 2, 2], [1, 0])
    yield "rising ray", FEASIBILITY, program, unbounded([1, 2, 2], [1, -1])
    yield "no ray", FEASIBILITY, program, unbounded([1, 2, 2], [0, 0])
    yield "ray with x_0", FEASIBILITY, program, unbounded([1, 2, 2], [0, 1, 1])
    yield "short ray", FEASIBILITY, program, unbounded([1, 2, 2], [1])
    factors = unbounded([1, 2, 2], [1, 1]) | {"factors": []}
    yield "factors of a ray", FEASIBILITY, program, factors
    yield "ray of a recession", RECESSION, program, unbounded([2, 2], [1, 1])
    matrix = sdpa_file([-1], [2], "1 1 1 1 1", "1 1 2 2 1")
    yield "ray of a matrix", FEASIBILITY, matrix, unbounded([1, 1], [1])
    yield "ray of a table", COMMAS, b"1,0\n", unbounded([1, 0], [1])


def of_ratios() -> Iterator[Meant]:
    """Both sides of separation ratios."""
    data, claim = saved([[1], [2]]), squares(1)
    yield "PROVED ratio", claim, data, above([3, 1], [1])
    yield "ratio", claim, data, above([3 * 10**9 + 1, 10**9], [1])
    inner, outer = saved([[1], [2], [3]]), saved([[1], [2], [5]])
    yield "largest inside", squares(2), inner, above([8, 1], [1])
    yield "PROVED largest inside", squares(2), inner, above([5, 4], [1])
    yield "least outside", squares(1), outer, above([24, 1], [1])
    yield "PROVED least outside", squares(1), outer, above([3, 1], [1])
    yield "PROVED upper ratio", claim, data, under([3, 1], [[0], [4]], ONE)
    yield "upper ratio", claim, data, under([3 * 10**9 - 1, 10**9], [[0], [4]], ONE)
    yield "indefinite moment", claim, data, under([2, 1], [[0], [3]], ONE)
    yield "PROVED singular moment", squares(1), saved([[1], [1]]), under([0, 1], ONE, ONE)
    yield "no weight outside", claim, data, under([0, 1], NONE, NONE)
    yield "no weight outside, bounded", claim, data, under([0, 1], ONE, NONE)
    yield "form 0", squares(1), saved([[0], [0]]), above([9, 1], [0])
    yield "form 0 everywhere", claim, data, above([9, 1], [0])
    yield "indefinite form", squares(1), saved([[1, 0], [0, 1]]), above([9, 1], [-1, 0, 1])
    yield "PROVED unbounded", squares(1), saved([[0, 1], [1, 0]]), above([1, 0], [1, 0, 0])
    yield "unbounded", squares(1), saved([[1, 1], [2, 0]]), above([1, 0], [1, 0, 0])
    yield "unbounded, twice", squares(1), saved([[0, 1], [1, 0]]), above([2, 0], [1, 0, 0])
    yield "upper unbounded", claim, data, under([1, 0], [[0], [4]], ONE)
    yield (
        "PROVED beside the diagonal",
        squares(1),
        saved([[1, -1], [1, 1]]),
        above([1, 0], [1, 2, 1], [0, [[0, 1], [1, 1]], [[0, 1], [1, 1]]]),
    )
    for inside in (0, 2, 3, -1):
        yield f"{inside} inside", squares(inside), data, under([3, 1], [[0], [4]], ONE)
    yield "third block", claim, data, under([-999, 1000], NONE, NONE, ONE)
    point = feasible(1, 0, -1)
    yield "point of squares", squares(1), saved([[1, 0], [0, 1]]), point
    yield "ratio of rows", blocks("rows", 1, "rows", 1), saved([[1], [-5]]), above([4, 1], [1])
    wide = saved([[1.0] * 4096] * 3)
    yield "too many products", squares(1), wide, under([3, 1], ONE, ONE)
    yield (
        "PROVED three vectors",
        squares(2),
        saved([[1, 0], [0, 1], [2, 0]]),
        above([3, 1], [1, 0, 1]),
    )


GROUPS = (of_numbers, of_doubles, of_texts, of_definite_matrices, of_cones, of_margins_in_cones)
GROUPS += (of_rows, of_kernels, of_programs, of_rays, of_ratios)


def meant() -> Iterator[tuple[str, bytes, bytes]]:
    """Yield names, certificates and their data."""
    for group in GROUPS:
        for name, data, content, claim in group():
            written = example(data, content, [claim])
            yield f"{group.__name__} {name}", json.dumps(written.record).encode(), content
    plain = example(COMMAS, b"1\n", [feasible(1)])
    text = json.dumps(plain.record)
    yield "keys twice", text.replace('"version": 2', '"version": 1, "version": 2').encode(), b"1\n"
    texts = json.dumps(plain.record | {"claims": "text"})
    yield "claims in a text", texts.encode(), b"1\n"
    yield "no claims", json.dumps(plain.record | {"claims": []}).encode(), b"1\n"
    yield "claims in an object", json.dumps(plain.record | {"claims": {"a": 1}}).encode(), b"1\n"
    two = example(COMMAS, b"1\n", [feasible(1), feasible(-1)])
    yield "one of two", json.dumps(two.record).encode(), b"1\n"
    yield "other data", text.encode(), b"2\n"
    other = plain.record | {"data": plain.record["data"] | {"file": "elsewhere"}}
    yield "PROVED data given", json.dumps(other).encode(), b"1\n"
    climbing = plain.record | {"data": plain.record["data"] | {"file": "../data"}}
    yield "PROVED other data given", json.dumps(climbing).encode(), b"1\n"
