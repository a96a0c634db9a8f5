"""Names that are registered for the time of a test, or of a module's tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from perceptron_lab.core import registry


@contextmanager
def registrations() -> Iterator[None]:
    """Restore the additions to the registries at the end."""
    before = registry.additions()
    try:
        yield
    finally:
        for kind, name, _ in registry.additions():
            registry.unregister(kind, name)
        for addition in before:
            registry.register(*addition)
