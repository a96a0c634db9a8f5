"""Konis's linear program in doubles on systems of tests: another way to ask, without a proof."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_lab.estimators.learners.registered.likelihood import konis_program
from tests.problems.separation.labelled_systems import Labelled

TOLERANCE = 1e-9


def konis_separates(system: Labelled) -> bool:
    """Return whether the program in doubles calls the classes separated, in either way."""
    examples: Any = np.array(system.examples, dtype=float)
    constant = np.ones((len(examples), int(system.affine)))
    rows = np.hstack([examples, constant]) * np.array(system.labels)[:, None]
    program = konis_program(rows, 60.0)
    return program.solved and program.gain > TOLERANCE
