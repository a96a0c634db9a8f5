"""Handling of exceptions in a run, so that earlier proofs are kept."""

from __future__ import annotations

import inspect
import logging
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError, NumericalError, PlabError

_PACKAGE = Path(__file__).parents[1]
# Exceptions of computations whose numbers went too far; others are mistakes in a program
COMPUTED = (ArithmeticError, ValueError, RuntimeError, np.linalg.LinAlgError)

_log = logging.getLogger("perceptron_lab")


def numerical(error: Exception) -> bool:
    """Return whether an exception is a numerical failure, and so a result of the run."""
    return isinstance(error, (ArithmeticError, np.linalg.LinAlgError)) and ends_run(error)


def ends_run(error: Exception, *, updates: int = 1) -> bool:
    """Return whether an exception ends the run with its proofs kept, or is raised.

    Passed on are refusals before the first update, and what leaves nothing to prove with: no
    memory, data that cannot be read any more, a processor in another mode of arithmetic.
    """
    if isinstance(error, InputError):
        return updates > 0
    if isinstance(error, PlabError):
        return isinstance(error, NumericalError)
    return not isinstance(error, MemoryError)


def describe(error: Exception, name: str, certificate: dict[str, object]) -> str:
    """Return a sentence on how an algorithm failed.

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
    location = registered_code_location(error) or frames[-1]
    return f"{name} failed in {location}: {sentence(error)}"


def registered_code_error(error: BaseException) -> str:
    """Return an exception raised in a user's registered code: ``FILE:LINE: kind: text``.

    Empty if no line of registered code was being executed.
    """
    location = registered_code_location(error)
    return f"{location}: {sentence(error)}" if location else ""


def registered_code_location(error: BaseException) -> str:
    """Return the innermost line of registered code in a traceback, ``FILE:LINE``, or empty.

    Modules in the folder of a registered one belong to its user, too. Frames that called this
    package are none of its registered code.
    """
    frames = traceback.extract_tb(error.__traceback__)
    ours = [Path(frame.filename).is_relative_to(_PACKAGE) for frame in frames]
    inner = frames[ours.index(True) :] if True in ours else []
    folders = {file.parent for _, _, target in registry.additions() for file in _files_of(target)}
    frames_of_users = [
        frame
        for frame in inner
        if Path(frame.filename).parent in folders and not frame.filename.startswith("<")
    ]
    return (
        f"{Path(frames_of_users[-1].filename).name}:{frames_of_users[-1].lineno}"
        if frames_of_users
        else ""
    )


def registered_output_fault(kind: str, name: str, error: BaseException) -> str:
    """Describe the failure of a table or figure that a user has registered.

    It is :func:`registered_code_error`, or the wrong value that it returns; empty for the tables
    and figures of this package.
    """
    additions = {(kind_of, name): target for kind_of, name, target in registry.additions()}
    description, target = registered_code_error(error), additions.get((kind, name))
    if description or target is None:
        return description
    files = ", ".join(sorted(file.name for file in _files_of(target)))
    expected = "a Table" if kind == "table" else "a matplotlib Figure"
    return f"{files}: what it returns cannot be written; return {expected} ({sentence(error)})"


def _files_of(target: Any) -> set[Path]:
    """Return the files that define a registered class or function, outside of this package."""
    if isinstance(target, str):
        codes, name = [], target.partition(":")[0]
    else:
        codes, name = [inspect.unwrap(target), *vars(target).values()], target.__module__
    files = [code.__code__.co_filename for code in codes if inspect.isfunction(code)]
    files.append(getattr(sys.modules.get(name), "__file__", None) or "")
    return {Path(file) for file in files if file and not Path(file).is_relative_to(_PACKAGE)}


def sentence(error: BaseException) -> str:
    """Return type and text of an exception in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")


def log(error: Exception, message: str) -> None:
    """Log an unexpected exception with its traceback; failed computations are not logged."""
    if not isinstance(error, COMPUTED):
        _log.error(message, exc_info=error)
