# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise functions, and the operators of arrays."""

import builtins

import numpy as np
from scipy import special

from ._structured import astype, elementwise, operand, result_dtype
from ._trace import Array, ArrayType, TraceError
from ._values import is_float


def _evaluate(function):
    """The result of a NumPy function at zeros, where its operands are known."""

    def at_zero(values):
        if any(v is None for v in values):
            return None
        with np.errstate(all="ignore"):
            return function(*map(np.float64, values))

    return at_zero


def _float_dtype(operands):
    """The type of a function of real numbers: integers become float64."""
    dtype = result_dtype(operands)
    return dtype if is_float(dtype) else np.dtype(np.float64)


def _arithmetic(name, integer, real, numpy, at_zero=None):
    def function(x, y):
        operands = [operand(x), operand(y)]
        dtype = result_dtype(operands)
        op = real if is_float(dtype) else integer
        if dtype.kind == "b":
            op = {"add": "ori", "multiply": "andi"}.get(name)
            if op is None:
                raise TraceError(f"{name} of booleans: use logical_and, logical_or or logical_not")
        type_ = ArrayType((), dtype).element
        return elementwise(
            name, operands, dtype,
            lambda r, n: r(f"arith.{op} {{}}, {{}} : {type_}", *n),
            at_zero or _evaluate(numpy), dtype,
        )

    function.__name__ = name
    function.__doc__ = f"As numpy.{name}."
    return function


def _product_at_zero(values):
    return 0 if any(v == 0 for v in values) else None


def _quotient_at_zero(values):
    return 0 if values[0] == 0 and values[1] != 0 else None


add = _arithmetic("add", "addi", "addf", np.add)
subtract = _arithmetic("subtract", "subi", "subf", np.subtract)
multiply = _arithmetic("multiply", "muli", "mulf", np.multiply, _product_at_zero)
maximum = _arithmetic("maximum", "maxsi", "maximumf", np.maximum)
minimum = _arithmetic("minimum", "minsi", "minimumf", np.minimum)


def divide(x, y):
    """As numpy.divide: of integers, too, a quotient of floats."""
    operands = [operand(x), operand(y)]
    dtype = _float_dtype(operands)
    type_ = ArrayType((), dtype).element
    return elementwise(
        "divide", operands, dtype,
        lambda r, n: r(f"arith.divf {{}}, {{}} : {type_}", *n), _quotient_at_zero, dtype,
    )


true_divide = divide


def _unary(name, op, numpy, integer=None):
    def function(x):
        x = operand(x)
        dtype = result_dtype([x])
        if not is_float(dtype) and not (integer and dtype.kind == "i"):
            dtype = np.dtype(np.float64)
        type_ = ArrayType((), dtype).element
        used = op if is_float(dtype) else integer
        return elementwise(
            name, [x], dtype, lambda r, n: r(f"{used} {{}} : {type_}", *n), _evaluate(numpy), dtype
        )

    function.__name__ = name
    function.__doc__ = f"As numpy.{name}."
    return function


absolute = _unary("absolute", "math.absf", np.absolute, "math.absi")
abs = absolute
arccos = _unary("arccos", "math.acos", np.arccos)
arccosh = _unary("arccosh", "math.acosh", np.arccosh)
arcsin = _unary("arcsin", "math.asin", np.arcsin)
arcsinh = _unary("arcsinh", "math.asinh", np.arcsinh)
arctan = _unary("arctan", "math.atan", np.arctan)
arctanh = _unary("arctanh", "math.atanh", np.arctanh)
cbrt = _unary("cbrt", "math.cbrt", np.cbrt)
ceil = _unary("ceil", "math.ceil", np.ceil)
cos = _unary("cos", "math.cos", np.cos)
cosh = _unary("cosh", "math.cosh", np.cosh)
erf = _unary("erf", "math.erf", special.erf)
erfc = _unary("erfc", "math.erfc", special.erfc)
exp = _unary("exp", "math.exp", np.exp)
exp2 = _unary("exp2", "math.exp2", np.exp2)
expm1 = _unary("expm1", "math.expm1", np.expm1)
floor = _unary("floor", "math.floor", np.floor)
log = _unary("log", "math.log", np.log)
log10 = _unary("log10", "math.log10", np.log10)
log1p = _unary("log1p", "math.log1p", np.log1p)
log2 = _unary("log2", "math.log2", np.log2)
rint = _unary("rint", "math.roundeven", np.rint)
rsqrt = _unary("rsqrt", "math.rsqrt", lambda x: 1 / np.sqrt(x))
sin = _unary("sin", "math.sin", np.sin)
sinh = _unary("sinh", "math.sinh", np.sinh)
sqrt = _unary("sqrt", "math.sqrt", np.sqrt)
tan = _unary("tan", "math.tan", np.tan)
tanh = _unary("tanh", "math.tanh", np.tanh)
trunc = _unary("trunc", "math.trunc", np.trunc)
erf.__doc__ = erfc.__doc__ = "As the function of scipy.special."
rsqrt.__doc__ = "1 / sqrt(x)."


def _real(name, op, numpy):
    """A function of two floats."""

    def function(x, y):
        operands = [operand(x), operand(y)]
        dtype = _float_dtype(operands)
        type_ = ArrayType((), dtype).element
        return elementwise(
            name, operands, dtype,
            lambda r, n: r(f"{op} {{}}, {{}} : {type_}", *n), _evaluate(numpy), dtype,
        )

    function.__name__ = name
    function.__doc__ = f"As numpy.{name}, of floats."
    return function


arctan2 = _real("arctan2", "math.atan2", np.arctan2)
copysign = _real("copysign", "math.copysign", np.copysign)
fmax = _real("fmax", "arith.maxnumf", np.fmax)
fmin = _real("fmin", "arith.minnumf", np.fmin)
fmod = _real("fmod", "arith.remf", np.fmod)


def fma(x, y, z):
    """x * y + z, rounded once.

    snp.fma(a, b, c)
    """
    operands = [operand(x), operand(y), operand(z)]
    dtype = _float_dtype(operands)
    type_ = ArrayType((), dtype).element
    return elementwise(
        "fma", operands, dtype, lambda r, n: r(f"math.fma {{}}, {{}}, {{}} : {type_}", *n),
        lambda v: 0 if (v[0] == 0 or v[1] == 0) and v[2] == 0 else None, dtype,
    )


def floor_divide(x, y):
    """As numpy.floor_divide; a quotient of integers by zero is an error of the call."""
    operands = [operand(x), operand(y)]
    dtype = result_dtype(operands)
    if is_float(dtype):
        return floor(divide(x, y))
    type_ = ArrayType((), dtype).element
    return elementwise(
        "floor_divide", operands, dtype,
        lambda r, n: r(f"arith.floordivsi {{}}, {{}} : {type_}", *n), _quotient_at_zero, dtype,
    )


def remainder(x, y):
    """As numpy.remainder: what floor_divide leaves, with the sign of y."""
    return subtract(x, multiply(y, floor_divide(x, y)))


def sign(x):
    """As numpy.sign, of floats; the sign of zero is zero."""
    x = operand(x)
    return where(equal(x, 0), multiply(x, 0), copysign(1.0, x))


def negative(x):
    """As numpy.negative."""
    x = operand(x)
    if is_float(result_dtype([x])):
        return _negative(x)
    return subtract(0, x)


_negative = _unary("negative", "arith.negf", np.negative)


def square(x):
    """As numpy.square."""
    return multiply(x, x)


def reciprocal(x):
    """1 / x; of integers, too, a float."""
    return divide(1.0, x)


def power(x, y):
    """As numpy.power; an array of integers as exponents multiplies. An exponent that is an integer of Python multiplies; of
    integers with a negative one the result is a float."""
    if type(y) is float and y.is_integer() and builtins.abs(y) <= 64 and not _is_integer(x):
        y = int(y)
    if type(y) is int and builtins.abs(y) <= 64:
        return _integer_power(x, y)
    if type(y) is float and y == 0.5:
        return sqrt(x)
    operands = [operand(x), operand(y)]
    dtype = _float_dtype(operands)
    type_ = ArrayType((), dtype).element
    if isinstance(operands[1], Array) and operands[1].dtype.kind == "i" and not _is_integer(x):
        n = operands[1].type.element
        given = operands[0].dtype if isinstance(operands[0], Array) else dtype
        return elementwise(
            "power", operands, dtype,
            lambda r, v: r(f"math.fpowi {{}}, {{}} : {type_}, {n}", r.cast(v[0], given, dtype), v[1]),
            lambda v: None,
        )
    return elementwise(
        "power", operands, dtype,
        lambda r, n: r(f"math.powf {{}}, {{}} : {type_}", *n), _evaluate(np.power), dtype,
    )


def _is_integer(x):
    return not is_float(result_dtype([operand(x)]))


def _integer_power(x, n):
    if n < 0:
        return reciprocal(_integer_power(x, -n))
    dtype = result_dtype([operand(x), 1])
    type_ = ArrayType((), dtype).element
    op = "arith.mulf" if is_float(dtype) else "arith.muli"

    def body(region, numbers):
        result, base, rest = None, numbers[0], n
        while rest:
            if rest % 2:
                result = base if result is None else region(f"{op} {{}}, {{}} : {type_}", result, base)
            rest //= 2
            if rest:
                base = region(f"{op} {{}}, {{}} : {type_}", base, base)
        return region.constant(1, dtype) if result is None else result

    return elementwise("power", [x], dtype, body, lambda v: 0 if n and v[0] == 0 else None, dtype)


def clip(x, a_min=None, a_max=None):
    """As numpy.clip."""
    x = operand(x)
    numbers = type(a_min) in (int, float) and type(a_max) in (int, float)
    if isinstance(x, Array) and numbers and is_float(x.dtype) and not x.type.format and a_min <= a_max:
        type_ = x.type.element
        return elementwise(
            "clip", [x, a_min, a_max], x.dtype,
            lambda r, n: r(f"math.clampf {{}} to [{{}}, {{}}] : {type_}", *n),
            lambda v: 0 if a_min <= 0 <= a_max else a_min,
        )
    if a_min is not None:
        x = maximum(x, a_min)
    return x if a_max is None else minimum(x, a_max)


def _comparison(name, real, integer, numpy):
    def function(x, y):
        operands = [operand(x), operand(y)]
        dtype = result_dtype(operands)
        type_ = ArrayType((), dtype).element
        # Booleans have no sign.
        how = f"cmpf {real}" if is_float(dtype) else f"cmpi {integer.replace('s', 'u') if dtype.kind == 'b' else integer}"
        return elementwise(
            name, operands, np.bool_,
            lambda r, n: r(f"arith.{how}, {{}}, {{}} : {type_}", *n), _evaluate(numpy), dtype,
        )

    function.__name__ = name
    function.__doc__ = f"As numpy.{name}; a mask."
    return function


equal = _comparison("equal", "oeq", "eq", np.equal)
not_equal = _comparison("not_equal", "une", "ne", np.not_equal)
less = _comparison("less", "olt", "slt", np.less)
less_equal = _comparison("less_equal", "ole", "sle", np.less_equal)
greater = _comparison("greater", "ogt", "sgt", np.greater)
greater_equal = _comparison("greater_equal", "oge", "sge", np.greater_equal)


def isnan(x):
    """As numpy.isnan."""
    return not_equal(x, x)


def isinf(x):
    """As numpy.isinf."""
    return equal(absolute(x), float("inf"))


def isfinite(x):
    """As numpy.isfinite."""
    return less(absolute(x), float("inf"))


def _logical(name, op, at_zero):
    def function(x, y):
        bools = np.dtype(np.bool_)
        return elementwise(
            name, [x, y], bools, lambda r, n: r(f"arith.{op} {{}}, {{}} : i1", *n), at_zero, bools
        )

    function.__name__ = name
    function.__doc__ = f"As numpy.{name}."
    return function


logical_and = _logical("logical_and", "andi", _product_at_zero)
logical_or = _logical("logical_or", "ori", _evaluate(np.logical_or))
_exclusive = _logical("logical_xor", "xori", _evaluate(np.logical_xor))


logical_xor = _exclusive


def logical_not(x):
    """As numpy.logical_not."""
    return _exclusive(x, True)


def where(condition, x, y):
    """As numpy.where with three arguments: an element that is not taken influences
    neither values nor gradients."""
    condition = astype(condition, np.bool_)
    operands = [operand(x), operand(y)]
    dtype = result_dtype(operands)
    type_ = ArrayType((), dtype).element

    def body(region, numbers):
        flag = numbers[0]
        chosen = []
        for name, value in zip(numbers[1:], operands):
            given = value.dtype if isinstance(value, Array) else dtype
            chosen.append(region.cast(name, given, dtype))
        return region(f"arith.select {{}}, {{}}, {{}} : {type_}", flag, *chosen)

    def at_zero(values):
        flag, a, b = values
        if flag == 0:
            return 0 if b == 0 else None
        return 0 if a == 0 and b == 0 else None

    return elementwise("where", [condition, *operands], dtype, body, at_zero)


def _method(function, reflected=False):
    if reflected:
        return lambda self, other: function(other, self)
    return lambda self, other: function(self, other)


for _name, _function in {
    "add": add, "sub": subtract, "mul": multiply, "truediv": divide, "pow": power,
    "floordiv": floor_divide, "mod": remainder, "and": logical_and, "or": logical_or,
}.items():
    setattr(Array, f"__{_name}__", _method(_function))
    setattr(Array, f"__r{_name}__", _method(_function, reflected=True))
for _name, _function in {
    "lt": less, "le": less_equal, "gt": greater, "ge": greater_equal,
    "eq": equal, "ne": not_equal,
}.items():
    setattr(Array, f"__{_name}__", _method(_function))
# Equality is elementwise; an array is itself as a key.
Array.__hash__ = object.__hash__
Array.__neg__ = negative
Array.__abs__ = absolute
Array.__invert__ = logical_not
Array.astype = astype
