# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %S/Inputs/warpgroup_kernels.py pipeline > %t.mlir
# RUN: %lower_hopper %t.mlir > %t
# RUN: %python %s %t
"""A product over five tiles of k, which are copied by one warp and multiplied by four
others, against NumPy; the last tile is half outside of the matrices, and zero there.
The numbers are multiples of 1/2, of which the products are exact."""

import subprocess
import sys

import numpy as np

random = np.random.default_rng(5)
k = 5 * 64 - 32
a, b = (random.integers(-4, 5, (rows, k)) / 2 for rows in (64, 32))


def buffer(numbers):
    listed = ",".join(str(x) for x in numbers.flatten())
    return f"f16:{numbers.shape[0]}x{k}:[{listed}]"


def run(early, *options):
    command = ["emulate-kernel", sys.argv[1], "--block=160", "--print=4", *options]
    command += [buffer(a), buffer(b), f"tensormap=0:64x{k}:64x64:128"]
    command += [f"tensormap=1:32x{k}:32x64:128", "f32:2048:zero", "i32=5"]
    command += [f"i1={early}"]
    return subprocess.run(command, capture_output=True, text=True)


done = run(0, "--seeds=4")
assert done.returncode == 0, done.stderr
sums = [float(x) for x in done.stdout.split("[")[1].split("]")[0].split(",")]
thread, i = np.meshgrid(np.arange(128), np.arange(16), indexing="ij")
row = thread // 32 * 16 + thread % 32 // 4 + i // 2 % 2 * 8
column = i // 4 * 8 + thread % 4 * 2 + i % 2
result = np.full((64, 32), np.nan)
result[row, column] = np.reshape(sums, row.shape)
np.testing.assert_array_equal(result, a @ b.T)

# A buffer that is said to be free before the product has been waited for.
for seed in range(4):
    done = run(1, f"--seed={seed}")
    assert done.returncode == 1, seed
    assert "wgmma read" in done.stderr or "an asynchronous operation reads" in done.stderr, done.stderr
