# RUN: %python %s | FileCheck %s
# CHECK: {{[1-9][0-9]* functions, [1-9][0-9]* calls, [1-9][0-9]*}} numbers compared, 0 failures
"""Derivatives of functions of sparse tensors, in every encoding."""

import numpy as np

from function_tests import run
from functions import Function
from sparse_storage import MATRICES

EXTENTS = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s4 = tensor.dim %x0, %c0 : <<4x5#{0}>>
  %s5 = tensor.dim %x0, %c1 : <<4x5#{0}>>"""


def matvec(encoding):
    return Function(
        f"matvec_{encoding}", [f"<<4x5#{encoding}>>", "<<5>>"], ["<<4>>"],
        EXTENTS.format(encoding) + f"""
  %zero = arith.constant 0.0 : !T
  %empty = !empty<<4>>
  %init = linalg.fill ins(%zero : !T) outs(%empty : <<4>>) -> <<4>>
  %y = linalg.matvec ins(%x0, %x1 : <<4x5#{encoding}>>, <<5>>) outs(%init : <<4>>) -> <<4>>
  return %y : <<4>>""",
        lambda a, x: a @ x)


def matmul(encoding):
    return Function(
        f"matmul_{encoding}", [f"<<4x5#{encoding}>>", "<<5x3>>", "<<4x3>>"],
        ["<<4x3>>"], f"""
  %y = linalg.matmul ins(%x0, %x1 : <<4x5#{encoding}>>, <<5x3>>) outs(%x2 : <<4x3>>) -> <<4x3>>
  return %y : <<4x3>>""",
        lambda a, x, c: c + a @ x)


def square(encoding):
    maps = "affine_map<(i, j) -> (i, j)>"
    type_ = f"<<4x5#{encoding}>>"
    return Function(
        f"square_{encoding}", [type_], [type_],
        EXTENTS.format(encoding) + f"""
  %empty = !empty{type_}
  %y = linalg.generic {{indexing_maps = [{maps}, {maps}], iterator_types = ["parallel", "parallel"]}}
      ins(%x0 : {type_}) outs(%empty : {type_}) {{
  ^bb0(%a: !T, %out: !T):
    %s = arith.mulf %a, %a : !T
    linalg.yield %s : !T
  }} -> {type_}
  return %y : {type_}""",
        lambda a: a * a)


FUNCTIONS = [make(encoding) for encoding in MATRICES
             for make in (matvec, matmul, square)]

run(FUNCTIONS, 11)
