"""Pydantic's errors as faults: place, value received, values allowed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from perceptron_lab.core.errors import did_you_mean
from perceptron_lab.core.refusals import allowed_values
from perceptron_lab.experiments.configuration.faults import Crumbs, Fault, received, shortened

Record = TypeVar("Record")


def validated(kind: type[Record], tree: Any) -> Record:
    """Return the record that a tree of YAML values describes.

    It is checked in the strict mode of JSON: lists do for tuples, as they must, but no value is
    converted otherwise.
    """
    return TypeAdapter(kind).validate_json(json.dumps(tree))


def faults_of(
    error: ValidationError,
    tree: Any,
    known: Mapping[tuple[str, ...], Iterable[str]],
    kind: Any = None,
) -> list[Fault]:
    """Return the faults that a validation error of a tree reports, one per value.

    Parameters
    ----------
    error
        The error.
    tree
        What was validated.
    known
        The keys of each mapping, by its crumbs without the indices of lists.
    kind
        The class of the record whose parameters are the tree; None where it is none.
    """
    faults: dict[Crumbs, Fault] = {}
    allowed: dict[Crumbs, list[str]] = {}
    for details in error.errors(include_url=False):
        crumbs = _crumbs(details, tree)
        if details["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            names = known.get(tuple(step for step in crumbs[:-1] if isinstance(step, str)), ())
            faults[crumbs] = unknown_key(crumbs, names)
        elif details["type"] == "missing":
            faults[crumbs] = Fault(crumbs, "missing; it must be given")
        elif details["type"] == "value_error":
            message = details["msg"].removeprefix("Value error, ")
            if message.startswith("allowed: "):  # validators of ours need not say what they had
                message = f"received {received(details['input'])}; {message}"
            faults[crumbs] = Fault(crumbs, message)
        else:
            # The members of a union report one by one; the reader wants them in one sentence.
            choices = allowed.setdefault(crumbs, [])
            choices.append(allowed_values(kind, crumbs[0] if crumbs else "", details))
            value, words = details["input"], re.findall(r"'([^']*)'", " ".join(choices))
            mend = did_you_mean(value, words) if isinstance(value, str) else ""
            told = f"received {received(value)}; allowed: {', or '.join(dict.fromkeys(choices))}"
            faults[crumbs] = Fault(crumbs, told + mend)
    return list(faults.values())


def unknown_key(crumbs: Crumbs, known: Iterable[str]) -> Fault:
    """Return the fault of a key that nobody reads."""
    key, names = str(crumbs[-1]), list(known)
    mend = f"allowed: {', '.join(names)}{did_you_mean(key, names)}" if names else "delete it"
    return Fault(crumbs, f"unknown key {shortened(key)!r}; {mend}", at_key=True)


def _crumbs(details: ErrorDetails, tree: Any) -> Crumbs:
    """Follow the error's location through the tree, past the names of union members."""
    crumbs: Crumbs = ()
    node = tree
    for step in details["loc"]:
        known = range(len(node)) if isinstance(node, list) else node
        if isinstance(known, dict | range) and step in known:
            node, crumbs = node[step], (*crumbs, step)
    if details["type"] == "missing":
        crumbs = (*crumbs, details["loc"][-1])
    return crumbs
