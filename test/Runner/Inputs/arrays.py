"""Writes the files that the tests of this folder read: arrays.py FOLDER."""

import sys
from pathlib import Path

import numpy as np
import scipy.sparse

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
x = np.float32([[1, 2], [3, 4], [5, np.nan]])
np.save(folder / "x.npy", x)
np.save(folder / "mask.npy", np.array([[1, 1], [0, 1], [1, 0]], bool))
np.save(folder / "short-mask.npy", np.ones((2, 2), bool))
np.save(folder / "wide.npy", np.ones((3, 3), np.float32))
np.save(folder / "double.npy", np.ones((3, 2)))
np.save(folder / "half.npy", np.float16([[1, 2], [3, 4], [5, 6.5]]))
np.save(folder / "short.npy", np.int16([[1, 2], [3, 4], [5, -6]]))
np.save(folder / "long.npy", np.int32([[1, 2], [3, 4], [5, -6]]))
scipy.sparse.save_npz(folder / "tenths.npz",
                      scipy.sparse.csr_array(np.array([[0.1, 0, 0], [0, 0, 1]])))
scipy.sparse.save_npz(folder / "blocks.npz", scipy.sparse.bsr_array(
    np.array([[0, 0, 1.5, 0], [0, 0, 0, -4]]), blocksize=(2, 2)))
np.save(folder / "vector.npy", np.ones(2, np.float32))
np.save(folder / "integers.npy", np.int32([10, 20, 30]))
(folder / "x.mtx").write_text("%%MatrixMarket matrix coordinate real general\n"
                              "3 2 3\n1 1 1.5\n3 1 2\n2 2 -4\n")

# Sparse files.
matrix = scipy.sparse.csr_array(np.array([[0, 1.5, 0], [2, 0, -4]]))
scipy.sparse.save_npz(folder / "matrix.npz", matrix)
np.savez(folder / "parts.npz", graph_indptr=matrix.indptr,
         graph_indices=matrix.indices, other=np.zeros(3))
np.save(folder / "matrix.npy", matrix.toarray())
np.save(folder / "ones.npy", np.ones(3))
(folder / "matrix.tns").write_text("2 3 -4\n1 2 1.5\n2 1 2\n")
(folder / "twice.tns").write_text("2 3 -4\n2 3 1.5\n")
(folder / "large.mtx").write_text("%%MatrixMarket matrix coordinate real "
                                  "general\n2 4 1\n1 4 1.5\n")
