# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""What MLIR's own sparsification of LLVM 22.1.8 gets wrong, refuses late or
crashes on: here the numbers are right, with their gradients, or the program is
refused where it is wrong. Each case has the name of what is wrong there.

`sparse-upstream.py stock` says what the stock mlir-opt makes of each."""

import os
import re
import subprocess
import sys
import tempfile

import numpy as np

from execution import Program, close, finish, same_bits
from sparse_storage import from_pattern
from upstream_cases import (CASES, D, ENCODINGS, PRELUDE, REFUSALS, S, matrix,
                            rng)


def numbers_program():
    program = Program("numbers", 1)
    for name, encoding in ENCODINGS.items():
        program.define_encoding(name, encoding)
    for case in CASES:
        arguments, result = [matrix(*s) for s in case.shapes], matrix(
            *case.result)
        program.define(case.function(f"{case.name}_f", "private "))
        values = ", ".join(f"%a{i}" for i in range(len(arguments)))
        types = ", ".join(arguments)
        if case.smooth:
            program.entry(case.name, [*arguments, result],
                          [result, *arguments], f"""
  %r:{len(arguments) + 1} = sparse_autograd.vjp @{case.name}_f({values}) cotangents(%a{len(arguments)}) {{wrt = [{', '.join(map(str, range(len(arguments))))}]}} : ({types}), ({result}) -> ({result}, {types})
  return {', '.join(f'%r#{i}' for i in range(len(arguments) + 1))} : {result}, {types}""")
        else:
            program.entry(case.name, arguments, [result], f"""
  %r = func.call @{case.name}_f({values}) : ({types}) -> {result}
  return %r : {result}""")
        for repetition in range(10):
            arrays = case.draw()
            if repetition == 8:  # nothing is stored
                arrays = [0 * a if i in case.sparse else a
                          for i, a in enumerate(arrays)]
            if repetition == 9:
                arrays = [np.where(a == 0, 1.0, a) for a in arrays]
            with np.errstate(all="ignore"):
                wanted = [case.mirror(*arrays)]
            given = list(arrays)
            if case.smooth:
                given.append(rng.uniform(-1, 1, case.result))
                wanted += case.gradients(arrays, given[-1])
            seen = []

            def check(*results, wanted=wanted, seen=seen):
                count = sum(close(r, w, 1e-13 * (1 + np.abs(w[np.isfinite(
                    w)]).max(initial=0))) for r, w in zip(results, wanted,
                                                          strict=True))
                if seen:  # the same bits for any number of threads
                    for before, now in zip(seen, results, strict=True):
                        same_bits(now, before)
                seen.extend(results if not seen else ())
                return count
            for threads in (1, 2, 4):
                program.call(case.name, given, check, threads=threads)
    return program


def blocks_program():
    """A block that reaches beyond the matrix pads it; what pads is no element
    and selects none."""
    program = Program("blocks", 1)
    program.define_encoding("Blocks", ENCODINGS["Blocks"])
    type_, x_type = matrix("?", "?", "Blocks"), matrix("?", "?")
    mask = matrix("?", "?", "Blocks", "i1")
    for kind in ("sum", "mean"):
        program.entry(f"padding_of_blocks_is_counted_{kind}", [x_type, type_],
                      ["tensor<f64>"], f"""
  %m = sparse_autograd.pattern %a1 : {type_}
  %y = sparse_autograd.masked_reduce {kind} %a0, %m dims = [0, 1] : {x_type}, {mask} -> tensor<f64>
  return %y : tensor<f64>""")
        for shape in ((3, 5), (4, 4), (1, 1), (5, 1)):
            chosen = rng.random(shape) < 0.3
            chosen[-1, -1] = True
            blocks = np.zeros([-(-e // 2) * 2 for e in shape], bool)
            blocks[:shape[0], :shape[1]] = chosen
            blocks = blocks.reshape(blocks.shape[0] // 2, 2, -1, 2)
            stored_ = np.broadcast_to(blocks.any((1, 3), keepdims=True),
                                      blocks.shape).reshape(
                blocks.shape[0] * 2, -1)[:shape[0], :shape[1]]
            x = rng.uniform(1, 2, shape)
            wanted = x[stored_].sum() if kind == "sum" else x[stored_].mean()
            program.call(f"padding_of_blocks_is_counted_{kind}", [
                x, from_pattern(np.ones(shape), chosen, ENCODINGS["Blocks"])],
                lambda y, wanted=wanted: close(y, np.asarray(wanted), 1e-13))
    return program


class Refusals:
    """Has the members that `finish` looks at."""

    def __init__(self):
        self.name, self.types, self.calls = "refusals", {}, REFUSALS
        self.comparisons, self.failures = 0, []

    def run(self):
        for refusal in REFUSALS:
            text = PRELUDE + refusal.text
            line = 1 + next(i for i, l in enumerate(text.split("\n"))
                            if l.endswith("// HERE"))
            done = subprocess.run(["sparse-opt", "--sparse-autograd", "-"],
                                  input=text, capture_output=True, text=True,
                                  check=False)
            errors = [l for l in done.stderr.split("\n") if " error: " in l]
            if done.returncode == 1 and errors and errors[
                    0].startswith(f"<stdin>:{line}:") and (
                        refusal.message in errors[0]):
                self.comparisons += 1
            else:
                self.failures.append(
                    f"{refusal.name}: ended with {done.returncode}; expected "
                    f"'{refusal.message}' in line {line}: {done.stderr[:500]}")


def files_program():
    """Files that sparse_tensor.new reads wrongly."""
    header = "%%MatrixMarket matrix coordinate real {}\n"
    cases = {
        "one_triangle_of_a_symmetric_matrix": (
            header.format("symmetric") + "3 3 3\n1 1 2\n3 1 5\n2 2 7\n",
            [[2, 0, 5], [0, 7, 0], [5, 0, 0]]),
        "no_check_of_the_range": (
            header.format("general") + "3 3 1\n4 1 5\n", "4"),
        "duplicates_dropped_or_doubled": (
            header.format("general") + "3 3 3\n1 1 2\n1 1 3\n2 3 1\n",
            "duplicate"),
    }
    program = f"""{PRELUDE}
func.func @f(%a: {S} {{sparse_autograd.name = "a"}}) -> ({D} {{sparse_autograd.name = "d"}}) {{
  %d = sparse_tensor.convert %a : {S} to {D}
  return %d : {D}
}}"""
    failures, comparisons = [], 0
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "f.mlir")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program)
        for name, (text, wanted) in cases.items():
            path = os.path.join(folder, "a.mtx")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            result = os.path.join(folder, "d.npy")
            done = subprocess.run(
                ["sparse-runner", source, "--entry=f", f"--arg=a={path}",
                 f"--result=d={result}"], capture_output=True, text=True,
                check=False)
            if isinstance(wanted, str):
                good = done.returncode == 1 and wanted in done.stderr
            else:
                good = done.returncode == 0 and np.array_equal(
                    np.load(result), wanted)
            comparisons += 1
            if not good:
                failures.append(f"{name}: ended with {done.returncode}: "
                                f"{done.stderr[:300]}")
    return failures, comparisons


def stock():
    """What the stock mlir-opt makes of the cases."""
    for case in CASES:
        arrays = case.draw()
        with np.errstate(all="ignore"):
            wanted = case.mirror(*arrays)
        constants = "\n".join(
            f"  %a{i} = arith.constant dense<{a.tolist()}> : {matrix(*a.shape)}"
            for i, a in enumerate(arrays))
        result = matrix(*case.result)
        values = ", ".join(f"%a{i}" for i in range(len(arrays)))
        vector = result.replace("tensor", "vector")
        text = PRELUDE + case.function("f", "private ") + f"""
func.func @main() {{
{constants}
  %r = func.call @f({values}) : ({', '.join(matrix(*a.shape) for a in arrays)}) -> {result}
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f64
  %v = vector.transfer_read %r[%c0, %c0], %pad : {result}, {vector}
  vector.print %v : {vector}
  return
}}"""
        print(f"{case.name}: {_stock_result(text, case.stock, wanted)}")
    for refusal in REFUSALS:
        done = subprocess.run(
            ["mlir-opt", f"--sparsifier={refusal.stock}"],
            input=PRELUDE + refusal.text, capture_output=True, text=True,
            check=False)
        print(f"{refusal.name}: {_ending(done)}")


def _ending(done):
    if done.returncode in (0, 1):
        error = re.search(r"error: (.*)", done.stderr)
        return "compiles" if done.returncode == 0 else (
            f"refuses: {error.group(1)[:100] if error else ''}")
    return f"crashes ({done.returncode})"


def _stock_result(text, options, wanted):
    lowered = subprocess.run(["mlir-opt", f"--sparsifier={options}"],
                             input=text, capture_output=True, text=True,
                             check=False)
    if lowered.returncode:
        return _ending(lowered)
    runner = subprocess.run(["which", "mlir-runner"], capture_output=True,
                            text=True, check=False).stdout.strip()
    libraries = os.path.join(os.path.dirname(os.path.dirname(
        os.path.realpath(runner))), "lib")
    done = subprocess.run(
        ["mlir-runner", "-e", "main", "-entry-point-result=void",
         f"--shared-libs={libraries}/libmlir_c_runner_utils.so,"
         f"{libraries}/libmlir_runner_utils.so"], input=lowered.stdout,
        capture_output=True, text=True, check=False)
    numbers = re.findall(r"-?(?:nan|inf|\d[\d.e+-]*)", done.stdout)
    if done.returncode or len(numbers) != wanted.size:
        return f"the code fails ({done.returncode}) {done.stderr[:100]}"
    got = np.array([float(n) for n in numbers]).reshape(wanted.shape)
    return "right" if np.allclose(got, wanted, rtol=1e-4, atol=1e-4,
                                  equal_nan=True) else "wrong numbers"


if sys.argv[1:] == ["stock"]:
    stock()
    sys.exit()
refusals = Refusals()
refusals.run()
problems, read = files_program()
refusals.failures += problems
refusals.comparisons += read
refusals.run = lambda: None
finish([numbers_program(), blocks_program(), refusals])
