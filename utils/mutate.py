#!/usr/bin/env python3
# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the tests: mutants of the derivative rules and of what sparse tensors
are proved, stored and lowered by, which tests have to kill.

A mutant is the source with one change that a mistake could be: a sign, a
dropped or doubled accumulation, swapped operands, an off-by-one, a negated
condition, a wrong map, a deleted statement.

    utils/mutate.py --list                     the mutants, one a line
    utils/mutate.py --of sparse --list         those of sparse tensors
    utils/mutate.py --tree DIR --build build --sample 100 --results results.csv
    utils/mutate.py --tree DIR --build build --only 17,45

DIR is a checkout of its own and has no changes: files in it are changed and
restored. Its build folder is configured, best without optimization, and has
the target sparse-autograd-python. What is sampled depends on the seed alone and
has the same share of every file; a smaller sample is the beginning of a larger
one. Mutants that the file of results has are not run again.

To begin with the tests run without a mutant, and the programs that they compile
are kept with what the differentiation makes of them. For each mutant one file
is compiled and the tools are linked. Then each of the programs is differentiated,
and lowered if the mutants are of the lowering: that fails, or some function is
another one and the test of it is run, or this test cannot tell the mutant. The
lit tests of the folder run as well. The first failure kills; so does a test
that takes ten times as long as without the mutant.
"""

import argparse
import collections
import csv
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import mutants

# What is mutated: the sources, what is changed in them, the phase after which
# programs are compared, which executed tests there are, random programs or not,
# and the lit tests.
Group = collections.namedtuple("Group",
                               "sources changes phase tests random lit")
GROUPS = {
    "rules": Group(
        ("lib/Differentiate/Rules", "lib/Differentiate/Transposition.cpp",
         "lib/Differentiate/Linearization.cpp",
         "lib/Differentiate/Activity.cpp",
         "lib/Interfaces/LinearizableOpInterface.cpp"),
        mutants.CHANGES, "differentiate", r".", True, ("test/Differentiate",)),
    "sparse": Group(
        ("lib/Analysis/GradientBound.cpp", "lib/Analysis/GradientDensity.cpp",
         "lib/Analysis/SupportAnalysis.cpp", "lib/Analysis/ReadValues.cpp",
         "lib/Analysis/ScalarTerms.cpp", "lib/Analysis/SparseIteration.cpp",
         "lib/Analysis/SparsePatterns.cpp", "lib/Conversion/PrefetchRows",
         "lib/Conversion/SparseTensorToLoops",
         "lib/Differentiate/ProveSparsityPass.cpp",
         "lib/Differentiate/SparseCotangents.cpp",
         "lib/Differentiate/Rules/SparseRules.cpp",
         "lib/Differentiate/Rules/GenericTangent.cpp",
         "lib/Differentiate/Rules/GenericTranspose.cpp",
         "lib/FormatSelection", "lib/Transforms/SampleFactors.cpp",
         "lib/Transforms/SparseElementwise.cpp"),
        mutants.CHANGES + mutants.SPARSE_CHANGES,
        # That memory stays flat, and what sanitizers find, is no number.
        "lower-sparse",
        r"^(chosen-tensors|row-updates|select-formats|"
        r"sparse-(?!memory|sanitized|upstream|storage))",
        False, ("test/Conversion/PrefetchRows",
                "test/Conversion/SparseAutogradToLinalg",
                "test/Conversion/SparseTensorToLoops",
                "test/Dialect/SparseAutograd", "test/FormatSelection")),
}
# Of files whose work a program does not show at the end of the phase: lit tests
# that run beside those of the group. What a gradient may be is proved before
# it is lowered; what is prefetched changes no number, but is loaded later, and
# has to be there.
PROOF = ("test/Differentiate", "test/Execution/sparse-proof.py")
BESIDE = {
    "GradientBound": PROOF,
    "GradientDensity": PROOF,
    "SupportAnalysis": PROOF,
    "SparseCotangents": ("test/Differentiate",),
    "ProveSparsityPass": PROOF,
    "ReadValues": PROOF,
    "PrefetchRows": ("test/Execution/sparse-sanitized.py",),
    # The rules of dense tensors.
    "GenericTangent": ("test/Execution/linalg-functions.py",),
    "GenericTranspose": ("test/Execution/linalg-functions.py",),
}
TARGETS = ("sparse-call", "sparse-opt", "sparse-runner",
           "derivative-rule-table")

# The tests that are nearest to a file; they run first.
NEAREST = {
    "ArithRules": ("scalar-rules", "control-flow-functions"),
    "MathRules": ("scalar-rules",),
    "ScalarFormula": ("scalar-rules",),
    "ScalarRule": ("scalar-rules",),
    "TensorRules": ("tensor-functions", "reach-functions"),
    "LinalgRules": ("linalg-functions", "reach-functions"),
    "MatrixProduct": ("linalg-functions", "masked-gradients"),
    "OperandReach": ("reach-functions", "linalg-functions"),
    "GatherRule": ("linalg-functions", "tensor-functions"),
    "Slices": ("tensor-functions",),
    "MaskedPartials": ("masked-derivative-forms", "masked-gradients"),
    "MaskedSlices": ("masked-derivative-forms", "masked-gradients"),
    "SparseAutogradRules": ("gradient-ops", "masked-gradients"),
    "CallRules": ("derivative-calls", "control-flow-functions"),
    "ForRule": ("loop-functions", "reach-functions"),
    "IfRule": ("control-flow-functions", "reach-functions"),
    "WhileRule": ("loop-functions",),
    "LoopTape": ("loop-functions",),
    "KeptValues": ("loop-functions", "control-flow-functions"),
    "ControlFlowRules": ("loop-functions", "control-flow-functions",
                         "reach-functions"),
    "Transposition": ("control-flow-functions", "reach-functions"),
    "LinearizableOpInterface": ("reach-functions", "masked-gradients"),
    "ArgumentFormats": ("select-formats",),
    "CostModel": ("select-formats",),
    "OtherOrders": ("select-formats",),
    "SmallTensors": ("select-formats",),
    "SampleFactors": ("sparse-factors",),
    "FuseUpdates": ("row-updates",),
    "GatherRows": ("sparse-rows",),
    "ScatterRows": ("sparse-rows",),
    "MoveEntries": ("sparse-moves",),
    "LowerSparse": ("sparse-errors", "sparse-shapes", "sparse-control-flow"),
}
# Tests whose entries are compared with each other run as a whole.
WHOLE = ("sparse-metamorphic", "sparse-control-flow", "sparse-encodings")
# Random programs come in modules of this many, and are those of the tests.
MODULE, MODULES = 50, 6
RANDOM = ("--seed", "1", "--reduce", "0")


def run(command, tree, seconds, env=None, is_moderate=True):
    """Whether a command ends well in time and, if it should, in moderate memory,
    and what it writes. What takes too long is ended with all that it has
    started."""
    def limit():
        if is_moderate:
            resource.setrlimit(resource.RLIMIT_AS, (1 << 34, 1 << 34))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with subprocess.Popen(command, cwd=tree, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          errors="replace", start_new_session=True,
                          preexec_fn=limit) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode == 0, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return False, "took too long"


class Tests:
    """The tests that kill, and the programs that they compile."""

    def __init__(self, options):
        self.options, self.group = options, GROUPS[options.of]
        self.env = dict(os.environ)
        self.env["PATH"] = os.path.join(options.build, "bin") + (
            os.pathsep + self.env["PATH"])
        self.env["PYTHONPATH"] = os.pathsep.join(
            os.path.join(options.tree, "test", folder) for folder in
            ("Programs/Inputs", "Execution/Inputs", "oracles"))
        self.env["PYTHONDONTWRITEBYTECODE"] = "1"
        # Test, program, file, derivatives of its functions.
        self.programs = []
        self.seconds = {}

    def limit(self, seconds):
        """How long something may take that takes a fraction of `seconds`."""
        return seconds * self.options.patience

    def commands(self):
        """The executed tests of the group, by name."""
        folder = os.path.join("test", "Execution")
        result = {}
        for name in sorted(os.listdir(os.path.join(self.options.tree, folder))):
            path = os.path.join(folder, name)
            if not name.endswith(".py") or (
                    not re.search(self.group.tests, name)):
                continue
            # What differentiates nothing says nothing about rules.
            with open(os.path.join(self.options.tree, path),
                      encoding="utf-8") as file:
                if self.group is GROUPS["rules"] and not re.search(
                        "vjp|jvp|function_tests|masked_cases|sparse_f",
                        file.read()):
                    continue
            result[name[:-3]] = [self.options.python, path]
        for module in range(MODULES if self.group.random else 0):
            result[f"random-programs-{module}"] = [
                self.options.python,
                os.path.join("test", "Programs", "random-programs.py"),
                "--first", str(MODULE * module), "--count", str(MODULE),
                *RANDOM]
        return result

    def record(self):
        """Runs the tests without a mutant and keeps their programs."""
        folder = self.options.programs
        for test, command in self.commands().items():
            kept = os.path.join(folder, test)
            seconds = os.path.join(kept, "seconds")
            if not os.path.exists(seconds):
                shutil.rmtree(kept, ignore_errors=True)
                os.makedirs(kept)
                start = time.monotonic()
                passed, output = run(command, self.options.tree, self.limit(900),
                                     {**self.env, "EXECUTION_KEEP": kept})
                if not passed:
                    sys.exit(f"{test} fails without a mutant:\n{output}")
                with open(seconds, "w", encoding="utf-8") as file:
                    file.write(str(time.monotonic() - start))
                # The arrays are large.
                for place, _, files in os.walk(kept):
                    for name in files:
                        if name.endswith(".npy"):
                            os.remove(os.path.join(place, name))
            with open(seconds, encoding="utf-8") as file:
                self.seconds[test] = float(file.read())
            for name in sorted(os.listdir(kept)):
                path = os.path.join(kept, name, "program.mlir")
                if os.path.exists(path):
                    made, text = self.compile(path)
                    if not made:
                        sys.exit(f"{path} fails without a mutant:\n{text}")
                    self.programs.append((test, name, path, _functions(text)))
        folders = {*self.group.lit, *GROUPS["rules"].lit}
        if self.group is GROUPS["sparse"]:
            folders.update(*BESIDE.values())
        passed, output = run(self.lit(".", folders), self.options.tree,
                             self.limit(900), self.env, is_moderate=False)
        if not passed:
            sys.exit(f"{folders} fail without a mutant:\n{output}")

    def compile(self, path):
        # A program that is compiled with options of its own begins with them.
        with open(path, encoding="utf-8") as file:
            own = re.match("// --sparse-autograd=(.*)", file.readline())
        return run([os.path.join(self.options.build, "bin", "sparse-opt"),
                    f"--sparse-autograd=compile-to={self.group.phase}"
                    f"{' ' + own.group(1) if own else ''}", path],
                   self.options.tree, self.limit(60), self.env)

    def lit_fails(self, chosen, seconds, mutant):
        if self.options.numbers:
            return False
        folders = set(self.group.lit)
        if mutant.path.startswith("lib/Differentiate"):
            folders.update(GROUPS["rules"].lit)
        folders.update(BESIDE.get(mutant.name(), ()))
        # The address sanitizer reserves more memory than there is.
        return not run(self.lit(chosen, folders), self.options.tree,
                       self.limit(seconds), self.env,
                       is_moderate=mutant.name() != "PrefetchRows")[0]

    def lit(self, chosen, folders):
        return [self.options.python,
                os.path.join(self.options.build, "bin", "lit"), "-q", "-j1",
                # A group may have none of the kind.
                "--allow-empty-runs", "--filter", chosen, *sorted(folders)]

    def fails(self, test, name, path, changed):
        """Whether a test fails that compiles one of the programs, in which the
        functions `changed` are other ones."""
        command = self.commands()[test]
        limit = self.limit(10 * self.seconds[test] + 30)
        if self.group is GROUPS["sparse"] and test not in WHOLE:
            # The entries alone that a change has to do with, at first a few.
            entries = self.entries_of(path, changed)
            for chosen in (entries[:5], entries):
                passed, output = run(
                    command + [name], self.options.tree, limit,
                    {**self.env, "EXECUTION_ENTRIES": ",".join(chosen)})
                if not passed and ", 0 numbers compared, 0" not in output:
                    return True
            return False
        if test.startswith("random-programs"):
            numbers = sorted({int(n) for f in changed
                              for n in re.findall(r"^p(\d+)", f)})
            if 0 < len(numbers) <= 5:
                return any(
                    not run([*command[:2], "--only", str(n), *RANDOM],
                            self.options.tree, limit, self.env)[0]
                    for n in numbers)
            return not run(command, self.options.tree, limit, self.env)[0]
        # Without the others, where the test knows how.
        names = {re.sub(r"_(f64|f32|f16|bf16)(_dynamic)?(_[fgt])?$", "", f)
                 for f in changed}
        only = {**self.env, "EXECUTION_ONLY": ",".join(sorted(names))}
        with open(os.path.join(self.options.tree, command[1]),
                  encoding="utf-8") as file:
            if "function_tests" in file.read():
                passed, output = run(command + [name], self.options.tree, limit,
                                     only)
                if not passed and not re.search(
                        r"^0 functions|^\d+ functions, 0 calls", output, re.M):
                    return True
        return not run(command + [name], self.options.tree, limit, self.env)[0]

    def entries_of(self, path, changed):
        """The public functions with whose names those of `changed` begin; all
        of them if there is one without."""
        with open(path, encoding="utf-8") as file:
            public = re.findall(r"^func\.func @([\w.$-]+)", file.read(), re.M)
        found = set()
        for function in changed:
            callers = [p for p in public if function.startswith(p)]
            if not callers:
                return public
            found.add(max(callers, key=len))
        # From all over the program.
        return random.Random(1).sample(sorted(found), len(found))

    def kill(self, mutant):
        """The test that a mutant fails, or None, and how many programs the
        mutant changes."""
        nearest = NEAREST.get(mutant.name(), ())

        def order(program):
            test, name, _, _ = program
            return (nearest.index(test) if test in nearest else len(nearest),
                    not name.startswith("f64"), self.seconds[test])

        programs = sorted(self.programs, key=order)
        near = sum(p[0] in nearest and p[1].startswith("f64") for p in programs)
        changed = 0
        for position, (test, name, path, before) in enumerate(programs):
            if position == near and self.lit_fails(r"\.mlir", 120, mutant):
                return "lit", changed
            made, text = self.compile(path)
            if not made:
                return f"{test} {name} (not compiled)", changed
            after = _functions(text)
            different = [f for f in before if after.get(f) != before[f]]
            different += [f for f in after if f not in before]
            if not different:
                continue
            changed += 1
            if self.fails(test, name, path, different):
                return f"{test} {name}", changed
        if self.lit_fails(r"\.(py|test)", 300, mutant):
            return "lit", changed
        return None, changed


def _functions(text):
    """The functions of a module, by name."""
    parts = re.split(r"^  (?=func\.func )", text, flags=re.M)
    result = {"": parts[0]}
    for part in parts[1:]:
        result[re.search(r"@([\w.$-]+)", part).group(1)] = part
    return result


def build(options):
    return run(["ninja", "-C", options.build, f"-j{options.jobs}", *TARGETS],
               options.tree, 1800)


def test(mutant, tests, options):
    """What became of a mutant, by what, and how many programs it changed."""
    path = os.path.join(options.tree, mutant.path)
    with open(path, encoding="utf-8") as file:
        original = file.read()
    lines = original.split("\n")
    assert lines[mutant.line] == mutant.old
    lines[mutant.line] = mutant.new
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        if not build(options)[0]:
            return "not compiled", "", 0
        by, changed = tests.kill(mutant)
        return ("killed", by, changed) if by else ("survived", "", changed)
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(original)


COLUMNS = ("number", "file", "line", "change", "old", "new", "outcome", "by",
           "changed programs", "seconds")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--of", choices=GROUPS, default="rules")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--tree", default=".", help="a checkout of its own")
    parser.add_argument("--build", default="build", help="its build folder")
    parser.add_argument("--sample", type=int, help="how many, by chance")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="numbers, separated by commas")
    parser.add_argument("--numbers", action="store_true",
                        help="only what programs compute kills, no lit tests")
    parser.add_argument("--jobs", type=int, default=1, help="of the compiler")
    parser.add_argument("--minutes", type=float,
                        help="no further mutant after this time")
    parser.add_argument("--patience", type=float, default=1,
                        help="limits of time are multiplied by this, for a "
                        "machine that does other work as well")
    parser.add_argument("--results", help="a CSV file, which is added to")
    parser.add_argument("--programs", help="where the programs of the tests "
                        "are kept; those that are there are taken as they are")
    parser.add_argument("--python", help="one with NumPy, that of the build "
                        "folder by default")
    options = parser.parse_args()
    options.tree = os.path.abspath(options.tree)
    options.build = os.path.join(options.tree, options.build)
    options.python = options.python or os.path.join(
        options.build, "python-env", "bin", "python3")
    options.programs = os.path.abspath(
        options.programs or os.path.join(options.build, "mutants"))
    group = GROUPS[options.of]
    found = mutants.find(options.tree, group.sources, group.changes)
    if options.only:
        found = [found[int(n)] for n in options.only.split(",")]
    elif options.sample:
        found = mutants.sample(found, options.sample, options.seed)
    if options.list:
        print("\n".join(map(str, found)))
        return 0
    if subprocess.run(["git", "status", "--porcelain", "lib"],
                      cwd=options.tree, capture_output=True, text=True,
                      check=True).stdout:
        sys.exit(f"{options.tree} has changes of its own under lib/")

    rows = []
    if options.results and os.path.exists(options.results):
        with open(options.results, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    done = set() if options.only else {(r["file"], r["line"], r["new"])
                                       for r in rows}
    start = time.monotonic()
    built, output = build(options)
    if not built:
        sys.exit(f"{options.build} cannot be built:\n{output}")
    tests = Tests(options)
    tests.record()
    print(f"{len(tests.programs)} programs of {len(tests.seconds)} tests, "
          f"{time.monotonic() - start:.0f} s", flush=True)
    for mutant in found:
        if (mutant.path, str(mutant.line + 1), mutant.new.strip()) in done:
            continue
        if options.minutes and (time.monotonic() - start >
                                60 * options.minutes):
            break
        begin = time.monotonic()
        outcome, by, changed = test(mutant, tests, options)
        seconds = round(time.monotonic() - begin)
        print(f"{outcome}{' by ' + by if by else ''} "
              f"({seconds} s, {changed} changed)\t{mutant}", flush=True)
        rows.append(dict(zip(COLUMNS, (
            mutant.number, mutant.path, mutant.line + 1, mutant.change,
            mutant.old.strip(), mutant.new.strip(), outcome, by, changed,
            seconds))))
        if options.results:
            with open(options.results, "w", encoding="utf-8",
                      newline="") as file:
                writer = csv.DictWriter(file, COLUMNS)
                writer.writeheader()
                writer.writerows(rows)
    build(options)  # The last one was of a mutant.
    counts = collections.Counter(r["outcome"] for r in rows)
    tested = counts["killed"] + counts["survived"]
    share = 100 * counts["killed"] / tested if tested else 0
    print(", ".join(f"{n} {k}" for k, n in sorted(counts.items())) +
          f"; {share:.1f}% of those that compile killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
