# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions of several factors, some of them sparse: which there are, each
written in MLIR with its derivatives, and computed by `numpy.einsum`."""

import itertools
from dataclasses import dataclass

import numpy as np

from sparse_functions import FORMATS, Typing, Variant, closure
from sparse_storage import from_pattern
from sparse_tables import generic, product_of

LETTERS = "ijkl"


@dataclass(frozen=True)
class Contraction:
    """A sum of products: of each factor, and of the result, the letters of its
    dimensions, and whether it is sparse."""
    factors: tuple  # of pairs
    result: tuple

    @property
    def name(self):
        def word(operand):
            return (operand[0] or "0") + ("_s" if operand[1] else "")
        return "__".join(map(word, (*self.factors, self.result)))

    @property
    def operands(self):
        return (*self.factors, self.result)


def _kinds(count):
    """Dense factors of rank 1 and 2, sparse ones of rank 2 and, of three
    factors, 3."""
    for rank in (1, 2, 3):
        for letters in itertools.combinations(LETTERS, rank):
            if rank < 3:
                yield "".join(letters), False
            if rank == 2 or (rank == 3 and count == 3):
                yield "".join(letters), True


def _renamed(operands, letters):
    table = str.maketrans(dict(zip(LETTERS, letters)))
    return [("".join(sorted(name.translate(table))), is_sparse)
            for name, is_sparse in operands]


def contractions(count):
    """All of `count` factors with a sparse one, over at most four indices, to a
    result of at most two dimensions; one of those that differ by the names of
    indices or the order of factors. Where sparse factors have both dimensions of
    the result it is sparse as well as dense."""
    seen = set()
    for factors in itertools.combinations_with_replacement(
            list(_kinds(count)), count):
        if not any(is_sparse for _, is_sparse in factors):
            continue
        used = sorted(set("".join(name for name, _ in factors)))
        if "".join(used) != LETTERS[:len(used)]:
            continue
        stored = set("".join(name for name, is_sparse in factors if is_sparse))
        for rank in (0, 1, 2):
            for letters in itertools.combinations(used, rank):
                result = "".join(letters)
                key = min((tuple(sorted(_renamed(factors, p))),
                           _renamed([(result, False)], p)[0])
                          for p in itertools.permutations(LETTERS)
                          if set(_renamed([("".join(used), False)],
                                          p)[0][0]) == set(used))
                if key in seen:
                    continue
                seen.add(key)
                yield Contraction(factors, (result, False))
                if rank == 2 and set(result) <= stored:
                    yield Contraction(factors, (result, True))


def _values(name, count, first=0):
    return [f"%{name}{i}" for i in range(first, first + count)]


class ContractionProgram:
    """The functions of one contraction in formats that are drawn: entries for
    its values, the gradient of each factor, tangents, and derivatives of all
    gradients and tangents in three ways."""

    def __init__(self, program, contraction, rng):
        self.program, self.contraction = program, contraction
        # Dimensions in any order.
        self.dims = ["".join(rng.permutation(list(letters)))
                     for letters, _ in contraction.operands]
        self.is_sparse = [is_sparse for _, is_sparse in contraction.operands]
        encodings, names = {}, {}
        for number, (dims, is_sparse) in enumerate(zip(self.dims,
                                                       self.is_sparse)):
            if is_sparse:
                formats = FORMATS[len(dims)]
                # Blocks and dense rows store more than what is drawn.
                name = str(rng.choice([n for n in formats
                                       if "Dense" not in n and
                                       "BSR" not in n]))
                encodings[str(number)] = formats[name]
                names[str(number)] = name
        self.encodings = encodings
        self.typing = Typing(Variant(tuple(encodings.items()),
                                     tuple(names.items())))
        for number, name in names.items():
            program.define_encoding(name, encodings[number])
        # Names of formats are not part of a contraction's.
        self.name = contraction.name
        self.texts = [dims + (f"#{number}" if is_sparse else "")
                      for number, (dims, is_sparse) in enumerate(
                          zip(self.dims, self.is_sparse))]
        self.types = [self.typing.type(text) for text in self.texts]
        self.n = len(contraction.factors)
        self.entries = {}
        self._define()

    def _define(self):
        n, program = self.n, self.program
        *factors, result = self.types
        sums = set("".join(self.dims[:-1])) - set(self.dims[-1])
        loops = sorted(set("".join(self.dims[:-1])))
        made = "empty" if self.is_sparse[-1] or not sums else "zeros"
        iterators = "".join(d.upper() if d in sums else d for d in loops)
        body = self.typing.expand(
            f"  %z = {made} <<{self.texts[-1]}>>" + generic(
                ",".join(self.dims[:-1]) + "->" + self.dims[-1], iterators,
                list(zip(_values("x", n), self.texts)),
                ("%z", self.texts[-1]), "%y", product_of(n, bool(sums))))
        parameters = ", ".join(f"%x{i}: {t}" for i, t in enumerate(factors))
        program.define(f"""
func.func private @{self.name}_f({parameters}) -> {result} {{
{self.typing.extents(self.texts[:-1])}
{body}
  return %y : {result}
}}""")
        listed = ", ".join
        x, wrt = listed(_values("a", n)), listed(map(str, range(n)))
        f, inner = f"@{self.name}_f", factors + [result]

        def vjp(callee, inputs, outputs, first, over, wanted):
            types = outputs + [inputs[k] for k in wanted]
            return (f"sparse_autograd.vjp {callee}({first}) cotangents({over}) "
                    f"{{wrt = [{listed(map(str, wanted))}]}} : "
                    f"({listed(inputs)}), ({listed(outputs)}) -> "
                    f"({listed(types)})")

        def jvp(callee, inputs, outputs, first, along):
            return (f"sparse_autograd.jvp {callee}({first}) tangents({along}) "
                    f"{{wrt = [{wrt}]}} : ({listed(inputs)}), "
                    f"({listed(factors)}) -> ({listed(outputs + outputs)})")

        def entry(kind, inputs, outputs, op):
            count, name = len(outputs), f"{self.name}.{kind}"
            returned = listed(f"%r#{i}" for i in range(count))
            program.entry(name, inputs, outputs, f"  %r:{count} = {op}\n"
                          f"  return {returned} : {listed(outputs)}")
            self.entries[kind] = name

        entry("forward", factors, [result],
              f"func.call {f}({x}) : ({listed(factors)}) -> {result}")
        g, t = f"%a{n}", listed(_values("a", n, n))
        for k in range(n):
            entry(f"gradient{k}", inner, [result, factors[k]],
                  vjp(f, factors, [result], x, g, [k]))
        entry("tangent", factors + factors, [result, result],
              jvp(f, factors, [result], x, t))
        every = list(range(n))
        named = listed(f"%a{i}: {t_}" for i, t_ in enumerate(inner))
        returned = listed(f"%r#{i + 1}" for i in every)
        program.define(f"""
func.func private @{self.name}_g({named}) -> ({listed(factors)}) {{
  %r:{n + 1} = {vjp(f, factors, [result], x, g, every)}
  return {returned} : {listed(factors)}
}}""")
        twice = factors + factors
        named = listed(f"%a{i}: {t_}" for i, t_ in enumerate(twice))
        program.define(f"""
func.func private @{self.name}_t({named}) -> {result} {{
  %r:2 = {jvp(f, factors, [result], x, t)}
  return %r#1 : {result}
}}""")
        along = listed(_values("a", n, n + 1))
        for kind, op in (
                ("forward_over_reverse",
                 jvp(f"@{self.name}_g", inner, factors, f"{x}, {g}", along)),
                ("reverse_over_reverse",
                 vjp(f"@{self.name}_g", inner, factors, f"{x}, {g}", along,
                     every))):
            entry(kind, inner + factors, twice, op)
        entry("reverse_over_forward", twice + [result], [result, *factors],
              vjp(f"@{self.name}_t", twice, [result], f"{x}, {t}", f"%a{2 * n}",
                  every))

    def keeps_patterns(self):
        """Whether every sparse value has the pattern of a factor: a sparse
        result has, of one sparse factor."""
        factors = [set(dims) for dims, is_sparse in zip(self.dims[:-1],
                                                        self.is_sparse)
                   if is_sparse]
        return not self.is_sparse[-1] or factors == [set(self.dims[-1])] and (
            self.encodings[str(self.n)] ==
            self.encodings[str(self.is_sparse.index(True))])

    def draw(self, rng, sizes, share):
        """Factors, a cotangent and directions, with the patterns of what is
        sparse: of a sparse result, what some product contributes to."""
        n = self.n
        shapes = [tuple(sizes[d] for d in dims) for dims in self.dims]
        masks = [rng.random(shape) < share if is_sparse else
                 np.ones(shape, bool)
                 for shape, is_sparse in zip(shapes, self.is_sparse)]
        masks[-1] = np.ones(shapes[-1], bool)
        if self.is_sparse[-1]:
            masks[-1] = self._sum(
                [m.astype(np.float64) if s else np.ones(m.shape)
                 for m, s in zip(masks, self.is_sparse)], n) > 0
        for number, is_sparse in enumerate(self.is_sparse):
            if is_sparse:
                masks[number] = closure(masks[number],
                                        self.encodings[str(number)])

        def draw_like(number):
            return np.where(masks[number],
                            rng.uniform(-1.5, 1.5, shapes[number]), 0)

        self.masks = masks
        self.factors = [draw_like(k) for k in range(n)]
        self.cotangent = draw_like(n)
        self.directions = [draw_like(k) for k in range(n)]

    def _sum(self, operands, wanted):
        """The sum of products of all operands but one, to its dimensions."""
        others = [k for k in range(self.n + 1) if k != wanted]
        # What none of the others ranges over is repeated.
        used = set("".join(self.dims[k] for k in others))
        kept = "".join(d for d in self.dims[wanted] if d in used)
        text = ",".join(self.dims[k] for k in others) + "->" + kept
        total = np.einsum(text, *(operands[k] for k in others))
        total = total.reshape([s if d in used else 1 for s, d in zip(
            operands[wanted].shape, self.dims[wanted])])
        return np.broadcast_to(total, operands[wanted].shape)

    def expected(self):
        """The results of each entry, with the numbers of the operands that they
        are like."""
        n, every = self.n, list(range(self.n))
        operands = [*self.factors, self.cotangent]

        def with_direction(k):
            return [*operands[:k], self.directions[k], *operands[k + 1:]]

        value = self._sum(operands, n)
        gradients = [self._sum(operands, k) for k in every]
        tangent = sum(self._sum(with_direction(k), n) for k in every)
        second = [sum(self._sum(with_direction(k), of) for k in every
                      if k != of) for of in every]
        found = {"forward": ([value], [n]), "tangent": ([value, tangent],
                                                        [n, n])}
        for k in every:
            found[f"gradient{k}"] = [value, gradients[k]], [n, k]
        for kind in ("forward_over_reverse", "reverse_over_reverse"):
            found[kind] = gradients + second, every + every
        found["reverse_over_forward"] = [tangent] + second, [n] + every
        return {kind: [(np.where(self.masks[k], a, 0), k)
                       for a, k in zip(*both)]
                for kind, both in found.items()}

    def store(self, array, number):
        if not self.is_sparse[number]:
            return np.asarray(array)
        return from_pattern(array, self.masks[number],
                            self.encodings[str(number)])

    def arguments(self, kind):
        every = range(self.n)
        x = [self.store(self.factors[k], k) for k in every]
        t = [self.store(self.directions[k], k) for k in every]
        g = [self.store(self.cotangent, self.n)]
        if kind == "forward":
            return x
        if kind.startswith("gradient"):
            return x + g
        if kind in ("tangent", "reverse_over_forward"):
            return x + t + (g if kind != "tangent" else [])
        return x + g + t
