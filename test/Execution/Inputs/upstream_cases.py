# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that MLIR's own sparsification of LLVM 22.1.8 gets wrong, refuses late
or crashes on. Each has the name of what is wrong there."""

from dataclasses import dataclass
from typing import Callable

import numpy as np

from functions import STEP
from sparse_storage import MATRICES, block_encoding

ENCODINGS = {"CSR": MATRICES["CSR"], "CSC": MATRICES["CSC"],
             "COO": MATRICES["COO"], "DCSR": MATRICES["DCSR"],
             "Rows": MATRICES["DenseRows"], "Blocks": block_encoding((2, 2))}
PRELUDE = "\n".join(f"#{name} = {encoding.mlir()}"
                    for name, encoding in ENCODINGS.items()) + """
#AoS = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>
"""
rng = np.random.default_rng(43)
RT, VL = "enable-runtime-library=true", "enable-runtime-library=false vl=8"
CG = "enable-runtime-library=false"


def generic(maps, iterators, inputs, output, body):
    """%y from `inputs`, pairs of a name and a type, and such an output."""
    loops = iterators.lower()
    affine = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(m)})>"
                       for m in maps.replace("->", ",").split(","))
    kinds = ", ".join('"reduction"' if c.isupper() else '"parallel"'
                      for c in iterators)
    arguments = ", ".join([f"%b{i}: {t[7:].split('x')[-1].split(',')[0].rstrip('>')}"
                           for i, (_, t) in enumerate(inputs)] + ["%o: f64"])
    return f"""
  %y = linalg.generic {{indexing_maps = [{affine}], iterator_types = [{kinds}]}} ins({', '.join(n for n, _ in inputs)} : {', '.join(t for _, t in inputs)}) outs({output[0]} : {output[1]}) {{
  ^bb0({arguments}):
{body}
  }} -> {output[1]}"""


def matrix(rows, columns, encoding="", element="f64"):
    return f"tensor<{rows}x{columns}x{element}" + (
        f", #{encoding}>" if encoding else ">")


def stored(name, argument, rows, columns, encoding):
    return (f"  {name} = sparse_tensor.convert {argument} : "
            f"{matrix(rows, columns)} to {matrix(rows, columns, encoding)}\n")


def dense(rows, columns, encoding):
    """The end of a function."""
    return (f"\n  %r = sparse_tensor.convert %y : "
            f"{matrix(rows, columns, encoding)} to {matrix(rows, columns)}\n"
            f"  return %r : {matrix(rows, columns)}")


ZEROS = """  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : {0}
  %z = linalg.fill ins(%zero : f64) outs(%e : {0}) -> {0}
"""


@dataclass
class Case:
    """A function of dense matrices and a mirror in NumPy."""
    name: str
    shapes: tuple  # of the arguments
    result: tuple  # its shape
    body: str
    mirror: Callable
    sparse: tuple = ()  # the arguments that it stores, zeros left out
    # The options of --sparsifier with which the stock one goes wrong.
    stock: str = CG
    smooth: bool = True

    def function(self, name, private=""):
        parameters = ", ".join(f"%a{i}: {matrix(*s)}"
                               for i, s in enumerate(self.shapes))
        return (f"func.func {private}@{name}({parameters}) -> "
                f"{matrix(*self.result)} {{\n{self.body}\n}}\n")

    def draw(self):
        return [np.where(rng.random(s) < 0.5, rng.uniform(-1.5, 1.5, s), 0)
                if i in self.sparse else rng.uniform(-1.5, 1.5, s)
                for i, s in enumerate(self.shapes)]

    def gradients(self, arrays, cotangent):
        result = []
        for number, array in enumerate(arrays):
            gradient = np.zeros(array.shape)
            for at in np.ndindex(array.shape):
                if number in self.sparse and array[at] == 0:
                    continue
                shifted = [a.astype(complex) for a in arrays]
                shifted[number][at] += 1j * STEP
                gradient[at] = np.sum(cotangent * np.imag(
                    self.mirror(*shifted))) / STEP
            result.append(gradient)
        return result


def matmul(left, right, output):
    return (f"  %y = linalg.matmul ins({left[0]}, {right[0]} : {left[1]}, "
            f"{right[1]}) outs({output[0]} : {output[1]}) -> {output[1]}")


def _spgemm(encoding, name, stock):
    return Case(
        name, ((5, 4), (4, 6)), (5, 6),
        stored("%s", "%a0", 5, 4, "CSR") + stored("%t", "%a1", 4, 6, "CSR") +
        f"  %e = tensor.empty() : {matrix(5, 6, encoding)}\n" +
        matmul(("%s", matrix(5, 4, "CSR")), ("%t", matrix(4, 6, "CSR")),
               ("%e", matrix(5, 6, encoding))) + dense(5, 6, encoding),
        lambda a, b: a @ b, (0, 1), stock)


def _elementwise(name, lines, mirror, encoding="", smooth=True, shapes=None,
                 stock=CG):
    """Of a matrix in CSR and perhaps others: to a dense one, or to `encoding`."""
    shapes = shapes or ((5, 4),)
    inputs = [("%s", matrix(5, 4, "CSR"))]
    body = stored("%s", "%a0", 5, 4, "CSR")
    if len(shapes) > 1:
        inputs.append(("%w", matrix(5, 4, "CSR")))
        body += stored("%w", "%a1", 5, 4, "CSR")
    if encoding:
        output = ("%e", matrix(5, 4, encoding))
        body += f"  %e = tensor.empty() : {output[1]}\n"
    else:
        output = ("%z", matrix(5, 4))
        body += ZEROS.format(output[1])
    body += "  %one = arith.constant 1.0 : f64\n"
    body += "  %nothing = arith.constant 0.0 : f64"
    maps = "ij," * len(inputs)
    body += generic(maps[:-1] + "->ij", "ij", inputs, output, lines)
    body += dense(5, 4, encoding) if encoding else (
        f"\n  return %y : {matrix(5, 4)}")
    return Case(name, shapes, (5, 4), body, mirror, tuple(range(len(shapes))),
                stock, smooth)


CASES = [
    # Wrong numbers.
    Case("sddmm_into_coo_loses_coordinates", ((5, 3), (3, 6), (5, 6)), (5, 6),
         stored("%s", "%a2", 5, 6, "COO") +
         f"  %e = tensor.empty() : {matrix(5, 6, 'COO')}" +
         generic("ik,kj,ij->ij", "ijK",
                 [("%a0", matrix(5, 3)), ("%a1", matrix(3, 6)),
                  ("%s", matrix(5, 6, "COO"))], ("%e", matrix(5, 6, "COO")), """
    %p = arith.mulf %b0, %b1 : f64
    %q = arith.mulf %p, %b2 : f64
    %r = arith.addf %o, %q : f64
    linalg.yield %r : f64""") + dense(5, 6, "COO"),
         lambda a, b, s: (a @ b) * s, (2,), RT),
    _spgemm("COO", "spgemm_into_coo_loses_coordinates", RT),
    Case("reduction_of_a_dense_copy_adds_to_garbage", ((5, 4),), (5, 1),
         stored("%s", "%a0", 5, 4, "CSR") +
         f"  %d = sparse_tensor.convert %s : {matrix(5, 4, 'CSR')} to "
         f"{matrix(5, 4)}\n" + ZEROS.format("tensor<5xf64>") +
         generic("ij->i", "iJ", [("%d", matrix(5, 4))],
                 ("%z", "tensor<5xf64>"), """
    %x = math.exp %b0 : f64
    %t = arith.addf %o, %x : f64
    linalg.yield %t : f64""") + f"""
  %r = tensor.expand_shape %y [[0, 1]] output_shape [5, 1] : tensor<5xf64> into {matrix(5, 1)}
  return %r : {matrix(5, 1)}""",
         lambda a: np.exp(a).sum(1, keepdims=True), (0,), RT),
    Case("transposed_product_races", ((6, 5), (6, 3)), (5, 3),
         stored("%s", "%a0", 6, 5, "CSR") + ZEROS.format(matrix(5, 3)) +
         generic("ki,kj->ij", "Kij", [("%s", matrix(6, 5, "CSR")),
                                      ("%a1", matrix(6, 3))],
                 ("%z", matrix(5, 3)), """
    %p = arith.mulf %b0, %b1 : f64
    %r = arith.addf %o, %p : f64
    linalg.yield %r : f64""") + f"\n  return %y : {matrix(5, 3)}",
         lambda a, b: a.T @ b, (0,)),
    # Refused, or a crash.
    Case("slice_of_a_sparse_tensor", ((8, 8),), (4, 4),
         stored("%s", "%a0", 8, 8, "CSR") + f"""
  %y = tensor.extract_slice %s[2, 3] [4, 4] [1, 1] : {matrix(8, 8, "CSR")} to {matrix(4, 4, "CSR")}""" +
         dense(4, 4, "CSR"), lambda a: a[2:6, 3:7], (0,)),
    _elementwise("selected_by_a_sparse_mask", """
    %m = arith.cmpf one, %b0, %nothing : f64
    %r = arith.select %m, %b1, %nothing : f64
    linalg.yield %r : f64""", lambda a, b: np.where(a != 0, b, 0), "CSR",
                 shapes=((5, 4), (5, 4))),
    _elementwise("maximum_of_a_sum", """
    %t = arith.addf %b0, %b1 : f64
    %r = arith.maximumf %t, %nothing : f64
    linalg.yield %r : f64""",
                 lambda a, b: np.where((a + b).real > 0, a + b, 0), "CSR",
                 shapes=((5, 4), (5, 4))),
    _elementwise("exponential", """
    %r = math.exp %b0 : f64
    linalg.yield %r : f64""", np.exp),
    _elementwise("sigmoid", """
    %n = arith.negf %b0 : f64
    %x = math.exp %n : f64
    %t = arith.addf %x, %one : f64
    %r = arith.divf %one, %t : f64
    linalg.yield %r : f64""", lambda a: 1 / (1 + np.exp(-a))),
    # What is absent stays so (semantics G1); what is not is infinite.
    _elementwise("quotient_of_sparse_operands", """
    %r = arith.divf %b0, %b1 : f64
    linalg.yield %r : f64""", lambda a, b: np.where(a != 0, a / b, 0),
                 shapes=((5, 4), (5, 4)), smooth=False),
    _elementwise("quotient_by_a_shifted_operand", """
    %q = arith.mulf %b1, %b1 : f64
    %t = arith.addf %q, %one : f64
    %r = arith.divf %b0, %t : f64
    linalg.yield %r : f64""", lambda a, b: a / (b * b + 1), "CSR",
                 shapes=((5, 4), (5, 4))),
    Case("spgemm_in_a_loop", ((4, 4), (4, 4)), (4, 4),
         stored("%s", "%a0", 4, 4, "CSR") + stored("%t", "%a1", 4, 4, "CSR") +
         f"""  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
{ZEROS.format(matrix(4, 4))}
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %z) -> {matrix(4, 4)} {{
    %f = tensor.empty() : {matrix(4, 4, "CSR")}
    %p = linalg.matmul ins(%s, %t : {matrix(4, 4, "CSR")}, {matrix(4, 4, "CSR")}) outs(%f : {matrix(4, 4, "CSR")}) -> {matrix(4, 4, "CSR")}
    %d = sparse_tensor.convert %p : {matrix(4, 4, "CSR")} to {matrix(4, 4)}
    %next = linalg.add ins(%sum, %d : {matrix(4, 4)}, {matrix(4, 4)}) outs(%e : {matrix(4, 4)}) -> {matrix(4, 4)}
    scf.yield %next : {matrix(4, 4)}
  }}
  return %y : {matrix(4, 4)}""", lambda a, b: 3 * (a @ b), (0, 1)),
    Case("loop_that_carries_a_new_tensor", ((4, 4),), (4, 4),
         stored("%s", "%a0", 4, 4, "CSR") +
         f"""  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %s) -> {matrix(4, 4, "CSR")} {{
    %f = tensor.empty() : {matrix(4, 4, "CSR")}
    %q = linalg.matmul ins(%p, %s : {matrix(4, 4, "CSR")}, {matrix(4, 4, "CSR")}) outs(%f : {matrix(4, 4, "CSR")}) -> {matrix(4, 4, "CSR")}
    scf.yield %q : {matrix(4, 4, "CSR")}
  }}""" + dense(4, 4, "CSR"), lambda a: a @ a @ a @ a, (0,), smooth=False),
    Case("while_that_carries_a_new_tensor", ((4, 4),), (4, 4),
         stored("%s", "%a0", 4, 4, "CSR") +
         f"""  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y, %n = scf.while (%p = %s, %i = %c0) : ({matrix(4, 4, "CSR")}, index) -> ({matrix(4, 4, "CSR")}, index) {{
    %more = arith.cmpi ult, %i, %c3 : index
    scf.condition(%more) %p, %i : {matrix(4, 4, "CSR")}, index
  }} do {{
  ^bb0(%p: {matrix(4, 4, "CSR")}, %i: index):
    %f = tensor.empty() : {matrix(4, 4, "CSR")}
    %q = linalg.matmul ins(%p, %s : {matrix(4, 4, "CSR")}, {matrix(4, 4, "CSR")}) outs(%f : {matrix(4, 4, "CSR")}) -> {matrix(4, 4, "CSR")}
    %j = arith.addi %i, %c1 : index
    scf.yield %q, %j : {matrix(4, 4, "CSR")}, index
  }}""" + dense(4, 4, "CSR"), lambda a: a @ a @ a @ a, (0,), smooth=False),
    Case("rows_from_csr", ((5, 4), (4, 3)), (5, 3),
         stored("%s", "%a0", 5, 4, "CSR") +
         f"  %e = tensor.empty() : {matrix(5, 3, 'Rows')}\n" +
         matmul(("%s", matrix(5, 4, "CSR")), ("%a1", matrix(4, 3)),
                ("%e", matrix(5, 3, "Rows"))) + dense(5, 3, "Rows"),
         lambda a, b: a @ b, (0,)),
    Case("reduction_into_itself", ((5, 4), (5, 4)), (5, 4),
         stored("%s", "%a0", 5, 4, "CSR") + stored("%t", "%a1", 5, 4, "CSR") +
         f"""  %y = sparse_autograd.sampled_generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}} ins(%t : {matrix(5, 4, "CSR")}) outs(%s : {matrix(5, 4, "CSR")}) {{
  ^bb0(%b0: f64, %o: f64):
    %r = arith.addf %o, %b0 : f64
    linalg.yield %r : f64
  }} -> {matrix(5, 4, "CSR")}""" + dense(5, 4, "CSR"),
         lambda a, b: np.where(a != 0, a + b, 0), (0, 1)),
]


@dataclass
class Refusal:
    """A program that is refused at the line that ends with HERE."""
    name: str
    text: str
    message: str
    stock: str = CG


NOT_LOWERED = "is not lowered on sparse tensors"
NO_TENSOR = "which is not lowered; write ops of linalg"
S, D = matrix("?", "?", "CSR"), matrix("?", "?")
REFUSALS = [
    Refusal("interleaved_coordinates_in_vectors", f"""
func.func @f(%a: tensor<?x?xf64, #AoS>) -> tensor<?x?xf64, #AoS> {{ // HERE
  return %a : tensor<?x?xf64, #AoS>
}}""", "whose level 1 interleaves coordinates; write singleton(soa)"),
    Refusal("three_of_eight", """
#structured = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j floordiv 8 : dense, j mod 8 : structured[3, 8]) }>
func.func @f(%a: tensor<4x7xf64, #structured>) -> tensor<4x7xf64, #structured> { // HERE
  return %a : tensor<4x7xf64, #structured>
}""", "level 2 is of a format that is not lowered"),
    Refusal("batches", """
#batch = #sparse_tensor.encoding<{ map = (b, i, j) -> (b : batch, i : dense, j : compressed) }>
func.func @f(%a: tensor<2x4x7xf64, #batch>) -> tensor<2x4x7xf64, #batch> { // HERE
  return %a : tensor<2x4x7xf64, #batch>
}""", "level 0 is of a format that is not lowered"),
    Refusal("ell", """
#ELL = #sparse_tensor.encoding<{ map = [s](i, j) -> (j * 4 : dense, i : dense, j : singleton) }> // HERE
func.func @f(%a: tensor<4x7xf64, #ELL>) -> tensor<4x7xf64, #ELL> {
  return %a : tensor<4x7xf64, #ELL>
}""", "expected compressed or loose_compressed level before singleton level"),
    Refusal("diagonals", """
#DIA = #sparse_tensor.encoding<{ map = (i, j) -> (j - i : compressed, i : range) }> // HERE
func.func @f(%a: tensor<4x7xf64, #DIA>) -> tensor<4x7xf64, #DIA> {
  return %a : tensor<4x7xf64, #DIA>
}""", "unknown level format: range"),
    Refusal("f8", """
func.func @f(%a: tensor<?x?xf8E4M3FN, #CSR>) -> tensor<?x?xf8E4M3FN, #CSR> { // HERE
  return %a : tensor<?x?xf8E4M3FN, #CSR>
}""", "which callers cannot pass"),
    Refusal("insertion_into_what_is_stored", f"""
func.func @f(%a: {S}, %v: f64, %i: index) -> {S} {{
  %y = tensor.insert %v into %a[%i, %i] : {S} // HERE
  return %y : {S}
}}""", NOT_LOWERED),
    Refusal("files_without_checks", f"""
func.func @f(%n: index) -> f64 {{
  %file = llvm.mlir.zero : !llvm.ptr
  %a = sparse_tensor.new %file : !llvm.ptr to {S} // HERE
  %c0 = arith.constant 0 : index
  %d = sparse_tensor.convert %a : {S} to {D}
  %y = tensor.extract %d[%c0, %c0] : {D}
  return %y : f64
}}""", NOT_LOWERED),
    Refusal("element_of_a_sparse_tensor", f"""
func.func @f(%a: {S}, %i: index) -> f64 {{
  %y = tensor.extract %a[%i, %i] : {S} // HERE
  return %y : f64
}}""", NOT_LOWERED),
    Refusal("loop_over_entries", f"""
func.func @f(%a: {S}) -> f64 {{
  %c = arith.constant 0.0 : f64
  %y = sparse_tensor.foreach in %a init(%c) : {S}, f64 -> f64 do {{ // HERE
  ^bb0(%i: index, %j: index, %v: f64, %s: f64):
    %t = arith.addf %s, %v : f64
    sparse_tensor.yield %t : f64
  }}
  return %y : f64
}}""", NOT_LOWERED),
    # MLIR's analysis of ranges takes the loop for one that does not run.
    Refusal("loop_over_an_iteration_space", f"""
func.func @f(%a: {S}) -> index {{
  %c = arith.constant 0 : index
  %s = sparse_tensor.extract_iteration_space %a lvls = 0 : {S} -> !sparse_tensor.iter_space<#CSR, lvls = 0> // HERE
  %r = sparse_tensor.iterate %it in %s at(%i) iter_args(%n = %c) : !sparse_tensor.iter_space<#CSR, lvls = 0 to 1> -> index {{
    %m = arith.addi %n, %i : index
    sparse_tensor.yield %m : index
  }}
  return %r : index
}}""", NO_TENSOR),
    Refusal("loop_over_two_iteration_spaces", f"""
func.func @f(%a: {S}, %b: {S}) -> index {{
  %c = arith.constant 0 : index
  %s = sparse_tensor.extract_iteration_space %a lvls = 0 : {S} -> !sparse_tensor.iter_space<#CSR, lvls = 0> // HERE
  %t = sparse_tensor.extract_iteration_space %b lvls = 0 : {S} -> !sparse_tensor.iter_space<#CSR, lvls = 0>
  %r = sparse_tensor.coiterate (%s, %t) at(%i) iter_args(%n = %c) : (!sparse_tensor.iter_space<#CSR, lvls = 0>, !sparse_tensor.iter_space<#CSR, lvls = 0>) -> index
  case %x, %y {{
    %m = arith.addi %n, %i : index
    sparse_tensor.yield %m : index
  }}
  return %r : index
}}""", NO_TENSOR),
    Refusal("assembly_with_dynamic_extents", f"""
func.func @f(%p: tensor<?xindex>, %c: tensor<?xindex>, %v: tensor<?xf64>) -> {S} {{
  %y = sparse_tensor.assemble (%p, %c), %v : (tensor<?xindex>, tensor<?xindex>), tensor<?xf64> to {S} // HERE
  return %y : {S}
}}""", "must have static shape"),
    Refusal("in_place", f"""
func.func @f(%a: {matrix(4, 4, "CSR")}, %b: {matrix(4, 4, "CSR")}) -> {matrix(4, 4, "CSR")} {{
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}} ins(%b : {matrix(4, 4, "CSR")}) outs(%a : {matrix(4, 4, "CSR")}) {{ // HERE
  ^bb0(%x: f64, %o: f64):
    %r = arith.addf %x, %o : f64
    linalg.yield %r : f64
  }} -> {matrix(4, 4, "CSR")}
  return %y : {matrix(4, 4, "CSR")}
}}""", "adds to a sparse tensor"),
    Refusal("what_is_not_admissible", f"""
func.func @f(%a: {matrix(4, 4)}, %b: {matrix(4, 4)}) -> {matrix(4, 4, "CSR")} {{
  %e = tensor.empty() : {matrix(4, 4, "CSR")}
  %y = linalg.matmul ins(%a, %b : {matrix(4, 4)}, {matrix(4, 4)}) outs(%e : {matrix(4, 4, "CSR")}) -> {matrix(4, 4, "CSR")} // HERE
  return %y : {matrix(4, 4, "CSR")}
}}""", "reduces dense tensors to a sparse one"),
    Refusal("exponential_of_a_sparse_result", f"""
func.func @f(%a: {S}) -> {S} {{
  %y = math.exp %a : {S} // HERE
  return %y : {S}
}}""", "is not zero where its sparse operands store nothing"),
    Refusal("pattern_of_each_iteration_differentiated", f"""
func.func private @g(%a: {matrix(4, 4, "CSR")}) -> {matrix(4, 4, "CSR")} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %a) -> {matrix(4, 4, "CSR")} {{ // HERE
    %e = tensor.empty() : {matrix(4, 4, "CSR")}
    %q = linalg.matmul ins(%p, %a : {matrix(4, 4, "CSR")}, {matrix(4, 4, "CSR")}) outs(%e : {matrix(4, 4, "CSR")}) -> {matrix(4, 4, "CSR")}
    scf.yield %q : {matrix(4, 4, "CSR")}
  }}
  return %y : {matrix(4, 4, "CSR")}
}}
func.func @f(%a: {matrix(4, 4, "CSR")}, %c: {matrix(4, 4, "CSR")}) -> {matrix(4, 4, "CSR")} {{
  %y, %g = sparse_autograd.vjp @g(%a) cotangents(%c) {{wrt = [0]}} : ({matrix(4, 4, "CSR")}), ({matrix(4, 4, "CSR")}) -> ({matrix(4, 4, "CSR")}, {matrix(4, 4, "CSR")})
  return %g : {matrix(4, 4, "CSR")}
}}""", "whose pattern may change from one iteration to the next"),
]
