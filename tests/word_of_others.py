"""Solvers of others that are taken at their word: asked once, at one tolerance of their own.

Where that is too coarse, they decide nothing, and four are programs or packages that need not be
there. So they are not among the algorithms of which every test holds; tests/algorithms/external has
their own.
"""

from __future__ import annotations

from perceptron_lab.core import registry

AT_THEIR_WORD = ("clarabel-direct", "scs-direct", "ecos", "csdp", "sdpa", "dsdp5")
DECIDING = [name for name in registry.names("algorithm") if name not in AT_THEIR_WORD]
"""All other registered algorithms."""
