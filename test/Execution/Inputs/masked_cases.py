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
        self.mask_dims = mask_dims
        self.ddof, self.ties, self.empty = ddof, ties, empty
        self.masked = masked
        self.is_softmax = kind in masked_gradients.SOFTMAX_KINDS
        self.keepdims = keepdims and not self.is_softmax
        self.shape = tuple(shape)
        all_dims = tuple(range(len(shape)))
        if not isinstance(dynamic, tuple):
            dynamic = all_dims if dynamic else ()
        of_mask = all_dims if mask_dims is None else mask_dims
        of_result = all_dims
        if not self.is_softmax:
            # The extent of a reduced dimension that is kept is 1.
            of_result = [None if d in self.dims else d for d in all_dims
                         if self.keepdims or d not in self.dims]

        def type_of(shape, dims, element_type):
            return tensor_type(shape, element_type, tuple(
                k for k, d in enumerate(dims) if d in dynamic))

        self.x_type = type_of(shape, all_dims, element_type)
        self.mask_type = type_of(self.mask_shape(shape), of_mask, "i1")
        self.y_type = type_of(self.result_shape(shape), of_result,
                              element_type)

    def mask_shape(self, shape):
        if self.mask_dims is None:
            return tuple(shape)
        return tuple(shape[d] for d in self.mask_dims)

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
        bound = bound + masked_ops.rounding(value, self.type)
        return overflowed(value, self.type), bound

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


def overflowed(value, element_type):
    """What overflows the type is an infinity, as the conversion has it."""
    with np.errstate(all="ignore"):
        held = to_type(value.astype(np.float64), element_type)
        return np.where(np.isinf(held.astype(np.float64)), held, value)


def rounded(bounded, element_type):
    """A Bounded as value and allowance after rounding to the element type."""
    return (overflowed(bounded.value, element_type),
            bounded.allowance(element_type))


def add_values(program, name, ops):
    """The entry `name`(x, mask) -> the values of ops on the same arrays."""
    x, m = ops[0].x_type, ops[0].mask_type
    body = "".join(f"  %y{i} = {op.text('%a0', '%a1')}\n"
                   for i, op in enumerate(ops))
    results = [op.y_type for op in ops]
    program.entry(name, [x, m], results, f"""{body}
  return {', '.join(f'%y{i}' for i in range(len(ops)))} : {', '.join(results)}""")


def call_values(program, name, ops, x, mask, label=""):
    """Calls what `add_values` added and compares with the references."""
    x = to_type(x, ops[0].type)
    expected = [op.value(x, mask) for op in ops]

    def check(*values):
        return sum(close(actual, value, bound, f"{op.kind} of {op.shape}")
                   for actual, (value, bound), op in zip(values, expected, ops))

    program.call(name, [x, mask], check, label)


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
    mask = rng.random(op.mask_shape(shape)) < density
    if mask.ndim > 1 and mask.shape[0] > 1:
        mask[-1] = False
    g = rng.normal(size=op.result_shape(shape))
    t = rng.normal(size=shape)
    return x, mask, g, t


def poisoned(rng, x, chosen):
    """x with NaNs and infinities where it is not chosen."""
    poison = rng.choice([np.nan, np.inf, -np.inf], size=x.shape)
    return np.where(chosen, x, poison)


def poison_all(rng, op, x, mask, g, t):
    """The arrays of `random_case` with poison wherever the mask leaves out: in
    x, in its tangent, and in the cotangent of a result of its shape."""
    chosen = op.chosen(x, mask)
    if op.is_softmax:
        g = poisoned(rng, g, chosen)
    return poisoned(rng, x, chosen), mask, g, poisoned(rng, t, chosen)


# Rows whose elements are drawn from a few values: zeros in a product, ties, NaN
# and infinities among the selected, exponentials that overflow unless shifted.
SPECIAL_ROWS = (
    (0.0, -0.0, 2.0, -1.5), (0.0,), (1.0, 2.0), (-3.0,), (np.nan, 1.0, 2.0),
    (np.inf, 1.0, -2.0), (-np.inf, 1.0, -2.0), (-np.inf, np.inf, 1.0),
    (-np.inf,), (np.inf, -1.0, np.inf), (np.nan, np.inf, -np.inf, 0.5),
    (0.0, np.inf, 3.0), (-200.0, 200.0, 199.0, 198.5),
    (-200.0, -199.5, -198.0), (0.25, 0.25, 4.0))
SPECIAL_COLUMNS = 7


def special_case(rng, copies=2):
    """x and mask: `copies` of each special row; poison behind the mask."""
    x = np.array([rng.choice(values, size=SPECIAL_COLUMNS)
                  for values in SPECIAL_ROWS * copies])
    mask = rng.random(x.shape) < 0.7
    mask[:len(SPECIAL_ROWS), 0] = True
    return poisoned(rng, x, mask), mask
