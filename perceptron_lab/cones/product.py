"""Products of cones: blocks of one flat vector, with one joint base."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Self

import numpy as np

from perceptron_lab.cones.base import Atom, Cone, Frame, Oracles
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.compiled.kernel import Functions


class Product(Cone):
    """K_1 x .. x K_p, with e the concatenation, and Delta(K) = {w in K*: sum_i <e_i, w_i> = 1}.

    The parts, one or more, are in the order of their blocks. ``separate`` queries them in this
    order.
    """

    def __init__(self, parts: Sequence[Cone]) -> None:
        self.parts = tuple(parts)
        ends = np.cumsum([part.size for part in parts]).tolist()
        self.spans = [slice(end - p.size, end) for p, end in zip(parts, ends, strict=True)]
        self.size, self.rank = ends[-1], sum(part.rank for part in parts)
        self.identity = np.concatenate([part.identity for part in parts])
        self.multiplicity = np.concatenate([part.multiplicity for part in parts])
        self.oracles = {kind: oracle for p in parts for kind, oracle in p.oracles.items()}
        self._cuts = np.cumsum([part.rank for part in parts])[:-1]

    @property
    def blocks(self) -> list[tuple[Cone, slice]]:
        """The factors and where they lie."""
        return list(zip(self.parts, self.spans, strict=True))

    @property
    def notes(self) -> list[str]:
        """The remarks of the factors' oracles."""
        return [note for part in self.parts for note in part.notes]

    @property
    def answers(self) -> Counter[str]:
        """The sums of the factors' answer counts."""
        return sum((part.answers for part in self.parts), Counter())

    def separate(self, scores: FloatArray, slack: float = 0.0) -> Atom | None:
        """Return the atom of the first block that is violated."""
        for part, span in self.blocks:
            atom = part.separate(scores[span], slack)
            if atom is not None:
                return _shifted(atom, span.start)
        return None

    def deepest(self, scores: FloatArray) -> tuple[Atom, float]:
        """Return the deepest atom of the block whose lowest eigenvalue is least."""
        deepest = [(*part.deepest(scores[span]), span.start) for part, span in self.blocks]
        # By value alone: atoms are arrays, which do not compare.
        atom, value, start = min(deepest, key=lambda answer: answer[1])
        return _shifted(atom, start), value

    def eigenvalues(self, scores: FloatArray) -> FloatArray:
        """Return the eigenvalues of all blocks, block after block."""
        return np.concatenate([part.eigenvalues(scores[span]) for part, span in self.blocks])

    def lowest(self, scores: FloatArray) -> float:
        """Return the least of the blocks' lowest eigenvalues; NaN if one of them is NaN."""
        # np.min, unlike min, returns NaN if any value is NaN: a failed block must not pass as
        # feasible.
        return float(np.min([part.lowest(scores[span]) for part, span in self.blocks]))

    def spectrum(self, scores: FloatArray) -> tuple[FloatArray, list[Frame]]:
        """Return the eigenvalues of all blocks and the list of their frames."""
        spectra = (part.spectrum(scores[span]) for part, span in self.blocks)
        values, frames = zip(*spectra, strict=True)
        return np.concatenate(values), list(frames)

    def assemble(self, eigenvalues: FloatArray, frame: list[Frame]) -> FloatArray:
        """Return the blocks assembled one by one."""
        values = np.split(eigenvalues, self._cuts)
        blocks = zip(self.parts, values, frame, strict=True)
        return np.concatenate([part.assemble(v, f) for part, v, f in blocks])

    def compiled(self, oracles: Oracles) -> Functions:
        """Return the compiled functions of the factors' oracles."""
        return list(chain(*(part.compiled(oracles) for part in self.parts)))

    def started(self, oracles: Oracles, rng: np.random.Generator) -> Self:
        """Return the product of the parts with fresh oracles."""
        return type(self)([part.started(oracles, rng) for part in self.parts])

    def completed(
        self, *, required: bool = True, keep_sparse: bool = False
    ) -> tuple[Cone, IntArray]:
        """Return the product of the completed parts, and where this one's entries lie in it."""
        # Each part is completed separately; spans of the product are recomputed, as sizes change.
        cones, positions = zip(
            *(part.completed(required=required, keep_sparse=keep_sparse) for part in self.parts),
            strict=True,
        )
        if all(cone is part for cone, part in zip(cones, self.parts, strict=True)):
            return self, np.arange(self.size)
        product = type(self)(cones)
        starts = [span.start for span in product.spans]
        shifted = [position + start for position, start in zip(positions, starts, strict=True)]
        return product, np.concatenate(shifted)

    def strict(self) -> Self:
        """Return the product of the parts with oracles that refuse the boundary."""
        return type(self)([part.strict() for part in self.parts])


def _shifted(atom: Atom, start: int) -> Atom:
    """Return a block's atom in the coordinates of the product."""
    span = slice(start + atom.span.start, start + atom.span.stop)
    return Atom(span, atom.values, atom.direction)
