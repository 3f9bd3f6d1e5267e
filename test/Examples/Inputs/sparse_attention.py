"""Checks examples/sparse_attention.mlir against NumPy.

  sparse_attention.py MLIR FOLDER

The losses of the first steps of training must be those of a dense model, masked
by the pattern, with gradients written by hand, to 1e-8; all steps must end with
a loss of at most 0.01 on a sequence that was not seen. The gradient by given
scores, with rows of none or one and stored zeros, must have their pattern and
agree to 1e-12. Training on a long sequence must take less memory than a tenth of
a matrix of all pairs.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, load_npz, save_npz

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))
import masked_ops  # noqa: E402

POSITIONS, BLOCK, VOCABULARY, WIDTH, STEPS = 64, 8, 8, 32, 40


def softmax(x, where):
    most = x.max(axis=1, where=where, initial=-np.inf, keepdims=True)
    powers = np.exp(np.where(where, x - np.where(where, most, 0), -np.inf))
    sums = powers.sum(axis=1, keepdims=True)
    return np.divide(powers, sums, where=sums != 0, out=np.zeros_like(powers))


def attend(scores, where, values, output, labels, selected):
    """The loss and its gradients by scores, values and output."""
    weights = softmax(scores, where)
    mixed = weights @ values
    logits = mixed @ output
    shares = softmax(logits, np.ones(logits.shape, bool))
    wanted = np.eye(logits.shape[1])[labels]
    loss = -np.log((shares * wanted).sum(axis=1))[selected].mean()
    of_logits = (shares - wanted) * selected[:, None] / selected.sum()
    of_mixed = of_logits @ output.T
    of_weights = of_mixed @ values.T
    inner = (weights * of_weights).sum(axis=1, keepdims=True)
    return loss, [weights * (of_weights - inner), weights.T @ of_mixed,
                  mixed.T @ of_logits]


def pattern(positions):
    i, j = np.arange(positions)[:, None], np.arange(positions)[None, :]
    blocks = i // BLOCK - j // BLOCK
    return (blocks == 0) | (blocks == 1) | (i < 2) | (j < 2)


def train(seed):
    """The losses of the first steps."""
    def draw(counter, *shape):
        return masked_ops.random("uniform", seed, counter, shape)
    shapes = [(VOCABULARY, WIDTH), (POSITIONS, WIDTH), (WIDTH, WIDTH),
              (WIDTH, WIDTH), (WIDTH, WIDTH), (WIDTH, VOCABULARY)]
    parameters = [np.sqrt(24 / sum(shape)) * (draw(1000000 + k, *shape) - 0.5)
                  for k, shape in enumerate(shapes)]
    m = [np.zeros(shape) for shape in shapes]
    v = [np.zeros(shape) for shape in shapes]
    where = pattern(POSITIONS)
    selected = np.arange(POSITIONS) >= BLOCK
    losses = []
    for step in range(STEPS):
        tokens = (VOCABULARY * draw(step, POSITIONS)).astype(int)
        labels = np.roll(tokens, BLOCK)
        rows = np.eye(VOCABULARY)[tokens]
        embedding, places, query, key, value, output = parameters
        x = rows @ embedding + places
        q, k = x @ query, x @ key
        loss, (of_scores, of_values, of_output) = attend(
            q @ k.T / np.sqrt(WIDTH), where, x @ value, output, labels,
            selected)
        losses.append(loss)
        of_q = of_scores @ k / np.sqrt(WIDTH)
        of_k = of_scores.T @ q / np.sqrt(WIDTH)
        of_x = of_q @ query.T + of_k @ key.T + of_values @ value.T
        gradients = [rows.T @ of_x, of_x, x.T @ of_q, x.T @ of_k,
                     x.T @ of_values, of_output]
        for n, g in enumerate(gradients):
            m[n] = 0.9 * m[n] + 0.1 * g
            v[n] = 0.999 * v[n] + 0.001 * g * g
            parameters[n] = parameters[n] - 0.01 * (
                m[n] / (1 - 0.9 ** (step + 1))
                / (np.sqrt(v[n] / (1 - 0.999 ** (step + 1))) + 1e-8))
    return np.array(losses)


def run(example, entry, *options, **arguments):
    command = ["sparse-runner", example, f"--entry={entry}",
               "--log-precision=17", "--report=json", *options]
    for name, value in arguments.items():
        command += ["--arg", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    losses = [float(x) for x in re.findall(r"^step \d+  loss (\S+)$",
                                           done.stdout, re.M)]
    results = {name: float(x) for name, x in
               re.findall(r"^(\w+) = (\S+)$", done.stdout, re.M)}
    report = json.loads(done.stderr.splitlines()[-1])
    return np.array(losses), results, report["peak_live_bytes"]


def check_training(example):
    losses, results, _ = run(example, "train", seed=0)
    expected = train(0)
    difference = np.abs(losses[:STEPS] - expected) / expected
    if len(losses) != 300 or not difference.max() <= 1e-8:
        sys.exit(f"the losses differ: {losses[:STEPS]}\nNumPy has {expected}")
    print(f"{STEPS} steps, largest relative difference {difference.max():.1e}")
    if results["test_loss"] > 0.01 or results["test_accuracy"] < 1:
        sys.exit(f"it has not learned to copy: {results}")
    print(f"300 steps, loss {losses[0]:.4f} to {results['test_loss']:.4f}, "
          f"accuracy {results['test_accuracy']:g}")


def check_gradient(example, folder):
    rng = np.random.default_rng(3)
    rows, columns, width, classes = 13, 9, 5, 4
    where = rng.random((rows, columns)) < 0.4
    where[[2, 7]] = False
    where[7, 4] = True
    i, j = np.nonzero(where)
    scores = np.where(where, rng.normal(0, 2, where.shape), 0)
    scores[i[::6], j[::6]] = 0
    arrays = {"values": rng.normal(size=(columns, width)),
              "output": rng.normal(size=(width, classes)),
              "labels": rng.integers(0, classes, rows).astype(np.int32),
              "selected": rng.random(rows) < 0.7}
    save_npz(folder / "scores.npz", csr_array((scores[i, j], (i, j)),
                                              scores.shape))
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    file = folder / "gradient.npz"
    _, results, _ = run(example, "score_gradient", "--result",
                        f"gradient={file}", scores=folder / "scores.npz",
                        **{name: folder / f"{name}.npy" for name in arrays})
    loss, (gradient, *_) = attend(scores, where, **arrays)
    found = load_npz(file).tocoo()
    pairs = np.zeros(where.shape, bool)
    pairs[found.coords] = True
    if (pairs != where).any() or found.nnz != where.sum():
        sys.exit("the gradient does not have the pattern of the scores")
    difference = np.abs(found.toarray() - gradient).max()
    if not (difference <= 1e-12 and abs(results["loss"] - loss) <= 1e-12):
        sys.exit(f"the gradient differs by {difference}, the loss is "
                 f"{results['loss']}, not {loss}")
    if not np.abs(gradient).max() > 1e-3:
        sys.exit("there is no gradient")
    print(f"gradient by {found.nnz} scores of {rows} x {columns}: "
          f"largest difference {difference:.1e}")


def check_memory(example):
    positions = 8192
    *_, peak = run(example, "fit", seed=0, positions=positions, steps=2)
    matrix = 8 * positions * positions
    if peak > matrix / 10:
        sys.exit(f"the peak is {peak} bytes; all pairs take {matrix}")
    print(f"{positions} positions: {peak / 1e6:.1f} MB; all pairs would take "
          f"{matrix / 1e6:.1f} MB")


def main():
    example, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    check_training(example)
    check_gradient(example, folder)
    check_memory(example)


if __name__ == "__main__":
    main()
