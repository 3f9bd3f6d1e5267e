"""Checks examples/masked-mean.mlir: every way gives the same bits of gradient.

  masked_mean.py MLIR FOLDER

Runs all entries on clean input and on input with NaN and infinities behind the
mask. The gradient must be 1 / n, rounded once, on the n selected elements and a
positive zero elsewhere, from every entry and for both inputs; the mean must be
that of NumPy in f64 up to the roundoff of a sum in f32, from every entry on
clean input and from those that mask forward on the other.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

ENTRIES = {"zeroed_gradient": False, "reduction": True, "gradient_mask": True,
           "by_hand": True, "custom_rule": True}
SHAPE = (67, 129)


def run(example, entry, folder, name):
    files = {key: folder / f"{name}-{key}.npy" for key in ("x", "mask")}
    results = {key: folder / f"{entry}-{name}-{key}.npy"
               for key in ("mean", "gradient")}
    command = ["sparse-runner", example, f"--entry={entry}"]
    for key, file in files.items():
        command += ["--arg", f"{key}={file}"]
    for key, file in results.items():
        command += ["--result", f"{key}={file}"]
    subprocess.run(command, check=True)
    return [np.load(results[key]) for key in ("mean", "gradient")]


def main():
    example, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(20)
    x = random.standard_normal(SHAPE, np.float32)
    mask = random.random(SHAPE) < 0.3
    dirty = x.copy()
    dirty[~mask] = random.choice(np.float32([np.nan, np.inf, -np.inf]),
                                 np.count_nonzero(~mask))
    for name, values in ("clean", x), ("dirty", dirty):
        np.save(folder / f"{name}-x.npy", values)
        np.save(folder / f"{name}-mask.npy", mask)

    count = np.count_nonzero(mask)
    gradient = np.where(mask, np.float32(1) / np.float32(count),
                        np.float32(0))
    mean = x[mask].astype(np.float64).mean()
    bound = (count + 1) * 2.0**-24 * np.abs(x[mask]).astype(np.float64).mean()
    for entry, masks_forward in ENTRIES.items():
        for name in "clean", "dirty":
            value, found = run(example, entry, folder, name)
            if found.tobytes() != gradient.tobytes():
                sys.exit(f"{entry}, {name}: not the bits of the gradient")
            if name == "dirty" and not masks_forward:
                if not np.isnan(value):
                    sys.exit(f"{entry} does not mask forward, but its mean is "
                             f"{value}")
            elif not abs(value - mean) <= bound:
                sys.exit(f"{entry}, {name}: the mean is {value}, not {mean}")
            print(f"{entry}, {name}: same gradient, mean {float(value):.6f}")


if __name__ == "__main__":
    main()
