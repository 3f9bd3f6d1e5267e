# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Generated derivatives are as good as those that somebody writes by hand.

Each file of Inputs/hand-written has a function, its derivative as the compiler
makes it and as a person would derive and write it, to the same contract:
formulas that stay accurate, what the gradient is at infinities and for empty
slices. The two agree when they are executed. The generated one performs no more
scalar operations, after differentiation and once fused. There is nothing dead
or computed twice in it: canonicalizing and eliminating common subexpressions
again changes no count, and no operation of linalg has an input that it does not
read.
"""

import os
import re
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "Inputs"),
                os.path.join(HERE, "..", "Execution", "Inputs"),
                os.path.join(HERE, "..", "oracles")]

from count_operations import compile_to, count, find_unread  # noqa: E402
from execution import DTYPES, Program, close, element_type_of  # noqa: E402

FOLDER = os.path.join(HERE, "Inputs", "hand-written")

# Where the compiler does worse than a person: file, after which phase, and why.
# Exact: a derivative that has become as good leaves the list.
WORSE = {
    # A person adds up ct y, which waits for the scale s of y = x s. Ours is s^2
    # times the sum of ct x, two operations a row more: it is added up with what
    # s is computed of, on one way through the rows instead of two.
    ("layer-norm", "differentiate"),
    ("normalized-vector", "differentiate"),
}

# Those that say what happens at infinities and NaNs.
SPECIAL = ("cross-entropy", "layer-norm", "logsumexp")


def draw(rng, name, type_, special):
    """An argument of `type_`; of a floating one the first rows are special."""
    shape = [int(e) for e in re.findall(r"(\d+)x", type_)]
    element = element_type_of(type_)
    if element == "i1":
        value = rng.random(shape) < 0.5
        value[:1] = False  # An empty slice.
        return value
    if element.startswith("i"):
        return rng.integers(0, 16, shape)
    value = rng.normal(size=shape)
    if special and len(shape) == 2 and name in SPECIAL:
        value[0, :2] = np.inf
        value[1, :] = -np.inf
        value[2, 3] = -np.inf
        value[3, 5] = np.nan
    return value.astype(DTYPES[element])


def compare(name, path, rng):
    """Executes both derivatives; returns the failures."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    program = Program(name)
    program.define(text)
    signature = re.search(r"@by_hand\(([^)]*)\)\s*->\s*\(([^{]*)\)\s*\{", text)
    arguments = re.findall(r": (tensor<[^>]*>|\w+)", signature.group(1))
    results = re.findall(r"tensor<[^>]*>|\w+", signature.group(2))
    types = arguments, results
    program.types = {"generated": types, "by_hand": types}
    for special in (False, True, False):
        values = [draw(rng, name, t, special) for t in arguments]
        generated = []

        def keep(*outputs, generated=generated):
            generated.extend(outputs)
            return len(outputs)

        def check(*outputs, generated=generated):
            numbers = 0
            for index, (ours, theirs) in enumerate(
                    zip(generated, outputs, strict=True)):
                finite = np.abs(theirs[np.isfinite(theirs)])
                bound = 2e-5 * (1 + np.max(finite, initial=0))
                numbers += close(ours, theirs, bound, f"result {index}")
            return numbers

        program.call("generated", values, keep)
        program.call("by_hand", values, check)
    return program.run().failures


def main():
    failures, rows = [], []
    rng = np.random.default_rng(3)
    for name in sorted(f[:-len(".mlir")] for f in os.listdir(FOLDER)):
        path = os.path.join(FOLDER, name + ".mlir")
        failures += compare(name, path, rng)
        row = [name]
        for phase in ("differentiate", "lower-sparse"):
            functions = compile_to(path, phase)
            generated, by_hand = (
                sum(count(functions[f]).values())
                for f in ("generated", "by_hand"))
            row += [generated, by_hand]
            worse = generated > by_hand
            if worse != ((name, phase) in WORSE):
                failures.append(
                    f"{name}, {phase}: {generated} operations, {by_hand} by "
                    f"hand{'' if worse else ', but it is listed as worse'}")
                for f in ("generated", "by_hand"):
                    failures.append(f"    {f}: " + ", ".join(
                        f"{n} {o}" for o, n in
                        sorted(count(functions[f]).items())))
            if phase == "lower-sparse":
                continue
            again = compile_to(path, phase, "--canonicalize", "--cse",
                               "--canonicalize")
            before, after = (count(m["generated"]) for m in (functions, again))
            if before != after:
                failures.append(f"{name}: of {before} only {after} are needed")
            unread = find_unread(functions["generated"])
            if unread:
                failures.append(f"{name}: inputs that are not read: {unread}")
        rows.append(row)
    print(f"{'function':20} {'differentiated':>14} {'by hand':>8} "
          f"{'fused':>8} {'by hand':>8}")
    for row in rows:
        print(f"{row[0]:20} {row[1]:14} {row[2]:8} {row[3]:8} {row[4]:8}")
    for failure in failures:
        print("FAILED:" if not failure.startswith(" ") else "", failure)
    sys.exit(1 if failures or len(rows) < 12 else 0)


if __name__ == "__main__":
    main()
