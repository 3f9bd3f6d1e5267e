# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops, branches and calls, with regions of random ops."""

import numpy as np

from language import Kind, Printer, Region, Step, Value


class Nested(Kind):
    weight = 3.0

    def count(self, g):
        return g.rng.choice((1, 1, 2, 3))

    def allowed(self, g):
        """At most two levels."""
        deep = len(g.scopes) > 2
        return lambda kind: kind.nested and not (
            deep and isinstance(kind, Nested))


def _like(value):
    return Value(value.element, value.shape)


class For(Nested):
    """A loop that carries tensors and scalars; it may count, and reads what is
    outside."""
    name = "scf.for"

    def draw(self, g):
        carried = []
        for _ in range(g.rng.choice((1, 1, 2))):
            x = g.value()
            if x not in carried:
                carried.append(x)
        trips = g.rng.choice((0, 1, 2, 2, 3, 3, 4))
        lower, step = g.rng.choice((0, 0, 1, 2)), g.rng.choice((1, 1, 2, 3))
        upper = lower + step * trips - g.rng.choice(
            range(min(step, trips + 1)) if trips else (0, 1))
        if upper < 0:
            upper = 0
        iterations = len(range(lower, upper, step))
        induction = Value("index", None)
        arguments = [induction] + [_like(x) for x in carried]
        references = [np.asarray(lower)] + [g.env[x] for x in carried]
        if iterations:
            g.limits[induction] = lower + (iterations - 1) * step + 1
        else:
            # What a loop that does not run would read is not there.
            g.limits[induction] = 1
        region = g.region(arguments, references, self.count(g),
                          self.allowed(g))
        region.yields = [g.newest(x) for x in carried]
        bounds = {"lower": lower, "upper": upper, "step": step,
                  "carried": len(carried)}
        operands = list(carried)
        if g.chance(0.4) and not any(g.isolated):
            # A bound that is an argument.
            n = g.argument("index", None, np.asarray(upper))
            operands.append(n)
        return Step(self, operands, [_like(x) for x in carried], bounds,
                    [region])

    def text(self, p, step):
        at, region = step.attributes, step.regions[0]
        carried = step.operands[:at["carried"]]
        lower, by = p.index(at["lower"]), p.index(at["step"])
        upper = (step.operands[-1].name if len(step.operands) > len(carried)
                 else p.index(at["upper"]))
        induction, *arguments = region.arguments
        p.declare(induction, "i")
        pairs = ", ".join(f"{p.declare(a)} = {x.name}"
                          for a, x in zip(arguments, carried))
        names, result = _results(p, step)
        p.line(f"{result} = scf.for {induction.name} = {lower} to {upper} step "
               f"{by} iter_args({pairs}) -> ({p.types(step.results)}) {{")
        p.region(region, "scf.yield")
        p.line("}")
        _name(step, names)

    def evaluate(self, tape, step, operands, env):
        at, region = step.attributes, step.regions[0]
        values = list(operands[:at["carried"]])
        upper = (int(operands[-1]) if len(operands) > len(values) else
                 at["upper"])
        trips = range(at["lower"], upper, at["step"])
        for i in trips:
            values = region.run(tape, [np.asarray(i)] + values, env)
        if not trips:
            # The cotangents of what it captures are zeros without a mask.
            captured = [env[v] for v in region.captured() if v.is_float]
            captured = [c for c in captured if c.index is not None]
            if captured:
                values = [tape.touch(captured, v) for v in values]
        return values


def _results(p, step):
    """A name for all results, and how it is written where they are made."""
    name = p.fresh("r")
    n = len(step.results)
    return ([name] if n == 1 else [f"{name}#{i}" for i in range(n)],
            name if n == 1 else f"{name}:{n}")


def _name(step, names):
    for value, name in zip(step.results, names):
        value.name = name


class If(Nested):
    """A branch by an argument or by a comparison."""
    name = "scf.if"

    def draw(self, g):
        likes = []
        for _ in range(g.rng.choice((1, 1, 2))):
            x = g.value()
            if x not in likes:
                likes.append(x)
        condition = g.value("i1", None)
        regions = []
        for _ in range(2):
            region = g.region([], [], g.rng.choice((0, 1, 1, 2)),
                              self.allowed(g))
            region.yields = [g.newest(x) or x for x in likes]
            regions.append(region)
        if all(a is b for a, b in zip(*(r.yields for r in regions))):
            return None
        return Step(self, [condition], [_like(x) for x in likes], {}, regions)

    def text(self, p, step):
        names, result = _results(p, step)
        p.line(f"{result} = scf.if {step.operands[0].name} -> "
               f"({p.types(step.results)}) {{")
        p.region(step.regions[0], "scf.yield")
        p.line("} else {")
        p.region(step.regions[1], "scf.yield")
        p.line("}")
        _name(step, names)

    def evaluate(self, tape, step, operands, env):
        return step.regions[0 if bool(operands[0]) else 1].run(tape, [], env)


class Call(Nested):
    """A call of a function of its own; a checkpoint is one whose function the
    adjoint computes again."""

    def __init__(self, name):
        self.name = name

    def draw(self, g):
        given = []
        for _ in range(g.rng.choice((1, 2, 2, 3))):
            x = g.value()
            if x not in given:
                given.append(x)
        arguments = [_like(x) for x in given]
        region = g.region(arguments, [g.env[x] for x in given], self.count(g),
                          self.allowed(g), isolated=True)
        inside = [v for v in g.inside if v.is_float and v.mask is None and
                  v not in arguments] or arguments
        region.yields = inside[-g.rng.choice((1, 1, 2)):]
        return Step(self, given, [_like(v) for v in region.yields], {},
                    [region])

    def text(self, p, step):
        region = step.regions[0]
        callee = define(p, region, region.arguments, region.yields)
        names, result = _results(p, step)
        p.line(f"{result} = {self.name} {callee}({p.names(step.operands)}) : "
               f"({p.types(step.operands)}) -> ({p.types(step.results)})")
        _name(step, names)

    def evaluate(self, tape, step, operands, env):
        return step.regions[0].run(tape, operands, {})


def define(p, region, arguments, results, more=lambda inner: None):
    """Prints a function of a region's steps, and of what `more` adds; its
    name."""
    inner = Printer(p.dynamic, p.name)
    inner.functions = p.functions
    for value in arguments:
        inner.declare(value, "x")
    for nested in region.steps:
        nested.kind.text(inner, nested)
    more(inner)
    inner.line(f"return {inner.names(results)} : {inner.types(results)}")
    name = f"@{p.name}_f{len(p.functions)}"
    p.functions.append(
        f"func.func private {name}({inner.parameters(arguments)})"
        f" -> ({inner.types(results)}) {{\n" + "\n".join(inner.lines) +
        "\n}\n")
    return name


class CustomVjp(Nested):
    """A function of values of one type with a derivative that the program
    makes up: a cotangent is multiplied by values of the function, which are
    the residuals."""
    name = "sparse_autograd.custom_vjp"

    def draw(self, g):
        first = g.value()
        given = [first]
        for _ in range(g.rng.choice((0, 1, 1, 2))):
            x = g.value(first.element, first.shape)
            if x not in given:
                given.append(x)
        arguments = [_like(x) for x in given]
        region = g.region(arguments, [g.env[x] for x in given], self.count(g),
                          self.allowed(g), isolated=True)
        fits = [v for v in g.inside if v.element == first.element and
                v.shape == first.shape and v.mask is None]
        region.yields = [fits[-1]] + [g.rng.choice(fits) for _ in given]
        return Step(self, given, [_like(first)], {}, [region])

    def text(self, p, step):
        region = step.regions[0]
        callee = define(p, region, region.arguments, region.yields[:1])
        forward = define(p, region, region.arguments, region.yields)
        residuals = [_like(v) for v in region.yields[1:]]
        cotangent = _like(step.results[0])
        gradients = [_like(cotangent) for _ in residuals]

        def multiply(inner):
            for residual, gradient in zip(residuals, gradients):
                inner.line(f"{inner.declare(gradient)} = arith.mulf "
                           f"{residual.name}, {cotangent.name} : "
                           f"{inner.type(cotangent)}")

        backward = define(p, Region([]), residuals + [cotangent], gradients,
                          multiply)
        names, result = _results(p, step)
        p.line(f"{result} = {self.name} {callee}({p.names(step.operands)}) "
               f"forward({forward}) backward({backward}) : "
               f"({p.types(step.operands)}) -> ({p.types(step.results)})")
        _name(step, names)

    def evaluate(self, tape, step, operands, env):
        value, *residuals = step.regions[0].run(
            tape, [tape.stop(x) for x in operands], {})
        return [tape.elementwise(operands, value.bounded,
                                 [r.bounded for r in residuals])]


KINDS = [For(), If(), Call("func.call"), Call("sparse_autograd.checkpoint"),
         CustomVjp()]
