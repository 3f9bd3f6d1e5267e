# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as data: what they print as and what their reference computes.

A program is a list of steps, each of a `Kind` (an op, see kinds.py) with
operands, results and perhaps regions. The reference value of a float is a
`Number` of a tape, that of a truth or an integer an array.
"""

from dataclasses import dataclass, field

import numpy as np

from execution import FLOATS, tensor_type
from tape import Tape, Unfit


class Value:
    """What a step makes; a scalar has no shape. Where `mask` is another value,
    the elements that this leaves out may be anything, NaN included."""

    __slots__ = ("element", "shape", "mask", "name")

    def __init__(self, element, shape, mask=None):
        self.element, self.shape, self.mask = element, shape, mask
        self.name = None

    @property
    def is_float(self):
        return self.element in FLOATS

    @property
    def extents(self):
        return self.shape or ()


@dataclass
class Region:
    arguments: list
    steps: list = field(default_factory=list)
    yields: list = field(default_factory=list)

    def run(self, tape, references, env):
        """The references of what is yielded. `env` has those of what is
        captured; it is left as it is."""
        env = dict(env)
        env.update(zip(self.arguments, references))
        run_steps(tape, self.steps, env)
        return [env[v] for v in self.yields]

    def captured(self):
        """The values from outside that it reads."""
        inside, result = set(self.arguments), []
        for step in self.steps:
            uses = list(step.operands)
            for region in step.regions:
                uses += region.captured()
            result += [v for v in uses if v not in inside and v not in result]
            inside.update(step.results)
        result += [v for v in self.yields if v not in inside and
                   v not in result]
        return result


@dataclass
class Step:
    kind: object
    operands: list
    results: list
    attributes: dict = field(default_factory=dict)
    regions: list = field(default_factory=list)

    def uses(self):
        return self.operands + [v for r in self.regions for v in r.captured()]


def all_steps(steps):
    """The steps and those of their regions."""
    for step in steps:
        yield step
        for region in step.regions:
            yield from all_steps(region.steps)


def run_steps(tape, steps, env):
    for step in steps:
        results = step.kind.evaluate(tape, step, [env[o] for o in
                                                  step.operands], env)
        env.update(zip(step.results, results, strict=True))


@dataclass
class Program:
    """A function of `arguments`, what it is called with, and what is random in
    its test."""
    name: str
    dynamic: bool
    arguments: list = field(default_factory=list)
    inputs: dict = field(default_factory=dict)
    steps: list = field(default_factory=list)
    results: list = field(default_factory=list)
    wrt: list = field(default_factory=list)
    split: bool = False  # whether the gradient is asked for in two parts
    number: int = 0  # that it is repeated with
    seed: int = 0  # of cotangents and directions
    expected: tuple = None  # what generator.reference found

    def active_results(self):
        return [v for v in self.results if v.is_float]

    def evaluate(self):
        """The tape, and the reference of every value."""
        tape, env = Tape(), {}
        for value in self.arguments:
            array = self.inputs[value]
            if value in self.wrt:
                env[value] = tape.argument(array, value.element)
            elif value.is_float:
                env[value] = tape.constant(array, value.element)
            else:
                env[value] = np.asarray(array)
        run_steps(tape, self.steps, env)
        return tape, env

    def prune(self):
        """Removes what no result needs."""
        needed = set(self.results)
        kept = []
        for step in reversed(self.steps):
            if any(r in needed for r in step.results):
                kept.append(step)
                needed.update(step.uses())
        self.steps = kept[::-1]
        self.arguments = [v for v in self.arguments if v in needed]
        self.wrt = [v for v in self.wrt if v in needed]
        self.inputs = {v: self.inputs[v] for v in self.arguments}

    def text(self):
        """The private function @NAME_f, and those that it calls."""
        printer = Printer(self.dynamic, self.name)
        for value in self.arguments:
            printer.declare(value, "x")
        for step in self.steps:
            step.kind.text(printer, step)
        printer.line(f"return {printer.names(self.results)} : "
                     f"{printer.types(self.results)}")
        return "".join(printer.functions) + (
            f"func.func private @{self.name}_f("
            f"{printer.parameters(self.arguments)}) -> "
            f"({printer.types(self.results)}) {{\n" +
            "\n".join(printer.lines) + "\n}\n")

    def types(self, values):
        printer = Printer(self.dynamic, self.name)
        return [printer.type(v) for v in values]


class Printer:
    """Writes the text of one function."""

    def __init__(self, dynamic, name):
        self.dynamic, self.name = dynamic, name
        self.lines, self.functions, self.count, self.depth = [], [], 0, 1

    def line(self, text):
        self.lines.append("  " * self.depth + text)

    def fresh(self, prefix="t"):
        self.count += 1
        return f"%{prefix}{self.count}"

    def declare(self, value, prefix="v"):
        value.name = self.fresh(prefix)
        return value.name

    def names(self, values):
        return ", ".join(v.name for v in values)

    def type(self, value, static=False):
        return tensor_type(value.shape, value.element,
                           self.dynamic and not static)

    def types(self, values):
        return ", ".join(self.type(v) for v in values)

    def parameters(self, values):
        return ", ".join(f"{v.name}: {self.type(v)}" for v in values)

    def of(self, shape, element, static=False):
        """The type of a tensor."""
        return tensor_type(tuple(shape), element, self.dynamic and not static)

    def index(self, number):
        """An index constant."""
        name = self.fresh("c")
        self.line(f"{name} = arith.constant {number} : index")
        return name

    def sizes(self, shape, like=()):
        """Extents in a list of them; where they are not static, those of the
        tensors in `like` if they have them."""
        if not self.dynamic:
            return [str(n) for n in shape]
        result = []
        for n in shape:
            found = [(v, d) for v in like for d, m in enumerate(v.extents)
                     if m == n]
            if found:
                value, d = found[n % len(found)]
                at, name = self.index(d), self.fresh("n")
                self.line(f"{name} = tensor.dim {value.name}, {at} : "
                          f"{self.type(value)}")
                result.append(name)
            else:
                result.append(self.index(n))
        return result

    def empty(self, shape, element, like=()):
        sizes = self.sizes(shape, like) if self.dynamic else []
        name = self.fresh("e")
        self.line(f"{name} = tensor.empty({', '.join(sizes)}) : "
                  f"{self.of(shape, element)}")
        return name

    def filled(self, shape, element, number, like=()):
        scalar, name = self.fresh("z"), self.fresh("f")
        self.line(f"{scalar} = arith.constant {number} : {element}")
        type_, empty = self.of(shape, element), self.empty(shape, element, like)
        self.line(f"{name} = linalg.fill ins({scalar} : {element}) "
                  f"outs({empty} : {type_}) -> {type_}")
        return name

    def static(self, value):
        """A name of the value with static extents."""
        if not self.dynamic or not value.shape:
            return value.name
        name = self.fresh("s")
        self.line(f"{name} = tensor.cast {value.name} : {self.type(value)} to "
                  f"{self.type(value, static=True)}")
        return name

    def static_result(self, value, text):
        """A result of an op that makes static extents."""
        if not self.dynamic or not value.shape:
            self.line(f"{self.declare(value)} = {text}")
            return
        name = self.fresh("s")
        self.line(f"{name} = {text}")
        self.line(f"{self.declare(value)} = tensor.cast {name} : "
                  f"{self.type(value, static=True)} to {self.type(value)}")

    def region(self, region, end):
        """The lines of a region and its terminator."""
        self.depth += 1
        for step in region.steps:
            step.kind.text(self, step)
        self.line(f"{end} {self.names(region.yields)} : "
                  f"{self.types(region.yields)}")
        self.depth -= 1


class Kind:
    """An op that programs are made of."""
    name = None
    scalar = False  # may stand in the region of a linalg op
    nested = True  # may stand in a loop or a branch
    weight = 1.0

    def draw(self, g):
        """A step of values that the generator has or makes; None if there is
        none now."""
        raise NotImplementedError

    def text(self, p, step):
        raise NotImplementedError

    def evaluate(self, tape, step, operands, env):
        """The references of the results."""
        raise NotImplementedError

    def names(self):
        """All names under which steps may be counted."""
        return [self.name]

    def counted(self, step):
        """The names under which a step is counted."""
        return [self.name]
