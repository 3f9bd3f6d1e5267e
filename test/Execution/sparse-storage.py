# RUN: %python %s | FileCheck %s
# CHECK: {{[1-9][0-9]* functions, [1-9][0-9]* calls, [1-9][0-9]*}} numbers compared, 0 failures
"""Sparse arguments and results: every encoding, type and width of numbers, from
entries and as storage, against the storage that NumPy makes."""

import itertools

import numpy as np
import scipy.sparse

from execution import Program, finish, same_bits, tensor_type, to_type
from sparse_storage import (MATRICES, TENSORS, VECTORS, Storage,
                            block_encoding, build_storage, from_pattern,
                            same_pattern)

TYPES = ("f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "i1")
WIDTHS = (("index", "index"), ("i64", "i32"), ("i32", "i16"), ("i16", "i8"),
          ("i8", "i64"), ("i32", "i32"))


def check_reference():
    """The reference itself, against SciPy and against what it reads back."""
    rng = np.random.default_rng(3)
    for repetition in range(50):
        shape = tuple(rng.integers(1, 9, 2).tolist())
        mask = rng.random(shape) < rng.random()
        values = rng.integers(-3, 4, shape).astype(np.float64)
        coordinates = rng.permutation(np.argwhere(mask))
        stored = values[tuple(coordinates.T)]
        coo = scipy.sparse.coo_array((stored, tuple(coordinates.T)),
                                     shape=shape)
        csr, csc = coo.tocsr(), coo.tocsc()
        csr.sort_indices(), csc.sort_indices()
        for name, oracle in (("CSR", csr), ("CSC", csc)):
            storage = build_storage(coordinates, stored, shape, MATRICES[name])
            for mine, theirs in zip(storage.components,
                                    (oracle.indptr, oracle.indices,
                                     oracle.data), strict=True):
                assert np.array_equal(mine, theirs), name
        blocks = tuple(-(-extent // 2) * 2 for extent in shape)
        bsr = scipy.sparse.coo_array((stored, tuple(coordinates.T)),
                                     shape=blocks).tobsr((2, 2))
        bsr.sort_indices()
        storage = build_storage(coordinates, stored, shape, MATRICES["BSR"])
        assert np.array_equal(storage.components[0], bsr.indptr)
        assert np.array_equal(storage.components[1], bsr.indices)
        assert np.array_equal(storage.values, bsr.data.ravel())
        for name, encoding in MATRICES.items():
            storage = build_storage(coordinates, stored, shape, encoding)
            assert np.array_equal(storage.dense(), values * mask), name
            again = build_storage(*storage.entries(), shape, encoding)
            same_pattern(again, storage, name)
            assert np.array_equal(again.values, storage.values), name


def draw(rng, shape, element_type):
    if element_type == "i1":
        return rng.integers(0, 2, shape).astype(np.bool_)
    values = rng.integers(-3, 4, shape).astype(np.float64)
    if element_type[0] != "i" and values.size:
        values.flat[:: 5] = rng.choice([0.1, np.nan, -np.inf, -0.0],
                                       values.flat[:: 5].shape)
    return to_type(values, element_type)


def compare(expected):
    def check(storage):
        count = same_pattern(storage, expected)
        return count + same_bits(storage.values, expected.values)
    return check


def add_identity(program, name, shape, element_type, dynamic):
    """A function that returns its argument; its name."""
    type_ = tensor_type(shape, element_type, dynamic, name)
    entry = f"same_{name}_{element_type}_" + "x".join(
        "d" if dynamic else str(e) for e in shape)
    if entry not in program.types:
        program.entry(entry, [type_], [type_], f"  return %a0 : {type_}")
    return entry


def call_identity(program, entry, expected, entries):
    program.call(entry, [expected], compare(expected), "storage")
    program.call(entry, [entries], compare(expected), "entries")


def widths_program():
    """All patterns of 2 x 3 in every encoding; every width in some."""
    program = Program("patterns", 0)
    rng = np.random.default_rng(4)
    values = to_type(np.arange(6.0).reshape(2, 3), "f32")
    for (name, encoding), (number, widths) in itertools.product(
            MATRICES.items(), enumerate(WIDTHS)):
        encoding = encoding.with_widths(*widths)
        name = program.define_encoding(f"{name}{number}", encoding)
        entry = add_identity(program, name, (2, 3), "f32", number % 2 == 0)
        for pattern in range(64):
            # Of the further widths, some patterns.
            if number and pattern % 9 != number:
                continue
            mask = (pattern >> np.arange(6) & 1).astype(bool).reshape(2, 3)
            coordinates = rng.permutation(np.argwhere(mask))
            call_identity(program, entry,
                          from_pattern(values, mask, encoding),
                          (coordinates, values[tuple(coordinates.T)], (2, 3)))
    return program


def types_program():
    """Every type, in shapes that blocks fit and do not fit, or empty ones."""
    program = Program("types", 0)
    rng = np.random.default_rng(5)
    encodings = [(name, encoding, shape) for shape in
                 ((4, 6), (3, 5), (0, 4), (3, 0))
                 for name, encoding in {
                     **MATRICES, "BSR23": block_encoding((2, 3))}.items()]
    encodings += [(name, encoding, (7,)) for name, encoding in VECTORS.items()]
    encodings += [(name, encoding, (3, 4, 5))
                  for name, encoding in TENSORS.items()]
    for number, (name, encoding, shape) in enumerate(encodings):
        program.define_encoding(name, encoding)
        for element_type in TYPES if number % 3 == 0 else TYPES[number % 9:][:1]:
            entry = add_identity(program, name, shape, element_type,
                                 number % 2 == 0)
            mask = rng.random(shape) < 0.4
            values = draw(rng, shape, element_type)
            coordinates = rng.permutation(np.argwhere(mask))
            call_identity(program, entry,
                          from_pattern(values, mask, encoding),
                          (coordinates, values[tuple(coordinates.T)], shape))
    return program


def scipy_program():
    """Matrices as SciPy has them."""
    program = Program("scipy", 0)
    rng = np.random.default_rng(6)
    matrix = scipy.sparse.random_array((9, 7), density=0.3, rng=rng)
    for name, encoding in MATRICES.items():
        program.define_encoding(name, encoding)
        entry = add_identity(program, name, (9, 7), "f64", True)
        coo = matrix.tocoo()
        expected = build_storage(np.stack(coo.coords, 1), coo.data, (9, 7),
                                 encoding)
        for layout in ("csr", "csc", "coo"):
            program.call(entry, [getattr(matrix, f"to{layout}")()],
                         compare(expected), layout)
    return program


def malformed_program():
    """Storage that breaks an invariant is refused where it enters."""
    program = Program("malformed", 0)
    dense = np.array([[0, 1.5, 0, 2], [3, 0, 0, 0], [0, 0, 4, 0]])

    def refuse(name, component, array, message, shape=(3, 4)):
        program.define_encoding(name, MATRICES[name])
        entry = add_identity(program, name, (3, 4), "f64", True)
        storage = from_pattern(dense, dense != 0, MATRICES[name])
        components = list(storage.components)
        kind = components[component].dtype
        components[component] = np.array(array).astype(kind)
        message = f"argument 'arg0': {message}"
        program.call(entry, [Storage(components, shape, MATRICES[name])],
                     message)

    # Positions 0 2 3 4, coordinates 1 3 0 2.
    refuse("CSR", 0, [1, 2, 3, 4],
           "level 1 (compressed): position 0 is 1 instead of 0")
    refuse("CSR", 0, [0, 3, 2, 4], "level 1 (compressed): position 2 is 2, "
           "less than the one before it, 3")
    refuse("CSR", 0, [0, 2, 3, 9], "level 1 (compressed): the last position "
           "is 9, but it has 4 coordinates")
    refuse("CSR", 0, [0, 2, 2**62, 4], "level 1 (compressed): position 3")
    refuse("CSR", 0, [0, 2, 4], "level 1 (compressed): has 3 positions")
    refuse("CSR", 1, [1, 4, 0, 2], "level 1 (compressed): coordinate 1 is 4, "
           "not less than the extent 4")
    refuse("CSR", 1, [1, -1, 0, 2], "level 1 (compressed): coordinate 1 is -1")
    refuse("CSR", 1, [3, 1, 0, 2], "level 1 (compressed): coordinate 1 is 1, "
           "less than the one before it, 3: they are not sorted")
    refuse("CSR", 1, [1, 1, 0, 2], "level 1 (compressed): coordinate 1 is 1, "
           "as the one before it, but must be unique")
    refuse("CSR", 2, [1.5, 2, 3], "has 3 values instead of 4")
    refuse("CSR", 2, [1.5, 2, 3, 4],
           "level 1 (compressed): has 4 positions instead of 6", (5, 4))
    refuse("CSR", 2, [1.5, 2, 3, 4], "extent 0 is negative", (-3, 4))
    refuse("CSC", 1, [1, 0, 2, 3], "level 1 (compressed): coordinate 3 is 3, "
           "not less than the extent 3")
    refuse("COO", 1, [0, 0, 1, 3], "level 0 (compressed): coordinate 3 is 3")
    refuse("COO", 2, [1, 1, 0, 2], "level 1 (singleton): coordinate 1 is 1, "
           "as the one before it, but must be unique")
    refuse("COO", 2, [1, 3, 0], "level 1 (singleton): has 3 coordinates")
    refuse("DCSR", 1, [0, 2, 1], "level 0 (compressed): coordinate 2 is 1, "
           "less than the one before it, 2: they are not sorted")
    refuse("Loose", 0, [0, 2, 1, 3, 3, 4], "level 1 (loose_compressed): "
           "position 2 is 1, less than the one before it, 2")
    # Blocks of 2 by 2: two columns of blocks.
    refuse("BSR", 1, [0, 1, 2], "level 1 (compressed): coordinate 2 is 2, not "
           "less than the extent 2")
    refuse("BSR", 2, np.zeros(11), "has 11 values instead of 12")
    return program


check_reference()
finish([widths_program(), types_program(), scipy_program(),
        malformed_program()])
