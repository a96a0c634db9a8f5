"""Numbers in messages, as a reader expects them."""

from __future__ import annotations


def counted(number: int, one: str, several: str = "") -> str:
    """Return how many there are of something: ``1 cell``, ``2 cells``.

    Parameters
    ----------
    number
        How many.
    one, several
        What it is called if there is one of it, and otherwise: by default with an s.
    """
    return f"{number} {one if number == 1 else several or f'{one}s'}"
