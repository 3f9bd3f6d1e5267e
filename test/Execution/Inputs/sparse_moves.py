# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that move the elements of sparse tensors: reshapes, slices,
concatenations, padding. Each moves the hyperbolic tangent of its arguments and
squares what it gets, so that its derivatives depend on where an element is."""

from dataclasses import dataclass

import numpy as np

from sparse_functions import SparseFunction, dims_of

# With elements one by one.
_VECTOR = ("tensor<?xf64, #sparse_tensor.encoding<{ map = (i) -> "
           "(i : compressed) }>>")
_MATRIX = ("tensor<?x?xf64, #sparse_tensor.encoding<{ map = (i, j) -> "
           "(i : compressed, j : compressed) }>>")
_SMALL = _MATRIX.replace("?x?", "2x3")


@dataclass
class Move:
    function: SparseFunction
    # The extents of the letters, one for each call.
    sizes: tuple
    # Whether types have to say them.
    is_static: bool = False


def _sizes(letters, *rows):
    return tuple(dict(zip(letters, row, strict=True)) for row in rows)


MATRIX_SIZES = _sizes("nm", (3, 4), (7, 5), (1, 1), (0, 3), (2, 33), (4, 0),
                      (32, 1), (1, 7))
CUBE_SIZES = _sizes("nmk", (3, 4, 2), (1, 5, 3), (2, 1, 7), (0, 3, 2),
                    (4, 3, 0), (5, 2, 4))


def move(name, arguments, result, lines, apply, sizes):
    """`lines` make %m of %t0, %t1, ..."""
    tangents = "".join(f"  %t{i} = math.tanh %x{i} : <<{t}>>\n"
                       for i, t in enumerate(arguments))

    def mirror(x, p):
        return apply(*(np.tanh(a) for a in x))**2

    def pattern(p, x):
        return apply(*(p[i] for i in range(len(arguments))))
    return Move(SparseFunction(
        name, arguments, [result],
        f"{tangents}{lines}\n  %y = arith.mulf %m, %m : <<{result}>>\n"
        f"  return %y : <<{result}>>", mirror, (pattern,)), sizes)


def collapse(name, source, groups, result, sizes):
    # With the extents of the result, which types must say if they can.
    dims = dims_of(source)
    sizes = tuple({**extents, **{
        letter: int(np.prod([extents[dims[d]] for d in group]))
        for letter, group in zip(dims_of(result), groups)}}
                  for extents in sizes)

    def apply(x):
        return x.reshape([int(np.prod([x.shape[d] for d in group]))
                          for group in groups])
    return move(name, [source], result, f"""
  %m = tensor.collapse_shape %t0 {groups} : <<{source}>> into <<{result}>>""",
                apply, sizes)


def expand(name, source, groups, shape, result, apply, sizes):
    dynamic = "uv#A"  # As what it is expanded to.
    return move(name, [source], result, f"""
  %s = tensor.cast %t0 : <<{source}>> to <<{dynamic}>>
  %m = tensor.expand_shape %s {groups} output_shape [{shape}] : <<{dynamic}>> into <<{result}>>""",
                apply, sizes)


# From the first, or from the one behind it if there is any, to the last.
_BEHIND = """
  %one = arith.constant 1 : index
  %begin = arith.minui %d_n, %one : index
  %count = arith.subi %d_n, %begin : index"""

RESHAPES = [
    collapse("flatten", "nm#A", [[0, 1]], "p#R", MATRIX_SIZES),
    collapse("flatten_cube", "nmk#A", [[0, 1, 2]], "p#R", CUBE_SIZES),
    collapse("join_first", "nmk#A", [[0, 1], [2]], "pk#R", CUBE_SIZES),
    collapse("join_last", "nmk#A", [[0], [1, 2]], "np#R", CUBE_SIZES),
    collapse("join_pairs", "nmkl#A", [[0, 1], [2, 3]], "pq#R",
             _sizes("nmkl", (3, 4, 2, 2), (1, 2, 3, 4), (2, 0, 3, 2), (1, 2, 1, 3))),
    expand("new_dimension", "nm#A", [[0, 1], [2]], "%d_n, 1, %d_m", "p1q#R",
           lambda x: x[:, None, :], MATRIX_SIZES),
    expand("new_dimensions", "nm#A", [[0, 1], [2, 3]], "1, %d_n, %d_m, 1",
           "1pq1#R", lambda x: x[None, :, :, None], MATRIX_SIZES),
    move("reshape", ["nm#A"], "pq#R", f"""
  %s = tensor.cast %t0 : <<nm#A>> to <<uv#A>>
  %v = tensor.collapse_shape %s [[0, 1]] : <<uv#A>> into {_VECTOR}
  %m = tensor.expand_shape %v [[0, 1]] output_shape [%d_m, %d_n] : {_VECTOR} into <<pq#R>>""",
         lambda x: x.reshape(x.shape[::-1]), MATRIX_SIZES),
    move("reshape_cube", ["nmk#A"], "pqr#R", f"""
  %s = tensor.cast %t0 : <<nmk#A>> to <<uvw#A>>
  %v = tensor.collapse_shape %s [[0, 1, 2]] : <<uvw#A>> into {_VECTOR}
  %m = tensor.expand_shape %v [[0, 1, 2]] output_shape [%d_k, %d_n, %d_m] : {_VECTOR} into <<pqr#R>>""",
         lambda x: x.reshape((x.shape[2], *x.shape[:2])), CUBE_SIZES),
    # A constant extent that the types do not know.
    move("expand_by_constant", ["nm#A"], "p2#R", f"""
  %s = tensor.cast %t0 : <<nm#A>> to <<uv#A>>
  %v = tensor.collapse_shape %s [[0, 1]] : <<uv#A>> into {_VECTOR}
  %two = arith.constant 2 : index
  %m = tensor.expand_shape %v [[0, 1]] output_shape [%d_n, %two] : {_VECTOR} into <<p2#R>>""",
         lambda x: x, _sizes("nm", (3, 2), (0, 2), (9, 2))),
]

SLICES = [
    move("behind_first", ["nm#A"], "pq#R", _BEHIND + """
  %m = tensor.extract_slice %t0[%begin, 0] [%count, %d_m] [1, 1] : <<nm#A>> to <<pq#R>>""",
         lambda x: x[1:], MATRIX_SIZES),
    move("column_part", ["nm#A"], "p2#R", """
  %m = tensor.extract_slice %t0[0, 1] [%d_n, 2] [1, 1] : <<nm#A>> to <<p2#R>>""",
         lambda x: x[:, 1:3], _sizes("nm", (3, 4), (7, 3), (0, 9), (33, 5))),
    move("window", ["nm#A"], "23#R", """
  %m = tensor.extract_slice %t0[1, 2] [2, 3] [1, 1] : <<nm#A>> to <<23#R>>""",
         lambda x: x[1:3, 2:5], _sizes("nm", (3, 5), (9, 7), (4, 33))),
    move("every_other", ["nm#A"], "pq#R", """
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %rows = arith.ceildivui %d_n, %two : index
  %columns = arith.ceildivui %d_m, %three : index
  %m = tensor.extract_slice %t0[0, 0] [%rows, %columns] [2, 3] : <<nm#A>> to <<pq#R>>""",
         lambda x: x[::2, ::3], MATRIX_SIZES),
    # What is behind the last is not in the slice.
    move("some_of_every_other", ["nm#A"], "22#R", """
  %m = tensor.extract_slice %t0[1, 0] [2, 2] [2, 3] : <<nm#A>> to <<22#R>>""",
         lambda x: x[1:5:2, 0:6:3], _sizes("nm", (6, 7), (5, 9), (33, 8))),
    move("row", ["nm#A"], "p#R", """
  %i = arith.constant 1 : index
  %m = tensor.extract_slice %t0[%i, 0] [1, %d_m] [1, 1] : <<nm#A>> to <<p#R>>""",
         lambda x: x[1], _sizes("nm", (2, 4), (7, 5), (33, 1), (3, 0))),
    move("column", ["nm#A"], "p#R", """
  %m = tensor.extract_slice %t0[0, 2] [%d_n, 1] [1, 1] : <<nm#A>> to <<p#R>>""",
         lambda x: x[:, 2], _sizes("nm", (2, 4), (7, 5), (0, 3), (1, 33))),
    move("plane", ["nmk#A"], "pq#R", """
  %m = tensor.extract_slice %t0[0, 1, 0] [%d_n, 1, %d_k] [1, 1, 1] : <<nmk#A>> to <<pq#R>>""",
         lambda x: x[:, 1], _sizes("nmk", (3, 4, 2), (1, 2, 5), (0, 3, 3))),
    move("fibre", ["nmk#A"], "p#R", """
  %m = tensor.extract_slice %t0[2, 0, 1] [1, %d_m, 1] [1, 1, 1] : <<nmk#A>> to <<p#R>>""",
         lambda x: x[2, :, 1], _sizes("nmk", (3, 4, 2), (5, 1, 3), (4, 0, 2))),
    move("insert", ["nm#A", "kl#B"], "kl#B", """
  %s = tensor.cast %t0 : <<nm#A>> to <<pq#A>>
  %i = arith.subi %d_k, %d_n : index
  %m = tensor.insert_slice %s into %t1[%i, 1] [%d_n, %d_m] [1, 1] : <<pq#A>> into <<kl#B>>""",
         None, _sizes("nmkl", (2, 3, 4, 5), (1, 1, 1, 2), (3, 0, 3, 2),
                      (0, 2, 3, 4), (5, 3, 7, 4))),
    move("insert_strided", ["nm#A", "kl#B"], "kl#B", """
  %s = tensor.cast %t0 : <<nm#A>> to <<pq#A>>
  %m = tensor.insert_slice %s into %t1[1, 0] [%d_n, %d_m] [2, 3] : <<pq#A>> into <<kl#B>>""",
         None, _sizes("nmkl", (2, 2, 4, 4), (3, 1, 7, 2), (1, 3, 2, 7))),
    move("insert_row", ["m#A", "km#B"], "km#B", """
  %s = tensor.cast %t0 : <<m#A>> to <<p#A>>
  %m = tensor.insert_slice %s into %t1[1, 0] [1, %d_m] [1, 1] : <<p#A>> into <<km#B>>""",
         None, _sizes("mk", (3, 2), (5, 7), (1, 3), (0, 2))),
]


def _insert(rows, columns):
    def apply(source, dest):
        result = np.array(dest, np.result_type(source, dest))
        result[rows(source, dest), columns(source, dest)] = source
        return result
    return apply


def _with(item, apply):
    """The function of `item`, which does what `apply` does."""
    function = item.function
    function.mirror = lambda x, p: apply(*(np.tanh(a) for a in x))**2
    function.patterns = (lambda p, x: apply(p[0], p[1]),)


_by_name = {item.function.name: item for item in SLICES}
_with(_by_name["insert"], _insert(
    lambda s, d: slice(len(d) - len(s), None),
    lambda s, d: slice(1, 1 + s.shape[1])))
_with(_by_name["insert_strided"], _insert(
    lambda s, d: slice(1, 2 * len(s), 2),
    lambda s, d: slice(0, 3 * s.shape[1] - 2, 3)))
_with(_by_name["insert_row"], _insert(lambda s, d: 1, lambda s, d: slice(None)))


def concat(name, arguments, result, axis, sizes, is_static=False):
    names = ", ".join(f"%t{i}" for i in range(len(arguments)))
    types = ", ".join(f"<<{t}>>" for t in arguments)
    # sparse_tensor.concatenate asks for known extents.
    text = (f"  %m = tensor.concat dim({axis}) {names} : ({types}) -> "
            f"<<{result}>>" if not is_static else
            f"  %m = sparse_tensor.concatenate {names} {{dimension = {axis} : "
            f"index}} : {types} to <<{result}>>")
    item = move(name, arguments, result, text,
                lambda *x: np.concatenate(x, axis), sizes)
    item.is_static = is_static
    return item


def _pairs(rows):
    count = len(rows) // 2 * 2
    return np.sum(rows[0:count:2] * rows[1:count:2])


JOINS = [
    concat("stack_rows", ["nm#A", "km#A"], "pm#A", 0,
           _sizes("nmk", (3, 4, 2), (0, 5, 3), (7, 1, 1), (2, 0, 3))),
    concat("stack_columns", ["nm#A", "nk#B"], "np#R", 1,
           _sizes("nmk", (3, 4, 2), (5, 0, 3), (7, 1, 1), (0, 2, 3))),
    concat("stack_twice", ["nm#A", "km#B", "nm#A"], "pm#R", 0,
           _sizes("nmk", (3, 4, 2), (1, 33, 3), (0, 2, 0))),
    concat("stack_cubes", ["nmk#A", "nlk#B"], "npk#R", 1,
           _sizes("nmkl", (3, 4, 2, 1), (2, 0, 5, 3), (1, 1, 0, 2))),
    concat("join_vectors", ["n#A", "m#A"], "p#R", 0,
           _sizes("nm", (3, 4), (0, 33), (5, 0), (0, 0))),
    concat("concatenate", ["nm#A", "km#B", "nm#A"], "pm#R", 0,
           _sizes("nmk", (1, 33, 3), (0, 2, 0), (3, 4, 2)), is_static=True),
    concat("alone", ["nm#A"], "nm#R", 1, MATRIX_SIZES),
    move("pad", ["nm#A"], "pq#R", """
  %zero = arith.constant 0.0 : f64
  %m = tensor.pad %t0 low[1, %d_n] high[%d_m, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f64
  } : <<nm#A>> to <<pq#R>>""",
         lambda x: np.pad(x, ((1, x.shape[1]), (x.shape[0], 2))),
         MATRIX_SIZES),
    # What moves twice, and what meets another in one place.
    move("roll", ["nm#A"], "pq#R", _BEHIND + f"""
  %a = tensor.extract_slice %t0[%begin, 0] [%count, %d_m] [1, 1] : <<nm#A>> to {_MATRIX}
  %b = tensor.extract_slice %t0[0, 0] [%begin, %d_m] [1, 1] : <<nm#A>> to {_MATRIX}
  %m = tensor.concat dim(0) %a, %b : ({_MATRIX}, {_MATRIX}) -> <<pq#R>>""",
         lambda x: np.roll(x, -1, 0), MATRIX_SIZES),
    # Of one pattern, but of two places in it.
    move("overlap", ["nm#A"], "23#R", f"""
  %s = tensor.cast %t0 : <<nm#A>> to <<uv#A>>
  %a = tensor.extract_slice %s[0, 0] [2, 3] [1, 1] : <<uv#A>> to {_SMALL}
  %b = tensor.extract_slice %s[1, 1] [2, 3] [1, 1] : <<uv#A>> to {_SMALL}
  %c = arith.mulf %a, %b : {_SMALL}
  %m = sparse_tensor.convert %c : {_SMALL} to <<23#R>>""",
         lambda x: x[:2, :3] * x[1:3, 1:4], _sizes("nm", (3, 4), (5, 7))),
    # Each iteration reads another slice.
    Move(SparseFunction("pairs_of_rows", ["nm#A", "m"], ["f64"], """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f64
  %t = tensor.cast %x0 : <<nm#A>> to <<uv#A>>
  %pairs = arith.divui %d_n, %c2 : index
  %y = scf.for %i = %c0 to %pairs step %c1 iter_args(%sum = %zero) -> (f64) {
    %row = arith.muli %i, %c2 : index
    %s = tensor.extract_slice %t[%row, 0] [2, %d_m] [1, 1] : <<uv#A>> to <<2q#A>>
    %h = math.tanh %s : <<2q#A>>
    %e = tensor.empty() : tensor<2xf64>
    %z = linalg.fill ins(%zero : f64) outs(%e : tensor<2xf64>) -> tensor<2xf64>
    %v = linalg.matvec ins(%h, %x1 : <<2q#A>>, <<m>>) outs(%z : tensor<2xf64>) -> tensor<2xf64>
    %a = tensor.extract %v[%c0] : tensor<2xf64>
    %b = tensor.extract %v[%c1] : tensor<2xf64>
    %both = arith.mulf %a, %b : f64
    %next = arith.addf %sum, %both : f64
    scf.yield %next : f64
  }
  return %y : f64""", lambda x, p: _pairs(np.tanh(x[0]) @ x[1])),
         _sizes("nm", (3, 4), (6, 5), (0, 3), (4, 0), (2, 33))),
]
