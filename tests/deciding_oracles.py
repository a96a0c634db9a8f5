"""External solvers whose answers are trusted: each runs once, at its own tolerance.

Where that tolerance is too coarse they decide nothing, and six of them are programs or packages
that may be absent. So they are not among the algorithms that every test runs; their tests are in
tests/algorithms/external.
"""

from __future__ import annotations

from perceptron_lab.core import registry

EXACT = ("qsopt-ex", "soplex")
AT_THEIR_WORD = ("clarabel-direct", "scs-direct", "ecos", "csdp", "sdpa", "dsdp5", *EXACT)
DECIDING = [name for name in registry.names("algorithm") if name not in AT_THEIR_WORD]
"""All other registered algorithms."""
