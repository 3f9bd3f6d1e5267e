#!/usr/bin/env python3
"""Compares kernels on sparse matrices with SciPy.

The kernels of programs/sparse.mlir are called by sparse-runner. Each is timed in
turn with what SciPy does for it; of each side the best of the rounds' medians
counts, and the figures are ratios. All results are compared before. See
README.md.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import paired
import scipy.sparse

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs",
                       "sparse.mlir")


def sample_product(a, x, y):
    """x y^T at the pattern of `a`, in pieces: SciPy has no such product."""
    values = np.empty_like(a.data)
    rows = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))
    for begin in range(0, len(values), 65536):
        piece = slice(begin, begin + 65536)
        np.einsum("ij,ij->i", x[rows[piece]], y[a.indices[piece]],
                  out=values[piece])
    return scipy.sparse.csr_matrix((values, a.indices, a.indptr), a.shape)


# Of each kernel, the arguments and what SciPy does.
KERNELS = {
    "spmv": (("a", "v"), lambda a, v: a @ v),
    "spmm": (("a", "x"), lambda a, x: a @ x),
    "spmm_transposed": (("a", "x"), lambda a, x: a.T @ x),
    "sddmm": (("a", "x", "y"), sample_product),
    "transpose": (("a",), lambda a: a.tocsc()),
    "add": (("a", "b"), lambda a, b: a + b),
    "spgemm": (("a", "b"), lambda a, b: a @ b),
}


def call(options, folder, kernel, arguments, runner=None):
    """The seconds of a call, the median, and the result."""
    is_sparse = kernel not in ("spmv", "spmm", "spmm_transposed")
    path = os.path.join(folder, "result." + ("npz" if is_sparse else "npy"))
    command = [runner or options.runner, PROGRAM, f"--entry={kernel}",
               f"--threads={options.threads}", f"--repeat={options.repeats}",
               "--report=json", "--result", f"result0={path}"]
    for number, name in enumerate(arguments):
        suffix = "npz" if name in "ab" else "npy"
        command += ["--arg", f"arg{number}={folder}/{name}.{suffix}"]
    try:
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        sys.exit(f"sparse.py: error: {command[0]}: {error.strerror}; "
                 "build the target sparse-runner")
    if done.returncode:
        sys.exit(f"sparse.py: error: {kernel}: {done.stderr.strip()}")
    seconds = json.loads(done.stderr)["call_seconds_median"]
    load = scipy.sparse.load_npz if is_sparse else np.load
    return seconds, load(path)


def measure(options, folder, kernel, data):
    """The best seconds of the program and of SciPy."""
    arguments, peer = KERNELS[kernel]
    values = [data[name] for name in arguments]
    ours, theirs = [], []
    for _ in range(options.rounds):
        seconds, result = call(options, folder, kernel, arguments)
        ours.append(seconds)
        times = []
        for _ in range(options.repeats):
            begin = time.perf_counter()
            expected = peer(*values)
            times.append(time.perf_counter() - begin)
        theirs.append(statistics.median(times))
    difference = abs(result - expected)
    largest = difference.max() if difference.size else 0
    scale = abs(expected).max() if expected.size else 0
    if not largest <= 1e-5 * max(scale, 1):
        sys.exit(f"sparse.py: error: {kernel}: results differ by {largest}")
    return min(ours), min(theirs)


def compare_builds(options, folder):
    """Times the kernels of two builds in turn."""
    other = os.path.join(options.against, "bin", "sparse-runner")
    print(f"time of this build / {options.against}")
    for kernel in options.kernels:
        arguments, _ = KERNELS[kernel]
        timers = [lambda runner=runner: call(options, folder, kernel, arguments,
                                             runner)[0]
                  for runner in (options.runner, other)]
        ratio = paired.compare(*paired.run_in_turn(timers, options.rounds))
        print(f"{kernel:16} {ratio}", flush=True)
        paired.check_limit("sparse.py", kernel, ratio, options.limit)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runner", default="build/bin/sparse-runner")
    parser.add_argument("--kernels", default=",".join(KERNELS),
                        type=lambda text: text.split(","))
    parser.add_argument("--size", type=int, default=20000,
                        help="rows and columns")
    parser.add_argument("--row", type=float, default=20,
                        help="nonzeros of a row, on average")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--against", metavar="BUILD_DIR",
                        help="time the kernels of another build in turn, and "
                        "print the ratios")
    parser.add_argument("--limit", type=float, metavar="RATIO",
                        help="with --against: fail if the interval of a ratio "
                        "is above it")
    options = parser.parse_args()
    unknown = [k for k in options.kernels if k not in KERNELS]
    if unknown:
        sys.exit(f"sparse.py: error: no kernel '{unknown[0]}'; there are "
                 + ", ".join(KERNELS))
    if options.size < 1 or not 0 < options.row <= options.size:
        sys.exit("sparse.py: error: a matrix has a row at least, and no more "
                 "nonzeros in it than columns")

    rng = np.random.default_rng(1)
    size = options.size

    def draw():
        matrix = scipy.sparse.random(
            size, size, options.row / size, "csr", np.float32, rng,
            lambda count: rng.standard_normal(count, np.float32))
        matrix.sort_indices()
        return matrix

    data = {"a": draw(), "b": draw(),
            "x": rng.standard_normal((size, 64), np.float32),
            "y": rng.standard_normal((size, 64), np.float32),
            "v": rng.standard_normal(size, np.float32)}
    print(f"{size} x {size}, {data['a'].nnz} nonzeros, f32, "
          f"{options.threads} threads")
    if not options.against:
        print(f"{'kernel':16} {'program ms':>11} {'SciPy ms':>9} {'x SciPy':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name, value in data.items():
            if name in "ab":
                scipy.sparse.save_npz(f"{folder}/{name}.npz", value)
            else:
                np.save(f"{folder}/{name}.npy", value)
        if options.against:
            return compare_builds(options, folder)
        for kernel in options.kernels:
            ours, theirs = measure(options, folder, kernel, data)
            print(f"{kernel:16} {1e3 * ours:11.3f} {1e3 * theirs:9.3f} "
                  f"{theirs / ours:8.2f}", flush=True)


if __name__ == "__main__":
    main()
