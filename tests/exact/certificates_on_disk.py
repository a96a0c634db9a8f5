"""Small exact certificates of rows and of cones, as ``plab certify`` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_lab.experiments.certifying.certify import Outcome, certify
from tests.experiments.certified import certified

SMALL = {"dataset": "margin-sets", "family": "gaussian"}
CONES = {"dataset": "conic-sets", "family": "mixed", "dimension": 4, "rows": 5}
CONES |= {"blocks": 1, "block_size": 3, "order": 3}
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "rows": (SMALL | {"dimension": 8, "rows": 6}, {"name": "perceptron"}, {}),
    "no point of rows": (SMALL | {"dimension": 4, "rows": 20}, {"name": "auto"}, {}),
    "bounded rows": (
        SMALL | {"dimension": 4, "rows": 20},
        {"name": "mirror-prox"},
        {"goal": {"margin_upper": 0.2}},
    ),
    "cones": (CONES, {"name": "mirror-prox"}, {}),
    "no point of cones": (CONES | {"infeasible": True}, {"name": "mirror-prox"}, {}),
}


def certificates(folder: Path) -> dict[str, Path]:
    """Return an exact certificate of each kind, accepted by the checker when it was written."""
    found = {}
    for name, (problem, algorithm, more) in KINDS.items():
        place = folder / name.replace(" ", "-")
        place.mkdir()
        path = certified(place, problem, algorithm, **more)
        (cell,) = certify(path, place).cells
        assert cell.outcome is Outcome.CERTIFIED, (name, cell)
        assert not cell.message, (name, cell)
        assert cell.path is not None
        found[name] = Path(cell.path)
    return found


def record_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def rows_of(path: Path) -> Any:
    """Return the data of a certificate as an array."""
    return np.load(path.parent / record_of(path)["data"]["file"])
