"""The certificates of each kind of cone, extended by ``register_proofs``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perceptron_lab.certificates.contract import ConeProofs
from perceptron_lab.certificates.matrices.semidefinite import SemidefiniteProofs
from perceptron_lab.certificates.rounding import normalised
from perceptron_lab.certificates.rows.orthant import OrthantProofs
from perceptron_lab.certificates.second_order import SecondOrderProofs
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.base import Data, Operator
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.roundoff import require_ieee_mode

_PROOFS: dict[type[Cone], type[ConeProofs[Any]]] = {
    Orthant: OrthantProofs,
    SecondOrder: SecondOrderProofs,
    Semidefinite: SemidefiniteProofs,
}


def register_proofs(kind: type[Cone], proofs: type[ConeProofs[Any]]) -> None:
    """Register the class that verifies certificates of a kind of cone."""
    _PROOFS[kind] = proofs


def proofs_of(block: Cone) -> ConeProofs[Any]:
    """Return the proofs of a cone that is no product."""
    if type(block) not in _PROOFS:
        raise TypeError(f"no proof is known for the cone {type(block).__name__}")
    return _PROOFS[type(block)](block)


def by_block(cone: Cone, data: Data) -> Iterator[tuple[ConeProofs[Any], Any, slice]]:
    """Yield for each block its verifier, its rows of the data, and its slice."""
    blocks = cone.blocks
    for part, at in blocks:
        yield proofs_of(part), data if len(blocks) == 1 else data[at], at  # type: ignore[index]


def ray_on(operator: Operator, vector: FloatArray, size: int) -> FloatArray | None:
    """Return a vector normalised for data without row scaling; None if it has no direction."""
    require_ieee_mode()
    if operator.scale is not None:
        raise ValueError("proofs are on the original data: the operator must have no scale")
    return normalised(vector) if vector.shape == (size,) else None
