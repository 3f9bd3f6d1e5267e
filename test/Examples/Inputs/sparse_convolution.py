"""Checks examples/sparse_convolution.mlir.

  sparse_convolution.py MLIR convolve FOLDER
  sparse_convolution.py MLIR train SEED...

`convolve` compares its convolution with SciPy's dense one, masked to the active
sites. `train` compares every line of the log with a NumPy run on dense grids,
whose gradients are written by hand, and the last loss with the bar of the
example, 0.001.
"""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.io import mmread
from scipy.signal import correlate2d

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))
import masked_ops  # noqa: E402

TOLERANCE = 1e-9


def run(mlir, entry, *arguments):
    return subprocess.run(["sparse-runner", mlir, f"--entry={entry}",
                           *arguments], capture_output=True, text=True,
                          check=True).stdout


def convolve(mlir, folder):
    rng = np.random.default_rng(5)
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    sites = 0
    for shape, density in (((9, 7), 0.3), ((1, 1), 1.0), ((12, 5), 1.0),
                           ((6, 6), 0.0), ((1, 9), 0.5)):
        active = rng.random(shape) < density
        grid = np.where(active, rng.normal(size=shape), 0.0)
        kernel = rng.normal(size=(3, 3))
        np.save(folder / "grid.npy", grid)
        np.save(folder / "kernel.npy", kernel)
        run(mlir, "convolve", "--arg", f"grid={folder}/grid.npy", "--arg",
            f"kernel={folder}/kernel.npy", "--result",
            f"result0={folder}/out.mtx")
        expected = np.where(active, correlate2d(grid, kernel, mode="same"), 0.0)
        actual = mmread(folder / "out.mtx")
        assert actual.nnz == active.sum(), (actual.nnz, active.sum())
        np.testing.assert_allclose(actual.toarray(), expected, rtol=1e-12,
                                   atol=1e-14)
        sites += int(active.sum())
    print(f"{sites} sites as in the dense convolution")


def near(grid):
    """The nine neighbours of each point of a grid of features: k, y, x, f."""
    height, width, _ = grid.shape
    padded = np.pad(grid, ((1, 1), (1, 1), (0, 0)))
    return np.stack([padded[k // 3:k // 3 + height, k % 3:k % 3 + width]
                     for k in range(9)])


def train(mlir, seed):
    def normal(counter, *shape):
        return masked_ops.random("normal", seed, counter, shape)

    active = masked_ops.random("bernoulli", seed, 1, (32, 32),
                               probability=0.2)[..., None]
    x = np.where(active, normal(0, 32, 32)[..., None], 0.0)

    def forward(w1, w2):
        h = np.where(active, np.tanh(np.einsum("kyxf,kfg->yxg", near(x), w1)),
                     0.0)
        return h, np.where(active, np.einsum("kyxf,kfg->yxg", near(h), w2), 0.0)

    target = forward(0.3 * normal(2, 9, 1, 8), 0.3 * normal(3, 9, 8, 1))[1]
    weights = [0.3 * normal(4, 9, 1, 8), 0.3 * normal(5, 9, 8, 1)]
    m, v = ([np.zeros_like(w) for w in weights] for _ in range(2))
    losses, powers = [], np.ones(2)
    for _ in range(300):
        h, y = forward(*weights)
        losses.append(((y - target)**2).sum() / active.sum())
        dy = 2 * (y - target) / active.sum()
        dw2 = np.einsum("kyxf,yxg->kfg", near(h), dy)
        # The transpose reads the neighbours in the opposite order.
        dh = np.einsum("kyxg,kfg->yxf", near(dy)[::-1], weights[1])
        dh = np.where(active, dh * (1 - h**2), 0.0)
        dw1 = np.einsum("kyxf,yxg->kfg", near(x), dh)
        powers *= (0.9, 0.999)
        for i, g in enumerate((dw1, dw2)):
            m[i] = 0.9 * m[i] + 0.1 * g
            v[i] = 0.999 * v[i] + 0.001 * g * g
            weights[i] = weights[i] - 0.02 * (m[i] / (1 - powers[0])) / (
                np.sqrt(v[i] / (1 - powers[1])) + 1e-8)
    output = run(mlir, "train", "--arg", f"seed={seed}")
    logged = [float(x) for x in re.findall(r"^epoch \d+  loss (\S+)$", output,
                                           re.M)]
    np.testing.assert_allclose(logged, losses, rtol=5e-6)  # six digits
    last = float(re.search(r"^last_loss = (\S+)$", output, re.M).group(1))
    np.testing.assert_allclose(last, losses[-1], rtol=TOLERANCE)
    assert last < 0.001, last
    print(f"seed {seed}: last loss {last:.3g}")


def main(mlir, kind, *rest):
    if kind == "convolve":
        convolve(mlir, *rest)
    else:
        for seed in map(int, rest):
            train(mlir, seed)


if __name__ == "__main__":
    main(*sys.argv[1:])
