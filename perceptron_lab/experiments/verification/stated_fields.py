"""What an answer states about its data beside the claims, and which arrays a proof has read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.saved_answers.fields import Check
from perceptron_lab.experiments.storage.certificate_files import Certificate
from perceptron_lab.experiments.verification.finding import Finding
from perceptron_lab.systems import ConicSystem

_NUMBER: Final = re.compile(r"[0-9][0-9.]*(?:e[+-]?[0-9]+)?")


class ReadArrays(Mapping[str, FloatArray]):
    """Arrays by name, of which ``read`` are those that somebody has asked for.

    An array that no proof reads is not verified, whatever it holds.
    """

    def __init__(self, arrays: Mapping[str, FloatArray]) -> None:
        self._arrays = dict(arrays)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> FloatArray:
        array = self._arrays[name]
        self.read.add(name)
        return array

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


def stated(finding: Finding, certificate: Certificate, system: ConicSystem) -> Finding:
    """Return a finding with the faults and checks of ``certificate.data`` and ``margin``.

    A number in ``data`` (the part by which a kernel matrix was raised) depends on the machine: it
    is not verified where it is another.
    """
    faults, verified = list(finding.faults), set(finding.verified)
    data = certificate.certificate.get("data")
    if data == system.provenance:
        verified.add(Check.PROVENANCE)
    elif data is not None and _NUMBER.sub("#", data) != _NUMBER.sub("#", system.provenance):
        faults.append(f"the data are called {data[:80]!r}, and they are {system.provenance!r}")
    margin = certificate.certificate.get("margin")
    if (margin is None and not system.margin_name) or margin == system.margin_name:
        verified.add(Check.MARGIN_NAME)
    elif margin is not None:
        faults.append(f"the margin is called {margin[:20]!r}, and it is {system.margin_name!r}")
    return replace(finding, faults=tuple(faults), verified=frozenset(verified))
