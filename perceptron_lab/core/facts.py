"""The quantities of a system on which update bounds depend."""

from __future__ import annotations

from dataclasses import dataclass

from perceptron_lab.core.errors import refuse_flags


@dataclass(frozen=True)
class Facts:
    """Known quantities of a system, for ``algorithm.bound(facts)``.

    A margin may be a lower bound, since every bound decreases in it. None: not known.

    Parameters
    ----------
    dimension
        Number of unknowns, n.
    rank
        1 per row, n per matrix block of order n.
    margin
        rho: for rows max over unit y of min_i a_i'y / norm(a_i); for other cones, and for rows
        whose margin is the directional one, max over unit y of the lowest eigenvalue of A*y, data
        as given.
    unit_margin
        The same for unit cuts, min over cuts of a'y / norm(a).
    raw_margin
        The same for cuts as given, min over cuts of a'y.
    norm
        An upper bound of norm(a) over the cuts as given.
    shortest
        The least norm(a) of rows as given, if it is not 0; other cones have none.
    unit_rows
        Whether the cuts are unit rows, as the theorems on rescaling need.
    spectral
        An upper bound of norm(A)_2, of unit rows or the data as given.
    largest_entry
        An upper bound of the entries |a_ij| of the rows that ``margin`` refers to.
    l1_margin
        max over y with norm(y)_1 = 1 of min over cuts of a'y / norm(a)_inf.
    hull_radius
        Where no point is feasible, a proved lower bound of |rho|: of the radius of the largest ball
        around 0, within the span of the cuts, in the hull A Delta(K).
    centre_norm
        An upper bound of norm(A q) for q = e / n, the centre of Delta(K).

    Examples
    --------
    >>> from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
    >>> print(Perceptron().bound(Facts(dimension=2, rank=3, unit_margin=0.1)))
    100 updates (Theorem 2.7 (Novikoff) of Kharechko2009)
    """

    dimension: int
    rank: int
    margin: float | None = None
    unit_margin: float | None = None
    raw_margin: float | None = None
    norm: float | None = None
    shortest: float | None = None
    unit_rows: bool = False
    spectral: float | None = None
    largest_entry: float | None = None
    l1_margin: float | None = None
    hull_radius: float | None = None
    centre_norm: float | None = None

    def __post_init__(self) -> None:
        refuse_flags(unit_rows=self.unit_rows)

    @property
    def atom_norm(self) -> float | None:
        """An upper bound L of norm(A(atom)) for the cuts that ``margin`` refers to."""
        return 1.0 if self.unit_rows else self.norm

    @property
    def shortest_cut(self) -> float | None:
        """The least norm of the rows that ``margin`` refers to."""
        return 1.0 if self.unit_rows else self.shortest

    @property
    def start_norm(self) -> float | None:
        """An upper bound of norm(A q) for q = e / n: ``centre_norm``, or L."""
        return self.atom_norm if self.centre_norm is None else self.centre_norm
