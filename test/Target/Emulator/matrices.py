# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %lower_gpu %S/Inputs/matrices.mlir > %t
# RUN: %python %s %t
"""Products of matrices as MLIR lowers them, against NumPy. The numbers are
multiples of 1/8, of which the products are exact."""

import subprocess
import sys

import numpy as np

random = np.random.default_rng(5)


def draw(*shape):
    return random.integers(-16, 17, shape) / 8


def buffer(element_type, numbers):
    # A static memref: its shape counts, so its numbers are passed by rows.
    numbers = np.asarray(numbers)
    listed = ",".join(str(x) for x in numbers.flatten())
    shape = "x".join(str(extent) for extent in numbers.shape)
    return f"memref:{element_type}:{shape}:[{listed}]"


def run(kernel, arguments):
    """The numbers of the last argument after the launch."""
    command = ["emulate-kernel", sys.argv[1], f"--kernel={kernel}", "--block=32"]
    command += ["--seeds=3", f"--print={len(arguments) - 1}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    listed = done.stdout.split("[")[1].split("]")[0]
    return np.array([float(x) for x in listed.split(",")])


def check(kernel, arguments, expected):
    result = run(kernel, arguments).reshape(expected.shape)
    np.testing.assert_array_equal(result, expected, err_msg=kernel)


for _ in range(2):
    a, b = draw(16, 16), draw(16, 8)
    check("dense", [buffer("f16", a), buffer("f16", b), "memref:f32:16x8:zero"], a @ b)

    # Two of each four columns, in increasing order, and their indices in nibbles.
    chosen = np.sort(random.permuted(np.tile(np.arange(4), (16, 8, 1)), axis=2)[..., :2])
    stored = draw(16, 8, 2)
    a = np.zeros((16, 8, 4))
    np.put_along_axis(a, chosen, stored, axis=2)
    nibbles = chosen[..., 0] | chosen[..., 1] << 2
    words = (nibbles.reshape(16, 2, 4) << np.array([0, 4, 8, 12])).sum(axis=2)
    b = draw(32, 8)
    check(
        "sparse",
        [
            buffer("f16", stored.reshape(16, 16)),
            buffer("i16", words),
            buffer("f16", b.T),
            "memref:f32:16x8:zero",
        ],
        a.reshape(16, 32) @ b,
    )

    a, b = draw(16, 8), draw(8, 8)
    check("tf32", [buffer("f32", a), buffer("f32", b), "memref:f32:16x8:zero"], a @ b)

    a, b = draw(8, 4), draw(4, 8)
    check("f64", [buffer("f64", a), buffer("f64", b), "memref:f64:8x8:zero"], a @ b)
