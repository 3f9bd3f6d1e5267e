"""Chains of updates of one tensor: right values, few copies, and an analysis
that does not grow with them.

Random programs update a tensor many times: they add to it, insert slices that
overlap, and insert elements; slices are also read where they are inserted twice,
or after the last update, and values on the way of the chain by others than the
next update. Numbers are small integers, so that results are exact.

RUN: %python %s %t sparse-runner sparse-opt %if long %{--count 1000%} %else %{--count 6%}
"""
import argparse
import itertools
import pathlib
import random
import re
import subprocess
import sys

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("runner")
parser.add_argument("driver")
parser.add_argument("--count", type=int)
options = parser.parse_args()
folder = pathlib.Path(options.folder)
folder.mkdir(parents=True, exist_ok=True)
rows, width = 12, 4
whole, part, square = f"tensor<{rows}x{width}xf64>", f"tensor<2x{width}xf64>", f"tensor<{width}x{width}xf64>"
numpy_x = np.arange(2.0 * width).reshape(2, width)
# Permutations: numbers stay small.
numpy_w = np.array([np.eye(width)[list(p)] for p in itertools.permutations(range(width))])
squares = f"tensor<{len(numpy_w)}x{width}x{width}xf64>"


class Chain:
    """A random program, line by line, and what it computes."""

    def __init__(self, seed, steps, start, kinds=(), later_reads=0.3):
        self.random = random.Random(seed)
        self.lines, self.count, self.reads = [], 0, []
        self.numbers = np.full((rows, width), 1.0 if start == "constant" else 0.0)
        if start == "constant":
            self.value = self.add(f"arith.constant dense<1.0> : {whole}")
        else:
            empty = self.add(f"tensor.empty() : {whole}")
            self.value = self.add(f"linalg.fill ins(%zero : f64) outs({empty} : {whole}) -> {whole}")
        self.slices = []
        for _ in range(steps):
            self.random.choice(kinds or [Chain.accumulate, Chain.insert, Chain.insert, Chain.insert_element])(self)
            if self.random.random() < 0.05:
                self.read(self.value, self.numbers, whole)
        for value, numbers in self.slices:
            if self.random.random() < later_reads:
                self.read(value, numbers, part)

    def add(self, text):
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def read(self, value, numbers, kind):
        row, column = self.random.randrange(numbers.shape[0]), self.random.randrange(width)
        self.reads.append(numbers[row, column])
        read = self.add(f"tensor.extract {value}[%c{row}, %c{column}] : {kind}")
        self.sum = self.add(f"arith.addf {self.sum if len(self.reads) > 1 else '%zero'}, {read} : f64")

    def product(self, value, numbers):
        """A product of matrices: fusion computes no two of them together."""
        i = self.random.randrange(len(numpy_w))
        factor = self.add(f"tensor.extract_slice %w[{i}, 0, 0] [1, {width}, {width}] [1, 1, 1] : {squares} to {square}")
        empty = self.add(f"tensor.empty() : {part}")
        zeros = self.add(f"linalg.fill ins(%zero : f64) outs({empty} : {part}) -> {part}")
        result = self.add(f"linalg.matmul ins({value}, {factor} : {part}, {square}) outs({zeros} : {part}) -> {part}")
        return result, numbers @ numpy_w[i]

    def accumulate(self):
        self.value = self.add(
            f"linalg.generic {{indexing_maps = [#top, #m], iterator_types = [\"parallel\", \"parallel\"]}} "
            f"ins(%x : {part}) outs({self.value} : {whole}) {{\n"
            f"  ^bb0(%in: f64, %out: f64):\n    %s = arith.addf %in, %out : f64\n"
            f"    linalg.yield %s : f64\n  }} -> {whole}")
        self.numbers = self.numbers + numpy_x[0]

    def insert(self):
        if self.slices and self.random.random() < 0.15:
            value, numbers = self.random.choice(self.slices)
        else:
            value, numbers = "%x", numpy_x
            for _ in range(self.random.randrange(1, 3)):
                value, numbers = self.product(value, numbers)
            if self.random.random() < 0.2:
                open_part = f"tensor<?x{width}xf64>"
                value = self.add(f"tensor.cast {value} : {part} to {open_part}")
                value = self.add(f"tensor.cast {value} : {open_part} to {part}")
            self.slices.append((value, numbers))
        row = self.random.randrange(rows - 1)
        at = f"{row}" if self.random.random() < 0.5 else f"%c{row}"
        self.value = self.add(f"tensor.insert_slice {value} into {self.value}[{at}, 0] [2, {width}] [1, 1] "
                              f": {part} into {whole}")
        self.numbers = self.numbers.copy()
        self.numbers[row:row + 2] = numbers

    def insert_element(self):
        row, column = self.random.randrange(rows), self.random.randrange(width)
        self.value = self.add(f"tensor.insert %five into {self.value}[%c{row}, %c{column}] : {whole}")
        self.numbers = self.numbers.copy()
        self.numbers[row, column] = 5

    def text(self):
        constants = [f"  %c{i} = arith.constant {i} : index" for i in range(rows)]
        return "\n".join(["#m = affine_map<(i, j) -> (i, j)>", "#top = affine_map<(i, j) -> (0, j)>",
                          f"func.func @main(%x: {part} {{sparse_autograd.name = \"x\"}},"
                          f" %w: {squares} {{sparse_autograd.name = \"w\"}})"
                          f" -> ({whole} {{sparse_autograd.name = \"y\"}}, f64 {{sparse_autograd.name = \"sum\"}}) {{",
                          "  %zero = arith.constant 0.0 : f64", "  %five = arith.constant 5.0 : f64",
                          *constants, *self.lines,
                          f"  return {self.value}, {self.sum if self.reads else '%zero'} : {whole}, f64", "}"])


def run(command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


arguments = []
for name, numbers in ("x", numpy_x), ("w", numpy_w):
    np.save(folder / f"{name}.npy", numbers)
    arguments += ["--arg", f"{name}={folder}/{name}.npy"]
for seed in range(options.count):
    start = ["constant", "zeros"][seed // 2 % 2]
    # Every slice is read after all of them are inserted, by every other one.
    chain = (Chain(seed, 60, start, [Chain.insert], 1) if seed % 2 == 0 else
             Chain(seed, random.Random(seed).choice([8, 30, 60]), start))
    (folder / "program.mlir").write_text(chain.text())
    done = run([options.runner, folder / "program.mlir", "-O0", *arguments,
                "--result", f"y={folder}/y.npy", "--result", f"sum={folder}/sum.npy"])
    y, total = np.load(folder / "y.npy"), np.load(folder / "sum.npy")
    if not np.array_equal(y, chain.numbers) or total != sum(chain.reads):
        sys.exit(f"seed {seed}: wrong values\n" + chain.text())


def straight(length, start):
    """A chain of slices, each computed for it and inserted."""
    chain = Chain(0, 0, start)
    for i in range(length):
        value, _ = chain.product("%x", numpy_x)
        chain.value = chain.add(f"tensor.insert_slice {value} into {chain.value}[{i % 6 * 2}, 0] [2, {width}] [1, 1] "
                                f": {part} into {whole}")
    return chain.text()


# Each slice is computed in its place, however long the chain, and the accesses
# that the analysis compares are as many for all lengths.
for start in "constant", "zeros":
    compared = []
    for length in 50, 400:
        done = run([options.driver, "--sparse-autograd-tensor-to-buffer", "--canonicalize",
                    "--remarks-filter=sparse-autograd-tensor-to-buffer", "--remark-policy=all"],
                   straight(length, start))
        allocations = len(re.findall(r"memref\.alloc\b", done.stdout))
        compared.append(int(re.search(r"Accesses=(\d+)", done.stderr).group(1)))
        print(f"{start}, {length} updates: {allocations} allocations, {compared[-1]} accesses compared")
        if allocations > 2:
            sys.exit("slices have buffers of their own")
    if compared[1] > compared[0]:
        sys.exit("the accesses that are compared grow with the chain")
