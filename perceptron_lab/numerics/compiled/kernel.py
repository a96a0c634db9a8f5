"""Kernels: functions with explicit signatures that numba compiles, before anything is timed.

numba and its kernels take half a second to load, and most commands compute nothing: kernels are
loaded (compiled, the first time, or read from numba's cache) all together, when a solver or a
server of cells asks for them; or, when one is called before that, those of its module alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import update_wrapper
from threading import RLock
from typing import Any, ClassVar, TypeVar, cast

# For fastmath: sums in any order and fused multiply-add; NaN and infinity keep their meaning
REORDER = frozenset({"reassoc", "contract", "nsz"})
# And x / y as x (1 / y)
RECIPROCALS = REORDER | {"arcp"}

_Function = TypeVar("_Function", bound=Callable[..., Any])

# What is to be loaded, with its module, in the order of definition: kernels may call those before
# them
_WAITING: list[tuple[str, Callable[[], None]]] = []
_LOADING = RLock()


def load_kernels() -> int:
    """Load all kernels of imported modules that are not loaded yet; return how many there were."""
    return _load(lambda _: True)


def before_kernels(step: Callable[[], None]) -> Callable[[], None]:
    """Have a function called before the kernels that are defined after it are loaded."""
    _WAITING.append((step.__module__, step))
    return step


def _load(chosen: Callable[[str], bool]) -> int:
    """Load the waiting kernels of some modules; return how many there were."""
    with _LOADING:
        before = _Kernel.loaded
        for entry in [entry for entry in _WAITING if chosen(entry[0])]:
            entry[1]()
            _WAITING.remove(entry)
        return _Kernel.loaded - before


def kernel(
    signature: str, *, fastmath: frozenset[str] = frozenset()
) -> Callable[[_Function], _Function]:
    """Return a decorator that makes a function a kernel.

    Parameters
    ----------
    signature
        Of numba; ``real`` in it stands for ``float32``, and in a second signature for ``float64``.
    fastmath
        What LLVM may assume of floating-point numbers, ``"reassoc"`` or ``"contract"`` for example.
    """
    kinds = ("float32", "float64") if "real" in signature else ("",)
    signatures = [signature.replace("real", kind) for kind in kinds]

    def decorate(function: _Function) -> _Function:
        made = _Kernel(function, signatures, fastmath)
        _WAITING.append((function.__module__, made.load))
        return cast("_Function", made)

    return decorate


class _Kernel:
    """A function that numba compiles."""

    loaded: ClassVar[int] = 0

    def __init__(
        self, function: Callable[..., Any], signatures: list[str], fastmath: frozenset[str]
    ) -> None:
        update_wrapper(self, function)
        self._function, self._signatures, self._fastmath = function, signatures, fastmath
        self.compiled: Any = None

    def __call__(self, *arguments: Any) -> Any:
        if self.compiled is None:
            with _LOADING:
                # kernels may call those of the modules that theirs imports from
                waiting = {name for name, _ in _WAITING}
                found, new = set[str](), {self._function.__module__}
                while new:
                    found |= new
                    held = [one for name in new for one in vars(sys.modules[name]).values()]
                    new = ({getattr(one, "__module__", "") for one in held} & waiting) - found
                _load(found.__contains__)
        return self.compiled(*arguments)

    def load(self) -> None:
        """Compile it, and let kernels of its module call the compiled function.

        Those that its module imports were defined, and so are loaded, before.
        """
        from numba import njit

        names, fastmath = self._function.__globals__, set(self._fastmath) or False
        imported = [(name, held) for name, held in names.items() if isinstance(held, _Kernel)]
        names.update({name: held.compiled for name, held in imported if held.compiled})
        self.compiled = njit(self._signatures, cache=True, fastmath=fastmath)(self._function)
        names[self._function.__name__] = self.compiled
        _Kernel.loaded += 1
