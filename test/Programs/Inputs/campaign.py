# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and calls random programs, many in one module, and compares values,
gradients and tangents with the reference; reduces what fails."""

import collections
import copy
import re

import numpy as np

import execution
from generator import generate, reference
from language import all_steps

# The programs of one module: starting and the run-time library cost as much as
# a few programs, and a crash loses the rest of a module.
MODULE = 50
# What programs are counted as whose gradient is asked for in two parts.
SPLIT = "sparse_autograd.split_vjp"


def _list(values):
    return ", ".join(values)


def define(module, program):
    """The entry @NAME: of the arguments, the cotangents and the directions;
    values, gradients and tangents."""
    types = program.types
    arguments, results = types(program.arguments), types(program.results)
    outputs, active = types(program.active_results()), types(program.wrt)
    n, c, v = len(arguments), len(outputs), len(active)
    x = _list(f"%a{i}" for i in range(n))
    wrt = _list(str(program.arguments.index(a)) for a in program.wrt)
    function = f"@{program.name}_f"
    given = _list(f"%a{n + i}" for i in range(c))
    module.define(program.text())
    if program.split:
        residuals = f"!sparse_autograd.residuals<{function}_forward>"
        parts = [(_list(arguments), _list(results + [residuals])),
                 (_list([residuals] + outputs), _list(active))]
        module.define(f"""\
sparse_autograd.split_vjp {function} as {function}_forward,
    {function}_backward {{wrt = [{wrt}]}}
func.func private {function}_forward({parts[0][0]}) -> ({parts[0][1]})
func.func private {function}_backward({parts[1][0]}) -> ({parts[1][1]})
""")
        derived = [f"%r#{i}" for i in range(len(results))] + (
            ["%g"] if v == 1 else [f"%g#{i}" for i in range(v)])
        gradient = f"""\
  %r:{len(results) + 1} = func.call {function}_forward({x})
      : ({parts[0][0]}) -> ({parts[0][1]})
  %g:{v} = func.call {function}_backward(%r#{len(results)}, {given})
      : ({parts[1][0]}) -> ({parts[1][1]})"""
    else:
        derived = [f"%r#{i}" for i in range(len(results) + v)]
        gradient = f"""\
  %r:{len(results) + v} = sparse_autograd.vjp {function}({x})
      cotangents({given}) {{wrt = [{wrt}]}}
      : ({_list(arguments)}), ({_list(outputs)}) -> ({_list(results + active)})"""
    module.entry(
        program.name, arguments + outputs + active,
        results + active + outputs, f"""\
{gradient}
  %t:{len(results) + c} = sparse_autograd.jvp @{program.name}_f({x})
      tangents({_list(f"%a{n + c + i}" for i in range(v))}) {{wrt = [{wrt}]}}
      : ({_list(arguments)}), ({_list(active)}) -> ({_list(results + outputs)})
  return {_list(derived + [f"%t#{len(results) + i}" for i in range(c)])}
      : {_list(results + active + outputs)}""")


def call(module, program, expected, widths=None):
    """Calls the entry and compares; `widths` collects how wide the bounds are
    against the numbers."""
    cotangents, directions, (values, gradients, tangents) = expected
    names = ([f"value {i}" for i in range(len(values))] +
             [f"gradient {i}" for i in range(len(gradients))] +
             [f"tangent {i}" for i in range(len(tangents))])
    of = program.results + program.wrt + program.active_results()

    def check(*results):
        count = 0
        for name, actual, value, wanted in zip(
                names, results, of, values + gradients + tangents,
                strict=True):
            if not value.is_float:
                assert np.array_equal(actual, wanted), f"{name} differs"
                count += actual.size
                continue
            allowance = wanted.allowance(value.element)
            if not actual.shape and wanted.value.shape:
                raise AssertionError(f"{name}: no tensor")
            count += execution.close(actual, wanted.value, allowance, name)
            if widths is not None:
                size = np.abs(wanted.value.astype(float))
                nonzero = size > 0
                widths[value.element].extend(
                    np.ravel(allowance[nonzero] / size[nonzero])[:50])
        return count

    module.call(program.name, [program.inputs[a] for a in program.arguments] +
                cotangents + directions, check)


class Outcome:
    def __init__(self):
        self.programs = self.numbers = 0
        self.counts = collections.Counter()
        self.failures = []  # programs and messages
        self.widths = collections.defaultdict(list)

    def add(self, other):
        self.programs += other.programs
        self.numbers += other.numbers
        self.counts.update(other.counts)
        self.failures += other.failures
        for element, widths in other.widths.items():
            self.widths[element] += widths


def run_module(programs, level, outcome=None):
    """The messages of the programs that fail, by name."""
    module = execution.Program("random", level, threads=1)
    module.seconds = 20 + 2 * len(programs)  # a tenth of that is usual
    ends, line = {}, 0
    for program in programs:
        expected = program.expected or reference(program)
        if expected is None:
            raise RuntimeError(f"{program.name} is unfit")
        first = len(module.text)
        define(module, program)
        call(module, program, expected, outcome and outcome.widths)
        line += sum(t.count("\n") + 1 for t in module.text[first:])
        ends[program.name] = line
    module.run()
    failures = {}
    for message in module.failures:
        _, _, rest = message.partition("random: ")
        if not rest.startswith("sparse-call"):
            failures.setdefault(rest.split()[0], rest)
            continue
        # One that stops the compiler or the process: the others again.
        if len(programs) == 1:
            return {programs[0].name: rest}
        culprit = _culprit(rest, ends)
        found = [p for p in programs if p.name == culprit]
        if found and run_module(found, level):
            failures = {culprit: rest}
            left = [p for p in programs if p.name != culprit]
            return failures | run_module(left, level, outcome)
        failures, half = {}, len(programs) // 2
        for part in (programs[:half], programs[half:]):
            failures |= run_module(part, level, outcome)
        return failures
    if outcome is not None:
        outcome.numbers += module.comparisons
    return failures


def _culprit(message, ends):
    """The program that a message of sparse-call is about, if it says so."""
    named = re.search(r"_sparse_autograd_entry_(p\d+)|ended with -?\d+ in "
                      r"(p\d+)", message)
    if named:
        return named.group(1) or named.group(2)
    at = re.search(r"program\.mlir:(\d+):", message)
    if at:
        for name, end in ends.items():
            if int(at.group(1)) <= end:
                return name
    return None


def run_range(seed, indices, level):
    """Generates and runs programs; in a process of its own, perhaps."""
    np.seterr(all="ignore")
    outcome = Outcome()
    for start in range(0, len(indices), MODULE):
        programs = [generate(seed, i) for i in indices[start:start + MODULE]]
        for program in programs:
            outcome.counts[SPLIT] += program.split
            for step in all_steps(program.steps):
                outcome.counts.update(step.kind.counted(step))
        failures = run_module(programs, level, outcome)
        outcome.programs += len(programs)
        outcome.failures += [(p.number, failures[p.name]) for p in programs
                             if p.name in failures]
    return outcome


# Reduction of a failing program.

def _kind_of(message):
    """What has to stay the same: a crash, a diagnostic, or a wrong number."""
    if not message.startswith("sparse-call"):
        return "wrong"
    error = re.search(r"error: (.*)", message)
    if error:
        return re.sub(r"\d+|'[^']*<[^']*'|p\d+", "", error.group(1))[:60]
    return message.split(":")[0].split(" in ")[0]


def shrink(program, level, message):
    """Drops steps, results and operands while the program fails alike."""
    wanted = _kind_of(message)

    def fails(candidate):
        try:
            failures = run_module([candidate], level)
        except Exception:  # no program: a reference that cannot be computed
            return None
        found = failures.get(candidate.name)
        return found if found and _kind_of(found) == wanted else None

    improved = True
    while improved:
        improved = False
        for candidate in _smaller(program):
            found = fails(candidate)
            if found:
                program, message, improved = candidate, found, True
                break
    return program, message


def _smaller(program):
    """Programs with something dropped, the most first."""
    if len(program.results) > 1:
        for i in range(len(program.results)):
            copied = copy.deepcopy(program, _keep_kinds(program))
            copied.results = [copied.results[i]]
            if _finish(copied, program):
                yield copied
    tape, env = program.evaluate()
    for i, step in enumerate(program.steps):
        if all(r in program.results for r in step.results) and len(
                program.steps) == 1:
            continue
        copied = copy.deepcopy(program, _keep_kinds(program))
        dropped = copied.steps.pop(i)
        for old, new in zip(step.results, dropped.results):
            reference_ = env[old]
            array = (execution.to_type(reference_.value.astype(float),
                                       old.element) if old.is_float else
                     reference_)
            copied.arguments.append(new)
            copied.inputs[new] = array
            if old.is_float:
                copied.wrt.append(new)
        if _finish(copied, program):
            yield copied
    # Inside of regions: a result becomes an operand of its type.
    for region_path, step_index in _nested(program.steps):
        copied = copy.deepcopy(program, _keep_kinds(program))
        region = _region_at(copied.steps, region_path)
        dropped = region.steps.pop(step_index)
        given = dropped.operands + region.arguments
        replaced = {}
        for result in dropped.results:
            same = [v for v in given if v.element == result.element and
                    v.shape == result.shape]
            if same:
                replaced[result] = same[0]
        for step in region.steps:
            _replace(step, replaced)
        region.yields = [replaced.get(v, v) for v in region.yields]
        if _finish(copied, program):
            yield copied
    for i in range(len(program.wrt)):
        if len(program.wrt) > 1:
            copied = copy.deepcopy(program, _keep_kinds(program))
            copied.wrt.pop(i)
            if _finish(copied, program):
                yield copied
    if program.split:
        copied = copy.deepcopy(program, _keep_kinds(program))
        copied.split = False
        yield copied
    if program.dynamic:
        copied = copy.deepcopy(program, _keep_kinds(program))
        copied.dynamic, copied.expected = False, None
        yield copied


def _keep_kinds(program):
    return {id(s.kind): s.kind for s in all_steps(program.steps)}


def _finish(copied, program):
    """Prunes; whether something is left of it and became smaller."""
    copied.expected = None
    copied.prune()
    return copied.steps and copied.wrt and any(
        v.is_float for v in copied.results) and (
            _size(copied) < _size(program))


def _size(program):
    return (len(list(all_steps(program.steps))), len(program.results),
            len(program.wrt), len(program.arguments))


def _nested(steps, path=()):
    for i, step in enumerate(steps):
        for r, region in enumerate(step.regions):
            here = path + ((i, r),)
            for j in range(len(region.steps)):
                yield here, j
            yield from _nested(region.steps, here)


def _region_at(steps, path):
    region = None
    for i, r in path:
        region = steps[i].regions[r]
        steps = region.steps
    return region


def _replace(step, replaced):
    step.operands = [replaced.get(v, v) for v in step.operands]
    for region in step.regions:
        region.yields = [replaced.get(v, v) for v in region.yields]
        for nested in region.steps:
            _replace(nested, replaced)


def describe(program):
    """The program as a file that a tool reads, and what it is called with."""
    module = execution.Program("random")
    define(module, program)
    arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(
        module.types[program.name][0]))
    lines = "\n".join(module.text)
    with np.printoptions(threshold=40, linewidth=100):
        inputs = "\n".join(
            f"// %a{i} = " + str(program.inputs[v]).replace("\n", "\n//   ")
            for i, v in enumerate(program.arguments))
    return f"{lines}\n{inputs}\n// ({arguments})"
