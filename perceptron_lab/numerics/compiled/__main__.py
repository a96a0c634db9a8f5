"""`python -m perceptron_lab.numerics.compiled` compiles all kernels before any is needed."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module
from typing import Final

import perceptron_lab.numerics.compiled
from perceptron_lab.numerics.compiled.kernel import Kernel, load_kernels

_BACKWARDS: Final = "--backwards"


def main() -> None:
    """Import every module of kernels, load these, and say how many there are.

    A second process begins with the last ones; either reads from the cache what the other compiled.
    """
    kernels = all_kernels()
    if _BACKWARDS in sys.argv:
        load_kernels(kernels[::-1])
        return
    command = [sys.executable, "-m", "perceptron_lab.numerics.compiled", _BACKWARDS]
    load_kernels(kernels, compiling=False)
    if any(kernel.compiled is None for kernel in kernels):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL):
            load_kernels(kernels)
    sys.stdout.write(f"{len(kernels)} kernels are compiled\n")


def all_kernels() -> list[Kernel]:
    """Import every module of kernels, and return these in a fixed order."""
    names = [
        module.name for module in pkgutil.iter_modules(perceptron_lab.numerics.compiled.__path__)
    ]
    modules = [
        import_module(f"perceptron_lab.numerics.compiled.{name}")
        for name in names
        if name != "__main__"
    ]
    defined = (value for module in modules for value in vars(module).values())
    return list(dict.fromkeys(value for value in defined if isinstance(value, Kernel)))


if __name__ == "__main__":
    main()
