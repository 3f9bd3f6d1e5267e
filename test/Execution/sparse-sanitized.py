# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: clang-asan
# RUN: %python %s
"""Compiled sparse programs under AddressSanitizer: a function of each kind with
its derivatives, on extents of 0 and 1, with empty rows and nothing stored, and
the examples. Code that is changed to leave its buffers must be found."""

import os
import sys
import tempfile

import numpy as np

from execution import Program, finish
from sparse_functions import table
from sparse_masked_tables import ATTENTION, SELECTED, STORED
from sparse_storage import MATRICES, from_pattern
from sparse_tables import COPIES, ELEMENTWISE, MORE, PAIRS, PRODUCTS

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
CSR = MATRICES["CSR"].with_widths("i32", "i32")
rng = np.random.default_rng(53)


def is_finite(*results):
    assert all(np.all(np.isfinite(getattr(r, "values", r))) for r in results), (
        results)
    return len(results)


def ran(*results):
    """Of what has no elements there is no mean."""
    return len(results)


def example(name, entries):
    program = Program(name, threads=2)
    with open(os.path.join(EXAMPLES, f"{name}.mlir"), encoding="utf-8") as file:
        program.define(file.read())
    program.encodings["CSR"] = CSR
    program.types.update(entries)
    return program


def pattern(shape, fill):
    mask = rng.random(shape) < 0.4
    if fill == "no rows":
        mask[...] = False
    elif fill == "not the last":
        mask[-1:] = False
    elif fill == "not the first":
        mask[:1] = False
    return mask


def stored(shape, fill="", element="f64"):
    values = rng.uniform(0.5, 1.5, shape).astype(
        np.float32 if element == "f32" else np.float64)
    return from_pattern(values, pattern(shape, fill), CSR)


SHAPES = ((1, ""), (2, "not the last"), (5, "not the first"), (7, "no rows"),
          (9, ""))


def gcn():
    sparse = "tensor<?x?xf32, #CSR>"
    program = example("gcn", {"fit": (
        [sparse, sparse, *["tensor<?xi32>"] * 3, "index", "index", "i64"],
        ["f32"])})
    for nodes, fill in SHAPES:
        for inputs in (1, 4):
            program.call("fit", [
                stored((nodes, nodes), fill, "f32"),
                stored((nodes, inputs), fill, "f32"),
                rng.integers(0, 3, nodes), np.arange(0, nodes, 2),
                np.arange(0, nodes, 3), 3, 2, 0], is_finite, f"{nodes} {fill}")
    program.call("fit", [stored((0, 0), "", "f32"), stored((0, 3), "", "f32"),
                         *[np.zeros(0, np.int32)] * 3, 3, 2, 0], ran, "nothing")
    return program


def recommender():
    program = example("recommender_sparse", {"fit": (
        ["tensor<?x?xf64, #CSR>", "i64", "index", "f64", "f64", "f64"],
        ["f64", "f64"])})
    for rows, fill in (*SHAPES, (0, "")):
        for columns in (0, 1, 6):
            program.call("fit", [stored((rows, columns), fill), 0, 3, 0.1, 0.2,
                                 0.3], ran, f"{rows} x {columns} {fill}")
    return program


def attention():
    program = example("sparse_attention", {
        "fit": (["i64", "index", "index"], ["f64", "f64"]),
        "score_gradient": (
            ["tensor<?x?xf64, #CSR>", "tensor<?x?xf64>", "tensor<?x?xf64>",
             "tensor<?xi32>", "tensor<?xi1>"],
            ["f64", "tensor<?x?xf64, #CSR>"])})
    for positions in (1, 7, 8, 9, 17):
        program.call("fit", [0, positions, 2], ran, f"{positions} positions")
    for rows, fill in (*SHAPES, (0, "")):
        for columns, width, classes in ((4, 3, 2), (1, 1, 1)):
            program.call("score_gradient", [
                stored((rows, columns), fill),
                rng.uniform(-1, 1, (columns, width)),
                rng.uniform(-1, 1, (width, classes)),
                rng.integers(0, classes, rows), np.ones(rows, bool)],
                ran if rows == 0 else is_finite, f"{rows} {fill}")
    return program


def functions():
    return table("functions", PRODUCTS + ELEMENTWISE + MORE + PAIRS + COPIES +
                 STORED + SELECTED + ATTENTION, 4, 1)


def broken(edit, message="AddressSanitizer"):
    """Whether a change of the code is found."""
    program = table(f"broken_{edit}", PRODUCTS[:3], 3, 1)
    os.environ["SANITIZED_EDIT"] = edit
    program.run()
    del os.environ["SANITIZED_EDIT"]
    found = any(message in failure for failure in program.failures)
    program.failures = [] if found else [f"{edit} is not found"]
    program.comparisons += found
    program.run = lambda: None
    return program


with tempfile.TemporaryDirectory() as folder:
    os.environ["SANITIZED_FOLDER"] = folder
    os.environ["EXECUTION_CALL"] = " ".join((
        sys.executable, os.path.join(HERE, "Inputs", "sanitized_call.py")))
    finish([*map(broken, ("after", "before", "short_buffers",
                          "short_argument")),
            broken("next_row", "out-of-bounds access"),
            functions(), gcn(), recommender(), attention()])
