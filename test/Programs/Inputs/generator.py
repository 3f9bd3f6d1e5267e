# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws valid programs, each from a seed of its own.

A program is computed by its reference while it is drawn: an op is given operands
in its domain, a result must not be too large nor too badly conditioned.
"""

import random

import numpy as np

from execution import FLOATS, to_type
from kinds import CONSTANT, KINDS, MASKED_REDUCE
from language import (Program, Region, Step, Tape, Unfit, Value, all_steps,
                      run_steps)
from tape import constant

EXTENTS = (0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 127, 128, 129)
ELEMENTS = 2500  # of a tensor, at most
LARGEST = {"f64": 1e4, "f32": 1e3, "f16": 60.0, "bf16": 1e3}
# How far a reference value may be off, relative to 1 or to its size.
WORST = {"f64": 1e-6, "f32": 1e-2, "f16": 0.3, "bf16": 0.5}
POISON = np.array([np.nan, np.inf, -np.inf, 0.0, -1.0, -np.nan, -0.0])
ANY = "any"


class Generator:
    """The state of drawing one program."""

    def __init__(self, seed, index):
        self.rng = random.Random(f"{seed}.{index}")
        self.numbers = np.random.default_rng([seed, index])
        rng = self.rng
        self.program = Program(f"p{index}", rng.random() < 0.35, number=index,
                               seed=index)
        self.element = rng.choices(FLOATS, (4, 3, 1.5, 1.5))[0]
        self.sizes = [rng.choices(EXTENTS, (1, 2, 3, 4, 4, 3, 3, 3, 1, 1, 1, .4,
                                            .4, .4))[0] for _ in range(3)]
        self.tape, self.env = Tape(), {}
        self.scopes = [[]]  # of visible values, outermost first
        self.targets = [self.program.steps]
        self.isolated = [False]
        self.scalar_region = 0
        self.uses = {}
        self.limits = {}  # of values that index, which are less
        self.inside = []  # the values of the region drawn last

    # Choices.

    def chance(self, probability):
        return self.rng.random() < probability

    def shape(self, rank=None):
        """A shape of the program's extents, small enough."""
        if rank is None:
            rank = self.rng.choices((0, 1, 2, 3), (1, 4, 6, 2))[0]
        shape = tuple(self.rng.choice(self.sizes) for _ in range(rank))
        while int(np.prod([max(n, 1) for n in shape])) > ELEMENTS:
            at = max(range(rank), key=shape.__getitem__)
            shape = shape[:at] + (self.rng.choice((2, 3, 4)),) + shape[at + 1:]
        return shape

    def floating(self):
        return (self.element if self.chance(0.85) else
                self.rng.choice(FLOATS))

    def visible(self):
        for scope, closed in zip(reversed(self.scopes),
                                 reversed(self.isolated)):
            yield from scope
            if closed:
                return

    def array_of(self, value):
        reference = self.env[value]
        return reference.value if value.is_float else np.asarray(reference)

    def chosen(self, value):
        """Where the elements of a value are to be looked at."""
        shape = np.shape(self.array_of(value))
        if value.mask is None:
            return np.ones(shape, bool)
        return np.broadcast_to(self.env[value.mask], shape)

    def is_within(self, value, low, high):
        if low is None and high is None:
            return True
        array = self.array_of(value)[self.chosen(value)]
        return bool(np.all((low is None or array >= low) &
                           (high is None or array <= high)))

    def candidates(self, element, shape, rank, low, high, where, poison):
        for value in self.visible():
            if (value.element == element and
                    (shape == ANY or value.shape == shape) and
                    (shape != ANY or value.shape is not None) and
                    (rank is None or len(value.extents) in rank) and
                    (poison or value.mask is None) and
                    (where is None or where(value)) and
                    self.is_within(value, low, high)):
                yield value

    def value(self, element=None, shape=ANY, low=None, high=None, rank=None,
              where=None, poison=False, old=0.8, new=None):
        """An operand: one that there is, rather one that nothing reads yet or
        the last one, or a new one."""
        element = element or self.floating()
        if self.scalar_region:
            shape = None
        rank = (rank,) if isinstance(rank, int) else rank
        found = list(self.candidates(element, shape, rank, low, high, where,
                                     poison))
        if found and self.chance(old):
            weights = [1 + 3 * (v not in self.uses) for v in found]
            newest = max(found, key=list(self.env).index)
            weights[found.index(newest)] += 3
            return self.rng.choices(found, weights)[0]
        if new is not None:
            return new()
        if shape == ANY:
            shape = self.shape(None if rank is None else self.rng.choice(rank))
        if where is not None and not where(Value(element, shape)):
            return self.rng.choice(found) if found else None
        return self.fresh(element, shape, low, high)

    def draw_array(self, element, shape, low=None, high=None):
        shape = shape or ()
        if element == "i1":
            density = self.rng.choice((0, 0.1, 0.5, 0.5, 0.9, 1))
            return self.numbers.random(shape) < density
        if element not in FLOATS:
            return self.numbers.integers(-3 if low is None else low,
                                         4 if high is None else high + 1,
                                         size=shape)
        low = -2 if low is None else low
        high = max(2, low + 1) if high is None else high
        array = self.numbers.uniform(low, high, size=shape)
        if low <= -1 and high >= 1 and self.chance(0.2):
            # Ties, zeros of both signs.
            array = np.round(array)
        return np.clip(to_type(array, element), low, high).astype(
            to_type(array, element).dtype) if element != "bf16" else (
                to_type(np.clip(array, low, high), element))

    def fresh(self, element, shape, low=None, high=None):
        """A new argument; a constant where there can be none."""
        array = self.draw_array(element, shape, low, high)
        closed = any(self.isolated)
        if closed or len(self.program.arguments) >= 7 or (
                self.chance(0.08) and element in FLOATS):
            return self.constant(element, shape, array)
        return self.argument(element, shape, array)

    def argument(self, element, shape, array, mask=None):
        value = Value(element, shape, mask)
        self.program.arguments.append(value)
        self.program.inputs[value] = array
        self.env[value] = (self.tape.argument(array, element)
                           if element in FLOATS else np.asarray(array))
        self.scopes[0].append(value)
        return value

    def constant(self, element, shape, array):
        if np.size(array) > 12:
            array = np.full_like(array, np.ravel(array)[0])
        value = Value(element, shape)
        self.add(Step(CONSTANT, [], [value], {"array": np.asarray(array)}))
        return value

    def poisoned(self, element, shape, low=None, high=None):
        """A new argument with anything behind a mask, another argument."""
        if any(self.isolated) or len(self.program.arguments) >= 6:
            return None
        found = [v for v in self.scopes[0] if v.element == "i1" and
                 v.shape == shape and v in self.program.inputs]
        mask = (self.rng.choice(found) if found and self.chance(0.7) else
                self.argument("i1", shape, self.draw_array("i1", shape)))
        array = self.draw_array(element, shape, low, high)
        behind = self.numbers.choice(POISON, size=shape or ()).astype(
            array.dtype)
        return self.argument(element, shape, np.where(self.env[mask], array,
                                                      behind), mask)

    # Steps.

    def add(self, step):
        """Evaluates a step and keeps it if its results are good."""
        try:
            run_steps(self.tape, [step], self.env)
        except Unfit:
            return False
        if not all(self.is_good(v) for v in step.results):
            for value in step.results:
                del self.env[value]
            return False
        for value in step.uses():
            self.uses[value] = self.uses.get(value, 0) + 1
        self.targets[-1].append(step)
        self.scopes[-1].extend(step.results)
        return True

    def is_good(self, value):
        if not value.is_float:
            return True
        reference = self.env[value]
        chosen = self.chosen(value)
        if not self.scalar_region and reference.shape != value.extents:
            raise AssertionError(f"{reference.shape} for {value.extents}")
        array = reference.value[chosen]
        error = reference.bounded.error[chosen]
        size = np.abs(array)
        return bool(np.all(np.isfinite(array) & (
            size <= LARGEST[value.element]) & (
                error <= WORST[value.element] * np.maximum(size, 1))))

    def draw(self, kind, tries=6):
        """Adds a step of a kind; whether it could."""
        for _ in range(tries):
            step = kind.draw(self)
            if step is not None and self.add(step):
                return True
        return False

    def draw_any(self, choose):
        for _ in range(10):
            kinds = [k for k in KINDS if choose(k)]
            if self.draw(self.rng.choices(kinds, [k.weight for k in kinds])[0],
                         tries=2):
                return

    def region(self, arguments, references, count, choose, isolated=False):
        """A region of some steps; what it yields is to be set."""
        region = Region(arguments)
        self.env.update(zip(arguments, references))
        self.scopes.append(list(arguments))
        self.targets.append(region.steps)
        self.isolated.append(isolated)
        for _ in range(count):
            self.draw_any(choose)
        self.inside = list(self.scopes[-1])
        self.scopes.pop()
        self.targets.pop()
        self.isolated.pop()
        return region

    def newest(self, like):
        """The last value of the region just drawn of a type, else None."""
        for value in reversed(self.inside):
            if (value.element == like.element and value.shape == like.shape and
                    value.mask is like.mask):
                return value
        return None


def generate(seed, index):
    """A program that is a fit test; the op that it is made for is one of KINDS
    in turn."""
    for attempt in range(40):
        g = Generator(seed, index + (attempt << 32))
        g.program.name = f"p{index}"
        program = _draw(g, KINDS[index % len(KINDS)])
        if program is not None:
            program.number = index
            return program
    raise RuntimeError(f"no program for {seed}, {index}: "
                       f"{KINDS[index % len(KINDS)].name}")


def _draw(g, wanted):
    program = g.program
    count = g.rng.choice((1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8))
    at = g.rng.randrange(count)
    if g.chance(0.3):
        g.poisoned(g.element, g.shape())
    for i in range(count):
        if i != at:
            g.draw_any(lambda kind: True)
        elif not g.draw(wanted, tries=20):
            return None
    # What may be poison is masked before it is returned.
    for value in list(g.scopes[0]):
        if value.mask is not None and value not in g.uses and value.is_float:
            step = MASKED_REDUCE.of(g, value)
            if step is None or not g.add(step):
                continue
    floats = [v for v in g.scopes[0] if v.is_float and v.mask is None and
              v not in program.inputs and np.all(np.isfinite(g.array_of(v)))]
    unused = [v for v in floats if v not in g.uses]
    used = [v for v in floats if v in g.uses]
    forced = [v for s in program.steps if s.kind is wanted for v in s.results]
    results = unused[-4:] + [v for v in unused[:-4] if v in forced]
    if used and (not results or g.chance(0.4)):
        results.append(g.rng.choice(used))
    if not results:
        return None
    program.results = results
    # Masks and integers that were computed.
    others = [v for v in g.scopes[0] if v.element in ("i1", "i32") and
              v not in program.inputs and v.shape is not None]
    if others and (others[-1] in forced or g.chance(0.3)):
        program.results.append(others[-1])
    program.prune()
    if not any(s.kind is wanted for s in all_steps(program.steps)):
        return None
    program.wrt = [v for v in program.arguments if v.is_float]
    if len(program.wrt) > 1 and g.chance(0.3):
        program.wrt = [v for v in program.wrt if g.chance(0.7)] or (
            program.wrt[:1])
    if not program.wrt:
        return None
    program.split = g.chance(0.3)
    program.expected = reference(program)
    return program if program.expected is not None else None


def reference(program):
    """Directions, cotangents and what is to come out; None of a program that
    is no test."""
    rng = np.random.default_rng([program.seed, 7])
    try:
        tape, env = program.evaluate()
        outputs = program.active_results()
        cotangents = [_direction(rng, v) for v in outputs]
        directions = [_direction(rng, v) for v in program.wrt]
        seeds = [(env[v].index, constant(c, v.element))
                 for v, c in zip(outputs, cotangents)
                 if env[v].index is not None]
        found = tape.reverse(seeds)
        tangents = tape.forward({env[v].index: constant(d, v.element)
                                 for v, d in zip(program.wrt, directions)})
    except Unfit:
        return None
    values = [env[v].bounded if v.is_float else env[v] for v in program.results]
    gradients = [constant(np.zeros(v.extents), v.element)
                 if found[env[v].index] is None else found[env[v].index][0]
                 for v in program.wrt]
    moved = [None if env[v].index is None else tangents[env[v].index]
             for v in outputs]
    moved = [constant(np.zeros(v.extents), v.element) if t is None else t
             for v, t in zip(outputs, moved)]
    if _too_large(found, tape) or _too_large(
            [None if t is None else (t, 1) for t in tangents], tape):
        return None
    expected = (values, gradients, moved)
    for value, bounded in zip(program.results + program.wrt + outputs,
                              values + gradients + moved):
        if value.is_float and not _is_fit(bounded):
            return None
    return cotangents, directions, expected


def _direction(rng, value):
    return to_type(rng.uniform(-1.5, 1.5, size=value.extents), value.element)


def _is_fit(bounded):
    finite = np.isfinite(bounded.value) & np.isfinite(bounded.error)
    return bool(np.all(finite))


def _too_large(found, tape):
    """Whether a derivative on the way may leave the range of f16."""
    return any(f is not None and node.type == "f16" and
               np.any(np.abs(f[0].value) > 1e4)
               for f, node in zip(found, tape.nodes))
