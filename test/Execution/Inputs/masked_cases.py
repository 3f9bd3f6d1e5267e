# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of one masked op, and the checks of its values and derivatives."""

import numpy as np

import masked_gradients
import masked_ops
from bounded import Bounded
from execution import close, tensor_type, to_type

KINDS = masked_ops.KINDS + masked_gradients.SOFTMAX_KINDS


class Op:
    """A masked op on tensors of one type: how it is written, what it gives."""

    def __init__(self, kind, element_type, shape, dims, mask_dims=None,
                 keepdims=False, ddof=0, ties="shared", empty="default",
                 masked=True, dynamic=False):
        self.kind, self.type, self.dims = kind, element_type, tuple(dims)
        self.mask_dims, self.keepdims = mask_dims, keepdims
        self.ddof, self.ties, self.empty = ddof, ties, empty
        self.masked = masked
        self.is_softmax = kind in masked_gradients.SOFTMAX_KINDS
        mask_shape = shape if mask_dims is None else [
            shape[d] for d in mask_dims]
        self.x_type = tensor_type(shape, element_type, dynamic)
        self.mask_type = tensor_type(mask_shape, "i1", dynamic)
        self.y_type = tensor_type(self.result_shape(shape), element_type,
                                  dynamic)
        if keepdims and dynamic:
            extents = ["1" if d in dims else "?" for d in range(len(shape))]
            self.y_type = f"tensor<{'x'.join(extents)}x{element_type}>"

    def result_shape(self, shape):
        if self.is_softmax:
            return tuple(shape)
        if self.keepdims:
            return tuple(1 if d in self.dims else n
                         for d, n in enumerate(shape))
        return tuple(n for d, n in enumerate(shape) if d not in self.dims)

    def text(self, x, mask):
        """The op on the values named `x` and `mask`."""
        parts = [self.kind if self.is_softmax else
                 "masked_reduce " + self.kind]
        parts.append(f"{x}, {mask}" if self.masked else x)
        parts.append(f"dims = [{', '.join(map(str, self.dims))}]")
        if self.mask_dims is not None:
            parts.append(f"mask_dims = [{', '.join(map(str, self.mask_dims))}]")
        if self.keepdims:
            parts.append("keepdims")
        if self.ddof:
            parts.append(f"ddof = {self.ddof}")
        if self.empty != "default":
            parts.append(f"empty = {self.empty}")
        if self.ties != "shared":
            parts.append(f"ties = {self.ties}")
        types = f"{self.x_type}, {self.mask_type}" if self.masked else (
            self.x_type)
        result = "" if self.is_softmax else f" -> {self.y_type}"
        return f"sparse_autograd.{' '.join(parts)} : {types}{result}"

    # References.

    def reduced(self, array):
        """An array whose reduced dimensions are 1 in the shape of a result."""
        if self.is_softmax or self.keepdims:
            return array
        return np.squeeze(array, self.dims)

    def spread(self, array):
        if self.is_softmax or self.keepdims:
            return array
        return np.expand_dims(array, tuple(sorted(self.dims)))

    def value(self, x, mask):
        mask = mask if self.masked else None
        u = masked_ops.accumulation_roundoff(self.type)
        if self.is_softmax:
            short = self.kind.removeprefix("masked_")
            value = getattr(masked_ops, short)(x, mask, self.dims,
                                               self.mask_dims)
            bound = getattr(masked_ops, short + "_bound")(
                x, u, mask, self.dims, self.mask_dims)
        else:
            value = masked_ops.reduce(self.kind, x, mask, self.dims,
                                      self.mask_dims, self.keepdims, self.ddof,
                                      self.empty)
            bound = masked_ops.reduce_bound(self.kind, x, u, mask, self.dims,
                                            self.mask_dims, self.keepdims,
                                            self.ddof)
        return value, bound + masked_ops.rounding(value, self.type)

    def _options(self, mask):
        return dict(mask=mask if self.masked else None, dims=self.dims,
                    mask_dims=self.mask_dims, ddof=self.ddof, ties=self.ties,
                    element_type=self.type)

    def gradient(self, x, mask, g):
        return masked_gradients.vjp(self.kind, x, self.spread(g),
                                    **self._options(mask))

    def tangent(self, x, mask, t):
        return masked_gradients.jvp(self.kind, x, t, **self._options(mask))

    def chosen(self, x, mask):
        return masked_ops.selection(x, mask if self.masked else None,
                                    self.mask_dims)


def rounded(bounded, element_type):
    """A Bounded as value and allowance after rounding to the element type.

    What overflows the type becomes an infinity, as the conversion has it."""
    value = bounded.value
    with np.errstate(all="ignore"):
        held = to_type(value.astype(np.float64), element_type)
        value = np.where(np.isinf(held.astype(np.float64)), held, value)
    return value, bounded.allowance(element_type)


def add_op(program, name, op):
    """The entry `name`(x, mask, g, t) -> (y, gradient, tangent) of an op."""
    x, m, y = op.x_type, op.mask_type, op.y_type
    program.define(f"""
func.func private @{name}_f(%x: {x}, %m: {m}) -> {y} {{
  %y = {op.text("%x", "%m")}
  return %y : {y}
}}""")
    program.entry(name, [x, m, y, x], [y, x, y], f"""
  %y, %dx = sparse_autograd.vjp @{name}_f(%a0, %a1) cotangents(%a2) {{wrt = [0]}}
      : ({x}, {m}), ({y}) -> ({y}, {x})
  %z, %ty = sparse_autograd.jvp @{name}_f(%a0, %a1) tangents(%a3) {{wrt = [0]}}
      : ({x}, {m}), ({x}) -> ({y}, {y})
  return %y, %dx, %ty : {y}, {x}, {y}""")


def call_op(program, name, op, x, mask, g, t, label=""):
    """Calls what `add_op` added and compares with the references."""
    x, g, t = (to_type(v, op.type) for v in (x, g, t))
    value, bound = op.value(x, mask)
    gradient, allowed = rounded(op.gradient(x, mask, g), op.type)
    tangent, allowed_tangent = rounded(op.tangent(x, mask, t), op.type)
    tangent, allowed_tangent = (op.reduced(tangent),
                                op.reduced(allowed_tangent))

    def check(y, dx, ty):
        count = close(y, value, bound, "value")
        count += close(dx, gradient, allowed, "gradient")
        count += close(ty, tangent, allowed_tangent, "tangent")
        behind = ~op.chosen(x, mask)
        assert np.all(dx[behind] == 0), "a gradient behind the mask"
        return count

    program.call(name, [x, mask, g, t], check, label)


def random_case(rng, op, shape, density=0.6):
    """x, mask, g and t for a shape; a slice or two select nothing."""
    x = rng.normal(size=shape) * 1.5
    mask_shape = shape if op.mask_dims is None else [
        shape[d] for d in op.mask_dims]
    mask = rng.random(mask_shape) < density
    if mask.ndim > 1 and mask.shape[0] > 1:
        mask[-1] = False
    g = rng.normal(size=op.result_shape(shape))
    t = rng.normal(size=shape)
    return x, mask, g, t
