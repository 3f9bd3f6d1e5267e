# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Derivatives of branches in branches, and of long chains: as many operations as
the depth says, and within a time that anything worse than quadratic would exceed
many times over."""

import subprocess
import sys

SECONDS = 60  # of two or three


class Nest:
    """The text of a function of `depth` nested operations and its derivative."""

    def __init__(self, depth, type_, condition, mode):
        self.lines, self.type, self.condition = [], type_, condition
        self.add("func.func private @f(%x: T, %c: i1) -> T {")
        result = self.nest(0, depth, "%x")
        self.add(f"return {result} : T", "}")
        given, types = "%x, %c", "T, i1"
        call = {
            "vjp": f"vjp @f({given}) cotangents(%d) {{wrt = [0]}} : ({types}), (T)",
            "jvp": f"jvp @f({given}) tangents(%d) {{wrt = [0]}} : ({types}), (T)"}
        self.add("func.func @main(%x: T, %c: i1, %d: T) -> (T, T) {",
                 f"%r:2 = sparse_autograd.{call[mode]} -> (T, T)",
                 "return %r#0, %r#1 : T, T", "}")

    def add(self, *lines):
        self.lines += [line.replace("T", self.type) for line in lines]

    def nest(self, level, depth, value):
        if level == depth:
            self.add(f"%in = math.sin {value} : T")
            return "%in"
        condition = "%c"
        if self.condition == "own":
            condition = f"%c{level}"
            self.add(f"{condition} = arith.cmpf olt, {value}, %x : T")
        self.add(f"%r{level} = scf.if {condition} -> T {{",
                 f"%m{level} = arith.mulf {value}, {value} : T")
        inner = self.nest(level + 1, depth, f"%m{level}")
        self.add(f"scf.yield {inner} : T", "} else {", f"scf.yield {value} : T", "}")
        return f"%r{level}"


def chain(length):
    ops = ("sin", "exp", "tanh", "cos")
    lines = ["func.func private @f(%v0: f64) -> f64 {"]
    lines += [f"%v{i + 1} = math.{ops[i % 4]} %v{i} : f64" for i in range(length)]
    lines += [f"return %v{length} : f64", "}",
              "func.func @main(%x: f64) -> (f64, f64) {",
              "%r:2 = sparse_autograd.value_and_grad @f(%x) {wrt = [0]} : (f64) -> "
              "(f64, f64)", "return %r#0, %r#1 : f64, f64", "}"]
    return lines


def count(lines):
    """The operations of the derivative of @f."""
    done = subprocess.run(["sparse-opt", "--sparse-autograd-differentiate"],
                          input="\n".join(lines), capture_output=True, text=True,
                          timeout=SECONDS)
    assert done.returncode == 0, done.stderr[:2000]
    return done.stdout.split("@f__", 1)[1].split("func.func")[0].count(" = ")


def check(name, make, depth):
    small, middle, large = (count(make(d)) for d in (20, 40, 60))
    assert large - middle == middle - small > 0, (name, small, middle, large)
    most = count(make(depth))
    linear = small + (depth - 20) * (middle - small) // 20
    assert most <= linear, (name, most, linear)
    print(f"{name}: {most} operations at {depth}")


sys.setrecursionlimit(10000)
for mode in ("vjp", "jvp"):
    check(f"{mode}, conditions of their own",
          lambda depth: Nest(depth, "f64", "own", mode).lines, 1000)
check("vjp, tensors", lambda depth: Nest(depth, "tensor<?xf64>", "%c", "vjp").lines, 60)
check("chain", chain, 10000)
# One condition: what is nested is decided outside.
print(count(Nest(1000, "f64", "one", "vjp").lines), "operations under one condition")
