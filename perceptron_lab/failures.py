"""Exceptions in a run: they lose no proof."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

import numpy as np

from perceptron_lab.errors import InputError, NumericalError, PlabError
from perceptron_lab.results import Bound

# Exceptions of computations whose numbers went too far; others are mistakes in a program
COMPUTED = (ArithmeticError, ValueError, RuntimeError, np.linalg.LinAlgError)

_log = logging.getLogger("perceptron_lab")


def numerical(error: Exception) -> bool:
    """Return whether an algorithm failed for its numbers: a result, even before its first state."""
    return isinstance(error, (ArithmeticError, np.linalg.LinAlgError)) and kept(error)


def kept(error: Exception, *, updates: int = 1) -> bool:
    """Return whether a run ends by this exception, keeping its proofs, instead of passing it on.

    Passed on are refusals before the first update, and what leaves nothing to prove with: no
    memory, data that cannot be read any more, a processor in another mode of arithmetic.
    """
    if isinstance(error, InputError):
        return updates > 0
    if isinstance(error, PlabError):
        return isinstance(error, NumericalError)
    return not isinstance(error, MemoryError)


def describe(error: Exception, name: str, certificate: dict[str, object]) -> str:
    """Return in a sentence how an algorithm failed.

    The certificate's ``exception`` becomes the kind, text and places, the innermost place last.
    """
    if isinstance(error, NumericalError):
        return str(error) or f"{name} gave up: its numbers left the range of its step"
    frames = [
        f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    certificate["exception"] = [sentence(error), *frames]
    log(error, f"{name} failed; what is proved is kept")
    return f"{name} failed in {frames[-1]}: {sentence(error)}"


def sentence(error: Exception) -> str:
    """Return the kind and the text of an exception in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")


def log(error: Exception, what: str) -> None:
    """Log an exception that is no failed computation, with its traceback."""
    if not isinstance(error, COMPUTED):
        _log.error(what, exc_info=error)


def no_bound(error: Exception, name: str) -> Bound:
    """Return the bound of an algorithm that failed to evaluate it: none."""
    log(error, f"{name} failed to say its bound")
    return Bound(None, "", f"its evaluation failed: {sentence(error)}")
