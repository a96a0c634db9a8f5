"""Small exact certificates of every kind, as ``plab certify`` writes them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_lab.experiments.certifying.certify import CertificationStatus, certify
from tests.experiments.certified import LEARNER, SEPARABLE, certified

SMALL = {"dataset": "margin-sets", "family": "gaussian"}
CONES = {"dataset": "conic-sets", "family": "mixed", "dimension": 4, "rows": 5}
CONES |= {"blocks": 1, "block_size": 3, "order": 3}
LINEAR = {"dataset": "linear-systems", "variables": 6, "equations": 2}
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
    "kernel": (
        {"dataset": "streams", "margin": 0.3, "rows": 8, "dimension": 3},
        {"name": "online-kernel-perceptron"},
        {},
    ),
    "conditions": (LINEAR | {"kind": "tight"}, {"name": "auto"}, {}),
    "contradiction": (LINEAR | {"kind": "infeasible"}, {"name": "auto"}, {}),
    "coefficients": (
        {"dataset": "separation-families", "kind": "quasi-complete", "rows": 20},
        {"name": "separation-verdict"},
        {},
    ),
    "ellipsoid": (SEPARABLE | {"dimension": 2}, LEARNER, {}),
    "no ellipsoid": (SEPARABLE | {"ratio": 0.5}, LEARNER, {}),
}
# What these say beside their claims
TOLD = {"kernel": "hinge_bound: sums of hinge losses have no exact claim"}


def certificates(folder: Path) -> dict[str, Path]:
    """Return an exact certificate of each kind, accepted by the checker when it was written."""
    certificates_ = {}
    for name, (problem, algorithm, more) in KINDS.items():
        subfolder = folder / name.replace(" ", "-")
        subfolder.mkdir()
        path = certified(subfolder, problem, algorithm, **more)
        (cell,) = certify(path, subfolder).cells
        assert cell.outcome is CertificationStatus.CERTIFIED, (name, cell)
        assert cell.message == TOLD.get(name, ""), (name, cell)
        assert cell.path is not None
        certificates_[name] = Path(cell.path)
    return certificates_


def as_number(value: Any) -> int:
    """Return a number of a certificate, a JSON integer or hexadecimal digits."""
    return int(value, 16) if isinstance(value, str) else int(value)


def record_of(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_bytes())
    return data


def rows_of(path: Path) -> Any:
    """Return the data of a certificate as an array of numbers, or of whole numbers."""
    data = record_of(path)["data"]
    file = path.parent / data["file"]
    return np.load(file) if data["form"] != "sdpa" else conditions_of(file.read_text())


def conditions_of(text: str) -> Any:
    """Return x_0 > 0 and the rows of the one diagonal block of an SDPA file, unknowns (x_0, x)."""
    unknowns, _, order, _, *entries = text.splitlines()
    rows = np.zeros((1 - int(order), 1 + int(unknowns)), dtype=object)
    rows[0, 0] = 1
    for line in entries:
        matrix, _, row, column, value = map(int, line.split())
        assert row == column
        rows[row, matrix] = value if matrix else -value
    return rows


def content_of(rows: Any, form: str) -> bytes:
    """Return the file of changed data: an array, or conditions as SDPA text."""
    if form != "sdpa":
        target = io.BytesIO()
        np.save(target, rows)
        return target.getvalue()
    lines = [str(rows.shape[1] - 1), "1", str(1 - len(rows)), " ".join(["0"] * (rows.shape[1] - 1))]
    for at, row in enumerate(rows[1:].tolist(), 1):
        lines += [
            f"{i} 1 {at} {at} {entry if i else -entry}" for i, entry in enumerate(row) if entry
        ]
    return ("\n".join(lines) + "\n").encode()
