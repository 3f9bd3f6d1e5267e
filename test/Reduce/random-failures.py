# Random programs that fail become a few lines, and the reduction never ends early.
#
# Two programs of the generator and their derivatives are in a file. One of their
# operations has no derivative rule, or, where none can be replaced, the failure is that
# the file has a certain operation. What is left must show the failure, and have little
# besides. The script of one in three kills the process that runs it, now and then, as a
# pass that crashes does.
#
# RUN: %python %s %if long %{--count 100%} %else %{--count 2%}

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

import campaign
from execution import Program
from generator import generate

UNARY = re.compile(r"^( +)(%\w+) = (math\.\w+|arith\.negf) (%\w+)(?: fastmath\S+)? : (\S+)$",
                   re.MULTILINE)
NESTED = re.compile(r"= (linalg\.\w+|math\.\w+|arith\.[a-z]+f\b|tensor\.\w+|scf\.\w+|"
                    r"sparse_autograd\.masked_\w+)")


def draw(seed, number, rng):
    """The text of a module, and what a shell finds of the failure in it."""
    module = Program("failing")
    for index in (2 * number, 2 * number + 1):
        campaign.define(module, generate(seed, index))
    text = original = "\n".join(module.text)
    places = [m for m in UNARY.finditer(text) if text.count(m[4]) > 1]
    if places:
        place = rng.choice(places)
        name, operand, type_ = place[2], place[4], place[5]
        text = (text[:place.start()] +
                f"{place[1]}{name} = func.call @opaque({operand}) : ({type_}) -> {type_}" +
                text[place.end():] +
                f"\nfunc.func private @opaque({type_}) -> {type_}\n")
        shows = ("sparse-opt --sparse-autograd-differentiate \"$1\" -o /dev/null 2>&1 | "
                 "grep -q \"'func.call' op has no derivative rule\"")
        if subprocess.run(["sh", "-c", shows, "sh", "/dev/stdin"], input=text,
                          text=True).returncode == 0:
            return text, shows
    # As the tools print it, and the script reads it.
    printed = subprocess.run(["sparse-opt", "-"], input=original, capture_output=True,
                             text=True, check=True).stdout
    op = rng.choice(sorted(set(NESTED.findall(printed))))
    return original, f"sparse-opt \"$1\" 2>/dev/null | grep -q \"= {op}[ (]\""


def count_operations(text):
    lines = [line.strip() for line in text.splitlines()]
    return sum(bool(line) and not line.startswith(("}", "^", "#", "module", "func.func"))
               and "arith.constant" not in line for line in lines)


def run(number, seed, folder):
    rng = random.Random(f"{seed} {number}")
    text, shows = draw(seed, number, rng)
    model, script, small = (os.path.join(folder, n)
                            for n in ("model.mlir", "interesting.sh", "small.mlir"))
    with open(model, "w") as stream:
        stream.write(text)
    # The parent is the process that edits.
    crash = ""
    if number % 3 == 0:
        crash = (f"echo >> {folder}/runs\n"
                 f"[ $(( $(wc -l < {folder}/runs) % 9 )) = 4 ] && kill -SEGV $PPID\n")
    with open(script, "w") as stream:
        stream.write(f"#!/bin/sh\n{crash}{shows} && exit 1\nexit 0\n")
    os.chmod(script, 0o755)
    process = subprocess.run(["sparse-reduce", model, f"--test={script}", "-o", small],
                             capture_output=True, text=True)
    if process.returncode != 0:
        return f"status {process.returncode}: {process.stderr}"
    if bool(crash) != ("crashed" in process.stderr):
        return f"crashes are not told: {process.stderr}"
    with open(small) as stream:
        left = stream.read()
    if subprocess.run(["sh", "-c", shows, "sh", small]).returncode != 0:
        return f"does not fail any more:\n{left}"
    before, after = count_operations(text), count_operations(left)
    print(f"{number}: {before} operations, {after} of them left", flush=True)
    # The operation in a region, its terminator, the return, and the derivative.
    if after > 12:
        return f"is too large:\n{left}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    numbers = range(options.count) if options.only is None else [options.only]
    failures = 0
    for number in numbers:
        with tempfile.TemporaryDirectory() as folder:
            message = run(number, options.seed, folder)
        if message:
            failures += 1
            print(f"--seed {options.seed} --only {number} {message}", flush=True)
    print(f"{len(numbers)} failures reduced, {failures} not")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
