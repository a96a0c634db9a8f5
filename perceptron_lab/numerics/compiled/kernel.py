"""Kernels: functions of annotated arrays that numba compiles when they are first called.

numba and its kernels take half a second to load, and tens of seconds to compile: a kernel is
loaded (compiled, the first time, or read from numba's cache) with those that it calls, and no
other. Some are interpreted on small arrays, so that a small system needs no numba. The clock of a
run stands still while they are loaded; cells load those of their algorithms before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property, update_wrapper
from threading import RLock
from types import FunctionType, NoneType
from typing import (
    Annotated,
    Any,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import counted
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import paused
from perceptron_lab.numerics.compiled.compilation_lock import compiling_alone

# For fastmath: sums in any order and fused multiply-add; NaN and infinity keep their meaning
REORDER = frozenset({"reassoc", "contract", "nsz"})
# And x / y as x (1 / y)
RECIPROCALS = REORDER | {"arcp"}

# Arrays of so many entries at most are small: `auto` takes 1.0 to 1.3 times as long (0.3 ms more at
# most) on 8 x 3 to 16 x 4 rows where kernels are interpreted, and up to 1.6 times on 20 x 5 and
# 32 x 4. To load numba and the compiled functions takes 350 ms.
SMALL = 64
_SMALL: ContextVar[int] = ContextVar("small", default=SMALL)

RealArray = npt.NDArray[np.float32] | npt.NDArray[np.float64]
UnsignedArray = npt.NDArray[np.uint32]
WordArray = npt.NDArray[np.uint64]

# Arguments of kernels with their types in numba, where `real` stands for float32, and in a second
# signature for float64; those that are given may be read alone
Vector = Annotated[FloatArray, "float64[::1]"]
Matrix = Annotated[FloatArray, "float64[:, ::1]"]
IntVector = Annotated[IntArray, "int64[::1]"]
IntMatrix = Annotated[IntArray, "int64[:, ::1]"]
SingleMatrix = Annotated[npt.NDArray[np.float32], "float32[:, ::1]"]
RealVector = Annotated[RealArray, "real[::1]"]
RealMatrix = Annotated[RealArray, "real[:, ::1]"]
UnsignedVector = Annotated[UnsignedArray, "uint32[::1]"]
WordVector = Annotated[WordArray, "uint64[::1]"]
BoolVector = Annotated[npt.NDArray[np.bool_], "boolean[::1]"]
GivenVector = Annotated[FloatArray, "Array(float64, 1, 'C', readonly=True)"]
GivenMatrix = Annotated[FloatArray, "Array(float64, 2, 'C', readonly=True)"]
GivenWordVector = Annotated[WordArray, "Array(uint64, 1, 'C', readonly=True)"]
GivenIntVector = Annotated[IntArray, "Array(int64, 1, 'C', readonly=True)"]

_SCALARS = {float: "float64", int: "int64", np.int64: "int64", bool: "boolean", NoneType: "void"}

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Those of all imported modules
_DEFINED: list[Kernel] = []
_FOLDER = __name__.rpartition(".")[0] + "."
_LOADING = RLock()
_log = logging.getLogger("perceptron_lab")


def kernel(
    *,
    fastmath: frozenset[str] = frozenset(),
    before: Callable[[], object] | None = None,
    small: bool = False,
) -> Callable[[_Function], _Function]:
    """Return a decorator that makes a function a kernel, by the types of its arguments.

    Parameters
    ----------
    fastmath
        What LLVM may assume of floating-point numbers, ``"reassoc"`` or ``"contract"`` for example.
    before
        Called before it is compiled or loaded: what makes a function known to numba.
    small
        Whether it is interpreted where no array has more than ``SMALL`` entries, which any types of
        numbers are then taken in; results differ by rounding errors alone.
    """

    def decorate(function: _Function) -> _Function:
        return cast("_Function", Kernel(function, fastmath, before, small))

    return decorate


@contextmanager
def compiled_only() -> Iterator[None]:
    """Interpret nothing here: the time and the last digits of cells are those of compiled code."""
    token = _SMALL.set(-1)
    try:
        yield
    finally:
        _SMALL.reset(token)


Functions = Sequence[Callable[..., Any]]
"""Compiled kernels, and plain functions that call kernels."""


@contextmanager
def logged_compilation(count: int) -> Iterator[None]:
    """Log that so many kernels are compiled, which is seen on standard error by default."""
    _log.warning("compiling %s (first run only)", counted(count, "kernel"))
    yield


Surroundings = Callable[[int], AbstractContextManager[None]]
_SURROUNDINGS: list[Surroundings] = [logged_compilation]


def surround_compilations(by: Surroundings) -> None:
    """Enter this context manager around compilations, instead of logging them."""
    _SURROUNDINGS[:] = [by]


def load_kernels(functions: Functions | None = None, *, compiling: bool = True) -> int:
    """Load kernels and their callees; return how many were not loaded before.

    Parameters
    ----------
    functions
        The kernels to load; None for the kernels of all imported modules.
    compiling
        Whether those that are not in the cache are compiled.
    """
    with paused(), _LOADING:
        waiting: dict[Kernel, None] = {}
        for member in _DEFINED if functions is None else called_by(functions):
            member.collect(waiting)
        if waiting:
            _load_cached(waiting)
        missing = [member for member in waiting if member.compiled is None]
        if missing and compiling:
            with _SURROUNDINGS[0](len(missing)):
                for member in missing:
                    with compiling_alone(member.source):
                        member.load()
        return sum(member.compiled is not None for member in waiting)


def called_by(functions: Iterable[object]) -> Iterator[Kernel]:
    """Yield the kernels among the functions, and the kernels that the other functions call."""
    for function in functions:
        if isinstance(function, Kernel):
            yield function
        elif isinstance(function, FunctionType) and function.__module__.startswith(_FOLDER):
            yield from called_by(
                function.__globals__.get(name) for name in function.__code__.co_names
            )


class _NotCached(Exception):
    """Raised when a kernel is not in the compilation cache."""


def _load_cached(kernels: Iterable[Kernel]) -> None:
    """Load the kernels that are in the cache."""
    from numba.core.event import Listener, install_listener

    class Refusal(Listener):
        def on_start(self, event: Any) -> None:
            raise _NotCached

        def on_end(self, event: Any) -> None:
            """Do nothing."""

    with install_listener("numba:compile", Refusal()):
        for member in kernels:
            with suppress(_NotCached):
                member.load()


def _numba_type(hint: Any) -> str:
    """Return numba's name of a type."""
    if get_origin(hint) is Annotated:
        return str(hint.__metadata__[0])
    if get_origin(hint) is tuple:
        return f"Tuple(({', '.join(map(_numba_type, get_args(hint)))}))"
    return _SCALARS[hint]


class Kernel:
    """A function that numba compiles."""

    def __init__(
        self,
        function: Callable[..., Any],
        fastmath: frozenset[str],
        before: Callable[[], object] | None,
        small: bool,
    ) -> None:
        update_wrapper(self, function)
        self._function, self._fastmath, self._before = function, fastmath, before
        self._small = small
        self.source = function.__code__.co_filename
        self.compiled: Any = None
        _DEFINED.append(self)

    @property
    def signatures(self) -> list[str]:
        """The signatures for numba: two where some numbers may be of either precision."""
        hints = get_type_hints(self._function, include_extras=True)
        result = _numba_type(hints.pop("return"))
        signature = f"{result}({', '.join(map(_numba_type, hints.values()))})"
        kinds = ("float32", "float64") if "real" in signature else ("",)
        return [signature.replace("real", kind) for kind in kinds]

    @cached_property
    def callees(self) -> dict[str, Kernel]:
        """The kernels that it calls, by the names that they have in its module."""
        names = self._function.__globals__
        values = {name: names.get(name) for name in self._function.__code__.co_names}
        return {name: value for name, value in values.items() if isinstance(value, Kernel)}

    @cached_property
    def interpreted(self) -> Callable[..., Any]:
        """The function as interpreted by Python, with interpreted callees."""
        return self._with({name: callee.interpreted for name, callee in self.callees.items()})

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function, which is loaded first; or, on small arrays, interpret it."""
        if self._small and all(map(_SMALL.get().__ge__, map(np.size, arguments))):
            with np.errstate(all="ignore"):  # as in compiled code
                return self.interpreted(*arguments)
        if self.compiled is None:
            load_kernels([self])
        return self.compiled(*arguments)

    def collect(self, waiting: dict[Kernel, None]) -> None:
        """Append the kernel, after its callees, to the kernels still to be loaded."""
        if self.compiled is None and self not in waiting:
            for callee in self.callees.values():
                callee.collect(waiting)
            waiting[self] = None

    def load(self) -> None:
        """Compile the kernel, or read it from the cache; its callees are loaded first.

        Without a folder for the cache (numba tries that of the module and the user's) it is
        compiled for this process alone.
        """
        from numba import njit

        if self._before is not None:
            self._before()
        function = self._with({name: callee.compiled for name, callee in self.callees.items()})
        signatures, fastmath = self.signatures, set(self._fastmath) or False
        try:
            self.compiled = njit(signatures, cache=True, fastmath=fastmath)(function)
        except (OSError, RuntimeError):
            self.compiled = njit(signatures, fastmath=fastmath)(function)

    def _with(self, names: dict[str, Any]) -> Callable[..., Any]:
        """Return the function, where other functions stand for the kernels that it calls."""
        function = self._function
        assert isinstance(function, FunctionType)
        attributes = function.__name__, function.__defaults__, function.__closure__
        copy = FunctionType(function.__code__, function.__globals__ | names, *attributes)
        copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
        return copy
