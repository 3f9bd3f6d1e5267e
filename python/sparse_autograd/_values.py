# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments and results of entries: NumPy and SciPy to what an entry takes.

The manifest (docs/manifest.md) says what an entry takes and returns. Arrays are
handed over as they are, with their strides; what is not aligned is copied. A result
owns its buffers, or has those of the argument that it shares them with.
"""

import dataclasses
import functools

import numpy as np
import scipy.sparse as sp

# Forms of results (SparseAutogradResultForm in Call.h).
_OWNED, _SHARED = 0, 1

# Names of the manifest: the dtype, and what DLPack calls it (code, bits).
_ELEMENTS = {
    "i1": (np.dtype(np.bool_), (6, 8)),
    "i8": (np.dtype(np.int8), (0, 8)),
    "i16": (np.dtype(np.int16), (0, 16)),
    "i32": (np.dtype(np.int32), (0, 32)),
    "i64": (np.dtype(np.int64), (0, 64)),
    "index": (np.dtype(np.int64), (0, 64)),
    "f16": (np.dtype(np.float16), (2, 16)),
    # NumPy has no such type: the bits, which are those of ml_dtypes.bfloat16.
    "bf16": (np.dtype(np.uint16), (1, 16)),
    "f32": (np.dtype(np.float32), (2, 32)),
    "f64": (np.dtype(np.float64), (2, 64)),
}
_ELEMENT_NAMES = {
    np.dtype(np.bool_): "i1",
    np.dtype(np.int8): "i8",
    np.dtype(np.int16): "i16",
    np.dtype(np.int32): "i32",
    np.dtype(np.int64): "i64",
    np.dtype(np.float16): "f16",
    np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
}


def is_bfloat16(dtype):
    """Whether a dtype is that of ml_dtypes."""
    return dtype.name == "bfloat16"


def is_float(dtype):
    return dtype.kind == "f" or is_bfloat16(dtype)


@functools.cache
def bfloat16():
    """The dtype of ml_dtypes, None where that is not installed."""
    try:
        import ml_dtypes
    except ImportError:
        return None
    return np.dtype(ml_dtypes.bfloat16)


def element_of(dtype):
    """The name of a dtype in MLIR, None if it has none."""
    dtype = np.dtype(dtype)
    return "bf16" if is_bfloat16(dtype) else _ELEMENT_NAMES.get(dtype)


def dtype_of(element):
    """The dtype that entries have for an element type of the manifest; of bf16 that of
    the bits."""
    return _ELEMENTS[element][0]


class SparseTensor:
    """A sparse tensor in a format that SciPy has not: its components, in the
    order of docs/manifest.md, and its shape."""

    def __init__(self, components, shape):
        self.components = list(components)
        self.shape = tuple(shape)

    @property
    def values(self):
        """The stored values."""
        return self.components[-1]

    def __repr__(self):
        extents = "x".join(map(str, self.shape))
        return f"<SparseTensor {extents}, {len(self.values)} values stored>"


class RowSparse(SparseTensor):
    """An array some rows of which are stored, as the gradient of a table of which a
    program reads rows: `indices`, sorted, and `values`, an array of the rows.

        table[g.indices] -= 0.1 * g.values
    """

    def __init__(self, indices, values, shape, positions=None):
        indices = np.asarray(indices)
        if positions is None:
            positions = np.array([0, len(indices)], indices.dtype)
        super().__init__([positions, indices, values.reshape(-1)], shape)

    @property
    def indices(self):
        """The rows that are stored."""
        return self.components[1]

    @property
    def values(self):
        """What they hold, an array of one row for each of `indices`."""
        return self.components[-1].reshape(-1, *self.shape[1:])

    @property
    def dtype(self):
        return self.components[-1].dtype

    def toarray(self):
        """The array with zeros in the other rows."""
        array = np.zeros(self.shape, self.dtype)
        array[self.indices] = self.values
        return array

    def __repr__(self):
        extents = "x".join(map(str, self.shape))
        return f"<RowSparse {extents}, {len(self.indices)} rows stored>"


@dataclasses.dataclass(frozen=True)
class Encoding:
    """How a sparse tensor is stored."""

    levels: tuple  # of (format, unique, dimension, block, part)
    position: str
    coordinate: str

    @staticmethod
    def of(description):
        levels = tuple(
            (
                level["format"],
                level["unique"],
                level["dimension"],
                level.get("block"),
                level.get("part"),
            )
            for level in description["levels"]
        )
        return Encoding(
            levels, description["position_type"], description["coordinate_type"]
        )

    @property
    def format(self):
        """SciPy's name of the format, None if it has none."""
        kinds = [level[:3] for level in self.levels]
        blocks = [level[2:] for level in self.levels]
        if kinds == [("dense", True, 0), ("compressed", True, 1)]:
            return "csr" if not any(b[1] for b in blocks) else None
        if kinds == [("dense", True, 1), ("compressed", True, 0)]:
            return "csc" if not any(b[1] for b in blocks) else None
        if [k[0] for k in kinds] == ["dense", "compressed", "dense", "dense"]:
            parts = [(dimension, part) for dimension, _, part in blocks]
            if parts == [(0, "quotient"), (1, "quotient"), (0, "remainder"), (1, "remainder")]:
                return "bsr"
        if kinds[0] == ("compressed", True, 0) and len(kinds) > 1:
            if [k for k in kinds[1:]] == [("dense", True, d) for d in range(1, len(kinds))]:
                return "rows"
        singletons = all(k[0] == "singleton" for k in kinds[1:])
        in_order = [k[2] for k in kinds] == list(range(len(kinds)))
        if kinds[0][0] == "compressed" and singletons and in_order:
            return "coo"
        return None

    @property
    def blocks(self):
        """The extents of a block of BSR."""
        return self.levels[0][3], self.levels[1][3]

    def components(self, element):
        """The element types of the components."""
        names = []
        for form, *_ in self.levels:
            if form in ("compressed", "loose_compressed"):
                names.append(self.position)
            if form != "dense":
                names.append(self.coordinate)
        return names + [element]


@dataclasses.dataclass(frozen=True)
class ValueType:
    """What the manifest says of an argument or a result."""

    name: str
    element: str
    shape: tuple | None  # None of a number; None for an open extent
    encoding: Encoding | None
    is_residual: bool = False

    @staticmethod
    def of(description):
        shape = description.get("shape")
        encoding = description.get("encoding")
        return ValueType(
            description["name"],
            description["element_type"],
            None if shape is None else tuple(shape),
            None if encoding is None else Encoding.of(encoding),
            description.get("role") == "residual",
        )

    def __str__(self):
        text = self.element
        if self.shape is not None:
            extents = ["?" if extent is None else str(extent) for extent in self.shape]
            text += "[" + ", ".join(extents) + "]"
        if self.encoding is not None:
            text += " " + (self.encoding.format or "sparse")
        return f"{self.name}: {text}"

    @property
    def place(self):
        """A place for a result of this type, as _core takes it.

        A sparse result shares the lists that it has in common with an argument. A dense
        one that is an argument is a copy of it, which may be written to, but for
        residuals, which the backward function takes.
        """
        form = _SHARED if self.is_residual or self.encoding is not None else _OWNED
        if self.shape is None:
            return True, [(*_ELEMENTS[self.element][1], 0)], 0, form
        if self.encoding is None:
            return False, [(*_ELEMENTS[self.element][1], len(self.shape))], 0, form
        names = self.encoding.components(self.element)
        return False, [(*_ELEMENTS[n][1], 1) for n in names], len(self.shape), form

    def destination(self, out):
        """Where a result is written, as _core takes it: an array, or, of a sparse one,
        the array of its values."""
        if out is None:
            return None
        what = f"out: result '{self.name}'"
        if self.shape is None:
            raise TypeError(f"{what} is a number, which is not written to an array: give None")
        if sp.issparse(out):
            out = out.data.reshape(-1)
        if not hasattr(out, "__array__"):
            raise TypeError(f"{what} is written to an array, not to a {type(out).__name__}")
        array, dtype = np.asarray(out), dtype_of(self.element)
        if self.element == "bf16" and is_bfloat16(array.dtype):
            array = array.view(dtype)
        if array.dtype != dtype:
            raise TypeError(f"{what} has elements of {dtype}, not {array.dtype}")
        rank = len(self.shape) if self.encoding is None else 1
        if array.ndim != rank:
            raise TypeError(f"{what} has {rank} dimensions to write, not {array.ndim}")
        lists = 1 if self.encoding is None else len(self.encoding.components(self.element))
        return [None] * (lists - 1) + [array]

    def take(self, value):
        """An argument as _core takes it: (arrays, extents)."""
        if self.shape is None:
            return self._number(value), None
        if self.encoding is None:
            return [self._dense(value)], None
        return self._sparse(value)

    def give(self, outcome, as_matrix):
        """A result of _core, (arrays, extents), as the caller gets it."""
        arrays, extents = outcome
        if self.element == "bf16" and bfloat16() is not None:
            arrays = [*arrays[:-1], arrays[-1].view(bfloat16())]
        if self.encoding is None:
            return arrays[0] if self.shape else arrays[0][()]
        return assemble(self.encoding, arrays, tuple(extents), as_matrix)

    def _refuse(self, message):
        raise TypeError(f"argument '{self.name}' {message}")

    def _number(self, value):
        if hasattr(value, "shape") and value.shape != ():
            self._refuse(f"is a number, not an array of shape {value.shape}")
        if self.element == "bf16" and not isinstance(value, np.uint16) and bfloat16() is not None:
            return np.asarray(value, bfloat16()).view(np.uint16)
        return _convert(value, dtype_of(self.element), self._refuse)

    def _dense(self, value):
        if sp.issparse(value):
            self._refuse(
                f"is dense, not a {value.format.upper()} matrix: give its toarray()"
            )
        if isinstance(value, np.ma.MaskedArray):
            self._refuse("is no masked array: give its data, and the mask by itself")
        dtype = dtype_of(self.element)
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "V":
            value = np.asarray(value)
        if isinstance(value, np.ndarray):
            array = self._fit(value, dtype)
        else:
            array = _convert(value, dtype, self._refuse)
        if array.ndim != len(self.shape):
            self._refuse(
                f"has {len(self.shape)} dimensions, not {array.ndim}: "
                f"the shape {array.shape} does not fit {self}"
            )
        return array

    def _fit(self, array, dtype):
        if array.dtype != dtype:
            if self.element == "bf16" and is_bfloat16(array.dtype):
                array = array.view(np.uint16)
            else:
                remedy = f"give its astype(np.{dtype})"
                if self.element == "bf16":
                    remedy = "give its bits, as np.uint16, or a bfloat16 of ml_dtypes"
                self._refuse(f"has elements of {dtype}, not {array.dtype}: {remedy}")
        return _strided(array)

    def _sparse(self, value):
        encoding = self.encoding
        if isinstance(value, SparseTensor):
            components = value.components
        elif sp.issparse(value):
            if value.format != encoding.format:
                known = encoding.format
                self._refuse(
                    f"is stored as {(known or 'another format').upper()}, not "
                    f"{value.format.upper()}: "
                    + (f"give its to{known}()" if known else "give a SparseTensor")
                )
            if known_blocks := encoding.format == "bsr" and encoding.blocks:
                if value.blocksize != known_blocks:
                    self._refuse(
                        f"has blocks of {known_blocks}, not {value.blocksize}: "
                        f"give its tobsr(blocksize={known_blocks})"
                    )
            components = take_apart(value)
        else:
            form = encoding.format
            remedy = f"scipy.sparse.{form}_array(x)" if form else "a SparseTensor"
            if form == "rows":
                remedy = "a RowSparse"
            self._refuse(f"is sparse: give {remedy}, not {type(value).__name__}")
        if len(value.shape) != len(self.shape):
            self._refuse(f"has {len(self.shape)} dimensions, not {len(value.shape)}")
        names = encoding.components(self.element)
        if len(components) != len(names):
            self._refuse(f"has {len(names)} components, not {len(components)}")
        arrays = [
            self._indices(np.asarray(component), dtype_of(name))
            for component, name in zip(components[:-1], names[:-1])
        ]
        arrays.append(self._fit(np.asarray(components[-1]), dtype_of(self.element)))
        return arrays, value.shape

    def _indices(self, array, dtype):
        """Positions or coordinates in the width that the code was compiled for."""
        if array.dtype == dtype:
            return _strided(array)
        if array.size and (array.max() > np.iinfo(dtype).max or array.min() < 0):
            self._refuse(f"has indices beyond those of {dtype}")
        return array.astype(dtype)


def _strided(array):
    """An array as an entry takes it, with any strides that are whole elements."""
    if array.flags.aligned and not any(stride % array.itemsize for stride in array.strides):
        return array
    return np.require(array, requirements=["C", "A"]).reshape(array.shape)


def _convert(value, dtype, refuse):
    """A number, a list or an array of another library as an array of `dtype`."""
    try:
        array = np.asarray(value)
        given = array.dtype
        # Numbers of Python have the type that is wanted, if that holds them.
        weak = not hasattr(value, "dtype")
        if given != dtype and not np.can_cast(
            given, dtype, "same_kind" if weak else "safe"
        ):
            refuse(f"has elements of {dtype}, not {given}")
        return np.asarray(array, dtype, order="C")
    except (ValueError, TypeError) as error:
        if str(error).startswith("argument '"):
            raise
        refuse(f"cannot be made an array of {dtype}: {error}")


def take_apart(matrix):
    """The components of a SciPy sparse array or matrix; views, not copies."""
    if matrix.format == "coo":
        width = matrix.coords[0].dtype
        return [np.array([0, matrix.nnz], width), *matrix.coords, matrix.data]
    if matrix.format == "bsr":
        return [matrix.indptr, matrix.indices, matrix.data.reshape(-1)]
    return [matrix.indptr, matrix.indices, matrix.data]


def assemble(encoding, components, shape, as_matrix):
    """The opposite: a sparse array, or matrix, without a copy."""
    form = encoding.format
    if form is None:
        return SparseTensor(components, shape)
    if form == "rows":
        return RowSparse(components[1], components[2], shape, components[0])
    if as_matrix and len(shape) == 2:
        make = getattr(sp, f"{form}_matrix")
    else:
        make = getattr(sp, f"{form}_array")
    values = components[-1]
    # The constructors may convert indices, and know no bfloat16; what is set afterwards
    # stays.
    known = np.float32 if is_bfloat16(values.dtype) else values.dtype
    if form == "coo":
        matrix = make(shape, dtype=known)
        matrix.coords = tuple(components[1:-1])
        matrix.data = values
        matrix.has_canonical_format = True
        return matrix
    if form == "bsr":
        block = encoding.blocks
        data = values.reshape(-1, *block)
        matrix = make(shape, blocksize=block, dtype=known)
    else:
        data = values
        matrix = make(shape, dtype=known)
    matrix.indptr, matrix.indices, matrix.data = components[0], components[1], data
    matrix.has_sorted_indices = True
    return matrix
