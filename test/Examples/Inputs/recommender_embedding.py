"""Checks examples/recommender_embedding.mlir against an independent NumPy run.

  recommender_embedding.py MLIR planted SEED...
  recommender_embedding.py MLIR real RATINGS.csv.gz
  recommender_embedding.py MLIR memory
  recommender_embedding.py MLIR time

`planted` and `real` train the example and compare every line of its log with
NumPy to 1e-9; Adam there goes through the rows of a batch one by one. Held-out
errors must be at most 1.1 times the noise of planted ratings, 0.25, and at most
0.885 for real ones. `memory` shows that a step needs memory of the size of its
batch. `time` prints how long a step takes at 10^5 and at 10^7 rows.
"""

import json
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from recommender import (NOISE, masked_ops, planted_ratings,  # noqa: E402
                         read_ratings)

COLUMNS = 8
TOLERANCE = 1e-9


class SparseAdam:
    """Adam on the rows that have a gradient (as torch.optim.SparseAdam)."""

    def __init__(self, table):
        self.table = table
        self.m, self.v = np.zeros_like(table), np.zeros_like(table)

    def step(self, indices, rows, correction1, correction2):
        gradient = {}
        for index, row in zip(indices.tolist(), rows):
            gradient[index] = gradient.get(index, 0.0) + row
        touched = np.array(sorted(gradient))
        g = np.array([gradient[index] for index in touched])
        self.m[touched] += 0.1 * (g - self.m[touched])
        self.v[touched] += 0.001 * (g * g - self.v[touched])
        self.table[touched] -= 0.02 * (self.m[touched] / correction1) / (
            np.sqrt(self.v[touched] / correction2) + 1e-8)


def train(ratings, observed, seed, epochs, batches, l2):
    """The log of @fit."""
    users, items = np.nonzero(observed)
    values = ratings[users, items]
    selected = masked_ops.random("bernoulli", seed, 0, (len(values),),
                                 probability=0.8)
    mean = values[selected].mean()

    def table(counter, rows):
        start = 0.1 * masked_ops.random("normal", seed, counter,
                                        (rows, COLUMNS))
        start[:, 0] = 0
        return SparseAdam(start)

    user, item = (table(n + 1, rows) for n, rows in enumerate(ratings.shape))

    def errors(users, items, values):
        u, i = user.table[users], item.table[items]
        offset = u[:, 0] + i[:, 0] + (u[:, 1:] * i[:, 1:]).sum(axis=1)
        return mean + offset - values, u, i

    lines, power1, power2 = [], 1.0, 1.0
    for epoch in range(epochs):
        total = 0.0
        for batch in range(batches):
            part = slice(batch, None, batches)
            power1, power2 = power1 * 0.9, power2 * 0.999
            error, u, i = errors(users[part], items[part], values[part])
            error = np.where(selected[part], error, 0.0)
            total += (error**2).sum() + l2 * ((u**2).sum() + (i**2).sum())
            gu, gi = 2 * error[:, None] * i, 2 * error[:, None] * u
            gu[:, 0] = gi[:, 0] = 2 * error
            user.step(users[part], gu + 2 * l2 * u, 1 - power1, 1 - power2)
            item.step(items[part], gi + 2 * l2 * i, 1 - power1, 1 - power2)
        squares = errors(users, items, values)[0]**2
        lines.append([epoch + 1, total, np.sqrt(squares[selected].mean()),
                      np.sqrt(squares[~selected].mean())])
    return lines


def run(mlir, entry, *arguments):
    command = ["sparse-runner", mlir, f"--entry={entry}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def compare(output, expected):
    output = output.stdout
    lines = [[float(x) for x in re.findall(r"[-+.\de]*\d", line)]
             for line in output.splitlines() if line.startswith("epoch")]
    assert len(lines) == len(expected), (len(lines), len(expected))
    result = dict(re.findall(r"^(\w+) = (\S+)$", output, re.M))
    for line, wanted in zip(lines, expected):
        # The log has six digits.
        np.testing.assert_allclose(line, wanted, rtol=5e-6)
    np.testing.assert_allclose(
        [float(result["train_rmse"]), float(result["held_out_rmse"])],
        expected[-1][2:], rtol=TOLERANCE)
    return float(result["held_out_rmse"])


def peak_bytes(mlir, rows):
    done = run(mlir, "synthetic", "--arg", f"rows={rows}", "--arg", "rounds=1",
               "--arg", "seed=0", "--report=json")
    return json.loads(done.stderr)["peak_live_bytes"]


def step_times(mlir, rows, rounds):
    """Seconds a step, by the rounds that the log tells of as they end."""
    process = subprocess.Popen(
        ["sparse-runner", mlir, "--entry=synthetic", "--arg", f"rows={rows}",
         "--arg", f"rounds={rounds}", "--arg", "seed=0"],
        stdout=subprocess.PIPE, text=True)
    ends = [time.monotonic() for line in process.stdout
            if line.startswith("round")]
    assert process.wait() == 0
    return [(b - a) / 100 for a, b in zip(ends, ends[1:])]


def main(mlir, kind, *rest):
    if kind == "planted":
        for seed in map(int, rest):
            held_out = compare(run(mlir, "planted", "--arg", f"seed={seed}"),
                               train(*planted_ratings(seed), seed, 20, 20,
                                     0.01))
            assert held_out <= 1.1 * NOISE, held_out
            print(f"planted, seed {seed}: held-out RMSE {held_out:.4f}")
    elif kind == "real":
        held_out = compare(run(mlir, "train", "--arg", f"ratings={rest[0]}",
                               "--arg", "seed=0"),
                           train(*read_ratings(rest[0]), 0, 20, 25, 0.125))
        assert held_out <= 0.885, held_out
        print(f"real: held-out RMSE {held_out:.4f}")
    elif kind == "memory":
        batch = 8 * COLUMNS * 4096
        # Before the first step there are the zeros that both moments start
        # from, one more table.
        for rows in (10_000, 1_000_000):
            tables = 8 * COLUMNS * (3 * (rows + 10_000) + rows)
            extra = max(peak_bytes(mlir, rows) - tables, 0)
            print(f"{rows} rows: tables and {extra / batch:.1f} batches")
            assert extra <= 16 * batch, (extra, batch)
    else:
        small, large = [], []
        for _ in range(6):
            small += step_times(mlir, 100_000, 5)
            large += step_times(mlir, 10_000_000, 5)
        a, b = statistics.median(small), statistics.median(large)
        print(f"a step: {1e3 * a:.3f} ms at 10^5 rows, {1e3 * b:.3f} ms at "
              f"10^7: ratio {b / a:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
