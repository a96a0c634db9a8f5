"""`python -m perceptron_lab.numerics.compiled` compiles all kernels before any is needed."""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module

import perceptron_lab.numerics.compiled
from perceptron_lab.numerics.compiled.kernel import load_kernels


def main() -> None:
    """Import every module of kernels, load these, and say how many there are."""
    for module in pkgutil.iter_modules(perceptron_lab.numerics.compiled.__path__):
        if module.name != "__main__":
            import_module(f"perceptron_lab.numerics.compiled.{module.name}")
    sys.stdout.write(f"{load_kernels()} kernels are compiled\n")


if __name__ == "__main__":
    main()
