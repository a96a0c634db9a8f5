r"""Formulas in the notation of docstrings, as LaTeX.

Docstrings write ``norm(x)^2 <= 2 b / (eta rho^2)``, which terminals show as it is. This module
translates it to ``\lVert x \rVert^{2} \le \frac{2 b}{\eta \rho^{2}}`` for the pages. As in
Python, ``/`` divides the whole product to its left by the factor to its right.
"""

from __future__ import annotations

import re

GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "eta", "theta", "lambda", "mu", "nu", "xi"),
    *("pi", "rho", "sigma", "tau", "phi", "psi", "omega", "Delta", "Sigma", "Omega", "Psi"),
)
FUNCTIONS = ("ln", "log", "exp", "det", "max", "min", "cosh", "sinh", "cos", "sin", "tr", "sum")
_NAMED = ("argmin", "argmax", "softmin", "ball", "sign", "diag", "Prox", "KL", "prod", "floor")
_APART = frozenset((*_NAMED, "norm", "abs", "max", "min", "det"))  # Not without an argument
WORDS = frozenset((*GREEK, *FUNCTIONS, *_APART, "sqrt", "eps", "rank", "step", "opt", "inf"))
"""Names that a formula may contain besides single letters."""
_RELATIONS = {"<=": r"\le", ">=": r"\ge", "<-": r"\leftarrow", "->": r"\to", "!=": r"\ne"}
_RELATIONS |= {"=": "=", "<": "<", ">": ">", ":": ":", "+": "+", "-": "-", ",": ",", ";": ";"}
_RELATIONS |= {".": ".", "..": r"\dots", "...": r"\dots", "~": r"\sim"}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_BRACKETS = {"(": ("(", ")"), "[": ("[", "]"), "{": (r"\{", r"\}")}
_TOKEN = re.compile(
    r" {2,}|\d+(?:\.\d+)?(?:e-?\d+)?|\.\d+|[A-Za-z]+|<=|>=|<-|->|!=|\.{1,3}"
    r"|[-+*/^_'\"=<>,;:|()[\]{}~@]"
)
_APPLIED = re.compile(r"(?<![A-Za-z])([A-Za-z](?:_\w+)?|sum)\(")
_SUM = re.compile(r"(?:\\(?:ln|log) )?\\sum(?:_\{[^ ]*\})?$")
_ANGLES = re.compile(r"<(?! |=|- )([^<>=]*,[^<>=]*)>")
_OPERATOR = re.compile(r"[=<>^/+_'|]|A\*|\b(?:sqrt|norm|ln|exp|Delta\()")
_DANGLING = re.compile(r"\s*(?:[<>=+/]|-\s).*|.*(?:[<>=+/-])\s*", re.DOTALL)
_NUMBER_FIRST = re.compile(r"([\d.]+,\s+)(.*)", re.DOTALL)
_NUMBER_OR_GENITIVE = r"\(\d+\.\d+\)|\([a-z]\)|[A-Za-z]{2,}'s"
_PIECE = re.compile(r"\S+")
_ALLOWED = re.compile(r"[-+*/^_'=<>,.;:|()\[\]{}\d~A-Za-z]+")


class NoFormulaError(Exception):
    """A text that is not a formula."""


class _Parser:
    """A recursive descent over the tokens of one formula."""

    def __init__(self, text: str) -> None:
        text = re.sub(r"\b([a-z])(\d)\b", r"\1_\2", text)  # r0 is r_0
        text = re.sub(r"'(?=[A-Za-z(])", '"', text)  # a'x is one factor
        text = re.sub(r"(?<![A-Za-z])([A-Za-z])\*", r"\1^* ", text)  # A* is the adjoint
        angled = _ANGLES.sub(r"{< \1 >}", _APPLIED.sub(r"\1@(", text))
        if "".join(_TOKEN.findall(angled)).replace(" ", "") != angled.replace(" ", ""):
            raise NoFormulaError(text)
        self.bars = 0
        self.tokens = _TOKEN.findall(angled.strip())

    def peek(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def take(self, expected: str = "") -> str:
        if not self.tokens or (expected and self.tokens[0] != expected):
            raise NoFormulaError(expected)
        return self.tokens.pop(0)

    def sequence(self, closing: str = "") -> str:
        """Return products with the relations and signs between them, up to a closing bracket."""
        parts = []
        while self.tokens and self.peek() != closing:
            if self.peek().isspace():
                parts.append(self.take() and r"\quad")
            elif self.peek() in _RELATIONS:
                parts.append(_RELATIONS[self.take()])
            else:
                parts.append(self.product())
        return " ".join(parts)

    def product(self) -> str:
        factors = [self.factor()]
        while self.tokens and self._continues():
            if self.peek() == "/":
                self.take()
                sums = [index for index, one in enumerate(factors) if _SUM.match(one)]
                first = sums[-1] + 1 if sums else 0  # A sum is of the whole fraction.
                below = _without_brackets([self.factor()])
                below += f" {self.factor()}" if _SUM.match(below) else ""
                above = _without_brackets(factors[first:])
                factors[first:] = [rf"\frac{{{above}}}{{{below}}}"]
            elif self.peek() == "*":
                self.take()
                factors.append(r"\cdot")
            elif self.peek() == "o":  # the product of a Jordan algebra
                self.take()
                factors.append(r"\circ")
            else:
                factors.append(self.factor())
        return " ".join(factors)

    def _continues(self) -> bool:
        token = self.peek()
        return (
            token in ("/", "*", "(", "[", "{")
            or (token == "|" and not self.bars)
            or token[0].isalnum()
            or bool(re.match(r"\.\d", token))
        )

    def factor(self) -> str:
        base = self.base()
        while self.peek() in ("^", "_", "'", '"'):
            mark = self.take()
            if mark != "_" and "^{" in base[-12:]:
                base = f"{{{base}}}"
            if mark in "'\"":
                base += r"^{\prime}" + (f" {self.factor()}" if mark == '"' else "")
            else:
                base += f"{mark}{{{self.script(mark)}}}"
        if self.peek() == "@":  # a function's value, such as Q(k)
            self.take()
            base += f" {self.bracket(self.take())}"
        return base

    def script(self, mark: str) -> str:
        sign = self.take() if self.peek() in ("-", "+", "*") else ""
        if sign in ("+", "*") or (sign and mark == "_" and not self.peek()[:1].isdigit()):
            return sign
        if self.peek() in ("(", "{"):
            closing = _CLOSING[self.take()]
            inner = self.sequence(closing)
            self.take(closing)
            return sign + inner
        token = self.take()
        if len(token) > 2 and token.isalpha() and token not in GREEK:
            return rf"\mathrm{{{token}}}"
        return sign + (rf"\{token}" if token in GREEK else token)

    def base(self) -> str:
        token = self.take()
        if token in _CLOSING:
            return self.bracket(token)
        if token == "|":
            self.bars += 1
            inner = self.sequence("|")
            self.bars -= 1
            self.take("|")
            return f"| {inner} |"
        if token in ("norm", "abs", "floor") and self.peek() in ("(", "_"):
            index = f"_{{{self.script('_')}}}" if self.peek() == "_" and self.take() else ""
            return self.delimited(token) + index
        if token == "sqrt":
            return rf"\sqrt{{{_without_brackets([self.base()])}}}"
        if token[0].isdigit() or token[0] == ".":
            mantissa, _, exponent = token.partition("e")
            times = "" if mantissa == "1" else rf"{mantissa} \cdot "
            return rf"{times}10^{{{exponent}}}" if exponent else token
        if not token.isalpha():
            raise NoFormulaError(token)
        return self.name(token)

    def bracket(self, opening: str) -> str:
        if opening == "{" and self.peek() == "<":
            self.take()
            inner = self.sequence(">")
            self.take(">")
            self.take("}")
            return rf"\langle {inner} \rangle"
        inner = self.sequence(_CLOSING[opening])
        self.take(_CLOSING[opening])
        left, right = _BRACKETS[opening]
        return rf"\left{left} {inner} \right{right}"

    def delimited(self, name: str) -> str:
        self.take("(")
        inner = self.sequence(")")
        self.take(")")
        bars = {"norm": (r"\lVert", r"\rVert"), "abs": ("|", "|")}
        left, right = bars.get(name, (r"\lfloor", r"\rfloor"))
        return f"{left} {inner} {right}"

    def name(self, token: str) -> str:
        if token in GREEK:
            return rf"\{token}"
        if token == "eps":
            return r"\varepsilon"
        if token in FUNCTIONS or token in _NAMED:
            applied = self._argument() if token in FUNCTIONS and token != "sum" else ""
            command = (
                rf"\{token}" if token in (*FUNCTIONS[:-2], "sum") else rf"\operatorname{{{token}}}"
            )
            return command + applied
        if len(token) == 1:
            return token
        if token == "inf":
            return r"\infty"
        return rf"\text{{ {token} }}"

    def _argument(self) -> str:
        """Return a function's argument with it, so that a division takes both: ln(a) / ln(b)."""
        if not (self.peek() == "(" or self.peek()[:1].isalnum()):
            return ""
        return f" {self.factor()}"


def _without_brackets(factors: list[str]) -> str:
    """Return a product; a single factor in round brackets loses them."""
    product = " ".join(factors)
    if len(factors) > 1 or "," in product or not product.endswith(r"\right)"):
        return product
    depth = [0]
    for bracket in re.findall(r"\\(left|right)[^a-z]", product):
        depth.append(depth[-1] + (1 if bracket == "left" else -1))
    if product.startswith(r"\left(") and 0 not in depth[1:-1]:
        return product.removeprefix(r"\left(").removesuffix(r"\right)").strip()
    return product


def latex(formula: str) -> str:
    r"""Return a formula of a docstring as LaTeX.

    Raises
    ------
    NoFormulaError
        If the text is not a formula.

    Examples
    --------
    >>> latex("norm(x)^2 <= 2 b / (eta rho^2)")
    '\\lVert x \\rVert^{2} \\le \\frac{2 b}{\\eta \\rho^{2}}'
    """
    parser = _Parser(formula)
    parsed = parser.sequence()
    if parser.tokens:
        raise NoFormulaError(formula)
    return parsed


def typeset(text: str, mark: str = ":math:`{}`") -> str:
    r"""Return running text whose formulas are marked, with their LaTeX in the place of ``{}``.

    A formula is a run of words of single letters, numbers, names of functions and Greek letters,
    with an operator among them.

    Examples
    --------
    >>> print(typeset("At most 1 / rho^2 updates."))
    At most :math:`\frac{1}{\rho^{2}}` updates.
    """
    runs: list[list[re.Match[str]]] = [[]]
    before = ""
    for piece in _PIECE.finditer(text):
        is_noun = piece[0] == "sum" and before in ("a", "the", "of", "this", "A", "The")
        runs[-1].append(piece) if _is_part(piece[0]) and not is_noun else runs.append([])
        before = piece[0]
        if piece[0][-1] in ".;:" and runs[-1]:
            runs.append([])
    for run in reversed(runs):
        marked = _marked(text[run[0].start() : run[-1].end()], mark) if run else ""
        if marked:
            text = text[: run[0].start()] + marked + text[run[-1].end() :]
    return text


def _is_part(piece: str) -> bool:
    """Whether a word between spaces can belong to a formula."""
    bare = piece.rstrip(".,;:")
    names = re.findall("[A-Za-z]+", re.sub("_[a-z]{2}\\b", "_i", bare))
    known = all(len(name) == 1 or name in WORDS for name in names)
    prose = bare == "I/O" or bare.strip("(") in _APART or re.fullmatch(_NUMBER_OR_GENITIVE, bare)
    prose = prose or piece == "log,"
    return bool(_ALLOWED.fullmatch(piece)) and known and not prose


def _marked(run: str, mark: str) -> str:
    """Return a run of words with its formula marked; empty if it has none."""
    for before, inner, after in _trimmed(run):
        number = _NUMBER_FIRST.fullmatch(inner)
        before, inner = (before + number[1], number[2]) if number else (before, inner)
        letters = re.search("[A-Za-z]", inner)
        dangling = _DANGLING.fullmatch(_ANGLES.sub("v", inner))
        if dangling or not (inner in GREEK or (letters and _OPERATOR.search(inner))):
            continue
        try:
            return before + mark.replace("{}", latex(" ".join(inner.split()))) + after
        except NoFormulaError:
            continue
    return ""


def _trimmed(run: str) -> list[tuple[str, str, str]]:
    """Return the ways to read a run: without its articles, signs and brackets of the text."""
    match = re.fullmatch(
        r"((?:[-+=/:;,|<>]+\s+)*(?:a\s+(?![-+=<>/^]))?)(.*?)"
        r"((?:(?<![-+=/<>])\s+a|\s+[-+=/<>]+|\s+\()*[.,;:]*)",
        run,
        re.DOTALL,
    )
    assert match is not None
    before, inner, after = match.groups()
    ways = [(before, inner, after)]
    if inner.startswith("("):
        closed = inner.endswith(")")
        ways += [(f"{before}(", inner[1:], after)]
        ways += [(f"{before}(", inner[1:-1], f"){after}")] if closed else []
    if inner.endswith(")"):
        ways += [(before, inner[:-1].rstrip(",;"), f"){after}")]
    return [(b, i, a) for b, i, a in ways if _balanced(i)]


def _balanced(text: str) -> bool:
    pairs = ("()", "[]", "{}")
    return all(text.count(left) == text.count(right) for left, right in pairs)


def block(text: str) -> str:
    """Return an indented paragraph as LaTeX, its lines below one another; empty without a formula.

    Its words are names of quantities or of the text between formulas; a paragraph with hyphenated
    words, code or no relation is none.
    """
    lines = [line.strip() for line in text.splitlines()]
    if not any(re.search(r"<=|>=|<-|=|/", line) for line in lines) or re.search(
        r"[A-Za-z]-[a-z]{2}|[`\"#]", text
    ):
        return ""
    try:
        parsed = [latex(line.rstrip(".")) for line in lines]
    except NoFormulaError:
        return ""
    if len(parsed) == 1:
        return parsed[0]
    return r"\begin{array}{l} " + r" \\ ".join(parsed) + r" \end{array}"
