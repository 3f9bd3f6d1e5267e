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


FUNCTIONS = [
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
]

function_tests.run(FUNCTIONS, seed=5)
