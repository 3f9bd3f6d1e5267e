# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Accuracy of examples/gcn_24.mlir on Cora, trained with 2:4 weights from the first
epoch on and, in its place, pruned after the last, as a mean over seeds.

    gcn_24.py examples/gcn_24.mlir cora.npz --seeds 10 --at-least 0.81

The exit status is 1 if the first mean is less than --at-least, or the second is not."""

import argparse
import re
import subprocess
import sys

EPOCHS = 200
INPUTS = {"adjacency": "adj", "features": "feat", "labels": "label", "train": "train",
          "test": "test"}


def accuracy(options, seed, dense_epochs):
    command = ["sparse-runner", options.program, "--entry=train"]
    for name, value in {"seed": seed, "classes": 7, "dense_epochs": dense_epochs}.items():
        command += ["--arg", f"{name}={value}"]
    for name, array in INPUTS.items():
        command += ["--arg", f"{name}={options.data}:{array}"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(re.search(r"test_accuracy = (\S+)", output).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("data")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--at-least", type=float, default=0.81)
    options = parser.parse_args()
    means = []
    for name, dense_epochs in (("trained as 2:4", 0), ("pruned at the end", EPOCHS)):
        found = [accuracy(options, seed, dense_epochs) for seed in range(options.seeds)]
        means.append(sum(found) / len(found))
        print(f"{name}: {means[-1]:.4f} of {' '.join(f'{a:.3f}' for a in found)}",
              flush=True)
    return 0 if means[1] < options.at_least <= means[0] else 1


if __name__ == "__main__":
    sys.exit(main())
