"""The form of exact numbers in files: whole numbers and fractions as text, ``-3`` or ``22/7``."""

from __future__ import annotations

import re
from typing import Final

# A fraction of so many characters takes Python seconds, and twice as many four times as long
MOST_CHARACTERS: Final = 1 << 20

_WHOLE: Final = r"(?:0x[0-9a-f]+|[0-9]+)"
EXACT: Final = re.compile(rf"(-?)({_WHOLE})(?:/({_WHOLE}))?", re.ASCII)


def is_exact(text: object) -> bool:
    """Return whether a value is the text of a whole number or of a fraction.

    Examples
    --------
    >>> is_exact("-22/7"), is_exact("0x1f"), is_exact("1/0"), is_exact(0.5)
    (True, True, False, False)
    """
    if not isinstance(text, str) or len(text) > MOST_CHARACTERS:
        return False
    match = EXACT.fullmatch(text)
    return match is not None and (match[3] is None or bool(match[3].strip("0x")))
