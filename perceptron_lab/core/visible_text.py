"""Escaping of control and direction characters in text for a terminal or a file.

Titles, labels, file names and messages of other programs may hold characters that a terminal or a
browser obeys instead of showing: escape sequences, and marks that reverse the direction of what
follows (Unicode's property Bidi_Control).
"""

from __future__ import annotations

import re
from typing import Final

_OBEYED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls (Cc), but neither tab nor line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # Bidi_Control
    "\u2028\u2029"  # separators of lines and of paragraphs
    "\ud800-\udfff]"  # surrogates, as of bytes in a path that are no UTF-8
)


def visible(text: str, backslash: str = "\\") -> str:
    r"""Return text with controls and direction marks in the form ``\u202e``.

    Tabs and line feeds stay. JSON has the same meaning afterwards; other text has no less.

    Parameters
    ----------
    text
        As it would be written.
    backslash
        The form of a backslash in the format of the text.

    Examples
    --------
    >>> print(visible("a\x1b[31mb\u202ec"))
    a\u001b[31mb\u202ec
    """
    return _OBEYED.sub(lambda match: f"{backslash}u{ord(match[0]):04x}", text)
