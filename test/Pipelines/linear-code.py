"""The code of unrolled layers grows with their number, and no faster.

Layers tanh(x w) and their gradients, with static and with dynamic extents, with
weights that are slices of one tensor, and with weights of their own whose
gradients are results of their own: operations and blocks of the LLVM
dialect, and instructions and blocks after LLVM's optimizer, grow from 2 L to 4 L
layers by twice of what they grow by from L to 2 L, up to a twentieth of all.
A layer of static extents adds no more instructions than 1.5 times those that one
of dynamic extents adds: loops of equal layers are one function, which is not
unrolled into each caller.

So do the operations that fusion goes through in search of others over the same
rows, once the layers are more than it looks at. The accesses of one buffer that
bufferization compares do not grow at all.

RUN: %python %s sparse-opt mlir-translate opt
"""
import re
import subprocess
import sys

driver, translate, optimizer = sys.argv[1:]


def program(layers, kind):
    x, w = ("tensor<?x?xf64>",) * 2 if kind == "dynamic" else ("tensor<4x8xf64>", "tensor<8x8xf64>")
    sliced = f"tensor<{layers}x8x8xf64>"
    weights = [sliced] if kind == "sliced" else [w] * layers
    lines = [f"func.func private @loss(%x: {x}, "
             + ", ".join(f"%a{i}: {t}" for i, t in enumerate(weights)) + ") -> f64 {",
             "  %zero = arith.constant 0.0 : f64",
             "  %c0 = arith.constant 0 : index", "  %c1 = arith.constant 1 : index"]
    if kind == "dynamic":
        lines += [f"  %m = tensor.dim %x, %c0 : {x}", f"  %n = tensor.dim %x, %c1 : {x}",
                  f"  %empty = tensor.empty(%m, %n) : {x}"]
    else:
        lines.append(f"  %empty = tensor.empty() : {x}")
    lines.append(f"  %zeros = linalg.fill ins(%zero : f64) outs(%empty : {x}) -> {x}")
    value = "%x"
    for i in range(layers):
        if kind == "sliced":
            lines.append(f"  %w{i} = tensor.extract_slice %a0[{i}, 0, 0] [1, 8, 8] [1, 1, 1] "
                         f": {sliced} to {w}")
        weight = f"%w{i}" if kind == "sliced" else f"%a{i}"
        lines += [f"  %p{i} = linalg.matmul ins({value}, {weight} : {x}, {w}) outs(%zeros : {x}) -> {x}",
                  f"  %t{i} = math.tanh %p{i} : {x}"]
        value = f"%t{i}"
    lines += [f"  %sum = sparse_autograd.masked_reduce sum {value} dims = [0, 1] : {x} -> tensor<f64>",
              "  %loss = tensor.extract %sum[] : tensor<f64>", "  return %loss : f64", "}"]
    count = len(weights)
    if kind == "separate":
        results = ", ".join(["f64", *weights])
        names = [f"%a{i}" for i in range(count)]
        lines += [f"func.func @main(%x: {x}, {', '.join(f'{n}: {w}' for n in names)}) -> ({results}) {{",
                  f"  %g:{count + 1} = sparse_autograd.value_and_grad @loss(%x, {', '.join(names)}) "
                  f"{{wrt = [{', '.join(str(i + 1) for i in range(count))}]}} : "
                  f"({x}, {', '.join(weights)}) -> ({results})",
                  f"  return {', '.join(f'%g#{i}' for i in range(count + 1))} : {results}", "}"]
        return "\n".join(lines)
    shared = sliced if kind == "sliced" else w
    lines += [f"func.func @main(%x: {x}, %w: {shared}) -> (f64, {shared}) {{",
              f"  %g:{count + 1} = sparse_autograd.value_and_grad @loss(%x, {', '.join(['%w'] * count)}) "
              f"{{wrt = [{', '.join(str(i + 1) for i in range(count))}]}} : ({x}, {', '.join(weights)})"
              f" -> (f64, {', '.join(weights)})"]
    value = "%g#1"
    for i in range(1, count):
        lines.append(f"  %s{i} = arith.addf {value}, %g#{i + 1} : {w}")
        value = f"%s{i}"
    lines += [f"  return %g#0, {value} : f64, {shared}", "}"]
    return "\n".join(lines)


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def count(text):
    """Lines with an operation, and those that begin a block."""
    lines = [line.strip() for line in text.splitlines()]
    return (sum(bool(re.match(r"(%\S+ = )?(tail )?[a-z]", line)) for line in lines),
            sum(bool(re.match(r"(\^bb)?\w+(\(.*\))?:", line)) for line in lines))


wrong, growth = [], {}
for kind in "static", "dynamic", "sliced", "separate":
    counts = []
    # Of dynamic extents, each layer of 20 adds 42 instructions, each further one 45.
    sizes = {"sliced": (10, 20, 40), "dynamic": (40, 80, 160)}
    for layers in sizes.get(kind, (20, 40, 80)):
        dialect = run([driver, "--sparse-autograd"], program(layers, kind))
        code = run([optimizer, "-passes=internalize,default<O3>", "-S", "-o", "-",
                    "-internalize-public-api-list=_sparse_autograd_entry_main"],
                   run([translate, "--mlir-to-llvmir"], dialect))
        counts.append((*count(dialect), *count(code)))
    for name, small, middle, large in zip(
            ("operations", "blocks", "instructions", "blocks of the optimized code"), *counts):
        print(f"{kind}: {name}: {small}, {middle}, {large}")
        growth[kind, name] = (large - middle) / (layers / 2)
        if large - middle > 2 * (middle - small) + middle / 20:
            wrong.append(f"{kind}: {name} grow faster than the layers")
for kind in "static", "sliced":
    if growth[kind, "instructions"] > 1.5 * growth["dynamic", "instructions"]:
        wrong.append(f"{kind}: a layer adds more instructions than one of dynamic extents")

for kind in "static", "dynamic", "sliced":
    searched, compared = [], []
    for layers in 60, 120, 240:
        done = subprocess.run([driver, "--sparse-autograd", "--remarks-filter=sparse-autograd-(fuse|tensor-to-buffer)",
                               "--remark-policy=all", "-o", "/dev/null"],
                              input=program(layers, kind), capture_output=True, text=True, check=True)
        searched.append(int(re.search(r"Searched=(\d+)", done.stderr)[1]))
        compared.append(int(re.search(r"Accesses=(\d+)", done.stderr)[1]))
    print(f"{kind}: operations searched: {searched}, accesses compared: {compared}")
    if searched[2] - searched[1] > 2.2 * (searched[1] - searched[0]):
        wrong.append(f"{kind}: fusion searches operations faster than the layers grow")
    if compared[2] > compared[0]:
        wrong.append(f"{kind}: the accesses that bufferization compares grow")
if wrong:
    sys.exit("\n".join(wrong))
