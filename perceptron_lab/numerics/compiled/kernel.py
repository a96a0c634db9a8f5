"""Kernels: functions of annotated arrays that numba compiles, before anything is timed.

numba and its kernels take half a second to load, and most commands compute nothing: kernels are
loaded (compiled, the first time, or read from numba's cache) all together, when a solver or a
server of cells asks for them; or, when one is called before that, those of its module alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import update_wrapper
from threading import RLock
from types import NoneType
from typing import (
    Annotated,
    Any,
    ClassVar,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.results import FloatArray, IntArray

# For fastmath: sums in any order and fused multiply-add; NaN and infinity keep their meaning
REORDER = frozenset({"reassoc", "contract", "nsz"})
# And x / y as x (1 / y)
RECIPROCALS = REORDER | {"arcp"}

RealArray = npt.NDArray[np.float32] | npt.NDArray[np.float64]
UnsignedArray = npt.NDArray[np.uint32]

# Arguments of kernels with their types in numba, where `real` stands for float32, and in a second
# signature for float64; those that are given may be read alone
Vector = Annotated[FloatArray, "float64[::1]"]
Matrix = Annotated[FloatArray, "float64[:, ::1]"]
IntVector = Annotated[IntArray, "int64[::1]"]
IntMatrix = Annotated[IntArray, "int64[:, ::1]"]
RealVector = Annotated[RealArray, "real[::1]"]
RealMatrix = Annotated[RealArray, "real[:, ::1]"]
UnsignedVector = Annotated[UnsignedArray, "uint32[::1]"]
BoolVector = Annotated[npt.NDArray[np.bool_], "boolean[::1]"]
GivenVector = Annotated[FloatArray, "Array(float64, 1, 'C', readonly=True)"]
GivenMatrix = Annotated[FloatArray, "Array(float64, 2, 'C', readonly=True)"]
GivenIntVector = Annotated[IntArray, "Array(int64, 1, 'C', readonly=True)"]

_SCALARS = {float: "float64", int: "int64", np.int64: "int64", bool: "boolean", NoneType: "void"}

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


def kernel(*, fastmath: frozenset[str] = frozenset()) -> Callable[[_Function], _Function]:
    """Return a decorator that makes a function a kernel, by the types of its arguments.

    Parameters
    ----------
    fastmath
        What LLVM may assume of floating-point numbers, ``"reassoc"`` or ``"contract"`` for example.
    """

    def decorate(function: _Function) -> _Function:
        made = _Kernel(function, fastmath)
        _WAITING.append((function.__module__, made.load))
        return cast("_Function", made)

    return decorate


def _numba_type(hint: Any) -> str:
    """Return what numba calls a type."""
    if get_origin(hint) is Annotated:
        return str(hint.__metadata__[0])
    if get_origin(hint) is tuple:
        return f"Tuple(({', '.join(map(_numba_type, get_args(hint)))}))"
    return _SCALARS[hint]


class _Kernel:
    """A function that numba compiles."""

    loaded: ClassVar[int] = 0

    def __init__(self, function: Callable[..., Any], fastmath: frozenset[str]) -> None:
        update_wrapper(self, function)
        self._function, self._fastmath = function, fastmath
        self.compiled: Any = None

    @property
    def signatures(self) -> list[str]:
        """Those of numba: two where some numbers may be of either precision."""
        hints = get_type_hints(self._function, include_extras=True)
        result = _numba_type(hints.pop("return"))
        signature = f"{result}({', '.join(map(_numba_type, hints.values()))})"
        kinds = ("float32", "float64") if "real" in signature else ("",)
        return [signature.replace("real", kind) for kind in kinds]

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
        self.compiled = njit(self.signatures, cache=True, fastmath=fastmath)(self._function)
        names[self._function.__name__] = self.compiled
        _Kernel.loaded += 1
