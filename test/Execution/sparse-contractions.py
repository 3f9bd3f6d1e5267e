# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %if long %{--count 100000%} %else %{--count 12%} | FileCheck %s
# CHECK: calls, {{[1-9][0-9]*}} of them bounded
# CHECK: functions, {{.*}} 0 failures
"""Contractions of three and of four factors, one or more of them sparse, in
formats and with dimensions in an order that are drawn: values, the gradient of
each factor, tangents, and second derivatives in three ways, against
`numpy.einsum`. The runtime never counts more bytes in use than
--sparse-autograd-bound-memory states, and half as many at least where every
sparse value has the pattern of a factor.

`--count N` is how many to take of each number of factors, all if there are
fewer; `--from K` which of them to begin with."""

import argparse
import os
import re
import subprocess
import sys

import numpy as np

from contractions import ContractionProgram, contractions
from execution import Program, close, finish
from sparse_storage import Storage, same_pattern

SIZES = dict(zip("ijkl", (23, 29, 31, 37)))
BATCH = 12


def state_bounds(program):
    """By the name of an entry, the bound that is stated of it."""
    done = subprocess.run(
        ["sparse-opt", "--sparse-autograd", "-o", os.devnull,
         "--mlir-print-ir-after=sparse-autograd-bound-memory"],
        input="\n".join(program.text), capture_output=True, text=True,
        check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return dict(re.findall(
        r"func\.func @([\w.]+)\(.*memory_bound = \"([^\"]*)\"", done.stderr))


def evaluate(bound, arguments):
    names = {
        "nnz": lambda k: arguments[k].values.size,
        "pattern": lambda k: sum(c.nbytes
                                 for c in arguments[k].components[:-1]),
        "dim": lambda k, d: arguments[k].shape[d], "max": max}
    return eval(bound, names)  # noqa: S307


class Statistics:
    """Of calls: how many are bounded, and bounds over peaks."""
    calls = bounded = 0
    kept, others = [], []


def call(program, contraction, kind, bounds):
    """Calls an entry, checks its results, and its peak against its bound."""
    arguments = contraction.arguments(kind)
    expected = contraction.expected()[kind]
    stored = [contraction.store(*both) for both in expected]

    def check(*results):
        count = 0
        for result, (wanted, _), like in zip(results, expected, stored,
                                             strict=True):
            largest = np.abs(wanted).max(initial=0)
            if isinstance(like, Storage):
                count += same_pattern(result, like, kind)
                result, wanted = result.values, like.values
            count += close(result, wanted, 1e-11 * (1 + largest), kind)
        return count

    def check_memory(memory):
        peak = memory["peak bytes"][1]
        Statistics.calls += 1
        bound = bounds.get(contraction.entries[kind])
        keeps = contraction.keeps_patterns()
        assert bound or not keeps, f"{kind}: no bound"
        if not bound:
            return 0
        at_most = evaluate(bound, arguments)
        assert peak <= at_most, f"{kind}: {peak} bytes, stated {at_most}"
        assert not keeps or at_most <= 2 * peak, (
            f"{kind}: {peak} bytes, stated {at_most}: {bound}")
        Statistics.bounded += 1
        (Statistics.kept if keeps else Statistics.others).append(
            at_most / max(peak, 1))
        return 1

    program.call(contraction.entries[kind], arguments, check, kind, repeats=1,
                 check_memory=check_memory)


def programs(count, first):
    rng = np.random.default_rng(first)
    for factors in (3, 4):
        every = list(contractions(factors))
        step = max(1, len(every) // count)
        chosen = every[first % step::step][:count] if step > 1 else every
        for start in range(0, len(chosen), BATCH):
            program = Program(f"contractions{factors}_{start}", 0, threads=1)
            drawn = [ContractionProgram(program, c, rng)
                     for c in chosen[start:start + BATCH]]
            bounds = state_bounds(program)
            for contraction in drawn:
                contraction.draw(rng, SIZES, 0.03)
                for kind in contraction.entries:
                    call(program, contraction, kind, bounds)
            program.run()
            yield program
            # What has been compared is kept, not the arrays.
            program.run, program.calls = lambda: None, program.calls[:]


options = argparse.ArgumentParser()
options.add_argument("--count", type=int, default=12)
options.add_argument("--from", type=int, default=0, dest="first")
arguments = options.parse_args()
sys.argv[1:] = []
done = list(programs(arguments.count, arguments.first))


def spread(ratios):
    return (f"{len(ratios)}, median {np.median(ratios):.2f}, at most "
            f"{max(ratios):.2f}" if ratios else "0")


print(f"{Statistics.calls} calls, {Statistics.bounded} of them bounded")
print(f"bound / peak with patterns of factors: {spread(Statistics.kept)}")
print(f"bound / peak with other patterns: {spread(Statistics.others)}")
finish(done)
