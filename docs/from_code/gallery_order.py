"""The order in which the gallery is to be read."""

from __future__ import annotations

ORDER = (
    "is_it_separable.py",
    "the_largest_margin.py",
    "infeasible.py",
    "complete_separation.py",
    "poisson_fixed_effects.py",
    "linear_program.py",
    "linear_matrix_inequality.py",
    "maxcut_bound.py",
    "kernels.py",
    "ellipsoid_in_the_plane.py",
    "rescaling_against_thin_margins.py",
    "online_learners.py",
    "the_resisting_oracle.py",
    "your_own_algorithm.py",
    "a_sweep_that_survives.py",
    "checking_without_us.py",
    "theory_figures.py",
)
"""The files of docs/examples."""


class InReadingOrder:
    """The key by which sphinx-gallery sorts the examples of a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __repr__(self) -> str:
        return "<InReadingOrder>"  # Without an address: Sphinx compares configurations by it

    def __call__(self, name: str) -> int:
        """Return the place of a file."""
        return ORDER.index(name)
