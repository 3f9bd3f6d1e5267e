# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Derivatives, first and second, of the ops of the tensor dialect."""

import numpy as np

import function_tests
from functions import Function


def _square(name, type_):
    """A square, so that the ops are met by values that vary."""
    return f"  {name} = arith.mulf %x0, %x0 : {type_}\n"


def _insert(b, s, i):
    b = np.array(b, complex)
    b[i] = s
    return b


def _insert_slice(a, b):
    a = np.array(a, complex)
    a[1:3, 0:4:2] = b
    return a


def _scatter(source, dest, at):
    result = np.array(dest, complex)
    for row, target in zip(source, at[:, 0]):
        result[target] = row
    return result


def _generated(x, j):
    return np.array([[x[k, j] * x[k, l] for l in range(3)] for k in range(2)])


def _padded(x, value):
    result = np.full((4, 6), value, complex)
    result[2:, 1:4] = x
    return result


ROWS = np.array([3, 0, 3, 3, 1])
REACHED = np.array([3, 1, 3])

FUNCTIONS = [
    Function("stride_of_one_element", ["<<=1x=3>>", "<<=1>>"], ["<<=1x=3>>", "<<=2>>"], """
  %0 = arith.mulf %x1, %x1 : <<=1>>
  %1 = tensor.insert_slice %0 into %x0 [0, 1] [1, 1] [2, 3] : <<=1>> into <<=1x=3>>
  %2 = tensor.extract_slice %1 [0, 0] [1, 2] [3, 2] : <<=1x=3>> to <<=2>>
  return %1, %2 : <<=1x=3>>, <<=2>>""",
             lambda x, v: (np.stack([[x[0, 0], v[0] * v[0], x[0, 2]]]),
                           np.stack([x[0, 0], x[0, 2]]))),
    Function("empty_parts", ["<<=0x2>>", "<<3x2>>"], ["<<3x2>>", "<<=0x2>>"], """
  %0 = arith.mulf %x1, %x1 : <<3x2>>
  %1 = tensor.concat dim(0) %x0, %0 : (<<=0x2>>, <<3x2>>) -> <<3x2>>
  %2 = tensor.concat dim(0) %x0, %x0 : (<<=0x2>>, <<=0x2>>) -> <<=0x2>>
  return %1, %2 : <<3x2>>, <<=0x2>>""", lambda e, x: (x * x, e)),
    # Two dimensions of one, of which the second is dropped.
    Function("drops_last", ["<<3x4x5>>", "<<1x2>>"], ["<<1x2>>", "<<3x4x5>>"], """
  %s1 = arith.constant 1 : index
  %s2 = arith.constant 2 : index
  %y = tensor.extract_slice %x0[!1, !1, 3] [1, !2, 1] [1, !2, 1] : <<3x4x5>> to <<=1x2>>
  %c = tensor.cast %y : <<=1x2>> to <<1x2>>
  %t = arith.mulf %c, %x1 : <<1x2>>
  %d = tensor.cast %x1 : <<1x2>> to <<=1x2>>
  %z = tensor.insert_slice %d into %x0[2, !2, !2] [1, !2, 1] [1, 1, 1] : <<=1x2>> into <<3x4x5>>
  return %t, %z : <<1x2>>, <<3x4x5>>""",
             lambda x, v: (x[1:2, 1::2, 3] * v,
                           _insert(x, v[0], (2, slice(2, 4), 2)))),
    Function("empty_slices", ["<<2x4x3>>", "<<=1x0>>"], ["<<=1x0>>", "<<2x4x3>>"], """
  %s0 = arith.constant 0 : index
  %s1 = arith.constant 1 : index
  %y = tensor.extract_slice %x0[!1, 1, 2] [1, !0, 1] [1, 3, 1] : <<2x4x3>> to <<=1x0>>
  %t = arith.mulf %y, %x1 : <<=1x0>>
  %u = arith.mulf %x0, %x0 : <<2x4x3>>
  %z = tensor.insert_slice %t into %u[0, 3, !1] [1, !0, 1] [1, 2, 1] : <<=1x0>> into <<2x4x3>>
  return %t, %z : <<=1x0>>, <<2x4x3>>""", lambda x, v: (v, x * x)),
    Function("empty_pad", ["<<=0x3>>", "<<T>>"], ["<<=2x4>>"], """
  %y = tensor.pad %x0 low[2, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %x1 : <<T>>
  } : <<=0x3>> to <<=2x4>>
  return %y : <<=2x4>>""", lambda x, v: v * np.ones((2, 4))),
    # That it has no rows follows from the rows of the result.
    Function("empty_pad_of_type", ["<<0x3>>", "<<T>>"], ["<<=2x4>>"], """
  %y = tensor.pad %x0 low[2, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %x1 : <<T>>
  } : <<0x3>> to <<=2x4>>
  return %y : <<=2x4>>""", lambda x, v: v * np.ones((2, 4))),
    # What begins where a dimension ends has no elements.
    Function("slices_at_end", ["<<=1x=3>>", "<<0x=3>>", "<<T|index>>"],
             ["<<=1x=3>>", "tensor<?x3x!T>"], """
  %n = arith.mulf %x0, %x0 : <<=1x=3>>
  %r = tensor.cast %n : <<=1x=3>> to tensor<?x3x!T>
  %v = tensor.cast %x1 : <<0x=3>> to tensor<?x3x!T>
  %z = tensor.insert_slice %v into %r[1, 0] [%x2, 3] [1, 1] : tensor<?x3x!T> into tensor<?x3x!T>
  %y = tensor.cast %z : tensor<?x3x!T> to <<=1x=3>>
  %e = tensor.extract_slice %r[1, 0] [%x2, 3] [1, 1] : tensor<?x3x!T> to tensor<?x3x!T>
  return %y, %e : <<=1x=3>>, tensor<?x3x!T>""",
             lambda x, v, n: (x**2, v), fixed={2: np.int64(0)}),
    Function("extract", ["<<3x4>>"], ["<<T>>"], _square("%s", "<<3x4>>") + """
  %i = arith.constant 1 : index
  %j = arith.constant 2 : index
  %a = tensor.extract %s[%i, %j] : <<3x4>>
  %b = tensor.extract %x0[%j, %i] : <<3x4>>
  %y = arith.mulf %a, %b : <<T>>
  return %y : <<T>>""", lambda x: x[1, 2]**2 * x[2, 1]),
    Function("extract_at", ["<<5>>", "<<T|index>>"], ["<<T>>"], """
  %a = tensor.extract %x0[%x1] : <<5>>
  %y = arith.mulf %a, %a : <<T>>
  return %y : <<T>>""", lambda x, i: x[i]**2, fixed={1: np.int64(3)}),
    Function("insert", ["<<5>>", "<<T>>"], ["<<5>>"],
             _square("%s", "<<5>>") + """
  %i = arith.constant 2 : index
  %t = arith.mulf %x1, %x1 : <<T>>
  %y = tensor.insert %t into %s[%i] : <<5>>
  return %y : <<5>>""", lambda x, v: _insert(x**2, v**2, 2)),
    Function("extract_slice", ["<<5x6>>"], ["<<2x=3>>"],
             _square("%s", "<<5x6>>") + """
  %y = tensor.extract_slice %s[1, 0] [2, 3] [2, 2] : <<5x6>> to tensor<2x3x!T>
  %z = tensor.cast %y : tensor<2x3x!T> to <<2x=3>>
  return %z : <<2x=3>>""", lambda x: x[1:5:2, 0:6:2]**2),
    Function("extract_slice_dynamic", ["<<5x6>>", "<<T|index>>"],
             ["tensor<?x3x!T>"], _square("%s", "<<5x6>>") + """
  %y = tensor.extract_slice %s[%x1, 2] [%x1, 3] [1, 1] : <<5x6>> to tensor<?x3x!T>
  return %y : tensor<?x3x!T>""", lambda x, n: x[n:2 * n, 2:5]**2,
             fixed={1: np.int64(2)}),
    Function("extract_row", ["<<5x6>>"], ["tensor<6x!T>"],
             _square("%s", "<<5x6>>") + """
  %y = tensor.extract_slice %s[3, 0] [1, 6] [1, 1] : <<5x6>> to tensor<6x!T>
  return %y : tensor<6x!T>""", lambda x: x[3]**2),
    Function("insert_slice", ["<<4x5>>", "<<2x2>>"], ["<<4x5>>"],
             _square("%s", "<<4x5>>") + """
  %t = arith.mulf %x1, %x1 : <<2x2>>
  %u = tensor.cast %t : <<2x2>> to tensor<2x2x!T>
  %y = tensor.insert_slice %u into %s[1, 0] [2, 2] [1, 2] : tensor<2x2x!T> into <<4x5>>
  return %y : <<4x5>>""", lambda x, v: _insert_slice(x**2, v**2)),
    Function("insert_row", ["<<4x=5>>", "<<=5>>"], ["<<4x=5>>"],
             _square("%s", "<<4x=5>>") + """
  %t = arith.mulf %x1, %x1 : <<=5>>
  %y = tensor.insert_slice %t into %s[2, 0] [1, 5] [1, 1] : <<=5>> into <<4x=5>>
  return %y : <<4x=5>>""", lambda x, v: _insert(x**2, v**2, 2)),
    Function("collapse", ["<<2x3x4>>"], ["<<6x4>>"],
             _square("%s", "<<2x3x4>>") + """
  %y = tensor.collapse_shape %s [[0, 1], [2]] : <<2x3x4>> into <<6x4>>
  return %y : <<6x4>>""", lambda x: (x**2).reshape(6, 4)),
    Function("collapse_all", ["<<=1x=1>>"], ["<<>>"],
             _square("%s", "<<=1x=1>>") + """
  %y = tensor.collapse_shape %s [] : <<=1x=1>> into <<>>
  return %y : <<>>""", lambda x: (x**2).reshape(())),
    Function("expand", ["<<6x4>>"], ["<<2x=3x4>>"],
             _square("%s", "<<6x4>>") + """
  %s2 = arith.constant 2 : index
  %s4 = arith.constant 4 : index
  %y = tensor.expand_shape %s [[0, 1], [2]] output_shape [!2, 3, !4] : <<6x4>> into <<2x=3x4>>
  return %y : <<2x=3x4>>""", lambda x: (x**2).reshape(2, 3, 4)),
    Function("expand_views", ["<<6x4>>", "<<2x4x2>>", "<<2x3x2>>"],
             ["<<2x3x2>>", "tensor<2x2x4x!T>"], """
  %s2 = arith.constant 2 : index
  %s3 = arith.constant 3 : index
  %s4 = arith.constant 4 : index
  %e = tensor.expand_shape %x0 [[0, 1], [2]] output_shape [!2, !3, !4] : <<6x4>> into <<2x3x4>>
  %y = linalg.batch_matmul ins(%e, %x1 : <<2x3x4>>, <<2x4x2>>) outs(%x2 : <<2x3x2>>) -> <<2x3x2>>
  %z = tensor.extract_slice %e [0, 0, 0] [2, 2, 4] [1, 2, 1] : <<2x3x4>> to tensor<2x2x4x!T>
  return %y, %z : <<2x3x2>>, tensor<2x2x4x!T>""",
             lambda x, w, c: (x.reshape(2, 3, 4) @ w + c,
                              x.reshape(2, 3, 4)[:, ::2]), integer=True),
    Function("cast", ["<<3x4>>"], ["tensor<?x4x!T>"],
             _square("%s", "<<3x4>>") + """
  %y = tensor.cast %s : <<3x4>> to tensor<?x4x!T>
  return %y : tensor<?x4x!T>""", lambda x: x**2),
    Function("from_elements", ["<<T>>", "<<T>>"], ["tensor<2x2x!T>"], """
  %p = arith.mulf %x0, %x1 : <<T>>
  %c = arith.constant 3.0 : <<T>>
  %y = tensor.from_elements %p, %x0, %c, %p : tensor<2x2x!T>
  return %y : tensor<2x2x!T>""",
             lambda a, b: np.stack([np.stack([a * b, a + 0 * b]),
                                    np.stack([3 + 0 * a, a * b])])),
    Function("splat", ["<<T>>", "<<2x3>>"], ["<<2x3>>"], """
  %p = arith.mulf %x0, %x0 : <<T>>
  %t = tensor.splat %p : tensor<2x3x!T>
  %u = tensor.cast %t : tensor<2x3x!T> to <<2x3>>
  %y = arith.mulf %u, %x1 : <<2x3>>
  return %y : <<2x3>>""", lambda s, x: s * s * x),
    Function("concat", ["<<2x3>>", "<<2x1>>", "<<2x3>>"], ["<<2x7>>"],
             _square("%s", "<<2x3>>") + """
  %t = arith.mulf %x1, %x1 : <<2x1>>
  %y = tensor.concat dim(1) %s, %t, %x0 : (<<2x3>>, <<2x1>>, <<2x3>>) -> <<2x7>>
  return %y : <<2x7>>""",
             lambda x, v, _: np.concatenate([x**2, v**2, x], 1)),
    Function("concat_constant", ["<<2x3>>", "<<4x3>>"], ["<<6x3>>"],
             _square("%s", "<<2x3>>") + """
  %y = tensor.concat dim(0) %x1, %s : (<<4x3>>, <<2x3>>) -> <<6x3>>
  return %y : <<6x3>>""", lambda x, c: np.concatenate([c, x**2], 0),
             wrt=(0,)),
    Function("pad", ["<<2x3>>"], ["<<4x6>>"], _square("%s", "<<2x3>>") + """
  %zero = arith.constant 0.5 : <<T>>
  %y = tensor.pad %s low[2, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : <<T>>
  } : <<2x3>> to <<4x6>>
  return %y : <<4x6>>""",
             lambda x: np.pad(x**2, ((2, 0), (1, 2)), constant_values=0.5)),
    Function("pad_dynamic", ["<<2x3>>", "<<T|index>>"], ["tensor<?x?x!T>"],
             _square("%s", "<<2x3>>") + """
  %zero = arith.constant 0.0 : <<T>>
  %y = tensor.pad %s low[%x1, 1] high[0, %x1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : <<T>>
  } : <<2x3>> to tensor<?x?x!T>
  return %y : tensor<?x?x!T>""",
             lambda x, n: np.pad(x**2, ((n, 0), (1, n))),
             fixed={1: np.int64(2)}),
    Function("selected", ["<<2x3>>", "<<2x3>>", "<<2x3|i1>>"], ["<<2x3>>"], """
  %p = arith.mulf %x0, %x1 : <<2x3>>
  %y = arith.select %x2, %p, %x0 : <<2x3|i1>>, <<2x3>>
  return %y : <<2x3>>""", lambda a, b, m: np.where(m, a * b, a),
             fixed={2: np.array([[True, False, True], [False, True, False]])}),
    Function("chosen", ["<<2x3>>", "<<2x3>>", "<<T|i1>>"], ["<<2x3>>"], """
  %p = arith.mulf %x0, %x1 : <<2x3>>
  %y = arith.select %x2, %p, %x0 : <<2x3>>
  return %y : <<2x3>>""", lambda a, b, m: np.where(m, a * b, a),
             fixed={2: np.bool_(True)}),
    Function("pad_active", ["<<2x3>>", "<<T>>"], ["<<4x6>>"],
             _square("%s", "<<2x3>>") + """
  %v = arith.mulf %x1, %x1 : <<T>>
  %y = tensor.pad %s low[2, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : <<T>>
  } : <<2x3>> to <<4x6>>
  return %y : <<4x6>>""", lambda x, v: _padded(x**2, v**2)),
    Function("pad_active_only", ["<<2x3>>", "<<T>>"], ["<<4x6>>"], """
  %v = arith.mulf %x1, %x1 : <<T>>
  %y = tensor.pad %x0 low[2, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : <<T>>
  } : <<2x3>> to <<4x6>>
  return %y : <<4x6>>""", lambda x, v: _padded(x, v**2), wrt=(1,)),
    Function("pad_nothing", ["<<2x3>>", "<<T>>"], ["<<2x3>>"],
             _square("%s", "<<2x3>>") + """
  %y = tensor.pad %s low[0, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %x1 : <<T>>
  } : <<2x3>> to <<2x3>>
  return %y : <<2x3>>""", lambda x, v: x**2 + 0 * v),
    Function("reshape", ["<<2x6>>", "<<=3|i64>>"], ["tensor<?x?x2x!T>"],
             _square("%s", "<<2x6>>") + """
  %y = tensor.reshape %s(%x1) : (<<2x6>>, <<=3|i64>>) -> tensor<?x?x2x!T>
  return %y : tensor<?x?x2x!T>""", lambda x, s: (x**2).reshape(3, 2, 2),
             fixed={1: np.array([3, 2, 2])}),
    # Elements read at computed positions, some several times, some never.
    Function("gather_rows", ["<<4x3>>", "<<5x=1|i64>>"], ["<<5x3>>"],
             _square("%s", "<<4x3>>") + """
  %y = tensor.gather %s[%x1] gather_dims([0]) : (<<4x3>>, <<5x=1|i64>>) -> <<5x3>>
  return %y : <<5x3>>""", lambda x, i: (x**2)[i[:, 0]],
             fixed={1: ROWS[:, None]}),
    Function("gather_columns", ["<<3x4>>", "<<5x=1|i32>>"], ["<<5x3x=1>>"],
             _square("%s", "<<3x4>>") + """
  %y = tensor.gather %s[%x1] gather_dims([1]) : (<<3x4>>, <<5x=1|i32>>) -> <<5x3x=1>>
  return %y : <<5x3x=1>>""",
             lambda x, i: (x**2)[:, i[:, 0]].T[:, :, None],
             fixed={1: ROWS[:, None].astype(np.int32)}),
    Function("gather_elements", ["<<4x3>>", "<<2x2x=2|i64>>"], ["<<2x2>>"],
             _square("%s", "<<4x3>>") + """
  %y = tensor.gather %s[%x1] gather_dims([0, 1]) : (<<4x3>>, <<2x2x=2|i64>>) -> <<2x2>>
  return %y : <<2x2>>""", lambda x, i: (x**2)[i[..., 0], i[..., 1]],
             fixed={1: np.array([[[3, 2], [0, 1]], [[3, 2], [1, 1]]])}),
    Function("gather_none", ["<<4x3>>", "<<0x=1|i64>>"], ["<<0x3>>"],
             _square("%s", "<<4x3>>") + """
  %y = tensor.gather %s[%x1] gather_dims([0]) : (<<4x3>>, <<0x=1|i64>>) -> <<0x3>>
  return %y : <<0x3>>""", lambda x, i: (x**2)[i[:, 0]],
             fixed={1: np.zeros((0, 1), np.int64)}),
    Function("scatter_rows", ["<<2x3>>", "<<4x3>>", "<<2x=1|i64>>"],
             ["<<4x3>>"], _square("%s", "<<2x3>>") + """
  %d = arith.mulf %x1, %x1 : <<4x3>>
  %y = tensor.scatter %s into %d[%x2] scatter_dims([0]) unique : (<<2x3>>, <<4x3>>, <<2x=1|i64>>) -> <<4x3>>
  return %y : <<4x3>>""", lambda x, d, i: _scatter(x**2, d**2, i),
             fixed={2: np.array([[3], [1]])}),
    Function("generate", ["<<2x3>>", "<<T|index>>"], ["tensor<2x?x!T>"],
             _square("%s", "<<2x3>>") + """
  %three = arith.constant 3 : index
  %y = tensor.generate %three {
  ^bb0(%i: index, %j: index):
    %a = tensor.extract %x0[%i, %x1] : <<2x3>>
    %b = tensor.extract %x0[%i, %j] : <<2x3>>
    %c = arith.mulf %a, %b : <<T>>
    tensor.yield %c : <<T>>
  } : tensor<2x?x!T>
  return %y : tensor<2x?x!T>""",
             lambda x, j: _generated(x, int(j)),
             fixed={1: np.int64(2)}),
    Function("embedding", ["<<4x3>>", "<<5|i64>>", "<<5x3>>"], ["<<5x3>>"],
             _square("%s", "<<4x3>>") + """
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x1 : <<5|i64>>) outs(%x2 : <<5x3>>) {
  ^bb0(%k: i64, %out: <<T>>):
    %row = arith.index_cast %k : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %s[%row, %j] : <<4x3>>
    linalg.yield %v : <<T>>
  } -> <<5x3>>
  return %y : <<5x3>>""", lambda x, i, o: (x**2)[i] + 0 * o,
             fixed={1: ROWS}),
    Function("weighted_embedding", ["<<4x3>>", "<<5|i64>>", "<<5>>", "<<3>>"],
             ["<<3>>"], """
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x1, %x2 : <<5|i64>>, <<5>>) outs(%x3 : <<3>>) {
  ^bb0(%k: i64, %w: <<T>>, %out: <<T>>):
    %row = arith.index_cast %k : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %x0[%row, %j] : <<4x3>>
    %p = arith.mulf %v, %w : <<T>>
    %q = arith.addf %out, %p : <<T>>
    linalg.yield %q : <<T>>
  } -> <<3>>
  return %y : <<3>>""", lambda x, i, w, c: c + (x[i] * w[:, None]).sum(0),
             fixed={1: ROWS}),
    # The position depends on a branch in the region.
    Function("embedding_of_odd_rows", ["<<4x3>>", "<<2x3>>"], ["<<2x3>>"],
             _square("%s", "<<4x3>>") + """
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%x1 : <<2x3>>) {
  ^bb0(%out: <<T>>):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %isFirst = arith.cmpi ult, %i, %c1 : index
    %row = scf.if %isFirst -> (index) {
      %l = arith.addi %i, %c1 : index
      scf.yield %l : index
    } else {
      scf.yield %c3 : index
    }
    %v = tensor.extract %s[%row, %j] : <<4x3>>
    linalg.yield %v : <<T>>
  } -> <<2x3>>
  return %y : <<2x3>>""", lambda x, o: (x**2)[[1, 3]] + 0 * o),
    # Sums of more terms than f16 and bf16 can count are summed in f32 (G11).
    Function("gathered_often", ["<<2>>", "<<3072>>"], ["<<>>"], """
  %c1 = arith.constant 1 : index
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x1 : <<3072>>) {
  ^bb0(%out: <<T>>):
    %v = tensor.extract %x0[%c1] : <<2>>
    linalg.yield %v : <<T>>
  } -> <<3072>>
  %s = sparse_autograd.masked_reduce sum %y dims = [0] : <<3072>> -> <<>>
  return %s : <<>>""", lambda x, o: 3072 * x[1], wrt=(0,), second=False,
             forward=False),
    Function("splat_and_padded", ["<<T>>"], ["<<>>"], """
  %e = tensor.splat %x0 : tensor<1024x!T>
  %y = tensor.pad %e low[1024] high[1024] {
  ^bb0(%i: index):
    tensor.yield %x0 : <<T>>
  } : tensor<1024x!T> to tensor<3072x!T>
  %s = sparse_autograd.masked_reduce sum %y dims = [0] : tensor<3072x!T> -> <<>>
  return %s : <<>>""", lambda x: 3072 * x, second=False, forward=False),
    # What is not gathered counts as masked out (G2): log(0) is not seen.
    Function("gather_of_log", ["<<4>>", "<<3x=1|i64>>"], ["<<3>>"], """
  %s = math.log %x0 : <<4>>
  %y = tensor.gather %s[%x1] gather_dims([0]) : (<<4>>, <<3x=1|i64>>) -> <<3>>
  return %y : <<3>>""",
             lambda x, i: np.log(np.where(x == 0, 1, x))[i[:, 0]],
             fixed={1: REACHED[:, None]}, exact=False, second=False,
             forward=False,
             inputs=lambda rng, shapes: [np.array([0, 2, 0, 0.5]), None]),
    Function("masked_gather", ["<<4>>", "<<3x=1|i64>>", "<<3|i1>>"], ["<<>>"],
             """
  %s = math.log %x0 : <<4>>
  %g = tensor.gather %s[%x1] gather_dims([0]) : (<<4>>, <<3x=1|i64>>) -> <<3>>
  %y = sparse_autograd.masked_reduce sum %g, %x2 dims = [0] : <<3>>, <<3|i1>> -> <<>>
  return %y : <<>>""",
             lambda x, i, m: np.where(
                 m, np.log(np.where(x == 0, 1, x))[i[:, 0]], 0).sum(),
             fixed={1: np.array([[3], [0], [3]]),
                    2: np.array([True, False, True])},
             exact=False, second=False, forward=False,
             inputs=lambda rng, shapes: [np.array([0, 2, 0, 0.5]), None, None]),
]

function_tests.run(FUNCTIONS, seed=5)
