"""Checks examples/recommender.mlir and examples/recommender_sparse.mlir against
an independent NumPy training run.

  recommender.py MLIR planted SEED...
  recommender.py MLIR train RATINGS.csv.gz SEED...
  recommender.py MLIR curve RATINGS.csv.gz EPOCHS SEED...
  recommender.py MLIR split FOLDER SEED...
  recommender.py MLIR memory FOLDER

For each seed the example is trained twice, with factors and with biases alone,
and every line of its log must agree with the NumPy run to 1e-10. The held-out
errors must meet the bars of the example: with planted ratings, of noise 0.25,
at most 1.1 times the noise with factors and at least twice it without; with
real ones a mean of at most 0.885 over the seeds and, for each seed, less than
with biases alone. With `curve` the first epochs of real training are compared,
and no bar applies. Prints what it found; fails with the first difference.

`split` trains on one file of ratings and is tested on another, each of which is
to have users and items without a rating, and one rating in both.

`memory` trains on few ratings of very many users for very many items and
compares the peak of the memory with the size of ratings and parameters.
"""

import csv
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.io import mmwrite
from scipy.sparse import coo_array, csr_array, save_npz

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))
import masked_ops  # noqa: E402

NOISE = 0.25
FACTORS = 8
TOLERANCE = 1e-10


def planted_ratings(seed):
    """The ratings of @planted: a matrix and which of it is observed."""
    def normal(counter, *shape):
        return masked_ops.random("normal", seed, counter, shape)
    bu, bi = normal(10, 400), normal(11, 500)
    p, q = normal(12, 400, 4), normal(13, 500, 4)
    signal = bu[:, None] + bi[None, :] + p @ q.T
    ratings = 3.5 + 0.5 * signal + NOISE * normal(14, 400, 500)
    observed = masked_ops.random("bernoulli", seed, 15, (400, 500),
                                 probability=0.4)
    return ratings, observed


def read_ratings(path):
    """A file of (user, item, rating) lines, ids compacted in their order."""
    with gzip.open(path, "rt") as file:
        rows = list(csv.reader(file))[1:]
    table = np.array([[float(x) for x in row[:3]] for row in rows])
    users, u = np.unique(table[:, 0], return_inverse=True)
    items, i = np.unique(table[:, 1], return_inverse=True)
    ratings = np.zeros((len(users), len(items)))
    observed = np.zeros(ratings.shape, bool)
    ratings[u, i] = table[:, 2]
    observed[u, i] = True
    return ratings, observed


class Adam:
    def __init__(self, *parameters):
        self.parameters = parameters
        self.m = [np.zeros_like(x) for x in parameters]
        self.v = [np.zeros_like(x) for x in parameters]
        self.powers = [1.0, 1.0]

    def step(self, gradients):
        self.powers = [self.powers[0] * 0.9, self.powers[1] * 0.999]
        for x, g, m, v in zip(self.parameters, gradients, self.m, self.v):
            m[...] = 0.9 * m + 0.1 * g
            v[...] = 0.999 * v + 0.001 * (g * g)
            x -= 0.02 * (m / (1 - self.powers[0])
                         / (np.sqrt(v / (1 - self.powers[1])) + 1e-8))


def split(observed, seed):
    """The ratings to train on, and those that are held out."""
    drawn = masked_ops.random("bernoulli", seed, 0, observed.shape,
                              probability=0.8)
    return observed & drawn, observed & ~drawn


def fit(ratings, parts, seed, epochs, scale, l2_biases, l2_factors):
    """The log of the training run: loss, training and held-out RMSE a line.

    Works on the list of observed ratings, with gradients written by hand."""
    users, items = ratings.shape
    bu, bi = np.zeros(users), np.zeros(items)
    p = scale * masked_ops.random("normal", seed, 1, (users, FACTORS))
    q = scale * masked_ops.random("normal", seed, 2, (items, FACTORS))

    def part(selected):
        u, i = np.nonzero(selected)
        return u, i, ratings[u, i]
    train, held_out = map(part, parts)
    mean = train[2].mean()

    def errors(u, i, r):
        return mean + bu[u] + bi[i] + np.einsum("nk,nk->n", p[u], q[i]) - r

    adam = Adam(bu, bi, p, q)
    log = []
    u, i, _ = train
    for _ in range(epochs):
        e = errors(*train)
        loss = ((e * e).sum()
                + l2_biases * ((bu * bu).sum() + (bi * bi).sum())
                + l2_factors * ((p * p).sum() + (q * q).sum()))
        d = csr_array((2 * e, (u, i)), ratings.shape)
        adam.step([d.sum(axis=1) + 2 * l2_biases * bu,
                   d.sum(axis=0) + 2 * l2_biases * bi,
                   d @ q + 2 * l2_factors * p,
                   d.T @ p + 2 * l2_factors * q])
        log.append([loss] + [np.sqrt((errors(*some) ** 2).mean())
                             for some in (train, held_out)])
    return np.array(log)


LINE = re.compile(
    r"epoch (\d+)  loss (\S+)  train RMSE (\S+)  held-out RMSE (\S+)")


def run(example, entry, seed, scale, arguments):
    command = ["sparse-runner", example, f"--entry={entry}", "--arg",
               f"seed={seed}", "--arg", f"factor_scale={scale}",
               "--log-precision=17", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    lines = [match.groups() for match in map(LINE.fullmatch,
                                             done.stdout.splitlines()) if match]
    if [int(line[0]) for line in lines] != list(range(1, len(lines) + 1)):
        sys.exit("the epochs of the log are not 1, 2, ...")
    return np.array([[float(x) for x in line[1:]] for line in lines])


def compare(what, log, expected):
    if log.shape != expected.shape:
        sys.exit(f"{what}: {len(log)} epochs instead of {len(expected)}")
    difference = np.abs(log - expected) / np.abs(expected)
    worst = np.unravel_index(difference.argmax(), difference.shape)
    if not difference.max() <= TOLERANCE:
        sys.exit(f"{what}: column {worst[1]} of epoch {worst[0] + 1} is "
                 f"{log[worst]!r}, NumPy has {expected[worst]!r}")
    return difference.max()


def compare_curve(example, path, epochs, seeds):
    ratings, observed = read_ratings(path)
    l2_biases, l2_factors = 5.0, 12.0
    for seed in seeds:
        log = run(example, "fit", seed, 0.1, [
            "--arg", f"ratings={path}", "--arg", f"epochs={epochs}",
            "--arg", f"l2_biases={l2_biases}",
            "--arg", f"l2_factors={l2_factors}"])
        expected = fit(ratings, split(observed, seed), seed, epochs, 0.1,
                       l2_biases, l2_factors)
        difference = compare(f"seed {seed}", log, expected)
        print(f"seed {seed}: {len(log)} epochs, largest relative difference "
              f"{difference:.1e}")


def compare_split(example, folder, seeds):
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        generator = np.random.default_rng(seed)
        ratings = generator.integers(1, 11, (15, 12)) / 2
        train = generator.integers(0, 3, ratings.shape) == 0
        test = ~train & (generator.integers(0, 4, ratings.shape) == 0)
        train[-2:] = train[:, 0] = test[:, -3:] = False
        both = tuple(np.argwhere(train)[0])
        for name, mask in (("train", train), ("test", test)):
            mask = mask.copy()
            mask[both] = True
            # What the test file says of a rating to train on is not read.
            values = ratings + (name == "test") * (np.arange(ratings.size)
                .reshape(ratings.shape) == np.ravel_multi_index(both, mask.shape))
            mmwrite(folder / f"{name}.mtx", coo_array(
                (values[mask], np.nonzero(mask)), shape=mask.shape))
        log = run(example, "train_test", seed, 0.1, [
            "--arg", f"train={folder / 'train.mtx'}",
            "--arg", f"test={folder / 'test.mtx'}", "--arg", "epochs=20"])
        expected = fit(ratings, (train, test & ~train), seed, 20, 0.1, 5.0, 12.0)
        difference = compare(f"seed {seed}", log, expected)
        print(f"seed {seed}: {len(log)} epochs, largest relative difference "
              f"{difference:.1e}")


def check_memory(example, folder):
    folder.mkdir(parents=True, exist_ok=True)
    users, items, count = 20_000, 100_000, 500_000
    rng = np.random.default_rng(0)
    place = np.unique(rng.integers(0, users * items, count))
    ratings = csr_array((rng.uniform(1, 5, len(place)),
                         (place // items, place % items)), (users, items))
    save_npz(folder / "ratings.npz", ratings)
    command = ["sparse-runner", example, "--entry=fit", "--report=json"]
    for name, value in {"ratings": folder / "ratings.npz", "seed": 0,
                        "epochs": 2, "factor_scale": 0.1, "l2_biases": 5.0,
                        "l2_factors": 12.0}.items():
        command += ["--arg", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    peak = json.loads(done.stderr.splitlines()[-1])["peak_live_bytes"]
    # Parameters, two moments and gradients, new ones beside them; of the
    # ratings values, coordinates, masks, predictions and gradients.
    parameters = 8 * (users + items) * (FACTORS + 1)
    bound = 8 * parameters + 8 * 8 * len(place)
    if peak > bound:
        sys.exit(f"the peak is {peak} bytes, more than {bound}")
    print(f"{len(place)} of {users} x {items} ratings: the peak is at most "
          f"{bound / (8 * users * items):.1%} of a dense matrix")
    print(f"{peak / 1e6:.1f} MB, of which the parameters are "
          f"{parameters / 1e6:.1f} MB")


def main():
    example, entry, *rest = sys.argv[1:]
    if entry == "memory":
        return check_memory(example, Path(rest[0]))
    if entry == "split":
        return compare_split(example, Path(rest[0]), map(int, rest[1:]))
    if entry == "curve":
        path, epochs, *seeds = rest
        return compare_curve(example, path, int(epochs), map(int, seeds))
    if entry == "train":
        path, *seeds = rest
        ratings, observed = read_ratings(path)
        arguments, settings = ["--arg", f"ratings={path}"], (300, 5.0, 12.0)
    else:
        seeds, arguments, settings = rest, [], (200, 0.25, 2.0)
    epochs, l2_biases, l2_factors = settings
    held_out = []
    for seed in map(int, seeds):
        if entry == "planted":
            ratings, observed = planted_ratings(seed)
        last = {}
        for scale in (0.1, 0.0):
            log = run(example, entry, seed, scale, arguments)
            expected = fit(ratings, split(observed, seed), seed, epochs, scale,
                           l2_biases, l2_factors)
            what = f"seed {seed}, factor_scale {scale}"
            difference = compare(what, log, expected)
            last[scale] = log[-1, 2]
            print(f"{what}: {len(log)} epochs, largest relative difference "
                  f"{difference:.1e}, held-out RMSE {log[-1, 2]:.4f}")
        held_out.append(last[0.1])
        if entry == "planted":
            if last[0.1] > 1.1 * NOISE or last[0.0] < 2 * NOISE:
                sys.exit(f"seed {seed}: a bar is missed")
        elif last[0.1] >= last[0.0]:
            sys.exit(f"seed {seed}: biases alone are better")
    mean = np.mean(held_out)
    print(f"mean held-out RMSE {mean:.4f}")
    if entry == "train" and mean > 0.885:
        sys.exit("the mean is above 0.885")


if __name__ == "__main__":
    main()
