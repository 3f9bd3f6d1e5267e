#!/usr/bin/env python3
"""How the time that a deep network takes to compile grows with its layers.

A stack of transformer blocks whose attention is sparse, with weights of their
own, is differentiated and compiled to an object. What is measured is processor
time, the best of some attempts; the exponent is that of the growth from the
fewest blocks to the most. See README.md.
"""

import argparse
import math
import resource
import subprocess
import sys
import tempfile

WIDTH, INNER = 64, 256
# The weights of a block: four projections, and the two of the feed-forward layer.
WEIGHTS = ("w", "w", "w", "w", "w1", "w2")

FUNCTIONS = f"""
#CSR = #sparse_tensor.encoding<{{map = (i, j) -> (i : dense, j : compressed),
                                posWidth = 32, crdWidth = 32}}>
#row = affine_map<(i, j) -> (i)>
#element = affine_map<(i, j) -> (i, j)>
!pattern = tensor<?x?xi1, #CSR>
!scores = tensor<?x?xf32, #CSR>
!x = tensor<?x{WIDTH}xf32>
!h = tensor<?x{INNER}xf32>
!w = tensor<{WIDTH}x{WIDTH}xf32>
!w1 = tensor<{WIDTH}x{INNER}xf32>
!w2 = tensor<{INNER}x{WIDTH}xf32>

func.func private @zeros(%x: !x) -> !x {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : !x
  %empty = tensor.empty(%n) : !x
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : !x) -> !x
  return %zeros : !x
}}

// Each row over the root of the mean of its squares.
func.func private @normalize(%x: !x) -> !x {{
  %epsilon = arith.constant 1.0e-5 : f32
  %squares = arith.mulf %x, %x : !x
  %means = sparse_autograd.masked_reduce mean %squares dims = [1] : !x -> tensor<?xf32>
  %y = linalg.generic {{indexing_maps = [#element, #row, #element],
                       iterator_types = ["parallel", "parallel"]}}
      ins(%x, %means : !x, tensor<?xf32>) outs(%x : !x) {{
  ^bb0(%a: f32, %mean: f32, %out: f32):
    %s = arith.addf %mean, %epsilon : f32
    %r = math.rsqrt %s : f32
    %b = arith.mulf %a, %r : f32
    linalg.yield %b : f32
  }} -> !x
  return %y : !x
}}

func.func private @project(%x: !x, %w: !w) -> !x {{
  %zeros = call @zeros(%x) : (!x) -> !x
  %y = linalg.matmul ins(%x, %w : !x, !w) outs(%zeros : !x) -> !x
  return %y : !x
}}

func.func private @attend(%q: !x, %k: !x, %v: !x, %pattern: !pattern) -> !x {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : !x
  %empty = tensor.empty(%n, %n) : tensor<?x?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %products = linalg.matmul
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>,
                       affine_map<(i, j, k) -> (i, j)>]
      ins(%q, %k : !x, !x) outs(%start : tensor<?x?xf32>) -> tensor<?x?xf32>
  %scores = sparse_autograd.sample %products, %pattern : tensor<?x?xf32>, !pattern -> !scores
  %weights = sparse_autograd.masked_softmax %scores, %pattern dims = [1] : !scores, !pattern
  %zeros = call @zeros(%q) : (!x) -> !x
  %y = linalg.matmul ins(%weights, %v : !scores, !x) outs(%zeros : !x) -> !x
  return %y : !x
}}

func.func private @feed(%x: !x, %w1: !w1, %w2: !w2) -> !x {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : !x
  %empty = tensor.empty(%n) : !h
  %start = linalg.fill ins(%zero : f32) outs(%empty : !h) -> !h
  %products = linalg.matmul ins(%x, %w1 : !x, !w1) outs(%start : !h) -> !h
  %inner = math.tanh %products : !h
  %zeros = call @zeros(%x) : (!x) -> !x
  %y = linalg.matmul ins(%inner, %w2 : !h, !w2) outs(%zeros : !x) -> !x
  return %y : !x
}}

func.func private @block(%x: !x, %pattern: !pattern, %wq: !w, %wk: !w, %wv: !w, %wo: !w,
                         %w1: !w1, %w2: !w2) -> !x {{
  %a = call @normalize(%x) : (!x) -> !x
  %q = call @project(%a, %wq) : (!x, !w) -> !x
  %k = call @project(%a, %wk) : (!x, !w) -> !x
  %v = call @project(%a, %wv) : (!x, !w) -> !x
  %mixed = call @attend(%q, %k, %v, %pattern) : (!x, !x, !x, !pattern) -> !x
  %o = call @project(%mixed, %wo) : (!x, !w) -> !x
  %y = arith.addf %x, %o : !x
  %b = call @normalize(%y) : (!x) -> !x
  %f = call @feed(%b, %w1, %w2) : (!x, !w1, !w2) -> !x
  %z = arith.addf %y, %f : !x
  return %z : !x
}}
"""


def program(blocks):
    """The sum of squares of what the stack makes, with its gradient by each
    weight."""
    weights = [f"%b{block}_{i}" for block in range(blocks) for i in range(len(WEIGHTS))]
    types = [f"!{type_}" for type_ in WEIGHTS] * blocks
    arguments = ", ".join(f"{w}: {t}" for w, t in zip(weights, types))
    lines = [FUNCTIONS,
             f"func.func private @loss(%x0: !x, %pattern: !pattern, {arguments}) -> tensor<f32> {{"]
    for block in range(blocks):
        own = slice(block * len(WEIGHTS), (block + 1) * len(WEIGHTS))
        lines.append(
            f"  %x{block + 1} = call @block(%x{block}, %pattern, {', '.join(weights[own])})"
            f" : (!x, !pattern, {', '.join(types[own])}) -> !x")
    results = ", ".join(["tensor<f32>", *types])
    lines += [
        f"  %squares = arith.mulf %x{blocks}, %x{blocks} : !x",
        "  %loss = sparse_autograd.masked_reduce sum %squares dims = [0, 1] : !x -> tensor<f32>",
        "  return %loss : tensor<f32>", "}",
        f"func.func @step(%x: !x, %pattern: !pattern, {arguments}) -> ({results}) {{",
        f"  %r:{len(weights) + 1} = sparse_autograd.value_and_grad @loss(%x, %pattern,"
        f" {', '.join(weights)}) {{wrt = [{', '.join(str(i + 2) for i in range(len(weights)))}]}}",
        f"    : (!x, !pattern, {', '.join(types)}) -> ({results})",
        f"  return {', '.join(f'%r#{i}' for i in range(len(weights) + 1))} : {results}", "}"]
    return "\n".join(lines)


def compile_once(compiler, options, path, folder):
    """The processor time of a compilation."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([compiler, path, "--emit=object", "-o", f"{folder}/step", *options],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"compile_blocks.py: error: {done.stderr.strip()}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", default="build/bin/sparse-compile",
                        help="the program sparse-compile")
    parser.add_argument("--against", metavar="PROGRAM",
                        help="another sparse-compile, which runs in turn with the first")
    parser.add_argument("--options", default="", help="options of the compilers")
    parser.add_argument("--blocks", default="8,24,96", help="numbers of blocks")
    parser.add_argument("--attempts", type=int, default=3)
    parser.add_argument("--require-exponent", type=float, help="fail if times grow faster")
    options = parser.parse_args()
    compilers = [options.compiler] + ([options.against] if options.against else [])
    sizes = [int(size) for size in options.blocks.split(",")]

    print("blocks" + "".join(f" {name:>10}" for name in ("seconds", "other", "ratio")
                             [:1 if len(compilers) == 1 else 3]))
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = f"{folder}/step.mlir"
            with open(path, "w", encoding="utf-8") as file:
                file.write(program(size))
            best = [float("inf")] * len(compilers)
            for _ in range(options.attempts):
                for i, compiler in enumerate(compilers):
                    best[i] = min(best[i], compile_once(
                        compiler, options.options.split(), path, folder))
            seconds[size] = best[0]
            more = f" {best[1]:10.2f} {best[1] / best[0]:10.2f}" if options.against else ""
            print(f"{size:6} {best[0]:10.2f}{more}", flush=True)
    if len(sizes) > 1:
        few, many = min(sizes), max(sizes)
        exponent = math.log(seconds[many] / seconds[few]) / math.log(many / few)
        print(f"from {few} to {many} blocks with the exponent {exponent:.2f}")
        if options.require_exponent is not None and exponent > options.require_exponent:
            sys.exit(f"compile_blocks.py: error: the exponent is {exponent:.2f}, "
                     f"{options.require_exponent} is allowed")


if __name__ == "__main__":
    main()
