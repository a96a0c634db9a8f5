"""The families of the algorithms, by the folders of their modules."""

from __future__ import annotations

from perceptron_lab.core import registry

FAMILIES = {
    "Perceptrons": ("perceptrons",),
    "Large margins": ("margins",),
    "Nearest points of the hull": ("nearest_point",),
    "Smoothing": ("smoothing",),
    "Saddle points": ("saddle_points",),
    "Rescaling, ellipsoids and other bodies": ("rescaling", "projection"),
    "Interior points": ("interior_point",),
    "Combinations": ("automatic", "retrained", "external.postprocessed"),
    "Wrapped solvers": ("external",),
}
"""Family -> the beginnings of the names of its modules, below ``perceptron_lab.algorithms``."""
ABOUT = {
    "Perceptrons": "Each update adds a violated constraint, or an image of it, to the point.",
    "Large margins": "The perceptron with a margin that is demanded, for rows with labels.",
    "Nearest points of the hull": "The point of least norm in the hull of the constraints, by the "
    "most violated constraint.",
    "Smoothing": "Accelerated gradient steps on a smoothed minimum of the scores.",
    "Saddle points": "Steps for the point and the weights at once.",
    "Rescaling, ellipsoids and other bodies": "The space is transformed, or the feasible points "
    "are enclosed in bodies of falling volume: the bounds depend on the logarithm of the margin.",
    "Interior points": "Newton steps along the central path.",
    "Combinations": "Algorithms that run others.",
    "Wrapped solvers": "Reference solvers of other projects. Their answers are verified like all "
    "others; the theory of this package does not cover them.",
}


def by_family() -> dict[str, list[str]]:
    """Return the names of the algorithms of this package in each family."""
    families: dict[str, list[str]] = {family: [] for family in FAMILIES}
    for name in registry.names("algorithm"):
        families[_family(registry.module_of(registry.target("algorithm", name)))].append(name)
    return families


def _family(module: str) -> str:
    below = module.removeprefix("perceptron_lab.algorithms.")
    return next(
        family
        for family in ("Combinations", *FAMILIES)
        if any(below.startswith(start) for start in FAMILIES[family])
    )
