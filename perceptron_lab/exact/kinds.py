"""Claims of the kind of infeasibility, for ``checker/plab_check_kinds.py``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.exact.checker import checker, kinds_checker
from perceptron_lab.exact.whole_numbers import CheckedSystem, Claim, whole
from perceptron_lab.numerics.exact_texts import read_exact, written
from perceptron_lab.solving.infeasibility import BOUNDARY, LARGEST, NO_STRICT, STRONG
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.exact_pencil import guess_of
from perceptron_lab.systems.face_chains import written_chain
from perceptron_lab.systems.face_weights import weights_near

PROOFS = ("chain", "sequence")
"""The entries of a result's certificate that prove the kind."""


def kind_claim(
    system: ConicSystem, certificate: Mapping[str, Any], weights: FloatArray | None
) -> Claim | None:
    """Return the claim of the kind of infeasibility; None where nothing proves more than weights.

    Parameters
    ----------
    system
        Homogenised.
    certificate
        Of a result, with ``infeasibility`` and what proves it.
    weights
        Flat: they prove that a system is strongly infeasible, if its certificate has no chain.
    """
    kind = certificate.get("infeasibility", NO_STRICT)
    proof = {name: certificate[name] for name in PROOFS if name in certificate}
    if kind == STRONG and not proof and weights is not None:
        proof = {"chain": _one_step(system, weights)}
    return {"claim": kind} | proof if kind != NO_STRICT and proof.get("chain") else None


def _one_step(system: ConicSystem, weights: FloatArray) -> list[Any]:
    """Return the chain of exact weights on x_0 near those computed; empty without any."""
    pencil = system.exact_pencil()
    fits = weights.shape == (system.cone.size,) and np.isfinite(weights).all()
    if pencil is None or not fits or system.cone.size * system.dimension > LARGEST:
        return []
    exact = weights_near(pencil, guess_of(system.cone, weights))
    if exact is None or not pencil.mass_of_first(exact) > 0:
        return []
    return [step.lists for step in written_chain(pencil, [(exact, None)]) or []]


def kind_refused(claim: Claim, system: CheckedSystem) -> str:
    """Return why the checker refuses a claim about a system; empty if it accepts it."""
    module = kinds_checker()
    try:
        module.check_kind(system, json.loads(json.dumps(written(claim))))
    except Exception as error:  # as for the checker's own command line, it is unreadable
        return str(error) or type(error).__name__
    return ""


def kind_fault(
    system: ConicSystem, certificate: Mapping[str, Any], weights: FloatArray | None
) -> str | None:
    """Return why the kind of a certificate is not proved of a system; empty if it is.

    None if what is stated is not proved and cannot be refuted. The parameters are those of
    :func:`kind_claim`.
    """
    if certificate.get("infeasibility", NO_STRICT) == NO_STRICT:
        return None if {*PROOFS, "boundary_point"} & certificate.keys() else ""
    claim = kind_claim(system, certificate, weights)
    pencil = None if claim is None else system.exact_pencil()
    if claim is None or pencil is None:
        return None
    data = checker().System("cone", pencil.width, 1, pencil.blocks, pencil.rows, None, ())
    refusal = kind_refused(claim, data)
    if not refusal and "boundary_point" in certificate:
        ((point, *_),) = claim["sequence"] if claim["claim"] == BOUNDARY else [[[1]]]
        exact = system.exact_answer([Fraction(whole(x)) for x in point])
        stated = [read_exact(x) for x in certificate["boundary_point"]]
        refusal = "" if list(exact) == stated else "its boundary point is another one"
    return f"the kind {claim['claim']!r} is not proved: {refusal}" if refusal else ""


def in_units_of(claim: Claim, scale: int, system: CheckedSystem) -> Claim:
    """Return a claim about D A, D = ``scale``, as the same claim about the data of a checker."""
    ratio = Fraction(system.scale, scale)
    sequence = [
        [[whole(x) * ratio.denominator for x in y], whole(multiple) * ratio.numerator, lists]
        for y, multiple, lists in claim.get("sequence", ())
    ]
    return claim | ({"sequence": sequence} if sequence else {})
