# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Masks reach the producers of what they select (semantics G2): log, sqrt and
1 / x of zeros that are masked out later, behind loops, branches, calls and ops
that move elements. The zeros have gradient zero, in every order."""

import numpy as np

import function_tests
from functions import Function

LOOP = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
"""
ZERO = "  %zero = arith.constant 0.0 : <<T>>\n"

# Of 4 and of 3x4 elements: zeros stand where these are false.
MASK = np.array([True, False, True, False])
MASKS = np.array([[True, False, True, True], [False, False, True, False],
                  [True, True, False, True]])
ROWS = np.array([True, False, True])
SOME_OF_ROWS = np.array([[True, False], [False, False], [True, True]])


LOGARITHM = """
func.func private @{name}_log(%x: <<4>>) -> <<4>> {
  %l = math.log %x : <<4>>
  return %l : <<4>>
}"""


def sum_of(value, type_, mask="%x1", mask_type=None, dims="[0]"):
    """The masked sum of a value, and the return of it."""
    mask_type = mask_type or type_.replace(">>", "|i1>>")
    return (f"  %sum = sparse_autograd.masked_reduce sum {value}, {mask} "
            f"dims = {dims} : {type_}, {mask_type} -> tensor<!T>\n"
            "  return %sum : tensor<!T>")


def sum_of_all(value, type_):
    """The sum of a value without a mask, and the return of it."""
    return (f"  %sum = sparse_autograd.masked_reduce sum {value} dims = [0] : "
            f"{type_} -> tensor<!T>\n  return %sum : tensor<!T>")


def masked(value, mask):
    """The sum of what the mask selects."""
    return np.where(mask, value, 0).sum()


def zeros_behind(*masks):
    """Inputs with zeros where the masks are false; None takes any number."""
    def inputs(rng, shapes):
        arrays = [None if shape is None else rng.uniform(0.5, 2, size=shape)
                  for shape in shapes]
        for index, mask in enumerate(masks):
            if mask is not None:
                arrays[index] = np.where(mask, arrays[index], 0)
            elif arrays[index] is None:
                arrays[index] = rng.uniform(0.5, 2)
        return arrays
    return inputs


def reach(name, body, mirror, mask=MASK, helpers="", **more):
    """A function of %x0, which has zeros behind the mask %x1."""
    shape = "x".join(map(str, mask.shape))
    return Function(name, [f"<<{shape}>>", f"<<{shape}|i1>>"], ["tensor<!T>"],
                    body, mirror, helpers=helpers, fixed={1: mask},
                    **{"inputs": zeros_behind(mask), "exact": False, **more})


FUNCTIONS = [
    reach("plain", "  %y = math.log %x0 : <<4>>\n" + sum_of("%y", "<<4>>"),
          lambda x, m: masked(np.log(x), m)),
    # Loops.
    reach("carried", LOOP + """
  %l = math.log %x0 : <<4>>
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %l) -> (<<4>>) {
    %s = arith.mulf %v, %v : <<4>>
    scf.yield %s : <<4>>
  }
""" + sum_of("%y", "<<4>>"), lambda x, m: masked(np.log(x)**8, m)),
    reach("in_the_body", LOOP + """
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %x0) -> (<<4>>) {
    %r = math.sqrt %v : <<4>>
    scf.yield %r : <<4>>
  }
""" + sum_of("%y", "<<4>>"), lambda x, m: masked(x**0.25, m)),
    reach("captured", LOOP + """
  %l = math.log %x0 : <<4>>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %x0) -> (<<4>>) {
    %s = arith.mulf %v, %l : <<4>>
    scf.yield %s : <<4>>
  }
""" + sum_of("%y", "<<4>>"), lambda x, m: masked(x * np.log(x)**2, m)),
    # What a loop carries swaps places: one of the two is masked behind it.
    reach("carried_in_turn", LOOP + ZERO + """
  %l = math.log %x0 : <<4>>
  %z = linalg.fill ins(%zero : <<T>>) outs(%x0 : <<4>>) -> <<4>>
  %y:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %l, %b = %z) -> (<<4>>, <<4>>) {
    %s = arith.addf %a, %b : <<4>>
    scf.yield %b, %s : <<4>>, <<4>>
  }
""" + sum_of("%y#1", "<<4>>"), lambda x, m: masked(2 * np.log(x), m)),
    # The other value is not masked, and reads all of the first.
    Function("carried_and_not_masked", ["<<4>>", "<<4|i1>>"],
             ["tensor<!T>", "<<4>>"], LOOP + """
  %y:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x0, %b = %x0) -> (<<4>>, <<4>>) {
    %s = arith.addf %b, %a : <<4>>
    %r = arith.mulf %a, %a : <<4>>
    scf.yield %r, %s : <<4>>, <<4>>
  }
  %sum = sparse_autograd.masked_reduce sum %y#0, %x1 dims = [0] : <<4>>, <<4|i1>> -> tensor<!T>
  return %sum, %y#1 : tensor<!T>, <<4>>""",
             lambda x, m: (masked(x**4, m), 2 * x + x**2), fixed={1: MASK}),
    reach("summed_in_a_loop", LOOP + ZERO + """
  %l = math.log %x0 : <<4>>
  %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %zero) -> (<<T>>) {
    %v = tensor.extract %l[%i] : <<4>>
    %m = tensor.extract %x1[%i] : <<4|i1>>
    %w = arith.select %m, %v, %zero : <<T>>
    %s = arith.addf %sum, %w : <<T>>
    scf.yield %s : <<T>>
  }
  %sum = tensor.from_elements %y : tensor<!T>
  return %sum : tensor<!T>""", lambda x, m: masked(np.log(x), m)),
    reach("summed_by_a_branch", LOOP + ZERO + """
  %l = math.log %x0 : <<4>>
  %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %zero) -> (<<T>>) {
    %m = tensor.extract %x1[%i] : <<4|i1>>
    %s = scf.if %m -> (<<T>>) {
      %v = tensor.extract %l[%i] : <<4>>
      %t = arith.addf %sum, %v : <<T>>
      scf.yield %t : <<T>>
    } else {
      scf.yield %sum : <<T>>
    }
    scf.yield %s : <<T>>
  }
  %sum = tensor.from_elements %y : tensor<!T>
  return %sum : tensor<!T>""", lambda x, m: masked(np.log(x), m)),
    reach("rows_in_a_loop", LOOP + """
  %l = math.log %x0 : <<3x4>>
  %zero = arith.constant dense<0.0> : tensor<!T>
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %zero) -> (tensor<!T>) {
    %row = tensor.extract_slice %l[%i, 0] [1, 4] [1, 1] : <<3x4>> to tensor<4x!T>
    %m = tensor.extract_slice %x1[%i, 0] [1, 4] [1, 1] : <<3x4|i1>> to tensor<4xi1>
    %s = sparse_autograd.masked_reduce sum %row, %m dims = [0] : tensor<4x!T>, tensor<4xi1> -> tensor<!T>
    %t = arith.addf %sum, %s : tensor<!T>
    scf.yield %t : tensor<!T>
  }
  return %y : tensor<!T>""", lambda x, m: masked(np.log(x), m), mask=MASKS),
    reach("rows_written_in_a_loop", LOOP + """
  %r = math.sqrt %x0 : <<3x4>>
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %x0) -> (<<3x4>>) {
    %row = tensor.extract_slice %r[%i, 0] [1, 4] [1, 1] : <<3x4>> to tensor<4x!T>
    %l = math.log %row : tensor<4x!T>
    %u = tensor.insert_slice %l into %t[%i, 0] [1, 4] [1, 1] : tensor<4x!T> into <<3x4>>
    scf.yield %u : <<3x4>>
  }
""" + sum_of("%y", "<<3x4>>", dims="[0, 1]"),
          lambda x, m: masked(np.log(x) / 2, m), mask=MASKS),
    reach("loop_in_a_loop", LOOP + """
  %l = math.log %x0 : <<4>>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %x0) -> (<<4>>) {
    %z = scf.for %j = %c0 to %i step %c1 iter_args(%u = %v) -> (<<4>>) {
      %r = math.sqrt %u : <<4>>
      %s = arith.mulf %r, %l : <<4>>
      scf.yield %s : <<4>>
    }
    scf.yield %z : <<4>>
  }
""" + sum_of("%y", "<<4>>"), lambda x, m: masked(np.sqrt(x) * np.log(x), m)),
    # Branches.
    reach("in_a_branch", LOOP + """
  %c = arith.cmpi ult, %c1, %c2 : index
  %y = scf.if %c -> (<<4>>) {
    %l = math.log %x0 : <<4>>
    scf.yield %l : <<4>>
  } else {
    scf.yield %x0 : <<4>>
  }
""" + sum_of("%y", "<<4>>"), lambda x, m: masked(np.log(x), m)),
    reach("before_a_branch", """
  %l = math.log %x0 : <<4>>
  %i = arith.constant 1 : index
  %c = tensor.extract %x1[%i] : <<4|i1>>
  %y = scf.if %c -> (<<4>>) {
    scf.yield %x0 : <<4>>
  } else {
    %s = arith.mulf %l, %l : <<4>>
    scf.yield %s : <<4>>
  }
""" + sum_of("%y", "<<4>>"), lambda x, m: masked(np.log(x)**2, m)),
    reach("reduced_in_a_branch", """
  %l = math.log %x0 : <<4>>
  %i = arith.constant 0 : index
  %c = tensor.extract %x1[%i] : <<4|i1>>
  %y = scf.if %c -> (tensor<!T>) {
    %s = sparse_autograd.masked_reduce sum %l, %x1 dims = [0] : <<4>>, <<4|i1>> -> tensor<!T>
    scf.yield %s : tensor<!T>
  } else {
    %s = sparse_autograd.masked_reduce max %l dims = [0] : <<4>> -> tensor<!T>
    scf.yield %s : tensor<!T>
  }
  return %y : tensor<!T>""", lambda x, m: masked(np.log(x), m)),
    # A branch that is not taken selects nothing.
    Function("branch_not_taken", ["<<4>>", "<<4>>", "<<T|i1>>"], ["<<4>>"], """
  %l = math.log %x0 : <<4>>
  %y = scf.if %x2 -> (<<4>>) {
    scf.yield %l : <<4>>
  } else {
    scf.yield %x1 : <<4>>
  }
  return %y : <<4>>""", lambda x, w, c: np.where(c, np.log(x), w),
             fixed={2: np.bool_(False)}, inputs=zeros_behind(MASK),
             exact=False),
    # Calls.
    reach("in_a_call", """
  %y = func.call @{name}_log(%x0) : (<<4>>) -> <<4>>
""" + sum_of("%y", "<<4>>"), lambda x, m: masked(np.log(x), m), helpers="""
func.func private @{name}_log(%x: <<4>>) -> <<4>> {
  %y = math.log %x : <<4>>
  return %y : <<4>>
}"""),
    # Ops that take elements out and put them in.
    reach("extracted", LOOP + ZERO + """
  %l = math.log %x0 : <<4>>
  %v = tensor.extract %l[%c1] : <<4>>
  %m = tensor.extract %x1[%c1] : <<4|i1>>
  %w = arith.select %m, %v, %zero : <<T>>
  %u = tensor.extract %l[%c2] : <<4>>
  %y = arith.addf %u, %w : <<T>>
  %sum = tensor.from_elements %y : tensor<!T>
  return %sum : tensor<!T>""", lambda x, m: np.log(x[2])),
    reach("inserted", LOOP + """
  %v = tensor.extract %x0[%c1] : <<4>>
  %w = math.log %v : <<T>>
  %s = math.sqrt %x0 : <<4>>
  %y = tensor.insert %w into %s[%c3] : <<4>>
""" + sum_of("%y", "<<4>>"), lambda x, m: masked(np.sqrt(x), m)),
    reach("from_elements", LOOP + """
  %a = tensor.extract %x0[%c0] : <<4>>
  %b = tensor.extract %x0[%c1] : <<4>>
  %c = math.log %a : <<T>>
  %d = math.log %b : <<T>>
  %e = tensor.from_elements %c, %d, %a, %d : tensor<4x!T>
  %y = tensor.cast %e : tensor<4x!T> to <<4>>
""" + sum_of("%y", "<<4>>"), lambda x, m: np.log(x[0]) + x[0]),
    reach("splat", LOOP + """
  %a = tensor.extract %x0[%c1] : <<4>>
  %l = math.log %a : <<T>>
  %e = tensor.splat %l : tensor<4x!T>
  %f = tensor.cast %e : tensor<4x!T> to <<4>>
  %none = arith.constant dense<false> : tensor<4xi1>
""" + sum_of("%f", "<<4>>", "%none", "tensor<4xi1>"),
          lambda x, m: 0 * x[0]),
    reach("extract_slice", """
  %l = math.log %x0 : <<3x4>>
  %e = tensor.extract_slice %l[0, 1] [2, 2] [2, 1] : <<3x4>> to tensor<2x2x!T>
  %m = tensor.extract_slice %x1[0, 1] [2, 2] [2, 1] : <<3x4|i1>> to tensor<2x2xi1>
""" + sum_of("%e", "tensor<2x2x!T>", "%m", "tensor<2x2xi1>", "[0, 1]"),
          lambda x, m: masked(np.log(x)[::2, 1:3], m[::2, 1:3]), mask=MASKS),
    reach("insert_slice", """
  %e = tensor.extract_slice %x0[0, 0] [2, 4] [1, 1] : <<3x4>> to tensor<2x4x!T>
  %l = math.log %e : tensor<2x4x!T>
  %s = math.sqrt %x0 : <<3x4>>
  %y = tensor.insert_slice %l into %s[0, 0] [2, 4] [1, 1] : tensor<2x4x!T> into <<3x4>>
""" + sum_of("%y", "<<3x4>>", dims="[0, 1]"),
          lambda x, m: masked(np.concatenate([np.log(x[:2]), np.sqrt(x[2:])]),
                              m), mask=MASKS),
    # What is written over is not reached.
    reach("inserted_over", LOOP + """
  %l = math.log %x0 : <<4>>
  %v = tensor.extract %x0[%c0] : <<4>>
  %w = tensor.insert %v into %l[%c1] : <<4>>
  %y = tensor.insert %v into %w[%c3] : <<4>>
""" + sum_of_all("%y", "<<4>>"),
          lambda x, m: masked(np.log(x), m) + 2 * x[0]),
    reach("insert_slice_over", """
  %l = math.log %x0 : <<4>>
  %e = tensor.extract_slice %x0[0] [2] [2] : <<4>> to tensor<2x!T>
  %y = tensor.insert_slice %e into %l[1] [2] [2] : tensor<2x!T> into <<4>>
""" + sum_of_all("%y", "<<4>>"),
          lambda x, m: masked(np.log(x), m) + x[0] + x[2]),
    Function("scatter_over", ["<<4x2>>", "<<2x2>>", "<<2x=1|i64>>"],
             ["<<4x2>>"], """
  %l = math.log %x0 : <<4x2>>
  %y = tensor.scatter %x1 into %l[%x2] scatter_dims([0]) unique : (<<2x2>>, <<4x2>>, <<2x=1|i64>>) -> <<4x2>>
  return %y : <<4x2>>""",
             lambda x, s, i: np.stack([np.log(x[0]), s[1], np.log(x[2]), s[0]]),
             fixed={2: np.array([[3], [1]])}, exact=False,
             inputs=zeros_behind(np.stack([MASK, MASK], 1), None, None)),
    reach("collapse_shape", """
  %l = math.log %x0 : <<3x4>>
  %y = tensor.collapse_shape %l [[0, 1]] : <<3x4>> into <<12>>
  %m = tensor.collapse_shape %x1 [[0, 1]] : <<3x4|i1>> into <<12|i1>>
""" + sum_of("%y", "<<12>>", "%m"), lambda x, m: masked(np.log(x), m),
          mask=MASKS),
    reach("expand_shape", """
  %s2 = arith.constant 2 : index
  %l = math.log %x0 : <<4>>
  %y = tensor.expand_shape %l [[0, 1]] output_shape [2, !2] : <<4>> into <<=2x2>>
  %m = tensor.expand_shape %x1 [[0, 1]] output_shape [2, !2] : <<4|i1>> into <<=2x2|i1>>
""" + sum_of("%y", "<<=2x2>>", "%m", dims="[0, 1]"),
          lambda x, m: masked(np.log(x), m)),
    reach("cast", """
  %l = math.log %x0 : <<4>>
  %y = tensor.cast %l : <<4>> to tensor<?x!T>
""" + sum_of("%y", "tensor<?x!T>", mask_type="<<4|i1>>"),
          lambda x, m: masked(np.log(x), m)),
    # The mask behind the loop knows its extent, the one in the body does not.
    reach("cast_and_carried", LOOP + ZERO + """
  %l = math.log %x0 : <<4>>
  %c = tensor.cast %l : <<4>> to tensor<?x!T>
  %m = tensor.cast %x1 : <<4|i1>> to tensor<?xi1>
  %z = linalg.fill ins(%zero : <<T>>) outs(%c : tensor<?x!T>) -> tensor<?x!T>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %c) -> (tensor<?x!T>) {
    %s = arith.mulf %v, %v : tensor<?x!T>
    %t = arith.select %m, %s, %z : tensor<?xi1>, tensor<?x!T>
    scf.yield %t : tensor<?x!T>
  }
""" + sum_of("%y", "tensor<?x!T>", mask_type="<<4|i1>>"),
          lambda x, m: masked(np.log(x)**4, m)),
    reach("pad", ZERO + """
  %l = math.log %x0 : <<4>>
  %y = tensor.pad %l low[2] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : <<T>>
  } : <<4>> to <<7>>
  %false = arith.constant false
  %m = tensor.pad %x1 low[2] high[1] {
  ^bb0(%i: index):
    tensor.yield %false : i1
  } : <<4|i1>> to <<7|i1>>
""" + sum_of("%y", "<<7>>", "%m"), lambda x, m: masked(np.log(x), m)),
    reach("concat", """
  %l = math.log %x0 : <<4>>
  %s = math.sqrt %x0 : <<4>>
  %y = tensor.concat dim(0) %l, %s : (<<4>>, <<4>>) -> <<8>>
  %m = tensor.concat dim(0) %x1, %x1 : (<<4|i1>>, <<4|i1>>) -> <<8|i1>>
""" + sum_of("%y", "<<8>>", "%m"),
          lambda x, m: masked(np.log(x) + np.sqrt(x), m)),
    # linalg.
    reach("transpose", """
  %l = math.log %x0 : <<3x4>>
  %t = tensor.cast %l : <<3x4>> to tensor<3x4x!T>
  %e = tensor.empty() : tensor<4x3x!T>
  %y = linalg.transpose ins(%t : tensor<3x4x!T>) outs(%e : tensor<4x3x!T>) permutation = [1, 0]
  %n = tensor.cast %x1 : <<3x4|i1>> to tensor<3x4xi1>
  %f = tensor.empty() : tensor<4x3xi1>
  %m = linalg.transpose ins(%n : tensor<3x4xi1>) outs(%f : tensor<4x3xi1>) permutation = [1, 0]
""" + sum_of("%y", "tensor<4x3x!T>", "%m", "tensor<4x3xi1>", "[0, 1]"),
          lambda x, m: masked(np.log(x), m), mask=MASKS),
    reach("broadcast", """
  %l = math.log %x0 : <<4>>
  %t = tensor.cast %l : <<4>> to tensor<4x!T>
  %e = tensor.empty() : tensor<4x3x!T>
  %y = linalg.broadcast ins(%t : tensor<4x!T>) outs(%e : tensor<4x3x!T>) dimensions = [1]
  %sum = sparse_autograd.masked_reduce sum %y, %x1 dims = [0, 1] mask_dims = [0] : tensor<4x3x!T>, <<4|i1>> -> tensor<!T>
  return %sum : tensor<!T>""", lambda x, m: 3 * masked(np.log(x), m)),
    Function("contraction", ["<<3x4>>", "<<4x=2>>", "<<3|i1>>"],
             ["tensor<!T>"], """
  %l = math.log %x0 : <<3x4>>
  %t = tensor.cast %l : <<3x4>> to tensor<3x?x!T>
  %e = arith.constant dense<0.0> : tensor<3x2x!T>
  %p = linalg.matmul ins(%t, %x1 : tensor<3x?x!T>, <<4x=2>>) outs(%e : tensor<3x2x!T>) -> tensor<3x2x!T>
  %sum = sparse_autograd.masked_reduce sum %p, %x2 dims = [0, 1] mask_dims = [0] : tensor<3x2x!T>, <<3|i1>> -> tensor<!T>
  return %sum : tensor<!T>""",
             lambda x, w, r: masked((np.where(r[:, None], np.log(x), 0)
                                     @ w).sum(1), r), fixed={2: ROWS},
             inputs=zeros_behind(np.stack([ROWS] * 4, 1)), exact=False),
    # A row of the factor meets masked-out elements alone.
    Function("contraction_elements", ["<<3x4>>", "<<4x2>>", "<<3x2|i1>>"],
             ["tensor<!T>"], """
  %l = math.log %x0 : <<3x4>>
  %e = arith.constant dense<0.0> : tensor<3x2x!T>
  %i = tensor.cast %e : tensor<3x2x!T> to <<3x2>>
  %p = linalg.matmul ins(%l, %x1 : <<3x4>>, <<4x2>>) outs(%i : <<3x2>>) -> <<3x2>>
  %sum = sparse_autograd.masked_reduce sum %p, %x2 dims = [0, 1] : <<3x2>>, <<3x2|i1>> -> tensor<!T>
  return %sum : tensor<!T>""",
             lambda x, w, m: masked(
                 np.where(m.any(1)[:, None], np.log(x), 0) @ w, m),
             fixed={2: SOME_OF_ROWS},
             inputs=zeros_behind(np.stack([ROWS] * 4, 1)), exact=False),
    # Regions: a condition from outside, a diagonal, a mask over other dimensions.
    Function("condition_of_a_region", ["<<4>>", "<<T|i1>>"], ["tensor<!T>"],
             ZERO + """
  %l = math.log %x0 : <<4>>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%l : <<4>>) outs(%x0 : <<4>>) {
  ^bb0(%v: !T, %o: !T):
    %s = arith.select %x1, %v, %zero : <<T>>
    linalg.yield %s : !T
  } -> <<4>>
""" + sum_of_all("%y", "<<4>>"), lambda x, c: 0 * x.sum(),
             fixed={1: np.bool_(False)}, inputs=zeros_behind(MASK),
             exact=False),
    Function("diagonal_of_a_mask", ["<<4>>", "<<4x4|i1>>"], ["tensor<!T>"],
             ZERO + """
  %l = math.log %x0 : <<4>>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%l, %x1 : <<4>>, <<4x4|i1>>) outs(%x0 : <<4>>) {
  ^bb0(%v: !T, %c: i1, %o: !T):
    %s = arith.select %c, %v, %zero : <<T>>
    linalg.yield %s : !T
  } -> <<4>>
""" + sum_of_all("%y", "<<4>>"), lambda x, m: masked(np.log(x), np.diag(m)),
             fixed={1: np.diag(MASK)}, inputs=zeros_behind(MASK), exact=False),
    Function("masked_as_a_whole", ["<<4>>", "<<3|i1>>"], ["tensor<!T>"], """
  %l = math.log %x0 : <<4>>
  %z = arith.constant dense<0.0> : tensor<3x!T>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%l : <<4>>) outs(%z : tensor<3x!T>) {
  ^bb0(%v: !T, %o: !T):
    %s = arith.addf %o, %v : <<T>>
    linalg.yield %s : !T
  } -> tensor<3x!T>
""" + sum_of("%y", "tensor<3x!T>", mask_type="<<3|i1>>"),
             lambda x, m: 0 * x.sum(), fixed={1: np.zeros(3, bool)},
             inputs=zeros_behind(MASK), exact=False),
    # What is computed again: the mask goes in, and one inside comes out.
    reach("checkpoint", """
  %y = sparse_autograd.checkpoint @{name}_log(%x0) : (<<4>>) -> <<4>>
""" + sum_of("%y", "<<4>>"), lambda x, m: masked(np.log(x), m),
          helpers=LOGARITHM),
    reach("checkpoint_with_a_mask", """
  %l = math.log %x0 : <<4>>
  %y = sparse_autograd.checkpoint @{name}_sum(%l, %x1) : (<<4>>, <<4|i1>>) -> tensor<!T>
  %z = arith.mulf %y, %y : tensor<!T>
  return %z : tensor<!T>""", lambda x, m: masked(np.log(x), m)**2,
          helpers="""
func.func private @{name}_sum(%x0: <<4>>, %x1: <<4|i1>>) -> tensor<!T> {
""" + sum_of("%x0", "<<4>>") + "\n}"),
    reach("checkpoint_in_checkpoint", """
  %y = sparse_autograd.checkpoint @{name}_twice(%x0, %x0) : (<<4>>, <<4>>) -> <<4>>
""" + sum_of("%y", "<<4>>"),
          lambda x, m: masked(np.sqrt(np.log(x) * x), m),
          helpers=LOGARITHM + """
func.func private @{name}_twice(%x: <<4>>, %w: <<4>>) -> <<4>> {
  %l = sparse_autograd.checkpoint @{name}_log(%x) : (<<4>>) -> <<4>>
  %p = arith.mulf %l, %w : <<4>>
  %y = math.sqrt %p : <<4>>
  return %y : <<4>>
}""", inputs=lambda rng, shapes: [
              np.where(MASK, rng.uniform(1.5, 2, size=4), 0), None]),
    reach("checkpoint_in_a_loop", LOOP + """
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %x0) -> (<<4>>) {
    %r = sparse_autograd.checkpoint @{name}_root(%v) : (<<4>>) -> <<4>>
    scf.yield %r : <<4>>
  }
""" + sum_of("%y", "<<4>>"), lambda x, m: masked(x**0.25, m), helpers="""
func.func private @{name}_root(%x: <<4>>) -> <<4>> {
  %r = math.sqrt %x : <<4>>
  return %r : <<4>>
}"""),
    # Other ops with masks.
    reach("softmax", """
  %l = math.log %x0 : <<4>>
  %y = sparse_autograd.masked_softmax %l, %x1 dims = [0] : <<4>>, <<4|i1>>
  %z = arith.mulf %y, %y : <<4>>
""" + sum_of("%z", "<<4>>"),
          lambda x, m: masked((x / masked(x, m))**2, m)),
    reach("selected", ZERO + """
  %l = math.log %x0 : <<4>>
  %z = linalg.fill ins(%zero : <<T>>) outs(%x0 : <<4>>) -> <<4>>
  %y = arith.select %x1, %l, %z : <<4|i1>>, <<4>>
  %sum = sparse_autograd.masked_reduce sum %y dims = [0] : <<4>> -> tensor<!T>
  return %sum : tensor<!T>""", lambda x, m: masked(np.log(x), m)),
    # Sums of rows that are masked out as a whole.
    Function("reduced_rows", ["<<3x4>>", "<<3x4|i1>>", "<<3|i1>>"],
             ["tensor<!T>"], """
  %l = math.log %x0 : <<3x4>>
  %s = sparse_autograd.masked_reduce mean %l, %x1 dims = [1] : <<3x4>>, <<3x4|i1>> -> <<3>>
""" + sum_of("%s", "<<3>>", "%x2"),
             lambda x, m, r: masked(np.where(m, np.log(x), 0).sum(1) /
                                    m.sum(1), r),
             fixed={1: MASKS, 2: ROWS},
             inputs=zeros_behind(MASKS & ROWS[:, None]), exact=False),
    Function("reduced_rows_that_stay", ["<<3x4>>", "<<3|i1>>"],
             ["tensor<!T>"], """
  %l = math.log %x0 : <<3x4>>
  %s = sparse_autograd.masked_reduce sum %l dims = [1] keepdims : <<3x4>> -> <<3x=1>>
  %sum = sparse_autograd.masked_reduce sum %s, %x1 dims = [0, 1] mask_dims = [0] : <<3x=1>>, <<3|i1>> -> tensor<!T>
  return %sum : tensor<!T>""",
             lambda x, r: masked(np.log(x).sum(1), r), fixed={1: ROWS},
             inputs=zeros_behind(np.stack([ROWS] * 4, 1)), exact=False),
    # A scalar that an op on tensors and one on scalars mask.
    Function("scalar_masked_twice", ["<<T>>", "<<4>>", "<<4|i1>>", "<<T|i1>>"],
             ["tensor<!T>"], ZERO + """
  %l = math.log %x0 : <<T>>
  %e = linalg.fill ins(%l : <<T>>) outs(%x1 : <<4>>) -> <<4>>
  %p = arith.mulf %e, %x1 : <<4>>
  %s = sparse_autograd.masked_reduce sum %p, %x2 dims = [0] : <<4>>, <<4|i1>> -> tensor<!T>
  %w = arith.select %x3, %l, %zero : <<T>>
  %v = tensor.from_elements %w : tensor<!T>
  %y = arith.addf %s, %v : tensor<!T>
  return %y : tensor<!T>""",
             lambda x, w, m, c: masked(np.log(x) * w, m) if m.any() else
             0 * x * w.sum(),
             fixed={2: np.zeros(4, bool), 3: np.bool_(False)},
             inputs=zeros_behind(np.bool_(False)), exact=False),
    # Other functions.
    reach("reciprocal", LOOP + """
  %one = arith.constant 1.0 : <<T>>
  %ones = linalg.fill ins(%one : <<T>>) outs(%x0 : <<4>>) -> <<4>>
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x0) -> (<<4>>) {
    %r = arith.divf %ones, %v : <<4>>
    scf.yield %r : <<4>>
  }
""" + sum_of("%y", "<<4>>"), lambda x, m: masked(1 / x, m)),
    reach("power", LOOP + """
  %half = arith.constant 0.5 : <<T>>
  %halves = linalg.fill ins(%half : <<T>>) outs(%x0 : <<4>>) -> <<4>>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %x0) -> (<<4>>) {
    %r = math.powf %v, %halves : <<4>>
    scf.yield %r : <<4>>
  }
""" + sum_of("%y", "<<4>>"), lambda x, m: masked(x**0.25, m)),
]

function_tests.run(FUNCTIONS, seed=7)
