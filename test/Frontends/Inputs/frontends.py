# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules as other frontends emit them, differentiated and executed.

A `Case` is a file with a forward function @main and the same function in
Python. The file goes through the pipeline as it is, in f32; the only thing that
is added to it is a function that asks for derivatives. Its results are compared
with gradients made op by op in extended precision, within the bound of the
rounding errors that `traced` derives. With f64 for f32 in the text, they are
compared with the complex steps of the Python function, to 1e-13.
"""

import os
import re
from dataclasses import dataclass
from typing import Callable

import numpy as np

import functions
import traced
from execution import DTYPES, Program, close, element_type_of, finish
from functions import Function

FOLDER = os.path.dirname(os.path.abspath(__file__))
FLOATS = ("f32", "f64")


@dataclass
class Case:
    name: str  # of the file, without .mlir
    mirror: Callable  # of arrays or Traced values; see traced.py
    inputs: dict = None  # index: values, or rng -> values, of some arguments
    shapes: dict = None  # index: shape, of arguments with dynamic extents
    # What a call with other arguments fails with: (shapes, message).
    refused: tuple = ()


def in_f64(text):
    """The module in f64; constants that f32 rounds keep its value."""
    def constant(match):
        value = match.group(1)
        if value.lower().startswith("0x"):
            bits = np.uint32(int(value, 16)).view(np.float32)
        else:
            bits = np.float32(value)
        return (f"0x{int(np.float64(bits).view(np.uint64)):016X}"
                f"{match.group(2)}f64{match.group(3)}")

    number = r"(0x[0-9A-Fa-f]+|-?\d+\.\d+(?:[eE][-+]?\d+)?)"
    text = re.sub(number + r"( : )f32()\b", constant, text)
    text = re.sub(number + r"(> : tensor<)f32(>)", constant, text)
    text = re.sub(r"\bf32\b|(?<=x)f32\b", "f64", text)
    # Nothing is left to convert.
    return re.sub(r"arith\.(truncf|extf)", "arith.bitcast", text)


def signature(text):
    """The types of the arguments and of the results of @main."""
    found = re.search(r"func\.func (?:public )?@main\((.*?)\) -> (.*?) \{\n",
                      text, re.S)
    assert found, "there is no function @main"
    types = r"tensor<[^>]*>"
    return (re.findall(r"%\w+: (" + types + ")", found.group(1)),
            re.findall(types, found.group(2)))


def with_derivatives(text, modes):
    """The module with a function for each of the modes; returns it, and what
    the functions take and return."""
    arguments, results = signature(text)
    wrt = [i for i, t in enumerate(arguments) if element_type_of(t) in FLOATS]
    floats = [t for t in results if element_type_of(t) in FLOATS]
    active = [arguments[i] for i in wrt]
    n = len(arguments)
    added, types = [], {}
    for mode in modes:
        extra = {"vjp": floats, "jvp": active}.get(mode, [])
        returned = results + (floats if mode == "jvp" else active)
        parameters = ", ".join(f"%a{i}: {t}" for i, t in
                               enumerate(arguments + extra))
        clause = {"vjp": "cotangents", "jvp": "tangents"}.get(mode)
        more = ", ".join(f"%a{n + i}" for i in range(len(extra)))
        clause = f" {clause}({more})" if clause else ""
        of = f"({', '.join(arguments)})" + (
            f", ({', '.join(extra)})" if extra else "")
        values = ", ".join(f"%r#{i}" for i in range(len(returned)))
        added.append(f"""
  func.func @{mode}({parameters}) -> ({', '.join(returned)}) {{
    %r:{len(returned)} = sparse_autograd.{mode} @main({', '.join(
        f'%a{i}' for i in range(n))}){clause} {{wrt = {wrt}}} : {of} -> ({
            ', '.join(returned)})
    return {values} : {', '.join(returned)}
  }}
""")
        types[mode] = (arguments + extra, returned)
    end = text.rindex("}")
    return text[:end] + "".join(added) + text[end:], types, wrt


def arguments_of(case, types, rng):
    """Arrays of numbers that f32 has."""
    arrays = []
    for index, type_ in enumerate(types):
        shape = (case.shapes or {}).get(index)
        if shape is None:
            shape = tuple(map(int, re.findall(r"(\d+)x", type_)))
        given = (case.inputs or {}).get(index)
        if given is None:
            array = rng.uniform(-1.5, 1.5, size=shape).astype(np.float32)
        else:
            array = np.asarray(given(rng) if callable(given) else given)
            assert array.shape == shape, (case.name, index, array.shape)
        element = element_type_of(type_)
        arrays.append(np.asarray(array, np.float64 if element in FLOATS
                                 else DTYPES[element]))
    return arrays


def program_of(case, tool, element_type, rng, modes):
    with open(os.path.join(FOLDER, tool, f"{case.name}.mlir"),
              encoding="utf-8") as file:
        text = file.read()
    if element_type == "f64":
        text = in_f64(text)
    _, results = signature(text)
    scalar = results[0] == f"tensor<{element_type}>" and len(results) == 1
    modes = [m for m in modes if m != "value_and_grad" or scalar]
    text, types, wrt = with_derivatives(text, modes)
    program = Program(f"{tool}/{case.name}/{element_type}", level=0)
    program.define(text)
    program.types.update(types)

    arguments, _ = signature(text)
    arrays = arguments_of(case, arguments, rng)
    mirror = Function(case.name, [f"<<{element_type_of(t)}>>" if
                                  element_type_of(t) in FLOATS else
                                  "<<|i64>>" for t in arguments],
                      ["<<>>"] * len(results), "", case.mirror)
    values = [np.real(v) for v in mirror.values(arrays)]
    cotangents = [rng.uniform(-1.5, 1.5, size=v.shape).astype(np.float32)
                  .astype(np.float64) for v in values]
    directions = [rng.uniform(-1.5, 1.5, size=arrays[i].shape)
                  .astype(np.float32).astype(np.float64) for i in wrt]

    def expect(mode):
        """Values and derivatives, each with a bound."""
        seeds = [np.ones(())] if mode == "value_and_grad" else cotangents
        if element_type == "f32" and mode != "jvp":
            pairs = traced.gradients(case.mirror, arrays, wrt, seeds, "f32")
            return [(b.value, b.allowance("f32")) for b in
                    [*pairs[0], *pairs[1]]]
        found = (functions.tangents(mirror, arrays, directions)
                 if mode == "jvp" else
                 functions.gradients(mirror, arrays, seeds))
        pairs = []
        for group in (values, found):
            size = max((np.abs(a).max(initial=0) for a in group), default=0)
            pairs += [(a, 1e-13 * 4 * (1 + size)) for a in group]
        return pairs

    for mode in modes:
        if element_type == "f32" and mode == "jvp":
            continue
        extra = {"vjp": cotangents, "jvp": directions}.get(mode, [])

        def check(*found, mode=mode):
            expected = expect(mode)
            assert len(found) == len(expected)
            return sum(close(a, v, bound, f"result {i}")
                       for i, (a, (v, bound)) in
                       enumerate(zip(found, expected)))

        program.call(mode, [*arrays, *extra], check)
    if "vjp" in modes:
        for shapes, message in case.refused:
            wrong = [np.ones(shapes.get(i, a.shape), a.dtype)
                     for i, a in enumerate(arrays)]
            program.call("vjp", [*wrong, *cotangents], message)
    return program


def run(tool, cases, seed=7):
    """Runs all cases and ends the program."""
    listed = {f[:-len(".mlir")] for f in os.listdir(os.path.join(FOLDER, tool))}
    assert listed == {c.name for c in cases}, listed ^ {c.name for c in cases}
    programs = []
    for case in cases:
        for element_type in FLOATS:
            programs.append(program_of(case, tool, element_type,
                                       np.random.default_rng(seed),
                                       ("vjp", "value_and_grad", "jvp")))
    finish(programs)
