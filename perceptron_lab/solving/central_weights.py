"""Weights that every system has, so that its margin has an upper bound whatever the algorithm."""

from __future__ import annotations

import numpy as np

from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems import ConicSystem

STEPS = 20  # Steps that balance the blocks, at most; two blocks take one


def central_weights(system: ConicSystem) -> FloatArray:
    """Return w in Delta(K), a multiple of e on each block, with a small norm(A w).

    margin <= norm(A w) for every w in Delta(K). With b_k = e_k / rank_k, the barycentre of block k,
    w = sum_k theta_k b_k starts at the barycentre e / rank of the cone and goes to

        w <- (1 - t) w + t b_k,    k = argmin <b_k, A*(A w)>,

    where t in [0, 1] makes norm(A w) least (von Neumann's algorithm on the points A b_k). A single
    block, all rows among them, keeps its barycentre. Nothing is counted: no algorithm asks for it.

    Parameters
    ----------
    system
        Its own cuts are combined, as this view has them.
    """
    operator, cone = system.operator, system.cone
    weights = barycentre(cone)
    if len(cone.blocks) == 1:
        return weights
    centres, image = [(barycentre(part), at) for part, at in cone.blocks], operator.combine(weights)
    for _ in range(STEPS):
        scores, centre = operator.scores(image), np.zeros(cone.size)
        lowest = int(np.argmin([own @ scores[at] for own, at in centres]))
        centre[centres[lowest][1]] = centres[lowest][0]
        towards = operator.combine(centre) - image
        gain, square = -operator.inner(image, towards), operator.inner(towards, towards)
        if not 0.0 < gain < np.inf or not 0.0 < square < np.inf:
            break
        step = min(gain / square, 1.0)
        weights = (1.0 - step) * weights + step * centre
        image += step * towards
    return weights
