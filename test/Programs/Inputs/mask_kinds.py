# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops of the sparse_autograd dialect that have masks, and stop_gradient."""

import numpy as np

import masked_tape
import selection24
from execution import DTYPES
from language import Kind, Step, Value
from linalg_kinds import generic
from masked_ops import KINDS as REDUCTIONS, selection


def draw_mask(g, x):
    """A mask for an operand, with the dimensions that it has: that of what is
    poison behind it; None for no mask."""
    dims = list(range(len(x.shape)))
    if x.mask is not None:
        return (x.mask, dims) if x.mask.shape == x.shape else None
    if g.chance(0.15):
        return None, dims
    if g.chance(0.25) and dims:
        dims = g.rng.sample(dims, g.rng.randint(1, len(dims)))
    return g.value("i1", tuple(x.shape[d] for d in dims)), dims


def mask_text(p, step):
    """The operands, mask_dims and types of an op."""
    x, *masks = step.operands
    dims = step.attributes["mask_dims"]
    names, types = p.names(step.operands), p.types(step.operands)
    everything = dims == list(range(len(x.shape)))
    return names, types, ("" if everything or not masks else
                          f" mask_dims = {dims}")


class Masked(Kind):
    """An op on an operand and perhaps a mask."""

    def masked(self, g, x):
        found = draw_mask(g, x)
        if found is None:
            return None
        mask, dims = found
        return [x] + ([mask] if mask else []), {"mask_dims": dims}

    def selected(self, step, operands):
        mask = operands[1] if len(operands) > 1 else None
        return selection(operands[0].value, mask,
                         step.attributes["mask_dims"])


def draw_dims(g, rank):
    return sorted(g.rng.sample(range(rank), g.rng.randint(min(1, rank), rank)))


class MaskedReduce(Masked):
    def __init__(self, reduction):
        self.reduction = reduction
        self.name = f"sparse_autograd.masked_reduce {reduction}"

    def draw(self, g):
        low, high = {"prod": (0.5, 1.7)}.get(self.reduction, (None, None))
        x = g.value(rank=(1, 2, 2, 3), low=low, high=high, poison=True)
        return self.of(g, x)

    def of(self, g, x):
        if not x.shape:
            return None
        found = self.masked(g, x)
        if found is None:
            return None
        operands, attributes = found
        dims = draw_dims(g, len(x.shape))
        if self.reduction == "prod" and np.prod(
                [x.shape[d] for d in dims]) > 40:
            return None
        keepdims = g.chance(0.3)
        shape = tuple(1 if d in dims else n for d, n in enumerate(x.shape)
                      if keepdims or d not in dims)
        attributes |= {"dims": dims, "keepdims": keepdims, "ddof": 0,
                       "ties": "shared"}
        if self.reduction in ("var", "std"):
            attributes["ddof"] = g.rng.choice((0, 1, 2))
        if self.reduction in ("max", "min") and g.chance(0.4):
            attributes["ties"] = "first"
        return Step(self, operands, [Value(x.element, shape)], attributes)

    def text(self, p, step):
        names, types, mask_dims = mask_text(p, step)
        at = step.attributes
        more = (" keepdims" if at["keepdims"] else "") + (
            f" ddof = {at['ddof']}" if at["ddof"] else "") + (
            " ties = first" if at["ties"] == "first" else "")
        p.line(f"{p.declare(step.results[0])} = {self.name} {names} dims = "
               f"{at['dims']}{mask_dims}{more} : {types} -> "
               f"{p.type(step.results[0])}")

    def evaluate(self, tape, step, operands, env):
        at = step.attributes
        result = masked_tape.reduce(
            tape, self.reduction, operands[0], self.selected(step, operands),
            at["dims"], at["ddof"], at["ties"])
        shape = step.results[0].shape
        return [result if result.shape == shape else
                tape.move(lambda v: v.reshape(shape), result)]


class Softmax(Masked):
    def __init__(self, name):
        self.name = "sparse_autograd." + name
        self.logarithm = "log" in name

    def draw(self, g):
        x = g.value(rank=(1, 2, 2, 3), poison=True)
        found = self.masked(g, x)
        if found is None:
            return None
        operands, attributes = found
        attributes["dims"] = draw_dims(g, len(x.shape))
        return Step(self, operands, [Value(x.element, x.shape)], attributes)

    def text(self, p, step):
        names, types, mask_dims = mask_text(p, step)
        p.line(f"{p.declare(step.results[0])} = {self.name} {names} dims = "
               f"{step.attributes['dims']}{mask_dims} : {types}")

    def evaluate(self, tape, step, operands, env):
        return [masked_tape.softmax(
            tape, operands[0], self.selected(step, operands),
            step.attributes["dims"], self.logarithm)]


class GradMask(Masked):
    name = "sparse_autograd.grad_mask"

    def draw(self, g):
        x = g.value(rank=(1, 2, 3))
        operands, attributes = self.masked(g, x)
        if len(operands) == 1:
            operands.append(g.value("i1", x.shape))
        return Step(self, operands, [Value(x.element, x.shape)], attributes)

    def text(self, p, step):
        names, types, mask_dims = mask_text(p, step)
        p.line(f"{p.declare(step.results[0])} = {self.name} {names}{mask_dims} "
               f": {types}")

    def evaluate(self, tape, step, operands, env):
        return [tape.grad_mask(operands[0], self.selected(step, operands))]


class StopGradient(Kind):
    name = "sparse_autograd.stop_gradient"
    weight = 0.5

    def draw(self, g):
        x = g.value(poison=True)
        return Step(self, [x], [Value(x.element, x.shape, x.mask)])

    def text(self, p, step):
        p.line(f"{p.declare(step.results[0])} = {self.name} "
               f"{step.operands[0].name} : {p.type(step.operands[0])}")

    def evaluate(self, tape, step, operands, env):
        return [tape.stop(operands[0])]


class Selection24(Kind):
    """A 2:4 selection. The choice is made of an argument, which is what the
    reference has of it to the last bit."""

    def __init__(self, name):
        self.name = "sparse_autograd." + name

    def draw(self, g):
        if g.scalar_region:
            return None
        element = g.floating()
        shape = g.shape(g.rng.choice((2, 2, 3)))
        chosen = g.fresh(element, shape)
        operands = [chosen]
        if self.name.endswith("like"):
            operands.insert(0, g.value(element, shape))
        attributes = {"select": g.rng.choice(selection24.SELECTIONS),
                      "gradient": g.rng.choice(("dense", "sparse", "ste"))}
        return Step(self, operands, [Value(element, shape)], attributes)

    def text(self, p, step):
        at = step.attributes
        p.line(f"{p.declare(step.results[0])} = {self.name} "
               f"{p.names(step.operands)} select = {at['select']} gradient = "
               f"{at['gradient']} : {p.types(step.operands)} -> "
               f"{p.type(step.results[0])}")

    def evaluate(self, tape, step, operands, env):
        x, chosen = operands[0], operands[-1]
        dtype = DTYPES[step.operands[len(operands) - 1].element]
        kept = selection24.choose(np.asarray(chosen.value, dtype),
                                  step.attributes["select"])
        if step.attributes["gradient"] != "ste":
            return [tape.select(
                kept, x, tape.constant(np.zeros(x.shape), x.type))]
        return [tape.node([x], x.bounded.where(kept),
                          lambda tangents: tangents[0],
                          lambda cotangent, support: [(cotangent, support)])]


def packed_type(p, value):
    """The type of a tensor that stores two of each four elements."""
    dims = [f"d{i}" for i in range(len(value.shape))]
    levels = [f"{d} : dense" for d in dims[:-1]] + [
        f"{dims[-1]} floordiv 4 : dense", f"{dims[-1]} mod 4 : structured[2, 4]"]
    return (p.type(value)[:-1] + ", #sparse_tensor.encoding<{map = "
            f"({', '.join(dims)}) -> ({', '.join(levels)})}}>>")


class Stored24(Selection24):
    """A 2:4 selection that is stored as such, and read as a dense tensor."""

    def draw(self, g):
        step = super().draw(g)
        if step is not None and step.attributes["gradient"] == "ste":
            step.attributes["gradient"] = "dense"
        return step

    def names(self):
        return [self.name + " stored"]

    def counted(self, step):
        return self.names()

    def store(self, p, step, selected):
        """The name and the type of the stored selection."""
        at, stored = step.attributes, p.fresh("p")
        type_ = packed_type(p, selected[0])
        p.line(f"{stored} = {self.name} {p.names(selected)} select = {at['select']} "
               f"gradient = {at['gradient']} : {p.types(selected)} -> {type_}")
        return stored, type_

    def text(self, p, step):
        stored, type_ = self.store(p, step, step.operands)
        p.line(f"{p.declare(step.results[0])} = sparse_tensor.convert {stored} : "
               f"{type_} to {p.type(step.results[0])}")


class Product24(Stored24):
    """A product with a stored 2:4 matrix, on either side, transposed or not."""
    specs = ("ik,kj->ij", "ki,kj->ij", "ik,jk->ij", "jk,ik->ij", "kj,ik->ij",
             "ik,bjk->bji")

    def draw(self, g):
        step = super().draw(g)
        if step is None or len(step.results[0].shape) != 2:
            return None
        spec = g.rng.choice(self.specs)
        of_w, of_x, of_y = spec.replace("->", ",").split(",")
        extents = dict(zip(of_w, step.results[0].shape))

        def fits(v):
            return len(v.shape) == len(of_x) and all(
                extents.get(l, n) == n for l, n in zip(of_x, v.shape))

        element = step.results[0].element
        x = g.value(element, rank=(len(of_x),), where=fits)
        if x is None:
            x = g.fresh(element, tuple(extents.get(l, g.rng.choice(g.sizes))
                                       for l in of_x))
        extents.update(zip(of_x, x.shape))
        shape = tuple(extents[l] for l in of_y)
        if np.prod([max(n, 1) for n in extents.values()]) > 30000 or (
                np.prod(shape) > 4000):
            return None
        return Step(self, step.operands + [x], [Value(element, shape)],
                    step.attributes | {"spec": spec})

    def names(self):
        return [self.name + " in a product"]

    def text(self, p, step):
        *selected, x = step.operands
        stored, type_ = self.store(p, step, selected)
        result = step.results[0]
        groups = step.attributes["spec"].replace("->", ",").split(",")
        into = p.filled(result.shape, result.element, "0.0", [selected[0], x])
        a, b, c, t, u = (p.fresh("b") for _ in range(5))
        generic(p, p.declare(result), sorted(set("".join(groups))), groups,
                [stored, x.name], [type_, p.type(x)], into, p.type(result), [a, b, c],
                result.element,
                [f"{t} = arith.mulf {a}, {b} : {result.element}",
                 f"{u} = arith.addf {c}, {t} : {result.element}",
                 f"linalg.yield {u} : {result.element}"])

    def evaluate(self, tape, step, operands, env):
        selected = super().evaluate(tape, step, operands[:-1], env)
        return [tape.contract(step.attributes["spec"], selected + operands[-1:], None)]


_REDUCTIONS = [MaskedReduce(kind) for kind in REDUCTIONS]
MASKED_REDUCE = _REDUCTIONS[0]
KINDS = _REDUCTIONS + [Softmax("masked_softmax"),
                       Softmax("masked_log_softmax"), GradMask(),
                       StopGradient(), Selection24("sparsify_24"),
                       Selection24("sparsify_24_like"),
                       Stored24("sparsify_24"), Stored24("sparsify_24_like"),
                       Product24("sparsify_24"), Product24("sparsify_24_like")]
for _kind in KINDS:
    if isinstance(_kind, Masked):
        _kind.weight = 2.0
