"""Command lines and paths as results hold them: without names of users and secrets.

Results are given to others. A command line may hold passwords, and paths hold the name of whoever
owns them; neither is needed to understand what was run.
"""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

HIDDEN: Final = "***"
"""In the place of a secret."""
USER: Final = "USER"
"""In the place of the user's name in a path."""

_SECRET = r"(?:pass(?:word|wd|phrase)?|secret|token|credentials?|auth\w*|api[-_]?key|\w*[-_]key)"
_NAMED: Final = re.compile(rf"([\w.-]*{_SECRET}[\w-]*)(\s*[=:]\s*)([^\s&;,]+)", re.IGNORECASE)
_OPTION: Final = re.compile(rf"--?[\w-]*{_SECRET}[\w-]*", re.IGNORECASE)
_IN_ADDRESS: Final = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_TOKEN: Final = re.compile(
    r"\b(?:gh[opsu]_|github_pat_|glpat-|hf_|sk-|xox[abpr]-|AKIA|eyJ)[\w.-]{8,}"
    r"|\b(?=[\w-]*[0-9])(?=[\w-]*[A-Za-z])[A-Za-z0-9_-]{40,}"
)


def masked(words: Iterable[str]) -> list[str]:
    """Return the words of a command line without user names and secrets.

    A value is a secret if its option or key is called so (``--token``, ``api_key=``), if it is the
    user information of an address, or if it looks like a token: a known prefix, or 40 or more
    letters and digits without a break.
    """
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # the system has no name for it, as in a container
        user = ""
    homes = sorted({str(Path.home()), str(_home())}, key=len, reverse=True)
    patterns = [(rf"{re.escape(home)}(?=/|$)", "~") for home in homes if len(home) > 1]
    patterns += [(rf"(?<=/){re.escape(user)}(?=/|$)", USER)] if user else []
    shown = []
    secret = False
    for word in words:
        text = word
        for pattern, other in patterns:
            text = re.sub(pattern, other, text)
        text = _NAMED.sub(rf"\1\2{HIDDEN}", _IN_ADDRESS.sub(HIDDEN, text))
        shown.append(HIDDEN if secret else _TOKEN.sub(HIDDEN, text))
        secret = _OPTION.fullmatch(word) is not None
    return shown


def portable(path: Path, start: Path) -> str:
    """Return a path as results hold it: relative, or from the home on; absolute as a last resort.

    Parameters
    ----------
    path
        The path, absolute or relative to the current folder.
    start
        The folder that it is relative to, if both lie in one folder that does not hold the home.
    """
    path, start = path.resolve(), start.resolve()
    home = _home()
    common = Path(os.path.commonpath([path, start]))
    if common == home or not home.is_relative_to(common):
        return os.path.relpath(path, start)
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def resolved(text: str, start: Path) -> Path:
    """Return the path that :func:`portable` has made a text of."""
    if text == "~" or text.startswith("~/"):
        return _home() / text[2:]
    return (start / text).resolve()


def _home() -> Path:
    return Path.home().resolve()
