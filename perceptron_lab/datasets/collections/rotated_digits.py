"""Digits that may be rotated: semidefinite programming machines as semidefinite systems."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from pydantic import AfterValidator, Field

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import did_you_mean
from perceptron_lab.core.refusals import Count, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.collections.tabular import instances_of
from perceptron_lab.datasets.dataset import Dataset, Distinct
from perceptron_lab.datasets.generated.generator import seed_sequence
from perceptron_lab.datasets.problem import Problem, sha256_of_arrays
from perceptron_lab.systems import ConicSystem

Invariance = Literal["interval", "angles", "none"]

PAIRS = instances_of("digits", "pairs")
# Angles at which a test digit is tested, evenly over the interval
SHOWN = 9
# Step of the differences that give the derivatives, in degrees
STEP = 2.0
# Features are rounded to multiples of this, so that all machines have the same data
UNIT = 2.0**-20


def _check_pair(name: str) -> str:
    if name not in PAIRS:
        raise ValueError(
            f"no instance is called {name!r}{did_you_mean(name, PAIRS)}; "
            "there are 45, digits-0-1 to digits-8-9"
        )
    return name


@parameter_record
class RotatedDigits(Dataset):
    """scikit-learn's digits, two classes, each example at all angles of an interval.

    Sought is f(x) = w'x + b, positive on the class named first and negative on the other, at every
    rotation of the training examples by an angle t in [-tau, tau], tau = ``half_width``. This is
    the semidefinite programming machine of Graepel and Herbrich. A rotated image is approximated by
    its Taylor polynomial x(t) = x_0 + t x_1 + t^2 x_2, the derivatives being central differences at
    2 degrees of images rotated by cubic splines. With s the sign of the example and
    p(t) = s (w'x(t) + b), p is positive on the whole interval if and only if some u > 0 makes

        [ s (w'x_0 + b) - u     s tau w'x_1 / 2     ]
        [ s tau w'x_1 / 2       s tau^2 w'x_2 + u   ]     positive definite

    (p(t) minus u (1 - (t/tau)^2) is then a positive quadratic form in (1, t/tau): the S-lemma). The
    unknowns are (w, b, u_1, .., u_m); each example has one such block and the row u_i > 0.

    The other training examples of the two classes are test examples. An answer is measured by
    ``test_error``, the share of wrong signs over nine angles of the interval and all test examples,
    which are rotated by splines and not by polynomials; ``upright_error``, the share at the angle
    0; ``worst_error``, the share of test examples with a wrong sign at one of the angles.

    Parameters
    ----------
    instances
        Pairs such as ``digits-3-8``; by default ``digits-1-7``, ``digits-3-8`` and ``digits-4-9``.
    invariance
        ``interval`` (default): the semidefinite system. ``angles``: rows, each example at the
        angles -tau, 0 and tau (virtual examples). ``none``: rows, each example as it is.
    half_width
        tau in degrees, above 0 to 45 (default 10). At 20 degrees the polynomial is as far from the
        rotated image as the upright image is.
    examples
        Training examples of each class, 1 to 150 (default 40), drawn by the seed.
    """

    instances: Annotated[list[Annotated[str, AfterValidator(_check_pair)]], Distinct] | None = None
    invariance: Invariance = "interval"
    half_width: Annotated[float, Field(gt=0, le=45)] = 10.0
    examples: Annotated[Count, Field(le=150)] = 40

    def names(self) -> list[str]:
        """Return the names of the pairs; no data is loaded."""
        default = ["digits-1-7", "digits-3-8", "digits-4-9"]
        return list(default if self.instances is None else self.instances)

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Return the system of a pair; the seed draws the training examples."""
        self.check_name(name)
        images, signs, training = self._drawn(name, seed)
        system = self.system(images[training], signs[training])
        angles = np.linspace(-self.half_width, self.half_width, SHOWN)
        turned = np.stack([rotated(images[~training], angle) for angle in angles])
        measure = RotatedTest(turned, signs[~training])
        sha256 = sha256_of_arrays(
            images[training], signs[training], turned, np.array(self.half_width)
        )
        return Problem(name, system, sha256, system.facts(), measure)

    def system(self, images: FloatArray, signs: FloatArray) -> ConicSystem:
        """Return the system of upright images, shape ``(m, 8, 8)``, with signs +1 and -1."""
        if self.invariance == "interval":
            cone, matrix = interval_system(taylor(images, self.half_width), signs)
            return ConicSystem(Matrix(matrix), cone)
        tau = self.half_width
        angles = [0.0] if self.invariance == "none" else [-tau, 0.0, tau]
        rows = np.vstack([rotated(images, angle) for angle in angles])
        return ConicSystem.from_labelled(rows, np.tile(signs, len(angles)))

    def _drawn(self, name: str, seed: int) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_]]:
        """Return the images of two classes, their signs, and the mask of training examples."""
        from sklearn.datasets import load_digits  # it takes long to load

        first, second = PAIRS[name]
        data, labels = load_digits(return_X_y=True)
        members = (labels == first) | (labels == second)
        images, signs = data[members].reshape(-1, 8, 8) / 16.0, np.where(labels == first, 1.0, -1.0)
        signs = signs[members]
        rng = np.random.default_rng(seed_sequence(f"{name}-rotated", seed))
        training = np.zeros(len(signs), dtype=bool)
        for sign in (1.0, -1.0):
            training[rng.permutation(np.flatnonzero(signs == sign))[: self.examples]] = True
        return images, signs, training


@dataclass(frozen=True, eq=False)
class RotatedTest:
    """The errors of a classifier on rotated test examples.

    Parameters
    ----------
    turned, signs
        The examples at each angle, shape ``(angles, t, 64)``, an odd number of angles with 0 in the
        middle, and +1 or -1 each, shape ``(t,)``.
    """

    turned: FloatArray
    signs: FloatArray

    def __call__(self, point: FloatArray) -> dict[str, float]:
        """Return ``test_error``, ``upright_error`` and ``worst_error`` of (w, b, ..)."""
        width = self.turned.shape[2]
        mistaken = self.signs * (self.turned @ point[:width] + point[width]) <= 0.0
        return {
            "test_error": float(mistaken.mean()),
            "upright_error": float(mistaken[len(mistaken) // 2].mean()),
            "worst_error": float(mistaken.any(axis=0).mean()),
        }


def rotated(images: FloatArray, degrees: float) -> FloatArray:
    """Return images rotated about their centre by cubic splines, as rows, shape ``(m, 64)``."""
    from scipy.ndimage import rotate  # used by this dataset alone

    # Beyond the border the plain mode is 0 at once, so that any small angle changes border pixels
    turned = rotate(images, degrees, (2, 1), reshape=False, order=3, mode="grid-constant")
    return np.asarray(np.round(turned.reshape(len(images), -1) / UNIT) * UNIT)


def taylor(images: FloatArray, half_width: float) -> FloatArray:
    """Return x_0, tau x_1 and tau^2 x_2 of the rotated images, shape ``(3, m, 64)``."""
    before, upright, after = (rotated(images, angle) for angle in (-STEP, 0.0, STEP))
    ratio = half_width / STEP
    first, second = (
        ratio * (after - before) / 2.0,
        ratio**2 * (after + before - 2.0 * upright) / 2.0,
    )
    return np.stack([upright, *(np.round(part / UNIT) * UNIT for part in (first, second))])


def interval_system(parts: FloatArray, signs: FloatArray) -> tuple[Cone, sp.csr_array]:
    """Return the cone and the matrix of the blocks and rows of the unknowns (w, b, u).

    Parameters
    ----------
    parts, signs
        x_0, tau x_1 and tau^2 x_2, shape ``(3, m, features)``, and s, shape ``(m,)``.
    """
    m, features = parts.shape[1:]
    constant, linear, quadratic = signs[:, None] * parts
    unit, nothing = np.eye(m), np.zeros((m, m))
    zero = np.zeros((m, 1))
    entries = [
        np.hstack([constant, signs[:, None], -unit]),
        np.hstack([linear / 2.0, zero, nothing]),
        np.hstack([quadratic, zero, unit]),
    ]
    # Entry j of block i is row 3 i + j: the entries 11, 12 and 22 of a block follow one another
    order = np.arange(3 * m).reshape(3, m).T.ravel()
    positive = np.hstack([np.zeros((m, features + 1)), unit])
    rows, columns = np.triu_indices(2)
    cones = [Semidefinite(2, rows, columns) for _ in range(m)]
    matrix = sp.csr_array(np.vstack([np.vstack(entries)[order], positive]))
    return Product([*cones, Orthant(m)]), matrix
