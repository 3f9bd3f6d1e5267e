# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Structured ops: named ones, contractions, and generic ones with a region of
random scalar ops."""

import string

import numpy as np

import masked_tape
from language import Kind, Step, Value
from scalar_kinds import extremum
from scalar_rules import RULES

_RULES = {r.op: r for r in RULES}


def outs(g, element, shape, p=0.5):
    """A value to accumulate into, or None for zeros."""
    return g.value(element, shape) if g.chance(p) else None


class Named(Kind):
    """A named elementwise op."""

    def __init__(self, name, rule, arity=1):
        self.name, self.rule, self.arity = "linalg." + name, rule, arity

    def draw(self, g):
        intervals = self.rule.intervals
        low, high = _hull(intervals[0])
        x = g.value(low=low, high=high, rank=(0, 1, 2, 3))
        operands = [x]
        for interval in intervals[1:]:
            low, high = _hull(interval)
            operands.append(g.value(x.element, x.shape, low, high))
        return Step(self, operands, [Value(x.element, x.shape)])

    def text(self, p, step):
        x = step.operands[0]
        type_ = p.type(x)
        empty = p.empty(x.shape, x.element, step.operands)
        p.line(f"{p.declare(step.results[0])} = {self.name} "
               f"ins({p.names(step.operands)} : {p.types(step.operands)}) "
               f"outs({empty} : {type_}) -> {type_}")

    def evaluate(self, tape, step, operands, env):
        rule = self.rule
        return [tape.function(rule.value, rule.partials, operands,
                              rule.roundings, rule.smooth)]


def _hull(interval):
    return (None, None) if interval == (-2, 2) else interval


class _Reciprocal:
    intervals = [(0.5, 2)]
    roundings, smooth = 1, True

    @staticmethod
    def value(x):
        return 1 / x

    @staticmethod
    def partials(x, y):
        return [-(y * y)]


class _Square:
    intervals = [(-2, 2)]
    roundings, smooth = 1, True

    @staticmethod
    def value(x):
        return x * x

    @staticmethod
    def partials(x, y):
        return [x + x]


NAMED = {
    "add": "arith.addf", "sub": "arith.subf", "mul": "arith.mulf",
    "div": "arith.divf", "max": "arith.maximumf", "min": "arith.minimumf",
    "negf": "arith.negf", "exp": "math.exp", "log": "math.log",
    "abs": "math.absf", "ceil": "math.ceil", "floor": "math.floor",
    "sqrt": "math.sqrt", "rsqrt": "math.rsqrt", "tanh": "math.tanh",
    "erf": "math.erf", "round": "math.round", "powf": "math.powf"}


class Moving(Kind):
    def evaluate(self, tape, step, operands, env):
        return [tape.move(lambda x: self.moved(step, x), operands[0])]

    def moved(self, step, x):
        return x


class Copy(Moving):
    name = "linalg.copy"

    def draw(self, g):
        x = g.value(rank=(0, 1, 2, 3))
        return Step(self, [x], [Value(x.element, x.shape)])

    def text(self, p, step):
        x, result = step.operands[0], step.results[0]
        empty, type_ = p.empty(x.shape, x.element, [x]), p.type(x)
        p.line(f"{p.declare(result)} = linalg.copy ins({x.name} : {type_}) "
               f"outs({empty} : {type_}) -> {type_}")


class Fill(Moving):
    name = "linalg.fill"

    def draw(self, g):
        s = g.value(shape=None)
        return Step(self, [s], [Value(s.element, g.shape())])

    def text(self, p, step):
        s, result = step.operands[0], step.results[0]
        empty, type_ = p.empty(result.shape, s.element), p.type(result)
        p.line(f"{p.declare(result)} = linalg.fill ins({s.name} : {s.element}) "
               f"outs({empty} : {type_}) -> {type_}")

    def moved(self, step, x):
        return np.broadcast_to(x, step.results[0].shape)


class Transpose(Moving):
    name = "linalg.transpose"

    def draw(self, g):
        x = g.value(rank=(2, 3))
        order = list(range(len(x.shape)))
        g.rng.shuffle(order)
        return Step(self, [x], [Value(x.element,
                                      tuple(x.shape[d] for d in order))],
                    {"order": order})

    def text(self, p, step):
        x, result = step.operands[0], step.results[0]
        empty = p.empty(result.shape, x.element, [x])
        p.line(f"{p.declare(result)} = linalg.transpose ins({x.name} : "
               f"{p.type(x)}) outs({empty} : {p.type(result)}) permutation = "
               f"{step.attributes['order']}")

    def moved(self, step, x):
        return np.transpose(x, step.attributes["order"])


class Broadcast(Moving):
    name = "linalg.broadcast"

    def draw(self, g):
        x = g.value(rank=(0, 1, 2))
        at = g.rng.randrange(len(x.shape) + 1)
        n = g.rng.choice(g.sizes)
        if n * np.prod(x.shape) > 4000:
            return None
        return Step(self, [x], [Value(x.element,
                                      x.shape[:at] + (n,) + x.shape[at:])],
                    {"at": at})

    def text(self, p, step):
        x, result = step.operands[0], step.results[0]
        empty = p.empty(result.shape, x.element, [x])
        p.line(f"{p.declare(result)} = linalg.broadcast ins({x.name} : "
               f"{p.type(x)}) outs({empty} : {p.type(result)}) dimensions = "
               f"[{step.attributes['at']}]")

    def moved(self, step, x):
        return np.broadcast_to(np.expand_dims(x, step.attributes["at"]),
                               step.results[0].shape)


class Map(Kind):
    """linalg.map of an op of arith, or of a region of its own."""
    name = "linalg.map"

    def draw(self, g):
        x = g.value(rank=(1, 2, 3))
        y = g.value(x.element, x.shape)
        return Step(self, [x, y], [Value(x.element, x.shape)])

    def text(self, p, step):
        x, y = step.operands
        empty, type_ = p.empty(x.shape, x.element, [x]), p.type(x)
        p.line(f"{p.declare(step.results[0])} = linalg.map {{arith.mulf}} "
               f"ins({x.name}, {y.name} : {type_}, {type_}) "
               f"outs({empty} : {type_})")

    def evaluate(self, tape, step, operands, env):
        return [tape.multiply(*operands)]


# Contractions.

class Contraction(Kind):
    """A named op, or a generic one, that is an einsum."""

    def __init__(self, name, spec):
        self.name, self.spec = "linalg." + name, spec

    def draw(self, g):
        inputs, output = self.spec.split("->")
        extents, operands = {}, []
        element = None
        for letters in inputs.split(","):
            def fits(v, letters=letters):
                return (len(v.shape) == len(letters) and
                        all(extents.get(l, n) == n
                            for l, n in zip(letters, v.shape)) and
                        len(set(letters)) == len(letters))

            x = g.value(element, rank=(len(letters),), where=fits)
            if x is None:
                shape = tuple(extents.get(l, g.rng.choice(g.sizes))
                              for l in letters)
                if np.prod(shape) > 3000:
                    return None
                x = g.fresh(element, shape)
            element = x.element
            extents.update(zip(letters, x.shape))
            operands.append(x)
        if np.prod([max(n, 1) for n in extents.values()]) > 60000:
            return None
        shape = tuple(extents[l] for l in output)
        if np.prod(shape) > 4000:
            return None
        into = outs(g, element, shape)
        return Step(self, operands + ([into] if into else []),
                    [Value(element, shape)], {"inputs": len(operands)})

    def parts(self, p, step):
        """The inputs and the name of what is accumulated into."""
        n, result = step.attributes["inputs"], step.results[0]
        inputs = step.operands[:n]
        into = (step.operands[n].name if len(step.operands) > n else
                p.filled(result.shape, result.element, "0.0", inputs))
        return inputs, into, p.type(result)

    def text(self, p, step):
        inputs, into, type_ = self.parts(p, step)
        p.line(f"{p.declare(step.results[0])} = {self.name} "
               f"ins({p.names(inputs)} : {p.types(inputs)}) "
               f"outs({into} : {type_}) -> {type_}")

    def evaluate(self, tape, step, operands, env):
        n = step.attributes["inputs"]
        return [tape.contract(self.spec, operands[:n],
                              operands[n] if len(operands) > n else None)]


class MatmulMaps(Contraction):
    """matmul with maps of its own."""

    def __init__(self, spec):
        super().__init__("matmul", spec)

    def names(self):
        return ["linalg.matmul with maps"]

    def counted(self, step):
        return self.names()

    def text(self, p, step):
        inputs, into, type_ = self.parts(p, step)
        maps = ", ".join(
            f"affine_map<(i, j, k) -> ({', '.join(l)})>"
            for l in self.spec.replace("->", ",").split(","))
        p.line(f"{p.declare(step.results[0])} = linalg.matmul indexing_maps = "
               f"[{maps}] ins({p.names(inputs)} : {p.types(inputs)}) "
               f"outs({into} : {type_}) -> {type_}")


class GenericContraction(Contraction):
    """A generic product, perhaps subtracted: of one, two or three operands."""
    specs = ("ij->i", "ij->j", "ij->", "ij,j->i", "ij,ij->", "ij,jk->ik",
             "ji,kj->ik", "ij,ik,kj->ij", "i,j->ij", "ijk,k->ij", "ij,i->j",
             "ijk->k")

    def __init__(self):
        super().__init__("generic", "")

    def names(self):
        return ["linalg.generic of products"]

    def counted(self, step):
        return self.names()

    def draw(self, g):
        self.spec = g.rng.choice(self.specs)
        step = super().draw(g)
        if step is not None:
            step.attributes |= {"spec": self.spec,
                                "sign": g.rng.choice((1, 1, -1))}
        return step

    def text(self, p, step):
        inputs, into, type_ = self.parts(p, step)
        spec = step.attributes["spec"]
        groups = spec.replace("->", ",").split(",")
        letters = sorted(set("".join(groups)))
        t = step.results[0].element
        names = [p.fresh("b") for _ in groups]
        body = []
        product = names[0]
        for name in names[1:-1]:
            new = p.fresh("b")
            body.append(f"{new} = arith.mulf {product}, {name} : {t}")
            product = new
        new = p.fresh("b")
        op = "addf" if step.attributes["sign"] == 1 else "subf"
        body.append(f"{new} = arith.{op} {names[-1]}, {product} : {t}")
        body.append(f"linalg.yield {new} : {t}")
        generic(p, p.declare(step.results[0]), letters, groups,
                [v.name for v in inputs], [p.type(v) for v in inputs], into,
                type_, names, t, body)

    def evaluate(self, tape, step, operands, env):
        n = step.attributes["inputs"]
        return [tape.contract(step.attributes["spec"], operands[:n],
                              operands[n] if len(operands) > n else None,
                              step.attributes["sign"])]


def generic(p, result, letters, groups, inputs, types, into, type_, names,
            element, body):
    """Prints a linalg.generic over loops named by letters."""
    dims = ", ".join(letters)
    maps = ", ".join(f"affine_map<({dims}) -> ({', '.join(gr)})>"
                     for gr in groups)
    iterators = ", ".join('"parallel"' if l in groups[-1] else '"reduction"'
                          for l in letters)
    ins = (f"ins({', '.join(inputs)} : {', '.join(types)}) " if inputs else "")
    arguments = ", ".join(f"{n}: {element}" for n in names)
    p.line(f"{result} = linalg.generic {{indexing_maps = [{maps}], "
           f"iterator_types = [{iterators}]}} {ins}outs({into} : {type_}) {{")
    p.lines.append(f"  ^bb0({arguments}):")
    for line in body:
        p.lines.append("    " + line)
    p.line(f"}} -> {type_}")


# Generics with random bodies.

class GenericBody(Kind):
    """A generic with a region of random scalar ops over broadcast and
    transposed operands; what they make is stored or reduced."""
    combiners = {"none": None, "addf": "arith.addf", "mulf": "arith.mulf",
                 "maximumf": "arith.maximumf", "minimumf": "arith.minimumf"}

    def __init__(self, combiner):
        self.combiner = combiner
        self.name = ("linalg.generic of elements" if combiner == "none" else
                     f"linalg.generic with {combiner}")

    def draw(self, g):
        rank = g.rng.choice((1, 2, 2, 2, 3))
        letters = "ijk"[:rank]
        space = g.shape(rank)
        extents = dict(zip(letters, space))
        operands, groups = [], []
        element = g.element
        for i in range(g.rng.choice((1, 2, 2, 3))):
            kept = list(letters)
            if i:
                kept = [l for l in letters if g.chance(0.7)]
            if g.chance(0.3):
                g.rng.shuffle(kept)
            operands.append(g.value(element, tuple(extents[l] for l in kept)))
            groups.append("".join(kept))
        if set("".join(groups)) != set(letters):
            return None
        if self.combiner == "none":
            kept = list(letters)
            if g.chance(0.3):
                g.rng.shuffle(kept)
        else:
            kept = [l for l in letters[1:] if g.chance(0.6)]
            if g.chance(0.4):
                kept = [l for l in letters if l != g.rng.choice(letters)]
            if len(kept) == rank:
                return None
        if self.combiner == "mulf" and np.prod(space) > 60:
            return None
        shape = tuple(extents[l] for l in kept)
        result = Value(element, shape)
        groups.append("".join(kept))
        arguments = [Value(element, None) for _ in operands]
        references = [_spread(g.tape, g.env[v], gr, letters, space)
                      for v, gr in zip(operands, groups)]
        g.scalar_region += 1
        region = g.region(arguments, references, g.rng.choice((1, 2, 3)),
                          lambda kind: kind.scalar, isolated=True)
        g.scalar_region -= 1
        last = g.newest(arguments[0])
        region.yields = [last]
        into = []
        if self.combiner != "none":
            low, high = {"mulf": (0.5, 1.5)}.get(self.combiner, (None, None))
            into = [g.value(element, shape, low, high)]
        return Step(self, operands + into, [result],
                    {"groups": groups, "letters": letters, "space": space},
                    [region])

    def text(self, p, step):
        at = step.attributes
        n = len(at["groups"]) - 1
        inputs, region = step.operands[:n], step.regions[0]
        result = step.results[0]
        into = (step.operands[n].name if len(step.operands) > n else
                p.empty(result.shape, result.element, inputs))
        names = [p.declare(v, "b") for v in region.arguments] + [p.fresh("b")]
        inner = _Body(p)
        for nested in region.steps:
            nested.kind.text(inner, nested)
        last = region.yields[0].name
        element = result.element
        if self.combiner != "none":
            new = p.fresh("b")
            inner.line(f"{new} = arith.{self.combiner} {names[-1]}, {last} : "
                       f"{element}")
            last = new
        inner.line(f"linalg.yield {last} : {element}")
        generic(p, p.declare(result), at["letters"], at["groups"],
                [v.name for v in inputs], [p.type(v) for v in inputs], into,
                p.type(result), names, element, inner.lines)

    def evaluate(self, tape, step, operands, env):
        at = step.attributes
        n = len(at["groups"]) - 1
        letters, space = at["letters"], at["space"]
        given = [_spread(tape, x, gr, letters, space)
                 for x, gr in zip(operands[:n], at["groups"])]
        value = step.regions[0].run(tape, given, {})[0]
        if value.shape != tuple(space):
            value = tape.move(lambda x: np.broadcast_to(x, space), value)
        kept = at["groups"][-1]
        order = [letters.index(l) for l in kept]
        if self.combiner == "none":
            return [tape.move(lambda x: np.transpose(x, order), value)]
        if self.combiner == "addf":
            return [tape.contract(f"{''.join(letters)}->{kept}", [value],
                                  operands[n])]
        return [fold(tape, self.combiner, value, letters, kept, operands[n])]


class _Body:
    """A printer of scalar ops into a list of lines."""

    def __init__(self, p):
        self.p, self.lines = p, []

    def line(self, text):
        self.lines.append(text)

    def __getattr__(self, name):
        return getattr(self.p, name)

    def static_result(self, value, text):
        self.line(f"{self.p.declare(value)} = {text}")


def _spread(tape, x, group, letters, space):
    """An operand over the loops."""
    def moved(positions):
        order = sorted(range(len(group)), key=lambda d: letters.index(group[d]))
        positions = np.transpose(positions, order)
        shape = [n if l in group else 1 for l, n in zip(letters, space)]
        return np.broadcast_to(positions.reshape(shape), space)
    return tape.move(moved, x)


def fold(tape, combiner, value, letters, kept, initial):
    """The reduction of the elements, combined with what it starts with. The
    order of elements makes no difference to a maximum, and a product is bounded
    in any."""
    reduced = [d for d, l in enumerate(letters) if l not in kept]
    order = [letters.index(l) for l in kept] + reduced
    shape = initial.shape
    rows = int(np.prod(shape, dtype=int))
    flat = tape.move(lambda x: np.transpose(x, order).reshape(
        rows, -1) if rows else x.reshape(0, 1), value)
    kind = {"mulf": "prod", "maximumf": "max", "minimumf": "min"}[combiner]
    result = masked_tape.reduce(tape, kind, flat, np.ones(flat.shape, bool),
                                (1,))
    result = tape.move(lambda x: x.reshape(shape), result)
    if combiner == "mulf":
        return tape.multiply(result, initial)
    return extremum(tape, combiner, result, initial)


class Reduce(Kind):
    """linalg.reduce by a combiner."""

    def __init__(self, combiner):
        self.combiner, self.name = combiner, f"linalg.reduce with {combiner}"

    def draw(self, g):
        x = g.value(rank=(1, 2, 3))
        if self.combiner == "mulf" and np.prod(x.shape) > 100:
            return None
        dims = sorted(g.rng.sample(range(len(x.shape)),
                                   g.rng.randint(1, len(x.shape))))
        shape = tuple(n for d, n in enumerate(x.shape) if d not in dims)
        into = g.value(x.element, shape)
        return Step(self, [x, into], [Value(x.element, shape)], {"dims": dims})

    def text(self, p, step):
        x, into = step.operands
        p.line(f"{p.declare(step.results[0])} = linalg.reduce "
               f"{{arith.{self.combiner}}} ins({x.name} : {p.type(x)}) "
               f"outs({into.name} : {p.type(into)}) dimensions = "
               f"{step.attributes['dims']}")

    def evaluate(self, tape, step, operands, env):
        x, into = operands
        letters = string.ascii_lowercase[:len(x.shape)]
        kept = "".join(l for d, l in enumerate(letters)
                       if d not in step.attributes["dims"])
        if self.combiner == "addf":
            return [tape.contract(f"{letters}->{kept}", [x], into)]
        return [fold(tape, self.combiner, x, letters, kept, into)]


KINDS = [Named(name, _RULES[rule]) for name, rule in NAMED.items()] + [
    Named("square", _Square), Named("reciprocal", _Reciprocal),
    Copy(), Fill(), Transpose(), Broadcast(), Map(),
    Contraction("matmul", "ij,jk->ik"),
    Contraction("batch_matmul", "bij,bjk->bik"),
    Contraction("matvec", "ij,j->i"), Contraction("vecmat", "i,ij->j"),
    Contraction("dot", "i,i->"), Contraction("batch_matvec", "bij,bj->bi"),
    MatmulMaps("ki,jk->ij"), MatmulMaps("ik,jk->ij"), GenericContraction(),
    GenericBody("none"), GenericBody("addf"), GenericBody("mulf"),
    GenericBody("maximumf"), GenericBody("minimumf"), Reduce("addf"),
    Reduce("mulf"), Reduce("maximumf"), Reduce("minimumf")]
for _kind in KINDS:
    if isinstance(_kind, GenericBody):
        _kind.weight = 2.0
