"""Conic systems: find y with A*y strictly inside K. All algorithms run on these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.cones.base import Oracles
from perceptron_lab.cones.operators.base import Operator
from perceptron_lab.cones.operators.kernels import Kernel, KernelMatrix
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.whitening import TOLERANCE, Whitening
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.registry import loaded
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.input_checks import ArrayOrSparse
from perceptron_lab.systems import constructors
from perceptron_lab.systems.certified import CertifiedSystem
from perceptron_lab.systems.linear_system import LinearSystem, linear_system
from perceptron_lab.systems.system import Counters, System

# A system, rows, or examples with their labels
Problem: TypeAlias = "System | constructors.Rows | tuple[constructors.Rows, npt.ArrayLike]"


@dataclass(frozen=True)
class ConicSystem(CertifiedSystem):
    """The system A*y in int K, or a view of it: its constructors and views.

    K is the positive orthant, a second-order or semidefinite cone, or a product of these; y is the
    unknown vector. ``solve`` accepts rows directly. A system is needed for other cones, or to
    evaluate the queries and products of algorithms.

    The parameters are those of :class:`~perceptron_lab.systems.counted.CountedSystem`, the proofs
    those of :class:`~perceptron_lab.systems.certified.CertifiedSystem`.

    See Also
    --------
    from_rows, from_labelled, from_kernel, second_order, from_matrices, from_linear, from_cvxpy

    Examples
    --------
    norm(y_1, y_2) < y_3 and y_1 > y_2, a second-order block and a row:

    >>> from perceptron_lab import solve
    >>> both = ConicSystem.second_order([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, -1, 0]], [3, 1])
    >>> both.constraints, both.dimension
    (3, 3)
    >>> solve(both).status.value
    'FEASIBLE'
    """

    @classmethod
    def of(cls, problem: Problem) -> ConicSystem:
        """Return a system as it is, that of rows (:meth:`from_rows`), or of a tuple ``(X, y)``."""
        system = system_of(problem).conic()
        if not isinstance(system, ConicSystem):
            raise InputError(f"{system!r} is no conic system; give its strict()")
        return system

    @classmethod
    def from_rows(
        cls,
        rows: constructors.Rows,
        *,
        margin: constructors.Margin = "unit",
        memory: int | None = None,
    ) -> ConicSystem:
        """Return the homogeneous system a_i'y > 0 of rows a_i.

        Parameters
        ----------
        rows
            Shape ``(m, dimension)``, dense, scipy.sparse, or a
            :class:`~perceptron_lab.cones.operators.row_source.RowSource`; double or single
            precision in C order (CSR without repeated entries) is used as it is, and may be
            memory-mapped. Numbers that no double is equal to are rounded once; proofs are about
            those given.
        margin
            ``unit`` (default): min_i a_i'y / norm(a_i) for norm(y) = 1; algorithms see the rows
            divided by their norms. ``directional``: min_i a_i'y, on the rows as given
            (`TsampoukaShaweTaylor`, (2.4)). ``geometric`` is of labelled examples only.
        memory
            Bytes that a pass over a dense array may take, 1 MB or more; None: whatever is fastest.
            A source has a separate limit.

        Raises
        ------
        InputError
            If the rows are not a finite, non-empty matrix without zero rows, or the margin or the
            memory is not possible.

        Examples
        --------
        >>> ConicSystem.from_rows([[2.0, 0.0], [0.0, 3.0]]).scores(np.array([1.0, 1.0]))
        array([1., 1.])
        >>> given = ConicSystem.from_rows([[2.0, 0.0], [0.0, 3.0]], margin="directional")
        >>> given.scores(np.array([1.0, 1.0]))
        array([2., 3.])
        """
        return cls._of(constructors.of_rows(rows, memory, margin), unit_rows=margin == "unit")

    @classmethod
    def _of(cls, parts: constructors.Parts, *, unit_rows: bool) -> ConicSystem:
        origin = None
        if parts.proved_on is not None:
            origin = cls(parts.proved_on, parts.cone, unit_rows=unit_rows, multiple=parts.multiple)
        return cls(parts.operator, parts.cone, origin, unit_rows=unit_rows)

    @classmethod
    def from_labelled(
        cls,
        examples: constructors.Rows,
        labels: npt.ArrayLike,
        *,
        affine: bool = True,
        augment: float = 1.0,
        margin: constructors.Margin = "unit",
        memory: int | None = None,
    ) -> ConicSystem:
        """Return the system y_i (w'x_i + rho b) > 0 of two classes, the point being (w, b).

        Parameters
        ----------
        examples
            x_i as rows, shape ``(m, features)``, dense or scipy.sparse (copied, in their own
            precision), or a source of rows.
        labels
            Two different values, shape ``(m,)``; the larger one is the positive class, or
            the later one in the order of an ordered categorical.
        affine
            Whether to append a constant feature (lifting, `PerceptronNotes`); without it b = 0.
        augment
            Its value rho > 0 (default 1). The larger it is, the nearer the directional margin is to
            the geometric one, and the longer the rows are (:func:`.geometric_bracket`).
            Where single precision would round it, the rows are in double precision.
        margin
            As for :meth:`from_rows`; or ``geometric``: min_i y_i (w'x_i + b) / norm(w) with b free,
            the largest of which is half the distance of the classes' hulls, the margin of support
            vector machines. Examples are then used as they are. Algorithms for it are
            ``minimum-norm-point``, ``auto`` and ``svc``; others run on the unit rows y_i (x_i, 1),
            and the geometric margin of their answers is proved.
        memory
            As for :meth:`from_rows`; with a memory, dense examples are not copied.

        Examples
        --------
        >>> system = ConicSystem.from_labelled([[1.0], [3.0]], ["no", "yes"])
        >>> system.prove_point(np.array([1.0, -2.0])).feasible  # x > 2
        True
        >>> wide = ConicSystem.from_labelled([[1.0], [3.0]], ["no", "yes"], margin="geometric")
        >>> print(f"{wide.prove_point(np.array([1.0, -2.0])).margin_lower:.6f}")
        1.000000
        """
        parts = constructors.of_labelled(
            examples, labels, affine=affine, augment=augment, margin=margin, memory=memory
        )
        return cls._of(parts, unit_rows=margin == "unit")

    @classmethod
    def from_kernel(
        cls,
        kernel: Kernel | Literal["precomputed"],
        examples: ArrayOrSparse | KernelMatrix,
        labels: npt.ArrayLike,
    ) -> ConicSystem:
        """Return the system s_i f(x_i) > 0 of two classes, f in the kernel's function space.

        s_i = +1 for the larger label. The point is f = sum_j c_j s_j K(x_j, .); an answer's is the
        vector of the coefficients c, shape ``(m,)``. The margin is that of the normalised features
        phi(x) / sqrt(K(x, x)) (`RamdasPena2014`, (5)); there is no bias.

        Proofs are about the kernel, whose values are enclosed; about the values themselves if they
        are given or come from a kernel of a user's own. Such a matrix that is not positive
        semidefinite to the last bit gets a larger diagonal (``certificate["data"]`` says by how
        much).

        Parameters
        ----------
        kernel
            A record of :mod:`perceptron_lab.cones.operators.kernels`, or ``"precomputed"``.
        examples
            x_i as rows, shape ``(m, features)``; if precomputed, the matrix K(x_i, x_j) itself, or
            a :class:`~perceptron_lab.cones.operators.kernels.KernelMatrix`.
        labels
            Two different values, shape ``(m,)``.
        """
        return cls._of(constructors.of_kernel(kernel, examples, labels), unit_rows=True)

    @classmethod
    def second_order(cls, matrix: ArrayOrSparse, sizes: Sequence[int]) -> ConicSystem:
        """Return the system norm(u_k) < t_k, (u_k, t_k) = M_k y, of second-order blocks.

        Parameters
        ----------
        matrix
            The blocks M_k below one another, each with its t in its last row, shape
            ``(sum(sizes), dimension)``, dense or scipy.sparse.
        sizes
            The number of rows of each block; a block of one row is the inequality t > 0.

        Examples
        --------
        >>> ball = ConicSystem.second_order(np.eye(3), [3])  # norm(y_1, y_2) < y_3
        >>> ball.cut(np.array([0.0, 0.0, 1.0])) is None
        True
        """
        return cls._of(constructors.of_second_order(matrix, sizes), unit_rows=False)

    @classmethod
    def from_matrices(
        cls, constant: ArrayOrSparse, matrices: Sequence[ArrayOrSparse]
    ) -> ConicSystem:
        """Return the linear matrix inequality sum_i x_i F_i - F_0 positive definite.

        A point is (x_0, x) with x_0 > 0 and sum_i x_i F_i - x_0 F_0 positive definite: x / x_0
        satisfies the inequality strictly. INFEASIBLE says that no x does; ``infeasibility`` of the
        result says whether some make the matrix singular and positive semidefinite.

        Parameters
        ----------
        constant, matrices
            F_0 and F_1, ..., F_m, symmetric, of one order, dense or scipy.sparse. The sign of
            F_0 is that of SDPA's format. Several inequalities are one, of block-diagonal matrices
            (``scipy.linalg.block_diag``); the blocks are found.

        Raises
        ------
        InputError
            If a matrix is not square, symmetric and finite, or the orders differ.

        Examples
        --------
        Lyapunov's inequality, A'P + PA negative definite and P positive definite, for
        A = [[-1, 2], [0, -3]] and P = [[x_1, x_2], [x_2, x_3]]:

        >>> from scipy.linalg import block_diag
        >>> from perceptron_lab import solve
        >>> basis = [np.array(E) for E in ([[1, 0], [0, 0]], [[0, 1], [1, 0]], [[0, 0], [0, 1]])]
        >>> A = np.array([[-1, 2], [0, -3]])
        >>> lyapunov = ConicSystem.from_matrices(
        ...     np.zeros((4, 4)), [block_diag(-A.T @ E - E @ A, E) for E in basis]
        ... )
        >>> result = solve(lyapunov)
        >>> x = result.point[1:] / result.point[0]
        >>> P = sum(x_i * E for x_i, E in zip(x, basis))
        >>> result.status.value, bool((np.linalg.eigvalsh(P) > 0).all())
        ('FEASIBLE', True)
        """
        # By name: the module makes conic systems
        of_matrices = loaded("perceptron_lab.systems.pencil:of_matrices")
        system: ConicSystem = of_matrices(constant, matrices)
        return system

    @classmethod
    def from_linear(
        cls,
        matrix: ArrayOrSparse,
        right: npt.ArrayLike,
        equalities: tuple[ArrayOrSparse, npt.ArrayLike] | None = None,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
    ) -> LinearSystem:
        """Return the linear system {x : A x >= b, C x = d, lower <= x <= upper}.

        The set is closed. :func:`~perceptron_lab.solving.entry.solve` decides whether it has a
        point, by an exact rational point or by exact weights of Farkas' lemma, never by doubles
        alone.

        Parameters
        ----------
        matrix, right
            A, shape ``(m, n)``, dense or scipy.sparse, and b, shape ``(m,)``. Every number counts
            as it is: doubles, integers of any size, fractions, decimals. m may be 0.
        equalities
            ``(C, d)``, of shapes ``(k, n)`` and ``(k,)``; None for none.
        lower, upper
            One bound for all variables, or one each; None and infinity stand for none.

        Raises
        ------
        InputError
            If a number is NaN, or infinite where it is no bound, or the shapes do not agree.

        Examples
        --------
        >>> from perceptron_lab import solve
        >>> thirds = ConicSystem.from_linear([[-1, -1]], [-1], ([[3, 0]], [1]), lower=0)
        >>> found = solve(thirds)
        >>> found.status.value, found.x[0]
        ('FEASIBLE', Fraction(1, 3))
        """
        return linear_system(matrix, right, equalities, lower, upper)

    @classmethod
    def from_cvxpy(cls, problem: object) -> System:
        """Return the feasible set of a cvxpy problem, its objective left out.

        Its numbers are those of cvxpy's conic form, doubles that cvxpy has computed. Linear
        constraints make a :class:`~perceptron_lab.systems.linear_system.LinearSystem`, whose
        ``variables`` are cvxpy's and its auxiliary ones. With second-order cones or matrices the
        question is that of a solution strictly inside these, homogenised: a point is (t, x) with
        t > 0. Linear inequalities may be equations at x / t; those that have to be are eliminated.

        Equations together with such cones make an
        :class:`~perceptron_lab.systems.elimination.EliminatedSystem`: variables are
        eliminated in rational numbers, algorithms run on the others, and the ``x`` of a result
        satisfies the equations exactly. Equations that contradict each other are a linear system of
        their own. Where equations leave of the cones nothing but a part of their boundary, the
        answer is that no x is strictly inside, unless all weights that prove it are irrational.

        Parameters
        ----------
        problem
            A ``cvxpy.Problem`` that follows its rules, in real variables.

        Raises
        ------
        InputError
            If a constraint is on another cone, or equations would take minutes to be solved
            exactly.

        Examples
        --------
        >>> import cvxpy
        >>> x = cvxpy.Variable(2, name="x")
        >>> apart = cvxpy.Problem(cvxpy.Minimize(0), [x >= 1, cvxpy.sum(x) <= 1])
        >>> ConicSystem.from_cvxpy(apart).variables
        ('x[0]', 'x[1]')

        A chord of a disk:

        >>> from perceptron_lab import solve
        >>> disk = cvxpy.Problem(cvxpy.Minimize(0), [cvxpy.norm(x) <= 1, 3 * x[0] == 1])
        >>> chord = ConicSystem.from_cvxpy(disk)
        >>> found = solve(chord)
        >>> found.status.value, dict(zip(chord.variables, found.x))["x[0]"]
        ('FEASIBLE', Fraction(1, 3))
        """
        # By name: its cones make conic systems, and cvxpy takes a second to load
        system_of_problem = loaded("perceptron_lab.systems.cvxpy_problem:system_of_problem")
        system: System = system_of_problem(problem)
        return system

    def started(self, oracles: Oracles, rng: np.random.Generator) -> ConicSystem:
        """Return this system with fresh oracles (by kind of cone) and fresh counters."""
        return replace(self, cone=self.cone.started(oracles, rng), counters=Counters())

    def fixed(self, certificate: Mapping[str, object]) -> ConicSystem:
        """Return the system that a run's certificate is about: this one, unless runs change it."""
        implied: Any = certificate.get("implied_equalities")
        if not implied:
            return self
        # By name: the module makes conic systems
        with_equations = loaded("perceptron_lab.systems.elimination:with_equations")
        reduced: ConicSystem | None = with_equations(self, implied)
        return self if reduced is None else reduced

    def coordinates_of(self, point: FloatArray) -> FloatArray:
        """Return the point of an answer in the coordinates of the system."""
        return point

    def stricter(self) -> ConicSystem:
        """Return this system with oracles that refuse the boundary, and ten times the tolerance."""
        return replace(self, cone=self.cone.strict(), tolerance=max(1e-15, 10.0 * self.tolerance))

    def with_operator(self, operator: Operator) -> ConicSystem:
        """Return the same cone, oracles and counters on other data of the same size."""
        return replace(self, operator=operator)

    def unnormalised(self) -> ConicSystem:
        """Return the system on the data as given, with the same points, oracles and counters."""
        return replace(self, operator=self.operator.unscaled())

    def in_coordinates(self) -> ConicSystem:
        """Return a system whose points are plain vectors: a Gram system in an orthonormal basis.

        The basis is that of a pivoted Cholesky factor, so that the dimension is the rank of the
        Gram matrix. Other systems are returned as they are.
        """
        if self.operator.free_bias:
            return self.formed()
        operator = self.operator.in_coordinates()
        return self if operator is self.operator else replace(self, operator=operator)

    def formed(self) -> ConicSystem:
        """Return two classes as unit rows y_i (x_i, 1), in place of examples with a free bias.

        Points are the same, and answers are proved of the geometric margin. Other systems are
        returned as they are.
        """
        if not self.operator.free_bias:
            return self
        return replace(self, operator=self.operator.formed(), origin=self, unit_rows=True)

    def completed(self, *, required: bool = True, keep_sparse: bool = False) -> ConicSystem:
        """Return the same system with all entries of its matrix blocks, so that weights are whole.

        Off the pattern the scores are zero.

        Parameters
        ----------
        required
            Whether blocks that are too large for it are refused; else they keep their pattern.
        keep_sparse
            Whether sparse blocks keep theirs, too, and whole matrices are avoided for them.
        """
        if self.operator.free_bias:
            return self.formed()
        cone, indices = self.cone.completed(required=required, keep_sparse=keep_sparse)
        operator = self.operator
        if cone.size != self.cone.size:
            assert isinstance(operator, Matrix)
            entries = (np.ones(len(indices)), (indices, np.arange(len(indices))))
            spread = sp.csr_array(entries, shape=(cone.size, len(indices)))
            data = sp.csr_array(spread @ sp.csr_array(operator.data))
            operator = Matrix(data, roundings=operator.roundings)
        return self if cone is self.cone else replace(self, operator=operator, cone=cone)

    def whitened(self, tolerance: float = TOLERANCE) -> ConicSystem:
        """Return the system in coordinates in which A A* = I, its rows then of norm 1.

        See :class:`~perceptron_lab.cones.operators.whitening.Whitening`. Margins are others;
        answers are proved on the original data. Gram systems are first given coordinates, and
        matrix blocks all entries; rows of other cones keep their lengths.
        """
        base = self.in_coordinates().completed()
        data, cone = base.operator, base.cone
        assert isinstance(data, Matrix)
        operator = Whitening(data, cone.multiplicity, unit=cone.of_rows, tolerance=tolerance)
        inside = None if base.interior is None else operator.from_base(base.interior)
        origin = base if base.origin is None else base.origin
        return replace(base, operator=operator, origin=origin, interior=inside)


def system_of(problem: Problem, margin: constructors.Margin | None = None) -> System:
    """Return the system of a problem; a ``margin`` is of rows and examples only."""
    if isinstance(problem, System):
        if margin is not None:
            raise InputError(
                f"margin {margin!r} of a conic system, which has its own; leave it out"
            )
        return problem
    if not isinstance(problem, tuple):
        return ConicSystem.from_rows(problem, margin=margin or "unit")
    if len(problem) != 2:
        raise InputError(f"a tuple of length {len(problem)}; give (X, y), examples and labels")
    if isinstance(problem[0], System):
        raise InputError("labels were given with a conic system, which has its own; leave them out")
    return ConicSystem.from_labelled(*problem, margin=margin or "unit")
