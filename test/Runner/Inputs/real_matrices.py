# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real matrices through sparse-runner, against SciPy.

    real_matrices.py PROGRAM DATA FOLDER

Every matrix of DATA comes out of the functions @csr and @coo of PROGRAM with the
entries that SciPy reads, explicit zeros included; the gradient of @gradient is
that of a formula, on the pattern of the matrix.
"""

import gzip
import pathlib
import subprocess
import sys

import numpy as np
import scipy.io
import scipy.sparse


def read_smtx(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        rows, columns, count = map(int, file.readline().split(","))
        offsets = list(map(int, file.readline().split()))
        indices = list(map(int, file.readline().split()))
    return scipy.sparse.csr_array((np.ones(count), indices, offsets),
                                  shape=(rows, columns))


def find_matrices(data):
    """The argument for sparse-runner and the matrix."""
    for path in sorted(data.rglob("*.mtx*")):
        matrix = scipy.io.mmread(path, spmatrix=False)
        if scipy.sparse.issparse(matrix):
            yield str(path), matrix
    for path in sorted(data.rglob("*.smtx*")):
        yield str(path), read_smtx(path)
    cora = data / "graphs" / "cora.npz"
    with np.load(cora) as file:
        yield f"{cora}:feat", scipy.sparse.csr_array(
            (file["feat_data"], file["feat_indices"], file["feat_indptr"]),
            shape=file["feat_shape"])


def sorted_entries(matrix):
    """By coordinates, without SciPy's conversions, which drop zeros."""
    matrix = scipy.sparse.coo_array(matrix)
    order = np.lexsort((matrix.col, matrix.row))
    return matrix.row[order], matrix.col[order], matrix.data[order]


def same_entries(actual, expected, path):
    assert actual.shape == expected.shape, path
    for a, b in zip(sorted_entries(actual), sorted_entries(expected)):
        assert np.array_equal(a, b), path


def run(program, entry, *arguments):
    subprocess.run(["sparse-runner", program, f"--entry={entry}", *arguments],
                   check=True, stdout=subprocess.DEVNULL)


def main():
    program, data, folder = map(pathlib.Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(8)
    count = 0
    for path, matrix in find_matrices(data):
        for entry in ("csr", "coo"):
            target = folder / f"{entry}.npz"
            run(program, entry, f"--arg=arg0={path}",
                f"--result=result0={target}")
            result = scipy.sparse.load_npz(target)
            assert result.format == entry, path
            same_entries(result, matrix, path)
        x = rng.integers(-4, 5, matrix.shape[1]).astype(np.float64)
        np.save(folder / "x.npy", x)
        run(program, "gradient", f"--arg=A={path}",
            f"--arg=x={folder / 'x.npy'}", f"--result=dA={folder / 'da.npz'}",
            f"--result=dx={folder / 'dx.npy'}")
        gradient = scipy.sparse.load_npz(folder / "da.npz")
        row, column, values = sorted_entries(matrix)
        a = np.abs(scipy.sparse.csr_array(matrix))
        y = matrix @ x
        # A sum of n terms is off by n u times the sum of their magnitudes.
        most = 4 * 2.0**-53 * (1 + max(a.shape))
        assert np.array_equal(sorted_entries(gradient)[0], row), path
        assert np.array_equal(sorted_entries(gradient)[1], column), path
        bound = most * 2 * (a @ np.abs(x))[row] * np.abs(x[column])
        assert np.all(np.abs(sorted_entries(gradient)[2] -
                             2 * y[row] * x[column]) <= bound), path
        bound = most * 2 * (a.T @ (a @ np.abs(x)))
        dx = np.load(folder / "dx.npy")
        assert np.all(np.abs(dx - 2 * (matrix.T @ y)) <= bound), path
        count += len(values)
    print(f"{count} entries equal")


main()
