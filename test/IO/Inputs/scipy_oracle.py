# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the readers and writers with NumPy and SciPy, bit for bit.

    scipy_oracle.py SPARSE_READ FOLDER [--data=DATA]

generates files in FOLDER, reads each by SPARSE_READ (test/tools/sparse-read)
and by numpy.load or scipy.io.mmread, and compares; with --data, the files of
that folder too. What SPARSE_READ writes is read back the same way.
"""

import argparse
import dataclasses
import gzip
import io
import itertools
import pathlib
import subprocess
import zipfile

import numpy as np
import scipy.io
import scipy.sparse

TYPES = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32,
    "i64": np.int64, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32,
    "ui64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
}


@dataclasses.dataclass
class Tensor:
    """A sparse tensor: a row of `coordinates` for each entry, in order."""
    extents: list
    is_inferred: list
    coordinates: np.ndarray
    values: np.ndarray  # or None, of a pattern

    @staticmethod
    def parse(head, lines):
        extents = [int(text.rstrip("?")) for text in head[1:]]
        entries = [line.split() for line in lines]
        coordinates = np.array([entry[:-1] for entry in entries],
                               dtype=np.int64).reshape(-1, len(extents))
        values = None
        if head[0] != "pattern":
            dtype = np.dtype(TYPES[head[0]])
            values = np.array([int(entry[-1], 16) for entry in entries],
                              dtype=f"u{dtype.itemsize}").view(dtype)
        return Tensor(extents, [text.endswith("?") for text in head[1:]],
                      coordinates, values)

    def expect(self, extents, coordinates, values, is_inferred=None):
        coordinates = np.asarray(coordinates)
        order = np.lexsort(coordinates.T[::-1])
        assert self.extents == list(extents), (self.extents, extents)
        assert self.is_inferred == (is_inferred or [False] * len(extents))
        assert np.array_equal(self.coordinates, coordinates[order])
        if values is None:
            assert self.values is None
        else:
            assert self.values.dtype == values.dtype
            assert self.values.tobytes() == values[order].tobytes()


class Reader:
    """Asks the tool, one process for each set of options."""

    def __init__(self, tool):
        self.tool = tool
        self.processes = {}
        self.compared = {}

    def run(self, request, *options):
        if options not in self.processes:
            self.processes[options] = subprocess.Popen(
                [self.tool, *options, "-"], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True)
        process = self.processes[options]
        process.stdin.write(f"{request}\n")
        process.stdin.flush()
        lines = []
        while (line := process.stdout.readline()) != "end\n":
            assert line, f"{self.tool} ended at {request}"
            assert not line.startswith("error "), line
            lines.append(line)
        return "".join(lines)

    def write(self, source, target, *options):
        assert self.run(f"{source}\t{target}", *options) == ""

    def close(self):
        for process in self.processes.values():
            process.stdin.close()
            process.stdout.close()
            assert process.wait() == 0

    def read(self, path, *options):
        """An array, a scipy.sparse.coo_array with its ids, or a Tensor."""
        lines = self.run(path, *options).splitlines()
        head = lines[0].split()
        if head[0] == "tensor":
            return Tensor.parse(head[1:], lines[1:])
        if head[0] == "dense":
            dtype = np.dtype(TYPES[head[1]])
            bits = np.array([int(text, 16) for text in lines[1:]],
                            dtype=f"u{dtype.itemsize}")
            return bits.view(dtype).reshape([int(text) for text in head[2:]])
        rows, columns, count = map(int, head[2:])
        entries = [line.split() for line in lines[1:1 + count]]
        row = np.array([int(entry[0]) for entry in entries], dtype=np.int64)
        column = np.array([int(entry[1]) for entry in entries], dtype=np.int64)
        bits = np.array([int(entry[2], 16) for entry in entries],
                        dtype=np.uint64)
        matrix = scipy.sparse.coo_array(
            (bits.view(np.float64), (row, column)), shape=(rows, columns))
        ids = [list(map(int, line.split()[1:])) for line in lines[1 + count:]]
        return matrix, ids

    def expect_dense(self, path, expected, what):
        got = self.read(path)
        assert isinstance(got, np.ndarray), path
        expected = np.asarray(expected)
        native = np.ascontiguousarray(
            expected.astype(expected.dtype.newbyteorder("=")))
        native = native.reshape(expected.shape)
        assert got.dtype == native.dtype, (path, got.dtype, native.dtype)
        assert got.shape == native.shape, (path, got.shape, native.shape)
        assert got.tobytes() == native.tobytes(), path
        self.count(what)

    def expect_sparse(self, path, expected, what, *options):
        matrix, ids = self.read(path, *options)
        expected = scipy.sparse.coo_array(expected)
        # By coordinates, since converting would sum duplicates or drop zeros.
        order = np.lexsort((expected.col, expected.row))
        assert matrix.shape == expected.shape, path
        assert np.array_equal(matrix.row, expected.row[order]), path
        assert np.array_equal(matrix.col, expected.col[order]), path
        values = expected.data[order].astype(np.float64)
        assert matrix.data.tobytes() == values.tobytes(), path
        self.count(what)
        return ids

    def count(self, what):
        self.compared[what] = self.compared.get(what, 0) + 1


def random_array(generator, dtype, shape):
    if dtype == np.bool_:
        return generator.integers(0, 2, shape).astype(np.bool_)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return generator.integers(limits.min, limits.max, shape, endpoint=True,
                                  dtype=dtype.newbyteorder("="))
    array = generator.standard_normal(shape).astype(dtype.newbyteorder("="))
    if array.size > 3:
        array.flat[:4] = [np.nan, np.inf, -np.inf, -0.0]
    return array


SHAPES = [(), (0,), (1,), (7,), (3, 4), (0, 5), (5, 0), (2, 3, 4),
          (1, 1, 1, 1), (2, 1, 3, 2, 2)]


def check_npy(reader, generator, folder):
    path = folder / "array.npy"
    for dtype, order, layout in itertools.product(TYPES.values(), "<>", "CF"):
        dtype = np.dtype(dtype).newbyteorder(order)
        for number, shape in enumerate(SHAPES):
            array = random_array(generator, dtype, shape).astype(dtype)
            array = np.asarray(array, order=layout)
            version = [(1, 0), (2, 0), (3, 0)][number % 3]
            with open(path, "wb") as file:
                np.lib.format.write_array(file, array, version=version)
            reader.expect_dense(path, np.load(path), "npy")
    with gzip.open(folder / "array.npy.gz", "wb") as file:
        np.save(file, array)
    reader.expect_dense(folder / "array.npy.gz", array, "npy")


def check_npz(reader, generator, folder):
    arrays = {f"{name}_{number}": random_array(generator, np.dtype(dtype), shape)
              for name, dtype in TYPES.items()
              for number, shape in enumerate(SHAPES)}
    for save in (np.savez, np.savez_compressed):
        path = folder / f"{save.__name__}.npz"
        save(path, **arrays)
        assert reader.run(path, "--list").split() == list(arrays)
        for name in arrays:
            reader.expect_dense(f"{path}:{name}", arrays[name], "npz")
    # A zip file written to a stream has its sizes behind the data.
    class Stream(io.RawIOBase):
        def __init__(self):
            self.data = bytearray()

        def writable(self):
            return True

        def write(self, data):
            self.data += data
            return len(data)

    stream = Stream()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in arrays:
            buffer = io.BytesIO()
            np.save(buffer, arrays[name])
            archive.writestr(name + ".npy", buffer.getvalue())
    path = folder / "stream.npz"
    path.write_bytes(stream.data)
    for name in list(arrays)[::7]:
        reader.expect_dense(f"{path}:{name}.npy", arrays[name], "npz")


def random_values(generator, field, count):
    if field == "integer":
        return generator.integers(-2**53, 2**53, count)
    values = generator.standard_normal(count) * 10.0**generator.integers(
        -300, 300, count)
    values[::5] = 0.0
    return values


def matrix_market_text(generator, field, symmetry, rows, columns, style):
    """A coordinate file with each coordinate once, in random order."""
    cells = [(i, j) for i in range(rows) for j in range(columns)
             if symmetry == "general" or i > j or
             (i == j and symmetry == "symmetric")]
    chosen = [cell for cell in cells if generator.random() < 0.4]
    generator.shuffle(chosen)
    values = random_values(generator, field, len(chosen))
    lines = [f"%%MatrixMarket matrix coordinate {field} {symmetry}"]
    if "comments" in style:
        lines += ["% a comment", "%", "%% 1 1 1"]
    lines.append(f"{rows} {columns} {len(chosen)}")
    for (i, j), value in zip(chosen, values):
        if "mirrored" in style and generator.random() < 0.5:
            i, j = j, i
        text = f"{i + 1} {j + 1}"
        if field == "real":
            text += " " + ["%r", "%.17e", "%.3g"][generator.integers(3)] % float(
                value)
        elif field == "integer":
            text += f" {value}"
        if "spaces" in style:
            text = "  " + text.replace(" ", "   ") + " "
        lines.append(text)
    end = "\r\n" if "crlf" in style else "\n"
    return end.join(lines) + ("" if "unfinished" in style else end)


def check_matrix_market(reader, generator, folder):
    path = folder / "matrix.mtx"
    styles = [(), ("comments",), ("crlf",), ("unfinished",), ("spaces",),
              ("comments", "crlf", "unfinished")]
    for field, symmetry, style, size in itertools.product(
            ("real", "integer", "pattern"),
            ("general", "symmetric", "skew-symmetric"), styles,
            ((0, 0), (1, 1), (2, 7), (5, 5), (33, 33), (40, 3))):
        if symmetry != "general" and size[0] != size[1]:
            continue
        if field == "pattern" and symmetry == "skew-symmetric":
            continue
        text = matrix_market_text(generator, field, symmetry, *size, style)
        path.write_bytes(text.encode())
        # SciPy takes the reader's own line ends for part of a field's name.
        oracle = text.replace("\r\n", "\n").encode()
        expected = scipy.io.mmread(io.BytesIO(oracle), spmatrix=False)
        reader.expect_sparse(path, expected, "mtx coordinate")
        with gzip.open(folder / "matrix.mtx.gz", "wb") as file:
            file.write(text.encode())
        reader.expect_sparse(folder / "matrix.mtx.gz", expected,
                             "mtx coordinate")


def check_matrix_market_array(reader, generator, folder):
    path = folder / "array.mtx"
    for field, symmetry, size in itertools.product(
            ("real", "integer"), ("general", "symmetric", "skew-symmetric"),
            ((0, 0), (1, 1), (1, 6), (5, 5), (17, 17), (9, 2))):
        rows, columns = size
        if symmetry != "general" and rows != columns:
            continue
        for number in range(5):
            matrix = random_values(generator, field, rows * columns).reshape(
                size)
            lines = [f"%%MatrixMarket matrix array {field} {symmetry}",
                     f"{rows} {columns}"]
            for j in range(columns):
                first = {"general": 0, "symmetric": j,
                         "skew-symmetric": j + 1}[symmetry]
                lines += [repr(matrix[i, j].item()) for i in range(first, rows)]
            path.write_text("\n".join(lines) + "\n")
            # The format itself is the reference here: a formula short enough
            # to be seen correct, where SciPy's readers differ in -0.0.
            if symmetry != "general":
                lower = np.tril(matrix, -1)
                sign = 1 if symmetry == "symmetric" else -1
                diagonal = np.diag(np.diag(matrix)) if sign == 1 else 0
                expected = lower + sign * lower.T + diagonal
            else:
                expected = matrix
            got = reader.read(path)
            assert np.array_equal(got, expected), path
            # SciPy divides by zero on an array without elements.
            if matrix.size:
                assert np.array_equal(got, scipy.io.mmread(path)), path
            reader.count("mtx array")


def check_duplicates(reader, generator, folder):
    path = folder / "duplicates.mtx"
    for number in range(20):
        count = 60
        row = generator.integers(1, 6, count)
        column = generator.integers(1, 7, count)
        # Multiples of 1/8 add exactly in any order.
        value = generator.integers(-800, 800, count) / 8
        lines = ["%%MatrixMarket matrix coordinate real general", f"5 6 {count}"]
        lines += [f"{i} {j} {v}" for i, j, v in zip(row, column, value)]
        path.write_text("\n".join(lines))
        expected = scipy.sparse.coo_array(
            scipy.io.mmread(path, spmatrix=False))
        expected.sum_duplicates()
        reader.expect_sparse(path, expected, "duplicates", "--coalesce")


def check_csv(reader, generator, folder):
    path = folder / "table.csv"
    for header, end, quotes in itertools.product((False, True), ("\n", "\r\n"),
                                                 (False, True)):
        pairs = {(int(generator.integers(-50, 50)) * 7,
                  int(generator.integers(-2**62, 2**62)) // 2**50)
                 for _ in range(80)}
        pairs = list(pairs)
        values = generator.standard_normal(len(pairs)).tolist()
        lines = ["user,item,rating,title"] if header else []
        for (user, item), value in zip(pairs, values):
            title = '"a, ""quoted"" title"' if quotes else "title"
            lines.append(f"{user},{item},{value!r},{title}")
        path.write_bytes(end.join(lines).encode())
        users = sorted({user for user, _ in pairs})
        items = sorted({item for _, item in pairs})
        expected = scipy.sparse.coo_array(
            (values, ([users.index(user) for user, _ in pairs],
                      [items.index(item) for _, item in pairs])),
            shape=(len(users), len(items)))
        ids = reader.expect_sparse(path, expected, "csv")
        assert ids == [users, items]


def check_writers(reader, generator, folder):
    source, npy, npz, mtx = (folder / name for name in (
        "source.npy", "written.npy", "written.npz", "written.mtx"))
    for dtype, shape in itertools.product(TYPES.values(), SHAPES):
        array = random_array(generator, np.dtype(dtype), shape)
        np.save(source, array)
        reader.write(source, npy)
        assert npy.read_bytes() == source.read_bytes()
        reader.write(source, npz)
        with np.load(npz) as archive:
            assert list(archive) == ["array"]
            got = archive["array"]
        assert got.dtype == array.dtype and got.tobytes() == array.tobytes()
        assert zipfile.ZipFile(npz).testzip() is None
        reader.count("written npy and npz")
        if array.ndim == 2 and array.size and array.dtype != np.uint64:
            reader.write(source, mtx)
            got = scipy.io.mmread(mtx)
            assert np.array_equal(got, array.astype(got.dtype),
                                  equal_nan=got.dtype.kind == "f"), mtx
            reader.count("written mtx")
    for field in ("real", "pattern"):
        source = folder / "source.mtx"
        source.write_text(
            matrix_market_text(generator, field, "general", 20, 30, ()))
        reader.write(source, mtx)
        reader.expect_sparse(mtx, scipy.io.mmread(source, spmatrix=False),
                             "written mtx")


def random_entries(generator, dtype, extents):
    """Coordinates in no order, each once, and values, some of them zero."""
    cells = np.array(list(np.ndindex(*extents)), dtype=np.int64)
    cells = cells.reshape(-1, len(extents))
    generator.shuffle(cells)
    coordinates = cells[:len(cells) * 2 // 5]
    values = random_array(generator, np.dtype(dtype), (len(coordinates),))
    values[-1:] = 0
    return coordinates, values


SIZES = [(0, 0), (1, 1), (4, 0), (2, 7), (33, 20)]


def check_sparse_npz(reader, generator, folder):
    path = folder / "sparse.npz"
    types = [dtype for dtype in TYPES.values() if dtype != np.float16]
    for dtype, layout, size, index in itertools.product(
            types, ("csr", "csc", "coo"), SIZES, (np.int32, np.int64)):
        coordinates, values = random_entries(generator, dtype, size)
        matrix = scipy.sparse.coo_array((values, tuple(coordinates.T)),
                                        shape=size)
        if layout != "coo":
            # Not by SciPy's conversion: the indices stay in no order.
            outer = coordinates[:, int(layout == "csc")]
            order = np.argsort(outer, kind="stable")
            pointers = np.searchsorted(outer[order], np.arange(
                size[int(layout == "csc")] + 1))
            make = getattr(scipy.sparse, f"{layout}_array")
            matrix = make((values[order],
                           coordinates[order, int(layout == "csr")].astype(index),
                           pointers.astype(index)), shape=size)
        scipy.sparse.save_npz(path, matrix, compressed=index == np.int64)
        reader.read(path).expect(size, coordinates, values)
        reader.count("sparse npz")
    # Of any rank, by coordinates.
    for extents in ((7,), (3, 4, 5), (2, 3, 1, 2)):
        coordinates, values = random_entries(generator, np.float32, extents)
        scipy.sparse.save_npz(path, scipy.sparse.coo_array(
            (values, tuple(coordinates.T)), shape=extents))
        reader.read(path).expect(extents, coordinates, values)
        reader.count("sparse npz")
    # Parts with a name, and without data, shape or format.
    coordinates, values = random_entries(generator, np.float64, (9, 5))
    matrix = scipy.sparse.coo_array((values, tuple(coordinates.T)),
                                    shape=(9, 5)).tocsr()
    parts = {"a_indptr": matrix.indptr, "a_indices": matrix.indices,
             "b_indptr": matrix.indptr, "b_indices": matrix.indices,
             "b_data": matrix.data, "b_shape": np.int32([9, 8]),
             "c_row": coordinates[:, 0], "c_col": coordinates[:, 1],
             "c_data": values, "other": np.arange(3)}
    np.savez(path, **parts)
    most = coordinates.max(axis=0) + 1
    reader.read(f"{path}:a").expect((9, most[1]), coordinates, None,
                                    [False, True])
    reader.read(f"{path}:b").expect((9, 8), coordinates, values)
    reader.read(f"{path}:c").expect(most, coordinates, values, [True, True])
    reader.expect_dense(f"{path}:other", np.arange(3), "sparse npz")
    # Duplicates.
    row, column = generator.integers(0, 4, (2, 40))
    value = generator.integers(-800, 800, 40) / 8
    scipy.sparse.save_npz(path, scipy.sparse.coo_array(
        (value, (row, column)), shape=(4, 5)))
    expected = scipy.sparse.coo_array((value, (row, column)), shape=(4, 5))
    expected.sum_duplicates()
    reader.read(path, "--coalesce").expect(
        (4, 5), np.stack([expected.row, expected.col], 1), expected.data)
    reader.count("sparse npz")


def check_blocks(reader, generator, folder):
    """BSR: each element of a block is an entry, zeros too."""
    path, target = folder / "blocks.npz", folder / "written.npz"
    for dtype, (rows, columns), size, index in itertools.product(
            (np.float64, np.float32, np.int32, np.bool_),
            ((1, 1), (2, 3), (4, 1)), ((0, 0), (4, 0), (4, 12), (12, 6)),
            (np.int32, np.int64)):
        blocks = [(i, j) for i in range(size[0] // rows)
                  for j in range(size[1] // columns)
                  if generator.integers(3) == 0]
        data = random_array(generator, np.dtype(dtype),
                            (len(blocks), rows, columns))
        # The blocks of a row are in no order.
        generator.shuffle(blocks)
        blocks.sort(key=lambda block: block[0])
        pointers = np.searchsorted([i for i, _ in blocks],
                                   np.arange(size[0] // rows + 1))
        scipy.sparse.save_npz(path, scipy.sparse.bsr_array(
            (data, np.array([j for _, j in blocks], index),
             pointers.astype(index)), shape=size, blocksize=(rows, columns)))
        coordinates = np.array(
            [(i * rows + r, j * columns + c) for i, j in blocks
             for r in range(rows) for c in range(columns)],
            dtype=np.int64).reshape(-1, 2)
        reader.read(path).expect(size, coordinates, data.ravel())
        reader.write(path, target, "--layout=bsr", f"--block={rows}x{columns}")
        got = scipy.sparse.load_npz(target)
        assert got.format == "bsr" and got.shape == size
        assert not len(blocks) or got.blocksize == (rows, columns)
        assert got.dtype == data.dtype and got.has_sorted_indices
        expected = np.zeros(size, dtype)
        expected[tuple(coordinates.T)] = data.ravel()
        assert got.nnz == data.size
        assert np.array_equal(got.toarray(), expected,
                              equal_nan=dtype != np.bool_)
        reader.count("blocks")


def check_extended_tns(reader, generator, folder):
    """Extents, in a comment or in the header that MLIR writes."""
    path = folder / "tensor.tns"
    for extents, form in itertools.product(
            ((6,), (3, 4), (3, 4, 5), (1, 2, 1, 3, 2), (2, 0)),
            ("comment", "header", "plain header")):
        coordinates, values = random_entries(generator, np.float64, extents)
        if form == "plain header" and len(extents) == 2 and not len(values):
            continue  # the same as a vector with two entries
        text = " ".join(map(str, extents))
        lines = ([f"# extents: {text}"] if form == "comment" else
                 [f"{len(extents)} {len(values)}", text])
        if form == "header":
            lines.insert(0, "# extended FROSTT format")
        for at, value in zip(coordinates, values):
            lines.append(" ".join([*map(str, at + 1), repr(float(value))]))
        path.write_text("\n".join(lines))
        reader.read(path).expect(extents, coordinates, values)
        reader.count("extended tns")


def check_tns(reader, generator, folder):
    path = folder / "tensor.tns"
    for extents, end, comments, spaces in itertools.product(
            ((6,), (3, 4), (3, 4, 5), (1, 2, 1, 3, 2)), ("\n", "\r\n"),
            (False, True), (" ", "\t  ")):
        coordinates, values = random_entries(generator, np.float64, extents)
        coordinates = coordinates * 3  # some coordinates are not there
        lines = ["# a comment", "", " # 1 1 1"] if comments else []
        for at, value in zip(coordinates, values):
            lines.append(spaces.join([*map(str, at + 1), repr(float(value))]))
            if comments:
                lines.append("#")
        path.write_bytes(end.join(lines).encode())
        most = coordinates.max(axis=0) + 1
        reader.read(path).expect(most, coordinates, values,
                                 [True] * len(extents))
        reader.count("tns")


def check_sparse_writers(reader, generator, folder):
    source, target = folder / "source.npz", folder / "written"
    for dtype, layout, size in itertools.product(
            (np.float64, np.float32, np.int64, np.uint8, np.bool_),
            ("csr", "csc", "coo"), SIZES):
        coordinates, values = random_entries(generator, dtype, size)
        matrix = scipy.sparse.coo_array((values, tuple(coordinates.T)),
                                        shape=size)
        scipy.sparse.save_npz(source, matrix)
        reader.write(source, f"{target}.npz", f"--layout={layout}")
        got = scipy.sparse.load_npz(f"{target}.npz")
        assert got.format == layout and got.shape == size
        assert got.dtype == values.dtype and got.nnz == len(values)
        got.check_format() if layout != "coo" else None
        assert layout == "coo" or got.has_canonical_format
        Tensor(list(size), [False] * 2, coordinates[order := np.lexsort(
            coordinates.T[::-1])], values[order]).expect(
                size, np.stack(got.tocoo().coords, 1), got.tocoo().data)
        reader.write(source, f"{target}.npy")
        # Exactly what SciPy would expand, but that it turns -0.0 into 0.0.
        dense = np.zeros(size, dtype)
        dense[tuple(coordinates.T)] = values
        assert np.load(f"{target}.npy").tobytes() == dense.tobytes()
        if dtype == np.bool_:
            # In a file of numbers what is stored is true.
            values[:] = True
            matrix.data[:] = True
            scipy.sparse.save_npz(source, matrix)
        reader.write(source, f"{target}.mtx")
        got = scipy.sparse.coo_array(scipy.io.mmread(f"{target}.mtx",
                                                     spmatrix=False))
        assert got.shape == size
        Tensor(list(size), [False] * 2, coordinates[order],
               values[order].astype(got.dtype)).expect(
                   size, np.stack(got.coords, 1), got.data)
        if len(values):
            reader.write(source, f"{target}.tns")
            got = np.loadtxt(f"{target}.tns", ndmin=2)
            assert np.array_equal(got[:, :2] - 1, coordinates[order])
            if values.dtype.itemsize < 8 or values.dtype == np.float64:
                assert np.array_equal(got[:, 2], values[order].astype(float),
                                      equal_nan=True)
            else:
                text = pathlib.Path(f"{target}.tns").read_text().splitlines()
                assert [int(line.split()[2]) for line in text[1:]] == (
                    values[order].tolist())
        # The values that a pattern stands for.
        matrix.data[:] = 1
        scipy.sparse.save_npz(source, matrix)
        reader.write(source, f"{target}.smtx")
        got = read_smtx(pathlib.Path(f"{target}.smtx")).tocoo()
        assert got.shape == size
        assert np.array_equal(np.stack(got.coords, 1), coordinates[order])
        reader.count("written sparse")


def read_smtx(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        rows, columns, count = map(int, file.readline().split(","))
        offsets = list(map(int, file.readline().split()))
        indices = list(map(int, file.readline().split()))
    return scipy.sparse.csr_array((np.ones(count), indices, offsets),
                                  shape=(rows, columns))


def check_data(reader, data):
    for path in sorted(data.rglob("*")):
        name = path.name.removesuffix(".gz")
        if name.endswith(".mtx"):
            expected = scipy.io.mmread(path, spmatrix=False)
            if isinstance(expected, np.ndarray):
                reader.expect_dense(path, expected, "data")
            else:
                reader.expect_sparse(path, expected, "data")
        elif name.endswith(".smtx"):
            reader.expect_sparse(path, read_smtx(path), "data")
        elif name.endswith(".npz"):
            with np.load(path) as archive:
                for member in archive:
                    reader.expect_dense(f"{path}:{member}", archive[member],
                                        "data")
                for name in ("adj", "feat"):
                    pointers = archive[f"{name}_indptr"]
                    rows = np.repeat(np.arange(len(pointers) - 1),
                                     np.diff(pointers))
                    columns = archive[f"{name}_indices"]
                    has_shape = f"{name}_shape" in archive
                    shape = archive[f"{name}_shape"] if has_shape else (
                        len(pointers) - 1, columns.max() + 1)
                    reader.read(f"{path}:{name}").expect(
                        shape, np.stack([rows, columns], 1),
                        archive[f"{name}_data"] if has_shape else None,
                        [False, not has_shape])
                    reader.count("data")
        elif name.endswith(".csv"):
            table = np.genfromtxt(path, delimiter=",", skip_header=1)
            users, row = np.unique(table[:, 0].astype(np.int64),
                                   return_inverse=True)
            items, column = np.unique(table[:, 1].astype(np.int64),
                                      return_inverse=True)
            ids = reader.expect_sparse(
                path, scipy.sparse.coo_array((table[:, 2], (row, column))),
                "data")
            assert ids == [users.tolist(), items.tolist()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--only-data", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    reader = Reader(arguments.tool)
    if arguments.only_data:
        check_data(reader, arguments.data)
        assert reader.compared.get("data", 0) > 0
    else:
        for check in (check_npy, check_npz, check_matrix_market,
                      check_matrix_market_array, check_duplicates, check_csv,
                      check_writers, check_sparse_npz, check_blocks,
                      check_tns, check_extended_tns,
                      check_sparse_writers):
            check(reader, np.random.default_rng(7), arguments.folder)
    reader.close()
    for what, count in reader.compared.items():
        print(f"{what}: {count} equal")


if __name__ == "__main__":
    main()
