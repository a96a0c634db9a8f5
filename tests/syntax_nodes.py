"""The nodes of a syntax tree by their types, found in one walk."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)


class Nodes:
    """All nodes of a tree; where they refer to a variable, without the kind of that reference."""

    def __init__(self, tree: ast.AST) -> None:
        self._by_type: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        reached = [tree]
        for node in reached:
            self._by_type[type(node)].append(node)
            for value in vars(node).values():
                if isinstance(value, list):
                    reached += [part for part in value if isinstance(part, ast.AST)]
                elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                    reached.append(value)

    def of(self, *types: type[Node]) -> list[Node]:
        """Return the nodes of some types, type by type."""
        return [node for kind in types for node in self._by_type[kind]]  # type: ignore[misc]
