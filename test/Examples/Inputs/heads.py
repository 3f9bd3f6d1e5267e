# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands in the heads of the examples, as they are typed.

    heads.py FOLDER

finds every `sparse-runner` command in the comment above the code of each .mlir
file in FOLDER, makes the files that it names, small ones, and runs it in a shell
with FOLDER as ./examples. A training loop that takes long is ended after its
first line, with a signal; whatever else ends it is a failure. An example without
a command is a failure, too.
"""

import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys

import numpy as np
import scipy.io
import scipy.sparse


def make_ratings(generator):
    table = generator.permutation([(u, i) for u in range(12) for i in range(9)])
    return table[:60], generator.integers(1, 11, 60) / 2


def make_files():
    """All files that a head names."""
    generator = np.random.default_rng(3)
    ids, values = make_ratings(generator)
    with open("ratings.csv", "w") as file:
        file.write("user,item,rating\n")
        for (user, item), value in zip(ids, values):
            file.write(f"{user},{item},{value}\n")
    for name, part in (("train.mtx", slice(0, 45)), ("test.mtx", slice(45, 60))):
        scipy.io.mmwrite(name, scipy.sparse.coo_array(
            (values[part], tuple(ids[part].T)), shape=(12, 9)))
    np.save("x.npy", generator.standard_normal((5, 4)).astype(np.float32))
    np.save("mask.npy", generator.integers(0, 2, (5, 4)).astype(bool))
    np.save("grid.npy", generator.integers(0, 2, (6, 6)).astype(float))
    np.save("kernel.npy", generator.standard_normal((3, 3)))
    nodes, classes, features = 20, 7, 6
    graph = generator.integers(0, 4, (nodes, nodes)) == 0
    graph = scipy.sparse.csr_array(np.triu(graph, 1) + np.triu(graph, 1).T)
    feature = scipy.sparse.csr_array(
        generator.integers(0, 2, (nodes, features)).astype(float))
    train = np.arange(nodes) % 2 == 0
    np.savez("cora.npz", adj_indptr=graph.indptr, adj_indices=graph.indices,
             adj_shape=graph.shape, feat_indptr=feature.indptr,
             feat_indices=feature.indices, feat_data=feature.data,
             feat_shape=feature.shape,
             train=np.flatnonzero(train).astype(np.int32),
             test=np.flatnonzero(~train).astype(np.int32),
             label=generator.integers(0, classes, nodes).astype(np.int32))


def find_commands(path):
    """The commands in the comment that a file begins with."""
    head = []
    for line in path.read_text().splitlines():
        if not line.startswith("//"):
            break
        head.append(line[2:].rstrip())
    text = "\n".join(head).replace("\\\n", " ")
    return [line.strip() for line in text.split("\n")
            if line.strip().startswith("sparse-runner ")]


def run(command):
    """Ends a loop that has logged an epoch; else waits for the end."""
    process = subprocess.Popen(shlex.split(command), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = 0
    for line in process.stdout:
        lines += 1
        if lines == 1:
            process.send_signal(signal.SIGTERM)
    errors = process.stderr.read()
    status = process.wait()
    ended = lines >= 1 and status in (-signal.SIGTERM, 0)
    if status != 0 and not ended:
        sys.exit(f"{command}\nfailed with {status}:\n{errors}")
    if lines == 0 and "--result" not in command:
        sys.exit(f"{command}\nprinted nothing")


def main():
    folder = pathlib.Path(sys.argv[1])
    os.symlink(folder, "examples")
    make_files()
    examples = sorted(folder.glob("*.mlir"))
    count = 0
    for path in examples:
        commands = find_commands(path)
        if not commands:
            sys.exit(f"{path}: no command in its head")
        for command in commands:
            run(command)
        count += len(commands)
    print(f"{count} commands of {len(examples)} examples")


main()
