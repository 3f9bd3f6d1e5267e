# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tracing: calls on arrays that have no numbers yet, written down as MLIR.

A `Function` is the function of MLIR that is being written, an `Array` one of its
values. A function that is written inside another takes what it uses of that one as
further arguments; arrays with numbers that a program closes over are arguments of
the outermost one. Each op has the line of Python that asked for it as its location.

An extent is known while tracing if it is 1, which decides on broadcasting, or comes
from the program; all others are open, so that one program serves all shapes.
"""

import contextlib
import dataclasses
import json
import os
import re
import sys
import threading

import numpy as np
import scipy.sparse as sp

from ._values import RowSparse, SparseTensor, element_of

_FOLDER = os.path.dirname(__file__)


class TraceError(TypeError):
    """What a traced program asks for cannot be written down."""


@dataclasses.dataclass(frozen=True)
class Format:
    """How a sparse array is stored: SciPy's name, or "rows" of a RowSparse; bits of
    its indices, blocks."""

    name: str
    width: int
    block: tuple = ()

    def encoding(self, rank):
        dims = [f"d{i}" for i in range(rank)]
        if self.name == "csr":
            levels = "d0 : dense, d1 : compressed"
        elif self.name == "csc":
            levels = "d1 : dense, d0 : compressed"
        elif self.name == "bsr":
            r, c = self.block
            levels = (
                f"d0 floordiv {r} : dense, d1 floordiv {c} : compressed, "
                f"d0 mod {r} : dense, d1 mod {c} : dense"
            )
        elif self.name == "rows":
            levels = ", ".join(["d0 : compressed", *(f"{d} : dense" for d in dims[1:])])
        elif rank == 1:
            levels = "d0 : compressed"
        else:
            middle = [f"{d} : singleton(nonunique, soa)" for d in dims[1:-1]]
            last = [f"{dims[-1]} : singleton(soa)"]
            levels = ", ".join(["d0 : compressed(nonunique)", *middle, *last])
        return (
            f"#sparse_tensor.encoding<{{map = ({', '.join(dims)}) -> ({levels}), "
            f"posWidth = {self.width}, crdWidth = {self.width}}}>"
        )


@dataclasses.dataclass(frozen=True)
class ArrayType:
    """Extents (None: open), dtype, format of a sparse array. A weak one is a number
    of Python, whose type gives way to that of an array."""

    shape: tuple
    dtype: np.dtype
    format: Format | None = None
    weak: bool = False

    @property
    def element(self):
        return element_of(self.dtype)

    def __str__(self):
        extents = "".join(f"{'?' if n is None else n}x" for n in self.shape)
        encoding = f", {self.format.encoding(len(self.shape))}" if self.format else ""
        return f"tensor<{extents}{self.element}{encoding}>"


def type_of(value, name="an array"):
    """The type that a value has while tracing, None if it is no array or number."""
    if isinstance(value, Array):
        return value.type
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        return ArrayType((), np.dtype({bool: bool, int: np.int64, float: float}[type(value)]), weak=True)
    if isinstance(value, RowSparse):
        shape = (None, *(1 if n == 1 else None for n in value.shape[1:]))
        width = 8 * value.indices.dtype.itemsize
        return ArrayType(shape, value.values.dtype, Format("rows", width))
    if isinstance(value, SparseTensor):
        raise TraceError(f"{name} is a SparseTensor: a function that is traced takes SciPy's formats")
    if isinstance(value, np.ma.MaskedArray):
        raise TraceError(f"{name} is a masked array: give its data, and the mask as an argument")
    if not isinstance(value, (np.ndarray, np.generic)) and not sp.issparse(value):
        return None
    if element_of(value.dtype) is None:
        raise TraceError(
            f"{name} has elements of {value.dtype}: give bool, int8 to int64 or "
            "bfloat16, float16 to float64, as by its astype(np.float64)"
        )
    shape = tuple(1 if extent == 1 else None for extent in value.shape)
    form = None
    if sp.issparse(value):
        if value.format not in ("csr", "csc", "coo", "bsr"):
            raise TraceError(f"{name} is stored as {value.format.upper()}: give its tocsr()")
        indices = value.coords[0] if value.format == "coo" else value.indices
        block = value.blocksize if value.format == "bsr" else ()
        form = Format(value.format, 8 * indices.dtype.itemsize, tuple(block))
    return ArrayType(shape, value.dtype, form)


# The functions that this thread is writing, the innermost last.
_state = threading.local()


def stack():
    if not hasattr(_state, "functions"):
        _state.functions = []
    return _state.functions


def is_tracing():
    return bool(stack())


def current():
    functions = stack()
    if not functions:
        raise TraceError(
            "functions of sparse_autograd.numpy are for use in a function that is "
            "traced: decorate it with sparse_autograd.jit"
        )
    return functions[-1]


def location():
    """The line of Python outside of this package that is being traced."""
    frame = sys._getframe(2)
    while frame and os.path.dirname(frame.f_code.co_filename) == _FOLDER:
        frame = frame.f_back
    if frame is None:
        return "unknown"
    positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    return f"{json.dumps(frame.f_code.co_filename)}:{frame.f_lineno}:{(positions[2] or 0) + 1}"


def located(line):
    """An op as text with the line of Python, unless it has that."""
    return line if line.endswith(")") and " loc(" in line else f"{line} loc({location()})"


class Program:
    """The functions of a module that is being written, and the arrays with numbers
    that they use."""

    def __init__(self):
        self.texts = []
        self.names = set()
        self.constants = []
        self.extra = {}  # Functions in MLIR, and their names here.

    def name(self, name):
        """A symbol that there is not yet."""
        base = re.sub(r"\W", "_", name) or "f"
        name, n = base, 1
        while name in self.names:
            name, n = f"{base}_{n}", n + 1
        self.names.add(name)
        return name


class Function:
    """A function that is being written."""

    def __init__(self, program, name, types, parent=None, public=False, labels=None):
        self.program, self.parent, self.public = program, parent, public
        self.name = program.name(name)
        self.lines, self.count = [], 0
        self.labels = labels or []
        self.arguments = [self._argument(t) for t in types]
        self.captured = []  # of (value outside, argument)
        self.extents = {}

    def _argument(self, type_):
        return Array(self, self.fresh(), type_)

    def fresh(self):
        self.count += 1
        return f"%v{self.count}"

    def use(self, value):
        """The name that a value has here."""
        if value.function is self:
            return value.name
        for outside, inside in self.captured:
            if outside is value:
                return inside.name
        if value.function not in self._ancestors():
            raise TraceError(
                "an array of another trace: it was kept after its function had "
                "returned; return it instead"
            )
        inside = self._argument(value.type)
        self.captured.append((value, inside))
        return inside.name

    def _ancestors(self):
        function, all_ = self.parent, []
        while function:
            all_.append(function)
            function = function.parent
        return all_

    def emit(self, text):
        self.lines.append(f"  {text} loc({location()})")

    def op(self, text, type_):
        """Writes an op of one result."""
        name = self.fresh()
        self.emit(f"{name} = {text}")
        return Array(self, name, type_)

    def call(self, function, names, result_types):
        """The text of a call of a function of this program, and the names of its
        results: `names` are those of its arguments, without what it has captured."""
        outside = [value for value, _ in function.captured]
        given = ", ".join([*names, *(self.use(v) for v in outside)])
        types = ", ".join(str(a.type) for a in function.all_arguments())
        results = [self.fresh() for _ in result_types]
        left = f"{', '.join(results)} = " if results else ""
        text = (
            f"{left}func.call @{function.name}({given}) : ({types}) -> "
            f"({', '.join(map(str, result_types))}) loc({location()})"
        )
        return text, results

    def all_arguments(self):
        """The arguments, then what is captured."""
        return [*self.arguments, *(inside for _, inside in self.captured)]

    def index(self, n):
        """A constant index."""
        key = ("index", n)
        if key not in self.extents:
            name = self.fresh()
            self.lines.insert(0, f"  {name} = arith.constant {n} : index")
            self.extents[key] = name
        return self.extents[key]

    def extent(self, array, dim):
        """The extent of an array, an index."""
        if array.type.shape[dim] is not None:
            return self.index(array.type.shape[dim])
        name = self.use(array)
        key = (name, dim)
        if key not in self.extents:
            result = self.fresh()
            zero = self.index(dim)
            self.emit(f"{result} = tensor.dim {name}, {zero} : {array.type}")
            self.extents[key] = result
        return self.extents[key]

    def finish(self, results):
        """Ends the function with its results, arrays, and adds it to the program."""
        names = [self.use(r) for r in results]
        arguments = self.all_arguments()
        described = []
        for i, a in enumerate(arguments):
            label = self.labels[i] if i < len(self.labels) else f"array {i} closed over"
            attribute = f" {{sparse_autograd.name = {json.dumps(label)}}}" if self.public else ""
            described.append(f"{a.name}: {a.type}{attribute}")
        types = ", ".join(str(r.type) for r in results)
        values = f" {', '.join(names)} : {types}" if results else ""
        visibility = "" if self.public else "private "
        self.program.texts.append(
            f"func.func {visibility}@{self.name}({', '.join(described)}) -> ({types}) {{\n"
            + "\n".join(self.lines)
            + f"\n  return{values}\n}}\n"
        )


@contextlib.contextmanager
def inside(function):
    """What is traced goes into a function that is not finished."""
    stack().append(function)
    try:
        yield function
    finally:
        stack().pop()


def begin(program, name, types, body, parent=None, public=False, labels=None):
    """Writes a function but for its end: `body` takes its arguments, and returns its
    results and anything else, which is returned with the function."""
    with inside(Function(program, name, types, parent, public, labels)) as function:
        results, rest = body(function.arguments)
    return function, results, rest


def write(program, name, types, body, parent=None, public=False, labels=None):
    """As begin, the whole function."""
    function, results, rest = begin(program, name, types, body, parent, public, labels)
    with inside(function):
        function.finish(results)
    return function, results, rest


def constant_array(value):
    """An array with numbers, as an argument of the outermost function."""
    root = stack()[0]
    for known, array in root.program.constants:
        if known is value:
            return array
    array = root._argument(type_of(value))
    root.captured.append((array, array))
    root.program.constants.append((value, array))
    return array


def constant_arrays():
    """The arrays with numbers that the program uses so far."""
    return [array for _, array in stack()[0].program.constants]


class Extent:
    """An extent that is open: a product of extents of arrays."""

    def __init__(self, factors, constant=1):
        self.factors, self.constant = factors, constant

    def name(self):
        function = current()
        result = function.index(self.constant)
        for array, dim in self.factors:
            name = function.fresh()
            function.emit(f"{name} = arith.muli {result}, {function.extent(array, dim)} : index")
            result = name
        return result

    def array(self):
        """As an array of rank 0."""
        function = current()
        name = function.fresh()
        function.emit(f"{name} = arith.index_cast {self.name()} : index to i64")
        type_ = ArrayType((), np.dtype(np.int64), weak=True)
        return function.op(f"tensor.from_elements {name} : {type_}", type_)

    def __mul__(self, other):
        if isinstance(other, Extent):
            return Extent(self.factors + other.factors, self.constant * other.constant)
        if isinstance(other, int) and not isinstance(other, bool):
            return Extent(self.factors, self.constant * other)
        return self.array() * other

    __rmul__ = __mul__

    def __add__(self, other):
        return self.array() + other

    def __radd__(self, other):
        return other + self.array()

    def __sub__(self, other):
        return self.array() - other

    def __rsub__(self, other):
        return other - self.array()

    def __truediv__(self, other):
        return self.array() / other

    def __rtruediv__(self, other):
        return other / self.array()

    def __pow__(self, other):
        return self.array() ** other

    def _refuse(self, *_):
        raise TraceError(
            "an extent is open while tracing, so that one program serves all shapes: "
            "it has no number yet. Give the number to the function as an argument"
        )

    __int__ = __index__ = __float__ = __bool__ = _refuse
    __repr__ = lambda self: "?"


class Array:
    """An array while tracing: no numbers, but a shape, a dtype, and operators."""

    __array_priority__ = 1000
    __array_ufunc__ = None  # Operators of NumPy leave it to those of this class.

    def __init__(self, function, name, type_):
        self.function, self.name, self.type = function, name, type_

    @property
    def shape(self):
        return tuple(
            Extent([(self, d)]) if n is None else n for d, n in enumerate(self.type.shape)
        )

    ndim = property(lambda self: len(self.type.shape))
    dtype = property(lambda self: self.type.dtype)
    format = property(lambda self: self.type.format and self.type.format.name)

    @property
    def size(self):
        result = 1
        for extent in self.shape:
            result = extent * result
        return result

    def _refuse(self, what, remedy):
        raise TraceError(f"{what} a traced array, which has no numbers yet: {remedy}")

    def __bool__(self):
        self._refuse("a branch on", "select with sparse_autograd.numpy.where")

    def __float__(self):
        self._refuse("a number of", "return the array")

    __int__ = __index__ = __complex__ = __float__

    def __array__(self, *_, **__):
        if sys._getframe(1).f_globals.get("__name__", "").startswith("scipy.sparse"):
            # SciPy leaves an operator to the other operand if that is an object to it.
            result = np.empty((), object)
            result[()] = self
            return result
        self._refuse("a NumPy function on", "use that of sparse_autograd.numpy")

    def __len__(self):
        self._refuse("the length of", "use its shape[0]")

    def __iter__(self):
        self._refuse("a loop over", "write the operation on the whole array")

    def __repr__(self):
        return f"<traced array, {self.type}>"
