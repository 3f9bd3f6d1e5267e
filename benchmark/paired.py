# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Paired runs of two builds: ratios of times that were measured in turn, and an
interval of their median. Called by run.py and sparse.py, with --against."""

import math
import statistics
from dataclasses import dataclass


@dataclass
class Ratio:
    """How long one build takes as a multiple of the other: the median of the
    ratios of pairs, and the interval that has the median of all pairs in it with
    at least the confidence given (order statistics: whatever the times are
    distributed like)."""

    median: float
    low: float
    high: float
    confidence: float
    pairs: int

    def __str__(self):
        return (f"{self.median:.3f} [{self.low:.3f}, {self.high:.3f}] "
                f"({self.confidence:.1%} of {self.pairs} pairs)")


def compare(new, old, confidence=0.95):
    """The ratio of the seconds `new` to the seconds `old`, pair by pair. Of fewer
    than six pairs the interval is all of them, with less confidence."""
    if len(new) != len(old) or not new:
        raise ValueError("paired times are as many of one build as of the other")
    ratios = sorted(a / b for a, b in zip(new, old))
    count = len(ratios)

    def covered(cut):
        """How likely the median is in the interval without `cut` at each end."""
        outside = sum(math.comb(count, k) for k in range(cut + 1))
        return 1 - 2 * outside / 2 ** count

    cut = 0
    while 2 * (cut + 1) < count and covered(cut + 1) >= confidence:
        cut += 1
    return Ratio(statistics.median(ratios), ratios[cut], ratios[count - 1 - cut],
                 max(0.0, covered(cut)), count)


def run_in_turn(timers, rounds):
    """The seconds that each of two timers gives, `rounds` times: in turn, and the
    other one first each time, so that neither always follows the other."""
    seconds = [[], []]
    for number in range(rounds):
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            seconds[which].append(timers[which]())
    return seconds


def check_limit(program, name, ratio, limit):
    """Ends the program if all of the interval is above the limit."""
    if limit is not None and ratio.low > limit:
        raise SystemExit(f"{program}: error: {name} takes {ratio} of the time of the "
                         f"other build; {limit} is the limit")
