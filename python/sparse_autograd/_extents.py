# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The extents of the results of a traced program, as functions of those of its
arguments: what frameworks need before anything is computed. The compiler says how
extents follow from each other; what it says is evaluated here, with numbers or with
the symbols of a framework.
"""

import re

from ._module import Module
from ._trace import TraceError

_PASSES = "inline,func.func(resolve-ranked-shaped-type-result-dims,canonicalize,cse),symbol-dce"
_OPS = {"addi": "+", "subi": "-", "muli": "*", "divui": "//", "divsi": "//", "remui": "%", "remsi": "%"}
_OPEN = (
    "the extents of the results do not follow from those of the arguments alone ({}): a "
    "compiler cannot allocate them"
)


class Extents:
    """Of a program: `Extents(program)(shapes)` are the shapes of its results."""

    def __init__(self, program):
        self._ranks = [len(r.shape) for r in program.results]
        self._lines, self._returned = self._resolve(program)

    def _resolve(self, program):
        name, arguments, results = program.symbol, program.arguments, program.results
        given = ", ".join(f"%a{i}: {t}" for i, t in enumerate(arguments))
        names = ", ".join(f"%a{i}" for i in range(len(arguments)))
        lines, returned = [], []
        left = ", ".join(f"%r{i}" for i in range(len(results)))
        lines.append(
            f"{left} = func.call @{name}({names}) : ({', '.join(map(str, arguments))}) -> "
            f"({', '.join(map(str, results))})"
        )
        for i, t in enumerate(results):
            for d in range(len(t.shape)):
                lines.append(f"%c{i}_{d} = arith.constant {d} : index")
                lines.append(f"%d{i}_{d} = tensor.dim %r{i}, %c{i}_{d} : {t}")
                returned.append(f"%d{i}_{d}")
        types = ", ".join(["index"] * len(returned))
        values = f" {', '.join(returned)} : {types}" if returned else ""
        body = "\n".join(lines)
        text = program.text.replace(f"func.func @{name}(", f"func.func private @{name}(")
        module = Module.parse(
            f"{text}func.func @extents__({given}) -> ({types}) {{\n{body}\nreturn{values}\n}}"
        )
        module.run(_PASSES)
        return self._read(module.mlir)

    def _read(self, text):
        maps = dict(re.findall(r"^#(map\d*) = affine_map<(.*)>$", text, re.MULTILINE))
        lines = []
        # Indices of another type have the extents of the argument.
        arguments = {}
        for line in text.split("@extents__(")[1].splitlines()[1:]:
            line = line.strip()
            if line.startswith("return"):
                return lines, re.findall(r"%[\w]+", line)
            if found := re.match(r"(%\w+) = arith\.constant (-?\d+) : index", line):
                lines.append((found[1], found[2], []))
            elif found := re.match(r"(%\w+) = arith\.index_cast(?:ui)? (%\w+) : tensor", line):
                arguments[found[1]] = arguments.get(found[2], found[2])
            elif found := re.match(r"(%\w+) = tensor\.dim (%\w+), (%\w+)", line):
                argument = arguments.get(found[2], found[2])
                if not argument.startswith("%arg"):
                    raise TraceError(_OPEN.format(line.split(" : ")[0]))
                lines.append((found[1], None, [int(argument[4:]), found[3]]))
            elif (found := re.match(r"(%\w+) = arith\.(\w+) (%\w+), (%\w+)", line)) and found[2] in _OPS:
                lines.append((found[1], f"s0 {_OPS[found[2]]} s1", [found[3], found[4]]))
            elif found := re.match(r"(%\w+) = affine\.apply #(map\d*)\((.*?)\)(?:\[(.*?)\])?", line):
                expression = (
                    maps[found[2]].split("-> (")[1][:-1].replace("floordiv", "//").replace("mod", "%")
                )
                dims, symbols = (re.findall(r"%\w+", found[k] or "") for k in (3, 4))
                expression = re.sub(r"(\S+|\(.*\)) ceildiv (\S+)", r"-(-\1 // \2)", expression)
                expression = re.sub(r"\bd(\d+)", lambda m: f"s{int(m[1]) + len(symbols)}", expression)
                lines.append((found[1], expression, symbols + dims))
            elif line.startswith("%"):
                raise TraceError(_OPEN.format(line.split(" : ")[0]))
        raise AssertionError("a function ends with a return")

    def __call__(self, shapes):
        values = {}
        for name, expression, operands in self._lines:
            if expression is None:
                values[name] = shapes[operands[0]][values[operands[1]]]
            else:
                given = {f"s{i}": values[o] for i, o in enumerate(operands)}
                values[name] = eval(expression, {"__builtins__": {}}, given)
        flat = iter([values[name] for name in self._returned])
        return [tuple(next(flat) for _ in range(rank)) for rank in self._ranks]
