# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Storage of sparse tensors by its definition (Runtime.h), in NumPy.

An `Encoding` says how a tensor is stored, `build_storage` stores entries, and a
`Storage` gives them back. Nothing is taken from the runtime or the compiler.
"""

from dataclasses import dataclass

import numpy as np

WIDTHS = {"index": np.uint64, "i64": np.uint64, "i32": np.uint32,
          "i16": np.uint16, "i8": np.uint8}


STRUCTURED = "structured[2, 4]"


@dataclass(frozen=True)
class Level:
    """A level that has the coordinate of a dimension, or part of it."""
    # dense, compressed, loose_compressed, singleton or structured[2, 4]
    format: str
    dimension: int
    unique: bool = True
    block: int = 0  # of a part: the extent of a block
    part: str = ""  # quotient or remainder

    def coordinate(self, coordinates):
        column = coordinates[:, self.dimension]
        if not self.block:
            return column
        return (column // self.block if self.part == "quotient" else
                column % self.block)

    def extent(self, shape):
        extent = shape[self.dimension]
        if not self.block:
            return extent
        return -(-extent // self.block) if self.part == "quotient" else (
            self.block)

    def mlir(self):
        text = f"d{self.dimension}"
        if self.block:
            word = "floordiv" if self.part == "quotient" else "mod"
            text += f" {word} {self.block}"
        properties = ([] if self.unique else ["nonunique"]) + (
            ["soa"] if self.format == "singleton" else [])
        return f"{text} : {self.format}" + (
            f"({', '.join(properties)})" if properties else "")


@dataclass(frozen=True)
class Encoding:
    levels: tuple
    position_type: str = "index"
    coordinate_type: str = "index"

    @property
    def rank(self):
        return 1 + max(level.dimension for level in self.levels)

    def mlir(self):
        dims = ", ".join(f"d{d}" for d in range(self.rank))
        levels = ", ".join(level.mlir() for level in self.levels)
        text = f"map = ({dims}) -> ({levels})"
        for key, name in (("posWidth", self.position_type),
                          ("crdWidth", self.coordinate_type)):
            if name != "index":
                text += f", {key} = {name[1:]}"
        return "#sparse_tensor.encoding<{ " + text + " }>"

    def with_widths(self, position_type, coordinate_type):
        return Encoding(self.levels, position_type, coordinate_type)


def _levels(*formats, order=None):
    """Levels of whole dimensions; ! marks those that are not unique."""
    order = order or range(len(formats))
    return Encoding(tuple(Level(f.rstrip("!"), d, not f.endswith("!"))
                          for f, d in zip(formats, order, strict=True)))


def structured_encoding(rank=2, columns=False):
    """Two of each four elements of a row, or of a column of a matrix, behind
    dense dimensions."""
    order = [1, 0] if columns else list(range(rank))
    return Encoding((*(Level("dense", d) for d in order[:-1]),
                     Level("dense", order[-1], block=4, part="quotient"),
                     Level(STRUCTURED, order[-1], block=4, part="remainder")))


def block_encoding(block):
    """Dense rows of compressed dense blocks."""
    return Encoding((Level("dense", 0, block=block[0], part="quotient"),
                     Level("compressed", 1, block=block[1], part="quotient"),
                     Level("dense", 0, block=block[0], part="remainder"),
                     Level("dense", 1, block=block[1], part="remainder")))


MATRICES = {
    "CSR": _levels("dense", "compressed"),
    "CSC": _levels("dense", "compressed", order=(1, 0)),
    "COO": _levels("compressed!", "singleton"),
    "COOColumns": _levels("compressed!", "singleton", order=(1, 0)),
    "DCSR": _levels("compressed", "compressed"),
    "DCSC": _levels("compressed", "compressed", order=(1, 0)),
    "DenseRows": _levels("compressed", "dense"),
    "AllDense": _levels("dense", "dense"),
    "Loose": _levels("dense", "loose_compressed"),
    "BSR": block_encoding((2, 2)),
}
VECTORS = {"SparseVector": _levels("compressed")}
TENSORS = {
    "CSF": _levels("compressed", "compressed", "compressed"),
    "COO3": _levels("compressed!", "singleton!", "singleton"),
    "DenseCSR": _levels("dense", "dense", "compressed"),
    "CSFTransposed": _levels("compressed", "compressed", "compressed",
                             order=(2, 0, 1)),
}


ENCODINGS = {**MATRICES, **VECTORS, **TENSORS}


@dataclass
class Storage:
    """The components of a sparse tensor, in the order of the C ABI."""
    components: list
    shape: tuple
    encoding: Encoding

    @property
    def values(self):
        return self.components[-1]

    def with_values(self, values):
        """The same pattern with other values."""
        values = np.asarray(values, dtype=self.values.dtype)
        assert values.shape == self.values.shape
        return Storage([*self.components[:-1], values], self.shape,
                       self.encoding)

    def entries(self):
        """The coordinates and the values of all that is stored, in the order
        of storage, without what a block has outside of the shape."""
        rank = len(self.shape)
        at = np.zeros((1, rank), np.int64)
        nodes = np.zeros(1, np.int64)
        components = [c.astype(np.int64) for c in self.components[:-1]]
        for level in self.encoding.levels:
            if level.format == "dense":
                extent = level.extent(self.shape)
                counts = np.full(len(nodes), extent)
                column = np.tile(np.arange(extent), len(nodes))
                children = np.repeat(nodes * extent, counts) + column
            elif level.format == "singleton":
                column, counts = components.pop(0)[nodes], np.ones_like(nodes)
                children = nodes
            elif level.format == STRUCTURED:
                counts = np.full(len(nodes), 2)
                children = np.ravel(2 * nodes[:, None] + [0, 1])
                column = (components.pop(0)[children // 4] >>
                          2 * (children % 4)) & 3
            else:
                positions = components.pop(0)
                stride = 2 if level.format == "loose_compressed" else 1
                begin = positions[stride * nodes]
                counts = positions[stride * nodes + 1] - begin
                first = np.cumsum(counts) - counts
                children = np.arange(counts.sum()) + np.repeat(begin - first,
                                                               counts)
                column = components.pop(0)[children]
            at = np.repeat(at, counts, axis=0)
            factor = level.block if level.part == "quotient" else 1
            at[:, level.dimension] += factor * column
            nodes = children
        inside = np.all(at < np.array(self.shape), axis=1)
        return at[inside], self.values[nodes[inside]]

    def dense(self, fill=0):
        result = np.full(self.shape, fill, self.values.dtype)
        coordinates, values = self.entries()
        result[tuple(coordinates.T)] = values
        return result


def build_storage(coordinates, values, shape, encoding):
    """Stores entries, each coordinate at most once, in any order; explicit
    zeros are stored."""
    values = np.asarray(values)
    coordinates = np.asarray(coordinates, np.int64).reshape(-1, len(shape))
    table = [level.coordinate(coordinates) for level in encoding.levels]
    order = np.lexsort(table[::-1])
    table = [column[order] for column in table]
    # Of each entry, its element of the level; how many elements there are.
    elements, count = np.zeros(len(order), np.int64), 1
    components = []
    for level, column in zip(encoding.levels, table):
        if level.format == "dense":
            extent = level.extent(shape)
            elements, count = elements * extent + column, count * extent
            continue
        if level.format == STRUCTURED:
            elements, packed = _store_two_of_four(elements, column, count)
            components.append(packed)
            count *= 2
            continue
        is_new = np.ones(len(order), bool)
        if level.format != "singleton":
            if level.unique:
                is_new[1:] = ((elements[1:] != elements[:-1]) |
                              (column[1:] != column[:-1]))
            positions = np.searchsorted(elements[is_new], np.arange(count + 1))
            if level.format == "loose_compressed":
                positions = np.stack([positions[:-1], positions[1:]], 1).ravel()
            components.append(_narrow(positions, encoding.position_type))
            elements, count = np.cumsum(is_new) - 1, int(is_new.sum())
        components.append(_narrow(column[is_new], encoding.coordinate_type))
    stored = np.zeros(count, values.dtype)
    stored[elements] = values[order]
    return Storage([*components, stored], tuple(shape), encoding)


def _store_two_of_four(groups, column, count):
    """The elements of sorted entries of `count` groups, at most two in each, and
    the coordinates of all elements, 2 bits each: those of the entries, and as
    many of the last other ones."""
    mask = np.zeros((count, 4), bool)
    mask[groups, column] = True
    stored = mask.sum(axis=1)
    assert np.all(stored <= 2), "more than two of four"
    for at in (3, 2, 1, 0):
        mask[:, at] |= mask.sum(axis=1) < 2
    pairs = np.nonzero(mask)[1].reshape(count, 2)
    elements = 2 * groups + (pairs[groups, 1] == column)
    nibbles = np.full(count + count % 2, 0xE, np.uint8)
    nibbles[:count] = pairs[:, 0] | pairs[:, 1] << 2
    return elements, nibbles[::2] | nibbles[1::2] << 4


def from_dense(array, encoding):
    """Stores what is not zero."""
    array = np.asarray(array)
    coordinates = np.argwhere(array != 0)
    return build_storage(coordinates, array[tuple(coordinates.T)], array.shape,
                         encoding)


def from_pattern(array, mask, encoding):
    """Stores what a mask selects, zero or not."""
    coordinates = np.argwhere(mask)
    return build_storage(coordinates, np.asarray(array)[tuple(coordinates.T)],
                         np.shape(array), encoding)


def close_pattern(mask, encoding):
    """All that is stored where the elements of a mask are: dense levels store
    what lies beside them."""
    coordinates, _ = from_pattern(mask, mask, encoding).entries()
    closed = np.zeros_like(mask)
    closed[tuple(coordinates.T)] = True
    return closed


def _narrow(numbers, name):
    narrow = np.asarray(numbers).astype(WIDTHS[name])
    assert np.array_equal(narrow.astype(np.int64), numbers), name
    return narrow


def same_pattern(actual, expected, what=""):
    """Whether two tensors have the same shape, encoding, positions and
    coordinates; returns how many numbers it compared."""
    assert actual.shape == tuple(expected.shape), (
        f"{what}: shape {actual.shape}, expected {expected.shape}")
    assert actual.encoding == expected.encoding, what
    assert len(actual.components) == len(expected.components), what
    for number, (a, b) in enumerate(zip(actual.components[:-1],
                                        expected.components[:-1])):
        assert a.dtype.itemsize == b.dtype.itemsize, (
            f"{what}: component {number} is {a.dtype}, expected {b.dtype}")
        assert np.array_equal(a.astype(np.int64), b.astype(np.int64)), (
            f"{what}: component {number} is {a.tolist()}, expected "
            f"{b.tolist()}")
    assert actual.values.shape == expected.values.shape, what
    return sum(a.size for a in actual.components[:-1])
