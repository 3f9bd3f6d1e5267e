# Checks of the gradients of random functions of f32: right ones agree, and wrong ones,
# by 1 %, are found.
#
# A function is a chain of steps on a vector: linear ones, which differences in f32 can
# only drown, and ill-conditioned ones, whose differences in f32 are wrong in most
# digits, and in f64 are not. A wrong one has a `custom_vjp` in the chain whose backward is 1.01 or 0.99 of
# the right one, in all elements or in a single one. After it there is no step that takes
# derivatives to nothing where it saturates: a gradient that is right is not wrong.
#
# RUN: %python %s %if long %{--count 100%} %else %{--count 7%}

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

N = 6
VECTOR = f"tensor<{N}xf32>"


def generic(name, operands, body, result):
    """An elementwise op on vectors as a linalg.generic."""
    arguments = ", ".join(f"%{name}_{i}: f32" for i in range(len(operands)))
    maps = ", ".join(["affine_map<(i) -> (i)>"] * (len(operands) + 1))
    return (
        f"  %{name}_init = tensor.empty() : {VECTOR}\n"
        f"  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = "
        f"[\"parallel\"]}} ins({', '.join(operands)} : "
        f"{', '.join([VECTOR] * len(operands))}) outs(%{name}_init : {VECTOR}) {{\n"
        f"  ^bb0({arguments}, %{name}_out: f32):\n{body}"
        f"    linalg.yield {result} : f32\n  }} -> {VECTOR}\n"
    )


class Function:
    """A random function of two vectors, as text."""

    def __init__(self, rng, wrong):
        self.rng = rng
        self.lines = []
        self.helpers = []
        self.count = 0
        value = "%x"
        steps = [self.linear, self.affine, self.far, self.product, self.matrix,
                 self.elementary, self.quotient, self.softmax, self.center,
                 self.normalize, self.narrow]
        self.factors = [0.37, -2.0]
        self.functions = ["math.sin", "math.tanh", "math.erf", "math.cos"]
        if not wrong:
            steps.append(self.relu)
            self.factors += [1e-3, 1e2]
        length = rng.randint(1, 6)
        place = rng.randrange(length) if wrong else None
        for number in range(length):
            if number == place:
                value = self.rule(value)
                steps = [step for step in steps
                         if step not in (self.softmax, self.quotient)]
                self.functions = ["math.sin", "math.cos"]
            step = rng.choice(steps)
            # Once is enough to lose most digits of f32.
            if step in (self.far, self.quotient):
                steps = [other for other in steps if other != step]
            value = step(value)
        self.result = value

    def new(self):
        self.count += 1
        return f"v{self.count}"

    def constant(self, number):
        name = self.new()
        self.lines.append(
            f"  %{name} = arith.constant dense<{number:e}> : {VECTOR}\n")
        return f"%{name}"

    def binary(self, op, a, b):
        name = self.new()
        self.lines.append(f"  %{name} = {op} {a}, {b} : {VECTOR}\n")
        return f"%{name}"

    def unary(self, op, a):
        name = self.new()
        self.lines.append(f"  %{name} = {op} {a} : {VECTOR}\n")
        return f"%{name}"

    def linear(self, x):
        factor = self.constant(self.rng.choice(self.factors))
        return self.binary("arith.mulf", x, factor)

    def affine(self, x):
        return self.binary("arith.subf", x, "%y")

    def far(self, x):
        """Most digits of a number lost, and taken back."""
        large = self.constant(self.rng.choice([1e2, 1e3, 1e4]))
        return self.binary("arith.subf", self.binary("arith.addf", x, large),
                           large)

    def product(self, x):
        return self.binary("arith.mulf", x, self.rng.choice([x, "%y"]))

    def matrix(self, x):
        zero, name = self.constant(0), self.new()
        self.lines.append(
            f"  %{name} = linalg.matvec ins(%m, {x} : tensor<{N}x{N}xf32>, {VECTOR}) "
            f"outs({zero} : {VECTOR}) -> {VECTOR}\n")
        return f"%{name}"

    def elementary(self, x):
        return self.unary(self.rng.choice(self.functions), x)

    def quotient(self, x):
        square = self.binary("arith.mulf", x, x)
        below = self.binary("arith.addf", square, self.constant(
            self.rng.choice([0.1, 1.0])))
        return self.binary("arith.divf", "%y", below)

    def softmax(self, x):
        # Of bounded numbers: where it saturates f64 cannot tell either.
        x = self.unary("math.tanh", x)
        name = self.new()
        op = self.rng.choice(["masked_softmax", "masked_log_softmax"])
        self.lines.append(
            f"  %{name} = sparse_autograd.{op} {x} dims = [0] : {VECTOR}\n")
        return f"%{name}"

    def broadcast_mean(self, x):
        mean, init, name = self.new(), self.new(), self.new()
        self.lines.append(
            f"  %{mean} = sparse_autograd.masked_reduce mean {x} dims = [0] : "
            f"{VECTOR} -> tensor<f32>\n  %{init} = tensor.empty() : {VECTOR}\n"
            f"  %{name} = linalg.broadcast ins(%{mean} : tensor<f32>) "
            f"outs(%{init} : {VECTOR}) dimensions = [0]\n")
        return f"%{name}"

    def center(self, x):
        return self.binary("arith.subf", x, self.broadcast_mean(x))

    def normalize(self, x):
        d = self.center(x)
        variance = self.broadcast_mean(self.binary("arith.mulf", d, d))
        return self.binary("arith.mulf", d, self.unary(
            "math.rsqrt", self.binary("arith.addf", variance, self.constant(1e-5))))

    def narrow(self, x):
        """A rounding to bf16, whose derivative is one."""
        name = self.new()
        half = VECTOR.replace("f32", "bf16")
        self.lines.append(
            f"  %{name}n = arith.truncf {x} : {VECTOR} to {half}\n"
            f"  %{name} = arith.extf %{name}n : {half} to {VECTOR}\n")
        return f"%{name}"

    def relu(self, x):
        return self.binary("arith.maximumf", x, self.constant(0))

    def rule(self, x):
        """x^2 / 2 + x, with a backward that is wrong."""
        name, factor = self.new(), self.rng.choice([0.99, 1.01])
        factors = [1.0] * N if self.rng.random() < 0.5 else None
        if factors:
            factors[self.rng.randrange(N)] = factor
        else:
            factors = [factor] * N
        self.helpers.append(f"""
func.func private @rule(%x: {VECTOR}) -> {VECTOR} {{
  %half = arith.constant dense<0.5> : {VECTOR}
  %s = arith.mulf %x, %x : {VECTOR}
  %h = arith.mulf %s, %half : {VECTOR}
  %r = arith.addf %h, %x : {VECTOR}
  return %r : {VECTOR}
}}
func.func private @rule_forward(%x: {VECTOR}) -> ({VECTOR}, {VECTOR}) {{
  %r = func.call @rule(%x) : ({VECTOR}) -> {VECTOR}
  return %r, %x : {VECTOR}, {VECTOR}
}}
func.func private @rule_backward(%x: {VECTOR}, %ct: {VECTOR}) -> {VECTOR} {{
  %one = arith.constant dense<1.0> : {VECTOR}
  %wrong = arith.constant dense<[{", ".join(f"{f:e}" for f in factors)}]> : {VECTOR}
  %d = arith.addf %x, %one : {VECTOR}
  %p = arith.mulf %d, %ct : {VECTOR}
  %r = arith.mulf %p, %wrong : {VECTOR}
  return %r : {VECTOR}
}}
""")
        self.lines.append(
            f"  %{name} = sparse_autograd.custom_vjp @rule({x}) "
            f"forward(@rule_forward) backward(@rule_backward) : ({VECTOR}) -> "
            f"{VECTOR}\n")
        return f"%{name}"

    def text(self):
        return "".join(self.helpers) + (
            f"func.func @f(%x: {VECTOR}, %y: {VECTOR}, %m: tensor<{N}x{N}xf32>) -> "
            f"{VECTOR} {{\n" + "".join(self.lines) +
            f"  return {self.result} : {VECTOR}\n}}\n")


def check(text, folder, seed):
    path = os.path.join(folder, "f.mlir")
    with open(path, "w") as stream:
        stream.write(text)
    process = subprocess.run(
        ["sparse-runner", path, "--entry=f", "--check-gradients", "--report=json",
         "--threads=1", f"--seed={seed}"], capture_output=True, text=True)
    if process.returncode not in (0, 1) or not process.stdout:
        sys.exit(f"{text}\nseed {seed}: {process.returncode} {process.stderr}")
    return json.loads(process.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for wrong in (False, True):
            outcomes = 0
            for number in range(options.count):
                if options.only is not None and options.only != number:
                    continue
                rng = random.Random(f"{options.seed} {number} {wrong}")
                text = Function(rng, wrong).text()
                report = check(text, folder, number)
                verdicts = {pair["verdict"] for pair in report["pairs"]}
                good = "differs" in verdicts if wrong else report["agrees"]
                if good and report["in_f64"]:
                    outcomes += 1
                    continue
                failures += 1
                print(f"--seed {options.seed} --only {number}: {verdicts}\n{text}")
                for pair in report["pairs"]:
                    print("  ", {k: pair[k] for k in pair if k != "worst"})
            print(f"{outcomes} of {options.count} "
                  f"{'wrong functions are found' if wrong else 'right functions agree'}")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
