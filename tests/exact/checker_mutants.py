"""Mutants of the checker: in each a comparison, number, sign or requirement is changed."""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from perceptron_lab.exact.checker import checker_path

SOURCE = checker_path().read_text(encoding="utf-8")

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitAnd: (ast.BitOr,),
}
CALLS = {"min": "max", "max": "min", "all": "any", "any": "all", "abs": "", "sorted": "list"}
REQUIRED = ("require", "readable", "require_definite", "require_inside", "fields")


@dataclass(frozen=True)
class Mutant:
    """A changed checker: the line, the node before and after the change, and the program."""

    line: int
    before: str
    after: str
    code: types.CodeType

    def __str__(self) -> str:
        return f"{self.before} -> {self.after}"

    def module(self) -> Any:
        """Return the checker's module, as it is after the change."""
        module = types.ModuleType("mutant")
        exec(self.code, module.__dict__)
        return module


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in place of a node."""
    if isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                changed = copy.deepcopy(node)
                changed.ops[at] = other()
                yield changed
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        if len(node.values) > 2:
            for at in range(len(node.values)):
                yield ast.BoolOp(node.op, node.values[:at] + node.values[at + 1 :])
        else:
            yield from node.values
    elif isinstance(node, ast.BinOp | ast.AugAssign):
        for other in ARITHMETIC.get(type(node.op), ()):
            changed = copy.deepcopy(node)
            changed.op = other()
            yield changed
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield from (ast.Constant(node.value + 1), ast.Constant(node.value - 1))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        other = CALLS.get(node.func.id)
        if other:
            yield ast.Call(ast.Name(other, ast.Load()), node.args, node.keywords)
        elif other == "":
            yield node.args[0]


def removed(node: ast.AST) -> bool:
    """Return whether a statement is a requirement, which mutants are without."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id in REQUIRED
    )


def mutants(first: int = 0, step: int = 1) -> Iterator[Mutant]:
    """Yield the mutants of the checker, by line: all, or each of so many from the first on."""
    tree = ast.parse(SOURCE)
    for number, (node, replace, other) in enumerate(_changed(tree)):
        if number % step == first:
            replace(ast.fix_missing_locations(ast.copy_location(other, node)))
            code = compile(tree, "mutant", "exec")
            replace(node)
            yield Mutant(node.lineno, ast.unparse(node), ast.unparse(other), code)


def number_of_mutants() -> int:
    """Return how many mutants there are."""
    return sum(1 for _ in _changed(ast.parse(SOURCE)))


def _changed(tree: ast.AST) -> Iterator[tuple[Any, Callable[[ast.AST], None], ast.AST]]:
    """Yield nodes of a tree, what puts another in the place of each, and such another."""
    for node, replace in list(nodes(tree)):
        for other in [*changes(node), *([ast.Pass()] if removed(node) else [])]:
            yield node, replace, other


def nodes(tree: ast.AST) -> Iterator[tuple[Any, Callable[[ast.AST], None]]]:
    """Yield the nodes of statements and expressions, each with what puts another in its place."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if isinstance(value, list):
                for at, child in enumerate(value):
                    if hasattr(child, "lineno"):
                        yield child, partial(value.__setitem__, at)
            elif hasattr(value, "lineno"):
                yield value, partial(setattr, parent, name)
