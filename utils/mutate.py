#!/usr/bin/env python3
# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the tests: mutants of the derivative rules, which tests have to kill.

A mutant is the source with one change that a mistake could be: a sign, a
dropped or doubled accumulation, swapped operands, an off-by-one, a negated
condition, a wrong map, a deleted statement. Each is built (one file and the
link of two programs) and run against fast tests first, then against all that
execute derivatives. What survives is listed with its change.

    utils/mutate.py --list                     the mutants, one a line
    utils/mutate.py --tree DIR --build build --sample 20 --seed 1
    utils/mutate.py --tree DIR --build build --only 17,45

DIR is a checkout of its own, whose build folder has been built: files in it are
changed and restored. The report has a line for each mutant.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import time

SOURCES = ("lib/Differentiate/Rules", "lib/Differentiate/Transposition.cpp",
           "lib/Differentiate/Linearization.cpp",
           "lib/Differentiate/Activity.cpp")
TARGETS = ("sparse-call", "sparse-opt")

# Of a rule: what it is called, what it finds in a line of code, and what it
# puts in its place. Each place is a mutant.
CHANGES = [
    ("sign", r"(?<=return )-(?=[\w(])", ""),
    ("sign", r"(?<=return )(?=(?:sin|cos|sinh|cosh|exp|y|x|ln2|two)\b[^;]*;)",
     "-"),
    ("sign", r"(?<=[\w)] )\+(?= [\w(])(?!.*\")", "-"),
    ("sign", r"(?<=[\w)] )-(?= [\w(])(?!.*\")", "+"),
    ("factor", r"(?<=[\w)] )\*(?= [\w(])(?!\*)", "/"),
    ("factor", r"(?<=[\w)] )/(?= [\w(])", "*"),
    ("operation", r"\bAddFOp::create\b", "SubFOp::create"),
    ("operation", r"\bSubFOp::create\b", "AddFOp::create"),
    ("operation", r"\bMulFOp::create\b", "AddFOp::create"),
    ("negation", r"\bif \((?!auto|Value|!|llvm::isa|failed)", "if (!("),
    ("negation", r"\bif \(!(?=\w)", "if ("),
    ("comparison", r" == (?!.*\")", " != "),
    ("comparison", r" != (?!.*\")", " == "),
    ("comparison", r"(?<=\w) < (?=\w)", " <= "),
    ("logic", r" && (?!.*\")", " || "),
    ("logic", r" \|\| (?!.*\")", " && "),
    ("off by one", r"(?<=[\[(, ])0(?=[\]),;])(?!.*\")", "1"),
    ("off by one", r"(?<=[\[(, ])1(?=[\]),;])(?!.*\")", "0"),
    ("off by one", r"\bgetResult\(0\)", "getResult(1)"),
    ("operand", r"\bgetLhs\(\)", "getRhs()"),
    ("operand", r"\bgetRhs\(\)", "getLhs()"),
    ("operand", r"\bgetTrueValue\(\)", "getFalseValue()"),
    ("operand", r"\bgetFalseValue\(\)", "getTrueValue()"),
    ("operand", r"\bpartials\((\w+), (\w+)\)", r"partials(\2, \1)"),
    ("support", r", support\)", ", Support())"),
    ("map", r"\binversePermutation\(([^()]*)\)", r"(\1)"),
    ("bound", r"\bgetLowerBound\(\)", "getUpperBound()"),
    ("bound", r"\bgetUpperBound\(\)", "getLowerBound()"),
    ("statement",
     r"^(\s+)(?!return|using|auto |if|for|else|case|break|static|const |}|//|"
     r"[A-Z]\w*(?:<[^;]*>)? \w+[ ;=(])"
     r"([\w.:>-]+(?:\([^;]*\)|[^;=(]* [+|&]?= [^;]*));$", r"\1;"),
]


# What declares a value, without which nothing compiles.
DECLARATION = re.compile(r"^\s+[\w:<>, ]+[ *&]+\w+ = ")


class Mutant:
    def __init__(self, number, path, line, change, old, new):
        self.number, self.path, self.line = number, path, line
        self.change, self.old, self.new = change, old, new

    def __str__(self):
        return (f"{self.number}\t{self.path}:{self.line + 1}\t{self.change}\t"
                f"{self.old.strip()}  ->  {self.new.strip()}")


def is_code(line):
    text = line.strip()
    return bool(text) and not text.startswith(("//", "#", "///", "*"))


def files_of(tree):
    for source in SOURCES:
        path = os.path.join(tree, source)
        if os.path.isdir(path):
            yield from (os.path.join(source, name)
                        for name in sorted(os.listdir(path))
                        if name.endswith(".cpp"))
        else:
            yield source


def mutants_of(tree):
    """All mutants, numbered; a change that makes no difference is none."""
    found = []
    for path in files_of(tree):
        with open(os.path.join(tree, path), encoding="utf-8") as file:
            lines = file.read().split("\n")
        before = ";"
        for at, line in enumerate(lines):
            starts, before = _ends(before), line if is_code(line) else before
            if not is_code(line) or ".checkedOn" in line or ".kink" in line:
                continue
            for change, pattern, replacement in CHANGES:
                if change == "statement" and (not starts or
                                              DECLARATION.match(line)):
                    continue
                for match in re.finditer(pattern, line):
                    new = (line[:match.start()] + match.expand(replacement) +
                           line[match.end():])
                    if change == "negation" and "if (!(" in new and (
                            "if (!(" not in line):
                        # The parenthesis that the condition ends with.
                        end = _closing(new, new.index("if (!(") + 3)
                        if end is None:
                            continue
                        new = new[:end + 1] + ")" + new[end + 1:]
                    if new != line:
                        found.append(Mutant(len(found), path, at, change, line,
                                            new))
    return found


def _ends(line):
    """Whether a statement ends with a line."""
    return line.split("//")[0].strip().endswith((";", "{", "}", ":", ")")) and (
        not line.strip().endswith(","))


def _closing(text, start):
    """Where the parenthesis at `start` is closed, the one that the mutant opens
    not counted; None if not in this line."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 1 and text[i] == ")" and i > start:
            return i
    return None


def run(command, tree, seconds, env=None):
    """Whether a command ends well in time; a hang is a failure."""
    try:
        done = subprocess.run(command, cwd=tree, timeout=seconds, env=env,
                              capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired:
        return False, "took too long"
    return done.returncode == 0, (done.stdout + done.stderr)[-1500:]


def suites(options):
    """Commands that kill: the fast first, and those nearest to a file."""
    python = options.python or sys.executable
    programs = os.path.join("test", "Programs", "random-programs.py")

    def executed(*names):
        return [[python, os.path.join("test", "Execution", n + ".py")]
                for n in names]

    fast = {
        "ArithRules": executed("scalar-rules"),
        "MathRules": executed("scalar-rules"),
        "ScalarFormula": executed("scalar-rules"),
        "ScalarRule": executed("scalar-rules"),
        "TensorRules": executed("tensor-functions"),
        "LinalgRules": executed("linalg-functions"),
        "MaskedPartials": executed("masked-derivative-forms",
                                   "masked-gradients"),
        "SparseAutogradRules": executed("gradient-ops", "masked-gradients"),
        "ForRule": executed("control-flow-functions"),
        "IfRule": executed("control-flow-functions"),
        "LoopTape": executed("control-flow-functions"),
        "ControlFlowRules": executed("control-flow-functions"),
    }
    random_run = [[python, programs, "--count", "200", "--seed", "9",
                   "--reduce", "0", "--jobs", str(options.jobs)]]
    wide = executed("control-flow-functions", "derivative-calls",
                    "gradient-ops", "linalg-functions",
                    "masked-derivative-forms", "masked-gradients",
                    "masked-producers", "masked-second-derivatives",
                    "reach-functions", "scalar-rules", "tensor-functions")
    lit = [[os.path.join(options.build, "bin", "lit"), "-q",
            os.path.join("test", "Differentiate")]]
    return fast, random_run, wide + lit


def test(mutant, options, env):
    """What became of a mutant, and which command killed it."""
    path = os.path.join(options.tree, mutant.path)
    with open(path, encoding="utf-8") as file:
        original = file.read()
    lines = original.split("\n")
    assert lines[mutant.line] == mutant.old
    lines[mutant.line] = mutant.new
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        built, _ = run(["ninja", "-C", options.build, f"-j{options.jobs}",
                        *TARGETS], options.tree, 900)
        if not built:
            return "did not compile", ""
        fast, random_run, wide = suites(options)
        name = os.path.splitext(os.path.basename(mutant.path))[0]
        first = fast.get(name, [])
        for command in first + random_run + [c for c in wide
                                             if c not in first]:
            passed, _ = run(command, options.tree, 900, env)
            if not passed:
                return "killed", os.path.basename(command[1])
        return "survived", ""
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(original)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--tree", default=".", help="a checkout of its own")
    parser.add_argument("--build", default="build", help="its build folder")
    parser.add_argument("--sample", type=int, help="how many, by chance")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="numbers, separated by commas")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--python", help="one with NumPy")
    options = parser.parse_args()
    options.tree = os.path.abspath(options.tree)
    mutants = mutants_of(options.tree)
    if options.only:
        mutants = [mutants[int(n)] for n in options.only.split(",")]
    elif options.sample:
        chosen = random.Random(options.seed).sample(
            range(len(mutants)), min(options.sample, len(mutants)))
        mutants = [mutants[n] for n in sorted(chosen)]
    if options.list:
        print("\n".join(map(str, mutants)))
        return 0
    if subprocess.run(["git", "status", "--porcelain", "lib"],
                      cwd=options.tree, capture_output=True, text=True,
                      check=True).stdout:
        sys.exit(f"{options.tree} has changes of its own under lib/")
    env = dict(os.environ)
    env["PATH"] = os.path.join(options.tree, options.build, "bin") + (
        os.pathsep + env["PATH"])
    env["PYTHONPATH"] = os.pathsep.join(
        os.path.join(options.tree, "test", folder) for folder in
        ("Programs/Inputs", "Execution/Inputs", "oracles"))
    counts = {}
    for mutant in mutants:
        start = time.monotonic()
        outcome, by = test(mutant, options, env)
        counts[outcome] = counts.get(outcome, 0) + 1
        print(f"{outcome}{' by ' + by if by else ''} "
              f"({time.monotonic() - start:.0f} s)\t{mutant}", flush=True)
    # The last build was of a mutant.
    run(["ninja", "-C", options.build, *TARGETS], options.tree, 900)
    tested = counts.get("killed", 0) + counts.get("survived", 0)
    share = 100 * counts.get("killed", 0) / tested if tested else 0
    print(", ".join(f"{n} {k}" for k, n in sorted(counts.items())) +
          f"; {share:.0f}% of those that compile killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
