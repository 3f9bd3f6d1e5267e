# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops on scalars and, element by element, on tensors: those of the table in
scalar_rules.py, and conversions, comparisons and selections."""

import numpy as np

from execution import FLOATS
from language import Kind, Step, Unfit, Value
from scalar_rules import RULES

_RULES = {r.op: r for r in RULES}


def literal(number):
    """A float as MLIR reads it in every type."""
    return f"{float(number):.17e}"


def mask_of(operands):
    """The mask of what may be poison in a result; no two may differ."""
    masks = [v.mask for v in operands if v.mask is not None]
    return masks[0] if masks else None


def joins(*values):
    """Whether an operand's mask goes with those of others."""
    masks = {v.mask for v in values if v.mask is not None}
    return lambda value: value.mask is None or masks <= {value.mask}


class Scalar(Kind):
    """An op on floats of one type."""
    scalar = True

    def __init__(self, name):
        self.name = name

    def text(self, p, step):
        types = p.type(step.operands[0])
        p.line(f"{p.declare(step.results[0])} = {self.name} "
               f"{p.names(step.operands)} : {types}")


class RuleKind(Scalar):
    """An op of the table."""

    def __init__(self, rule):
        super().__init__(rule.op)
        self.rule = rule

    def draw(self, g):
        rule, operands = self.rule, []
        for low, high in rule.intervals:
            # Without a bound where the op has a value everywhere.
            if (low, high) == (-2, 2):
                low = high = None
            first = operands[0] if operands else None
            operands.append(g.value(
                first and first.element, first.shape if first else "any",
                low, high, poison=True, where=joins(*operands)))
            if operands[-1] is None:
                return None
        return Step(self, operands, [Value(operands[0].element,
                                           operands[0].shape,
                                           mask_of(operands))])

    def text(self, p, step):
        text = self.rule.text([v.name for v in step.operands])
        p.line(f"{p.declare(step.results[0])} = {text} : "
               f"{p.type(step.operands[0])}")

    def evaluate(self, tape, step, operands, env):
        simple = {"arith.addf": tape.add, "arith.subf": tape.subtract,
                  "arith.mulf": tape.multiply, "arith.negf": tape.negate}
        if self.name in simple:
            return [simple[self.name](*operands)]
        if self.name == "math.clampf":
            # The table has no ties of an operand and a limit; these share.
            a, low, high = operands
            return [extremum(tape, "maximumf",
                             extremum(tape, "minimumf", a, high), low)]
        rule = self.rule
        return [tape.function(rule.value, rule.partials, operands,
                              rule.roundings, rule.smooth)]


def extremum(tape, name, a, b):
    """arith.maximumf and its like on a tape."""
    rule = _RULES["arith." + name]
    return tape.function(rule.value, rule.partials, [a, b], rule.roundings,
                         rule.smooth)


class SinCos(Scalar):
    """One op with two results."""

    def __init__(self):
        super().__init__("math.sincos")

    def draw(self, g):
        x = g.value(low=-4, high=4, poison=True)
        return Step(self, [x], [Value(x.element, x.shape, x.mask)
                                for _ in range(2)])

    def text(self, p, step):
        names = ", ".join(p.declare(r) for r in step.results)
        p.line(f"{names} = math.sincos {step.operands[0].name} : "
               f"{p.type(step.operands[0])}")

    def evaluate(self, tape, step, operands, env):
        return [tape.function(rule.value, rule.partials, operands)
                for rule in (_RULES["math.sin"], _RULES["math.cos"])]


class FPowI(Scalar):
    """A power that is an integer."""

    def __init__(self):
        super().__init__("math.fpowi")

    def draw(self, g):
        x = g.value(low=0.5, high=2)
        n = g.value("i32", x.shape, low=-3, high=4)
        return Step(self, [x, n], [Value(x.element, x.shape)])

    def text(self, p, step):
        x, n = step.operands
        p.line(f"{p.declare(step.results[0])} = math.fpowi {x.name}, {n.name} "
               f": {p.type(x)}, {p.type(n)}")

    def evaluate(self, tape, step, operands, env):
        x, n = operands
        n = n.astype(np.longdouble)

        def slope(v, y):
            # Powers of the elements within the error and the factor n.
            power = v.apply(lambda w: w ** (n - 1),
                            lambda w: (n - 1) * w ** (n - 2))
            return [power * n]
        return [tape.function(lambda v: v ** n, slope, [x], roundings=5)]


class Convert(Scalar):
    """extf and truncf."""

    def __init__(self, name):
        super().__init__(name)

    def draw(self, g):
        order = {"f64": 2, "f32": 1, "f16": 0, "bf16": 0}
        widen = self.name == "arith.extf"
        kinds = [t for t in FLOATS if order[t] != (2 if widen else 0)]
        element = g.element if g.element in kinds else g.rng.choice(kinds)
        x = g.value(element)
        to = [t for t in FLOATS if (order[t] > order[element]) == widen and
              order[t] != order[element]]
        return Step(self, [x], [Value(g.rng.choice(to), x.shape)])

    def text(self, p, step):
        p.line(f"{p.declare(step.results[0])} = {self.name} "
               f"{step.operands[0].name} : {p.type(step.operands[0])} to "
               f"{p.type(step.results[0])}")

    def evaluate(self, tape, step, operands, env):
        return [tape.convert(operands[0], step.results[0].element)]


class FromInteger(Convert):
    """sitofp and uitofp: no derivative passes."""

    def draw(self, g):
        low = 0 if self.name == "arith.uitofp" else -3
        n = g.value("i32", "any", low=low, high=4)
        if n is None:
            return None
        return Step(self, [n], [Value(g.element, n.shape)])

    def evaluate(self, tape, step, operands, env):
        return [tape.constant(operands[0].astype(np.longdouble),
                              step.results[0].element)]


class ToInteger(Convert):
    """fptosi and fptoui: no derivative passes."""

    def draw(self, g):
        unsigned = self.name == "arith.fptoui"
        x = g.value(low=0 if unsigned else None)
        return Step(self, [x], [Value("i32", x.shape)])

    def evaluate(self, tape, step, operands, env):
        value, error = operands[0].value, operands[0].bounded.error
        if np.any(np.trunc(value - error) != np.trunc(value + error)):
            raise Unfit("an integer that depends on rounding")
        return [np.trunc(value).astype(np.int64)]


class Compare(Scalar):
    """cmpf: a mask that is computed."""
    predicates = {"ogt": np.greater, "olt": np.less, "oge": np.greater_equal,
                  "une": np.not_equal}

    def __init__(self):
        super().__init__("arith.cmpf")

    def draw(self, g):
        a = g.value()
        b = g.value(a.element, a.shape)
        return Step(self, [a, b], [Value("i1", a.shape)],
                    {"predicate": g.rng.choice(list(self.predicates))})

    def text(self, p, step):
        p.line(f"{p.declare(step.results[0])} = arith.cmpf "
               f"{step.attributes['predicate']}, {p.names(step.operands)} : "
               f"{p.type(step.operands[0])}")

    def evaluate(self, tape, step, operands, env):
        a, b = (o.bounded for o in operands)
        slack = 4 * (a.error + b.error)
        if np.any((slack > 0) & (np.abs(a.value - b.value) <= slack)):
            raise Unfit("a comparison that depends on rounding")
        return [self.predicates[step.attributes["predicate"]](a.value,
                                                              b.value)]


class Classify(Scalar):
    """isnan, isinf, isfinite and isnormal, of poison too."""
    functions = {"math.isnan": np.isnan, "math.isinf": np.isinf,
                 "math.isfinite": np.isfinite}

    def draw(self, g):
        x = g.value(poison=True)
        return Step(self, [x], [Value("i1", x.shape)])

    def evaluate(self, tape, step, operands, env):
        value, error = operands[0].value, operands[0].bounded.error
        if self.name != "math.isnormal":
            # What was computed may overflow or not.
            if np.any(error != 0) and not np.all(np.isfinite(value)):
                raise Unfit("an infinity that was computed")
            return [self.functions[self.name](value)]
        smallest = {"f16": 2.0**-14, "f64": 2.0**-1022}.get(
            operands[0].type, 2.0**-126)
        near = np.abs(value) < smallest + 4 * error
        if np.any(error[near] != 0):
            raise Unfit("a number that may be subnormal")
        return [np.isfinite(value) & (np.abs(value) >= smallest)]


class MaskLogic(Scalar):
    """andi, ori and xori of masks."""
    functions = {"arith.andi": np.logical_and, "arith.ori": np.logical_or,
                 "arith.xori": np.logical_xor}

    def draw(self, g):
        a = g.value("i1")
        b = a and g.value("i1", a.shape)
        return b and Step(self, [a, b], [Value("i1", a.shape)])

    def evaluate(self, tape, step, operands, env):
        return [self.functions[self.name](*operands)]


class Select(Scalar):
    """select by a mask, by one truth, of poison and a number behind it."""

    def __init__(self):
        super().__init__("arith.select")

    def draw(self, g):
        a = g.value(poison=True)
        if a.mask is not None and a.mask.shape == a.shape and (
                a.mask in set(g.visible())):
            b = g.value(a.element, a.shape)
            return Step(self, [a.mask, a, b], [Value(a.element, a.shape)])
        if a.mask is not None:
            return None
        b = g.value(a.element, a.shape)
        shape = None if g.chance(0.25) else a.shape
        return Step(self, [g.value("i1", shape), a, b],
                    [Value(a.element, a.shape)])

    def text(self, p, step):
        c, a, b = step.operands
        types = p.type(a)
        if c.shape is not None:
            types = f"{p.type(c)}, {types}"
        p.line(f"{p.declare(step.results[0])} = arith.select {c.name}, "
               f"{a.name}, {b.name} : {types}")

    def evaluate(self, tape, step, operands, env):
        c, a, b = operands
        shape = np.broadcast_shapes(np.shape(c), a.shape, b.shape)
        return [tape.select(np.broadcast_to(c, shape), a, b)]


KINDS = [RuleKind(rule) for rule in RULES] + [
    SinCos(), FPowI(), Convert("arith.extf"), Convert("arith.truncf"),
    FromInteger("arith.sitofp"), FromInteger("arith.uitofp"),
    ToInteger("arith.fptosi"), ToInteger("arith.fptoui"), Compare(),
    Classify("math.isnan"), Classify("math.isinf"), Classify("math.isfinite"),
    Classify("math.isnormal"), MaskLogic("arith.andi"), MaskLogic("arith.ori"),
    MaskLogic("arith.xori"), Select()]
for _kind in KINDS:
    if _kind.name in ("arith.mulf", "arith.addf", "arith.subf"):
        _kind.weight = 3.0
