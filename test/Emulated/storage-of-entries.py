# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env -u EXECUTION_PIPELINE SPARSE_AUTOGRAD_DEVICE=emulated:11 %python %s
"""What kernels make of entries, their numbers, the order, the positions, the
coordinates and the places, is what the runtime makes of them on the CPU, to the bit; so are the
errors. Lists are as long as the chunks of kernels, or a little more or less."""

import numpy as np

from device_comparison import Comparison
from execution import finish
from sparse_storage import (MATRICES, TENSORS, VECTORS, Encoding, Level,
                            _levels, block_encoding)

WIDTHS = (("index", "index"), ("i64", "i8"), ("i32", "i16"), ("i16", "i32"),
          ("i8", "i64"))
ENCODINGS = {
    **MATRICES, **VECTORS, **TENSORS,
    "LooseVector": _levels("loose_compressed"),
    "DenseVector": _levels("dense"),
    "Repeated": _levels("compressed!"),
    "LooseCOO": _levels("loose_compressed!", "singleton"),
    "LooseCompressed": _levels("loose_compressed", "compressed"),
    "RepeatedRows": _levels("dense", "compressed!"),
    "DenseBetween": _levels("compressed", "dense", "compressed"),
    "DenseCOO": _levels("dense", "compressed!", "singleton"),
    "LooseLooseDense": _levels("loose_compressed", "loose_compressed", "dense"),
    "CSF4": _levels("compressed", "compressed", "dense", "compressed"),
    "COO4": _levels("compressed!", "singleton!", "singleton!", "singleton"),
    "BSR35": block_encoding((3, 5)),
    # One entry for each element of the level before.
    "Unique": _levels("compressed", "singleton"),
    "UniqueAgain": _levels("compressed!", "singleton", "singleton"),
}


def without_names(encoding):
    """The levels as dimensions of their own: entries have the coordinates of
    levels."""
    return Encoding(tuple(
        Level(level.format, number, level.unique)
        for number, level in enumerate(encoding.levels)),
        encoding.position_type, encoding.coordinate_type)


def has_positions(level):
    return level.format in ("compressed", "loose_compressed")


def add_sort(comparison, levels):
    entry, coordinates = f"sort_{levels}", f"tensor<?x{levels}xindex>"
    comparison.entry(entry, [coordinates], ["tensor<?xindex>"], f"""
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a0, %c0 : {coordinates}
  %e = tensor.empty(%n) : tensor<?xindex>
  %o = sparse_autograd.sort_entries ins(%a0 : {coordinates}) outs(%e : tensor<?xindex>) -> tensor<?xindex>
  return %o : tensor<?xindex>""")
    return entry


def add_store(comparison, name, encoding):
    """A function from entries and extents to all that is stored of them."""
    encoding = without_names(encoding)
    for program in comparison.programs:
        program.define_encoding(name, encoding)
    rank = len(encoding.levels)
    coordinates, index = f"tensor<?x{rank}xindex>", "tensor<?xindex>"
    extents = ", ".join(f"%a{1 + level}" for level in range(rank))
    inputs = (f"ins(%a0, %o, {extents} : {coordinates}, {index}, "
              f"{', '.join(['index'] * rank)})")
    body, lists, types, parents = "", [], [], "%c1"

    def add_list(length, element):
        nonlocal body
        lists.append(f"%l{len(lists)}")
        types.append(f"tensor<?x{element}>")
        body += f"  {lists[-1]} = tensor.empty({length}) : {types[-1]}\n"

    for number, level in enumerate(encoding.levels):
        body += (f"  %p{number} = arith.constant {number} : index\n"
                 f"  %n{number} = tensor.extract %k[%p{number}] : "
                 f"tensor<{rank}xindex>\n")
        if has_positions(level):
            more = parents if level.format == "loose_compressed" else "%c1"
            body += (f"  %m{number} = arith.addi {parents}, {more} : index\n")
            add_list(f"%m{number}", encoding.position_type)
        if level.format != "dense":
            add_list(f"%n{number}", encoding.coordinate_type)
        parents = f"%n{number}"
    add_list("%n", "index")
    results = ", ".join(f"%s#{number}" for number in range(len(lists)))
    entry = f"store_{name}"
    comparison.entry(
        entry, [coordinates] + ["index"] * rank,
        [index, f"tensor<{rank}xindex>", *types], f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a0, %c0 : {coordinates}
  %e = tensor.empty(%n) : {index}
  %o = sparse_autograd.sort_entries ins(%a0 : {coordinates}) outs(%e : {index}) -> {index}
  %u = tensor.empty() : tensor<{rank}xindex>
  %k = sparse_autograd.count_positions #{name} {inputs} outs(%u : tensor<{rank}xindex>) -> tensor<{rank}xindex>
{body}  %s:{len(lists)} = sparse_autograd.store_positions #{name} {inputs} outs({', '.join(lists)} : {', '.join(types)}) -> {', '.join(types)}
  return %o, %k, {results} : {index}, tensor<{rank}xindex>, {', '.join(types)}""")
    return entry


def sorts():
    comparison = Comparison("sorts")
    rng = np.random.default_rng(1)

    def sort(entries, label):
        order = np.lexsort(entries.T[::-1])

        def check(result):
            assert np.array_equal(result, order)
        comparison.call(f"sort_{entries.shape[1]}", [entries], label, check)

    for levels in (1, 2, 3, 5):
        add_sort(comparison, levels)
        lengths = {1: (0, 1, 2, 64, 255, 256, 257, 300, 320, 321, 383, 384, 385,
                       511, 512, 513, 640, 641, 1024, 1025, 4097)}
        for length in lengths.get(levels, (0, 1, 5, 256, 257, 449, 700)):
            # Few that are different, many, and more than words have bits for.
            for bits in (2, 9, 33, 63):
                if length > 1025 and bits != 9:
                    continue
                entries = rng.integers(0, 1 << bits, (length, levels), np.int64)
                sort(entries, f"{length} {bits}")
        entries = np.sort(rng.integers(0, 900, (400, 1)), axis=0)
        entries = np.repeat(entries, levels, axis=1)
        sort(entries, "sorted")
        sort(entries[::-1].copy(), "reversed")
        # Of sorted ones, two change places, in a chunk and between two.
        for place in (0, 6, 63, 64, 398):
            one_off = entries.copy()
            one_off[[place, place + 1]] = one_off[[place + 1, place]]
            one_off[place, -1] += 1000
            sort(one_off, f"but {place}")
        sort(np.zeros((300, levels), np.int64), "equal")
    for column in range(3):
        entries = np.full((500, 3), 7)
        entries[:, column] = rng.permutation(500)
        sort(entries, f"by column {column}")
    return comparison.programs


def counts():
    comparison = Comparison("counts")
    rng = np.random.default_rng(3)
    index = "tensor<?xindex>"
    comparison.entry("before", [index], [index], f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a0, %c0 : {index}
  %m = arith.addi %n, %c1 : index
  %e = tensor.empty(%m) : {index}
  %b = sparse_autograd.count_before ins(%a0 : {index}) outs(%e : {index}) -> {index}
  return %b : {index}""")
    for length in (0, 1, 2, 62, 63, 64, 65, 1000, 4094, 4095, 4096, 4160):
        numbers = rng.integers(0, 9, length)

        def check(before, numbers=numbers):
            assert np.array_equal(before, np.cumsum([0, *numbers]))
        comparison.call("before", [numbers], str(length), check)
    return comparison.programs


def random_entries(rng, encoding, extents, length):
    """Entries, some of which are there twice."""
    entries = np.stack([rng.integers(0, max(extent, 1), length)
                        for extent in extents], axis=1)
    if length > 1:
        entries[rng.integers(0, length, length // 5)] = entries[0]
    if encoding in ("Unique", "UniqueAgain"):
        entries[:, 1:] = entries[:, :1] % np.maximum(extents[1:], 1)
    return np.ascontiguousarray(entries)


def stores():
    comparison = Comparison("stores")
    rng = np.random.default_rng(2)
    for number, (name, encoding) in enumerate(ENCODINGS.items()):
        for widths in (WIDTHS[0], WIDTHS[1 + number % 4]):
            encoding = encoding.with_widths(*widths)
            entry = add_store(comparison, f"{name}_{widths[0]}_{widths[1]}",
                              encoding)
            rank = len(encoding.levels)
            largest = {1: 250, 2: 15, 3: 6, 4: 4}[rank]
            lengths = [0, 1, 2, 30, 63, 64, 65, 255]
            if widths == WIDTHS[0]:
                lengths += [257, 450]
                if name in ("CSR", "DCSR", "COO3"):
                    lengths.append(4160)
            for length in lengths:
                extents = rng.integers(1, largest + 1, rank)
                if length > 255:
                    extents[:] = 9 if rank > 1 else 400
                entries = random_entries(rng, name, extents, length)
                if widths[0] == "i8":
                    entries = entries[:60]
                comparison.call(entry, [entries, *extents], str(length))
            # Without entries, extents may be 0.
            for empty in range(rank):
                extents = rng.integers(1, largest + 1, rank)
                extents[empty] = 0
                comparison.call(entry, [np.zeros((0, rank), np.int64),
                                        *extents], f"extent {empty} is 0")
    # Empty rows between few entries, and coordinates that need two words.
    far = np.array([[2**39, 5], [3, 2**40 + 1], [2**39, 2**40], [3, 0]] * 70)
    for name in ("COO", "DCSR"):
        comparison.call(f"store_{name}_index_index", [far, 2**40, 2**41], "far")
    few = np.array([[700, 3], [41, 0], [700, 1]])
    comparison.call("store_CSR_index_index", [few, 1000, 4], "few")
    return comparison.programs


def errors():
    comparison = Comparison("errors")
    narrow = {"CSR": ("i8", "i8"), "Loose": ("i16", "i8"),
              "DCSR": ("i32", "i16")}
    for name in ("CSR", "COO", "AllDense", "Loose", "DCSR", "Unique",
                 "UniqueAgain", "SparseVector", "DenseCSR"):
        add_store(comparison, name, ENCODINGS[name].with_widths(
            *narrow.get(name, ("index", "index"))))

    def fail(name, entries, extents, message):
        entries = np.array(entries, np.int64).reshape(-1, len(extents))
        comparison.fail(f"store_{name}", [entries, *extents], message)

    fail("CSR", [(2, 0)], (2, 3), "level 0: the coordinate 2 is outside of the "
         "extent 2")
    fail("CSR", [(0, 1), (1, 3)], (2, 3), "level 1: the coordinate 3 is outside "
         "of the extent 3")
    fail("COO", [(1, 3)], (2, 3), "level 1: the coordinate 3 is outside of the "
         "extent 3")
    fail("AllDense", [(0, 0)], (2, 0), "level 1: the coordinate 0 is outside of "
         "the extent 0")
    row = np.stack([np.arange(300) // 100, np.arange(300) % 100], axis=1)
    comparison.call("store_CSR", [row[:255], 3, 100], "255")
    fail("CSR", row, (3, 100), "level 1: the position 300 does not fit 1 bytes")
    fail("CSR", [(1, 256)], (2, 300), "level 1: the coordinate 256 does not fit "
         "1 bytes")
    comparison.call("store_CSR", [np.array([[1, 255]]), 2, 300], "fits")
    fail("Loose", [(1, 5), (0, 280), (1, 299)], (2, 300),
         "level 1: the coordinate 280 does not fit 1 bytes")
    fail("DCSR", [(65536, 1)], (70000, 3),
         "level 0: the coordinate 65536 does not fit 2 bytes")
    comparison.call("store_DCSR", [np.array([[65535, 1]]), 70000, 3], "fits")
    large = 1 << 40
    fail("DenseCSR", [], (large, large, 1), "level 1 has too many elements: the "
         "product of the extents overflows")
    fail("AllDense", [(large - 1, 0)], (large, large),
         "level 1 has too many elements")
    fail("SparseVector", [], (-1,), "with the extent -1 does not exist")
    fail("Unique", [(1, 0), (0, 1), (1, 2)], (2, 3), "level 0 is unique, but "
         "two entries have the same element there, and level 1 is a singleton")
    fail("UniqueAgain", [(1, 0, 1), (1, 0, 2)], (2, 3, 3), "level 1 is unique, "
         "but two entries have the same element there, and level 2 is a "
         "singleton")
    return comparison.programs


finish([*sorts(), *counts(), *stores(), *errors()])
