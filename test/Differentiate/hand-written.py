# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Generated derivatives are as good as those that somebody writes by hand.

Each file of Inputs/hand-written has a function, its derivative as the compiler
makes it and as a person would derive and write it. The generated one has no
more operations after differentiation, and performs no more scalar operations
once fused. There is nothing dead or computed twice in it: canonicalizing and
eliminating common subexpressions again changes no count, and no operation of
linalg has an input that it does not read.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "Inputs"))

from count_operations import compile_to, count, find_unread  # noqa: E402

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs",
                      "hand-written")

# Where the compiler does worse than a person: (file, after which phase). Exact:
# a derivative that has become as good leaves the list.
WORSE = {
    ("attention-row", "differentiate"),
    ("attention-row", "lower-sparse"),
    ("cross-entropy", "differentiate"),
    ("cross-entropy", "lower-sparse"),
    ("elementwise-chain", "lower-sparse"),
    ("layer-norm", "differentiate"),
    ("layer-norm", "lower-sparse"),
    ("logsumexp", "differentiate"),
    ("logsumexp", "lower-sparse"),
    ("masked-mean", "differentiate"),
    ("masked-mean", "lower-sparse"),
    ("normalized-vector", "differentiate"),
    ("normalized-vector", "lower-sparse"),
    ("recurrence", "differentiate"),
    ("recurrence", "lower-sparse"),
    ("squared-loss", "differentiate"),
    ("squared-loss", "lower-sparse"),
    ("tanh-layer", "lower-sparse"),
}


def main():
    failures, rows = [], []
    for name in sorted(f[:-len(".mlir")] for f in os.listdir(FOLDER)):
        path = os.path.join(FOLDER, name + ".mlir")
        row = [name]
        for phase, which in (("differentiate", 0), ("lower-sparse", 1)):
            functions = compile_to(path, phase)
            generated, by_hand = (
                sum(count(functions[f])[which].values())
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
                        sorted(count(functions[f])[which].items())))
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
    print(f"{'function':20} {'operations':>12} {'by hand':>8} "
          f"{'performed':>10} {'by hand':>8}")
    for row in rows:
        print(f"{row[0]:20} {row[1]:12} {row[2]:8} {row[3]:10} {row[4]:8}")
    for failure in failures:
        print("FAILED:" if not failure.startswith(" ") else "", failure)
    sys.exit(1 if failures or len(rows) < 12 else 0)


if __name__ == "__main__":
    main()
