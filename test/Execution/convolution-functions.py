# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Derivatives, first and second, of convolutions and poolings in all layouts,
with strides, dilations, and the sizes that break things."""

import numpy as np

import function_tests
from convolutions import (CONVOLUTIONS, POOLINGS, convolve, pool, windows_of)
from execution import finish
from functions import Function

EXTENTS = {"n": 2, "c": 2, "f": 3, "g": 2, "m": 2, "D": 2, "H": 2, "W": 3,
           "d": 2, "h": 2, "w": 3}


def case(op, layout, strides=None, dilations=None, extents=None, extra=0,
         suffix="", **options):
    """A convolution or pooling; the image has `extra` elements that no window
    reaches in each of its dimensions."""
    windows = windows_of(layout)
    strides = strides or [1] * len(windows)
    dilations = dilations or [1] * len(windows)
    sizes = EXTENTS | (extents or {})

    def extent(letter):
        if not letter.isupper():
            return sizes[letter]
        number = windows.index(letter)
        return max(0, (sizes[letter.lower()] - 1) * strides[number] +
                   (sizes[letter] - 1) * dilations[number] + 1) + extra

    image = "x".join(str(extent(letter)) for letter in layout[0])
    kernel, output = ("x".join(str(sizes[k]) for k in part)
                      for part in layout[1:])
    types = [f"<<{t}>>" for t in (image, kernel, output)]
    attributes = ""
    if len(layout[0]) > len(windows):
        rank = len(windows)
        attributes = (f"{{dilations = dense<{dilations}> : tensor<{rank}xi64>, "
                      f"strides = dense<{strides}> : tensor<{rank}xi64>}} ")
    body = f"""
  %y = linalg.{op} {attributes}ins(%x0, %x1 : {types[0]}, {types[1]}) outs(%x2 : {types[2]}) -> {types[2]}
  return %y : {types[2]}"""
    if op.startswith("pooling"):
        kind = op[-3:]
        window = [sizes[k] for k in layout[1]]
        options = {"wrt": (0, 2), "exact": kind == "sum"} | options
        if kind != "sum":
            # Apart from each other, so that differences see no ties.
            options["inputs"] = _apart
        return Function(op + suffix, types, [types[2]], body,
                        lambda x, _, c: pool(kind, layout, x, window, c,
                                             strides, dilations), **options)
    return Function(op + suffix, types, [types[2]], body,
                    lambda x, w, c: convolve(layout, x, w, c, strides,
                                             dilations), **options)


def _apart(rng, shapes):
    """Numbers at least 0.05 apart."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    values = rng.permutation(sum(sizes)) * 0.05 - 1
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes)]


def _log(x):
    return np.log(np.where(x == 0, 1, x))


# Every layout, in first derivatives only: they differ in their maps.
LAYOUTS = [case(op, layout, second=False)
           for op, layout in (CONVOLUTIONS | POOLINGS).items()]
LAYOUT_KINDS = (("f64", False, (), 0), ("f16", True, (), 0))

HWCF, HWC = CONVOLUTIONS["conv_2d_nhwc_hwcf"], POOLINGS["pooling_nhwc_sum"]
WCF, WC = CONVOLUTIONS["conv_1d_nwc_wcf"], POOLINGS["pooling_nwc_sum"]
FUNCTIONS = [
    # Strides that overlap, that leave elements out, with a remainder.
    case("conv_2d_nhwc_hwcf", HWCF, strides=[2, 3], suffix="_strides"),
    case("conv_2d_nhwc_hwcf", HWCF, strides=[3, 4], extra=1,
         suffix="_strides_beyond", second=False),
    case("conv_2d_nhwc_hwcf", HWCF, dilations=[2, 3], suffix="_dilations",
         second=False),
    case("conv_2d_nhwc_hwcf", HWCF, strides=[3, 2], dilations=[2, 2], extra=2,
         suffix="_strides_dilations"),
    case("depthwise_conv_2d_nhwc_hwc",
         CONVOLUTIONS["depthwise_conv_2d_nhwc_hwc"], strides=[2, 2],
         suffix="_strides", second=False),
    case("conv_2d_ngchw_gfchw", CONVOLUTIONS["conv_2d_ngchw_gfchw"],
         strides=[2, 1], dilations=[1, 2], suffix="_strides_dilations",
         second=False),
    case("pooling_nhwc_sum", HWC, strides=[2, 3], dilations=[3, 1], extra=1,
         suffix="_strides_dilations"),
    case("pooling_nhwc_max", HWC, strides=[2, 3], dilations=[3, 1], extra=1,
         suffix="_strides_dilations"),
    # Sizes that break things.
    case("conv_1d_nwc_wcf", WCF, extents={"W": 1}, strides=[2],
         suffix="_kernel_of_one", second=False),
    case("conv_1d_nwc_wcf", WCF, extents={"w": 1}, suffix="_output_of_one",
         second=False),
    case("conv_1d_nwc_wcf", WCF, extents={"n": 0}, suffix="_no_image",
         second=False),
    case("conv_1d_nwc_wcf", WCF, extents={"c": 0}, suffix="_no_channel",
         second=False),
    case("conv_1d_nwc_wcf", WCF, extents={"w": 33, "W": 5, "n": 1, "c": 1,
                                          "f": 1}, suffix="_long",
         second=False),
    case("pooling_nwc_sum", WC, extents={"w": 1, "W": 1, "c": 1},
         suffix="_of_one", second=False),
    case("pooling_nwc_max", WC, extents={"c": 0}, suffix="_no_channel",
         second=False),
    # One image as both: a correlation with itself.
    Function("autocorrelation", ["<<3>>", "<<1>>"], ["<<1>>"], """
  %y = linalg.conv_1d ins(%x0, %x0 : <<3>>, <<3>>) outs(%x1 : <<1>>) -> <<1>>
  return %y : <<1>>""", lambda x, c: c + (x * x).sum()),
    # What no window reaches counts as masked out (G2): log(0) is not seen.
    Function("unreached", ["<<1x5x1>>", "<<1x1x1>>", "<<1x3x1>>"],
             ["<<1x3x1>>"], """
  %s = math.log %x0 : <<1x5x1>>
  %y = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%s, %x1 : <<1x5x1>>, <<1x1x1>>) outs(%x2 : <<1x3x1>>) -> <<1x3x1>>
  return %y : <<1x3x1>>""",
             lambda x, w, c: c + _log(x)[:, ::2] * w, exact=False, second=False,
             forward=False,
             inputs=lambda rng, shapes: [
                 np.array([1.5, 0, 2, 0, 0.5]).reshape(1, 5, 1),
                 *(rng.uniform(1, 2, size=s) for s in shapes[1:])]),
    # Nor is what only windows of masked outputs reach.
    Function("masked_windows", ["<<1x6x1>>", "<<2>>", "<<1x3x1>>",
                                "<<1x3x1|i1>>"], ["<<>>"], """
  %s = math.log %x0 : <<1x6x1>>
  %p = linalg.pooling_nwc_sum {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%s, %x1 : <<1x6x1>>, <<2>>) outs(%x2 : <<1x3x1>>) -> <<1x3x1>>
  %y = sparse_autograd.masked_reduce sum %p, %x3 dims = [0, 1, 2] : <<1x3x1>>, <<1x3x1|i1>> -> <<>>
  return %y : <<>>""",
             lambda x, _, c, m: np.where(
                 m, c + _log(x)[:, ::2] + _log(x)[:, 1::2], 0).sum(),
             wrt=(0, 2), exact=False, second=False, forward=False,
             inputs=lambda rng, shapes: [
                 np.array([1, 2, 0, 0, 0.5, 4]).reshape(1, 6, 1), np.ones(2),
                 np.ones(shapes[2]),
                 np.array([True, False, True]).reshape(1, 3, 1)]),
    # Halo, convolution, pooling, as a network has them.
    Function("layer", ["<<1x4x4x2>>", "<<3x3x2x2>>", "<<2>>", "<<1x4x4x2>>",
                       "<<1x2x2x2>>", "<<2x2>>"], ["<<1x2x2x2>>"], """
  %zero = arith.constant 0.0 : <<T>>
  %low = arith.constant -10.0 : <<T>>
  %p = tensor.pad %x0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : <<T>>
  } : <<1x4x4x2>> to <<1x6x6x2>>
  %b = linalg.broadcast ins(%x2 : <<2>>) outs(%x3 : <<1x4x4x2>>) dimensions = [0, 1, 2]
  %c = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %x1 : <<1x6x6x2>>, <<3x3x2x2>>) outs(%b : <<1x4x4x2>>) -> <<1x4x4x2>>
  %t = math.tanh %c : <<1x4x4x2>>
  %f = linalg.fill ins(%low : <<T>>) outs(%x4 : <<1x2x2x2>>) -> <<1x2x2x2>>
  %y = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%t, %x5 : <<1x4x4x2>>, <<2x2>>) outs(%f : <<1x2x2x2>>) -> <<1x2x2x2>>
  return %y : <<1x2x2x2>>""",
             lambda x, w, b, *_: pool(
                 "max", HWC, np.tanh(convolve(
                     HWCF, np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), w,
                     np.zeros((1, 4, 4, 2)) + b, [1, 1], [1, 1])),
                 (2, 2), np.full((1, 2, 2, 2), -10.0), [2, 2], [1, 1]),
             wrt=(0, 1, 2), exact=False),
]

finish(function_tests.programs(LAYOUTS, seed=6, kinds=LAYOUT_KINDS) +
       function_tests.programs(FUNCTIONS, seed=7))
