"""The text of a saved answer: one JSON object whose names occur once each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def mapping_in(text: str) -> dict[str, Any]:
    """Return the JSON object of a text; a ValueError refuses any other and names given twice."""
    record = json.loads(text, object_pairs_hook=_once)
    if not isinstance(record, dict):
        raise ValueError("its text is no JSON object")
    return record


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {repeated[:40]!r} is given twice")
    return mapping
