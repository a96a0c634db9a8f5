"""Disjoint irreducible conflicts of an infeasible linear system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from perceptron_lab.algorithms.linear.deciding import decide
from perceptron_lab.algorithms.linear.linear_result import contradiction_text
from perceptron_lab.algorithms.linear.proofs import LinearProof
from perceptron_lab.core.results import Status
from perceptron_lab.systems.linear_system import LinearSystem


@dataclass(frozen=True)
class Conflicts:
    """Conflicts of which no two have a condition in common.

    Parameters
    ----------
    system
        The conditions.
    proofs
        Farkas' weights of each conflict, by the conditions of the system.
    maximal
        Whether the conditions outside of all conflicts are proved to have a point together, so that
        every other conflict has a condition in common with one of these.
    """

    system: LinearSystem
    proofs: tuple[LinearProof, ...]
    maximal: bool

    @property
    def names(self) -> list[list[str]]:
        """The names of the conditions of each conflict."""
        return [
            [self.system.conditions[k].name for k in sorted(proof.weights)] for proof in self.proofs
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the names of each conflict, and whether the family is maximal."""
        return {"names": self.names, "maximal": self.maximal}

    def sentences(self) -> list[str]:
        """Return each conflict in words, and whether there may be further ones."""
        texts = [contradiction_text(self.system, proof) for proof in self.proofs]
        lines = [f"conflict {i}: {text}" for i, text in enumerate(texts, start=1)]
        if self.maximal:
            return [*lines, "the conditions outside of these conflicts have a point (proved)"]
        return [*lines, "it is not decided whether the other conditions have a point"]


def disjoint_conflicts(system: LinearSystem, pivots: int = 1_000_000) -> Conflicts:
    """Return a maximal family of disjoint conflicts, as far as the time limit allows.

    The conditions of each proved contradiction are left out, until the others have a point.

    Parameters
    ----------
    system
        The conditions.
    pivots
        Exact pivots of each decision at most.

    Examples
    --------
    >>> from perceptron_lab.systems.linear_system import linear_system
    >>> system = linear_system([[1, 0], [0, 1]], [2, 3], lower=0, upper=1)
    >>> disjoint_conflicts(system).names
    [['row 1', 'x_1 <= 1'], ['row 2', 'x_2 <= 1']]
    """
    remaining = list(range(len(system.conditions)))
    proofs: list[LinearProof] = []
    while True:
        conditions = tuple(system.conditions[k] for k in remaining)
        decision = decide(LinearSystem(conditions, system.variables), pivots)
        if decision.status is not Status.INFEASIBLE:
            return Conflicts(system, tuple(proofs), decision.status is Status.FEASIBLE)
        # The decision counts the remaining conditions, the proof all of them
        weights = {remaining[i]: weight for i, weight in decision.proof.weights.items()}
        proofs.append(LinearProof(weights=weights, irreducible=decision.proof.irreducible))
        # Conflicts that share a condition would be repaired by one change: they count once
        remaining = [k for k in remaining if k not in weights]
