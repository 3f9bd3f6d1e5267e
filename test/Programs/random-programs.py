# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s --count 2000 --seed 1 --jobs 2
"""Random programs against the reference: values, gradients and tangents.

    random-programs.py --count 500 --seed 1     a run, with counts of the ops
    random-programs.py --seed 1 --only 17        one program, reduced if it fails
    random-programs.py --seed 1 --only 17 --print    its text

Programs are numbered; each depends on the seed and its number alone. A run fails
if an op was in fewer programs than the run allows for.
"""

import argparse
import concurrent.futures
import statistics
import sys
import time

import numpy as np

import campaign
from generator import generate
from kinds import KINDS, NAMES

parser = argparse.ArgumentParser()
parser.add_argument("--count", type=int, default=200, help="of programs")
parser.add_argument("--first", type=int, default=0, help="number of the first")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--jobs", type=int, default=1, help="processes")
parser.add_argument("-O", dest="level", type=int, default=0,
                    help="optimization of the compiled code")
parser.add_argument("--only", type=int, help="the number of one program")
parser.add_argument("--op", help="only programs that are made for this op")
parser.add_argument("--print", action="store_true", help="its text")
parser.add_argument("--progress", action="store_true",
                    help="say how far a long run has come")
parser.add_argument("--reduce", type=int, default=3,
                    help="how many failing programs are reduced")


def report(options, number, message):
    """Prints a failing program, reduced, and how to repeat it."""
    program = generate(options.seed, number)
    print(f"FAILED: program {number} of seed {options.seed}: {message[:1500]}")
    print(f"repeat with: {sys.argv[0]} --seed {options.seed} --only {number} "
          f"-O{options.level}")
    print(campaign.describe(program))
    if options.reduce <= 0:
        return
    options.reduce -= 1
    program, message = campaign.shrink(program, options.level, message)
    print(f"reduced: {message[:1500]}")
    print(campaign.describe(program), flush=True)


def main():
    np.seterr(all="ignore")
    options = parser.parse_args()
    if options.only is not None:
        program = generate(options.seed, options.only)
        if options.print:
            print(campaign.describe(program))
            return 0
        outcome = campaign.run_range(options.seed, [options.only],
                                     options.level)
        for number, message in outcome.failures:
            report(options, number, message)
        print(f"{outcome.numbers} numbers compared, "
              f"{len(outcome.failures)} failures")
        return 1 if outcome.failures else 0

    start = time.monotonic()
    numbers = range(options.first, options.first + options.count)
    if options.op:
        places = [i for i, kind in enumerate(KINDS)
                  if options.op in kind.names()]
        if not places:
            parser.error(f"no op {options.op}")
        numbers = [(options.first + n) // len(places) * len(KINDS) +
                   places[n % len(places)] for n in range(options.count)]
    parts = [numbers[i:i + campaign.MODULE]
             for i in range(0, len(numbers), campaign.MODULE)]
    total = campaign.Outcome()
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(campaign.run_range, options.seed, part,
                               options.level) for part in parts]
        for future in futures:
            outcome = future.result()
            total.add(outcome)
            if options.progress:
                print(f"{total.programs} programs", flush=True)
            for number, message in outcome.failures:
                report(options, number, message)
    # Each op is what one in about 130 programs is made for.
    least = options.count // 200
    names = NAMES + [campaign.SPLIT]
    rare = [n for n in names if total.counts[n] < least and not options.op]
    print("ops: " + ", ".join(f"{n} {total.counts[n]}" for n in names))
    for element, widths in sorted(total.widths.items()):
        print(f"median relative bound of {element}: "
              f"{statistics.median(widths):.2g}")
    for name in rare:
        print(f"FAILED: {name} was in {total.counts[name]} programs only")
    print(f"{total.programs} programs, {total.numbers} numbers compared, "
          f"{len(total.failures)} failures, "
          f"{time.monotonic() - start:.0f} s")
    return 1 if total.failures or rare or total.numbers == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
