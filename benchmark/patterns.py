#!/usr/bin/env python3
"""Compares kernels whose results have a pattern of their own with SciPy.

CSR to CSC, A + B (B is A with its columns in reverse) and A A (A A^T where A is
not square), of real matrices (SPARSE_AUTOGRAD_DATA) and generated ones: uniform,
power law, banded, with long rows. SciPy's products are sorted, as ours are. Each
is timed in turn with the program; of each side the best of the rounds' medians
counts. All results are compared before. See README.md.
"""

import argparse
import gzip
import json
import os
import sys
import tempfile

import numpy as np
import scipy.io
import scipy.sparse

import sparse


def multiply_sorted(a, b):
    product = a @ b
    product.sort_indices()
    return product


KERNELS = {"transpose": sparse.KERNELS["transpose"],
           "add": sparse.KERNELS["add"],
           "spgemm": (("a", "b"), multiply_sorted)}


def generate(rng):
    """Matrices by name."""
    def values(count):
        return rng.standard_normal(count, np.float32)

    def build(rows, columns, shape):
        matrix = scipy.sparse.csr_matrix(
            (values(len(rows)), (rows, columns)), shape)
        matrix.sum_duplicates()
        return matrix

    size = 20000
    yield "uniform", scipy.sparse.random(size, size, 10 / size, "csr",
                                         np.float32, rng, values)
    lengths = np.minimum(rng.zipf(1.6, size), 2000)
    rows = np.repeat(np.arange(size), lengths)
    columns = np.minimum(rng.zipf(1.3, len(rows)), size) - 1
    yield "power law", build(rows, rng.permutation(size)[columns], (size, size))
    size = 100000
    offsets = (-300, -299, -1, 0, 1, 2, 299, 300, 301)
    yield "banded", scipy.sparse.diags(
        [values(size)] * len(offsets), offsets, (size, size), "csr", np.float32)
    rows = np.concatenate([np.repeat(np.arange(0, 3000, 300), 3000),
                           rng.integers(0, 3000, 15000)])
    yield "long rows", build(rows, rng.integers(0, 3000, len(rows)),
                             (3000, 3000))


def read_pattern(path):
    """A matrix of deep learning (.smtx): counts, positions, coordinates."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as file:
        rows, columns, _ = (int(n) for n in file.readline().split(","))
        positions, coordinates = (np.array(file.readline().split(), np.int32)
                                  for _ in range(2))
    return scipy.sparse.csr_matrix(
        (np.ones(len(coordinates), np.float32), coordinates, positions),
        (rows, columns))


def read(folder, rng):
    """The matrices of a folder of data, with values drawn."""
    names = ("graphs/cora.adj.mtx", "graphs/pubmed.adj.mtx.gz",
             "dlmc/transformer.magnitude.0.9.enc0_ffn1.smtx.gz",
             "matrices/1138_bus.mtx", "matrices/bcsstk13.mtx.gz",
             "matrices/cryg2500.mtx.gz", "matrices/n1024-l1.mtx.gz")
    for name in names:
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            print(f"{name}: not measured, {path} is not there")
            continue
        matrix = (read_pattern(path) if ".smtx" in name else
                  scipy.sparse.csr_matrix(scipy.io.mmread(path)))
        matrix = matrix.astype(np.float32)
        matrix.data = rng.standard_normal(matrix.nnz, np.float32)
        yield os.path.basename(name).split(".mtx")[0].split(".smtx")[0], matrix


def prepare(matrix, kernel):
    """The operands of a kernel."""
    matrix = matrix.astype(np.float32)
    matrix.sort_indices()
    if kernel == "spgemm":
        square = matrix.shape[0] == matrix.shape[1]
        other = matrix if square else matrix.T.tocsr()
    else:
        other = matrix[:, ::-1].tocsr()
    other.sort_indices()
    return {"a": matrix, "b": other}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runner", default="build/bin/sparse-runner")
    parser.add_argument("--kernels", default=",".join(KERNELS),
                        type=lambda text: text.split(","))
    parser.add_argument("--data", help="a folder of matrices",
                        default=os.environ.get("SPARSE_AUTOGRAD_DATA"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", help="a file for the figures")
    parser.add_argument("--require", type=float, metavar="RATIO",
                        help="fail if a cell is slower than this multiple of "
                             "SciPy's speed")
    options = parser.parse_args()
    unknown = [k for k in options.kernels if k not in KERNELS]
    if unknown:
        sys.exit(f"patterns.py: error: no kernel '{unknown[0]}'; there are "
                 + ", ".join(KERNELS))
    rng = np.random.default_rng(1)
    matrices = list(generate(rng))
    if options.data:
        matrices += read(options.data, rng)
    sparse.KERNELS.update(KERNELS)
    cells = []
    print(f"{'matrix':34} {'kernel':10} {'program ms':>11} {'SciPy ms':>9} "
          f"{'x SciPy':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name, matrix in matrices:
            for kernel in options.kernels:
                data = prepare(matrix, kernel)
                for operand, value in data.items():
                    scipy.sparse.save_npz(f"{folder}/{operand}.npz", value)
                ours, theirs = sparse.measure(options, folder, kernel, data)
                cells.append({"matrix": name, "kernel": kernel,
                              "rows": matrix.shape[0], "nonzeros": matrix.nnz,
                              "seconds": ours, "scipy_seconds": theirs,
                              "ratio": theirs / ours})
                print(f"{name:34} {kernel:10} {1e3 * ours:11.3f} "
                      f"{1e3 * theirs:9.3f} {theirs / ours:8.2f}", flush=True)
    slow = []
    for kernel in options.kernels:
        ratios = [c["ratio"] for c in cells if c["kernel"] == kernel]
        mean = np.exp(np.mean(np.log(ratios)))
        print(f"{kernel:10} x SciPy: geometric mean {mean:.2f}, least "
              f"{min(ratios):.2f}, of {len(ratios)} matrices")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"threads": options.threads, "cells": cells}, file,
                      indent=2)
    if options.require is not None:
        slow = [c for c in cells if c["ratio"] < options.require]
    if slow:
        sys.exit("patterns.py: error: slower than required: " + ", ".join(
            f"{c['kernel']} of {c['matrix']} ({c['ratio']:.2f})" for c in slow))


if __name__ == "__main__":
    main()
