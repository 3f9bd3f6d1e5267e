#!/usr/bin/env python3
"""How the time that differentiation takes grows with the size of a program.

Generated programs of some sizes go through a pass, by default differentiation
alone; what is measured is processor time less that of parsing and erasing the
same program unchanged, the best of some attempts (no more than it takes to meet
what is required). See README.md.
"""

import argparse
import resource
import subprocess
import sys
import tempfile

VECTOR, MATRIX = "tensor<64xf32>", "tensor<8x8xf32>"


def program(type_, lines, result):
    """A function of two values with its gradient by both."""
    return "\n".join([
        f"func.func private @f(%v0: {type_}, %v1: {type_}) -> {type_} {{", *lines,
        f"  return {result} : {type_}", "}",
        f"func.func @g(%x: {type_}, %y: {type_}, %c: {type_}) -> ({type_}, {type_}, {type_}) {{",
        f"  %r:3 = sparse_autograd.vjp @f(%x, %y) cotangents(%c) {{wrt = [0, 1]}} : "
        f"({type_}, {type_}), ({type_}) -> ({type_}, {type_}, {type_})",
        f"  return %r#0, %r#1, %r#2 : {type_}, {type_}, {type_}", "}", ""])


def chain(size):
    """Each operation on a tensor reads the one before; half read an argument."""
    forms = ("arith.mulf {0}, %v0", "math.sin {0}", "arith.addf {0}, %v0", "math.tanh {0}")
    lines = [f"  %v{i + 2} = {forms[i % 4].format(f'%v{i + 1}')} : {VECTOR}" for i in range(size)]
    return program(VECTOR, lines, f"%v{size + 1}")


def products(size):
    """Matrix products with one matrix, and functions of their elements."""
    lines = [f"  %zero = arith.constant dense<0.0> : {MATRIX}"]
    for i in range(size):
        lines.append(f"  %v{i + 2} = " + (
            f"linalg.matmul ins(%v{i + 1}, %v0 : {MATRIX}, {MATRIX}) outs(%zero : {MATRIX})"
            f" -> {MATRIX}" if i % 2 == 0 else f"math.tanh %v{i + 1} : {MATRIX}"))
    return program(MATRIX, lines, f"%v{size + 1}")


def ladder(size):
    """Each operation on a tensor reads the two before."""
    lines = [f"  %v{i} = arith.{'mulf' if i % 3 else 'addf'} %v{i - 1}, %v{i - 2} : {VECTOR}"
             for i in range(2, size + 2)]
    return program(VECTOR, lines, f"%v{size + 1}")


def fan_out(size):
    """Numbers that are each used by many others."""
    lines = [
        f"  %v{i} = arith.{'mulf' if i % 3 else 'addf'} %v{i - 1}, "
        f"%v{max(0, i - 2 - i * 7 % 13)} : f64" for i in range(2, size + 2)]
    return program("f64", lines, f"%v{size + 1}")


KINDS = {"chain": chain, "ladder": ladder, "products": products, "fan-out": fan_out}


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"compile_time.py: error: {done.stderr.strip()}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


class Series:
    """The best time of one program through the passes. What they make of it is
    erased, so that it is not printed, nor verified once more before that."""

    def __init__(self, driver, passes, text):
        self.file = tempfile.NamedTemporaryFile("w", suffix=".mlir")
        self.file.write(text)
        self.file.flush()
        self.command = [driver, "--mlir-disable-threading", self.file.name, "-o", "/dev/null"]
        self.passes, self.erasing = passes, ["--symbol-privatize", "--symbol-dce"]
        self.unchanged = self.changed = float("inf")

    def attempt(self):
        self.unchanged = min(self.unchanged, processor_time(self.command + self.erasing))
        self.changed = min(self.changed, processor_time(
            self.command + self.passes + self.erasing))

    def seconds(self):
        return self.changed - self.unchanged


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", default="build/bin/sparse-opt", help="the program sparse-opt")
    parser.add_argument("--passes", default="--sparse-autograd-differentiate")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--small", type=int, default=1000, help="operations of the small program")
    parser.add_argument("--large", type=int, default=10000, help="and of the large one")
    parser.add_argument("--attempts", type=int, default=5)
    parser.add_argument("--require-ratio", type=float, help="fail if the large one takes more")
    parser.add_argument("--require-seconds", type=float, help="fail if the large one takes longer")
    options = parser.parse_args()
    for kind in options.kinds.split(","):
        if kind not in KINDS:
            parser.error(f"there is no kind '{kind}'")

    print(f"{'program':10} {options.small:>9} ops {options.large:>9} ops {'ratio':>6}")
    failed = False
    for kind in options.kinds.split(","):
        small, large = (
            Series(options.driver, options.passes.split(), KINDS[kind](size))
            for size in (options.small, options.large))
        for _ in range(options.attempts):
            small.attempt()
            large.attempt()
            # Less than a tenth of a second is not known well.
            ratio = large.seconds() / max(small.seconds(), 0.1)
            problems = []
            if options.require_ratio is not None and ratio > options.require_ratio:
                problems.append(f"{ratio:.1f} times the time, {options.require_ratio} are allowed")
            if options.require_seconds is not None and large.seconds() > options.require_seconds:
                problems.append(
                    f"{large.seconds():.2f} s, {options.require_seconds} are allowed")
            if not problems and options.require_ratio is not None:
                break
        print(f"{kind:10} {small.seconds():11.3f} s {large.seconds():11.3f} s {ratio:6.1f}",
              flush=True)
        for problem in problems:
            print(f"compile_time.py: error: {kind}: {problem}")
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
