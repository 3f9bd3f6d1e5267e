"""Writes the points at which gradients are checked: points.py FOLDER."""

import sys
from pathlib import Path

import numpy as np

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
np.save(folder / "mask.npy", np.array([[1, 1, 0], [0, 1, 1]], bool))
mask = np.ones(100, bool)
np.save(folder / "all.npy", mask)
mask[37] = False
np.save(folder / "all-but-37.npy", mask)
# The last one is so near that some differences step over the kink.
np.save(folder / "kinks.npy", np.array([-1, 0, 2, 1e-5]))
large = np.linspace(-2, 3, 100)
large[[70, 80]] = 0
np.save(folder / "large.npy", large)
np.save(folder / "positive.npy", np.array([1e-5, 2, -3]))
np.save(folder / "zero.npy", np.array([0.0, 2, 1]))

# The arguments of the loss of examples/recommender.mlir.
generator = np.random.default_rng(0)
users, items = 5, 7
for name, shape in [
    ("user-bias", users),
    ("item-bias", items),
    ("user-factors", (users, 8)),
    ("item-factors", (items, 8)),
    ("ratings", (users, items)),
]:
    np.save(folder / f"{name}.npy", generator.normal(size=shape))
np.save(folder / "observed.npy", generator.random((users, items)) < 0.4)
