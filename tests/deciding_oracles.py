"""External solvers whose answers are trusted: each runs once, at its own tolerance.

Where that tolerance is too coarse they decide nothing, and four of them are programs or packages
that may be absent. So they are not among the algorithms that every test runs; their tests are in
tests/algorithms/external.
"""

from __future__ import annotations

from perceptron_lab.core import registry

AT_THEIR_WORD = ("clarabel-direct", "scs-direct", "ecos", "csdp", "sdpa", "dsdp5")
DECIDING = [name for name in registry.names("algorithm") if name not in AT_THEIR_WORD]
"""All other registered algorithms."""
