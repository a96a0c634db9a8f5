"""What an iteration of the interior-point method takes, in operations, and whether it can be made.

Operations are those of dense products; calls of small functions count for what they take in time.
"""

from __future__ import annotations

from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.row_source import RowSource
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.systems import ConicSystem

# Numbers of the dense data, of which matrices take six copies: 128 megabytes each
MOST_ENTRIES = 2**24
# Operations of one iteration: some ten seconds
MOST_OPERATIONS = 1e11
# Of the calls of an iteration, of a query, and of it for each block and each matrix
CALLS, CALLS_OF_A_QUERY, CALLS_OF_A_BLOCK, CALLS_OF_A_MATRIX = 1e7, 2e6, 1e5, 1e6
# Operations of the lowest eigenvalue of a matrix of order 1
EIGENVALUE = 30.0


def iteration_operations(system: ConicSystem) -> float:
    """Return those of the normal equations, and of a congruence of every F_i."""
    size, dimension = float(system.cone.size), float(system.dimension)
    congruences = 4.0 * dimension * sum(_cubes(system))
    return CALLS + 2.0 * size * dimension * dimension + dimension**3 + congruences


def query_operations(system: ConicSystem) -> float:
    """Return those of a query of the deepest cut and its image."""
    size, dimension = float(system.cone.size), float(system.dimension)
    cubes = _cubes(system)
    calls = CALLS_OF_A_QUERY + CALLS_OF_A_BLOCK * len(system.cone.blocks)
    matrices = CALLS_OF_A_MATRIX * len(cubes) + EIGENVALUE * sum(cubes)
    return calls + 4.0 * size * dimension + matrices


def affordable(system: ConicSystem) -> bool:
    """Return whether the data are whole matrices in memory, and an iteration takes seconds only."""
    operator = system.operator
    if not isinstance(operator, Matrix) or isinstance(operator.stored, RowSource):
        return False
    parts = [part for part, _ in system.cone.blocks if isinstance(part, Semidefinite)]
    whole = all(part.complete and not part.by_entries for part in parts)
    few = system.cone.size * system.dimension <= MOST_ENTRIES
    return whole and few and iteration_operations(system) <= MOST_OPERATIONS


def _cubes(system: ConicSystem) -> list[float]:
    parts = [part for part, _ in system.cone.blocks if isinstance(part, Semidefinite)]
    return [float(part.rank) ** 3 for part in parts]
