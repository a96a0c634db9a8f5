"""The data of a certificate as exact fractions: rows, blocks of a cone, and the scale D."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

Row = dict[int, fmpq]  # entries that are not 0, by column


@dataclass(frozen=True)
class System:
    """A as rows of fractions, one for each place of a cone.

    `blocks` lists (kind, order). `scale` is D. `costs` are those of an SDPA file with x_0, and None
    for all other data.
    """

    form: str
    rows: list[Row]
    width: int
    blocks: list[tuple[str, int]]
    scale: int
    costs: list[fmpq] | None = None

    @property
    def only_rows(self) -> bool:
        return all(kind == "rows" for kind, _ in self.blocks)

    @property
    def has_features(self) -> bool:
        """Return whether the columns are those of a table."""
        return self.only_rows and self.form in ("table", "labelled", "cone")


def block_size(kind: str, order: int) -> int:
    return order * (order + 1) // 2 if kind == "matrix" else order


def triangle(order: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(order) for j in range(i, order)]
