# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %S/Inputs/warpgroup_kernels.py > %t.mlir
# RUN: %lower_hopper %t.mlir > %t
# RUN: %python %s %t
"""Products of a warpgroup on tiles that were copied, against NumPy; sparse ones
against the product with the dense matrix. The numbers are multiples of 1/4, of
which the products are exact."""

import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from warpgroup_kernels import ELEMENT, KERNELS

random = np.random.default_rng(11)


def draw(*shape):
    return random.integers(-8, 9, shape) / 4


def buffer(element, numbers):
    shape = "x".join(str(extent) for extent in numbers.shape)
    return f"{element}:{shape}:[{','.join(str(x) for x in numbers.flatten())}]"


def prune(kernel):
    """A matrix with two of each four columns (tf32: one of two), what is stored of
    it, and the metadata of each thread for each step."""
    stored_k = kernel.k // 2
    if kernel.factors == "tf32":
        chosen = random.integers(0, 2, (64, stored_k))
        stored = draw(64, stored_k)
        a = np.zeros((64, stored_k, 2))
        np.put_along_axis(a, chosen[..., None], stored[..., None], axis=2)
        nibbles = np.where(chosen, 0xE, 0x4)
    else:
        groups = kernel.k // 4
        four = np.tile(np.arange(4), (64, groups, 1))
        chosen = np.sort(random.permuted(four, axis=2)[..., :2])
        stored = draw(64, groups, 2)
        a = np.zeros((64, groups, 4))
        np.put_along_axis(a, chosen, stored, axis=2)
        nibbles = chosen[..., 0] | chosen[..., 1] << 2
    # A register has four nibbles of row r, and above them of row r + 8; of four
    # threads the first two have those of a step.
    words = np.zeros((kernel.steps, 128), dtype=np.int64)
    for step in range(kernel.steps):
        for thread in range(128):
            if thread % 4 >= 2:
                continue
            first = (step * 2 + thread % 4) * 4
            for half in range(2):
                row = thread // 32 * 16 + thread % 32 // 4 + 8 * half
                for i in range(4):
                    nibble = int(nibbles[row, first + i])
                    words[step, thread] |= nibble << (16 * half + 4 * i)
    words = np.where(words >= 1 << 31, words - (1 << 32), words)
    return a.reshape(64, -1), stored.reshape(64, -1), words


def get_places(kernel):
    """The row and column of the sums of all threads, in their order."""
    thread, i = np.meshgrid(np.arange(128), np.arange(kernel.n // 2), indexing="ij")
    row = thread // 32 * 16 + thread % 32 // 4 + i // 2 % 2 * 8
    column = i // 4 * 8 + thread % 4 * 2 + i % 2
    return row, column


for kernel in KERNELS:
    element = ELEMENT[kernel.factors]
    if kernel.sparse:
        a, stored, words = prune(kernel)
    else:
        a = stored = draw(64, kernel.k)
        words = np.zeros((1, 1), dtype=np.int64)
    b = draw(kernel.k, kernel.n)
    given = b if kernel.transposes_b else b.T
    shape = "x".join(str(extent) for extent in given.shape)
    span = 128 if kernel.transposes_b else kernel.span
    stored_shape = f"64x{stored.shape[1]}"
    is_half = kernel.sums == "f16"
    arguments = [
        buffer(element, stored),
        buffer(element, given),
        f"tensormap=0:{stored_shape}:{stored_shape}:{kernel.span_of_a}",
        f"tensormap=1:{shape}:{shape}:{span}",
        buffer("i32", words),
        f"{'i32' if is_half else 'f32'}:{128 * kernel.registers_of_sums}:zero",
    ]
    command = ["emulate-kernel", sys.argv[1], f"--kernel={kernel.name}"]
    command += ["--block=128", "--seeds=2", "--print=5", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{kernel.name}: {done.stderr}"
    listed = done.stdout.split("[")[1].split("]")[0].split(",")
    if is_half:
        sums = np.array([int(x) for x in listed], dtype=np.int32).view(np.float16)
    else:
        sums = np.array([float(x) for x in listed])
    result = np.full((64, kernel.n), np.nan)
    row, column = get_places(kernel)
    result[row, column] = sums.reshape(row.shape)
    np.testing.assert_array_equal(result, a @ b, err_msg=kernel.name)
