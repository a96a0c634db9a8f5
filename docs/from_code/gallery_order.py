"""The order in which the gallery is to be read."""

from __future__ import annotations

ORDER = ("is_it_separable.py",)
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
