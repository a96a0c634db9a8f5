"""perceptron_lab: the reference laboratory for perceptron-type feasibility algorithms.

Given a linear map A* and a cone K, find a point y with A*y strictly inside K, or show (nearly) why
there is none. The notation, one for all papers and all cones:

=================  ==================================  =============================================
symbol             code                                meaning
=================  ==================================  =============================================
y, x, w            ``point``, ``(dimension,)``         the unknown
A*y                ``scores``, flat, ``(size,)``       an element of the space of K; a matrix block
                                                       holds the entries of its sparsity pattern, a
                                                       product of cones is slices
w in Delta(K)      ``weights``, flat, ``(size,)``      base {w in K*: <e, w> = 1}; off-diagonals of
                                                       matrix weights doubled, so that a plain dot
                                                       is the trace
A w                ``combine(weights)``                the adjoint
extreme point      ``atom``: (span, values)            e_j; v v' with norm(v) = 1; (u, 1) with
                                                       norm(u) = 1
a = A(atom)        ``cut.normal``                      a violated constraint, <normal, point> <= 0
e                  ``identity``                        ones; I; (0, .., 0, 1); their concatenation
rho                ``margin``                          rows: max over unit y of min_i a_i'y / |a_i|;
                                                       other cones: max over unit y of the lowest
                                                       eigenvalue of A*y, data as given
n in ln n          ``rank``                            1 per row, n per matrix block of order n,
                                                       2 per second-order block
=================  ==================================  =============================================

With a kernel a point is a function; to a user it is the vector of its coefficients.

Data are rows ``(m, dimension)``: row i is example or constraint i. An *update* changes the point
once; a *query* is one call of the separation oracle; a *product* is one full application of
``scores`` or ``combine``.

Papers are cited by key: `Kharechko2009` ("the thesis": A. Kharechko, PhD thesis, University of
Southampton, 2009), `RamdasPena2014`, `PerceptronNotes`, `YuKilincCarbonell2014`,
`TsampoukaShaweTaylor`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from perceptron_lab.core import former_paths, missing_packages
from perceptron_lab.core.version import __version__ as __version__

if TYPE_CHECKING:
    from perceptron_lab.core.goals import Budget as Budget
    from perceptron_lab.core.results import Result as Result
    from perceptron_lab.core.results import Status as Status
    from perceptron_lab.datasets.collections.verification import verify_data as verify_data
    from perceptron_lab.datasets.download.fetching import fetch_data as fetch_data
    from perceptron_lab.estimators import (
        EllipsoidSeparationClassifier as EllipsoidSeparationClassifier,
    )
    from perceptron_lab.estimators import SoftEllipsoidClassifier as SoftEllipsoidClassifier
    from perceptron_lab.experiments.certifying.certify import certify as certify
    from perceptron_lab.experiments.check import check as check
    from perceptron_lab.experiments.configuration.catalogue import list_names as list_names
    from perceptron_lab.experiments.configuration.catalogue import show as show
    from perceptron_lab.experiments.configuration.config import ExperimentConfig as ExperimentConfig
    from perceptron_lab.experiments.registration import register as register
    from perceptron_lab.experiments.run import Results as Results
    from perceptron_lab.experiments.run import run as run
    from perceptron_lab.experiments.running.status import status as status
    from perceptron_lab.experiments.verify import verify as verify
    from perceptron_lab.problems.optima.optimum import optimum as optimum
    from perceptron_lab.problems.separation.maximum_support import (
        maximum_support as maximum_support,
    )
    from perceptron_lab.problems.separation.separation import separation as separation
    from perceptron_lab.reporting.compare import compare as compare
    from perceptron_lab.reporting.pages.writing import pages as pages
    from perceptron_lab.reporting.report import report as report
    from perceptron_lab.solving.entry import solve as solve
    from perceptron_lab.systems import ConicSystem as ConicSystem
    from perceptron_lab.systems.infeasible_margin import negative_margin as negative_margin

former_paths.install()
missing_packages.install()

_PUBLIC = {
    "Budget": "perceptron_lab.core.goals",
    "ConicSystem": "perceptron_lab.systems",
    "EllipsoidSeparationClassifier": "perceptron_lab.estimators",
    "ExperimentConfig": "perceptron_lab.experiments.configuration.config",
    "Result": "perceptron_lab.core.results",
    "Results": "perceptron_lab.experiments.run",
    "SoftEllipsoidClassifier": "perceptron_lab.estimators",
    "Status": "perceptron_lab.core.results",
    "certify": "perceptron_lab.experiments.certifying.certify",
    "check": "perceptron_lab.experiments.check",
    "compare": "perceptron_lab.reporting.compare",
    "fetch_data": "perceptron_lab.datasets.download.fetching",
    "list_names": "perceptron_lab.experiments.configuration.catalogue",
    "maximum_support": "perceptron_lab.problems.separation.maximum_support",
    "negative_margin": "perceptron_lab.systems.infeasible_margin",
    "optimum": "perceptron_lab.problems.optima.optimum",
    "pages": "perceptron_lab.reporting.pages.writing",
    "register": "perceptron_lab.experiments.registration",
    "report": "perceptron_lab.reporting.report",
    "run": "perceptron_lab.experiments.run",
    "separation": "perceptron_lab.problems.separation.separation",
    "show": "perceptron_lab.experiments.configuration.catalogue",
    "solve": "perceptron_lab.solving.entry",
    "status": "perceptron_lab.experiments.running.status",
    "verify": "perceptron_lab.experiments.verify",
    "verify_data": "perceptron_lab.datasets.collections.verification",
}

__all__ = [*_PUBLIC, "__version__"]


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that ``import perceptron_lab`` stays light."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'perceptron_lab' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
