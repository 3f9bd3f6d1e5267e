# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions in MLIR as functions of traced arrays."""

import re

import numpy as np

from ._control import _number
from ._functions import convert
from ._module import Module
from ._structured import array
from ._trace import Array, ArrayType, Format, TraceError, current
from ._values import dtype_of
from .transforms import Compiled

_OPENING, _CLOSING = "<([{", ">)]}"


def _split(text):
    """The parts of a list, at the commas outside of brackets."""
    parts, depth, last = [], 0, 0
    for i, c in enumerate(text):
        if c in _OPENING:
            depth += 1
        elif c in _CLOSING and text[i - 1] != "-":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[last:i])
            last = i + 1
    return [p.strip() for p in (*parts, text[last:]) if p.strip()]


def _bracketed(text, start):
    """What is between the bracket at `start` and its partner, and where that ends."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] in _OPENING:
            depth += 1
        elif text[i] in _CLOSING and text[i - 1] != "-":
            depth -= 1
            if depth == 0:
                return text[start + 1 : i], i + 1
    raise AssertionError("brackets of printed MLIR match")


class _Signature:
    """The types of a function of a module, as printed."""

    def __init__(self, text, name):
        self.aliases = dict(re.findall(r"^(#\w+) = (#sparse_tensor.*)$", text, re.MULTILINE))
        found = re.search(rf"func\.func (?:private )?@{re.escape(name)}\(", text)
        arguments, end = _bracketed(text, found.end() - 1)
        self.arguments = [self._type(re.sub(r"^%\w+: ", "", p)) for p in _split(arguments)]
        rest = re.match(r"\s*->\s*", text[end:])
        self.results = []
        if rest:
            end += rest.end()
            if text[end] == "(":
                listed = _split(_bracketed(text, end)[0])
            else:
                listed = [re.match(r"tensor<.*?>(?=\s|$)|\w+", text[end:]).group()]
                if listed[0].startswith("tensor<"):
                    listed = ["tensor<" + _bracketed(text, end + 6)[0] + ">"]
            self.results = [self._type(p) for p in listed]

    def _type(self, text):
        """(type of an array, whether MLIR has a number in its place, the name of its
        type)."""
        text = re.sub(r"\s+(\{.*\}|loc\(.*\))+$", "", text.strip())
        if not text.startswith("tensor<"):
            return ArrayType((), _dtype(text)), text
        parts = _split(text[len("tensor<") : -1])
        *extents, element = parts[0].split("x")
        shape = tuple(None if n == "?" else int(n) for n in extents)
        form = None
        if len(parts) > 1:
            given = self.aliases.get(parts[1], parts[1])
            form = next(
                (f for f in _formats(len(shape)) if _plain(f.encoding(len(shape))) == _plain(given)), None
            )
            if form is None:
                raise TraceError(f"{text}: arrays in this format are no arguments of traced functions")
        return ArrayType(shape, _dtype(element), form), None


def _dtype(element):
    try:
        return dtype_of(element)
    except KeyError:
        raise TraceError(f"numbers of {element} are no arguments of traced functions") from None


def _formats(rank):
    names = ("csr", "csc", "coo", "rows") if rank == 2 else ("coo", "rows")
    return [Format(name, width) for name in names for width in (32, 64)]


def _plain(encoding):
    return re.sub(r"\s", "", encoding)


class mlir_function(Compiled):
    """A function of a program in MLIR, `text`, to be called in a function that is
    traced, and differentiated like everything else; the one named `name`, by default
    the only one. It stays what its types say: a number for a number, an array of
    rank 0 or a number for a tensor of rank 0.

        cube = sa.mlir_function('''
          func.func @cube(%x: tensor<?xf64>) -> tensor<?xf64> {
            %y = arith.mulf %x, %x : tensor<?xf64>
            %z = arith.mulf %y, %x : tensor<?xf64>
            return %z : tensor<?xf64>
          }''')
        sa.grad(lambda x: snp.sum(cube(x)))(np.ones(3))
    """

    def __init__(self, text, name=None, **options):
        self._text = Module.parse(text, name or "<mlir_function>").print(locations=True)
        names = re.findall(r"func\.func (?:private )?@(\w+)", self._text)
        if name is None and len(names) != 1:
            raise TraceError(f"mlir_function: give the name of one of the functions {', '.join(names)}")
        if name is not None and name not in names:
            raise TraceError(f"mlir_function: there is no function '{name}'; there are: {', '.join(names)}")
        self._symbol = name or names[0]
        self._symbols = names
        self._signature = _Signature(self._text, self._symbol)

        def call(*args):
            return self._write(args)

        call.__name__ = self._symbol
        super().__init__(call, call, options)

    def _write(self, args):
        f, signature = current(), self._signature
        if len(args) != len(signature.arguments):
            raise TraceError(f"{self._symbol} takes {len(signature.arguments)} arguments, not {len(args)}")
        symbol = self._add(f.program)
        names, types = [], []
        for i, (arg, (type_, number)) in enumerate(zip(args, signature.arguments)):
            if number is not None:
                name = _number(arg, type_.dtype, f"argument {i} of {self._symbol}")
                if number == "index":
                    name_, name = name, f.fresh()
                    f.emit(f"{name} = arith.index_cast {name_} : i64 to index")
            else:
                x = array(arg)
                if (
                    x.ndim != len(type_.shape)
                    or x.type.format != type_.format
                    or (x.dtype != type_.dtype and not x.type.weak)
                ):
                    raise TraceError(f"argument {i} of {self._symbol} is {type_}, not {x.type}")
                name = f.use(convert(x, type_))
            names.append(name)
            types.append(number or str(type_))
        results = [f.fresh() for _ in signature.results]
        left = f"{', '.join(results)} = " if results else ""
        listed = ", ".join(number or str(t) for t, number in signature.results)
        f.emit(f"{left}func.call @{symbol}({', '.join(names)}) : ({', '.join(types)}) -> ({listed})")
        values = []
        for name, (type_, number) in zip(results, signature.results):
            if number == "index":
                inner, name = name, f.fresh()
                f.emit(f"{name} = arith.index_cast {inner} : index to i64")
            if number is not None:
                values.append(f.op(f"tensor.from_elements {name} : {type_}", type_))
            else:
                values.append(Array(f, name, type_))
        return values[0] if len(values) == 1 else tuple(values)

    def _add(self, program):
        """Adds the functions to a program, private and with names of their own; the
        name of this one."""
        known = program.extra.get(self)
        if known:
            return known
        renamed = {name: program.name(name) for name in self._symbols}
        prefix = f"m{len(program.extra)}_"
        text = re.sub(r"@(\w+)", lambda m: "@" + renamed.get(m.group(1), m.group(1)), self._text)
        text = re.sub(r"#(\w+)(?![\w.<])", lambda m: f"#{prefix}{m.group(1)}", text)
        text = re.sub(r"^module[^\n]*\{\n", "", text, flags=re.MULTILINE)
        text = re.sub(r"^\}[^\n]*\n?", "", text, flags=re.MULTILINE)
        text = re.sub(r"^(  func\.func )(?!private )", r"\1private ", text, flags=re.MULTILINE)
        program.texts.append(text)
        program.extra[self] = renamed[self._symbol]
        return program.extra[self]
