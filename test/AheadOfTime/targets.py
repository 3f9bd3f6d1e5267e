# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %S/Inputs/ahead_of_time_call.py %source_dir/examples %if long %{all%} %else %{sample%}
"""Programs that are compiled ahead of time for several processors.

Every scalar rule, every masked reduction and softmax, with and without an i1
mask, in f32 and f64, and the examples: within the bounds for every processor at
every level of optimization, and no shared object calls a vector function that its
processor does not have. `sample` is each rule and op once, for one of the
processors and levels, and some examples."""

import os
import re
import sys
import tempfile
from itertools import product

import numpy as np

from execution import Program, close, finish
from masked_cases import KINDS, Op, add_op, call_op, random_case
from scalar_programs import call_kinks, call_smooth, define
from scalar_rules import RULES

# What follows `_ZGV` in the names of the functions that a processor has.
VECTORS = {"generic": "b", "x86-64-v2": "b", "x86-64-v3": "bd"}
with open("/proc/cpuinfo", encoding="utf-8") as info:
    FLAGS = next((line.split() for line in info if line.startswith("flags")), [])
VECTORS["native"] = "b" + "d" * ("avx2" in FLAGS) + "e" * ("avx512f" in FLAGS)
CONFIGURATIONS = [(cpu, level) for cpu in VECTORS for level in (0, 2, 3)]
# A masked op: a row is some vectors and a remainder.
FORMS = (dict(shape=(5, 37), dims=(1,), dynamic=True),
         dict(shape=(37, 5), dims=(0,)))


class Target(Program):
    """A program for one processor, at one level of optimization."""

    def __init__(self, name, cpu, level):
        super().__init__(f"{name} for {cpu} at -O{level}")
        self.options = f"--cpu={cpu} -O{level}"

    def run(self):
        os.environ["SPARSE_COMPILE_OPTIONS"] = self.options
        return super().run()


def rules(cpu, level, element_type, masked, chosen):
    program = Target(f"rules_{element_type}{'_masked' * masked}", cpu, level)
    for rule in chosen:
        name = rule.op.replace(".", "_")
        define(program, rule, name, element_type, masked)
        call_smooth(program, rule, name, element_type, rng, masked)
        if not masked:
            call_kinks(program, rule, name, element_type)
    return program


def masked_ops(cpu, level, element_type, masked, chosen):
    program = Target(f"ops_{element_type}{'_masked' * masked}", cpu, level)
    for kind in chosen:
        for form in FORMS:
            op = Op(kind, element_type, masked=masked, **form)
            name = f"{kind}_{form['dims'][0]}"
            add_op(program, name, op)
            call_op(program, name, op, *random_case(rng, op, op.shape))
    return program


# Entries of the examples: arguments, types of results, and how far a result may
# be from what code without vectors gives, relatively. In f64 they train for many
# epochs, and NumPy agrees with them to 1e-8.
MASKED_MEAN = ([("f32", (7, 37)), ("i1", (7, 37))],
               ["f32", "tensor<?x?xf32>"], 1e-5)
EXAMPLES = {
    "gcn": {"planted": ([("i64", 0)], ["f32"], 0)},
    "gcn_edges": {"planted": ([("i64", 0)], ["tensor<?xf64>", "f64"], 1e-8)},
    "masked-mean": dict.fromkeys(
        ("zeroed_gradient", "reduction", "gradient_mask", "by_hand",
         "custom_rule"), MASKED_MEAN),
    "recommender": {"planted": ([("i64", 0), ("f64", 0.1)], ["f64"] * 2, 1e-8)},
    "recommender_embedding": {"planted": ([("i64", 0)], ["f64"] * 2, 1e-8)},
    "recommender_sparse": {
        "planted": ([("i64", 0), ("f64", 0.1)], ["f64"] * 2, 1e-8)},
    "sparse_attention": {"fit": ([("i64", 0), ("index", 64), ("index", 30)],
                                 ["f64"] * 2, 1e-8)},
    "sparse_convolution": {"train": ([("i64", 0)], ["f64"] * 2, 1e-8)},
}
references = {}  # of each entry of an example


def draw(element_type, value):
    """A scalar, or an array of a shape."""
    if not isinstance(value, tuple):
        return value
    fixed = np.random.default_rng(len(element_type))
    if element_type == "i1":
        return fixed.random(value) < 0.6
    return fixed.normal(size=value)


def example(cpu, level, name):
    program = Target(name, cpu, level)
    with open(os.path.join(folder, f"{name}.mlir"), encoding="utf-8") as file:
        program.define(file.read())
    for entry, (arguments, results, tolerance) in EXAMPLES[name].items():
        types = [t if not isinstance(v, tuple) else f"tensor<?x?x{t}>"
                 for t, v in arguments]
        program.types[entry] = (types, results)

        def check(*values, entry=entry, tolerance=tolerance):
            expected = references.setdefault((name, entry), values)
            return sum(close(v, e, tolerance * np.abs(e).astype(np.float64),
                             f"result {i}")
                       for i, (v, e) in enumerate(zip(values, expected)))

        program.call(entry, [draw(*a) for a in arguments], check)
    return program


def everything():
    programs = []
    for cpu, level in CONFIGURATIONS:
        for element_type, masked in product(("f32", "f64"), (False, True)):
            programs.append(rules(cpu, level, element_type, masked, RULES))
            programs.append(masked_ops(cpu, level, element_type, masked, KINDS))
        programs += [example(cpu, level, name) for name in EXAMPLES]
    return programs


def sample():
    """For each processor a share of the rules and ops of one form, at a level
    that makes vectors, and two examples."""
    programs = []
    forms = product(("f32", "f64"), (True, False))
    for number, (cpu, form) in enumerate(zip(VECTORS, forms)):
        share = slice(number, None, len(VECTORS))
        level = 3 - number % 2
        programs.append(rules(cpu, level, *form, RULES[share]))
        programs.append(masked_ops(cpu, level, *form, KINDS[share]))
    return programs + [example("generic", level, name) for level in (0, 3)
                       for name in ("masked-mean", "sparse_convolution")]


def check_symbols(log):
    """What vector functions the programs called: none that their processor
    lacks, and each kind of those that it has."""
    called = {}
    with open(log, encoding="utf-8") as file:
        for line in file:
            options, *symbols = line.rstrip("\n").split("\t")
            cpu, level = re.fullmatch(r"--cpu=(\S+) -O(\d)", options).groups()
            kinds = {symbol[4] for symbol in symbols}
            assert kinds <= set(VECTORS[cpu]), f"{options}: calls {symbols}"
            assert level != "0" or not kinds, f"{options}: calls {symbols}"
            called.setdefault(cpu, set()).update(kinds)
    for cpu, kinds in called.items():
        assert max(VECTORS[cpu]) in kinds, f"{cpu}: calls {kinds} alone"


caller, folder, extent = sys.argv[1:]
sys.argv[1:] = []
rng = np.random.default_rng(29)
with tempfile.TemporaryDirectory() as temporary:
    os.environ["SPARSE_COMPILE_LOG"] = log = os.path.join(temporary, "log")
    os.environ["EXECUTION_CALL"] = f"{sys.executable} {caller}"
    try:
        finish(everything() if extent == "all" else sample())
    finally:
        check_symbols(log)
