# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Sparse tensors that do not fit are an error of the call: extents, and widths of
positions and coordinates. Storage that breaks its own rules is refused by
sparseAutogradCheckStorage, see test/Unit/Runtime/CheckStorageTest.cpp."""

import numpy as np

from execution import Program, finish, same_bits
from sparse_storage import (MATRICES, TENSORS, VECTORS, build_storage,
                            from_pattern, same_pattern)

program = Program("errors", level=0, threads=1)
M, V = "tensor<?x?xf64>", "tensor<?xf64>"
ENCODINGS = {**MATRICES, **VECTORS, **TENSORS}
for _name, _encoding in ENCODINGS.items():
    program.define_encoding(_name, _encoding)
rng = np.random.default_rng(17)


def sparse(name):
    rank = ENCODINGS[name].rank
    return "tensor<" + "?x" * rank + f"f64, #{name}>"


def full(shape, name="CSR"):
    return from_pattern(rng.uniform(1, 2, shape), np.ones(shape, bool),
                        ENCODINGS[name])


def dense(*shape):
    return rng.uniform(1, 2, shape)


def close_to(expected):
    def check(result):
        assert np.allclose(result, expected, rtol=1e-13, atol=0)
        return result.size
    return check


# Extents.

A = full((3, 4))
B = dense(4, 2)
program.entry("spmm", [sparse("CSR"), M, M], [M], f"""
  %y = linalg.matmul ins(%a0, %a1 : {sparse("CSR")}, {M}) outs(%a2 : {M}) -> {M}
  return %y : {M}""")
program.call("spmm", [A, B, np.zeros((3, 2))], close_to(A.dense() @ B))
program.call("spmm", [A, dense(5, 2), np.zeros((3, 2))],
             "linalg.matmul: dimension 0 of operand 1 must have the extent of "
             "dimension 1 of operand 0")
program.call("spmm", [A, dense(3, 2), np.zeros((3, 2))],
             "dimension 0 of operand 1 must have the extent of")
program.call("spmm", [A, B, np.zeros((4, 2))],
             "dimension 0 of operand 2 must have the extent of")
program.call("spmm", [A, B, np.zeros((3, 1))],
             "dimension 1 of operand 2 must have the extent of")
program.call("spmm", [full((0, 4)), B, np.zeros((3, 2))],
             "dimension 0 of operand 2 must have the extent of")

program.entry("add", [sparse("CSR"), sparse("CSR")], [sparse("CSR")], f"""
  %y = arith.addf %a0, %a1 : {sparse("CSR")}
  return %y : {sparse("CSR")}""")
for shape in ((3, 5), (2, 4), (4, 3), (0, 4)):
    program.call("add", [A, full(shape)], "must have the extent of", str(shape))

program.entry("sample", [M, sparse("CSR")], [sparse("CSR")], f"""
  %y = sparse_autograd.sample %a0, %a1 : {M}, {sparse("CSR")} -> {sparse("CSR")}
  return %y : {sparse("CSR")}""")
for shape in ((3, 5), (2, 4), (4, 3)):
    program.call("sample", [dense(*shape), A],
                 "input must have the extent of that of the pattern",
                 str(shape))

program.entry("sddmm", [M, M, sparse("CSR")], [sparse("CSR")], f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a0, %c0 : {M}
  %m = tensor.dim %a1, %c1 : {M}
  %c = arith.constant 0.0 : f64
  %e = tensor.empty(%n, %m) : {M}
  %z = linalg.fill ins(%c : f64) outs(%e : {M}) -> {M}
  %d = linalg.matmul ins(%a0, %a1 : {M}, {M}) outs(%z : {M}) -> {M}
  %y = sparse_autograd.sample %d, %a2 : {M}, {sparse("CSR")} -> {sparse("CSR")}
  return %y : {sparse("CSR")}""")
for left, right in (((3, 2), (3, 4)), ((2, 2), (2, 4)), ((3, 2), (2, 5))):
    program.call("sddmm", [dense(*left), dense(*right), A],
                 "must have the extent of", str((left, right)))

program.entry("select", [M, sparse("CSR")], [V], f"""
  %m = sparse_autograd.pattern %a1 : {sparse("CSR")}
  %y = sparse_autograd.masked_reduce sum %a0, %m dims = [1] : {M}, tensor<?x?xi1, #CSR> -> {V}
  return %y : {V}""")
for shape in ((3, 5), (2, 4)):
    program.call("select", [dense(*shape), A], "must have the extent of",
                 str(shape))

for name in MATRICES:
    program.entry(f"static_{name}", [f"tensor<3x4xf64, #{name}>"], [M], f"""
  %d = sparse_tensor.convert %a0 : tensor<3x4xf64, #{name}> to tensor<3x4xf64>
  %y = tensor.cast %d : tensor<3x4xf64> to {M}
  return %y : {M}""")
    good = full((3, 4), name)
    program.call(f"static_{name}", [good], close_to(good.dense()))
    program.call(f"static_{name}", [full((4, 3), name)],
                 "argument 'arg0': extent 0 must be 3", name)

# Ops that move elements.

V_COO = program.define_encoding("COO1", VECTORS["SparseVector"])
VS, AS = f"tensor<?xf64, #{V_COO}>", sparse("CSR")
program.entry("extract", [AS, "index", "index"], [AS], f"""
  %m = arith.constant 2 : index
  %y = tensor.extract_slice %a0[%a1, 0] [%a2, 2] [1, 1] : {AS} to tensor<?x2xf64, #CSR>
  %z = tensor.cast %y : tensor<?x2xf64, #CSR> to {AS}
  return %z : {AS}""")
program.call("extract", [A, 1, 2],
             lambda result: close_to(A.dense()[1:, :2])(result.dense()))
for offset, size in ((0, 4), (2, 2), (4, 1), (-1, 2)):
    program.call("extract", [A, offset, size], "tensor.extract_slice",
                 str((offset, size)))
program.call("extract", [A, 1, -1], "level 0: its extent is negative")
program.entry("insert", [AS, AS, "index"], [AS], f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a0, %c0 : {AS}
  %m = tensor.dim %a0, %c1 : {AS}
  %y = tensor.insert_slice %a0 into %a1[%a2, 0] [%n, %m] [1, 1] : {AS} into {AS}
  return %y : {AS}""")
for offset in (1, -1):
    program.call("insert", [full((3, 2)), A, offset],
                 "the slice does not lie in dimension 0 of the destination",
                 str(offset))
program.call("insert", [full((1, 5)), A, 0],
             "the slice does not lie in dimension 1 of the destination")
program.entry("expand", [VS, "index", "index"], [AS], f"""
  %y = tensor.expand_shape %a0 [[0, 1]] output_shape [%a1, %a2] : {VS} into {AS}
  return %y : {AS}""")
program.call("expand", [full((6,), "SparseVector"), 2, 3],
             lambda result: result.dense().size)
for shape in ((2, 4), (-2, -3)):
    program.call("expand", [full((6,), "SparseVector"), *shape],
                 "tensor.expand_shape", str(shape))
program.entry("concat", [AS, AS], [AS], f"""
  %y = tensor.concat dim(0) %a0, %a1 : ({AS}, {AS}) -> {AS}
  return %y : {AS}""")
for columns in (3, 5):
    program.call("concat", [A, full((2, columns))],
                 "dimension 1 of", str(columns))
program.entry("collapse", [sparse("COO")], [VS], f"""
  %y = tensor.collapse_shape %a0 [[0, 1]] : {sparse("COO")} into {VS}
  return %y : {VS}""")
for shape, fits in (((2**40, 2**22), True), ((2**40, 2**23), False),
                    ((2**62, 2**62), False), ((2**62, 0), True)):
    large = build_storage([] if 0 in shape else [(1, 0), (shape[0] - 1, 3)],
                          [] if 0 in shape else [1.0, 2.0], shape,
                          MATRICES["COO"])
    program.call("collapse", [large], (
        lambda result, shape=shape: int(result.shape == (
            shape[0] * shape[1],)) or 1 / 0) if fits else
                 "the extents that dimension 0 is collapsed from are too large "
                 "to be multiplied", str(shape))
program.entry("pad", [AS, "index"], [AS], f"""
  %c = arith.constant 0.0 : f64
  %y = tensor.pad %a0 low[%a1, 0] high[0, 0] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f64
  }} : {AS} to {AS}
  return %y : {AS}""")
program.call("pad", [A, -1], "the padding must not be negative")

# Widths: numbers of positions and coordinates that do not fit.

for width, largest in (("i8", 255), ("i16", 65535)):
    for position, coordinate in ((width, "index"), ("index", width)):
        name = program.define_encoding(
            f"CSR_{position}_{coordinate}",
            MATRICES["CSR"].with_widths(position, coordinate))
        type_ = f"tensor<?x?xf64, #{name}>"
        program.entry(f"narrow_{position}_{coordinate}", [sparse("CSR")],
                      [type_], f"""
  %y = sparse_tensor.convert %a0 : {sparse("CSR")} to {type_}
  return %y : {type_}""")
        for extra in (0, 1):
            shape = (1, largest + 2)
            if position == width:
                coordinates = [(0, j) for j in range(largest + extra)]
            else:
                coordinates = [(0, 0), (0, largest + extra)]
            source = build_storage(coordinates,
                                   rng.uniform(1, 2, len(coordinates)), shape,
                                   MATRICES["CSR"])
            if extra:
                program.call(f"narrow_{position}_{coordinate}", [source],
                             "does not fit", f"{width} {extra}")
                continue
            wanted = build_storage(*source.entries(), shape,
                                   program.encodings[name])
            program.call(
                f"narrow_{position}_{coordinate}", [source],
                lambda result, wanted=wanted: same_pattern(result, wanted) +
                same_bits(result.values, wanted.values), f"{width} fits")
# Indices in the region of an op, of the elements that are stored.

T = sparse("CSR")
program.entry("table", [T, "tensor<?x?xindex>", V], ["f64"], f"""
  %zero = arith.constant dense<0.0> : tensor<f64>
  %s = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
      iterator_types = ["reduction", "reduction"]}}
      ins(%a0, %a1 : {T}, tensor<?x?xindex>) outs(%zero : tensor<f64>) {{
  ^bb0(%x: f64, %i: index, %sum: f64):
    %v = tensor.extract %a2[%i] : {V}
    %p = arith.mulf %x, %v : f64
    %n = arith.addf %sum, %p : f64
    linalg.yield %n : f64
  }} -> tensor<f64>
  %r = tensor.extract %s[] : tensor<f64>
  return %r : f64""")
DIAGONAL = from_pattern(np.full((3, 3), 2.0), np.eye(3, dtype=bool),
                        ENCODINGS["CSR"])
TABLE = np.array([1.0, 10.0, 100.0])
OUT_OF_RANGE = "tensor.extract: out-of-bounds access"
for places, problem in (([0, 1, 2], None), ([2, 2, 2], None),
                        ([0, 3, 2], OUT_OF_RANGE), ([0, 1, -1], OUT_OF_RANGE)):
    indices = np.full((3, 3), 10**9)  # where nothing is stored
    np.fill_diagonal(indices, places)
    program.call("table", [DIAGONAL, indices, TABLE],
                 problem or close_to(2 * TABLE[places].sum()), str(places))

# A sample of a gather checks all rows, also those of which it stores nothing.

program.entry("sampled_gather", [M, "tensor<?xi32>", AS], [AS], f"""
  %r = sparse_autograd.gather %a0, %a1 : {M}, tensor<?xi32> -> {M}
  %y = sparse_autograd.sample %r, %a2 : {M}, {AS} -> {AS}
  return %y : {AS}""")
TABLE = dense(5, 4)
MASK = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]], bool)
FEW = from_pattern(np.ones((3, 4)), MASK, MATRICES["CSR"])
program.call("sampled_gather", [TABLE, np.array([4, 0, 4], np.int32), FEW],
             lambda result: close_to(
                 np.where(MASK, TABLE[[4, 0, 4]], 0))(result.dense()))
for rows in ((5, 0, 4), (0, 0, -1), (4, 9, 0)):
    program.call("sampled_gather", [TABLE, np.array(rows, np.int32), FEW],
                 "tensor.extract: out-of-bounds access", str(rows))

# A type that says how much is stored.

program.entry("stored", [AS], ["tensor<3xf64>"], f"""
  %y = sparse_autograd.stored_values %a0 : {AS} -> tensor<3xf64>
  return %y : tensor<3xf64>""")
program.call("stored", [FEW], close_to(np.ones(3)))
program.call("stored", [A], "tensor.cast: size mismatch of dim 0")

finish([program])
