"""What generated datasets have in common: randomness, names, parameters, known margins."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg  # noqa: F401 - so that its own library is found beside numpy's
from pydantic import ValidationInfo
from threadpoolctl import ThreadpoolController

from perceptron_lab.errors import ConfigError, InputError, did_you_mean
from perceptron_lab.results import FloatArray
from perceptron_lab.system import ConicSystem


@cache
def _libraries() -> ThreadpoolController:
    """Return the numerical libraries that have threads; to find them takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let products within use one thread: sums depend on their number, and the data must not."""
    with _libraries().limit(limits=1):
        yield


def seed_sequence(name: str, seed: int) -> np.random.SeedSequence:
    """Return the source of randomness of a name and a seed; others give independent ones.

    Raises
    ------
    InputError
        If the seed is negative.
    """
    if seed < 0:
        raise InputError(f"seed {seed} for {name}; allowed: 0 or more")
    # The name enters by a hash that is the same in every process, unlike Python's own.
    word = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return np.random.SeedSequence([seed, word])


def sha256_of_arrays(*arrays: npt.NDArray[Any]) -> str:
    """Return the sha256 of arrays: of the types, shapes and bytes of all, in this order."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def chosen(
    value: Any, info: ValidationInfo, choice: str, defaults: Mapping[str, Mapping[str, Any]]
) -> Any:
    """Return a parameter's value, or the default that goes with a choice made before it.

    Parameters
    ----------
    value
        As given; None stands for the default.
    info
        Pydantic's, with the parameters validated so far.
    choice
        The parameter that decides which others there are.
    defaults
        Its value -> the parameters that go with it, with their defaults.

    Raises
    ------
    ValueError
        If the parameter is given and does not go with the choice.
    """
    made, name = info.data.get(choice), str(info.field_name)
    if made is None or name in defaults[made]:
        return value if value is not None or made is None else defaults[made][name]
    if value is not None:
        others = ", ".join(defaults[made]) or "no parameter of its own"
        raise ValueError(f"{choice} {made} has no {name}; it takes {others}: delete {name}")
    return None


def plain(value: float) -> str:
    """Return a number as in an instance's name: 0.3, 5, 1e-09; different numbers differ."""
    return repr(float(value)).removesuffix(".0")


def check_name(name: str, known: list[str]) -> None:
    """Refuse a name that is none of a dataset's instances.

    Raises
    ------
    ConfigError
        If it is not known.
    """
    if name not in known:
        raise ConfigError(
            f"no instance here is called {name!r}{did_you_mean(name, known)}; "
            f"known: {', '.join(known)}"
        )


def proved_margin(name: str, system: ConicSystem, point: FloatArray) -> float:
    """Return the proved margin of a point that is known to be feasible: a lower bound.

    Raises
    ------
    InputError
        If rounding hides it.
    """
    proof = system.prove_point(point)
    if not proof.feasible or proof.margin_lower <= 0.0:
        raise InputError(
            f"{name}: rounding hides the margin of the known point; choose parameters that make it "
            "larger"
        )
    return proof.margin_lower
