# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the operations of functions in MLIR's generic form.

Counted is how many scalar operations a function performs, each as often as the
loops around it run: how they are spread over operations of linalg is a matter
of fusion. Loops have constant bounds; operations of linalg run over the extents
that their maps say. A branch counts as both of its sides.
"""

import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from math import prod

# Constants, what says where data lies, and terminators.
FREE = {"arith.constant", "linalg.fill", "tensor.empty", "tensor.dim",
        "linalg.yield", "linalg.index", "scf.yield", "func.return", "scf.forall.in_parallel",
        "arith.index_cast", "tensor.cast"}
OPENING = re.compile(r'^(?:(%[\w#:, %]*) = )?"([\w.]+)"\(([^)]*)\)(.*)$')


@dataclass
class Op:
    name: str
    results: str
    operands: list
    text: str  # what follows the operands, without regions
    regions: list = field(default_factory=list)
    arguments: list = field(default_factory=list)  # of its first block


def parse(text):
    """The functions of a module, by name, as trees of Op."""
    aliases = dict(re.findall(r"^(#\w+) = (.*)$", text, re.M))
    root = Op("root", "", [], "")
    stack = [root]
    for line in text.splitlines():
        line = line.strip()
        match = OPENING.match(line)
        if match:
            results, name, operands, rest = match.groups()
            op = Op(name, results or "", re.findall(r"%\w+(?:#\d+)?", operands),
                    rest)
            stack[-1].regions.append(op)
            if rest.endswith("({"):
                stack.append(op)
        elif line.startswith("}) ") or line == "})":
            stack.pop().text += line
        elif line.startswith("^bb0"):
            stack[-1].arguments = re.findall(r"%\w+(?=:)", line)
        else:
            # Another region of the same op, an alias.
            assert line.startswith(("#", "}, {")) or not line, line
    module = root.regions[0]
    functions = {re.search(r'sym_name = "([^"]+)"', f.text).group(1): f
                 for f in module.regions}
    for function in functions.values():
        _expand(function, aliases)
    return functions


def _expand(op, aliases):
    op.text = re.sub(r"#\w+(?=[,\]>])", lambda m: aliases.get(
        m.group(0), m.group(0)), op.text)
    for inner in op.regions:
        _expand(inner, aliases)


def _constants(op, found):
    if op.name == "arith.constant":
        value = re.search(r"value = (-?\d+) : index", op.text)
        if value:
            found[op.results] = int(value.group(1))
    for inner in op.regions:
        _constants(inner, found)
    return found


def _trips(op, constants):
    """How often the regions of an operation run."""
    if op.name == "scf.for":
        low, high, step = (constants[o] for o in op.operands[:3])
        return max(0, -(-(high - low) // step))
    if op.name == "scf.forall":
        bounds = [list(map(int, re.search(
            rf"static{name} = array<i64: ([^>]*)>", op.text).group(1)
            .split(","))) for name in ("LowerBound", "UpperBound", "Step")]
        return prod(-(-(h - l) // s) for l, h, s in zip(*bounds))
    if op.name.startswith("linalg.") and op.regions:
        types = re.search(r"\}\)(?: \{.*?\})? : \((.*)\) -> ", op.text).group(1)
        types = re.findall(r"tensor<[^>]*>|[\w]+", types)
        shapes = [[int(e) for e in re.findall(r"(\d+)x", t)] for t in types]
        maps = re.findall(r"affine_map<\(([^)]*)\) -> \(([^)]*)\)>", op.text)
        if op.name == "linalg.fill":
            return prod(shapes[1])
        if not maps:
            maps = DEFAULT_MAPS[op.name]
        extents = {}
        for (dims, of), shape in zip(maps, shapes, strict=True):
            for dim, extent in zip(filter(None, of.split(", ")), shape,
                                   strict=True):
                extents[dim] = extent
        return prod(extents[d] for d in maps[0][0].split(", ") if d)
    return 1


# The maps that named ops do not print.
DEFAULT_MAPS = {
    "linalg.matmul": [("i, j, k", "i, k"), ("i, j, k", "k, j"),
                      ("i, j, k", "i, j")],
    "linalg.matvec": [("i, j", "i, j"), ("i, j", "j"), ("i, j", "i")],
    "linalg.vecmat": [("i, j", "j"), ("i, j", "j, i"), ("i, j", "i")],
    "linalg.dot": [("i", "i"), ("i", "i"), ("i", "")],
}


def count(function):
    """The scalar operations that a function performs, by name."""
    constants = _constants(function, {})
    performed = Counter()

    def visit(op, times):
        # Arithmetic of indices says where data lies.
        if (op.name.startswith(("arith.", "math.")) and
                op.name not in FREE and not op.text.endswith("-> index")):
            performed[op.name] += times * _elements(op)
        # Not known: what it performs is known once it is lowered.
        if op.name.startswith("sparse_autograd."):
            performed[op.name] += times
        times *= _trips(op, constants)
        for inner in op.regions:
            visit(inner, times)

    for op in function.regions:
        visit(op, 1)
    return performed


def _elements(op):
    """Operations on tensors are as many as their elements."""
    shape = re.search(r"-> tensor<((?:\d+x)*)", op.text)
    return prod(map(int, filter(None, shape.group(1).split("x")))) if (
        shape) else 1


def find_unread(function):
    """The inputs of operations of linalg that their regions do not read."""
    unread = []

    def visit(op):
        if op.name == "linalg.generic":
            inits = len(re.findall(r"-> \((.*)\)$", op.text)) and op.text.rsplit(
                "-> (")[-1].count("tensor<") or 1
            read = {o for inner in op.regions for o in inner.operands}
            unread.extend(f"{op.results}, {operand}" for operand, argument in
                          list(zip(op.operands, op.arguments))[:-inits]
                          if argument not in read)
        for inner in op.regions:
            visit(inner)

    visit(function)
    return unread


def compile_to(path, phase, *passes):
    """The functions of a file after a phase of the pipeline."""
    done = subprocess.run(
        ["sparse-opt", f"--sparse-autograd=compile-to={phase}", *passes,
         "--mlir-print-op-generic", path],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return parse(done.stdout)
