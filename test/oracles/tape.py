# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Derivatives of NumPy programs, forward and reverse, with error bounds.

A `Tape` records what is computed with `Number`s: a reference value in extended
precision and how far a computation in the number's element type may be from it
(see bounded.py). Forward and reverse sweeps carry bounds in the same way. There
are few primitives (elementwise functions, moves of elements, selection, sums of
products, masked reductions in masked_tape.py), each with both derivatives, and
what an op does is written with them: nothing here knows the compiler's rules.

A cotangent has a support (semantics G2). Where that is NONE no adjoint is
evaluated: a NaN there is nothing. Where it is ORDINARY the cotangent came
through a contraction and is a number, be it a zero. MAYBE is a number that the
semantics leaves open to treat as either; a program whose gradient depends on
that, or on which side of a kink a value lies, is `Unfit` as a test.
"""

from dataclasses import dataclass
from typing import Callable

import numpy as np

from bounded import Bounded
from masked_ops import EPSILON, SUBNORMAL, gamma

NONE, MAYBE, ORDINARY = 0, 1, 2


class Unfit(Exception):
    """The program is no test: its result is not determined."""


def wide(element_type):
    """The type that reductions of a type are computed in (G11)."""
    return element_type if element_type == "f64" else "f32"


def bound(value, error, element_type, roundings=0):
    """A Bounded with so many roundings of its own."""
    result = Bounded(value, error, element_type)
    if roundings:
        result = result._rounded(result.value, result.error, roundings)
    return result


def constant(value, element_type):
    return Bounded(value, 0.0, element_type)


def spread(array, shape):
    """A Bounded broadcast to a shape."""
    return Bounded(np.broadcast_to(array.value, shape),
                   np.broadcast_to(array.error, shape), array.type)


def sum_of(terms):
    """A sum of Bounded terms in any order."""
    if len(terms) == 1:
        return terms[0]
    value = sum(t.value for t in terms)
    size = sum(np.abs(t.value) + t.error for t in terms)
    error = sum(t.error for t in terms)
    u = EPSILON[terms[0].type]
    size = np.where(np.isfinite(size), size, 0)
    return Bounded(value, error + gamma(len(terms) - 1, u) * size,
                   terms[0].type)


class Number:
    """A value on a tape; `index` is None where no argument reaches it."""

    __slots__ = ("bounded", "index")

    def __init__(self, bounded, index=None):
        self.bounded, self.index = bounded, index

    @property
    def value(self):
        return self.bounded.value

    @property
    def type(self):
        return self.bounded.type

    @property
    def shape(self):
        return self.bounded.value.shape


@dataclass
class _Node:
    type: str
    shape: tuple
    parents: tuple  # indices, None of a constant
    push: Callable  # tangents of the parents (None: zero) to a tangent
    pull: Callable  # cotangent and support to those of the parents


class Tape:
    """The record of a computation."""

    def __init__(self):
        self.nodes = []

    def argument(self, array, element_type):
        return self.node([], constant(array, element_type), None, None, True)

    def constant(self, array, element_type):
        return Number(constant(array, element_type))

    def node(self, parents, result, push, pull, active=False):
        """A result of parents with its derivatives. push takes a list with a
        tangent (Bounded, or None) for each parent; pull a cotangent and its
        support, and returns for each parent such a pair or None."""
        if not active and all(p.index is None for p in parents):
            return Number(result)
        self.nodes.append(_Node(result.type, result.value.shape,
                                tuple(p.index for p in parents), push, pull))
        return Number(result, len(self.nodes) - 1)

    # Sweeps.

    def forward(self, directions):
        """The tangents of all nodes; `directions` has those of arguments, by
        index. A node without a tangent has None."""
        tangents = [None] * len(self.nodes)
        for index, node in enumerate(self.nodes):
            if index in directions:
                tangents[index] = directions[index]
                continue
            if node.push is None:
                continue
            given = [None if p is None else tangents[p] for p in node.parents]
            if any(t is not None for t in given):
                tangents[index] = node.push(given)
        return tangents

    def reverse(self, seeds):
        """The cotangents of all nodes, as pairs with a support, for those of
        some, pairs of an index and a Bounded."""
        terms = [[] for _ in self.nodes]
        for index, seed in seeds:
            terms[index].append((seed, np.full(seed.value.shape, ORDINARY,
                                               np.int8)))
        result = [None] * len(self.nodes)
        for index in reversed(range(len(self.nodes))):
            node = self.nodes[index]
            if not terms[index]:
                continue
            support = np.maximum.reduce([s for _, s in terms[index]])
            total = sum_of([t for t, _ in terms[index]])
            result[index] = total, support
            if node.pull is None:
                continue
            for parent, term in zip(node.parents, node.pull(total, support)):
                if parent is None or term is None:
                    continue
                cotangent, support_of = term
                cotangent = cotangent.where(support_of != NONE)
                if np.any((support_of == MAYBE) &
                          ~(np.isfinite(cotangent.value) &
                            np.isfinite(cotangent.error))):
                    raise Unfit("a gradient that the semantics leaves open")
                terms[parent].append((cotangent.to(self.nodes[parent].type),
                                      support_of))
        return result

    # Elementwise functions.

    def elementwise(self, parents, result, partials):
        """A function of parents of one shape (a constant may be broadcast) with
        a partial derivative, a Bounded or a number, for each; None is a zero
        that nothing reaches."""
        def times(partial, factor):
            if isinstance(partial, Bounded):
                return factor * partial
            if partial == 1:
                return factor
            return -factor if partial == -1 else factor * partial

        def push(tangents):
            terms = [times(p, t.to(result.type)) for p, t in
                     zip(partials, tangents) if t is not None and p is not None]
            return sum_of(terms) if terms else None

        def pull(cotangent, support):
            return [None if p is None else (times(p, cotangent), support)
                    for p in partials]

        return self.node(parents, result, push, pull)

    def function(self, value, partials, parents, roundings=2, smooth=True):
        """A function of arrays; `partials` takes Bounded operands and the
        result. It must be defined wherever the operands may be."""
        t = parents[0].type
        shape = np.broadcast_shapes(*(p.shape for p in parents))
        operands = [spread(p.bounded, shape) for p in parents]
        values = [o.value for o in operands]
        exact = value(*values)
        error = np.zeros(shape, np.longdouble)
        moved = []
        for i, operand in enumerate(operands):
            if not np.any(operand.error):
                continue
            steps = []
            for sign in (-1, 1):
                at = list(values)
                at[i] = values[i] + sign * operand.error
                moved.append(at)
                steps.append(np.abs(value(*at) - exact))
            # Where the function ends within the error, nothing is known.
            step = np.maximum(*steps)
            step = np.where((operand.error > 0) & np.isnan(step), np.inf, step)
            error = error + np.where(operand.error > 0, step, 0)
        # f16 and bf16 are computed in f32 and rounded once.
        if roundings and t not in ("f64", "f32"):
            roundings = 1
        result = bound(exact, error, t, roundings)
        slopes = list(partials(*operands, result))
        if not smooth:
            exact_slopes = [_value(s) for s in slopes]
            for at in moved:
                others = partials(*(constant(a, t) for a in at), result)
                for i, other in enumerate(others):
                    kink = exact_slopes[i] != _value(other)
                    slopes[i] = Bounded(exact_slopes[i], np.where(
                        kink, np.inf, slopes[i].error), t)
        return self.elementwise(parents, result, slopes)

    def add(self, a, b):
        return self.elementwise([a, b], a.bounded + b.bounded, [1, 1])

    def subtract(self, a, b):
        return self.elementwise([a, b], a.bounded - b.bounded, [1, -1])

    def multiply(self, a, b):
        return self.elementwise([a, b], a.bounded * b.bounded,
                                [b.bounded, a.bounded])

    def negate(self, a):
        return self.elementwise([a], -a.bounded, [-1])

    def convert(self, a, element_type):
        return self.elementwise([a], a.bounded.to(element_type), [1])

    def select(self, condition, a, b):
        """a where the condition holds, else b."""
        result = a.bounded.where(condition, b.bounded)
        zero = constant(np.zeros(result.value.shape), result.type)

        def push(tangents):
            first, second = (zero if t is None else t for t in tangents)
            return first.where(condition, second)

        def pull(cotangent, support):
            return [(cotangent.where(chosen), np.where(chosen, support, NONE))
                    for chosen in (condition, ~condition)]

        return self.node([a, b], result, push, pull)

    def grad_mask(self, a, chosen):
        return self.node([a], a.bounded,
                         lambda tangents: tangents[0].where(chosen),
                         lambda cotangent, support:
                         [(cotangent.where(chosen),
                           np.where(chosen, support, NONE))])

    def stop(self, a):
        return Number(a.bounded)

    def touch(self, parents, result):
        """The result, which tells the parents of a cotangent of zero that it
        makes for them without reading them."""
        def pull(cotangent, support):
            zeros = [(constant(np.zeros(p.shape), p.type),
                      np.full(p.shape, MAYBE, np.int8)) for p in parents]
            return [(cotangent, support)] + zeros
        return self.node([result] + parents, result.bounded,
                         lambda tangents: tangents[0], pull)

    # Moves of elements.

    def gather(self, parents, index):
        """The elements at `index`, an array of positions in the parents'
        elements one after the other."""
        sizes = [int(np.prod(p.shape)) for p in parents]
        starts = np.cumsum([0] + sizes)

        def moved(arrays, dtype=np.longdouble):
            flat = np.concatenate([np.zeros(0, dtype)] +
                                  [np.ravel(a) for a in arrays])
            return flat[index] if flat.size else np.zeros(index.shape, dtype)

        result = Bounded(moved([p.value for p in parents]),
                         moved([p.bounded.error for p in parents]),
                         parents[0].type)

        def push(tangents):
            zero = [constant(np.zeros(p.shape), p.type) if t is None else t
                    for p, t in zip(parents, tangents)]
            return Bounded(moved([t.value for t in zero]),
                           moved([t.error for t in zero]), result.type)

        def pull(cotangent, support):
            at = np.ravel(index)
            n = starts[-1]
            value, error, size = (np.zeros(n, np.longdouble) for _ in range(3))
            count = np.bincount(at, minlength=n)
            supports = np.zeros(n, np.int8)
            np.maximum.at(supports, at, np.ravel(support))
            np.add.at(value, at, np.ravel(cotangent.value))
            np.add.at(error, at, np.ravel(cotangent.error))
            np.add.at(size, at, np.abs(np.ravel(cotangent.value)) +
                      np.ravel(cotangent.error))
            size = np.where(np.isfinite(size), size, 0)
            t = result.type
            error = error + np.where(count > 1, gamma(
                count, EPSILON[wide(t)]) * size + (
                    EPSILON[t] * size if t != wide(t) else 0), 0)
            return [(Bounded(value[start:start + n].reshape(p.shape),
                             error[start:start + n].reshape(p.shape), t),
                     supports[start:start + n].reshape(p.shape))
                    for p, start, n in zip(parents, starts, sizes)]

        return self.node(parents, result, push, pull)

    def move(self, function, *parents):
        """What a function of NumPy that only moves elements makes."""
        start, positions = 0, []
        for parent in parents:
            n = int(np.prod(parent.shape))
            positions.append(np.arange(start, start + n).reshape(parent.shape))
            start += n
        return self.gather(list(parents), np.asarray(function(*positions)))

    # Sums of products.

    def contract(self, spec, parents, initial=None, sign=1):
        """initial + sign * the sum of products that an einsum says."""
        t = parents[0].type
        inputs, output = spec.split("->")
        inputs = inputs.split(",")
        extents = {}
        for letters, parent in zip(inputs, parents):
            extents.update(zip(letters, parent.shape))
        count = _count(set("".join(inputs)) - set(output), extents)
        operands = [p.bounded for p in parents]
        if not all(np.all(np.isfinite(o.value)) for o in operands):
            raise Unfit("a contraction of something infinite")
        product = _einsum(spec, operands, t, count,
                          initial.bounded if initial else None, sign)
        everything = list(parents) + ([initial] if initial else [])

        def push(tangents):
            # One sum may go on where the other ended.
            total = tangents[-1] if initial else None
            for i, tangent in enumerate(tangents[:len(parents)]):
                if tangent is not None:
                    given = operands[:i] + [tangent] + operands[i + 1:]
                    total = _einsum(spec, given, t, count, total, sign)
            return total

        def pull(cotangent, support):
            result = []
            all_there = np.all(support == ORDINARY)
            for i, letters in enumerate(inputs):
                others = [(l, o) for j, (l, o) in
                          enumerate(zip(inputs, operands)) if j != i]
                given = [l for l, _ in others] + [output]
                missing = [l for l in letters if l not in "".join(given)]
                kept = "".join(l for l in letters if l not in missing)
                summed = set("".join(given)) - set(kept)
                term = _einsum(",".join(given) + "->" + kept,
                               [o for _, o in others] + [cotangent], t,
                               _count(summed, extents), None, sign)
                term = _broadcast(term, kept, letters, extents)
                # A sum alone is a move of elements: its support is exact.
                if len(inputs) == 1:
                    first = _reduce_support(output, kept, support)
                    of_term = _broadcast(constant(first, t), kept, letters,
                                         extents).value.astype(np.int8)
                else:
                    of_term = np.full(term.value.shape,
                                      ORDINARY if all_there else MAYBE, np.int8)
                result.append((term, of_term))
            return result + ([(cotangent, support)] if initial else [])

        return self.node(everything, product, push, pull)


def _value(partial):
    return partial.value


def _count(letters, extents):
    return int(np.prod([extents[l] for l in letters], dtype=np.int64))


def _reduce_support(output, kept, support):
    axes = tuple(i for i, l in enumerate(output) if l not in kept)
    support = support.max(axis=axes, initial=NONE)
    left = [l for l in output if l in kept]
    return np.transpose(support, [left.index(l) for l in kept])


def _broadcast(array, letters, wanted, extents):
    """Adds dimensions, in the order of `wanted`."""
    shape = [extents[l] if l in letters else 1 for l in wanted]
    full = [extents[l] for l in wanted]
    return Bounded(np.broadcast_to(array.value.reshape(shape), full),
                   np.broadcast_to(array.error.reshape(shape), full),
                   array.type)


def _einsum(spec, operands, t, count, initial, sign):
    def product(arrays):
        # Where there is nothing to sum, NumPy may leave what it finds.
        if any(a.size == 0 for a in arrays):
            inputs, output = spec.split("->")
            extents = dict(zip(inputs.replace(",", ""),
                               [n for a in arrays for n in a.shape]))
            return np.zeros([extents[l] for l in output], np.longdouble)
        return np.einsum(spec, *arrays)

    values = [o.value for o in operands]
    sizes = [np.abs(v) for v in values]
    value = product(values)
    size = product(sizes)
    # (|a| + e)(|b| + f) - |a||b|, which loses nothing that matters.
    most = product([s + o.error for s, o in zip(sizes, operands)])
    error = np.zeros(np.shape(size), np.longdouble)
    if any(np.any(o.error) for o in operands):
        for i, operand in enumerate(operands):
            error = error + product([s if j != i else operand.error
                                     for j, s in enumerate(sizes)])
        error = error * (1 + len(operands) * 2.0**-7)
    if initial is not None:
        value = initial.value + sign * value
        most = most + np.abs(initial.value) + initial.error
        error = error + initial.error
    elif sign != 1:
        value = -value
    u = EPSILON[wide(t)]
    terms = count + len(operands)
    # A product that is rounded to the type before it is added.
    error = error + gamma(terms, u) * most + (
        terms * SUBNORMAL[t] if len(operands) > 1 else 0)
    if t != wide(t):
        error = error + EPSILON[t] * np.abs(value)
        if len(operands) > 1:
            error = error + len(operands) * EPSILON[t] * most
    return Bounded(value, error, t)


def _check():
    """Both sweeps agree with differences, and the bounds with f32."""
    rng = np.random.default_rng(3)
    a, b = rng.uniform(0.5, 2, size=(2, 3, 4))
    w = rng.uniform(0.5, 2, size=(4, 2))

    def program(tape, a, b, w):
        p = tape.multiply(a, b)
        e = tape.function(np.exp, lambda x, y: [y], [p])
        q = tape.add(tape.select(np.eye(3, 4) > 0, e, a), p)
        m = tape.move(lambda v, w: np.concatenate([v[:, ::2], w.T[:1].repeat(
            3, 0)[:, :2]], 1), q, w)
        s = tape.contract("ij,jk->k", [m, w])
        return tape.contract("k,k->", [s, s], tape.contract("ij->", [q]), -1)

    tape = Tape()
    numbers = [tape.argument(v, "f64") for v in (a, b, w)]
    result = program(tape, *numbers)
    gradient = tape.reverse([(result.index, constant(1.0, "f64"))])
    directions = [rng.normal(size=v.shape) for v in (a, b, w)]
    tangent = tape.forward({n.index: constant(d, "f64") for n, d in
                            zip(numbers, directions)})[result.index]

    def at(step):
        other = Tape()
        return program(other, *(other.constant(v + step * d, "f64")
                                for v, d in zip((a, b, w), directions))).value

    h = np.longdouble(1e-4)
    slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    pulled = sum((gradient[n.index][0].value * d).sum()
                 for n, d in zip(numbers, directions))
    assert abs(tangent.value - slope) < 1e-10 * abs(slope)
    assert abs(tangent.value - pulled) < 1e-15 * abs(slope)
    single = [v.astype(np.float32) for v in (a, b, w)]
    tape = Tape()
    exact = program(tape, *(tape.argument(v, "f32") for v in single))
    p = single[0] * single[1]
    q = np.where(np.eye(3, 4) > 0, np.exp(p), single[0]) + p
    m = np.concatenate([q[:, ::2], single[2].T[:1].repeat(3, 0)[:, :2]], 1)
    s = (m @ single[2]).sum(0)
    off = abs((q.sum() - s @ s) - exact.value)
    assert 0 < off <= exact.bounded.error < 1e-4 * abs(exact.value)
    # A kink within the error is no test; behind a mask it is nothing.
    tape = Tape()
    x = tape.argument(np.array([0.0, np.nan, 2.0]), "f64")
    y = tape.function(np.log, lambda v, y: [1 / v], [x])
    chosen = np.array([False, False, True])
    z = tape.select(chosen, y, tape.constant(np.zeros(3), "f64"))
    g, support = tape.reverse([(z.index, constant(np.ones(3), "f64"))])[x.index]
    np.testing.assert_array_equal(g.value.astype(float), [0, 0, 0.5])
    np.testing.assert_array_equal(support, [NONE, NONE, ORDINARY])
    print("tape: all checks passed")


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        _check()
