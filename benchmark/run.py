#!/usr/bin/env python3
"""Compares compiled programs with loops in C++ and with NumPy, on one thread.

Everything that is compared is timed in alternation, in one run, and the best
of the rounds counts: the figures are ratios, which a busy or a slow machine
changes little. See README.md.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import numpy as np
import paired

CASES = ("mean", "max", "logsumexp", "softmax")


class Driver:
    """The program masked-benchmark, which answers each line with one."""

    def __init__(self, path):
        try:
            self.process = subprocess.Popen(
                [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        except OSError as error:
            sys.exit(f"run.py: error: {path}: {error.strerror}; "
                     "build the target masked-benchmark")

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().split()
        except BrokenPipeError:
            answer = []
        if not answer:
            sys.exit(f"run.py: error: masked-benchmark failed at '{line}'")
        return answer

    def time(self, what):
        return float(self.ask("time " + what)[0])


class NumPyCase:
    """The same computation in NumPy: whole arrays, written to in place where
    NumPy can."""

    def __init__(self, name, size, density):
        generator = np.random.default_rng(20240607)
        self.x = generator.standard_normal((size, size), dtype=np.float32)
        self.dy = generator.standard_normal((size, size), dtype=np.float32)
        self.mask = generator.random((size, size), dtype=np.float32) < density
        self.run = getattr(self, name)

    def mean(self):
        count = np.count_nonzero(self.mask, axis=1)
        total = np.sum(self.x, axis=1, where=self.mask)
        scale = (1 / np.maximum(count, 1)).astype(np.float32)
        return np.sum(total * scale), self.mask * scale[:, None]

    def max(self):
        largest = np.max(self.x, axis=1, where=self.mask, initial=-np.inf)
        ties = (self.x == largest[:, None]) & self.mask
        share = (1 / np.maximum(np.count_nonzero(ties, axis=1), 1)).astype(np.float32)
        return np.sum(largest), ties * share[:, None]

    def exponentials(self):
        largest = np.max(self.x, axis=1, where=self.mask, initial=-np.inf)
        largest = np.where(largest == -np.inf, np.float32(0), largest)
        e = self.x - largest[:, None]
        np.exp(e, out=e)
        np.multiply(e, self.mask, out=e)
        total = np.sum(e, axis=1)
        np.divide(e, np.where(total > 0, total, np.float32(1))[:, None], out=e)
        return largest, total, e

    def logsumexp(self):
        largest, total, softmax = self.exponentials()
        with np.errstate(divide="ignore"):
            return np.sum(largest + np.log(total)), softmax

    def softmax(self):
        _, _, y = self.exponentials()
        dot = np.einsum("ij,ij->i", y, self.dy)
        dx = self.dy - dot[:, None]
        np.multiply(dx, y, out=dx)
        return y, dx

    def time(self):
        self.run()  # as masked-benchmark does: what is timed follows its own kind
        begin = time.perf_counter()
        self.run()
        return time.perf_counter() - begin


def measure(driver, case, size, density, rounds):
    bytes_moved = int(driver.ask(f"prepare {case} {size} {density}")[1])
    timers = {what: lambda w=what: driver.time(w) for what in ("program", "loop", "copy")}
    timers["numpy"] = NumPyCase(case, size, density).time
    seconds = {what: [] for what in timers}
    for _ in range(rounds + 1):
        for what, timer in timers.items():
            seconds[what].append(timer())
    # The first round maps memory and warms caches.
    best = {what: min(values[1:]) for what, values in seconds.items()}
    bandwidth = 2 * 4 * size * size / best["copy"]
    return {
        "case": case,
        "density": density,
        "seconds": best,
        "speed_of_loop": best["loop"] / best["program"],
        "speed_of_numpy": best["numpy"] / best["program"],
        "share_of_copy_bandwidth": bytes_moved / best["program"] / bandwidth,
        "loop_share_of_copy_bandwidth": bytes_moved / best["loop"] / bandwidth,
        "copy_bytes_per_second": bandwidth,
    }


def compare(drivers, case, size, density, rounds):
    """How long the program of the first driver takes of the second one's time."""
    for driver in drivers:
        driver.ask(f"prepare {case} {size} {density}")
        driver.time("program")
    timers = [lambda driver=driver: driver.time("program") for driver in drivers]
    return paired.compare(*paired.run_in_turn(timers, rounds))


def compare_builds(options):
    """Times the programs of two builds in turn."""
    other = os.path.join(options.against, "bin", "masked-benchmark")
    drivers = [Driver(options.driver), Driver(other)]
    print(f"{options.size} x {options.size} f32, 1 thread, time of this build / "
          f"{options.against}")
    for case in options.cases.split(","):
        for density in map(float, options.densities.split(",")):
            ratio = compare(drivers, case, options.size, density, options.rounds)
            print(f"{case:10} {density:7.0%} {ratio}", flush=True)
            paired.check_limit("run.py", f"{case} at {density:.0%}", ratio, options.limit)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--driver",
        default=os.path.join(here, "..", "build", "bin", "masked-benchmark"),
        help="the program masked-benchmark (default: of build/)",
    )
    parser.add_argument("--size", type=int, default=4096, help="rows and columns")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--cases", default="mean,softmax", help="of " + ", ".join(CASES))
    parser.add_argument("--densities", default="0.01,0.1,0.5,1")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument(
        "--require",
        type=float,
        metavar="SPEED",
        help="fail if a program has less than this share of the loop's speed",
    )
    parser.add_argument(
        "--against",
        metavar="BUILD_DIR",
        help="time the programs of another build in turn, and print the ratios",
    )
    parser.add_argument(
        "--limit",
        type=float,
        metavar="RATIO",
        help="with --against: fail if the interval of a ratio is above it",
    )
    options = parser.parse_args()
    for case in options.cases.split(","):
        if case not in CASES:
            parser.error(f"there is no case '{case}'")
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")

    if options.against:
        return compare_builds(options)
    driver = Driver(options.driver)
    if not options.json:
        print(f"{options.size} x {options.size} f32, 1 thread, best of {options.rounds}")
        print(
            f"{'case':10} {'density':>7} {'program':>10} {'C++ loop':>10} {'NumPy':>10} "
            f"{'x loop':>7} {'x NumPy':>8} {'x copy':>7}"
        )
    slowest = float("inf")
    for case in options.cases.split(","):
        for density in map(float, options.densities.split(",")):
            row = measure(driver, case, options.size, density, options.rounds)
            slowest = min(slowest, row["speed_of_loop"])
            if options.json:
                print(json.dumps(row), flush=True)
                continue
            best = row["seconds"]
            print(
                f"{case:10} {density:7.0%} "
                + " ".join(f"{best[w] * 1e3:7.2f} ms" for w in ("program", "loop", "numpy"))
                + f" {row['speed_of_loop']:7.2f} {row['speed_of_numpy']:8.2f} "
                f"{row['share_of_copy_bandwidth']:7.2f}",
                flush=True,
            )
    driver.process.stdin.close()
    if driver.process.wait() != 0:
        sys.exit("run.py: error: masked-benchmark failed")
    if options.require is not None and slowest < options.require:
        sys.exit(f"run.py: error: {slowest:.2f} of the loop's speed; {options.require} is required")


if __name__ == "__main__":
    main()
