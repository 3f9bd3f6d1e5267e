# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Faults put into the kernel of a product with a 2:4 matrix, one at a time: each is
reported by the emulator, or seen in the numbers. Without one the kernel is right
whatever the order of its threads."""

import re
import subprocess

import numpy as np

rng = np.random.default_rng(24)
# Four strips, the last one in the memory that sums go through.
M, N, K = 40, 36, 224
SOURCE = f"""
#device = #gpu.address_space<global>
module attributes {{gpu.container_module}} {{
func.func @product(%w: memref<{M}x{K // 2}xbf16, #device>, %m: memref<{M * K // 8}xi8, #device>,
                   %x: memref<{K}x{N}xbf16, #device>, %c: memref<{M}x{N}xf32, #device>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant {M} : index
  %columns = arith.constant {N} : index
  %k = arith.constant {K} : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%rows, %columns) step (%c1, %c1) {{
    %s = sparse_autograd.inner_product %w[%i] by %m along 1, %x[%j] along 0, %k from %zero
        : memref<{M}x{K // 2}xbf16, #device> by memref<{M * K // 8}xi8, #device>,
          memref<{K}x{N}xbf16, #device>, f32
    memref.store %s, %c[%i, %j] : memref<{M}x{N}xf32, #device>
  }}
  return
}}
}}
"""


def run(command, text):
    return subprocess.run(command, input=text, capture_output=True, text=True)


def checked(command, text):
    done = run(command, text)
    assert done.returncode == 0, done.stderr
    return done.stdout


kernel = checked(["sparse-opt", "-", "--sparse-autograd-products-to-kernels",
                  "--sparse-autograd-loops-to-kernels", "--canonicalize", "--cse",
                  "--sparse-autograd-outline-kernels"], SOURCE)
# The kernel alone.
kernel = kernel[:kernel.index("  func.func")] + kernel[kernel.index("  gpu.module"):]

chosen = np.sort(rng.permuted(np.tile(np.arange(4), (M, K // 4, 1)), axis=2)[..., :2])
stored = rng.integers(-8, 9, (M, K // 4, 2)).astype(np.float64)
w = np.zeros((M, K // 4, 4))
np.put_along_axis(w, chosen, stored, axis=2)
nibbles = (chosen[..., 0] | chosen[..., 1] << 2).reshape(-1, 2)
x = rng.integers(-8, 9, (K, N)).astype(np.float64)
expected = w.reshape(M, K) @ x


def buffer(element_type, numbers):
    numbers = np.asarray(numbers)
    listed = ",".join(str(n) for n in numbers.flatten())
    shape = "x".join(str(extent) for extent in numbers.shape)
    return f"memref:{element_type}:{shape}:[{listed}]"


def launch(text, coordinates=nibbles, seeds=3):
    """Null, or why the kernel is wrong."""
    lowered = checked(["sparse-opt", "-", "--pass-pipeline=builtin.module(gpu.module("
                       "sparse-autograd-kernel-to-nvvm),sparse-autograd-kernel-to-object{"
                       "bitcode=sm_80})"], text)
    data = (coordinates[:, 0] | coordinates[:, 1] << 4).astype(np.uint8).view(np.int8)
    # In the order in which the kernel takes them.
    arguments = [buffer("bf16", stored.reshape(M, K // 2)), buffer("bf16", x),
                 buffer("i8", data), f"memref:f32:{M}x{N}:zero"]
    done = run(["emulate-kernel", "-", "--block=128", f"--seeds={seeds}", "--print=3",
                *arguments], lowered)
    if done.returncode:
        return done.stderr
    listed = done.stdout.split("[")[1].split("]")[0]
    found = np.array([float(n) for n in listed.split(",")]).reshape(M, N)
    return None if np.array_equal(found, expected) else "other numbers"


def drop(pattern, number=0):
    """Leaves out a line, the one of this number among those that match."""
    lines = kernel.splitlines(keepends=True)
    matching = [i for i, line in enumerate(lines) if re.search(pattern, line)]
    del lines[matching[number]]
    return "".join(lines)


def change(old, new, count=0):
    changed = re.sub(old, new, kernel, count=count)
    assert changed != kernel, old
    return changed


assert "mma.sp.sync" in kernel
assert launch(kernel, seeds=8) is None, launch(kernel, seeds=8)

swapped = change(r"selector\[%c0_i32\]", "selector[%old]").replace(
    "selector[%c1_i32]", "selector[%c0_i32]").replace("selector[%old]", "selector[%c1_i32]")
unordered = nibbles.copy()
unordered[77, 1] = (unordered[77, 1] & 3) << 2 | unordered[77, 1] >> 2
equal = nibbles.copy()
equal[5, 0] = 0x5
race, pending, numbers = "no barrier is between them", "has not been waited for", "other numbers"
faults = {
    "no barrier before a strip": (drop(r"gpu\.barrier"), "of which no thread has written"),
    "no barrier before the sums": (drop(r"gpu\.barrier", 1), race),
    "no barrier of a warp before elements": (drop(r"bar\.warp\.sync"), "no barrier"),
    "no barrier of a warp behind elements": (drop(r"bar\.warp\.sync", 1), "no barrier"),
    "a strip less waited for": (change(r"wait\.group 1", "wait.group 2"), pending),
    "a group less": (drop(r"cp\.async\.commit\.group", 1), pending),
    "the other selector": (swapped, numbers),
    "no metadata outside of the matrix": (
        change(r"constant -286331154 : i32", "constant 0 : i32"), "must increase"),
    "metadata of the same row twice": (
        change(r"(arith\.shli %\d+, )%c16_i32", r"\1%c0_i32", 1), "mma.sp"),
    "X the other way round": (change("transpose = true", "transpose = false"), numbers),
    "strips that are not advanced": (change(r"arith\.divui (%\w+), %c64 ", r"arith.divui \1, %c128 ", 1),
                                     None),
}
for name, (text, wanted) in faults.items():
    found = launch(text)
    assert found is not None, f"not reported: {name}"
    assert wanted is None or wanted in found, f"{name}: {found}"
for name, wrong in (("unordered indices", unordered), ("equal indices", equal)):
    found = launch(kernel, wrong)
    assert found and "must increase" in found, f"{name}: {found}"
print(len(faults) + 2, "faults reported")
