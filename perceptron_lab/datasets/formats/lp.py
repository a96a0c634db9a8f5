"""Linear programs of LP files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Final, NamedTuple

from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.formats.linear_programs import (
    LEFT_OUT,
    LinearModel,
    ModelRow,
    NegativeUpper,
    infinite,
    limits_of,
    lines_of,
    lower_limit,
    number_of,
    relaxed,
    some_of,
    upper_limit,
)
from perceptron_lab.systems.conditions import Entries, LinearObjective

_SECTIONS: Final = {
    "minimise": r"minimi[sz]e|minimum|min",
    "maximise": r"maximi[sz]e|maximum|max",
    "rows": r"subject\s+to|such\s+that|s\.t\.?|st\.?|lazy\s+constraints",
    "cuts": r"user\s+cuts",
    "bounds": r"bounds?",
    "integers": r"generals?|gen|integers?|int",
    "binaries": r"binary|binaries|bin",
    "semicontinuous variables": r"semi-continuous|semis?",
    "special ordered sets": r"sos[12]?",
    "functions that are not linear": r"general\s+constraints?|gencons?|pwlobj",
    "end": r"end",
}
_HEAD: Final = re.compile(
    r"\s*(?:" + "|".join(f"({pattern})" for pattern in reversed(_SECTIONS.values())) + r")"
    r"(?![^\s\\])(?!\s*(?::|[<>=]))",
    re.I,
)
_OTHER: Final = r"A-Za-z_!\"#$%&(),;?@`'{}~|\u0080-\U0010ffff"
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    rf"|(?P<name>[{_OTHER}](?:[{_OTHER}0-9./]|\[[^\[\]\s]*\])*)"
    r"|->|<=|=<|>=|=>|[-+*/:\[\]^<>=])"
)
_INFINITE: Final = ("inf", "infinity")
_MIRRORED: Final = {"<": ">", ">": "<", "=": "="}
# What may come next, in messages, and how to write it
_SIGN, _TERM, _LINEAR = "+ or -", "a number or a variable", "a linear term"
_RELATION, _NAME, _CLOSED = "<=, >= or =", "the name of a variable", "]"
_NEW_SECTION = "a section such as subject to, at the beginning of a line"
_REMEDIES: Final = {
    _SIGN: "write a sign between two terms, and begin each row on a new line",
    _TERM: "complete the row, as x + 2 y <= 4",
    _LINEAR: "leave products and squares of rows out, which makes the file a relaxation",
    _RELATION: "give every row one, as x + 2 y <= 4",
    _NAME: "list names alone, separated by blanks",
    _CLOSED: "close the bracket of the squares",
    _NEW_SECTION: "write the objective as one sum of terms",
}


class _Token(NamedTuple):
    """A number, a name or a sign, and the line that it is in; the kind of a sign is the sign."""

    kind: str
    text: str
    line: int


_END: Final = _Token("", "the end of the section", 0)


@dataclass
class _Expression:
    """sum_j c_j x_j + constant, by the names of the variables."""

    terms: dict[str, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)
    repeated: list[str] = field(default_factory=list)

    def add(self, number: Fraction, name: str | None) -> None:
        """Add a term."""
        if name is None:
            self.constant += number
            return
        if name in self.terms:
            self.repeated.append(name)
        self.terms[name] = self.terms.get(name, Fraction(0)) + number

    def minus(self, other: _Expression) -> _Expression:
        """Return the difference."""
        terms = dict(self.terms)
        for name, number in other.terms.items():
            terms[name] = terms.get(name, Fraction(0)) - number
        repeated = [
            *self.repeated,
            *other.repeated,
            *(name for name in other.terms if name in self.terms),
        ]
        return _Expression(terms, self.constant - other.constant, repeated)


def read_lp(path: Path, negative_upper: NegativeUpper = "zero") -> LinearModel:
    """Return the linear program of an LP file, every number as printed.

    Variables and constants may be on both sides of a relation, and repeated: terms are added. A row
    may have two relations, as ``1 <= x + y <= 4``. Variables are >= 0 unless the bounds say
    otherwise. What is 1e20 or more is infinite.

    Parameters
    ----------
    path
        The file, which may be packed (.gz).
    negative_upper
        The lower bound of a variable with a negative upper bound and no lower bound.

    Raises
    ------
    InputError
        If it is none, with the number of the line.
    """
    reader = _LpReader()
    for section, tokens in _sections(lines_of(path)):
        reader.read(section, tokens)
    return reader.model(negative_upper)


def _sections(lines: list[str]) -> Iterator[tuple[str, list[_Token]]]:
    """Yield the sections and their tokens, up to the end."""
    section, tokens = "", list[_Token]()
    for number, line in enumerate(lines, start=1):
        head = _HEAD.match(line)
        if head is not None:
            yield section, tokens
            section, tokens = list(_SECTIONS)[-(head.lastindex or 0)], []
            if section == "end":
                return
            line = line[head.end() :]
        tokens += _tokens(line.partition("\\")[0], number)
        if tokens and not section:
            fault = f"{line.strip()[:40]!r} before the first section, such as minimize"
            raise InputError(f"line {number}: {fault}")
    raise InputError("it ends without 'end'; add it, or fetch a truncated file again")


def _tokens(line: str, number: int) -> Iterator[_Token]:
    line, position = line.rstrip(), 0
    while position < len(line):
        match = _TOKEN.match(line, position)
        if match is None:
            raise InputError(
                f"line {number}: unexpected {line[position:][:20].strip()!r}; allowed are names, "
                "numbers and + - * / : [ ] ^ < > ="
            )
        text = match[0].lstrip()
        kind = match.lastgroup or text
        # The pattern of names matches inf and infinity as well
        if kind == "name" and text.lower() in _INFINITE:
            kind = "number"
        # 2 (x + y) and 1,5 would be the variables "(x", "y)" and ",5"
        if text.count("(") != text.count(")") or text.startswith(","):
            raise InputError(
                f"line {number}: {text[:40]!r} in the place of a name; multiply parentheses out, "
                "and write decimals with a point"
            )
        yield _Token(kind, text, number)
        position = match.end()


class _Statements:
    """The tokens of a section, read one statement after the other."""

    def __init__(self, tokens: list[_Token], *, quadratic: bool = False) -> None:
        self.tokens, self.position = tokens, 0
        self.may_be_quadratic, self.quadratic = quadratic, False

    def next(self, ahead: int = 0) -> _Token:
        """Return a token ahead, and the empty one after the last."""
        index = self.position + ahead
        return self.tokens[index] if index < len(self.tokens) else _END

    def taken(self, *kinds: str) -> _Token | None:
        """Return the next token and move on, if it is of one of these kinds."""
        token = self.next()
        if token.kind not in kinds:
            return None
        self.position += 1
        return token

    def fault(self, expected: str) -> InputError:
        """Return the error that something else than the next token is expected."""
        token, last = self.next(), self.tokens[-1].line if self.tokens else 0
        where = f"line {token.line or last}: "
        if token.kind == "->":
            return InputError(f"{where}a linear program has no indicator constraints")
        fault = f"{where}{token.text[:40]!r} in the place of {expected}"
        return InputError(f"{fault}; {_REMEDIES[expected]}")

    def label(self) -> str:
        """Return the name before a colon, if there is one."""
        if self.next().kind != "name" or self.next(1).kind != ":":
            return ""
        self.position += 2
        return self.tokens[self.position - 2].text

    def relation(self) -> str:
        """Return the next relation: ``<``, ``>``, ``=``, or nothing."""
        token = self.taken("<", "<=", "=<", ">", ">=", "=>", "=")
        # In LP files < means <=, and the sign = may stand first
        return "" if token is None else (token.text.strip("=") or "=")

    def expression(self, *, right: bool = False) -> _Expression:
        """Return the next sum of terms; on the right of a relation a line may end a number."""
        expression = _Expression()
        while True:
            self._term(expression, right=right)
            token, previous = self.next(), self.tokens[self.position - 1]
            begins_line = token.line != previous.line
            if token.kind in ("+", "-"):
                if right and begins_line and not expression.terms:
                    return expression
            elif not begins_line and token.kind in ("name", "number", "["):
                if self.next(1).kind == ":":
                    return expression
                raise self.fault(_SIGN)
            else:
                return expression

    def _term(self, expression: _Expression, *, right: bool) -> None:
        sign = Fraction(1)
        while (token := self.taken("+", "-")) is not None:
            sign *= -1 if token.kind == "-" else 1
        if self.next().kind == "[":
            return self._skip_squares()
        number = self.taken("number")
        if number is not None:
            sign *= _number(number)
            if self.next().kind == "/":
                divisor = self.next(1).text
                raise InputError(
                    f"line {number.line}: {number.text}/{divisor} is a fraction, which LP files do "
                    f"not have; multiply the row by {divisor}, or write a decimal"
                )
            self.taken("*")
        # A variable in the line after a right-hand side begins another row
        joined = not right or number is None or self.next().line == number.line
        name = self.taken("name") if joined and self.next(1).kind != ":" else None
        if number is None and name is None:
            raise self.fault(_TERM)
        expression.add(sign, None if name is None else name.text)
        return None

    def _skip_squares(self) -> None:
        """Leave out ``[ ... ] / 2`` of an objective."""
        if not self.may_be_quadratic:
            raise self.fault(_LINEAR)
        while self.taken("]") is None:
            if self.next() is _END:
                raise self.fault(_CLOSED)
            self.position += 1
        if self.taken("/") is not None:
            self.taken("number")
        self.quadratic = True


def _number(token: _Token) -> Fraction:
    try:
        return number_of(token.text)
    except InputError as error:
        raise InputError(f"line {token.line}: {error}") from None


class _Row(NamedTuple):
    """A constraint as written; ``line`` is that of its beginning."""

    name: str
    line: int
    terms: Mapping[str, Fraction]
    lower: Fraction | None
    upper: Fraction | None


class _LpReader:
    """The sections of a file that was read so far."""

    def __init__(self) -> None:
        self.variables: dict[str, int] = {}
        self.objective, self.maximise, self.quadratic = _Expression(), False, False
        self.rows: list[_Row] = []
        self.cuts = 0
        self.repeated: list[str] = []
        self.lower: dict[str, Fraction | None] = {}
        self.upper: dict[str, Fraction | None] = {}
        self.integers: dict[str, None] = {}

    def read(self, section: str, tokens: list[_Token]) -> None:
        """Read a section."""
        if section in ("minimise", "maximise"):
            self._objective(tokens, maximise=section == "maximise")
            return
        statements = _Statements(tokens)
        while statements.next() is not _END:
            match section:
                case "rows" | "cuts":
                    self._row(statements, cut=section == "cuts")
                case "bounds":
                    self._bound(statements)
                case "integers" | "binaries":
                    self._integer(statements, binary=section == "binaries")
                case _:
                    line = statements.next().line
                    remedy = "leave the section out, which makes the file a relaxation"
                    if section == "semicontinuous variables":
                        remedy += ", and give these variables the lower bound 0"
                    raise InputError(f"line {line}: a linear program has no {section}; {remedy}")

    def _objective(self, tokens: list[_Token], *, maximise: bool) -> None:
        statements = _Statements(tokens, quadratic=True)
        statements.label()
        if statements.next() is not _END:
            self.objective = statements.expression()
        if statements.next() is not _END:
            raise statements.fault(_NEW_SECTION)
        self.maximise, self.quadratic = maximise, statements.quadratic
        self._add(self.objective, "the objective")

    def _add(self, expression: _Expression, row: str) -> None:
        """Note the variables of an expression."""
        for name in expression.terms:
            self.variables.setdefault(name, len(self.variables))
        self.repeated += [f"{name} in {row}" for name in dict.fromkeys(expression.repeated)]

    def _row(self, statements: _Statements, *, cut: bool) -> None:
        line = statements.next().line
        name = statements.label() or f"row {len(self.rows) + 1}"
        left, relation, middle = self._compared(statements)
        second = statements.relation()
        if not second:
            if not left.terms:
                left, middle, relation = middle, left, _MIRRORED[relation]
            row = left.minus(middle)
            lower = None if relation == "<" else -row.constant
            upper = None if relation == ">" else -row.constant
        else:
            right = statements.expression(right=True)
            if left.terms or right.terms or second != relation or relation == "=":
                raise InputError(
                    f"line {line}: two relations that are no range; give one as 1 <= x + y <= 4"
                )
            row = middle
            ends = left.constant - middle.constant, right.constant - middle.constant
            lower, upper = ends if relation == "<" else ends[::-1]
        self._add(row, name)
        self.cuts += cut
        if not cut:
            self.rows.append(_Row(name, line, row.terms, lower, upper))

    def _compared(self, statements: _Statements) -> tuple[_Expression, str, _Expression]:
        """Return two expressions and the relation between them."""
        left = statements.expression()
        relation = statements.relation()
        if not relation:
            raise statements.fault(_RELATION)
        return left, relation, statements.expression(right=True)

    def _bound(self, statements: _Statements) -> None:
        line = statements.next().line
        if statements.next().kind == "name" and statements.next(1).text.lower() == "free":
            name = statements.next().text
            statements.position += 2
            self.variables.setdefault(name, len(self.variables))
            self.lower[name] = self.upper[name] = None
            return
        left, relation, right = self._compared(statements)
        self._bound_by(left, relation, right, line)
        if second := statements.relation():
            self._bound_by(right, second, statements.expression(right=True), line)

    def _bound_by(self, left: _Expression, relation: str, right: _Expression, line: int) -> None:
        """Take the bound of a variable on one side by a number on the other."""
        if right.terms:
            left, right = right, left
            relation = _MIRRORED[relation]
        if list(left.terms.values()) != [1] or left.constant or right.terms:
            raise InputError(
                f"line {line}: a bound is that of one variable by a number, as x <= 4; give others "
                "as rows"
            )
        name = next(iter(left.terms))
        self.variables.setdefault(name, len(self.variables))
        where = f"line {line}: {name}"
        if relation in (">", "="):
            lower_limit(right.constant, where)
            self.lower[name] = right.constant
        if relation in ("<", "="):
            upper_limit(right.constant, where)
            self.upper[name] = right.constant

    def _integer(self, statements: _Statements, *, binary: bool) -> None:
        token = statements.taken("name")
        if token is None:
            raise statements.fault(_NAME)
        self.variables.setdefault(token.text, len(self.variables))
        self.integers[token.text] = None
        if binary:
            self.lower[token.text], self.upper[token.text] = Fraction(0), Fraction(1)

    def model(self, negative_upper: NegativeUpper) -> LinearModel:
        """Return the linear program."""
        bounds = self.lower, self.upper
        limits = [limits_of(name, bounds, negative_upper) for name in self.variables]
        notes = [*self._notes(), *(note for _, _, note in limits if note)]
        lower, upper = tuple(low for low, _, _ in limits), tuple(high for _, high, _ in limits)
        objective = LinearObjective(
            self._entries(self.objective.terms),
            self.objective.constant,
            self.maximise,
            self.quadratic,
        )
        return LinearModel(
            tuple(self.variables), tuple(self._rows()), lower, upper, tuple(notes), objective
        )

    def _notes(self) -> Iterator[str]:
        yield from relaxed(list(self.integers))
        if self.quadratic or any(self.objective.terms.values()):
            yield LEFT_OUT
        if self.cuts:
            yield f"user cuts left out: {self.cuts}"
        if self.repeated:
            yield f"repeated terms are added: {some_of(self.repeated)}"
        if again := self._repeated_names():
            yield f"rows of one name are distinguished by their lines: {some_of(again)}"
        rows = ((row.name, limit) for row in self.rows for limit in (row.lower, row.upper))
        yield from infinite((*rows, *self.lower.items(), *self.upper.items()))

    def _repeated_names(self) -> list[str]:
        return [name for name, count in Counter(row.name for row in self.rows).items() if count > 1]

    def _rows(self) -> Iterator[ModelRow]:
        again = set(self._repeated_names())
        for row in self.rows:
            name = f"{row.name} (line {row.line})" if row.name in again else row.name
            where = f"line {row.line}: {row.name}"
            low, high = lower_limit(row.lower, where), upper_limit(row.upper, where)
            if low is not None or high is not None:
                yield ModelRow(name, self._entries(row.terms), low, high)

    def _entries(self, terms: Mapping[str, Fraction]) -> Entries:
        nonzero = {self.variables[name]: number for name, number in terms.items() if number}
        ordered = sorted(nonzero.items())
        return tuple(j for j, _ in ordered), tuple(number for _, number in ordered)
